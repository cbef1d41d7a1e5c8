/**
 * SOAP over HTTP (rules B4.1–B4.7, B7.1, B8.1; attacks H): SOAP 1.1 §6, SOAP 1.2 Part 2 §7, and the
 * settled details of orders.md.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { implement } from '../../src/contract/implement.ts'
import { gunzipWithin } from '../../src/host/zlib-codings.ts'
import { contentOf } from '../../src/http/message.ts'
import { anyone, resource, role, service, t } from '../../src/index.ts'
import { refuse } from '../../src/service/refusal.ts'
import { createSoapFace } from '../../src/soap/http/binding.ts'
import { startHosted } from '../host/hosted-service.ts'
import { refusingGate } from '../support/gates.ts'
import { likePng } from '../support/png.ts'
import {
  createContext,
  envelope,
  find,
  type Message,
  ns,
  octets,
  readAnswer,
  sendMessage,
  startConversation,
} from './orders-over-soap.ts'

const get = (id = 'o-1') => `<GetOrder xmlns="${ns}"><id>${id}</id></GetOrder>`
const product = `<GetProduct xmlns="${ns}"><id>p-1</id></GetProduct>`
const shop = await startConversation(
  {},
  {
    inflate: gunzipWithin,
    describe: (query, address) =>
      query === 'wsdl' ? { mediaType: 'text/xml; charset=utf-8', content: `<wsdl at="${address}"/>` } : undefined,
    page: address => `<!doctype html><p>${address}</p>`,
  },
)
const bearer = { authorization: 'Bearer clara' }
const xml11 = { 'content-type': 'text/xml; charset=utf-8' }

const endpointAllow = 'GET, HEAD, OPTIONS, POST'
test('B4.1 H3 a message is POSTed; other methods: 405 with Allow, which names GET for the descriptions', async () => {
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'QUERY'])
    for (const accept of [undefined, '*/*', 'application/soap+xml']) {
      const answer = await shop.send({ method, fields: accept ? { accept } : {} })
      assert.deepEqual([answer.status, answer.fields['allow']], [405, endpointAllow], method)
    }
  const tracing = await shop.send({ method: 'TRACE' })
  assert.deepEqual([tracing.status, tracing.fields['allow']], [405, endpointAllow])
  assert.equal((await shop.send({ method: 'BREW' })).status, 501)
})

test('A4.9 OPTIONS gets a response at every address of an endpoint', async () => {
  const allowOf = async (target: string) => (await shop.send({ method: 'OPTIONS', target })).fields['allow']
  assert.equal(await allowOf('/soap/v1'), endpointAllow)
  for (const target of ['/soap/v1?wsdl', '/soap/v1/GetOrder']) {
    assert.equal(await allowOf(target), 'GET, HEAD, OPTIONS')
    const answer = await shop.send({ method: 'DELETE', target })
    assert.deepEqual([answer.status, answer.fields['allow']], [405, 'GET, HEAD, OPTIONS'])
  }
})

test('B4.1 a browser gets the page, and a query a description, at the requested address', async () => {
  const page = await shop.send({ method: 'GET', fields: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
  assert.deepEqual([page.status, page.fields['content-type']], [200, 'text/html; charset=utf-8'])
  const wsdl = await shop.send({ method: 'GET', target: '/soap/v1?wsdl' })
  assert.deepEqual([wsdl.status, wsdl.content], [200, '<wsdl at="http://shop.example/soap/v1"/>'])
  // As a host writes it that reads the query by URLSearchParams.
  const rewritten = await shop.send({ method: 'GET', target: '/soap/v1?wsdl=' })
  assert.deepEqual([rewritten.status, rewritten.content], [200, wsdl.content])
  assert.equal((await shop.send({ method: 'GET', target: '/soap/v1?other' })).status, 404)
  assert.equal((await shop.send({ method: 'HEAD', target: '/soap/v1?wsdl' })).content, undefined)
})

const types: readonly (readonly [string, string | null, '1.1' | '1.2', number])[] = [
  ['B4.2 text/xml', 'text/xml; charset=utf-8', '1.1', 200],
  ['B4.2 text/xml without charset', 'text/xml', '1.1', 200],
  ['B4.2 in capitals, quoted', 'TEXT/XML; Charset="UTF-8"', '1.1', 200],
  ['B4.2 application/soap+xml', 'application/soap+xml; charset=utf-8', '1.2', 200],
  ['H4 none', null, '1.1', 415],
  ['H4 empty', '', '1.1', 415],
  ['H4 malformed', 'text/;;', '1.1', 415],
  ['H4 application/xml', 'application/xml', '1.1', 415],
  ['H4 application/json', 'application/json', '1.2', 415],
  ['H4 text/plain', 'text/plain', '1.1', 415],
  ['RFC 7303 §3 a charset of old clients', 'text/xml; charset=ISO-8859-1', '1.1', 200],
  ['a charset without its hyphen', 'text/xml; charset=utf8', '1.1', 200],
  ['RFC 7303 §3 a charset of one octet for each character', 'text/xml; charset=windows-1252', '1.1', 200],
  ['RFC 7303 §3 a charset of several octets for a character', 'text/xml; charset=Shift_JIS', '1.1', 200],
  ['H4 a charset that shifts by escapes', 'text/xml; charset=ISO-2022-JP', '1.1', 415],
  ['H4 a charset that hides markup', 'text/xml; charset=UTF-7', '1.1', 415],
  ['H4 multipart/form-data', 'multipart/form-data; boundary=x', '1.1', 415],
]
for (const [title, as, version, status] of types)
  test(title, async () => {
    const answer = await shop.post({ version, body: get(), as })
    assert.equal(answer.status, status)
    if (status === 415) assert.match(String(answer.fields['accept']), /text\/xml/)
    assert.ok(!as || status === 200 || !answer.text.includes(as), 'H5 nothing of the request is echoed')
  })

const actions: readonly (readonly [string, Message, string | undefined])[] = [
  ['B4.3 SOAPAction that agrees', { fields: { soapaction: `"${ns}/GetOrder"` } }, undefined],
  ['B4.3 SOAPAction ""', { fields: { soapaction: '""' } }, undefined],
  ['B4.3 no SOAPAction', {}, undefined],
  ['H6 B4.3 unquoted', { fields: { soapaction: `${ns}/GetOrder` } }, 'Client'],
  ['H6 two SOAPAction fields', { fields: { soapaction: `"${ns}/GetOrder", "${ns}/GetOrder"` } }, 'Client'],
  ['H6 a quote inside', { fields: { soapaction: '"a"b"' } }, 'Client'],
  ['H7 SOAPAction of another operation', { fields: { soapaction: `"${ns}/PayOrder"` } }, 'Client'],
  ['H7 SOAPAction of nothing', { fields: { soapaction: '"urn:x"' } }, 'Client'],
  [
    'B4.3 1.2: an action that agrees',
    { version: '1.2', as: `application/soap+xml; action="${ns}/GetOrder"` },
    undefined,
  ],
  ['B4.3 1.2: an empty action', { version: '1.2', as: 'application/soap+xml; action=""' }, undefined],
  [
    'H7 1.2: an action of another operation',
    { version: '1.2', as: `application/soap+xml; action="${ns}/PayOrder"` },
    'Sender',
  ],
  ['B4.3 1.2: SOAPAction is not its business', { version: '1.2', fields: { soapaction: 'unquoted' } }, undefined],
]
for (const [title, message, code] of actions)
  test(title, async () => {
    const answer = await shop.post({ body: get(), ...message })
    assert.equal(answer.fault?.code, code, answer.text)
    assert.equal(answer.status, code ? 500 : 200)
  })

test('B4.4 B4.5 B7.1 200 with the response, 500 with a Fault, each in its media type', async () => {
  for (const [version, type] of [
    ['1.1', 'text/xml; charset=utf-8'],
    ['1.2', 'application/soap+xml; charset=utf-8'],
  ] as const) {
    const good = await shop.post({ version, body: get() })
    assert.deepEqual([good.status, good.fields['content-type'], good.body?.name.local], [200, type, 'GetOrderResponse'])
    const bad = await shop.post({ version, body: get('o-nope') })
    assert.deepEqual([bad.status, bad.fields['content-type'], bad.body?.name.local], [500, type, 'Fault'])
  }
})

test('B4.6 the message names the operation, not the path', async () => {
  const answer = await shop.send({
    target: '/soap/v1?op=PayOrder',
    fields: { ...xml11, ...bearer },
    content: contentOf(envelope(get())),
  })
  assert.equal((await readAnswer(answer)).body?.name.local, 'GetOrderResponse')
  assert.equal(
    (await shop.send({ target: '/soap/v1/GetOrder', fields: xml11, content: contentOf(envelope(get())) })).status,
    405,
  )
})

test('B4.10 One-Way: 202 and no reply, even if the item is missing; a fault if the message cannot be read', async () => {
  const notify = (id: string) => `<NotifyDelivery xmlns="${ns}"><id>${id}</id></NotifyDelivery>`
  for (const id of ['o-nope', 'o-1']) {
    const answer = await shop.post({ body: notify(id) })
    assert.deepEqual([answer.status, answer.text, answer.fields['content-type']], [202, '', undefined])
  }
  const shipped = 'o-8'
  const stands = async () => find((await shop.post({ body: get(shipped) })).body, 'order', 'state')?.text
  const before = await stands()
  await shop.post({ body: notify(shipped) })
  if (before === 'shipped') assert.equal(await stands(), 'delivered')
  assert.equal(
    (await shop.post({ body: notify('o-1').replace('<id>', '<it>').replace('</id>', '</it>') })).fault?.code,
    'Client',
  )
  assert.equal((await shop.post({ body: notify('o-1'), fields: { authorization: 'Bearer alice' } })).status, 500)
  assert.equal((await shop.post({ body: notify('o-1'), fields: { authorization: 'Bearer nobody' } })).status, 401)
})

const callers: readonly (readonly [string, Record<string, string>, number])[] = [
  ['A5.1 Bearer', { authorization: 'Bearer clara' }, 200],
  ['A5.1 Basic on loopback', { authorization: `Basic ${btoa('clara:clara-secret')}` }, 200],
  ['A5.3 none', { authorization: '' }, 401],
  ['A5.3 a token that proves nothing', { authorization: 'Bearer nobody' }, 401],
  ['A5.3 a wrong password', { authorization: `Basic ${btoa('clara:x')}` }, 401],
  ['A5.3 another scheme', { authorization: 'Negotiate abc' }, 401],
]
for (const [title, fields, status] of callers)
  test(title, async () => {
    for (const version of ['1.1', '1.2'] as const) {
      const answer = await shop.post({ version, body: get(), fields })
      assert.equal(answer.status, status)
      if (status !== 401) continue
      const failure = fields['authorization']?.startsWith('Bearer') ? ', error="invalid_token"' : ''
      const challenges = `Bearer realm="orders"${failure}, Basic realm="orders"`
      assert.ok(String(answer.fields['www-authenticate']).startsWith(challenges))
      assert.equal(answer.fault?.code, version === '1.1' ? 'Client' : 'Sender')
    }
  })

test('A5.1 a cleartext password from elsewhere is not even tried; public operations need none', async () => {
  const fields = { ...xml11, authorization: `Basic ${btoa('clara:clara-secret')}` }
  const asked = { fields, content: contentOf(envelope(get())) }
  assert.equal((await shop.send({ ...asked, from: '192.0.2.1' })).status, 401)
  assert.equal((await shop.send({ ...asked, from: '192.0.2.1', scheme: 'https' })).status, 200)
  assert.equal((await shop.send({ fields: xml11, content: contentOf(envelope(product)) })).status, 200)
})

test('B8.1 over 1 MiB: 413, announced, chunked and with an action alike; a picture may have 7 MiB', async () => {
  const padded = (body: string, size: number) =>
    envelope(body).replace('</s:Envelope>', `${' '.repeat(size)}</s:Envelope>`)
  const mib = 1024 * 1024
  const put = (size: number) =>
    `<PutProductPicture xmlns="${ns}"><id>p-1</id><picture>${Buffer.from(likePng(Buffer.alloc(size))).toString('base64')}</picture><mediaType>image/png</mediaType></PutProductPicture>`
  const rows: readonly (readonly [string, number])[] = [
    [padded(get(), mib - 1000), 200],
    [padded(get(), mib), 413],
    [padded(get(), 8 * mib), 413],
    [envelope(put(5 * mib)), 200],
    [envelope(put(5 * mib + 1)), 500],
    [envelope(put(6 * mib)), 413],
  ]
  for (const [raw, status] of rows)
    for (const chunked of [false, true])
      for (const soapaction of ['""', raw.includes('Put') ? `"${ns}/PutProductPicture"` : `"${ns}/GetOrder"`]) {
        const whole = contentOf(raw)
        const answer = await shop.send({
          fields: { ...xml11, authorization: 'Bearer maria', soapaction },
          content: chunked ? { ...whole, length: undefined } : whole,
        })
        assert.equal(answer.status, status, `${raw.length} octets, ${soapaction}`)
      }
})

test('P19 gzip is read within the limit; other codings, bombs and trailing junk are refused', async () => {
  const raw = gzipSync(envelope(get()))
  const rows: readonly (readonly [string, Uint8Array, number])[] = [
    ['gzip', raw, 200],
    ['x-gzip', raw, 200],
    ['identity', Buffer.from(envelope(get())), 200],
    ['br', raw, 415],
    ['gzip, gzip', gzipSync(raw), 415],
    ['gzip', Buffer.from(envelope(get())), 400],
    ['gzip', gzipSync(Buffer.alloc(50 * 1024 * 1024)), 413],
    ['gzip', Buffer.concat([raw, Buffer.from('junk')]), 400],
  ]
  for (const [coding, bytes, status] of rows)
    assert.equal((await shop.post({ raw: bytes, fields: { 'content-encoding': coding } })).status, status, coding)
})

const films = resource('films', {
  fields: { id: t.id('f') },
  files: { film: { mediaTypes: ['video/mp4'], max: 500_000_000 } },
}).rules({ allow: { read: [anyone], change: [role('editor')] } })
const cinema = implement(service('films', { namespace: 'urn:films', resources: [films] }), {})

test('B8.1 P19 content that no document can have is 413 for anybody, however large the files of a contract', async () => {
  const { server } = await startHosted({}, cinema)
  const zeros = Buffer.alloc(16 * 1024 * 1024 + 1)
  const rows: readonly (readonly [coding: object, Uint8Array])[] = [
    [{}, zeros],
    [{ 'content-encoding': 'gzip' }, gzipSync(zeros)],
  ]
  for (const [coding, octets] of rows)
    for (const action of ['', '; action="urn:films:v1/PutFilmFilm"']) {
      const fields = { 'content-type': `application/soap+xml${action}`, ...coding }
      const response = await fetch(`http://127.0.0.1:${server.port}/soap/v1`, {
        method: 'POST',
        headers: fields,
        body: octets as never,
      })
      assert.equal(response.status, 413, `${JSON.stringify(fields)}: ${await response.text()}`)
    }
})

test('B8.1 of a package, no more is kept than its operation accepts, or than a document before its root', async () => {
  const { server } = await startHosted({}, cinema)
  const get = '<GetFilm xmlns="urn:films:v1"><id>f-1</id></GetFilm>'
  const put = '<PutFilmFilm xmlns="urn:films:v1"><id>f-1</id></PutFilmFilm>'
  const mib = 1024 * 1024
  const send = async (body: string, size: number, order: 'first' | 'last') => {
    const root = `--b\r\nContent-ID: <r>\r\nContent-Type: application/xop+xml; type="application/soap+xml"\r\n\r\n${envelope(body, { version: '1.2' })}\r\n`
    const part = `--b\r\nContent-ID: <p>\r\n\r\n${' '.repeat(size)}\r\n`
    const { status } = await fetch(`http://127.0.0.1:${server.port}/soap/v1`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/related; boundary=b; type="application/xop+xml"; start="<r>"' },
      body: `${order === 'first' ? root + part : part + root}--b--\r\n`,
    })
    return status
  }
  assert.equal(await send(get, mib - 1000, 'first'), 500) // there is no film
  assert.equal(await send(get, mib + 1, 'first'), 413)
  assert.equal(await send(get, mib + 1, 'last'), 500)
  assert.equal(await send(put, 16 * mib + 1, 'last'), 413)
})

test('429 and 503 carry Retry-After and a Receiver fault', async () => {
  const { serving } = await createContext()
  const path = '/soap/v1'
  const endpoint = { version: 'v1', path, style: 'document', secure: false, versions: 'both' } as const
  const { post } = sendMessage(createSoapFace(serving, endpoint), path)
  let answer = await post({ version: '1.2', body: `<SearchOrders xmlns="${ns}"><q>x</q></SearchOrders>` })
  for (let asked = 0; asked < 30; asked++)
    answer = await post({ version: '1.2', body: `<SearchOrders xmlns="${ns}"><q>x</q></SearchOrders>` })
  assert.deepEqual([answer.status, answer.fault?.code, answer.fault?.subcodes], [429, 'Receiver', ['Busy']])
  assert.equal(find(answer.fault?.detail, 'Busy', 'retryAfter')?.text, answer.fields['retry-after'])

  const calls = { ...serving.calls, perform: async () => refuse({ kind: 'unavailable', after: 7 }) }
  const down = sendMessage(createSoapFace({ ...serving, calls }, endpoint), path)
  const busy = await down.post({ version: '1.2', body: get() })
  assert.deepEqual([busy.status, busy.fields['retry-after'], busy.fault?.code], [503, '7', 'Receiver'])
  const oneWay = await down.post({ body: `<NotifyDelivery xmlns="${ns}"><id>o-1</id></NotifyDelivery>` })
  assert.equal(oneWay.status, 503, 'what could not be tried is told, also one way')
})

test('SOAP 1.2 Part 2 §7.4 the response pattern: GET of a safe operation, with the validators of HTTP', async () => {
  const ask = (target: string, fields: Record<string, string> = {}, method = 'GET') =>
    shop.send({ method, target: `/soap/v1/${target}`, fields: { ...bearer, ...fields } })
  const found = await ask('GetOrder?id=o-1', { accept: 'application/soap+xml' })
  assert.deepEqual([found.status, found.fields['content-type']], [200, 'application/soap+xml; charset=utf-8'])
  assert.equal(find((await readAnswer(found)).body, 'order', 'id')?.text, 'o-1')
  const etag = String(found.fields['etag'])
  const unchanged = await ask('GetOrder?id=o-1', { 'if-none-match': etag })
  assert.deepEqual([unchanged.status, unchanged.content, unchanged.fields['etag']], [304, undefined, etag])
  assert.equal((await ask('GetOrder?id=o-1', { 'if-none-match': '"other"' })).status, 200)
  assert.equal((await ask('GetOrder?id=o-1', { 'if-match': '"other"' })).status, 412)
  assert.equal((await ask('GetOrder?id=o-1', { accept: 'text/xml' })).status, 406)
  assert.equal((await ask('GetOrder?id=o-nope')).status, 500)
  assert.equal((await ask('GetOrder')).status, 500)
  assert.equal((await ask('GetOrder?id=o-1&id=o-2')).status, 500)
  assert.equal((await ask('GetOrder?id=o-1&x=1')).status, 500)
  assert.equal((await ask('GetOrder?id=o-1', { authorization: '' })).status, 401)
  assert.equal((await ask('PayOrder?id=o-1')).status, 404, 'A1.7 what changes something is never got')
  assert.equal((await ask('Nothing')).status, 404)
  assert.equal((await ask('GetOrder?id=o-1', {}, 'HEAD')).content, undefined)
  assert.equal((await ask('ListOrders?size=2&state=paid')).status, 200)
})

const uriParameters = [
  // target, status, text of the fault
  ['GetOrder', 500, /GetOrder\/id<\/path><detail>must be given exactly once</],
  ['GetOrder?id=o-1&id=o-2', 500, /GetOrder\/id<\/path><detail>must be given exactly once</],
  ['GetOrder?id=', 500, /GetOrder\/id<\/path><detail>must be an identifier/],
  ['GetOrder?id=o-1&x=1', 500, /GetOrder<\/path><detail>has the unknown parameter x</],
  ['GetOrder?id=o-1&__proto__=1', 500, /has the unknown parameter __proto__</],
  ['ListOrders', 200, /<ListOrdersResponse/],
  ['ListOrders?size=1&size=2', 500, /ListOrders\/size<\/path><detail>must be given exactly once</],
  ['ListOrders?size=x', 500, /ListOrders\/size<\/path><detail>must be a whole number</],
  ['ListOrders?size=0', 500, /ListOrders\/size<\/path><code>minimum<\/code><detail>must be at least 1</],
  ['ListOrders?size=1', 200, /^(?!.*<order>.*<order>).*<order>/s],
  ['ListOrders?size=100', 200, /<order>.*<order>/s],
  ['ListOrders?size=101', 500, /ListOrders\/size<\/path><code>maximum<\/code><detail>must be at most 100</],
  ['ListOrders?state=none', 500, /ListOrders\/state<\/path><detail>must be one of placed, paid/],
] as const
for (const [target, status, says] of uriParameters)
  test(`SOAP 1.2 Part 2 §7.4 the parameters of a URI are children of the request: ${target}`, async () => {
    const answer = await shop.send({ method: 'GET', target: `/soap/v1/${target}`, fields: bearer })
    assert.equal(answer.status, status)
    assert.match(String(answer.content), says)
  })

const turnedAway = [
  // request, status, media type of the response
  ['of SOAP 1.1', 'too-many', {}, 429, 'text/xml'],
  ['of SOAP 1.2', 'too-many', { as: 'application/soap+xml' }, 429, 'application/soap+xml'],
  ['of SOAP 1.1, out of service', 'unavailable', {}, 503, 'text/xml'],
  ['in a package', 'unavailable', { as: 'multipart/related; type="text/xml"; boundary=b' }, 503, 'text/xml'],
  [
    'MTOM',
    'unavailable',
    { as: 'multipart/related; type="application/xop+xml"; start-info="text/xml"; boundary=b' },
    503,
    'text/xml',
  ],
  ['of no SOAP', 'too-many', { as: 'text/plain' }, 429, 'application/problem+json'],
] as const
for (const [title, kind, message, status, type] of turnedAway)
  test(`B4.5 refused before anything is read: ${title}`, async () => {
    const away = kind === 'too-many' ? { kind, after: 3, limit: 10, window: 1 } : { kind, after: 3 }
    const { send, store } = await startConversation({}, { gate: refusingGate(away, '192.0.2.1') })
    let isRead = false
    const unread = { ...contentOf('<'), bytes: async () => void (isRead = true) }
    const as = 'as' in message ? message.as : 'text/xml'
    const response = await send({ from: '192.0.2.1', fields: { 'content-type': as }, content: unread })
    assert.deepEqual([response.status, response.fields['retry-after'], isRead], [status, '3', false])
    assert.equal(String(response.fields['content-type']).split(';')[0], type)
    if (type === 'application/problem+json') return
    const { fault } = await readAnswer(response)
    assert.deepEqual(
      [fault?.code, find(fault?.detail, 'Busy', 'retryAfter')?.text],
      [type === 'text/xml' ? 'Server' : 'Receiver', '3'],
    )
    assert.equal((await send({ method: 'GET', target: '/soap/v1/GetProduct?id=p-1' })).status, 200, 'others are let in')
    await store.close()
  })

test('H1 a foreign target; exactly one Host, and an invalid one is never echoed', async () => {
  assert.equal((await shop.send({ target: '/soap/v1x' })).status, 404)
  for (const host of ['"><x>', 'one.example, other.example', 'me@one.example', ''])
    assert.equal((await shop.send({ method: 'GET', target: '/soap/v1?wsdl', fields: { host } })).status, 400, host)
  const unnamed = Object.assign(Object.create(null), { host: undefined })
  assert.equal((await shop.send({ method: 'GET', target: '/soap/v1?wsdl', fields: unnamed })).status, 400)
  const old = await shop.send({ method: 'GET', target: '/soap/v1?wsdl', fields: unnamed, version: '1.0' })
  assert.equal((await octets(old.content)).toString(), '<wsdl at="http://localhost/soap/v1"/>')
})

test('B2.14 messages are exchanged even if no WSDL is served', async () => {
  const bare = await startConversation()
  for (const query of ['wsdl', 'wsdl2', 'xsd'])
    assert.equal((await bare.send({ method: 'GET', target: `/soap/v1?${query}` })).status, 404, query)
  const answer = await bare.post({ body: product })
  assert.equal(find(answer.body, 'product', 'id')?.text, 'p-1')
})
