/** What an imported document means is kept where it is described again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeMessage } from '../../src/describe/example-message.ts'
import { PortJsonSchemas } from '../../src/describe/port-json-schema.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { namespaceOfContract } from '../../src/import/imported-contract.ts'
import { importText } from './folder-find.ts'
import { digestPort } from './port-digest.ts'

/** One operation of document style, whose Body is `t:r`. */
const importSchema = (schema: string, binding = { input: '', output: '' }) =>
  importText(`<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" targetNamespace="urn:t"
    xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types><xs:schema targetNamespace="urn:t" elementFormDefault="qualified">
    <xs:element name="asked" type="xs:int"/><xs:element name="answered" type="xs:date"/>${schema}</xs:schema></types>
  <message name="In"><part name="body" element="t:r"/><part name="head" element="t:asked"/></message>
  <message name="Out"><part name="body" element="t:r"/><part name="head" element="t:answered"/></message>
  <portType name="P"><operation name="ask"><input message="t:In"/><output message="t:Out"/></operation></portType>
  <binding name="B" type="t:P"><s:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="ask"><s:operation soapAction=""/>
      <input>${binding.input}<s:body parts="body" use="literal"/></input>
      <output>${binding.output}<s:body parts="body" use="literal"/></output></operation></binding>
  <service name="S"><port name="P" binding="t:B"><s:address location="http://x/"/></port></service>
</definitions>`)

function assertKept(...imported: Parameters<typeof importSchema>): string {
  const { losses, ports } = importSchema(...imported)
  assert.deepEqual(losses, [])
  const [port] = ports
  assert.ok(port)
  const served = writePortWsdl(port, 'http://localhost/')
  assert.equal(digestPort(importText(served).ports[0] ?? assert.fail('no port')), digestPort(port))
  return served
}

test('WSDL 1.1 §3.7 blocks of one name and two elements, in a request and in its reply', () => {
  const head = (message: string) => `<s:header message="t:${message}" part="head" use="literal"/>`
  assertKept('<xs:element name="r" type="xs:string"/>', { input: head('In'), output: head('Out') })
})

test('XML Schema Part 1 §3.4.2 a restriction of text stays derived from its base, so xsi:type may name it', () => {
  const served = assertKept(`
    <xs:complexType name="Code" abstract="true"><xs:simpleContent>
      <xs:extension base="xs:string"><xs:attribute name="list" type="xs:string"/><xs:attribute name="note" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>
    <xs:complexType name="Known"><xs:simpleContent>
      <xs:restriction base="t:Code">s*<xs:enumeration value="a"/><xs:attribute name="note" use="prohibited"/></xs:restriction></xs:simpleContent></xs:complexType>
    <xs:complexType name="Short"><xs:simpleContent>
      <xs:restriction base="t:Code"><xs:simpleType><xs:restriction base="xs:token"><xs:maxLength value="3"/></xs:restriction></xs:simpleType></xs:restriction></xs:simpleContent></xs:complexType>
    <xs:complexType name="Same"><xs:simpleContent><xs:restriction base="t:Code"/></xs:simpleContent></xs:complexType>
    <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="any" type="t:Code"/><xs:element name="one" type="t:Known"/></xs:sequence></xs:complexType></xs:element>`)
  assert.match(served, /<xs:restriction base="\w+:Code">\s*<xs:enumeration value="a"\/>/)
})

test('XML Schema Part 1 §3.8 choices of optional elements within choices are one', () => {
  const served = assertKept(`
    <xs:element name="r"><xs:complexType><xs:choice>
      <xs:choice minOccurs="0"><xs:element name="a" type="xs:int" minOccurs="0"/><xs:element name="b" type="xs:int"/></xs:choice>
      <xs:element name="c" type="xs:int"/></xs:choice></xs:complexType></xs:element>`)
  assert.equal(served.split('<xs:choice').length - 1, 1)
})

test('the attributes of the XML namespace have their own types, whatever a document declares for them', () => {
  const served = assertKept(
    '<xs:element name="r"><xs:complexType><xs:simpleContent><xs:extension base="xs:string"><xs:attribute ref="xml:lang"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>',
  )
  assert.match(served, /ref="xml:lang"/)
})

test('a type that requires itself, and may be nil, has an example', () => {
  const { ports } = importSchema(`
    <xs:complexType name="Node"><xs:sequence>
      <xs:element name="left" type="t:Node" nillable="true"/><xs:element name="right" type="t:Node" nillable="true"/></xs:sequence></xs:complexType>
    <xs:element name="r" type="t:Node"/>`)
  const input = ports[0]?.exchanges['ask']?.input
  assert.ok(typeof input === 'object')
  const example = JSON.stringify(makeMessage(input as never, { seed: 1, name: 'ask', item: 0, given: {} } as never))
  assert.match(example, /"left":null,"right":null/)
  assert.ok(example.length < 5_000)
})

/** What a mock has for `r`, by several seeds. */
function examplesOf(schema: string): readonly string[] {
  const input = importSchema(schema).ports[0]?.exchanges['ask']?.input
  assert.ok(typeof input === 'object')
  const place = { name: 'ask', item: 1, idOf: () => undefined, given: {} }
  return [1, 2, 3, 4, 5, 6].map(seed => JSON.stringify(makeMessage(input, { ...place, seed })))
}

test('XML Schema Part 1 §3.4.2 an example has no element of an abstract type from which none is derived', () => {
  const type = (content: string) => `<xs:element name="r"><xs:complexType>${content}</xs:complexType></xs:element>`
  const schema = `<xs:complexType name="Base" abstract="true"/>${type(`<xs:choice>
    <xs:element name="base" type="t:Base"/><xs:element name="name" type="xs:int"/></xs:choice>`)}`
  for (const example of examplesOf(schema)) assert.match(example, /"name":\d/)
})

test('an example has no optional group without elements: it would be read as missing', () => {
  const deep = (content: string, levels: number): string =>
    levels === 0
      ? content
      : `<xs:sequence><xs:element name="e"><xs:complexType>${deep(content, levels - 1)}</xs:complexType></xs:element></xs:sequence>`
  const group = (name: string) => `<xs:sequence minOccurs="0"><xs:element name="${name}" type="xs:int" minOccurs="0"/>
    <xs:element name="${name}2" type="xs:int" minOccurs="0"/></xs:sequence>`
  for (const levels of [0, 1, 2, 3, 4, 5, 6]) {
    const schema = `<xs:element name="r"><xs:complexType>${deep(`<xs:sequence>${group('a')}${group('b')}</xs:sequence>`, levels)}</xs:complexType></xs:element>`
    for (const example of examplesOf(schema)) assert.doesNotMatch(example, /:\{\}[^}]/)
  }
})

test('Namespaces in XML §2.1 a namespace may contain braces, as templates of addresses do', () => {
  const wsdl = `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="http://{{host}}/t" targetNamespace="http://{{host}}/t"
    xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types><xs:schema targetNamespace="http://{{host}}/t" elementFormDefault="qualified">
    <xs:complexType name="R"><xs:sequence><xs:element name="a" type="xs:int"/></xs:sequence></xs:complexType>
    <xs:element name="r" type="t:R"/></xs:schema></types>
  <message name="In"><part name="body" element="t:r"/></message>
  <portType name="P"><operation name="ask"><input message="t:In"/></operation></portType>
  <binding name="B" type="t:P"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="ask"><s:operation soapAction=""/><input><s:body use="literal"/></input></operation></binding>
  <service name="S"><port name="P" binding="t:B"><s:address location="http://x/"/></port></service></definitions>`
  const { losses, ports } = importText(wsdl)
  assert.deepEqual(losses, [])
  const [port] = ports
  assert.equal(port?.names?.portType, 'P')
  const root = port?.exchanges['ask']?.input
  assert.deepEqual(typeof root === 'object' && 'name' in root ? { ...root.name } : root, {
    uri: 'http://{{host}}/t',
    local: 'r',
  })
  const again = importText(writePortWsdl(port ?? assert.fail('no port'), 'http://localhost/'))
  assert.equal(digestPort(again.ports[0] ?? assert.fail('no port')), digestPort(port))
})

test('JSON Schema Core §8.2.3.1 an element without a type of its own is described once, and referred to', () => {
  const refer = (...names: readonly string[]) =>
    `<xs:complexType><xs:sequence>${names.map(each => `<xs:element ref="t:${each}"/>`).join('')}</xs:sequence></xs:complexType>`
  const count = 12
  const levels = Array.from({ length: count }, (_, i) =>
    i + 1 < count
      ? `<xs:element name="e${i}">${refer(`e${i + 1}`, `f${i}`)}</xs:element><xs:element name="f${i}">${refer(`e${i + 1}`)}</xs:element>`
      : `<xs:element name="e${i}" type="xs:int"/>`,
  )
  const { ports } = importSchema(`<xs:element name="r">${refer('e0')}</xs:element>${levels.join('')}`)
  const root = ports[0]?.exchanges['ask']?.input
  assert.ok(typeof root === 'object' && 'name' in root)
  const schemas = new PortJsonSchemas('')
  assert.deepEqual(schemas.element(root)['properties'], { e0: { $ref: '#/components/schemas/e0' } })
  assert.equal(Object.keys(schemas.all).length, 2 * (count - 1))
  assert.ok(JSON.stringify(schemas.all).length < 10_000, 'it grows with the elements, not with the ways to them')
})

test('an imported contract has an absolute namespace, even if the WSDL has none', () => {
  const named = (namespace: string) => namespaceOfContract({ namespace }, 'shop')
  assert.deepEqual(['', 'services.wsdl', 'urn:x', 'http://x/ y'].map(named), [
    'urn:shop',
    'urn:shop',
    'urn:x',
    'urn:shop',
  ])
})
