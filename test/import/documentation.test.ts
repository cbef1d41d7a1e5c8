/** WSDL 1.1 §2.1.4, WSDL 2.0 §2.1: what a description says of its operations reaches callers of ours. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPort } from '../../src/bridge/bridged-service.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { writeTypescript } from '../../src/import/write-typescript.ts'
import { describeService } from '../../src/pages/openapi.ts'
import { importText } from './folder-find.ts'

const describe11 = (
  declared: string,
  bound = '',
) => `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" targetNamespace="urn:t"
    xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <w:types><xs:schema targetNamespace="urn:t"><xs:element name="A" type="xs:string"/></xs:schema></w:types>
  <w:message name="M"><w:part name="one" element="t:A"/></w:message>
  <w:portType name="P"><w:operation name="ask">${declared}<w:input message="t:M"/></w:operation></w:portType>
  <w:binding name="B" type="t:P"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <w:operation name="ask">${bound}<s:operation soapAction=""/><w:input><s:body use="literal"/></w:input></w:operation></w:binding>
  <w:service name="S"><w:port name="Port" binding="t:B"><s:address location="http://x/"/></w:port></w:service>
</w:definitions>`
const describe20 = (
  declared: string,
) => `<w:description xmlns:w="http://www.w3.org/ns/wsdl" xmlns:t="urn:t" targetNamespace="urn:t"
    xmlns:s="http://www.w3.org/ns/wsdl/soap" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <w:types><xs:schema targetNamespace="urn:t"><xs:element name="A" type="xs:string"/></xs:schema></w:types>
  <w:interface name="P"><w:operation name="ask" pattern="http://www.w3.org/ns/wsdl/in-only">${declared}<w:input element="t:A"/></w:operation></w:interface>
  <w:binding name="B" interface="t:P" type="http://www.w3.org/ns/wsdl/soap" s:protocol="http://www.w3.org/2003/05/soap/bindings/HTTP/"/>
  <w:service name="S" interface="t:P"><w:endpoint name="Port" binding="t:B" address="http://x/"/></w:service>
</w:description>`

const said = "Asks for the price.\n   In <b>euro</b> &amp; cent; it's today's."
const text = "Asks for the price. In euro & cent; it's today's."
const twice =
  "<w:documentation>Asks for the price.</w:documentation><w:documentation>In <b>euro</b> &amp; cent; it's today's.</w:documentation>"
const documented = `<w:documentation>${said}</w:documentation>`

for (const [title, document] of [
  ['a portType', describe11(documented)],
  ['a binding, where its portType says nothing', describe11('', documented)],
  ['a portType, whatever its binding says', describe11(documented, '<w:documentation>other</w:documentation>')],
  ['an interface of WSDL 2.0', describe20(documented)],
  ['an interface of WSDL 2.0, in two pieces (Part 1 §2.1)', describe20(twice)],
] as const)
  test(`the documentation of ${title} is that of the operation: in TypeScript, WSDL and OpenAPI`, async () => {
    const contract = importText(document)
    const [port] = contract.ports
    assert.ok(port)
    assert.equal(port.exchanges['ask']?.description, text)
    assert.match(
      writeTypescript(contract, 'x.wsdl'),
      /description: 'Asks for the price\. In euro & cent; it\\'s today\\'s\.',/,
    )
    const again = importText(writePortWsdl(port, 'http://x/'))
    assert.equal(again.ports[0]?.exchanges['ask']?.description, text)
    const open = service('asking', { namespace: 'urn:a', resources: [], ports: [openPort(port, [anyone])] })
    const { paths } = JSON.parse(await describeService(implement(open, { [port.port]: { ask: () => {} } } as never)))
    assert.equal(paths[`/api/v1/${port.port}/ask`]?.post.description, text, Object.keys(paths).join())
  })

test('empty documentation is none', () => {
  const [port] = importText(describe11('<w:documentation> </w:documentation>')).ports
  assert.equal(port?.exchanges['ask']?.description, undefined)
  assert.doesNotMatch(writePortWsdl(port ?? assert.fail(), 'http://x/'), /documentation/)
})
