/**
 * Replies of RPC whose names mean nothing: SOAP 1.1 §7.1 gives no meaning to the name of a
 * response and of its return value, SOAP 1.2 Part 2 §4.2.2 names the latter by `rpc:result`.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPortClient } from '../../src/client/port-client.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'

const model = x.namespace('urn:model', { elements: 'unqualified' })
const Owner = model.type('Owner', { name: x.element(x.string).nillable(), age: x.element(x.int) })
const output = x.call('urn:rpc', 'findResponse', {
  findReturn: x.element(Owner).nillable(),
  count: x.element(x.int),
})
const input = x.call('urn:rpc', 'find', { key: x.element(x.string).nillable() })
const Desk = port('Desk', {
  namespace: 'urn:desk',
  allow: [anyone],
  exchanges: {
    find: exchange({ style: 'encoded', action: '', input, output }),
    ping: exchange({
      style: 'encoded',
      action: '',
      input: x.call('urn:rpc', 'ping', {}),
      output: x.call('urn:rpc', 'pong', {}),
    }),
    look: exchange({ style: 'rpc', action: '', input, output }),
  },
})
const contract = service('desk', { namespace: 'urn:desk', resources: [], ports: [Desk] })
const namespaces = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
}

function createDesk(body: string, soap: '1.1' | '1.2') {
  const sent: string[] = []
  const type = soap === '1.1' ? 'text/xml' : 'application/soap+xml'
  const content = `<s:Envelope xmlns:s="${namespaces[soap]}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:m="urn:model" xmlns:r="urn:rpc" xmlns:o="urn:other" xmlns:p="http://www.w3.org/2003/05/soap-rpc"><s:Body>${body}</s:Body></s:Envelope>`
  const transport: ClientTransport = {
    close: () => {},
    prepare: () => async sending => {
      sent.push(String(sending.content))
      return { status: 200, fields: { 'content-type': type }, content: Buffer.from(content) }
    },
  }
  return { sent, client: createPortClient(contract, { address: 'http://desk.example/', transport, soap }) }
}

const owner = '<name>Ann</name><age>7</age>'
const found = { findReturn: { name: 'Ann', age: 7 }, count: 1 }
const none = { findReturn: null, count: 0 }
const encoded: readonly (readonly [what: string, body: string, output: object])[] = [
  ['as the WSDL has it', `<r:findResponse><findReturn>${owner}</findReturn><count>1</count></r:findResponse>`, found],
  [
    'another namespace of the response',
    `<o:findResponse><findReturn>${owner}</findReturn><count>1</count></o:findResponse>`,
    found,
  ],
  ['another name of the response', `<answer><findReturn>${owner}</findReturn><count>1</count></answer>`, found],
  [
    'another name of the return value',
    `<r:findResponse><s-gensym3>${owner}</s-gensym3><count>1</count></r:findResponse>`,
    found,
  ],
  [
    'the return value in a namespace',
    `<r:findResponse><o:return>${owner}</o:return><count>1</count></r:findResponse>`,
    found,
  ],
  ['a return value that is nil', '<r:findResponse><findReturn i:nil="true"/><count>0</count></r:findResponse>', none],
  ['a return value that is left out', '<r:findResponse><count>0</count></r:findResponse>', none],
]
for (const soap of ['1.1', '1.2'] as const)
  describe(`§7.1 RPC/encoded over SOAP ${soap}, a reply`, () => {
    for (const [what, body, output] of encoded)
      test(what, async () => {
        const { client } = createDesk(body, soap)
        assert.deepEqual(await client.find({ key: 'a' }), output)
      })
    test('of a procedure that returns nothing', async () => {
      const { client } = createDesk('<o:done/>', soap)
      assert.deepEqual(await client.ping({}), {})
    })
    test('with two undeclared accessors is refused', async () => {
      const { client } = createDesk('<r:findResponse><a i:nil="true"/><b/><count>0</count></r:findResponse>', soap)
      await assert.rejects(client.find({ key: 'a' }), /b\[1\] is not expected here/)
    })
    test('with another accessor beside its return value is refused', async () => {
      const body = `<r:findResponse><a/><findReturn>${owner}</findReturn><count>0</count></r:findResponse>`
      await assert.rejects(createDesk(body, soap).client.find({ key: 'a' }), /a\[1\] is not expected here/)
    })
    test('without a number is refused', async () => {
      const { client } = createDesk('<r:findResponse/>', soap)
      await assert.rejects(client.find({ key: 'a' }), /must have count/)
    })
  })

test('§5.1 nil is sent if there is no value', async () => {
  const { client, sent } = createDesk('<r:findResponse><count>0</count></r:findResponse>', '1.1')
  await client.find({ key: null })
  assert.match(sent[0] ?? '', /<key \w+:nil="true"\/>/)
})

for (const [style, ask] of [
  ['encoded', 'find'],
  ['rpc', 'look'],
] as const)
  test(`SOAP 1.2 Part 2 §4.2.2: rpc:result of ${style} is no parameter`, async () => {
    const inside = `<p:result>findReturn</p:result><findReturn>${owner}</findReturn><count>1</count>`
    const { client } = createDesk(`<r:findResponse>${inside}</r:findResponse>`, '1.2')
    assert.deepEqual(await client[ask]({ key: 'a' }), found)
    const old = createDesk(`<r:findResponse>${inside}</r:findResponse>`, '1.1')
    await assert.rejects(old.client[ask]({ key: 'a' }))
  })

test('WS-I R2729: the name of a reply of RPC/literal counts, and so does its namespace', async () => {
  const { client } = createDesk(
    `<o:findResponse><findReturn>${owner}</findReturn><count>1</count></o:findResponse>`,
    '1.1',
  )
  await assert.rejects(client.look({ key: 'a' }), /\{urn:other\}findResponse instead of \{urn:rpc\}findResponse/)
})
