/**
 * XML Schema Part 1 §3.4.2: what a derived type has of its base. Each document is judged by libxml2
 * with the schema as it came, by the contract that was imported from it, and by the schema that is
 * served.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const element = (name: string, more = '') => `<xs:element name="${name}" type="xs:int" ${more}/>`
const derived = (how: string, content: string) =>
  `<xs:complexType name="D"><xs:complexContent><xs:${how} base="t:B">${content}</xs:${how}></xs:complexContent></xs:complexType>`
const writeSchema = (types: string) =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">${types}<xs:element name="r" type="t:D"/></xs:schema>`

/** All three judges of each document; how many are valid, and what the import reported. */
function compareJudges(schema: string, documents: readonly string[]) {
  const contract = importText(writeAskingWsdl(schema))
  const [port] = contract.ports
  const root = port?.exchanges['ask']?.input
  assert.ok(port && typeof root === 'object')
  const original = judge(schema)
  const served = judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))
  const codec = createElementCodecs()(root)
  let valid = 0
  for (const text of documents) {
    const expected = original.flaw(text) === undefined
    assert.equal(readContent(codec, text) !== undefined, expected, text)
    assert.equal(served.flaw(text) === undefined, expected, `served: ${text}`)
    if (!expected) continue
    valid++
    assert.equal(original.flaw(codec.write(readContent(codec, text))), undefined, text)
  }
  return { valid, told: contract.losses.map(({ place, detail }) => `${place}: ${detail}`) }
}

const any = '<xs:anyAttribute namespace="urn:o" processContents="skip"/>'
const unordered = `<xs:all>${element('a')}${element('b', 'minOccurs="0"')}</xs:all>`
const base = `<xs:complexType name="B">${unordered}</xs:complexType>`
const grouped = `<xs:group name="G">${unordered}</xs:group><xs:complexType name="B"><xs:group ref="t:G"/></xs:complexType>`
const middle = base.replace('"B"', '"A"') + derived('extension', '').replace('"D"', '"B"').replace('t:B', 't:A')
const contents = ['', 'a', 'b', 'ab', 'ba', 'aa', 'aba']
const orders: readonly (readonly [what: string, types: string, valid: number])[] = [
  ['an attribute', base + derived('extension', '<xs:attribute name="x" type="xs:int"/>'), 6],
  ['nothing', base + derived('extension', ''), 3],
  ['an empty sequence', base + derived('extension', '<xs:sequence/>'), 3],
  ['any attributes, to a group', grouped + derived('extension', any), 3],
  ['an attribute, to an extension', middle + derived('extension', '<xs:attribute name="x" type="xs:int"/>'), 6],
  ['elements, to an empty type', `<xs:complexType name="B"/>${derived('extension', unordered)}`, 3],
]
for (const [what, types, count] of orders)
  test(`XML Schema §3.4.2 an extension of xs:all by ${what}: its elements come in any order`, () => {
    const documents = contents.flatMap(names =>
      ['', ' x="1"'].map(
        more => `<t:r xmlns:t="urn:t"${more}>${[...names].map(name => `<${name}>1</${name}>`).join('')}</t:r>`,
      ),
    )
    const { valid, told } = compareJudges(writeSchema(types), documents)
    assert.deepEqual([valid, told], [count, []])
  })

const spaces = ['##any', '##other', '##local', '##targetNamespace', 'urn:o', 'urn:o urn:p', '##local urn:p']
const wildcard = (namespace: string) => `<xs:anyAttribute namespace="${namespace}" processContents="skip"/>`
const group = (name: string, content: string) => `<xs:attributeGroup name="${name}">${content}</xs:attributeGroup>`
const own = (content: string) => `<xs:complexType name="D">${content}</xs:complexType>`
const refer = (name: string) => `<xs:attributeGroup ref="t:${name}"/>`
const attributed = ['', 'z="1"', 'o:z="1"', 'p:z="1"', 't:z="1"', 'xml:lang="de"', 'o:z="1" p:z="2"'].map(
  each => `<t:r xmlns:t="urn:t" xmlns:o="urn:o" xmlns:p="urn:p" ${each}/>`,
)
/** [what is joined, the schema, whether a wildcard of XML Schema 1.0 can say the result] */
const joins: readonly (readonly [string, (one: string, other: string) => string])[] = [
  ['of an extension and its base', (one, other) => own(wildcard(one)).replace('"D"', '"B"') + derived('extension', wildcard(other))],
  ['of a type and its group', (one, other) => group('A', wildcard(one)) + own(refer('A') + wildcard(other))],
  ['of two groups', (one, other) => group('A', wildcard(one)) + group('B', wildcard(other)) + own(refer('A') + refer('B'))],
] // biome-ignore format: a table
for (const [what, write] of joins)
  test(`XML Schema §3.4.2, §3.10.6 the attribute wildcards ${what} are one`, () => {
    for (const one of spaces)
      for (const other of spaces) {
        if (isMisjudged(what, one, other)) continue
        const schema = writeSchema(write(one, other))
        if (isInexpressible(what, [one, other])) {
          const { losses } = importText(writeAskingWsdl(schema))
          assert.deepEqual(losses.length, 1, schema)
        } else assert.deepEqual(compareJudges(schema, attributed).told, [], schema)
      }
  })
/** "Not the target namespace" and that namespace, or names in none, without the other. */
const isInexpressible = (what: string, both: readonly string[]): boolean =>
  what.includes('extension') &&
  both.includes('##other') &&
  both.some(each => each === '##targetNamespace' || each.startsWith('##local'))

/** libxml2 forgets what the base takes besides what the extension takes. */
const isMisjudged = (what: string, base: string, extension: string): boolean =>
  what.includes('extension') && base !== extension && base.split(' ').includes(extension)

const both = '<xs:attribute name="a" type="xs:int"/><xs:attribute ref="t:a"/>'
const pair = `<xs:attribute name="a" type="xs:int"/><xs:complexType name="B">${both}${any}</xs:complexType>`
const narrowed: readonly (readonly [what: string, content: string, valid: number])[] = [
  ['prohibits the one in no namespace', '<xs:attribute name="a" use="prohibited"/>', 2],
  ['prohibits the qualified one', '<xs:attribute ref="t:a" use="prohibited"/>', 2],
  ['prohibits the qualified one, and keeps the wildcard', `<xs:attribute ref="t:a" use="prohibited"/>${any}`, 4],
  ['requires the qualified one', '<xs:attribute ref="t:a" use="required"/>', 2],
  ['keeps both, and the wildcard', any, 8],
]
for (const [what, content, count] of narrowed)
  test(`XML Schema §3.4.2 two attributes of one local name: a restriction that ${what}`, () => {
    const documents = ['', 'a="1"'].flatMap(one =>
      ['', 't:a="1"'].flatMap(other =>
        ['', 'o:b="1"'].map(more => `<t:r xmlns:t="urn:t" xmlns:o="urn:o" ${one} ${other} ${more}/>`),
      ),
    )
    const { valid, told } = compareJudges(writeSchema(pair + derived('restriction', content)), documents)
    assert.deepEqual([valid, told], [count, []])
  })
