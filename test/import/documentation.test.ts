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

test('empty documentation counts as none', () => {
  const [port] = importText(describe11('<w:documentation> </w:documentation>')).ports
  assert.equal(port?.exchanges['ask']?.description, undefined)
  assert.doesNotMatch(writePortWsdl(port ?? assert.fail(), 'http://x/'), /documentation/)
})

/** Where a document says something of all that its callers use, besides operations. */
interface Said {
  readonly definitions?: string
  readonly portType?: string
  readonly binding?: string
  readonly service?: string
  readonly port?: string
  readonly input?: string
  readonly message?: string
  readonly part?: string
}
const say = (text: string | undefined) => (text === undefined ? '' : `<w:documentation>${text}</w:documentation>`)
const write11 = (said: Said, style: 'document' | 'rpc') => `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/"
    xmlns:t="urn:t" targetNamespace="urn:t" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  ${say(said.definitions)}
  <w:types><xs:schema targetNamespace="urn:t"><xs:element name="A" type="xs:string"/></xs:schema></w:types>
  <w:message name="M">${say(said.message)}<w:part name="one" ${style === 'rpc' ? 'type="xs:int"' : 'element="t:A"'}>${say(said.part)}</w:part></w:message>
  <w:portType name="P">${say(said.portType)}<w:operation name="ask"><w:input message="t:M">${say(said.input)}</w:input></w:operation></w:portType>
  <w:binding name="B" type="t:P">${say(said.binding)}<s:binding style="${style}" transport="http://schemas.xmlsoap.org/soap/http"/>
    <w:operation name="ask"><s:operation soapAction=""/><w:input><s:body use="literal" namespace="urn:t"/></w:input></w:operation></w:binding>
  <w:service name="S">${say(said.service)}<w:port name="Port" binding="t:B">${say(said.port)}<s:address location="http://x/"/></w:port></w:service>
</w:definitions>`

for (const [title, said, description] of [
  ['a portType, before all others', { portType: 'Prices.', binding: 'b', port: 'p', service: 's' }, 'Prices.'],
  ['a binding', { binding: 'Prices.', port: 'p', service: 's' }, 'Prices.'],
  ['a port', { port: 'Prices.', service: 's' }, 'Prices.'],
  ['a service', { service: 'Prices.', definitions: 'd' }, 'Prices.'],
] as const)
  test(`WSDL 1.1 §2.1.4 the documentation of ${title} is that of the port: in TypeScript, WSDL and OpenAPI`, async () => {
    const contract = importText(write11(said, 'document'))
    const port = contract.ports[0] ?? assert.fail('no port')
    assert.equal(port.description, description)
    assert.match(writeTypescript(contract, 'x.wsdl'), /port\('Port', \{[^}]*\n {2}description: 'Prices\.',/)
    const served = writePortWsdl(port, 'http://x/')
    assert.match(served, /<wsdl:portType name="P">\s*<wsdl:documentation>Prices\.</)
    assert.equal(importText(served).ports[0]?.description, description)
    const open = service('asking', { namespace: 'urn:a', resources: [], ports: [openPort(port, [anyone])] })
    const { tags } = JSON.parse(await describeService(implement(open, { Port: { ask: () => {} } } as never)))
    assert.deepEqual(tags, [{ name: 'Port', description }, { name: 'changes' }])
  })

test('the documentation of a document is that of the contract', () => {
  const text = writeTypescript(importText(write11({ definitions: 'All prices.' }, 'document')), 'x.wsdl')
  assert.match(text, /service\('s', \{[^}]*\n {2}description: 'All prices\.',/)
})

for (const [title, said, style, printed] of [
  ['a message', { message: 'Asks.' }, 'document', '\n/** Asks. */\nexport const A = '],
  ['an input, before its message', { input: 'Asks.', message: 'm' }, 'document', '\n/** Asks. */\nexport const A = '],
  ['a part, before its message', { part: 'Asks.', message: 'm' }, 'document', '\n/** Asks. */\nexport const A = '],
  ['a message of RPC', { message: 'Asks.' }, 'rpc', "      /** Asks. */\n      input: x.call('urn:t', 'ask', {"],
  ['a part of RPC', { part: 'How many.' }, 'rpc', '        /** How many. */\n        one: x.element(x.int),'],
] as const) // biome-ignore format: a table
  test(`WSDL 1.1 §2.1.4 the documentation of ${title} is a comment`, () => {
    const text = writeTypescript(importText(write11(said, style)), 'x.wsdl')
    assert.ok(text.includes(printed), text)
  })

test('WSDL 2.0 §2.1 an interface, an endpoint, a service and the whole document say what a port and a contract are', () => {
  const write = (face: string, endpoint = '', whole = '') =>
    describe20('')
      .replace('<w:interface name="P">', `$&${say(face || undefined)}`)
      .replace('address="http://x/"/>', `address="http://x/">${say(endpoint || undefined)}</w:endpoint>`)
      .replace('<w:types>', `${say(whole || undefined)}$&`)
  const { ports, description } = importText(write('Prices.', 'e', 'All.'))
  assert.deepEqual([ports[0]?.description, description], ['Prices.', 'All.'])
  assert.equal(importText(write('', 'Here.')).ports[0]?.description, 'Here.')
})
