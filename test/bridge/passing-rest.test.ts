/** Octets that pass between a client of SOAP and a REST service (docs/bridge.md, Files before a REST service). */
import assert from 'node:assert/strict'
import * as http from 'node:http'
import { test } from 'node:test'
import { readMultipart } from '../../src/base/multipart-reader.ts'
import { createBridge, describeBridge } from '../../src/bridge/bridged-service.ts'
import { createKeptTransport } from '../../src/bridge/kept-transport.ts'
import { createBridgedRestCaller } from '../../src/bridge/rest-caller.ts'
import { passRestInputs } from '../../src/bridge/rest-passing.ts'
import { startHosted } from '../host/hosted-service.ts'
import { type Received, receive, type Serve, startBehind, waitUntil } from './archive-bridge.ts'
import { envelopeOf, include, joined, octetsOf, packageType, partHead, rootPart } from './archive-port.ts'
import { readFileApi } from './file-api.ts'

const big = octetsOf(6_000_001, 7)
const other = octetsOf(5_000_002, 9)

async function startBridge(serve: Serve, { timeLimit = 20_000, longestPassing = 20_000_000 } = {}) {
  const { to, countOpen } = await startBehind(serve)
  const rest = readFileApi()
  const caller = createBridgedRestCaller(rest, to, { timeLimit, longestPassing }, createKeptTransport(to).ask)
  const notes: string[] = []
  const app = createBridge(describeBridge('files', rest.namespace, [passRestInputs(rest.port, rest, longestPassing)]), {
    callerOf: () => caller,
    note: line => void notes.push(line),
  })
  const hosted = await startHosted({}, app)
  const begin = (operation: string, headers: http.OutgoingHttpHeaders) => {
    const soapaction = `"${rest.namespace}/${operation}"`
    const request = http.request({
      ...{ host: '127.0.0.1', agent: false, port: hosted.server.port, path: '/soap/Operations', method: 'POST' },
      headers: { soapaction, ...headers },
    })
    return { request, answer: receive(request) }
  }
  const countRunning = async () =>
    Number(/^diglot_behind_calls\{state="running"\} (\d+)$/m.exec((await hosted.ask('GET', '/metrics')).text)?.[1])
  return { begin, notes, countOpen, countRunning }
}

const messageOf = (name: string, content: string): string => `<${name} xmlns="urn:files">${content}</${name}>`
const part = (id: string, content: Uint8Array): Buffer => joined(partHead(id), content, '\r\n')
const end = '--b--\r\n'

/** What has come, or why it was not whole. */
function keepContents() {
  const arrived: { readonly type: string; readonly fields: http.IncomingHttpHeaders; readonly content: Buffer }[] = []
  const broken: string[] = []
  const serve: Serve = (response, request) => {
    Array.fromAsync(request, each => Buffer.from(each)).then(
      pieces => {
        const content = Buffer.concat(pieces)
        arrived.push({ type: request.headers['content-type'] ?? '', fields: request.headers, content })
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"sum":${content.length}}`)
      },
      (thrown: unknown) => broken.push(String(thrown)),
    )
  }
  return { serve, arrived, broken }
}
async function post(
  bridge: Awaited<ReturnType<typeof startBridge>>,
  operation: string,
  content: Buffer,
): Promise<Received> {
  const { request, answer } = bridge.begin(operation, { 'content-type': packageType, 'transfer-encoding': 'chunked' })
  request.end(content)
  return await answer
}

const put = rootPart(messageOf('PutFile', `<id>7</id><content>${include('1')}</content>`))
test('octets of a package are the content of a request, as they come', async () => {
  let began = 0
  const { serve, arrived, broken } = keepContents()
  const bridge = await startBridge((response, request) => {
    began++
    serve(response, request)
  })
  const { request, answer } = bridge.begin('PutFile', { 'content-type': packageType })
  const content = joined(put, part('1', big), end)
  request.write(content.subarray(0, 1_000_000))
  await waitUntil(() => began === 1)
  request.end(content.subarray(1_000_000))
  const { status, content: text } = await answer
  assert.equal(status, 200, text.toString())
  assert.match(text.toString(), /sum>6000001</)
  assert.deepEqual([arrived[0]?.type, arrived[0]?.content.equals(big)], ['application/octet-stream', true])
  assert.deepEqual([broken, bridge.notes, await bridge.countRunning()], [[], [], 0])
})

test('RFC 7578: octets of a package are parts of a form, in the order of their arrival', async () => {
  const { serve, arrived } = keepContents()
  const bridge = await startBridge(serve)
  const root = rootPart(
    messageOf('AddFiles', `<title>a&amp;b</title><one>${include('1')}</one><two>${include('2')}</two>`),
  )
  const answer = await post(bridge, 'AddFiles', joined(root, part('2', other), part('1', big), end))
  assert.equal(answer.status, 200, answer.content.toString())
  const [, boundary = ''] = /boundary=(.+)$/.exec(arrived[0]?.type ?? '') ?? []
  async function* all() {
    yield arrived[0]?.content ?? Buffer.alloc(0)
  }
  const parts: (readonly [string | undefined, Buffer])[] = []
  for await (const { fields, content } of readMultipart(
    all(),
    boundary,
    { parts: 9, fields: 9, fieldOctets: 999 },
    assert.fail,
  ))
    parts.push([
      /name="(\w+)"/.exec(fields['content-disposition'] ?? '')?.[1],
      Buffer.concat(await Array.fromAsync(content, each => Buffer.from(each))),
    ])
  assert.deepEqual(parts, [
    ['title', Buffer.from('a&b')],
    ['two', other],
    ['one', big],
  ])
})

for (const [title, content, detail, status = 500] of [
  ['no last boundary', joined(put, part('1', big)), /before its last boundary/],
  ['a part twice', joined(put, part('1', big), part('1', big), end), /the same Content-ID/],
  ['more than may pass', joined(put, part('1', octetsOf(21_000_000, 1)), end), /20000000/, 413],
] as const)
  test(`${status} for a package with ${title}: the REST service gets nothing that is whole`, async () => {
    const { serve, arrived, broken } = keepContents()
    const bridge = await startBridge(serve)
    const answer = await post(bridge, 'PutFile', content)
    assert.equal(answer.status, status, answer.content.toString())
    assert.match(answer.content.toString(), detail)
    await waitUntil(() => broken.length === 1 && bridge.countOpen() === 0)
    assert.deepEqual([arrived.length, await bridge.countRunning()], [0, 0])
  })

test('a client that leaves in the middle leaves nothing whole, and frees its turn', async () => {
  const { serve, arrived, broken } = keepContents()
  const bridge = await startBridge(serve)
  const { request, answer } = bridge.begin('PutFile', { 'content-type': packageType, 'transfer-encoding': 'chunked' })
  request.write(joined(put, part('1', big)).subarray(0, 2_500_000))
  await waitUntil(() => bridge.countOpen() === 1)
  request.destroy()
  await assert.rejects(answer)
  await waitUntil(() => broken.length === 1 && bridge.countOpen() === 0)
  await waitUntil(async () => (await bridge.countRunning()) === 0)
  assert.equal(arrived.length, 0)
})

test('a REST service that accepts nothing times out', async () => {
  const bridge = await startBridge(() => {}, { timeLimit: 1500, longestPassing: 200_000_000 })
  const answer = await post(bridge, 'PutFile', joined(put, part('1', octetsOf(60_000_000, 1)), end))
  assert.match(answer.content.toString(), /may have been carried out/)
  assert.equal(await bridge.countRunning(), 0)
})

// Answers

const asking = envelopeOf(messageOf('GetFile', '<id>7</id>'))
async function fetchFile(bridge: Awaited<ReturnType<typeof startBridge>>, headers: http.OutgoingHttpHeaders = {}) {
  const { request, answer } = bridge.begin('GetFile', { 'content-type': 'text/xml', ...headers })
  request.end(asking)
  return await answer
}
const takesPackage = { accept: 'multipart/related; type="application/xop+xml", text/xml' }
const reply =
  (send: (response: http.ServerResponse) => void, fields: http.OutgoingHttpHeaders = {}): Serve =>
  response =>
    send(response.writeHead(200, { 'content-type': 'application/octet-stream', ...fields }))

for (const [title, fields] of [
  ['with its length', { 'content-length': big.length }],
  ['in chunks', {}],
] as const)
  test(`content of a response ${title} passes in a package, or in the XML`, async () => {
    const bridge = await startBridge(reply(response => void response.end(big), fields))
    const packed = await fetchFile(bridge, takesPackage)
    assert.match(String(packed.fields['content-type']), /^multipart\/related/)
    assert.ok(packed.content.includes(big))
    const inline = await fetchFile(bridge)
    assert.ok(inline.content.includes(`content>${big.toString('base64')}<`))
    assert.deepEqual([bridge.notes, await bridge.countRunning()], [[], 0])
  })

for (const [title, serve, note] of [
  [
    'less than its length',
    reply(response => response.write(big, () => response.destroy()), { 'content-length': 9e6 }),
    /ended before/,
  ],
  ['a connection that is lost', reply(response => response.write(big, () => response.destroy())), /ended before/],
  ['silence in the middle', reply(response => void response.write(big)), /fewer than 1500 octets/],
  ['more than may pass', reply(response => void response.end(octetsOf(21_000_000, 1))), /longer than 20000000/],
] as const)
  test(`a response is cut if the REST service sends ${title}`, async () => {
    const bridge = await startBridge(serve, { timeLimit: 1500 })
    const answer = await fetchFile(bridge, takesPackage)
    assert.equal(answer.isCut, true)
    assert.match(bridge.notes.join('\n'), /^Operations\.GetFile: cut while its octets passed: /)
    assert.match(bridge.notes.join('\n'), note)
    await waitUntil(() => bridge.countOpen() === 0)
    assert.equal(await bridge.countRunning(), 0)
  })

test('a response that announces more than may pass is refused, and one of an error is held', async () => {
  const long = await startBridge(reply(response => void response.write('x'), { 'content-length': 30_000_000 }))
  assert.match((await fetchFile(long)).content.toString(), /Fault/)
  const failing = await startBridge(response => void response.writeHead(500).end(octetsOf(1_000_000, 1)))
  assert.match((await fetchFile(failing)).content.toString(), /Fault/)
})

test('a reader that waits delays the service; one that leaves frees its turn', async () => {
  let sent = 0
  const bridge = await startBridge(
    reply(response => {
      const more = () => {
        do sent += big.length
        while (!response.destroyed && response.write(big))
      }
      response.on('drain', more)
      more()
    }),
    { longestPassing: 1024 ** 3 },
  )
  const { request, answer } = bridge.begin('GetFile', { 'content-type': 'text/xml', ...takesPackage })
  request.end(asking)
  request.on('response', response => response.pause())
  await waitUntil(() => sent > 0)
  await new Promise(resolve => void setTimeout(resolve, 700))
  assert.ok(sent < 60_000_000, `${sent} octets were taken for a reader that reads none`)
  request.destroy()
  void answer.catch(() => {})
  await waitUntil(() => bridge.countOpen() === 0)
  await waitUntil(async () => (await bridge.countRunning()) === 0)
})
