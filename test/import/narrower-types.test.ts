/**
 * XML Schema Part 1 §3.3.4, §3.14.6: simple types that xsi:type names. Each message is judged by
 * libxml2 with the schema as it came, by the contract that was imported from it, and by the schema
 * that is served.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const simple = (name: string, base: string, facets = '') =>
  `<xs:simpleType name="${name}"><xs:restriction base="${base}">${facets}</xs:restriction></xs:simpleType>`
const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">
  ${simple('Code', 'xs:string', '<xs:maxLength value="4"/>')}
  ${simple('Short', 't:Code', '<xs:maxLength value="2"/>')}
  ${simple('Shorter', 't:Short', '<xs:maxLength value="1"/>')}
  ${simple('Other', 'xs:string', '<xs:maxLength value="9"/>')}
  ${simple('Token', 'xs:token', '<xs:pattern value="[a-z]+"/>')}
  ${simple('Even', 'xs:int', '<xs:pattern value="[0-9]*[02468]"/>')}
  <xs:simpleType name="Size"><xs:union memberTypes="xs:int t:Word"/></xs:simpleType>
  ${simple('Word', 'xs:string', '<xs:enumeration value="many"/><xs:enumeration value="few"/>')}
  ${simple('Few', 't:Word', '<xs:enumeration value="few"/>')}
  <xs:simpleType name="Inner"><xs:restriction><xs:simpleType><xs:restriction base="t:Code"/></xs:simpleType><xs:length value="3"/></xs:restriction></xs:simpleType>
  <xs:simpleType name="Codes"><xs:list itemType="t:Code"/></xs:simpleType>
  ${simple('Pair', 't:Codes', '<xs:length value="2"/>')}
  ${simple('Octets', 'xs:base64Binary', '<xs:maxLength value="1"/>')}
  <xs:complexType name="Complex"><xs:simpleContent><xs:extension base="t:Code"/></xs:simpleContent></xs:complexType>
  <xs:element name="r"><xs:complexType><xs:choice>
    <xs:element name="code" type="t:Code"/><xs:element name="text" type="xs:string"/><xs:element name="size" type="t:Size"/>
    <xs:element name="codes" type="t:Codes"/><xs:element name="octets" type="xs:base64Binary"/><xs:element name="any" type="xs:anySimpleType"/>
  </xs:choice></xs:complexType></xs:element></xs:schema>`

/** The value; without one it is refused. */
const cases: readonly (readonly [element: string, type: string, text: string, value?: unknown])[] = [
  ['code', 't:Code', 'abcd', 'abcd'],
  ['code', 't:Short', 'ab', 'ab'],
  ['code', 't:Shorter', 'a', 'a'],
  ['code', 't:Inner', 'abc', 'abc'],
  ['code', 't:Short', 'abc'],
  ['code', 't:Inner', 'ab'],
  ['code', 't:Other', 'ab'],
  ['code', 'xs:token', 'ab'],
  ['code', 't:Missing', 'ab'],
  ['text', 't:Shorter', 'a', 'a'],
  ['text', 't:Other', 'abcdefghi', 'abcdefghi'],
  ['text', 't:Token', 'ab', 'ab'],
  ['text', 't:Token', 'AB'],
  ['text', 't:Even', '2'],
  ['size', 'xs:int', '7', 7],
  ['size', 't:Even', '8', 8],
  ['size', 't:Even', '7'],
  ['size', 't:Word', 'many', 'many'],
  ['size', 't:Few', 'few', 'few'],
  ['size', 't:Few', 'many'],
  ['size', 'xs:string', 'few'],
  ['codes', 't:Pair', 'a b', ['a', 'b']],
  ['codes', 't:Pair', 'a b c'],
  ['codes', 't:Code', 'a'],
  ['octets', 't:Octets', 'AQ==', new Uint8Array([1])],
  ['octets', 't:Octets', 'AQI='],
  ['any', 't:Even', '4', '4'],
  ['any', 't:Even', '5'],
  ['any', 'xs:date', '2026-02-29'],
  ['any', 't:Pair', 'a b', 'a b'],
  ['any', 'xs:nothing', 'a'],
]

const contract = importText(writeAskingWsdl(schema))
const [port] = contract.ports
const root = port?.exchanges['ask']?.input
assert.ok(port && typeof root === 'object' && 'name' in root)
const codec = createElementCodecs([port])(root)
const judges = [judge(schema), judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))]

for (const [element, type, text, value] of cases)
  test(`XML Schema §3.3.4 4.3 ${element} with the xsi:type ${type.trim()} ${value === undefined ? 'must not be' : 'may be'} ${text}`, () => {
    const scope =
      'xmlns="urn:t" xmlns:t="urn:t" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"'
    const message = `<r ${scope}><${element} i:type="${type}">${text}</${element}></r>`
    for (const each of judges) assert.equal(each.flaw(message) === undefined, value !== undefined, message)
    assert.deepEqual(readContent(codec, message), value === undefined ? undefined : { choice: { [element]: value } })
  })

test('a contract declares the types that narrow a type of a message, though no message has them', () => {
  const typescript = writeTypescript(contract, 'ask.wsdl')
  assert.match(typescript, /^ {2}types: \[Short, Shorter, Other, Token, Even, Few, Inner, Pair, Octets\],$/m)
  assert.deepEqual(contract.losses, [])
})
