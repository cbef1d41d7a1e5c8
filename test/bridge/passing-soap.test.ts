/** Octets that pass by the SOAP face of a bridge (docs/bridge.md, Files): packages in both directions. */
import assert from 'node:assert/strict'
import type * as http from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readParts } from '../../src/soap/mime/multipart.ts'
import {
  afterAll,
  answerKept,
  keepPackages,
  kept,
  type Received,
  type Serve,
  startBridge,
  waitUntil,
  waitUntilStill,
} from './archive-bridge.ts'
import { envelopeOf, include, joined, octetsOf, packageType, partHead, rootPart } from './archive-port.ts'

const big = octetsOf(6_000_001, 7)
const other = octetsOf(5_000_002, 9)
const small = octetsOf(1000, 3)
const limits = { longestPassing: 20_000_000 }

// Messages

const keepOf = (content: string): string => rootPart(`<Keep xmlns="urn:archive">${content}</Keep>`)
const one = keepOf(`<title>a&amp;b</title><one>${include('1')}</one>`)
const both = keepOf(`<one>${include('1')}</one><list><octets>${include('2')}</octets></list>`)
const part = (id: string, octets: Uint8Array | string, fields = ''): Buffer =>
  joined(partHead(id, fields), octets, '\r\n')
const end = '--b--\r\n'
const fieldsOf = (action: string, more: http.OutgoingHttpHeaders = {}) => ({
  'content-type': packageType,
  soapaction: `"urn:${action}"`,
  ...more,
})

async function post(
  { beginSoap }: Awaited<ReturnType<typeof startBridge>>,
  content: Uint8Array,
  more?: http.OutgoingHttpHeaders,
): Promise<Received> {
  const { request, answer } = beginSoap(fieldsOf('Keep', more))
  request.end(content)
  return await answer
}
const chunked = { 'transfer-encoding': 'chunked' }

const inBase64 = (octets: Buffer): string => octets.toString('base64').replace(/.{76}/g, '$&\r\n')
const wholes: readonly (readonly [title: string, content: Buffer, octets: Record<string, Buffer>])[] = [
  ['RFC 2387 §3.2: the root first', joined(one, part('1', big), end), { one: big }],
  ['two parts', joined(both, part('1', big), part('2', other), end), { one: big, octets: other }],
  ['two parts in another order', joined(both, part('2', other), part('1', big), end), { one: big, octets: other }],
  [
    'a small part before the root',
    joined(part('1', small), both, part('2', other), end),
    { one: small, octets: other },
  ],
  ['parts that nothing refers to', joined(one, part('0', small), part('1', big), part('3', small), end), { one: big }],
  [
    'RFC 2045 §6.8: a part in base64',
    joined(one, part('1', inBase64(big), 'Content-Transfer-Encoding: base64\r\n'), end),
    { one: big },
  ],
  ['a small package, which is held', joined(one, part('1', small), end), { one: small }],
  ['an empty part', joined(both, part('1', ''), part('2', other), end), { one: Buffer.alloc(0), octets: other }],
]
for (const [title, content, octets] of wholes)
  test(`octets of a package pass by SOAP: ${title}`, async () => {
    const { serve, arrived, broken } = keepPackages()
    const bridge = await startBridge(serve, { limits })
    const answer = await post(bridge, content)
    assert.deepEqual([answer.status, bridge.notes, broken], [200, [], []], answer.content.toString().slice(0, 500))
    assert.match(answer.content.toString(), /Kept/)
    assert.deepEqual(arrived[0]?.octets, octets)
    assert.equal(await bridge.countRunning(), 0)
    assert.deepEqual(await bridge.listOutcomes(), ['answer 1'])
  })

test('RFC 9112 §7.1: octets are passed on before all of them have arrived', async () => {
  let began = 0
  const { serve, arrived } = keepPackages()
  const { beginSoap } = await startBridge((response, request) => {
    began++
    serve(response, request)
  })
  const { request, answer } = beginSoap(fieldsOf('Keep', chunked))
  const content = joined(one, part('1', big), end)
  request.write(content.subarray(0, 1_000_000))
  await waitUntil(() => began === 1)
  request.end(content.subarray(1_000_000))
  assert.equal((await answer).status, 200)
  assert.equal(arrived[0]?.fields['transfer-encoding'], 'chunked')
})

// Refused

const scan = keepOf(`<scan>${include('1')}</scan>`)
const refused: readonly (readonly [title: string, content: Buffer, detail: RegExp, status?: number])[] = [
  ['a message that breaks its schema', joined(keepOf(`<two>${include('1')}</two>`), part('1', big), end), /two/],
  ['a message that is not well-formed', joined(rootPart('<Keep'), part('1', big), end), /well-formed/],
  ['another operation', joined(rootPart('<Other xmlns="urn:archive"/>'), part('1', big), end), /not a known operation/],
  ['no part', joined(one, part('0', small), end), /a referenced part is missing/],
  ['another part in its place', joined(one, part('0', octetsOf(1_000_000, 1)), end), /referenced part is missing/],
  [
    'a part that is there twice in the message',
    joined(keepOf(`<one>${include('1')}</one><scan>${include('1')}</scan>`), part('1', big), end),
    /referenced twice/,
  ],
  [
    'a part by another URI',
    joined(keepOf(`<one>${include('1').replace('cid:', 'http://a/')}</one>`), part('1', big), end),
    /by cid:/,
  ],
  ['a part before the root that is too long', joined(part('1', octetsOf(5_000_000, 1)), one, end), /./, 413],
  ['no root', joined(part('1', small), end), /root part of the package is missing/],
  ['more than may pass', joined(one, part('1', octetsOf(21_000_000, 1)), end), /20000000/, 413],
]
for (const [title, content, detail, status = 500] of refused)
  test(`${status} for a package with ${title}: the backend is not called`, async () => {
    const { serve, arrived, broken } = keepPackages()
    const bridge = await startBridge(serve, { limits })
    const answer = await post(bridge, content)
    assert.equal(answer.status, status, answer.content.toString())
    assert.match(answer.content.toString(), detail)
    await sleep(50) // a request that was begun would have come
    assert.deepEqual([arrived, broken], [[], []])
    assert.equal(await bridge.countRunning(), 0)
  })

const torn: readonly (readonly [title: string, content: Buffer, detail: RegExp, status?: number])[] = [
  ['no last boundary', joined(one, part('1', big)), /before its last boundary/],
  ['a line that begins like the boundary', joined(one, part('1', big), '--bogus\r\n', end), /begins like the boundary/],
  ['a part that is missing', joined(both, part('1', big), end), /a referenced part is missing/],
  ['a part that comes twice', joined(one, part('1', big), part('1', small), end), /the same Content-ID/],
  ['two roots', joined(one, part('1', big), one, end), /two root parts/],
  ['more octets than a type allows', joined(scan, part('1', octetsOf(1_000_001, 1)), end), /more than 1000000 octets/],
  ['more than may pass', joined(one, part('1', octetsOf(21_000_000, 1)), end), /20000000/, 413],
  [
    'a part after the last that is too long',
    joined(one, part('1', big), part('2', octetsOf(5_000_000, 1)), end),
    /./,
    413,
  ],
]
for (const [title, content, detail, status = 500] of torn)
  test(`${status} for a package with ${title}: the backend gets nothing that is whole`, async () => {
    const { serve, arrived, broken } = keepPackages()
    const bridge = await startBridge(serve, { limits })
    const answer = await post(bridge, content, chunked)
    assert.equal(answer.status, status, answer.content.toString())
    assert.match(answer.content.toString(), detail)
    await waitUntil(() => broken.length === 1 && bridge.behind.countOpen() === 0)
    assert.equal(arrived.length, 0)
    assert.equal(await bridge.countRunning(), 0)
  })

test('RFC 9112 §8: a client that leaves in the middle, or before its length, leaves nothing whole', async () => {
  const { serve, arrived, broken } = keepPackages()
  const { beginSoap, behind, countRunning } = await startBridge(serve, { limits: { calls: 1 } })
  for (const fields of [chunked, { 'content-length': 7_000_000 }]) {
    const before = broken.length
    const { request, answer } = beginSoap(fieldsOf('Keep', fields))
    request.write(joined(one, part('1', big)).subarray(0, 2_500_000))
    await waitUntil(() => behind.countOpen() === 1)
    request.destroy()
    await assert.rejects(answer)
    await waitUntil(() => broken.length === before + 1 && behind.countOpen() === 0)
    await waitUntil(async () => (await countRunning()) === 0)
  }
  assert.equal(arrived.length, 0)
})

test('attack: a caller without permission is refused before more of the package is read', async () => {
  const { serve, arrived, broken } = keepPackages()
  const { beginSoap } = await startBridge(serve, { allow: [] })
  const { request, answer } = beginSoap(fieldsOf('Keep', chunked))
  request.write(joined(one, partHead('1'), octetsOf(300_000, 1)))
  assert.match((await answer).content.toString(), /Fault/)
  request.destroy()
  assert.deepEqual([arrived, broken], [[], []])
})

test('a backend that reads slowly holds up the client', async () => {
  let taken: http.IncomingMessage | undefined
  const serve: Serve = (response, request) => {
    taken = request.pause()
    request.on('end', () => answerKept(response))
  }
  const { beginSoap } = await startBridge(serve)
  const { request, answer } = beginSoap(fieldsOf('Keep', chunked))
  let sent = 0
  let isFlowing = true
  const piece = octetsOf(65_536, 2)
  const more = () => {
    do sent += piece.length
    while (isFlowing && request.write(piece))
  }
  request.write(joined(one, partHead('1')))
  request.on('drain', () => isFlowing && more())
  more()
  const before = await waitUntilStill(() => sent)
  assert.ok(sent < 30_000_000, `${sent} octets were taken for a service that reads none`)
  taken?.resume()
  await waitUntil(() => sent > before + 30_000_000)
  isFlowing = false
  request.end('\r\n--b--\r\n')
  assert.equal((await answer).status, 200)
})

const fault = kept.replace(
  /<Kept.*<\/Kept>/,
  '<e:Fault><faultcode>e:Client</faultcode><faultstring>full</faultstring><detail><TooMuch xmlns="urn:archive">x</TooMuch></detail></e:Fault>',
)
test('the response of a service that responds before it has read all is passed on', async () => {
  const bridge = await startBridge(response => answerKept(response, 500, fault), { limits })
  const answer = await post(bridge, joined(one, part('1', big), end))
  assert.match(answer.content.toString(), /full.*TooMuch/s)
  await waitUntil(() => bridge.behind.countOpen() === 0)
})

// Answers

const filesOf = (one: string, two = ''): string =>
  `<Files xmlns="urn:archive"><title>t</title><one>${one}</one>${two && `<two>${two}</two>`}</Files>`
const reply =
  (content: Buffer): Serve =>
  response =>
    void response.writeHead(200, { 'content-type': packageType }).end(content)
const asking = envelopeOf('<Ask xmlns="urn:archive"><name>x</name></Ask>')
const takesPackage = { accept: 'multipart/related; type="application/xop+xml", text/xml' }
async function fetchFiles({ beginSoap }: Awaited<ReturnType<typeof startBridge>>, fields: http.OutgoingHttpHeaders) {
  const { request, answer } = beginSoap({ 'content-type': 'text/xml', soapaction: '"urn:Fetch"', ...fields })
  request.end(asking)
  return await answer
}
async function readPackage({ fields, content }: Received) {
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(fields['content-type'] ?? '') ?? []
  async function* all() {
    yield content
  }
  const parts: { id: string; octets: Buffer }[] = []
  for await (const { fields, content } of readParts(all(), boundary))
    parts.push({
      id: fields['content-id'] ?? '',
      octets: Buffer.concat(await Array.fromAsync(content, each => Buffer.from(each))),
    })
  const [root, ...others] = parts
  const text = root?.octets.toString() ?? ''
  const nameOf = (id: string) =>
    new RegExp(`<(\\w+:)?(\\w+)><xop:Include [^>]*href="cid:${id.slice(1, -1)}"`).exec(text)?.[2]
  return others.map(({ id, octets }) => [nameOf(id), octets] as const)
}

const two = rootPart(filesOf(include('1'), include('2')))
const answers: readonly (readonly [title: string, content: Buffer, parts: readonly (readonly [string, Buffer])[]])[] = [
  ['one part', joined(rootPart(filesOf(include('1'))), part('1', big), end), [['one', big]]],
  [
    'two parts',
    joined(two, part('1', big), part('2', other), end),
    [
      ['one', big],
      ['two', other],
    ],
  ],
  [
    'two parts in another order, as they come',
    joined(two, part('2', other), part('1', big), end),
    [
      ['two', other],
      ['one', big],
    ],
  ],
]
for (const [title, content, parts] of answers) {
  test(`octets of a response pass in a package to a client that accepts one: ${title}`, async () => {
    const bridge = await startBridge(afterAll(reply(content)), { limits: { ...limits, longest: 1_000_000 } })
    const answer = await fetchFiles(bridge, takesPackage)
    assert.deepEqual([answer.status, answer.isCut, bridge.notes], [200, false, []])
    assert.deepEqual(await readPackage(answer), parts)
    assert.equal(await bridge.countRunning(), 0)
  })
  test(`octets of a response pass in the XML to any other client: ${title}`, async () => {
    const bridge = await startBridge(afterAll(reply(content)), { limits })
    const answer = await fetchFiles(bridge, {})
    assert.deepEqual([answer.status, answer.isCut, bridge.notes], [200, false, []])
    for (const [name, octets] of parts)
      assert.ok(answer.content.toString().includes(`${name}>${octets.toString('base64')}<`))
  })
}

const head = joined(rootPart(filesOf(include('1'))), partHead('1'), big)
const flaws: readonly (readonly [title: string, serve: Serve, note: RegExp, outcome: string])[] = [
  ['no last boundary', reply(head), /before its last boundary/, 'garbage'],
  ['a part that is missing', reply(joined(two, part('1', big), end)), /a referenced part is missing/, 'garbage'],
  [
    'a part that is too long',
    reply(joined(rootPart(filesOf(include('1'))), part('1', octetsOf(21_000_000, 1)), end)),
    /longer than 20000000/,
    'too-long',
  ],
  [
    'a connection that is lost',
    response =>
      void response.writeHead(200, { 'content-type': packageType }).write(head, () => void response.destroy()),
    /ended before the response was complete/,
    'lost',
  ],
]
for (const [title, serve, note, outcome] of flaws)
  for (const fields of [takesPackage, {}])
    test(`a response by SOAP${'accept' in fields ? ' in a package' : ''} is cut where the backend sends ${title}`, async () => {
      const bridge = await startBridge(afterAll(serve), { limits })
      const answer = await fetchFiles(bridge, fields)
      assert.equal(answer.isCut, true)
      assert.match(bridge.notes.join('\n'), /^Archive\.Fetch: cut while its octets passed: /)
      assert.match(bridge.notes.join('\n'), note)
      assert.deepEqual(await bridge.listOutcomes(), [`${outcome} 1`])
      assert.equal(await bridge.countRunning(), 0)
    })

test('a reader that leaves frees its turn, and says nothing of the backend', async () => {
  const serve: Serve = response => {
    response.writeHead(200, { 'content-type': packageType }).write(head)
    const timer = setInterval(() => response.write(big), 5)
    response.on('close', () => clearInterval(timer))
  }
  const bridge = await startBridge(afterAll(serve))
  for (const fields of [takesPackage, {}]) {
    const { request, answer } = bridge.beginSoap({
      'content-type': 'text/xml',
      soapaction: '"urn:Fetch"',
      ...fields,
    })
    request.end(asking)
    request.on('response', response => response.once('data', () => request.destroy()))
    assert.equal((await answer).isCut, true)
    await waitUntil(() => bridge.behind.countOpen() === 0)
    await waitUntil(async () => (await bridge.countRunning()) === 0)
  }
  assert.deepEqual(await bridge.listOutcomes(), ['answer 2'])
})
