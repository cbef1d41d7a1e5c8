/**
 * Faults about header blocks travel as header blocks (SOAP 1.1 §4.2, §4.4; WSDL 1.1 §3.7): thrown
 * by a handler, read by the client of a WSDL, shown by REST as any other fault.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { FaultError } from '../../src/client/errors.ts'
import { createPortClient } from '../../src/client/port-client.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { readWsdl } from '../../src/import/index.ts'
import { startHosted } from '../host/hosted-service.ts'

const depot = x.namespace('urn:depot')
const Ship = depot.element('Ship', x.object({ item: x.element(x.string) }))
const Shipped = depot.element('Shipped', x.int)
const Session = depot.element('Session', x.object({ id: x.element(x.string) }))
const NoSession = depot.element('NoSession', x.object({ id: x.element(x.string), until: x.element(x.date).optional() }))
const NoPlace = x.part('urn:depot:part', 'place', depot.type('Place', { name: x.element(x.string) }))
const Full = depot.element('Full', x.int)
const Depot = port('Depot', {
  namespace: 'urn:depot:wsdl',
  allow: [anyone],
  exchanges: {
    Ship: exchange({
      action: 'urn:Ship',
      input: Ship,
      output: Shipped,
      faults: { NoSession, NoPlace, Full },
      requestHeaders: { Session },
      replyHeaders: { Session },
      headerFaults: { Session: ['NoSession', 'NoPlace'] },
      statuses: { NoSession: 403 },
    }),
  },
})
const contract = service('depot', { namespace: 'urn:depot', resources: [], ports: [Depot] })
const app = implement(contract, {
  Depot: {
    Ship: ({ item }, ctx) => {
      const { id } = ctx.headers.Session ?? { id: '' }
      if (id === 'old') ctx.fail('NoSession', { id, until: '2026-01-31' }, 'the session has ended')
      if (id === 'nowhere') ctx.fail('NoPlace', { name: item })
      return item === 'piano' ? ctx.fail('Full', 7) : 1
    },
  },
})
const hosted = await startHosted({}, app)
const host = `127.0.0.1:${hosted.server.port}`
const wsdl = await readWsdl(`http://${host}/soap/Depot?wsdl`, { fetch: [host] })
const open = (options: { soap?: '1.1' | '1.2'; transport?: ClientTransport } = {}) => {
  const client = createPortClient<typeof contract>(wsdl, options)
  after(() => client[Symbol.dispose]())
  return client
}
const session = (id: string) => ({ headers: { Session: { id } } })
const catchFault = async (call: Promise<unknown>): Promise<FaultError> => {
  const thrown = await call.catch((reason: unknown) => reason)
  assert.ok(thrown instanceof FaultError, String(thrown))
  return thrown
}

test('WSDL 1.1 §3.7 the WSDL has the fault within its header block, and not as a fault of the operation', async () => {
  const { text } = await hosted.ask('GET', '/soap/Depot?wsdl')
  for (const prefix of ['soap', 'soap12']) {
    const [, inside] = new RegExp(`<${prefix}:header [^>]*part="Session"[^>]*>(.*?)</${prefix}:header>`, 's').exec(text) ?? []
    assert.match(inside ?? '', new RegExp(`<${prefix}:headerfault [^>]*message="tns:Ship_NoSessionFault"[^>]* part="NoSession"`))
    assert.match(inside ?? '', new RegExp(`<${prefix}:headerfault [^>]*part="place"[^>]*namespace="urn:depot:part"`))
    assert.equal(text.match(new RegExp(`<${prefix}:headerfault `, 'g'))?.length, 2, 'those of a reply stand with the request')
  }
  assert.deepEqual([...text.matchAll(/<wsdl:fault name="(\w+)"/g)].map(([, name]) => name), ['Full', 'Full', 'Full'])
}) // biome-ignore format: long patterns

for (const soap of ['1.1', '1.2'] as const) {
  test(`SOAP ${soap}: a fault about a header block has its element in the Header, and no detail`, async () => {
    const { fields, content } = await open({ soap }).Ship.render({ item: 'tea' }, session('old'))
    const { text, status } = await hosted.ask('POST', '/soap/Depot', fields as Record<string, string>, content as string)
    assert.equal(status, 500)
    assert.match(text, /<soap:Header><n1:NoSession xmlns:n1="urn:depot"><n1:id>old<\/n1:id>.*<\/soap:Header>/)
    assert.doesNotMatch(text, /detail/i)
  }) // biome-ignore format: a long line
  test(`SOAP ${soap}: the client has the fault with its type, by the WSDL only`, async () => {
    const client = open({ soap })
    assert.deepEqual([wsdl.losses, await client.Ship({ item: 'tea' }, session('new'))], [[], 1])
    const thrown = await catchFault(client.Ship({ item: 'tea' }, session('old')))
    assert.ok(client.Ship.isFault(thrown, 'NoSession'))
    const until: string | undefined = thrown.detail.until
    assert.deepEqual([until, thrown.reasons[0]?.text, thrown.entries], ['2026-01-31', 'the session has ended', []])
    const byType = await catchFault(client.Ship({ item: 'tea' }, session('nowhere')))
    assert.deepEqual([byType.fault, byType.detail], ['place', { name: 'tea' }])
    const other = await catchFault(client.Ship({ item: 'piano' }, session('new')))
    assert.ok(client.Ship.isFault(other, 'Full'))
    assert.deepEqual([other.detail, other.entries.length], [7, 1])
  })
}

test('in REST it is the problem of that fault', async () => {
  const fields = { 'content-type': 'application/json', 'soap-session': '{"id":"old"}' }
  const { status, text } = await hosted.ask('POST', '/api/v1/Depot/Ship', fields, '{"item":"tea"}')
  const { type, detail, fault } = JSON.parse(text)
  assert.equal(status, 403)
  assert.match(type, /\/problems\/NoSession$/)
  assert.deepEqual([detail, fault], ['the session has ended', { id: 'old', until: '2026-01-31' }])
})

const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/'
const faultWith = (blocks: string, detail = ''): ClientTransport => ({
  prepare: () => async () => ({
    status: 500,
    fields: { 'content-type': 'text/xml' },
    content: Buffer.from(
      `<e:Envelope xmlns:e="${soap11}" xmlns:d="urn:depot"><e:Header>${blocks}</e:Header><e:Body><e:Fault><faultcode>e:Client</faultcode><faultstring>no</faultstring>${detail}</e:Fault></e:Body></e:Envelope>`,
    ),
  }),
  close: () => {},
})
const block = (id: string, more = '') => `<d:NoSession ${more}><d:id>${id}</d:id></d:NoSession>`
/** [what comes, its blocks, its detail, the fault and its value] */
const answers: readonly (readonly [title: string, blocks: string, detail: string, read: unknown])[] = [
  ['a block that must be understood', block('a', 'e:mustUnderstand="1"'), '', ['NoSession', { id: 'a' }]],
  ['a service that has it in the detail', '', `<detail>${block('b')}</detail>`, ['NoSession', { id: 'b' }]],
  ['the detail comes first', block('a'), '<detail><d:Full>3</d:Full></detail>', ['Full', 3]],
  ['attack: a block that breaks its type', '<d:NoSession/>', '', [undefined, {}]],
  ['attack: a block for another node', block('a', 'e:actor="urn:other"'), '', [undefined, {}]],
  ['attack: the element of a detail as a block', '<d:Full>3</d:Full>', '', [undefined, {}]],
]
for (const [title, blocks, detail, read] of answers)
  test(`a fault about a header block, as it comes: ${title}`, async () => {
    const thrown = await catchFault(open({ transport: faultWith(blocks, detail) }).Ship({ item: 'tea' }))
    assert.deepEqual([thrown.fault, thrown.detail], read)
  })
