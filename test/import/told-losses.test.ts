/** What a contract cannot say of a WSDL or a schema is told in one line with its place; nothing is lost in silence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { createBodyCodecs } from '../../src/soap/codecs/body-codec.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { judge, schemaOf } from '../describe/oracle.ts'
import { assertLinear } from '../support/cost.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { readContent } from './read-content.ts'

const schemas = 'http://www.w3.org/2001/XMLSchema'
const schemaWith = (content: string, more = '') =>
  `<xs:schema xmlns:xs="${schemas}" xmlns:t="urn:t" targetNamespace="urn:t" elementFormDefault="qualified" ${more}>${content}</xs:schema>`
const int = (name: string, more = '') => `<xs:element name="${name}" type="xs:int" ${more}/>`
const rootWith = (content: string, behind = '') =>
  `<xs:element name="r"><xs:complexType>${content}</xs:complexType>${behind}</xs:element>`
const sequence = (...of: readonly string[]) => `<xs:sequence>${of.join('')}</xs:sequence>`
const facets = (base: string, inside: string) =>
  `<xs:element name="r"><xs:simpleType><xs:restriction base="xs:${base}">${inside}</xs:restriction></xs:simpleType></xs:element>`
const one = rootWith(sequence(int('a')))
const tellsOf = (wsdl: string) => importText(wsdl).losses.map(({ place, detail }) => `${place}: ${detail}`)

const key = (kind: string, name: string, more = '') =>
  `<xs:${kind} name="${name}" ${more}><xs:selector xpath="t:a"/><xs:field xpath="@n"/></xs:${kind}>`
const schemaCases: readonly (readonly [clause: string, schema: string, told: readonly string[]])[] = [
  ['§3.11 identity constraints', schemaWith(rootWith(sequence(int('a')), key('key', 'K') + key('unique', 'U') + key('keyref', 'R', 'refer="t:K"'))), ['element r: the key K is not checked', 'element r: the unique U is not checked', 'element r: the keyref R is not checked']],
  ['§3.11 an identity constraint of a local element', schemaWith(rootWith(sequence(`<xs:element name="e"><xs:complexType/>${key('key', 'K')}</xs:element>`))), ['element r, element e: the key K is not checked']],
  ['1.1 §3.13 assertions', schemaWith(rootWith(`${sequence(int('a'))}<xs:assert test="t:a gt 1"/>`)), ['element r: the assertion t:a gt 1 is not checked']],
  ['1.1 §3.13 assertions of an extension', schemaWith(`<xs:complexType name="B"/><xs:element name="r"><xs:complexType><xs:complexContent><xs:extension base="t:B">${sequence(int('a'))}<xs:assert test="t:a"/></xs:extension></xs:complexContent></xs:complexType></xs:element>`), ['element r: the assertion t:a is not checked']],
  ['1.1 Part 2 §4.3.13 assertions of a simple type', schemaWith('<xs:element name="r"><xs:simpleType><xs:restriction base="xs:int"><xs:assertion test="$value mod 2"/></xs:restriction></xs:simpleType></xs:element>'), ['element r: the assertion $value mod 2 is not checked']],
  ['1.1 Part 2 §4.3.14 explicit time zones', schemaWith('<xs:element name="r"><xs:simpleType><xs:restriction base="xs:date"><xs:explicitTimezone value="required"/></xs:restriction></xs:simpleType></xs:element>'), ['element r: the facet explicitTimezone required is not checked']],
  ['Part 2 §4.3 values that no facet has', schemaWith(facets('string', '<xs:maxLength value="x"/><xs:minLength value="-1"/><xs:length value="1.5"/><xs:whiteSpace value="none"/>')), ['maxLength cannot have the value x', 'minLength cannot have the value -1', 'length cannot have the value 1.5', 'whiteSpace cannot have the value none'].map(each => `element r: the facet ${each}: it is left out`)],
  ['Part 2 §4.3.7 a bound that is not of its type', schemaWith(facets('int', '<xs:minInclusive value="a"/><xs:maxInclusive value="12.5"/>')), ['minInclusive cannot have the value a', 'maxInclusive cannot have the value 12.5'].map(each => `element r: the facet ${each}: it is left out`)],
  ['Part 2 §4.3.8 a bound that equals that of its base', schemaWith(`<xs:simpleType name="B"><xs:restriction base="xs:int"><xs:maxExclusive value="9"/></xs:restriction></xs:simpleType>${facets('int', '<xs:maxExclusive value=" 9 "/><xs:minExclusive value="+1"/>').replace('xs:int', 't:B')}`), []],
  ['1.1 §3.10.2.2 namespaces and names that a wildcard excludes', schemaWith(rootWith('<xs:sequence><xs:any notNamespace="##local"/></xs:sequence><xs:anyAttribute notQName="t:a"/>')), ['element r: a wildcard accepts names that notNamespace excludes: ##local', 'element r: a wildcard accepts names that notQName excludes: t:a']],
  ['1.1 Part 2 §3.4.26–§3.4.28 types that narrow older ones', schemaWith(['dateTimeStamp', 'yearMonthDuration', 'dayTimeDuration', 'anyAtomicType'].map(name => `<xs:element name="${name}" type="xs:${name}"/>`).join('') + one), []],
  ['1.1 §3.12 alternatives', schemaWith('<xs:complexType name="B"/><xs:element name="r" type="t:B"><xs:alternative test="@x" type="t:B"/></xs:element>'), ['element r: has the same type whatever its attributes are (xs:alternative)']],
  ['§3.15.6 two declarations of a name', schemaWith(`${one}${int('e')}${int('e', 'nillable="true"')}`), ['document: element {urn:t}e is declared twice, in different ways: the first declaration counts']],
  ['§3.15.6 one declaration twice, with other prefixes and comments', schemaWith(`${one}${int('e')}<xs:element name="e" type="y:int" xmlns:y="${schemas}"><xs:annotation/></xs:element>`), []],
  ['§3.15.3 a prefix that is not declared', schemaWith(rootWith(sequence('<xs:element name="a" type="zz:int"/>'))), ['element r, element a: the type zz:int is not declared: its elements are XML']],
  ['1.1 §3.4.2.3.3 open content', schemaWith(rootWith(`<xs:openContent><xs:any/></xs:openContent>${sequence(int('a'))}`)), ['element r: has no elements but those that are declared (xs:openContent)']],
  ['1.1 §3.4.2.3.3 closed content', schemaWith(rootWith(`<xs:openContent mode="none"/>${sequence(int('a'))}`)), []],
  ['1.1 §3.4.2.3.3 content that is open by default', schemaWith(`<xs:defaultOpenContent><xs:any/></xs:defaultOpenContent>${one}`), ['document: types of the schema urn:t have no elements but those that are declared (xs:defaultOpenContent)']],
  ['1.1 §3.4.2.5 default attributes', schemaWith(one, 'defaultAttributes="t:A"'), ['document: types of the schema urn:t have no attributes of the group t:A by default']],
  ['§3.12 notations', schemaWith(`<xs:notation name="gif" public="image/gif"/>${one}`), ['document: the notation gif of the schema urn:t is left out']],
  ['§3.8.6 a group that contains itself', schemaWith(`<xs:group name="G">${sequence(int('a'), '<xs:group ref="t:G" minOccurs="0"/>')}</xs:group>${rootWith('<xs:group ref="t:G"/>')}`), ['element r: the group G contains itself: it is left out there']],
  ['§3.8.2 a group in any order that may be absent as a whole', schemaWith(rootWith(`<xs:all minOccurs="0">${int('a', 'minOccurs="0"')}${int('b')}</xs:all>`)), ['element r: may be empty (xs:all): b may be absent although others are present here']],
  ['§3.8.2 such a group of one element, or of optional ones', schemaWith(rootWith(`<xs:all minOccurs="0">${int('a')}</xs:all>`) + rootWith(`<xs:all minOccurs="0">${int('a', 'minOccurs="0"')}${int('b', 'minOccurs="0"')}</xs:all>`).replace('"r"', '"q"')), []],
  ['§3.9.6 a minimum above the maximum', schemaWith(rootWith(sequence(int('a', 'minOccurs="3" maxOccurs="2"'), int('b', 'minOccurs="2"'), int('c', 'minOccurs="0" maxOccurs="unbounded"')))), ['element r: the element a has a minOccurs of 3 and a maxOccurs of 2: it is read as 3 times', 'element r: the element b has a minOccurs of 2 and a maxOccurs of 1: it is read as 2 times']],
  ['§3.9.6 counts that are none', schemaWith(rootWith(sequence(int('a', 'minOccurs="-1"'), int('b', 'maxOccurs="many"'), int('c', 'minOccurs="-0" maxOccurs="+2"')))), ['element r: the element a has the minOccurs -1: it is read as 1', 'element r: the element b has the maxOccurs many: it is read as 1']],
  ['§3.3.3 an element with a name and a reference', schemaWith(rootWith(sequence('<xs:element name="a" ref="t:e"/>')) + int('e')), ['element r: the element a has both ref and name: ref counts']],
  ['§3.3.3 an element with a default and a fixed value', schemaWith(int('r', 'default="1" fixed="2"')), ['element r: the element r has both fixed and default: fixed counts']],
  ['§3.3.3 an element with two types', schemaWith('<xs:element name="r" type="xs:int"><xs:simpleType><xs:restriction base="xs:byte"/></xs:simpleType></xs:element>'), ['element r: the element r has both type and simpleType: type counts']],
  ['§3.2.3 an attribute with a name and a reference', schemaWith(`${rootWith('<xs:attribute name="k" ref="t:a"/>')}<xs:attribute name="a" type="xs:int"/>`), ['element r: the attribute k has both ref and name: ref counts']],
  ['annotations lose nothing', schemaWith(`<xs:annotation><xs:appinfo>x</xs:appinfo></xs:annotation>${one}`), []],
] // biome-ignore format: a table
for (const [clause, schema, told] of schemaCases)
  test(`XML Schema ${clause}`, () => assert.deepEqual(tellsOf(writeAskingWsdl(schema)), told))

/** A WSDL whose input has these bindings, after its operation's others. */
const wsdlWith = ({
  input = '<s:body use="literal"/>',
  binding = '',
  port = '',
  fault = '',
  transport = 'http://schemas.xmlsoap.org/soap/http',
}) => `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t"
    targetNamespace="urn:t" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:m="http://schemas.xmlsoap.org/wsdl/mime/" xmlns:xs="${schemas}" xmlns:e="urn:e">
  <types>${schemaWith(one + int('h') + int('f') + int('g'))}</types>
  <message name="In"><part name="a" element="t:r"/><part name="b" type="xs:base64Binary"/><part name="c" type="xs:string"/></message><message name="Out"/>
  <message name="H"><part name="h" element="t:h"/></message><message name="F"><part name="f" element="t:f"/><part name="g" element="t:g"/></message>
  <portType name="P"><operation name="ask"><input message="t:In"/><output message="t:Out"/>${fault}</operation></portType>
  <binding name="B" type="t:P"><s:binding transport="${transport}"/>${binding}
    <operation name="ask"><s:operation soapAction=""/><input>${input}</input><output><s:body use="literal"/></output></operation></binding>
  <service name="S"><port name="P" binding="t:B"><s:address location="http://x/"/>${port}</port></service></definitions>`
const body = '<s:body use="literal" parts="a"/>'
const mimePart = (...of: readonly string[]) => `<m:part>${of.join('')}</m:part>`
const image = '<m:content part="b" type="image/gif"/><m:content part="b" type="image/png"/>'

const wsdlCases: readonly (readonly [clause: string, wsdl: string, told: readonly string[]])[] = [
  ['§5.11 attachments', wsdlWith({ input: `<m:multipartRelated>${mimePart(body)}${mimePart(image)}${mimePart('<m:mimeXml part="c"/>')}</m:multipartRelated>` }), []],
  ['§2.1.3 attachments are read, also where the document requires that', wsdlWith({ input: `<m:multipartRelated w:required="true">${mimePart(body)}${mimePart(image)}${mimePart('<m:mimeXml part="c"/>')}</m:multipartRelated>` }), []],
  ['§5.11 the XML of an attachment', wsdlWith({ input: `<m:multipartRelated>${mimePart(body)}${mimePart('<m:mimeXml part="b"/>')}${mimePart('<m:content part="c"/>')}</m:multipartRelated>` }), ['operation ask, ask: the XML of the attachment b is not checked: it is octets']],
  ['§5.11 an attachment that is not a part', wsdlWith({ input: `<m:multipartRelated>${mimePart(body)}${mimePart('<m:content part="z"/>')}</m:multipartRelated>` }), ['document: ask input: the attachment z is not a part of the message']],
  ['§3.3 another transport than HTTP', wsdlWith({ input: body, transport: 'http://www.w3.org/2010/soapjms/' }), ['port P: is bound to SOAP over http://www.w3.org/2010/soapjms/: it is served over HTTP']],
  ['§2.6 a port without its binding', wsdlWith({ input: body }).replace('binding="t:B"', 'binding="t:C"'), ['document: port P: binding {urn:t}C is not found', 'port P: has no binding in this document that names a protocol: it is left out']],
  ['§2.1.3 a required extension of a binding', wsdlWith({ input: body, binding: '<e:encrypt w:required="true"/>' }), ['binding B: the extension {urn:e}encrypt is required, and left out']],
  ['§2.1.3 a required extension of a port', wsdlWith({ input: body, port: '<e:encrypt w:required="1"/>' }), ['port P: the extension {urn:e}encrypt is required, and left out']],
  ['§2.1.3 a required extension of a message', wsdlWith({ input: `${body}<e:encrypt w:required="true"/>` }), ['binding B: the extension {urn:e}encrypt is required, and left out']],
  ['§2.1.3 an extension that is not required', wsdlWith({ input: body, binding: '<e:encrypt/><e:other w:required="false"/>' }), []],
  ['§3.5 document/encoded', wsdlWith({ input: '<s:body use="encoded" parts="a"/>' }), ['operation ask: is document/encoded: its messages are literal, without references or stated types (R2706)']],
  ['§2.4.4 a fault without a name', wsdlWith({ input: body, fault: '<fault message="t:H"/>' }), ['document: ask: a fault has no name']],
  ['§3.6 further parts of a fault', wsdlWith({ input: body, fault: '<fault name="No" message="t:F"/>' }), ['operation ask: the fault No has its first part alone: g left out']],
] // biome-ignore format: a table
test('WSDL 1.1 §2.4.4 faults without a name, or of one name, have names in the contract', () => {
  const faults = `<fault message="t:H"/>${'<fault name="No" message="t:F"/>'.repeat(2)}`
  const [port] = importText(wsdlWith({ input: body, fault: faults })).ports
  assert.deepEqual(Object.keys(port?.exchanges['ask']?.faults ?? {}), ['h', 'No', 'No2'])
})
for (const [clause, wsdl, told] of wsdlCases)
  test(`WSDL 1.1 ${clause}`, () => {
    assert.deepEqual(tellsOf(wsdl), told)
    const { exchanges } = importText(wsdl).ports[0] ?? assert.fail('no port')
    const input = exchanges['ask']?.input
    assert.ok(typeof input === 'object' && createBodyCodecs()(input).firsts[0]?.local === 'r')
  })

test('XML Schema Part 1 §3.15.3 elements of a schema that was not found are told apart by their names', () => {
  const [first, second] = ['first', 'second'].map(name => `<p:${name} xmlns:p="urn:p"><p:x/></p:${name}>`)
  const refer = (name: string, more = '') => `<xs:element ref="p:${name}" ${more}/>`
  const schema = schemaWith(
    `<xs:import namespace="urn:p"/>${rootWith(sequence(refer('first', 'minOccurs="0"'), refer('second')))}`,
    'xmlns:p="urn:p"',
  )
  const { losses, ports } = importText(writeAskingWsdl(schema))
  assert.deepEqual(
    losses.map(each => each.detail),
    ['first', 'second'].map(name => `the element {urn:p}${name} is not declared: it is XML`),
  )
  const root = ports[0]?.exchanges['ask']?.input
  assert.ok(typeof root === 'object')
  const codec = createElementCodecs()(root)
  assert.deepEqual(readContent(codec, `<r xmlns="urn:t">${second}</r>`), { second })
  assert.deepEqual(readContent(codec, `<r xmlns="urn:t">${first}${second}</r>`), { first, second })
  assert.equal(readContent(codec, `<r xmlns="urn:t">${first}</r>`), undefined)
})

test('XML Schema Part 2 §4.3 a facet that is left out checks nothing', () => {
  const schema = schemaWith(facets('string', '<xs:maxLength value="x"/><xs:whiteSpace value="none"/>'))
  const [port] = importText(writeAskingWsdl(schema)).ports
  const root = port?.exchanges['ask']?.input
  assert.ok(typeof root === 'object')
  assert.equal(readContent(createElementCodecs()(root), '<r xmlns="urn:t">abc</r>'), 'abc')
})

test('XML Schema §3.8.6 a group whose elements contain it again has an end', () => {
  const group = `<xs:group name="G">${sequence(`<xs:element name="e" minOccurs="0"><xs:complexType><xs:group ref="t:G"/><xs:attribute name="n" type="xs:int"/></xs:complexType></xs:element>`)}</xs:group>`
  const schema = schemaWith(`${group}${rootWith('<xs:group ref="t:G"/>')}<xs:simpleType name="E"><xs:restriction base="xs:int"/></xs:simpleType>`)
  const contract = importText(writeAskingWsdl(schema))
  assert.deepEqual(contract.losses, [])
  const [port] = contract.ports
  const root = port?.exchanges['ask']?.input
  assert.ok(port && typeof root === 'object' && 'name' in root)
  const codec = createElementCodecs()(root)
  const judges = [judge(schema), judge(schemaOf(writePortWsdl(port, 'http://localhost/'), 'document'))]
  for (const [message, isValid] of [
    ['<r xmlns="urn:t"><e n="1"><e n="2"/></e></r>', true],
    ['<r xmlns="urn:t"><e><e/><e/></e></r>', false],
  ] as const) {
    assert.equal(readContent(codec, message) !== undefined, isValid)
    for (const each of judges) assert.equal(each.flaw(message) === undefined, isValid)
  }
  assert.match(writeTypescript(contract, 'ask.wsdl'), /export interface E2 \{ readonly e\?: E2/)
}) // biome-ignore format: a table

test('attack: groups of groups that stand for a billion elements are imported as XML', () => {
  const groups = Array.from({ length: 30 }, (_, i) => `<xs:group name="g${i}">${sequence(...[1, 2].map(() => `<xs:group ref="t:g${i + 1}"/>`))}</xs:group>`)
  const last = `<xs:group name="g30">${sequence(int('a'))}</xs:group>`
  assert.deepEqual(tellsOf(writeAskingWsdl(schemaWith(`${groups.join('')}${last}${rootWith('<xs:group ref="t:g0"/>')}`))), [
    'element r: has more than 10000 elements by its groups: they are XML',
  ])
}) // biome-ignore format: a table

test('types, groups and substitutes are read in linear time', () => {
  assertLinear(count => {
    const names = Array.from({ length: count }, (_, i) => i)
    const wsdl = writeAskingWsdl(
      schemaWith(
        `<xs:redefine schemaLocation="x.xsd">${names.map(i => `<xs:complexType name="T${i}"><xs:complexContent><xs:extension base="t:T${i}"/></xs:complexContent></xs:complexType>`).join('')}</xs:redefine>
        ${names.map(i => `<xs:group name="G${i}">${sequence(`<xs:element name="e"><xs:complexType><xs:group ref="t:G${(i + 1) % count}" minOccurs="0"/></xs:complexType></xs:element>`)}</xs:group>`).join('')}
        ${names.map(i => `<xs:element name="s${i}" substitutionGroup="t:h" type="xs:int"/>`).join('')}${int('h')}
        ${rootWith(sequence('<xs:group ref="t:G0"/>', '<xs:element ref="t:h"/>'))}`,
      ),
    )
    return () => writeTypescript(importText(wsdl), 'big.wsdl')
  }, 500)
}) // biome-ignore format: a table
