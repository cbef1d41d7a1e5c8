/** Actions of WS-Addressing (1.0 Metadata §4.4): what a WSDL says, callers write and endpoints expect. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createPortDress } from '../../src/client/port-dress.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { createActionNamer } from '../../src/contract/port-names.ts'
import { x } from '../../src/contract/xml-type.ts'
import { writePortWsdl } from '../../src/describe/port-wsdl.ts'
import { bindExchanges } from '../../src/soap/operations/exchange-operation.ts'
import { createEchoNode, createPortContext } from '../soap/echo.ts'
import { importText } from './folder-find.ts'

const wsam = 'http://www.w3.org/2007/05/addressing/metadata'
const wsa = 'http://www.w3.org/2005/08/addressing'
const wsaw = 'http://www.w3.org/2006/05/addressing/wsdl'
const wsdl = (input: string, output: string, soapAction = '', namespace = 'urn:hours') => `
<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="${namespace}" xmlns:wsam="${wsam}" xmlns:wsaw="${wsaw}" targetNamespace="${namespace}">
<wsdl:types><xs:schema targetNamespace="${namespace}"><xs:element name="Day" type="xs:string"/><xs:element name="Hours" type="xs:string"/></xs:schema></wsdl:types>
<wsdl:message name="In"><wsdl:part name="p" element="t:Day"/></wsdl:message><wsdl:message name="Out"><wsdl:part name="p" element="t:Hours"/></wsdl:message>
<wsdl:portType name="Desk"><wsdl:operation name="GetHours"><wsdl:input message="t:In"${input}/>${output && `<wsdl:output message="t:Out"${output === ' ' ? '' : output}/>`}</wsdl:operation></wsdl:portType>
<wsdl:binding name="B" type="t:Desk"><soap:binding transport="http://schemas.xmlsoap.org/soap/http" style="document"/><wsdl:operation name="GetHours"><soap:operation soapAction="${soapAction}"/><wsdl:input><soap:body use="literal"/></wsdl:input>${output && '<wsdl:output><soap:body use="literal"/></wsdl:output>'}</wsdl:operation></wsdl:binding>
<wsdl:service name="S"><wsdl:port name="P" binding="t:B"><soap:address location="http://127.0.0.1/"/></wsdl:port></wsdl:service>
</wsdl:definitions>`

const cases: readonly (readonly [what: string, text: string, request: string, reply: string])[] = [
  ['§4.4.4, of a URN', wsdl('', ' '), 'urn:hours:Desk:GetHoursRequest', 'urn:hours:Desk:GetHoursResponse'],
  [
    '§4.4.4, of another namespace',
    wsdl('', ' ', '', 'http://hours.example/2026/'),
    'http://hours.example/2026/Desk/GetHoursRequest',
    'http://hours.example/2026/Desk/GetHoursResponse',
  ],
  ['§4.4.4, of messages with names', wsdl(' name="ask"', ' name="told"'), 'urn:hours:Desk:ask', 'urn:hours:Desk:told'],
  ['§4.4.4, of one way', wsdl('', ''), 'urn:hours:Desk:GetHours', ''],
  ['§4.4.1, by a soapAction', wsdl('', ' ', 'urn:get'), 'urn:get', 'urn:hours:Desk:GetHoursResponse'],
  ['§4.4.1, declared', wsdl(' wsam:Action="urn:said"', ' wsam:Action="urn:answered"'), 'urn:said', 'urn:answered'],
  [
    '§4.4.1, declared as in 2006',
    wsdl(' wsaw:Action="urn:said"', ' wsaw:Action="urn:answered"'),
    'urn:said',
    'urn:answered',
  ],
]
for (const [what, text, request, reply] of cases)
  test(`WS-Addressing 1.0 Metadata ${what}: the caller writes what the endpoint expects, and SOAPAction stays`, async () => {
    const [found = assert.fail()] = importText(text).ports
    const soapAction = /soapAction="([^"]*)"/.exec(text)?.[1]
    const sent: string[] = []
    const transport: ClientTransport = {
      close: () => {},
      prepare: fields => async sending => {
        assert.equal(fields['soapaction'], `"${soapAction}"`, 'WS-I Basic Profile 1.1 R2745')
        sent.push(String(sending.content))
        return { status: 202, fields: {}, content: new Uint8Array(0) }
      },
    }
    const dress = createPortDress(found, undefined, 'http://shop.example/echo', { addressing: true })
    await createPortCaller(found, transport, { timeLimit: 1000, dress })('GetHours', { input: 'Monday', blocks: {} })
    const [message = assert.fail('nothing was sent')] = sent
    assert.equal(/<wsa:Action[^>]*>([^<]*)</.exec(message)?.[1], request)
    const node = createEchoNode(
      bindExchanges(
        createPortContext(found, () => '9-12'),
        found,
      ),
    )
    const answer = await node.post({ raw: message, fields: { soapaction: `"${soapAction}"` } })
    assert.equal(answer.status, reply === '' ? 202 : 200, answer.text)
    if (reply !== '') assert.equal(/<wsa:Action[^>]*>([^<]*)</.exec(answer.text)?.[1], reply)
  })

test('the actions of a WSDL are the same after an import and in the WSDL that we serve', () => {
  for (const [what, text, request, reply] of cases) {
    const [found = assert.fail()] = importText(text).ports
    const [again = assert.fail()] = importText(writePortWsdl(found, 'http://127.0.0.1/')).ports
    const actions = createActionNamer(again)('GetHours')
    assert.deepEqual([actions.request, reply && actions.reply], [request, reply], what)
  }
})

test('Metadata §4.4.4: overloaded operations have the actions of the names that tell them apart', () => {
  const add = (content: Parameters<typeof x.call>[2]) =>
    exchange({ style: 'rpc', action: '', input: x.call('urn:r', 'add', content), output: x.call('urn:r', 'sum', {}) })
  const sums = port('Sums', {
    namespace: 'http://sums.example',
    exchanges: { one: add({ a: x.element(x.int) }), two: add({ a: x.element(x.int), b: x.element(x.int) }) },
  })
  const { request, reply, fault } = createActionNamer(sums)('two')
  assert.deepEqual(
    [request, reply, fault('Late')],
    ['twoInput', 'twoOutput', 'add/Fault/Late'].map(each => `http://sums.example/SumsPortType/${each}`),
  )
})

const faultyWsdl = (fault: string, namespace = 'urn:hours') =>
  wsdl('', ' ', '', namespace)
    .replace(
      '</wsdl:message>\n<wsdl:portType',
      '</wsdl:message><wsdl:message name="No"><wsdl:part name="p" element="t:Closed"/></wsdl:message>\n<wsdl:portType',
    )
    .replace('</xs:schema>', '<xs:element name="Closed" type="xs:string"/></xs:schema>')
    .replace(
      '</wsdl:operation></wsdl:portType>',
      `<wsdl:fault name="Closed" message="t:No"${fault}/></wsdl:operation></wsdl:portType>`,
    )
    .replace(
      '</wsdl:output></wsdl:operation>',
      '</wsdl:output><wsdl:fault name="Closed"><soap:fault name="Closed" use="literal"/></wsdl:fault></wsdl:operation>',
    )
const faultCases: readonly (readonly [what: string, text: string, action: string])[] = [
  ['§4.4.4, the default', faultyWsdl(''), 'urn:hours:Desk:GetHours:Fault:Closed'],
  ['§4.4.1, declared', faultyWsdl(' wsam:Action="urn:closed"'), 'urn:closed'],
  ['§4.4.1, declared as in 2006', faultyWsdl(' wsaw:Action="urn:closed"'), 'urn:closed'],
]
for (const [what, text, action] of faultCases)
  test(`WS-Addressing 1.0 Metadata ${what}: a fault that is raised has the action of its WSDL`, async () => {
    const [found = assert.fail()] = importText(text).ports
    const [served = assert.fail()] = importText(writePortWsdl(found, 'http://127.0.0.1/')).ports
    for (const each of [found, served]) {
      const context = createPortContext(each, (_, ctx) => ctx.fail('Closed', 'until Monday' as never))
      const { post } = createEchoNode(bindExchanges(context, each))
      const answer = await post({
        header: `<a:Action xmlns:a="${wsa}">urn:hours:Desk:GetHoursRequest</a:Action><a:MessageID xmlns:a="${wsa}">urn:m:1</a:MessageID>`,
        body: '<Day xmlns="urn:hours">Monday</Day>',
        fields: { soapaction: '""' },
      })
      assert.match(answer.text, /<Closed|:Closed/)
      assert.equal(/<wsa:Action[^>]*>([^<]*)</.exec(answer.text)?.[1], action, answer.text)
    }
  })

test('Metadata §4.4.2: a fault of WSDL 2.0 has the action of its interface, without an operation', () => {
  const described = (action: string) => `
<description xmlns="http://www.w3.org/ns/wsdl" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:wsoap="http://www.w3.org/ns/wsdl/soap" xmlns:wsam="${wsam}" xmlns:t="http://hours.example" targetNamespace="http://hours.example">
<types><xs:schema targetNamespace="http://hours.example"><xs:element name="Day" type="xs:string"/><xs:element name="Closed" type="xs:string"/></xs:schema></types>
<interface name="Desk"><fault name="Closed" element="t:Closed"/>
<operation name="GetHours" pattern="http://www.w3.org/ns/wsdl/in-out"><input element="t:Day"/><output element="t:Day"/><outfault ref="t:Closed"${action}/></operation></interface>
<binding name="B" interface="t:Desk" type="http://www.w3.org/ns/wsdl/soap" wsoap:protocol="http://www.w3.org/2003/05/soap/bindings/HTTP/"><fault ref="t:Closed"/><operation ref="t:GetHours"/></binding>
<service name="S" interface="t:Desk"><endpoint name="P" binding="t:B" address="http://127.0.0.1/"/></service></description>`
  for (const [declared, action] of [
    ['', 'http://hours.example/Desk/Closed'],
    [' wsam:Action="urn:closed"', 'urn:closed'],
  ] as const) {
    const [found = assert.fail()] = importText(described(declared)).ports
    assert.equal(createActionNamer(found)('GetHours').fault('Closed'), action)
    const [again = assert.fail()] = importText(writePortWsdl(found, 'http://127.0.0.1/')).ports
    assert.equal(createActionNamer(again)('GetHours').fault('Closed'), action)
  }
})
