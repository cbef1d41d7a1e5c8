/** What documents refer to and do not bring: standard schemas, and drafts of XML Schema. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { findStandardSchema } from '../../src/describe/reader/standard-schemas.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { suites } from '../suites.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const importSchema = (inside: string, xs = 'http://www.w3.org/2001/XMLSchema') => {
  const contract = importText(
    `<xs:schema xmlns:xs="${xs}" targetNamespace="urn:s" xmlns:s="urn:s" xmlns:mime="http://www.w3.org/2005/05/xmlmime"
      xmlns:enc="http://schemas.xmlsoap.org/soap/encoding/" elementFormDefault="qualified">${inside}</xs:schema>`,
  )
  return { losses: contract.losses.map(({ detail }) => detail), text: writeTypescript(contract, 's.xsd') }
}

for (const draft of ['http://www.w3.org/2000/10/XMLSchema', 'http://www.w3.org/1999/XMLSchema'])
  test(`a schema in the namespace of the draft ${draft} is read`, () => {
    const { losses, text } = importSchema(
      '<xs:complexType name="Visit"><xs:all><xs:element name="at" type="xs:timeInstant"/><xs:element name="lasts" type="xs:timeDuration"/><xs:element name="page" type="xs:uriReference"/></xs:all></xs:complexType><xs:element name="Visited" type="s:Visit"/>',
      draft,
    )
    assert.deepEqual(losses, [])
    assert.match(
      text,
      /at: x\.element\(x\.dateTime\),\s+lasts: x\.element\(x\.duration\),\s+page: x\.element\(x\.anyURI\)/,
    )
  })
const later: readonly (readonly [type: string, valid: readonly string[], invalid: readonly string[]])[] = [
  ['dateTimeStamp', ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.5-05:00', ' 2026-01-01T24:00:00+14:00 '], ['2026-01-01T00:00:00', '2026-01-01Z', '2026-01-01T00:00:00+15:00']],
  ['yearMonthDuration', ['P1Y', '-P1Y2M', 'P13M'], ['P1D', 'P1YT1M', 'PT1M', 'P']],
  ['dayTimeDuration', ['P1D', '-P1DT2H3M4.5S', 'PT1M'], ['P1M', 'P1Y1D', 'P1YT1M', 'PT']],
  ['anyAtomicType', ['a', ''], []],
] // biome-ignore format: a table
for (const [type, valid, invalid] of later)
  test(`XML Schema 1.1 Part 2 §3.4 ${type} is a narrower type of XML Schema 1.0`, () => {
    const contract = importText(
      writeAskingWsdl(`<xs:schema targetNamespace="urn:t"><xs:element name="r" type="xs:${type}"/></xs:schema>`),
    )
    assert.deepEqual(contract.losses, [])
    const [port] = contract.ports
    const root = port?.exchanges['ask']?.input
    assert.ok(port && typeof root === 'object')
    const codec = createElementCodecs()(root)
    const served = judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))
    for (const text of [...valid, ...invalid]) {
      const document = `<t:r xmlns:t="urn:t">${text}</t:r>`
      assert.equal(readContent(codec, document) !== undefined, valid.includes(text), text)
      assert.equal(served.flaw(document) === undefined, valid.includes(text), `served: ${text}`)
    }
  })
test('octets with a media type are recognized, though their schema may be missing', () => {
  const { losses, text } = importSchema(
    '<xs:import namespace="http://www.w3.org/2005/05/xmlmime" schemaLocation="http://www.w3.org/2005/05/xmlmime"/><xs:element name="Photo" type="mime:base64Binary"/>',
  )
  assert.deepEqual(losses, [])
  assert.match(text, /value: x\.text\(x\.base64Binary\),\s+contentType: x\.attribute\(x\.string\)/)
})
const addressing = 'http://www.w3.org/2005/08/addressing'
for (const [where, more] of [
  ['by an address', `schemaLocation="${addressing}/ws-addr.xsd"`],
  ['by its namespace alone', ''],
] as const)
  test(`WS-Addressing 1.0 an endpoint reference is recognized only where its schema is imported ${where}`, () => {
    const { losses, text } = importSchema(
      `<xs:import namespace="${addressing}" ${more}/><xs:element name="Listener" type="wsa:EndpointReferenceType" xmlns:wsa="${addressing}"/>
       <xs:element name="Faults"><xs:complexType><xs:sequence>
         ${['ProblemAction', 'ProblemHeaderQName', 'RetryAfter', 'RelatesTo', 'FaultTo'].map(each => `<xs:element ref="wsa:${each}" xmlns:wsa="${addressing}"/>`).join('')}
         <xs:element name="code" type="wsa:FaultCodesOpenEnumType" xmlns:wsa="${addressing}"/></xs:sequence></xs:complexType></xs:element>`,
    )
    assert.deepEqual(losses, [])
    assert.match(
      text,
      /type\('EndpointReferenceType', \{\s+Address: x\.element\(AttributedURIType\),\s+ReferenceParameters:/,
    )
    assert.match(text, /default\('http:\/\/www\.w3\.org\/2005\/08\/addressing\/reply'\)/)
  })
const swaRefUri = 'http://ws-i.org/profiles/basic/1.1/xsd'
const inType = (inside: string) => `<xs:element name="Scan"><xs:complexType>${inside}</xs:complexType></xs:element>`
const inSimple = (inside: string) =>
  `<xs:element name="Scan"><xs:simpleType xmlns:r="${swaRefUri}">${inside}</xs:simpleType></xs:element>`
const staysUri = 'refers to an attachment from within a list, a union or a narrower type: it stays a URI'
/** [where, the schema, what is declared, its loss] */
const references: readonly (readonly [string, string, RegExp, string?])[] = [
  ['a global element', '<xs:element name="Scan" type="r:swaRef"/>', /element\('Scan', x\.swaRef\)/],
  ['elements that repeat', inType('<xs:sequence><xs:element name="page" type="r:swaRef" maxOccurs="unbounded"/></xs:sequence>'), /page: x\.element\(x\.swaRef\)\.many\(1\)/],
  ['an attribute', inType('<xs:attribute name="at" type="r:swaRef"/>'), /at: x\.attribute\(x\.swaRef\)\.optional\(\)/],
  ['text with attributes', inType('<xs:simpleContent><xs:extension base="r:swaRef"><xs:attribute name="n" type="xs:int"/></xs:extension></xs:simpleContent>'), /value: x\.text\(x\.swaRef\)/],
  ['a list', inSimple('<xs:list itemType="r:swaRef"/>'), /x\.list\(x\.anyURI\)/, staysUri],
  ['a union', inSimple('<xs:union memberTypes="r:swaRef xs:int"/>'), /x\.union\(x\.anyURI, x\.int\)/, staysUri],
  ['a narrower type', inSimple('<xs:restriction base="r:swaRef"><xs:maxLength value="9"/></xs:restriction>'), /x\.simple\(x\.anyURI, \{ maxLength: 9 \}\)/, staysUri],
] // biome-ignore format: a table
for (const [where, schema, declared, loss] of references)
  test(`WS-I Attachments Profile 1.0 §4.4 a reference to an attachment in ${where}`, () => {
    const location = `schemaLocation="${swaRefUri.replace(/xsd$/, 'swaref.xsd')}"`
    const { losses, text } = importSchema(
      `<xs:import namespace="${swaRefUri}" ${location}/>${schema.replaceAll(' type="r:', ` xmlns:r="${swaRefUri}" type="r:`).replaceAll('<xs:extension', `<xs:extension xmlns:r="${swaRefUri}"`)}`,
    )
    assert.deepEqual(losses, loss ? [loss] : [])
    assert.match(text, declared)
    assert.doesNotMatch(text, /swaRef'|ws-i\.org/)
  })
test('WS-I Attachments Profile 1.0 §4.4 a document may declare the type itself', () => {
  const contract = importText(
    writeAskingWsdl(`<xs:schema targetNamespace="urn:t"><xs:import namespace="${swaRefUri}"/>
      <xs:element name="r" type="a:swaRef" xmlns:a="${swaRefUri}"/></xs:schema>
      <xs:schema targetNamespace="${swaRefUri}"><xs:simpleType name="swaRef"><xs:restriction base="xs:anyURI"/></xs:simpleType></xs:schema>`),
  )
  assert.deepEqual(contract.losses, [])
  assert.match(writeTypescript(contract, 't.wsdl'), /element\('r', x\.swaRef\)/)
})
test('a schema in the document is used in place of the built-in one', () => {
  const contract = importText(
    writeAskingWsdl(`<xs:schema targetNamespace="urn:t"><xs:import namespace="${addressing}"/>
      <xs:element name="r" type="a:EndpointReferenceType" xmlns:a="${addressing}"/></xs:schema>
      <xs:schema targetNamespace="${addressing}"><xs:simpleType name="EndpointReferenceType"><xs:restriction base="xs:int"/></xs:simpleType></xs:schema>`),
  )
  assert.deepEqual(contract.losses, [])
  assert.match(writeTypescript(contract, 't.wsdl'), /simple\('EndpointReferenceType', x\.int\)/)
})
test('a missing schema of another namespace is reported', () => {
  const { losses } = importSchema('<xs:import namespace="urn:other" schemaLocation="other.xsd"/>')
  assert.deepEqual(losses, ['other.xsd is imported and was not found'])
})
test('the common attributes of the SOAP encoding are not members', () => {
  const { losses, text } = importSchema(
    '<xs:complexType name="T"><xs:sequence><xs:element name="a" type="xs:int"/></xs:sequence><xs:attributeGroup ref="enc:commonAttributes"/></xs:complexType>',
  )
  assert.deepEqual(losses, [])
  assert.match(text, /type\('T', \{\s+a: x\.element\(x\.int\),\s+\}\)/)
})

const suite = suites('standard-schemas')
test('WS-Addressing 1.0 the built-in schema is the one that the W3C publishes', { skip: !suite }, () => {
  const published = importText(readFileSync(join(suite ?? '', 'ws-addr.xsd'), 'utf8'))
  const own = importText(new TextDecoder().decode(findStandardSchema(addressing)))
  assert.deepEqual([own.losses, published.losses], [[], []])
  const sorted = (contract: typeof own) =>
    writeTypescript({ ...contract, comments: new Map() }, 'a.xsd')
      .split(/\n(?=export|const)/)
      .sort()
      .join('\n')
  assert.equal(sorted(own), sorted(published))
})
