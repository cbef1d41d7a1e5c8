/**
 * XML Schema Part 1 §3.8.4: groups within choices. What a document is, is judged by libxml2 with the
 * schema as it came, and by the contract that was imported from it; both must say the same, and the
 * schema that is served again must be one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/base/objects.ts'
import type { FieldProblem } from '../../src/contract/given-fields.ts'
import { createXmlJsonCodec } from '../../src/contract/xml-json.ts'
import { PortJsonSchemas } from '../../src/describe/port-json-schema.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { parseJson, writeJson } from '../../src/http/json.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const schemas = 'http://www.w3.org/2001/XMLSchema'
const wsdlOf = (content: string): string => writeAskingWsdl(schemaWith(content))
const schemaWith = (content: string): string =>
  `<xs:schema xmlns:xs="${schemas}" xmlns:t="urn:t" targetNamespace="urn:t"><xs:element name="r"><xs:complexType>${content}</xs:complexType></xs:element>
    <xs:group name="G"><xs:sequence>${int('g')}${int('h')}</xs:sequence></xs:group></xs:schema>`
const int = (name: string, more = '') => `<xs:element name="${name}" type="xs:int" ${more}/>`
const sequence = (...of: readonly string[]) => `<xs:sequence>${of.join('')}</xs:sequence>`
const choice = (...of: readonly string[]) => `<xs:choice>${of.join('')}</xs:choice>`

const contents: readonly (readonly [string, string])[] = [
  ['sequences', choice(sequence(int('a'), int('b')), sequence(int('c'), int('a')))],
  ['a group', choice('<xs:group ref="t:G"/>', int('a'))],
  ['a choice of a sequence within one', choice(choice(sequence(int('a'), int('b')), int('c')), int('d'))],
  ['choices of optional elements within one', choice(`<xs:choice minOccurs="0">${choice(int('a', 'minOccurs="0"'), int('b'))}${int('c')}</xs:choice>`, int('d'))],
  ['an empty sequence', choice(sequence(), int('a'))],
  ['a sequence in which nothing is required', choice(sequence(int('a', 'minOccurs="0"'), int('b', 'minOccurs="0"')), int('c'))],
  ['repeats', `<xs:choice minOccurs="0" maxOccurs="3">${sequence(int('a'), int('b', 'minOccurs="0"'))}${int('c')}</xs:choice>`],
  ['after an element, and before one', sequence(int('a'), choice(sequence(int('b'), int('c')), int('d')), int('a'))],
] // biome-ignore format: a table

/** Up to four of the elements that any of them has, in any order. */
const documents = Array.from({ length: 4 }, (_, at) => at).reduce<readonly string[]>(
  all => ['', ...all.flatMap(each => ['a', 'b', 'c', 'd', 'g', 'h'].map(name => `${each}${name}`))],
  [''],
)

/** Each document by both judges, by the codec and by JSON; how many are valid, and what was told. */
function compareContent(content: string): { readonly valid: number; readonly told: readonly string[] } {
  const contract = importText(wsdlOf(content))
  const [port] = contract.ports
  const root = port?.exchanges['ask']?.input
  assert.ok(port && typeof root === 'object' && 'name' in root)
  const original = judge(schemaWith(content))
  const served = judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))
  const codec = createElementCodecs()(root)
  const json = createXmlJsonCodec(root, () => undefined)
  let valid = 0
  for (const names of documents) {
    const text = `<t:r xmlns:t="urn:t">${[...names].map(name => `<${name}>1</${name}>`).join('')}</t:r>`
    const expected = original.flaw(text) === undefined
    assert.equal(served.flaw(text) === undefined, expected, `served: ${text}`)
    const value = readContent(codec, text)
    assert.equal(value !== undefined, expected, text)
    if (value === undefined) continue
    valid++
    assert.equal(original.flaw(codec.write(value)), undefined, text)
    assert.deepEqual(readContent(codec, codec.write(value)), value, text)
    const problems: FieldProblem[] = []
    assert.deepEqual(json.read(parseJson(writeJson(json.write(value))).value as Json, problems), value, text)
    assert.deepEqual(problems, [])
  }
  return { valid, told: contract.losses.map(({ place, detail }) => `${place}: ${detail}`) }
}

for (const [what, content] of contents)
  test(`XML Schema §3.8.4 a choice among ${what}: valid content is read and written, any other is refused`, () => {
    const { valid, told } = compareContent(content)
    assert.deepEqual(told, [])
    assert.ok(valid > 0)
  })

const withoutBranches: readonly (readonly [string, string, number])[] = [
  ['alone', choice(), 0],
  ['that may be absent', '<xs:choice minOccurs="0"/>', 1],
  ['within a sequence', sequence(int('a'), choice()), 0],
  ['within a sequence, where it may be absent', sequence(int('a'), '<xs:choice minOccurs="0"/>'), 1],
  ['within a sequence that may be absent', `<xs:sequence minOccurs="0">${int('a')}${choice()}</xs:sequence>`, 1],
  ['as a branch next to another', choice(choice(), int('a')), 1],
  ['as the only branch', choice(choice()), 0],
  ['as a branch that may be absent', choice('<xs:choice minOccurs="0"/>', int('a')), 2],
]
for (const [what, content, count] of withoutBranches)
  test(`XML Schema §3.4.2, §3.8.4 a choice without branches ${what}: no content is valid by it`, () => {
    const { valid, told } = compareContent(content)
    assert.equal(valid, count)
    const isTold = /<xs:choice><\/xs:choice>/.test(content)
    assert.deepEqual(told, isTold ? ['element r: has a choice without branches: nothing is valid there'] : [])
  })
test('the value of a choice without branches has no type in TypeScript, and its JSON Schema accepts nothing', () => {
  const contract = importText(wsdlOf(sequence(int('a'), choice())))
  const root = contract.ports[0]?.exchanges['ask']?.input
  assert.ok(typeof root === 'object' && 'name' in root)
  const { properties } = new PortJsonSchemas('').element(root) as { properties: Record<string, unknown> }
  assert.deepEqual(properties['choice'], { not: {} })
  const text = writeTypescript(contract, 'ask.wsdl')
  assert.match(text, /choice: x\.choice\(\{\s*\}\)/)
})

const members = `<xs:element name="head" type="xs:int" abstract="true"/>
  ${['one', 'two'].map(name => `<xs:element name="${name}" type="xs:int" substitutionGroup="t:head"/>`).join('')}`
const unordered = `<xs:all>${int('a')}<xs:element ref="t:head"/></xs:all>`
test('XML Schema §3.8.2 a substitution group in xs:all: any of its members, and a schema that others can read', () => {
  const schema = schemaWith(unordered).replace('</xs:schema>', `${members}</xs:schema>`)
  const { ports, losses } = importText(writeAskingWsdl(schema))
  const [asked] = ports
  const root = asked?.exchanges['ask']?.input
  assert.ok(asked && typeof root === 'object')
  assert.deepEqual(losses, [])
  const original = judge(schema)
  const served = judge(schemaOf(writePortWsdl(asked, 'http://x/'), 'document'))
  const codec = createElementCodecs()(root)
  const [a, one, two] = ['<a>1</a>', '<t:one>2</t:one>', '<t:two>3</t:two>'] as const
  for (const inside of ['', a, one, a + one, one + a, two + a, a + two, a + one + two, a + one + one]) {
    const message = `<t:r xmlns:t="urn:t">${inside}</t:r>`
    const isValid = original.flaw(message) === undefined
    const value = readContent(codec, message)
    assert.equal(value !== undefined, isValid, message)
    if (!isValid) continue
    assert.equal(served.flaw(message), undefined, message)
    assert.equal(original.flaw(codec.write(value)), undefined, message)
  }
})
