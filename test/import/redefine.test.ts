/**
 * XML Schema Part 1 §4.2.2. What a message is, is judged by libxml2 with the schemas as they came,
 * by the contract that was imported from them, and by the schema that is served again.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { type ImportedContract, readImportedContract } from '../../src/import/imported-contract.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { Malformed } from '../../src/xml/index.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const schemas = 'http://www.w3.org/2001/XMLSchema'
const schemaWith = (content: string, namespace = 'targetNamespace="urn:t" xmlns:t="urn:t"'): string =>
  `<xs:schema xmlns:xs="${schemas}" ${namespace} elementFormDefault="qualified">${content}</xs:schema>`
const int = (name: string, more = '') => `<xs:element name="${name}" type="xs:int" ${more}/>`
const complex = (name: string, content: string) => `<xs:complexType name="${name}">${content}</xs:complexType>`
const sequence = (...of: readonly string[]) => `<xs:sequence>${of.join('')}</xs:sequence>`
const derived = (by: string, base: string, content: string) =>
  `<xs:complexContent><xs:${by} base="${base}">${content}</xs:${by}></xs:complexContent>`
const simple = (name: string, base: string, facets: string) =>
  `<xs:simpleType name="${name}"><xs:restriction base="${base}">${facets}</xs:restriction></xs:simpleType>`
const root = '<xs:element name="r" type="t:T"/>'
const redefine = (content: string, of = 'base.xsd') => `<xs:redefine schemaLocation="${of}">${content}</xs:redefine>`
const message = (content: string, attributes = ''): string =>
  `<r xmlns="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ${attributes}>${content}</r>`

interface RedefineCase {
  readonly what: string
  readonly main: string
  readonly others: Readonly<Record<string, string>>
  readonly valid: readonly string[]
  readonly invalid: readonly string[]
  /** By libxml2, which knows no XML Schema 1.1, and no schema both included and redefined. */
  readonly refused?: true
}
const cases: readonly RedefineCase[] = [
  {
    what: '§4.2.2 5 a complex type by extension',
    main: schemaWith(redefine(complex('T', derived('extension', 't:T', `${sequence(int('b'))}<xs:attribute name="u"/>`))) + root),
    others: { 'base.xsd': schemaWith(complex('T', `${sequence(int('a'))}<xs:attribute name="v"/>`)) },
    valid: [message('<a>1</a><b>2</b>'), message('<a>1</a><b>2</b>', 'u="1" v="2" xsi:type="T"')],
    invalid: [message('<a>1</a>'), message('<b>1</b>'), message('<a>1</a>', 'xsi:type="TOriginal"')],
  },
  {
    what: '§4.2.2 5 a complex type by restriction, of one that is an extension',
    main: schemaWith(redefine(complex('T', derived('restriction', 't:T', `${sequence(int('z'), int('a'))}<xs:attribute name="v" use="required"/>`))) + root),
    others: {
      'base.xsd': schemaWith(
        complex('Z', `${sequence(int('z'))}`) +
          complex('T', derived('extension', 't:Z', `${sequence(int('a', 'minOccurs="0"'))}<xs:attribute name="v"/>`)),
      ),
    },
    valid: [message('<z>1</z><a>1</a>', 'v="1"')],
    invalid: [message('<z>1</z>', 'v="1"'), message('<z>1</z><a>1</a>')],
  },
  {
    what: '§4.2.2 5 a simple type by restriction',
    main: schemaWith(redefine(simple('T', 't:T', '<xs:maxInclusive value="5"/>')) + root),
    others: { 'base.xsd': schemaWith(simple('T', 'xs:int', '<xs:minInclusive value="2"/>')) },
    valid: [message('2'), message('5'), message('5', 'xsi:type="T"')],
    invalid: [message('1'), message('6')],
  },
  {
    what: '§4.2.2 5 a type with simple content',
    main: schemaWith(
      redefine(complex('T', '<xs:simpleContent><xs:extension base="t:T"><xs:attribute name="u" use="required"/></xs:extension></xs:simpleContent>')) + root,
    ),
    others: { 'base.xsd': schemaWith(complex('T', '<xs:simpleContent><xs:extension base="xs:int"><xs:attribute name="v"/></xs:extension></xs:simpleContent>')) },
    valid: [message('1', 'u="1"'), message('1', 'u="1" v="2"')],
    invalid: [message('1', 'v="2"'), message('x', 'u="1"')],
  },
  {
    what: '§4.2.2 6.1 a group that includes itself',
    main: schemaWith(redefine(`<xs:group name="G">${sequence(int('b'), '<xs:group ref="t:G"/>', int('c'))}</xs:group>`) + complex('T', '<xs:group ref="t:G"/>') + root),
    others: { 'base.xsd': schemaWith(`<xs:group name="G">${sequence(int('a'))}</xs:group>`) },
    valid: [message('<b>1</b><a>1</a><c>1</c>')],
    invalid: [message('<a>1</a>'), message('<b>1</b><c>1</c>')],
  },
  {
    what: '§4.2.2 6.2 a group that is narrowed, where the other schema refers to it',
    main: schemaWith(redefine(`<xs:group name="G">${sequence(int('a'))}</xs:group>`) + root),
    others: { 'base.xsd': schemaWith(`<xs:group name="G">${sequence(int('a'), int('b', 'minOccurs="0"'))}</xs:group>${complex('T', '<xs:group ref="t:G"/>')}`) },
    valid: [message('<a>1</a>')],
    invalid: [message('<a>1</a><b>1</b>')],
  },
  {
    what: '§4.2.2 7.1 an attribute group that includes itself',
    main: schemaWith(redefine('<xs:attributeGroup name="G"><xs:attributeGroup ref="t:G"/><xs:attribute name="u" use="required"/></xs:attributeGroup>') + root),
    others: { 'base.xsd': schemaWith(`<xs:attributeGroup name="G"><xs:attribute name="v"/></xs:attributeGroup>${complex('T', '<xs:attributeGroup ref="t:G"/>')}`) },
    valid: [message('', 'u="1" v="2"'), message('', 'u="1"')],
    invalid: [message('', 'v="2"'), message('', 'u="1" w="2"')],
  },
  {
    what: '§4.2.2 a redefinition of a redefinition',
    main: schemaWith(redefine(complex('T', derived('extension', 't:T', sequence(int('c')))), 'middle.xsd') + root),
    others: {
      'middle.xsd': schemaWith(redefine(complex('T', derived('extension', 't:T', sequence(int('b')))))),
      'base.xsd': schemaWith(complex('T', sequence(int('a')))),
    },
    valid: [message('<a>1</a><b>1</b><c>1</c>')],
    invalid: [message('<a>1</a><c>1</c>'), message('<a>1</a><b>1</b>')],
  },
  {
    what: '§4.2.2 types that others derive from, and names that are in use',
    main: schemaWith(
      redefine(complex('T', derived('extension', 't:T', sequence(int('b'))))) + complex('TOriginal', sequence(int('o'))) + root,
    ),
    others: {
      'base.xsd': schemaWith(complex('T', sequence(int('a'))) + complex('S', derived('extension', 't:T', sequence(int('s'))))),
    },
    valid: [message('<a>1</a><b>1</b>'), message('<a>1</a><b>1</b><s>1</s>', 'xsi:type="S"')],
    invalid: [message('<a>1</a><s>1</s>', 'xsi:type="S"'), message('<o>1</o>', 'xsi:type="TOriginal"')],
  },
  {
    what: '§4.2.2 no message names the original type',
    main: schemaWith(`${redefine(complex('T', derived('extension', 't:T', sequence(int('b')))))}<xs:element name="r" type="t:Z"/>`),
    others: { 'base.xsd': schemaWith(complex('Z', sequence(int('z'))) + complex('T', derived('extension', 't:Z', sequence(int('a'))))) },
    valid: [message('<z>1</z>'), message('<z>1</z><a>1</a><b>1</b>', 'xsi:type="T"')],
    invalid: [message('<z>1</z><a>1</a>', 'xsi:type="T"'), message('<z>1</z><a>1</a>', 'xsi:type="TOriginal"')],
  },
  {
    what: '§4.2.2 a type that contains itself contains its redefinition',
    main: schemaWith(redefine(complex('T', derived('extension', 't:T', sequence('<xs:element name="t" type="t:T" minOccurs="0"/>')))) + root),
    others: { 'base.xsd': schemaWith(complex('T', sequence(int('a')))) },
    valid: [message('<a>1</a><t><a>1</a><t><a>1</a></t></t>')],
    invalid: [message('<a>1</a><t><t><a>1</a></t></t>')],
  },
  {
    what: '§4.2.2 a schema without a namespace, in that of the one that redefines it',
    main: schemaWith(redefine(complex('T', derived('extension', 't:T', sequence(int('b'))))) + root),
    others: { 'base.xsd': schemaWith(complex('T', sequence('<xs:element name="a" type="S"/>')) + simple('S', 'xs:int', ''), '') },
    valid: [message('<a>1</a><b>1</b>')],
    invalid: [message('<a>1</a>')],
  },
  {
    what: '§4.2.2 a schema that is included by another one first',
    main: schemaWith(`<xs:include schemaLocation="base.xsd"/><xs:include schemaLocation="middle.xsd"/>${root}`),
    others: {
      'middle.xsd': schemaWith(redefine(complex('T', derived('extension', 't:T', sequence(int('b')))))),
      'base.xsd': schemaWith(complex('T', sequence(int('a')))),
    },
    valid: [message('<a>1</a><b>1</b>')],
    invalid: [message('<a>1</a>')],
    refused: true,
  },
  {
    what: '1.1 §4.2.4 a declaration that overrides another one',
    main: schemaWith(`<xs:override schemaLocation="base.xsd">${complex('T', sequence(int('b')))}</xs:override>${root}`),
    others: { 'base.xsd': schemaWith(complex('T', sequence(int('a')))) },
    valid: [message('<b>1</b>')],
    invalid: [message('<a>1</a>'), message('<a>1</a><b>1</b>')],
    refused: true,
  },
] // biome-ignore format: a table

function importWith(main: string, others: Readonly<Record<string, string>>): ImportedContract {
  const found = readImportedContract(Buffer.from(writeAskingWsdl(main)), 'test.wsdl', location => {
    const text = others[location]
    return text === undefined ? undefined : { location, bytes: Buffer.from(text) }
  })
  assert.ok(!(found instanceof Malformed))
  return found
}

for (const { what, main, others, valid, invalid, refused } of cases)
  test(`XML Schema ${what}`, () => {
    const contract = importWith(main, others)
    assert.deepEqual(contract.losses, [])
    const [port] = contract.ports
    const input = port?.exchanges['ask']?.input
    assert.ok(port && typeof input === 'object' && 'name' in input)
    const served = judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))
    const judges = refused ? [served] : [served, judge(main, others)]
    const codec = createElementCodecs()(input)
    for (const text of valid) {
      const value = readContent(codec, text)
      assert.notEqual(value, undefined, text)
      for (const each of judges) {
        assert.equal(each.flaw(text), undefined, text)
        assert.equal(each.flaw(codec.write(value)), undefined, codec.write(value))
      }
    }
    for (const text of invalid) {
      assert.equal(readContent(codec, text), undefined, text)
      for (const each of judges) assert.notEqual(each.flaw(text), undefined, text)
    }
  })

const extended = complex('T', derived('extension', 't:T', sequence(int('b'))))
const flaws: readonly (readonly [what: string, main: string, others: Readonly<Record<string, string>>, losses: readonly string[]])[] = [
  [
    'of a type that is not declared',
    schemaWith(redefine(extended) + root),
    { 'base.xsd': schemaWith('') },
    ['type T: the type that {urn:t}T redefines is not declared: its elements are XML'],
  ],
  [
    'of a group that is not declared',
    schemaWith(redefine(`<xs:group name="G">${sequence('<xs:group ref="t:G"/>')}</xs:group>`) + complex('T', '<xs:group ref="t:G"/>') + root),
    { 'base.xsd': schemaWith('') },
    ['type T: the group that {urn:t}G redefines is not declared'],
  ],
  [
    'of a type without itself as its base',
    schemaWith(redefine(complex('T', sequence(int('b')))) + root),
    { 'base.xsd': schemaWith(complex('T', sequence(int('a')))) },
    ['document: complexType {urn:t}T is in xs:redefine and is not derived from itself: it replaces the component that it should change'],
  ],
  [
    'by two schemas, of one type',
    schemaWith(`<xs:include schemaLocation="one.xsd"/><xs:include schemaLocation="two.xsd"/>${root}`),
    {
      'base.xsd': schemaWith(complex('T', sequence(int('a')))),
      'one.xsd': schemaWith(redefine(extended)),
      'two.xsd': schemaWith(redefine(complex('T', derived('extension', 't:T', sequence(int('c')))))),
    },
    ['document: base.xsd is redefined by two schemas: what both redefine has both changes'],
  ],
] // biome-ignore format: a table

for (const [what, main, others, losses] of flaws)
  test(`XML Schema §4.2.2 a redefinition ${what} is reported`, () => {
    const contract = importWith(main, others)
    assert.deepEqual(contract.losses.map(({ place, detail }) => `${place}: ${detail}`), losses)
    assert.match(writeTypescript(contract, 'test.wsdl'), /export const r = /)
  }) // biome-ignore format: a table
