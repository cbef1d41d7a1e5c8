/** XML Schema Part 1 §3.8.4: a run of equal elements is divided among repetitions in any valid way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const element = (name: string, occurs = ''): string => `<xs:element name="${name}" type="xs:string" ${occurs}/>`
const runs = (least: number, most: number): string => `minOccurs="${least}" maxOccurs="${most}"`
const open = 'minOccurs="0" maxOccurs="unbounded"'

function codecOf(group: string) {
  const contract = importText(
    writeAskingWsdl(
      `<xs:schema targetNamespace="urn:t"><xs:element name="r"><xs:complexType>${group}</xs:complexType></xs:element></xs:schema>`,
    ),
  )
  assert.deepEqual(contract.losses, [])
  const root = contract.ports[0]?.exchanges['ask']?.input
  assert.ok(typeof root === 'object')
  return createElementCodecs()(root)
}
/** Each letter is an element, whose text is its place: so the order shows. */
const messageOf = (letters: string): string =>
  `<t:r xmlns:t="urn:t">${[...letters].map((name, at) => `<${name}>${at}</${name}>`).join('')}</t:r>`
/** All texts in the order of the value. */
const textsIn = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values((value ?? {}) as object).flatMap(textsIn) // a member at a time
/** The length of each run of this element, in order; a group may have its name. */
const runsIn = (value: unknown, key: string): number[] =>
  Object.entries((value ?? {}) as object).flatMap(([name, inside]) => {
    if (name === key && Array.isArray(inside) && typeof inside[0] === 'string') return [inside.length]
    return typeof inside === 'object' ? runsIn(inside, key) : []
  })

/** [group, its expression, letters, the runs of `a` or undefined where it is invalid] */
const cases: readonly (readonly [string, string, string, readonly number[] | undefined])[] = [
  ['(a{2,3})*', `<xs:sequence ${open}>${element('a', runs(2, 3))}</xs:sequence>`, 'aaaa', [2, 2]],
  ['(a{2,3})*', `<xs:sequence ${open}>${element('a', runs(2, 3))}</xs:sequence>`, 'aaaaaaa', [3, 2, 2]],
  ['(a{2,3})*', `<xs:sequence ${open}>${element('a', runs(2, 3))}</xs:sequence>`, 'aaaaa', [3, 2]],
  ['(a{2,3})*', `<xs:sequence ${open}>${element('a', runs(2, 3))}</xs:sequence>`, 'a', undefined],
  ['(a{5,6})*', `<xs:sequence ${open}>${element('a', runs(5, 6))}</xs:sequence>`, 'a'.repeat(21), [6, 5, 5, 5]],
  ['(a{5,6})*', `<xs:sequence ${open}>${element('a', runs(5, 6))}</xs:sequence>`, 'a'.repeat(13), undefined],
  ['(a{2,3}){0,2}', `<xs:sequence ${runs(0, 2)}>${element('a', runs(2, 3))}</xs:sequence>`, 'aaaa', [2, 2]],
  ['(a{2,3}){0,2}', `<xs:sequence ${runs(0, 2)}>${element('a', runs(2, 3))}</xs:sequence>`, 'aaaaaaa', undefined],
  ['(a{3,4}b?)*', `<xs:sequence ${open}>${element('a', runs(3, 4))}${element('b', runs(0, 1))}</xs:sequence>`, 'aaaabaaaaaa', [4, 3, 3]],
  ['(a{3,4}b?)*', `<xs:sequence ${open}>${element('a', runs(3, 4))}${element('b', runs(0, 1))}</xs:sequence>`, 'aaaabaa', undefined],
  ['(b?a{2,3})*', `<xs:sequence ${open}>${element('b', runs(0, 1))}${element('a', runs(2, 3))}</xs:sequence>`, 'aaaba', undefined],
  ['(b?a{2,3})*', `<xs:sequence ${open}>${element('b', runs(0, 1))}${element('a', runs(2, 3))}</xs:sequence>`, 'baaaa', [2, 2]],
  ['(a{2,3}|b)*', `<xs:choice ${open}>${element('a', runs(2, 3))}${element('b')}</xs:choice>`, 'baaaabaa', [2, 2, 2]],
  ['(a{2,3}|b)*', `<xs:choice ${open}>${element('a', runs(2, 3))}${element('b')}</xs:choice>`, 'aaaba', undefined],
  ['((a{2,3}|c))*', `<xs:choice ${open}><xs:choice>${element('a', runs(2, 3))}${element('c')}</xs:choice></xs:choice>`, 'caaaa', [2, 2]],
  ['((a{2,3}){2,3})*', `<xs:sequence ${open}><xs:sequence ${runs(2, 3)}>${element('a', runs(2, 3))}</xs:sequence></xs:sequence>`, 'a'.repeat(7), [3, 2, 2]],
] // biome-ignore format: a table
for (const [expression, group, letters, expected] of cases)
  test(`${expression} and ${letters}: ${expected?.join(' and ') ?? 'refused'}`, () => {
    const value = readContent(codecOf(group), messageOf(letters))
    assert.deepEqual(value && runsIn(value, 'a'), expected)
    if (expected)
      assert.deepEqual(
        textsIn(value),
        [...letters].map((_, at) => String(at)),
      )
  })
