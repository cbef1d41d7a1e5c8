/** WSDL 1.1 §3.6, §3.7: faults and header blocks that are declared by a type have the name of their part. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { importText, writeAskingWsdl } from './folder-find.ts'
import { digestPort } from './port-digest.ts'
import { askPort, readMessage } from './served-port.ts'

const contract =
  importText(`<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" targetNamespace="urn:t"
    xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types><xs:schema targetNamespace="urn:t">
    <xs:complexType name="Reason"><xs:sequence><xs:element name="code" type="xs:int"/></xs:sequence></xs:complexType>
  </xs:schema></types>
  <message name="In"><part name="a" type="xs:string"/></message><message name="Out"/>
  <message name="No"><part name="reason" type="t:Reason"/></message>
  <message name="Key"><part name="key" type="xs:int"/></message>
  <portType name="P"><operation name="ask"><input message="t:In"/><output message="t:Out"/><fault name="No" message="t:No"/></operation></portType>
  <binding name="B" type="t:P"><s:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="ask"><s:operation soapAction=""/>
      <input><s:header message="t:Key" part="key" use="encoded" namespace="urn:h"/><s:body use="encoded" namespace="urn:t"/></input>
      <output><s:body use="encoded" namespace="urn:t"/></output>
      <fault name="No"><s:fault name="No" use="encoded" namespace="urn:f"/></fault></operation></binding>
  <service name="S"><port name="P" binding="t:B"><s:address location="http://x/"/></port></service>
</definitions>`)
const [port] = contract.ports
assert.ok(port)
const envelope = (body: string, header = '') =>
  Buffer.from(
    `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Header>${header}</e:Header><e:Body>${body}</e:Body></e:Envelope>`,
  )

test('parts with a type are imported without loss, and written as x.part', () => {
  assert.deepEqual(contract.losses, [])
  const text = writeTypescript(contract, 'ask.wsdl')
  assert.match(text, /export const reason = x\.part\('urn:f', 'reason', Reason\)/)
  assert.match(text, /requestHeaders: \{ key \}/)
  assert.match(text, /export const key = x\.part\('urn:h', 'key', x\.int\)/)
})
test('the served WSDL declares parts by their types, with their namespaces', () => {
  const served = writePortWsdl(port, 'http://localhost/')
  assert.match(served, /<wsdl:part name="reason" type="\w+:Reason"\/>/)
  assert.doesNotMatch(served, /<xs:element name="(?:reason|key)"/)
  assert.equal(digestPort(importText(served).ports[0] ?? assert.fail()), digestPort(port))
})
test('SOAP 1.1 §5: the fault detail of an encoded message states its types', async () => {
  const wanted = readMessage(
    envelope('<e:Fault><detail><f:reason xmlns:f="urn:f"><code>7</code></f:reason></detail></e:Fault>'),
  )
  const asked = envelope('<t:ask xmlns:t="urn:t"><a>x</a></t:ask>', '<h:key xmlns:h="urn:h">5</h:key>')
  const { fault, text } = await askPort(port, asked, wanted)
  const [reason] = fault?.detail?.elements() ?? []
  assert.deepEqual(reason?.name, { ...reason?.name, uri: 'urn:f', local: 'reason' }, text)
  assert.match(text, /<n1:reason [^>]*xsi:type="n\d:Reason"/)
  assert.match(text, /<code xsi:type="n\d:int">7<\/code>/)
})

test('XML Schema Part 2 §3.2.2 a truth value may have white space around it', () => {
  const read = (nillable: string) =>
    writeTypescript(
      importText(
        writeAskingWsdl(
          `<xs:schema targetNamespace="urn:t"><xs:element name="r"><xs:complexType><xs:sequence>
            <xs:element name="a" type="xs:int" nillable="${nillable}"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
        ),
      ),
      'ask.wsdl',
    )
  for (const yes of ['true', '1', ' true ', '1 ']) assert.match(read(yes), /a: x\.element\(x\.int\)\.nillable\(\)/, yes)
  for (const no of ['false', '0', 'TRUE', '']) assert.doesNotMatch(read(no), /nillable/, no)
})
