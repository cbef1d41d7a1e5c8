/**
 * Rule B4.9, `diglot relay`: the intermediary between HTTP and HTTP, with the real service behind
 * it.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, createServer as socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { t } from '../../src/contract/field.ts'
import { type RelayOptions, startSoapRelay } from '../../src/host/soap/soap-relay.ts'
import { protectMessage } from '../../src/security/index.ts'
import { block } from '../../src/soap/headers/block.ts'
import { keyPair, now } from '../security/message.ts'
import { startHosted } from './hosted-service.ts'

const ns = 'http://www.w3.org/2003/05/soap-envelope'
const old = 'http://schemas.xmlsoap.org/soap/envelope/'
const next = ` e:role="${ns}/role/next"`
const getProduct = '<GetProduct xmlns="urn:diglot:orders:v1"><id>p-1</id></GetProduct>'
const message = (header = '', body = getProduct, of = ns) =>
  `<e:Envelope xmlns:e="${of}"><e:Header>${header}</e:Header><e:Body>${body}</e:Body></e:Envelope>`
const extra = (attributes: string) => `<x:Extra xmlns:x="urn:x"${attributes}>1</x:Extra>`
const soap12 = { 'content-type': 'application/soap+xml; charset=utf-8' }

async function relayTo(to: string, more: Partial<RelayOptions> = {}) {
  const listener = await startSoapRelay({ to, ...more })
  after(() => listener.close(0))
  return async (
    content: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = soap12,
    method = 'POST',
  ) => {
    const answer = await fetch(`${listener.url}/in`, { method, headers, ...(method === 'POST' && { body: content }) })
    return { status: answer.status, fields: answer.headers, text: await answer.text(), url: listener.url }
  }
}

interface Came {
  readonly content: string
  readonly fields: IncomingMessage['headers']
}

/** A next node that records requests. */
async function nextNode(answer: { status?: number; fields?: Record<string, string>; content?: string } = {}) {
  const came: Came[] = []
  const server = createServer(async (request, response) => {
    let content = ''
    for await (const piece of request.setEncoding('utf8')) content += piece
    came.push({ content, fields: request.headers })
    response
      .writeHead(answer.status ?? 200, { ...soap12, ...answer.fields })
      .end(answer.content ?? message('', '<ok/>'))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  return { came, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/next` } // listens on TCP
}

describe('between a client and the service', async () => {
  const { server, lines } = await startHosted({
    clock: () => now,
    messageSecurity: {
      certificates: [keyPair('alice').pem],
      policy: { anyOf: [{ caller: 'username', timestamp: true, signed: ['Body', 'Timestamp', 'Token'] }] },
    },
  })
  const other = await startHosted({ clock: () => now })
  const relay = await relayTo(`${server.url}/soap/v1`)

  test('an ordinary message passes, in both versions, coded and not', async () => {
    const rows = [
      [message(), soap12],
      [message('', getProduct, old), { 'content-type': 'text/xml', soapaction: '"urn:diglot:orders:v1/GetProduct"' }],
      [new Uint8Array(gzipSync(message())), { ...soap12, 'content-encoding': 'gzip' }],
      [Buffer.from(`\ufeff${message()}`, 'utf16le'), { 'content-type': 'application/soap+xml; charset=utf-16' }],
    ] as const
    for (const [content, fields] of rows) {
      const { status, text } = await relay(content, fields)
      assert.equal(status, 200, text)
      assert.match(text, /<GetProductResponse/)
    }
  })

  test('a mandatory block that is only for the service is left for the service to refuse', async () => {
    const { status, text } = await relay(message(extra(' e:mustUnderstand="1"')))
    assert.equal(status, 500)
    assert.match(text, new RegExp(`MustUnderstand.*<soap:Node>${server.url}/soap/v1</soap:Node>`, 's'))
  })

  test('the signed part is still what is read: /secure accepts it after blocks before it were removed', async () => {
    const alice = keyPair('alice')
    const refer = 'direct'
    const by = { certificate: alice.certificate, refer } as const
    const signature = { key: alice.key, by, parts: ['Body', 'Timestamp', 'Token'] } as const
    const username = { name: 'clara', password: 'clara-secret', kind: 'text' } as const
    const plain = message(extra(next), '<GetOrder xmlns="urn:diglot:orders:v1"><id>o-1</id></GetOrder>')
    const { envelope } = protectMessage(plain, { timestamp: {}, username, signature }, now)
    const secured = await relayTo(`${server.url}/soap/v1/secure`)
    const { status, text } = await secured(envelope)
    assert.equal(status, 200, `${text} ${JSON.stringify(lines)}`)
    const changed = await secured(envelope.replace('>o-1<', '>o-2<'))
    assert.match(changed.text, /FailedCheck|InvalidSecurity/, 'and what was changed is not')
  })

  test('a response of the service without a message, and no response', async () => {
    const notify = '<NotifyDelivery xmlns="urn:diglot:orders:v1"><id>o-1</id></NotifyDelivery>'
    const username = { name: 'maria', password: 'maria-secret', kind: 'text' } as const
    const { envelope } = protectMessage(message('', notify), { username }, now)
    const oneWay = await (await relayTo(`${other.server.url}/soap/v1`))(envelope)
    assert.deepEqual([oneWay.status, oneWay.text], [202, ''])
    const nowhere = await relayTo(`${server.url}/soap/v9`)
    assert.match((await nowhere(message())).text, /soap:Receiver<.*answered with 404/s)
  })
})

const headers = [
  ['a block for next is removed', extra(next), ''],
  ['a block for next with relay="true" is kept', extra(`${next} e:relay="true"`), extra(`${next} e:relay="true"`)],
  ['a block for another is kept', extra(' e:role="urn:other"'), extra(' e:role="urn:other"')],
  ['a block for its role is removed', extra(' e:role="urn:mine"'), ''],
] as const
for (const [title, given, kept] of headers)
  test(`§2.7 ${title}, and every other octet stays`, async () => {
    const { came, url } = await nextNode()
    const relay = await relayTo(url, { roles: ['urn:mine'] })
    const body = `<a  b = 'c'><![CDATA[<]]><!-- d --></a>`
    const type = 'application/soap+xml; action="urn:a?b;c"'
    assert.equal((await relay(message(given, body), { 'content-type': type, authorization: 'Bearer x' })).status, 200)
    assert.equal(came[0]?.content, message(kept, body))
    assert.equal(came[0]?.fields['content-type'], 'application/soap+xml;charset=utf-8;action="urn:a?b;c"')
    assert.equal(came[0]?.fields.authorization, undefined, 'credentials are between two neighbours')
  })

test('§2.6 a mandatory block that it does not understand: MustUnderstand, and nothing is forwarded', async () => {
  const { came, url } = await nextNode()
  const relay = await relayTo(url)
  for (const attributes of [`${next} e:mustUnderstand="true"`, `${next} e:mustUnderstand="1" e:relay="true"`]) {
    const answer = await relay(message(extra(attributes)))
    assert.equal(answer.status, 500)
    assert.match(
      answer.text,
      new RegExp(`NotUnderstood qname="block:Extra".*MustUnderstand.*<soap:Node>${answer.url}<`, 's'),
    )
  }
  const named = await relayTo(url, { uri: 'urn:hop' })
  const actor = ' e:actor="http://schemas.xmlsoap.org/soap/actor/next" e:mustUnderstand="1"'
  const { text, fields } = await named(message(extra(actor), getProduct, old), { 'content-type': 'text/xml' })
  assert.match(text, /soap:MustUnderstand<.*<faultactor>urn:hop</s)
  assert.equal(fields.get('content-type'), 'text/xml; charset=utf-8')
  assert.match((await relay('<e:Envelope')).text, /soap:Sender</)
  assert.equal(came.length, 0)
})

test('§2.7.2 a block for which it has a handler is processed before anything is forwarded', async () => {
  const { came, url } = await nextNode()
  const seen: string[] = []
  const process = (value: string) => {
    seen.push(`${value} ${came.length}`)
    if (value === '2') throw new Error('a bug')
  }
  const known = block({ namespace: 'urn:x', name: 'Extra', content: t.string(), process })
  const errors: unknown[] = []
  const relay = await relayTo(url, { blocks: [known], onError: thrown => errors.push(thrown) })
  const asked = extra(`${next} e:mustUnderstand="1"`)
  assert.equal((await relay(message(asked))).status, 200)
  assert.deepEqual([seen, came[0]?.content], [['1 0'], message()])
  const { status, text } = await relay(message(asked.replace('>1<', '>2<')))
  assert.deepEqual([status, errors.length, came.length], [500, 1, 1])
  assert.match(text, /soap:Receiver</)
  assert.ok(!text.includes('a bug'))
})

test('a reply is a message on its way too: its blocks for next end here', async () => {
  const { url } = await nextNode({ content: message(extra(next) + extra(' e:role="urn:other"'), '<ok/>') })
  assert.equal((await (await relayTo(url))(message())).text, message(extra(' e:role="urn:other"'), '<ok/>'))
  const strange = await nextNode({ content: message(extra(`${next} e:mustUnderstand="1"`), '<ok/>') })
  const { status, text } = await (await relayTo(strange.url))(message())
  assert.equal(status, 500)
  assert.match(text, /MustUnderstand/)
  const busy = await nextNode({ status: 503, fields: { 'retry-after': '5' } })
  const answer = await (await relayTo(busy.url))(message())
  assert.deepEqual([answer.status, answer.fields.get('retry-after')], [503, '5'])
})

test('an unreachable next node: a Receiver fault that says so', async () => {
  const silent = socket(() => {})
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  const rude = socket(each => each.once('data', () => each.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<a')))
  await new Promise<void>(resolve => rude.listen(0, '127.0.0.1', resolve))
  const gone = socket(() => {})
  await new Promise<void>(resolve => gone.listen(0, '127.0.0.1', resolve))
  const at = (server: typeof silent) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/` // listens on TCP
  const goneAt = at(gone)
  gone.close()
  const html = await nextNode({ status: 502, fields: { 'content-type': 'text/html' }, content: '<h1>Bad Gateway</h1>' })
  const cut = await nextNode({ content: '<e:Envelope' })
  const long = await nextNode({ content: message('', `<ok>${'x'.repeat(2000)}</ok>`) })
  const rows = [
    [goneAt, /out of reach/],
    [at(silent), /did not answer in time/],
    [at(rude), /reply of the next node is incomplete: it may have processed/],
    [html.url, /answered with 502/],
    [cut.url, /reply of the next node is not a valid SOAP message: it may have processed/],
    [long.url, /reply of the next node is too long/],
  ] as const
  for (const [to, why] of rows) {
    const relay = await relayTo(to, { timeLimitMs: 200, octetsMax: 1000 })
    for (const version of [ns, old]) {
      const type = version === ns ? 'application/soap+xml' : 'text/xml'
      const { status, text, fields } = await relay(message('', getProduct, version), { 'content-type': type })
      assert.deepEqual([status, fields.get('content-type')], [500, `${type}; charset=utf-8`])
      assert.match(text, version === ns ? /soap:Receiver</ : /soap:Server</)
      assert.match(text, why)
    }
  }
  silent.close()
  rude.close()
})

test('a request without a SOAP message has its status, and is not forwarded', async () => {
  const { came, url } = await nextNode()
  const relay = await relayTo(url, { octetsMax: 1000 })
  const statuses = [
    (await relay('', {}, 'GET')).status,
    (await relay('{}', { 'content-type': 'application/json' })).status,
    (await relay('--b', { 'content-type': 'multipart/related; boundary=b; type="text/xml"' })).status,
    (await relay(message(), { ...soap12, 'content-encoding': 'br' })).status,
    (await relay(message('', 'x'.repeat(1000)))).status,
    (await relay(new Uint8Array(gzipSync(message('', 'x'.repeat(1000)))), { ...soap12, 'content-encoding': 'gzip' }))
      .status,
  ]
  assert.deepEqual([statuses, came.length], [[405, 415, 500, 415, 413, 413], 0])
  await assert.rejects(
    startSoapRelay({ to: 'ftp://next.example/' }),
    /cannot relay to ftp:.*: not an http or https address/,
  )
})

describe('packages', () => {
  const packaged =
    'multipart/related; type="application/xop+xml"; boundary="b-1"; start="<root>"; start-info="application/soap+xml"'
  const rootHead =
    '--b-1\r\nContent-Type: application/xop+xml; charset=UTF-8; type="application/soap+xml"\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <root>\r\n\r\n'
  const partHead = '\r\n--b-1\r\nContent-Type: application/octet-stream\r\nContent-ID: <file>\r\n\r\n'
  const packageOf = (root: string, part: string) => `preamble\r\n${rootHead}${root}${partHead}${part}\r\n--b-1--\r\n`

  test('§2.7 a package passes octet by octet, but for the blocks of this node', async () => {
    const { came, url } = await nextNode()
    const relay = await relayTo(url)
    const part = 'file \u0001 --b-2 \r\n\r\n'
    const { status, text } = await relay(packageOf(message(extra(next)), part), { 'content-type': packaged })
    assert.equal(status, 200, text)
    assert.equal(came[0]?.content, packageOf(message(''), part))
    assert.equal(came[0]?.fields['content-type'], packaged)
  })

  test('a package in reply passes too; its blocks for next end here', async () => {
    const content = packageOf(message(extra(next), '<ok/>'), 'octets')
    const { url } = await nextNode({ fields: { 'content-type': packaged }, content })
    const { status, text, fields } = await (await relayTo(url))(message())
    assert.equal(status, 200)
    assert.equal(fields.get('content-type'), packaged)
    assert.equal(text, packageOf(message('', '<ok/>'), 'octets'))
  })

  test('a mandatory block that it does not understand ends a package before its parts are sent', async () => {
    const { came, url } = await nextNode()
    const relay = await relayTo(url)
    const { text } = await relay(packageOf(message(extra(`${next} e:mustUnderstand="1"`)), 'x'), {
      'content-type': packaged,
    })
    assert.match(text, /MustUnderstand/)
    assert.equal(came.length, 0)
  })

  for (const [title, content, type] of [
    ['a root that does not end', `${rootHead}${message()}`, packaged],
    ['another part first', packageOf(message(), 'x').replace('<root>', '<other>'), packaged],
    ['a root in base64', packageOf(message(), 'x').replace('binary', 'base64'), packaged],
    ['a root that is too long', packageOf(message('', `<a>${'x'.repeat(5000)}</a>`), 'x'), packaged],
    ['no boundary', packageOf(message(), 'x'), 'multipart/related'],
    ['a root that is not SOAP', packageOf(message(), 'x').replaceAll('application/xop+xml', 'image/png'), packaged],
  ] as const)
    test(`${title}: a response that says so, and nothing is forwarded`, async () => {
      const { came, url } = await nextNode()
      const { status, text } = await (await relayTo(url, { octetsMax: 4096 }))(content, { 'content-type': type })
      assert.ok(status === 415 || status === 500, text)
      assert.ok(text.length > 0)
      assert.equal(came.length, 0)
    })

  test('a part that is longer than the limit of messages passes without being held', async () => {
    let octets = 0
    const server = createServer(async (request, response) => {
      for await (const piece of request) octets += piece.length
      response.writeHead(200, soap12).end(message('', '<ok/>'))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    const listener = await startSoapRelay({
      to: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      octetsMax: 65_536,
    })
    after(() => listener.close(0))
    const piece = Buffer.alloc(65_536, 'x')
    const [pieces, frame] = [320, packageOf(message(), '\u0000').split('\u0000')]
    async function* content() {
      yield Buffer.from(frame[0] ?? '')
      for (let i = 0; i < pieces; i++) yield piece
      yield Buffer.from(frame[1] ?? '')
    }
    const answer = await fetch(listener.url, {
      method: 'POST',
      headers: { 'content-type': packaged },
      body: ReadableStream.from(content()) as never,
      duplex: 'half',
    } as RequestInit)
    assert.equal(answer.status, 200, await answer.text())
    assert.equal(octets, pieces * piece.length + Buffer.byteLength(frame.join('')))
  })
})
