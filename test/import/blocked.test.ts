/**
 * XML Schema Part 1 §3.3.4, §3.3.6: what `block` forbids. Each message is judged by libxml2 with the
 * schema as it came, by the contract that was imported from it, and by the schema that is served.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const schemas = 'http://www.w3.org/2001/XMLSchema'
const base = (more = '') =>
  `<xs:complexType name="B" ${more}><xs:sequence><xs:element name="a" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType>`
const extended = (name: string, of: string, more = '') =>
  `<xs:complexType name="${name}" ${more}><xs:complexContent><xs:extension base="t:${of}"><xs:sequence><xs:element name="${name.toLowerCase()}" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>`
const narrowed = (name: string, of: string, more = '') =>
  `<xs:complexType name="${name}" ${more}><xs:complexContent><xs:restriction base="t:${of}"><xs:sequence><xs:element name="a" type="xs:int"/></xs:sequence></xs:restriction></xs:complexContent></xs:complexType>`
/** The element `e` within the message, and one of the same type that forbids nothing. */
const schemaWith = (
  types: string,
  more = '',
  defaults = '',
) => `<xs:schema xmlns:xs="${schemas}" xmlns:t="urn:t" targetNamespace="urn:t" elementFormDefault="qualified" ${defaults}>
  ${types}<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="e" type="t:B" ${more}/>
  <xs:element name="f" type="t:B" minOccurs="0" block=""/></xs:sequence></xs:complexType></xs:element></xs:schema>`

const plain = '<a>1</a>'
const [e, n, g] = ['<a>1</a><e>1</e>', '<a>1</a>', '<a>1</a><g>1</g>']
const types = base() + extended('E', 'B') + narrowed('N', 'B') + extended('G', 'N')
const message = (content: string, type?: string, name = 'e') =>
  `<${name}${type === undefined ? '' : ` xsi:type="${type}"`}>${content}</${name}>`

const typeCases: readonly (readonly [what: string, schema: string, allowed: string])[] = [
  ['nothing', schemaWith(types), 'E N G'],
  ['extension', schemaWith(types, 'block="extension"'), 'N'],
  ['restriction', schemaWith(types, 'block="restriction"'), 'E'],
  ['all derivations, by an element', schemaWith(types, 'block="#all"'), ''],
  ['all derivations, by two words', schemaWith(types, 'block="extension restriction"'), ''],
  ['what the schema forbids by default', schemaWith(types, '', 'blockDefault="restriction"'), 'E'],
  ['nothing, whatever the schema does by default', schemaWith(types.replace('name="B" ', 'name="B" block=""'), 'block=""', 'blockDefault="#all"'), 'E N G'],
  ['substitution alone', schemaWith(types, 'block="substitution"'), 'E N G'],
  ['extension, by its type', schemaWith(base('block="extension"') + extended('E', 'B') + narrowed('N', 'B') + extended('G', 'N')), 'N'],
  ['restriction by the element and extension by its type', schemaWith(base('block="extension"') + extended('E', 'B') + narrowed('N', 'B') + extended('G', 'N'), 'block="restriction"'), ''],
  ['nothing: a type between them counts only for substitution', schemaWith(base() + extended('E', 'B') + narrowed('N', 'B', 'block="extension"') + extended('G', 'N')), 'E N G'],
] // biome-ignore format: a table

for (const [what, schema, allowed] of typeCases)
  test(`XML Schema §3.3.4 4.3 an element blocks ${what}`, () => {
    const { codec, judges } = importRoot(schema)
    for (const [type, content] of [
      ['B', plain],
      ['E', e],
      ['N', n],
      ['G', g],
    ] as const) {
      // biome-ignore format: a table
      const isAllowed = ['B', ...allowed.split(' ')].includes(type)
      const text = wrap(message(content, type))
      assert.equal(readContent(codec, text) !== undefined, isAllowed, text)
      for (const each of judges) assert.equal(each.flaw(text) === undefined, isAllowed, `${text} ${each.flaw(text)}`)
    }
    assert.notEqual(readContent(codec, wrap(message(plain) + message(plain, undefined, 'f'))), undefined)
  })

/** A head of the type B, with members of other types, in a message that refers to it. */
const groupWith = (
  head: string,
  types: string,
  defaults = '',
) => `<xs:schema xmlns:xs="${schemas}" xmlns:t="urn:t" targetNamespace="urn:t" elementFormDefault="qualified" ${defaults}>
  ${types}<xs:element name="h" type="t:B" ${head}/><xs:element name="same" substitutionGroup="t:h"/>
  <xs:element name="e" type="t:E" substitutionGroup="t:h"/><xs:element name="n" type="t:N" substitutionGroup="t:h"/><xs:element name="g" type="t:G" substitutionGroup="t:n"/>
  <xs:element name="own" substitutionGroup="t:h"><xs:complexType><xs:complexContent><xs:extension base="t:B"/></xs:complexContent></xs:complexType></xs:element>
  <xs:element name="r"><xs:complexType><xs:sequence><xs:element ref="t:h"/></xs:sequence></xs:complexType></xs:element></xs:schema>`

const groupCases: readonly (readonly [what: string, schema: string, allowed: string])[] = [
  ['nothing', groupWith('', types), 'h same e n g own'],
  ['substitution', groupWith('block="substitution"', types), 'h'],
  ['all', groupWith('block="#all"', types), 'h'],
  ['extension', groupWith('block="extension"', types), 'h same n'],
  ['restriction', groupWith('block="restriction"', types), 'h same e own'],
  ['substitution by default', groupWith('', types, 'blockDefault="substitution"'), 'h'],
  ['extension, by its type', groupWith('', base('block="extension"') + extended('E', 'B') + narrowed('N', 'B') + extended('G', 'N')), 'h same n'],
  ['extension, by a type in between', groupWith('', base() + extended('E', 'B') + narrowed('N', 'B', 'block="extension"') + extended('G', 'N')), 'h same e n own'],
] // biome-ignore format: a table

for (const [what, schema, allowed] of groupCases)
  test(`XML Schema §3.3.6 the head of a substitution group blocks ${what}`, () => {
    const { codec, judges, typescript } = importRoot(schema)
    const contents = { h: plain, same: plain, e, n, g, own: plain }
    for (const [name, content] of Object.entries(contents)) {
      const isAllowed = allowed.split(' ').includes(name)
      const text = wrap(message(content, undefined, name))
      assert.equal(readContent(codec, text) !== undefined, isAllowed, text)
      for (const each of judges) assert.equal(each.flaw(text) === undefined, isAllowed, `${text} ${each.flaw(text)}`)
      assert.equal(new RegExp(`\\.element\\('${name}'`).test(typescript), isAllowed, typescript)
    }
  })

const wrap = (content: string) =>
  `<r xmlns="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${content}</r>`
function importRoot(schema: string) {
  const contract = importText(writeAskingWsdl(schema))
  assert.deepEqual(contract.losses, [])
  const [port] = contract.ports
  const root = port?.exchanges['ask']?.input
  assert.ok(port && typeof root === 'object' && 'name' in root)
  const served = judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))
  return {
    codec: createElementCodecs()(root),
    judges: [judge(schema), served],
    typescript: writeTypescript(contract, 'ask.wsdl'),
  }
}
