/**
 * Describing Media Content of Binary Data in XML §2.2: `xmime:expectedContentTypes` goes through an
 * import, its text, and the WSDL that is served.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyMember, AnyRootElement } from '../../src/contract/xml-type.ts'
import { PortJsonSchemas } from '../../src/describe/port-json-schema.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import type { ImportedContract } from '../../src/import/imported-contract.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'

const media = 'http://www.w3.org/2005/05/xmlmime'
const schemasOf = (xmime: string) => `
  <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" xmlns:o="urn:o" xmlns:m="${xmime}" targetNamespace="urn:t" elementFormDefault="qualified">
    <xs:import namespace="urn:o"/><xs:import namespace="${xmime}"/>
    <xs:element name="r"><xs:complexType><xs:sequence>
      <xs:element name="scan" type="xs:base64Binary" m:expectedContentTypes=" application/pdf "/>
      <xs:element name="photos" type="xs:hexBinary" m:expectedContentTypes="image/png, image/*;q=0.5" minOccurs="0" maxOccurs="9"/>
      <xs:element name="typed" type="m:base64Binary" m:expectedContentTypes="image/png" nillable="true"/>
      <xs:element name="bare" type="xs:base64Binary"/>
      <xs:element name="picture" type="t:Picture"/>
      <xs:element name="own" type="t:Picture" m:expectedContentTypes="image/webp"/>
      <xs:element name="inner"><xs:complexType m:expectedContentTypes="audio/ogg"><xs:simpleContent>
        <xs:extension base="m:base64Binary"/></xs:simpleContent></xs:complexType></xs:element>
      <xs:element ref="o:cover" minOccurs="0"/>
    </xs:sequence></xs:complexType></xs:element>
    <xs:complexType name="Picture" m:expectedContentTypes="image/png"><xs:simpleContent>
      <xs:restriction base="m:base64Binary"/></xs:simpleContent></xs:complexType>
  </xs:schema>
  <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:m="${xmime}" targetNamespace="urn:o">
    <xs:element name="cover" type="xs:base64Binary" m:expectedContentTypes="image/jpeg"/>
  </xs:schema>`
const expected = {
  scan: 'application/pdf',
  photos: 'image/png, image/*;q=0.5',
  typed: 'image/png',
  picture: 'image/png',
  own: 'image/webp',
  inner: 'audio/ogg',
  cover: 'image/jpeg',
}

function rootOf({ ports }: ImportedContract): AnyRootElement {
  const [exchange] = Object.values(ports[0]?.exchanges ?? {})
  assert.ok(exchange && exchange.input !== 'empty')
  return exchange.input
}
function expectedOf(contract: ImportedContract): Readonly<Record<string, string>> {
  const { definition } = rootOf(contract).type()
  assert.ok(definition.kind === 'complex')
  const marksOf = ({ particle, marks }: AnyMember) => (particle.kind === 'reference' ? particle.to().marks : marks)
  const all = Object.entries(definition.members).map(([key, each]) => [key, marksOf(each).expects] as const)
  return Object.fromEntries(all.flatMap(([key, text]) => (text === undefined ? [] : [[key, text]])))
}
const wsdl20 = (
  schemas: string,
) => `<description xmlns="http://www.w3.org/ns/wsdl" xmlns:t="urn:t" targetNamespace="urn:t" xmlns:wsoap="http://www.w3.org/ns/wsdl/soap">
  <types>${schemas}</types>
  <interface name="Desk"><operation name="ask" pattern="http://www.w3.org/ns/wsdl/in-only"><input element="t:r"/></operation></interface>
  <binding name="B" interface="t:Desk" type="http://www.w3.org/ns/wsdl/soap" wsoap:protocol="http://www.w3.org/2003/05/soap/bindings/HTTP/"/>
  <service name="S" interface="t:Desk"><endpoint name="P" binding="t:B" address="http://x/"/></service>
</description>`

const sources: readonly (readonly [string, string])[] = [
  ['WSDL 1.1', writeAskingWsdl(schemasOf(media))],
  ['WSDL 1.1 with the namespace of 2004', writeAskingWsdl(schemasOf('http://www.w3.org/2004/11/xmlmime'))],
  ['WSDL 2.0', wsdl20(schemasOf(media))],
]
for (const [what, source] of sources)
  test(`§2.2 expected media types survive import and serving: ${what}`, () => {
    const contract = importText(source)
    assert.deepEqual(contract.losses, [])
    assert.deepEqual(expectedOf(contract), expected)
    const [port] = contract.ports
    assert.ok(port)
    const written = writePortWsdl(port, 'http://x/')
    assert.deepEqual(expectedOf(importText(written)), expected, 'the same once more')
  })

test('§2.2 the written contract states the expected media types', () => {
  const text = writeTypescript(importText(writeAskingWsdl(schemasOf(media))), 'ask.wsdl')
  assert.match(text, /scan: x\.element\(x\.base64Binary\)\.expecting\('application\/pdf'\)/)
  assert.match(text, /x\.element\(x\.hexBinary\)\.expecting\('image\/png, image\/\*;q=0\.5'\)\.many\(0, 9\)/)
  assert.match(text, /\.element\('cover', x\.base64Binary\)\.expecting\('image\/jpeg'\)/)
})

test('JSON Schema Validation §8.4 a single media type is stated in the schema of the text; of several types or a range none is', () => {
  const root = rootOf(importText(writeAskingWsdl(schemasOf(media))))
  const schemas = new PortJsonSchemas('')
  const { properties } = schemas.element(root) as { properties: Record<string, Record<string, unknown>> }
  assert.equal(properties['scan']?.['contentMediaType'], 'application/pdf')
  assert.doesNotMatch(
    JSON.stringify([properties['photos'], properties['typed'], properties['bare']]),
    /contentMediaType/,
  )
})
