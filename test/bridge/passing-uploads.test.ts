/** Octets of a form that pass through a bridge (docs/bridge.md, Files): whole, or nothing that looks whole. */
import assert from 'node:assert/strict'
import type * as http from 'node:http'
import { test } from 'node:test'
import { answerKept, keepPackages, kept, type Serve, startBridge, waitUntil, waitUntilStill } from './archive-bridge.ts'
import { joined, octetsOf } from './archive-port.ts'

const big = octetsOf(3_000_001, 7)
const other = octetsOf(2_000_002, 9)
const small = octetsOf(1000, 9)

// Forms

const formType = 'multipart/form-data; boundary=f'
const partHead = (name: string, type: string): string =>
  `--f\r\nContent-Disposition: form-data; name="${name}"; filename="x"\r\nContent-Type: ${type}\r\n\r\n`
const message = (json: unknown): string => `${partHead('message', 'application/json')}${JSON.stringify(json)}\r\n`
const file = (name: string, octets: Uint8Array): Buffer =>
  joined(partHead(name, 'application/octet-stream'), octets, '\r\n')
const form = (...parts: (string | Uint8Array)[]): Buffer => joined(...parts, '--f--\r\n')

// Whole uploads

const wholes: readonly (readonly [title: string, content: Buffer, octets: Record<string, Buffer>, text: RegExp])[] = [
  ['RFC 7578: the message, then a file', form(message({ title: 'a&b' }), file('one', big)), { one: big }, /a&amp;b/],
  ['a file alone', form(file('one', big)), { one: big }, /Keep/],
  ['two files, the large one last', form(file('scan', small), file('one', big)), { scan: small, one: big }, /Keep/],
  ['a small file, which is held', form(message({ title: 't' }), file('one', small)), { one: small }, /t</],
  [
    'RFC 6901: a file further inside',
    form(message({ list: [{}] }), file('/list/0/octets', big)),
    { octets: big },
    /list/,
  ],
  ['an empty file', form(file('one', Buffer.alloc(0))), { one: Buffer.alloc(0) }, /Keep/],
  [
    'RFC 2183 §2: a file whose name is like a parameter',
    form(
      joined(
        '--f\r\nContent-Disposition: form-data; filename="a\\"; name=title; b"; size=1; Name=one\r\n\r\n',
        big,
        '\r\n',
      ),
    ),
    { one: big },
    /Keep/,
  ],
  [
    'RFC 7578 §4.8: other fields of a part count for nothing, however many of a name',
    form(joined('--f\r\nX-A: 1\r\nContent-Disposition: form-data; name=one\r\nx-a: 2\r\n\r\n', big, '\r\n')),
    { one: big },
    /Keep/,
  ],
  ['a message alone', form(message({ title: 't', one: small.toString('base64') })), { one: small }, /t</],
]
const listed = { one: '', list: [{ octets: '' }] }
const several: readonly (readonly [
  title: string,
  name: string,
  content: Buffer,
  octets: readonly (readonly [string, Buffer])[],
])[] = [
  [
    'the message has them without octets',
    'Keep',
    form(message(listed), file('one', big), file('/list/0/octets', other)),
    [
      ['one', big],
      ['octets', other],
    ],
  ],
  [
    'in another order than the message',
    'Keep',
    form(message(listed), file('/list/0/octets', other), file('one', big)),
    [
      ['octets', other],
      ['one', big],
    ],
  ],
  [
    'one that does not come is as empty as the message has it',
    'Keep',
    form(message(listed), file('/list/0/octets', other)),
    [
      ['octets', other],
      ['one', Buffer.alloc(0)],
    ],
  ],
  [
    'a small one first, which is held, and a small one last',
    'Keep',
    form(message({ ...listed, scan: '' }), file('scan', small), file('one', big), file('/list/0/octets', small)),
    [
      ['scan', small],
      ['one', big],
      ['octets', small],
    ],
  ],
  [
    'the type requires them',
    'KeepPair',
    form(message({ note: '' }), file('second', other), file('first', big)),
    [
      ['second', other],
      ['first', big],
    ],
  ],
  [
    'the type requires some octets, and the message has none',
    'KeepPair',
    form(message({ note: '', second: '' }), file('first', big), file('second', other)),
    [
      ['first', big],
      ['second', other],
    ],
  ],
]
for (const [title, name, content, octets] of several)
  test(`several files of a form pass as they come: ${title}`, async () => {
    const { serve, arrived, broken } = keepPackages()
    const { send, notes, countRunning } = await startBridge(serve)
    const answer = await send(name, { 'content-type': formType }, 'POST', content)
    assert.deepEqual([answer.status, notes, broken], [200, [], []], answer.content.toString())
    assert.deepEqual(Object.entries(arrived[0]?.octets ?? {}), octets)
    assert.equal(await countRunning(), 0)
  })

test('of two files in a list that the message has without octets, each goes where its name says', async () => {
  const { serve, arrived } = keepPackages()
  const { send } = await startBridge(serve)
  const list = [{ octets: '' }, { octets: '' }]
  const content = form(message({ list }), file('/list/1/octets', other), file('/list/0/octets', big))
  const answer = await send('Keep', { 'content-type': formType }, 'POST', content)
  assert.equal(answer.status, 200, answer.content.toString())
  const [first, second] = [...(arrived[0]?.text ?? '').matchAll(/href="cid:([^"]+)"/g)].map(([, id]) => id ?? '')
  assert.deepEqual(
    [...(arrived[0]?.byId ?? [])],
    [
      [second, other],
      [first, big],
    ],
  )
})

for (const [title, content, octets, text] of wholes)
  test(`octets of a form pass: ${title}`, async () => {
    const { serve, arrived, broken } = keepPackages()
    const { send, notes, countRunning } = await startBridge(serve)
    const { status, content: given } = await send('Keep', { 'content-type': formType }, 'POST', content)
    assert.deepEqual([status, given.toString(), notes, broken], [200, '{"name":"k"}', [], []])
    const [found] = arrived
    assert.deepEqual(found?.octets, octets)
    assert.match(found?.text ?? '', text)
    assert.equal(await countRunning(), 0)
  })

test('RFC 9112 §7.1: octets are passed on in chunks before all have arrived, by the client of Node as well', async () => {
  let began = 0
  const { serve, arrived } = keepPackages()
  const { begin, ask } = await startBridge((response, request) => {
    began++
    serve(response, request)
  })
  const { request, answer } = begin('Keep', { 'content-type': formType })
  const content = form(message({ title: 't' }), file('one', big))
  request.write(content.subarray(0, 2_000_000))
  await waitUntil(() => began === 1)
  request.end(content.subarray(2_000_000))
  assert.equal((await answer).status, 200)
  assert.equal(arrived[0]?.fields['transfer-encoding'], 'chunked')
  const given = new FormData()
  given.append('message', new Blob(['{"title":"t"}'], { type: 'application/json' }))
  given.append('one', new Blob([new Uint8Array(big)]))
  const response = new Response(given)
  const type = response.headers.get('content-type') ?? ''
  const again = begin('Keep', { 'content-type': type })
  again.request.end(Buffer.from(await response.arrayBuffer()))
  assert.equal((await again.answer).status, 200)
  assert.deepEqual(arrived[1]?.octets['one'], big)
  const { text } = await ask('GET', '/openapi.json')
  assert.match(text, /multipart\/form-data/)
})

// Refused

const refused: readonly (readonly [title: string, content: Buffer, status: number, detail: RegExp])[] = [
  ['a member that is not there', form(file('none', small)), 422, /none/],
  ['a member that has no octets', form(file('title', small)), 422, /title is not a member for octets/],
  ['a place that is not there', form(file('/list/0/octets', small)), 422, /has no place/],
  ['a member twice', form(message({ one: 'AAAA' }), file('one', small)), 422, /is given twice/],
  ['a file twice', form(file('one', small), file('one', small)), 422, /is given twice/],
  ['an empty file twice', form(file('one', Buffer.alloc(0)), file('one', small)), 422, /is given twice/],
  ['a text that is required and not there', form(message({ title: 7, one: '' }), file('one', big)), 422, /title/],
  ['a message that is not valid', form(message({ title: 7 }), file('one', big)), 422, /title/],
  ['a message that is no JSON', form(`${partHead('m', 'application/json')}{\r\n`, file('one', big)), 400, /./],
  ['a part without a name', form('--f\r\nContent-Type: a/b\r\n\r\nx\r\n'), 400, /has no name/],
  ['no boundary in it', Buffer.from('--g--\r\n'), 400, /before its last boundary/],
  ['a message of more than a mebioctet', form(message({ title: 'x'.repeat(1_100_000) })), 413, /./],
  ['more than may pass', form(file('one', octetsOf(5_000_000, 3))), 413, /./],
]
for (const [title, content, status, detail] of refused)
  test(`${status} for a form with ${title}: the backend is not called`, async () => {
    const { serve, arrived, broken } = keepPackages()
    const { send } = await startBridge(serve, { limits: { longestPassing: 4_000_000 } })
    const answer = await send('Keep', { 'content-type': formType }, 'POST', content)
    assert.equal(answer.status, status, answer.content.toString())
    assert.match(answer.content.toString(), detail)
    assert.deepEqual([arrived, broken], [[], []])
  })

const torn: readonly (readonly [title: string, content: Buffer, status: number, detail: RegExp])[] = [
  [
    'a part behind the one that passes that the message has no place for',
    form(file('one', big), file('scan', small)),
    400,
    /in its place in the message/,
  ],
  [
    'a part twice, behind each other',
    form(message(listed), file('one', big), file('one', small)),
    422,
    /one is given twice/,
  ],
  [
    'a part twice, the first one held',
    form(file('scan', small), file('one', big), file('scan', small)),
    422,
    /scan is given twice/,
  ],
  ['a message behind a part', form(file('one', big), message({ title: 't' })), 400, /message follows/],
  [
    'more octets than a type allows in the second part',
    form(message({ one: '', scan: '' }), file('one', other), file('scan', octetsOf(1_500_000, 1))),
    422,
    /more than 1000000/,
  ],
  [
    'no last boundary behind the second part',
    joined(message(listed), file('one', other), file('/list/0/octets', octetsOf(1_500_000, 1))),
    400,
    /before its last boundary/,
  ],
  ['no last boundary', joined(file('one', big)), 400, /before its last boundary/],
  ['more octets than a type allows', form(file('scan', big)), 422, /more than 1000000 octets/],
  ['more octets than may pass', form(file('one', octetsOf(5_000_000, 3))), 413, /./],
]
for (const [title, content, status, detail] of torn)
  test(`${status} for a form with ${title}: the backend gets nothing that is whole`, async () => {
    const { serve, arrived, broken } = keepPackages()
    const { begin, behind, countRunning } = await startBridge(serve, { limits: { longestPassing: 4_000_000 } })
    const { request, answer } = begin('Keep', { 'content-type': formType, 'transfer-encoding': 'chunked' })
    request.end(content)
    const { status: found, content: text } = await answer
    assert.equal(found, status, text.toString())
    assert.match(text.toString(), detail)
    await waitUntil(() => broken.length === 1 && behind.countOpen() === 0)
    assert.equal(arrived.length, 0)
    assert.equal(await countRunning(), 0)
  })

for (const [title, content, detail] of [
  ['does not come', form(message({ note: 'n' }), file('first', big)), /second is required, and no part/],
  ['is too short', form(message({ note: 'n' }), file('first', big), file('second', Buffer.alloc(1))), /fewer than 2/],
] as const)
  test(`422 if a file that the type requires ${title}: the backend gets nothing that is whole`, async () => {
    const { serve, arrived, broken } = keepPackages()
    const { begin, behind } = await startBridge(serve)
    const { request, answer } = begin('KeepPair', { 'content-type': formType, 'transfer-encoding': 'chunked' })
    request.end(content)
    const { status, content: text } = await answer
    assert.equal(status, 422, text.toString())
    assert.match(text.toString(), detail)
    await waitUntil(() => broken.length === 1 && behind.countOpen() === 0)
    assert.equal(arrived.length, 0)
  })

test('RFC 9112 §8: a client that leaves in the middle leaves nothing whole, and its turn is free', async () => {
  const { serve, arrived, broken } = keepPackages()
  const { begin, behind, countRunning } = await startBridge(serve, { limits: { calls: 1 } })
  const { request, answer } = begin('Keep', { 'content-type': formType })
  request.write(form(file('one', big)).subarray(0, 2_500_000))
  await waitUntil(() => behind.countOpen() === 1)
  request.destroy()
  await assert.rejects(answer)
  await waitUntil(() => broken.length === 1 && behind.countOpen() === 0)
  assert.equal(arrived.length, 0)
  await waitUntil(async () => (await countRunning()) === 0)
})

test('without MTOM a form is no content of an operation', async () => {
  const { serve } = keepPackages()
  const { send } = await startBridge(serve, { mtom: false })
  const { status, fields } = await send('Keep', { 'content-type': formType }, 'POST', form(file('one', small)))
  assert.equal(status, 415)
  assert.doesNotMatch(String(fields['accept-post']), /form-data/)
})

// Services behind

const fault = kept.replace(
  /<Kept.*<\/Kept>/,
  '<e:Fault><faultcode>e:Client</faultcode><faultstring>full</faultstring><detail><TooMuch xmlns="urn:archive">x</TooMuch></detail></e:Fault>',
)
const ends: readonly (readonly [title: string, serve: Serve, status: number])[] = [
  ['answers with a fault before it has read', response => answerKept(response, 500, fault), 422],
  ['answers with 413 before it has read', response => void response.writeHead(413).end(), 502],
  ['resets the connection', (_, request) => void request.once('data', () => request.destroy()), 502],
  ['takes nothing', () => {}, 504],
  ['answers nothing', (_, request) => void request.resume(), 504],
]
for (const [title, serve, status] of ends)
  test(`${status} if the backend ${title}`, async () => {
    const { send, behind, countRunning } = await startBridge(serve, { timeLimit: status === 504 ? 1500 : 20_000 })
    const content = form(message({ title: 't' }), file('one', octetsOf(20_000_000, 1)))
    const answer = await send('Keep', { 'content-type': formType }, 'POST', content)
    assert.equal(answer.status, status, answer.content.toString())
    if (!title.includes('takes nothing')) await waitUntil(() => behind.countOpen() === 0) // which sees no end
    assert.equal(await countRunning(), 0)
  })

test('RFC 9112 §9.3: a connection whose response came before all was sent carries nothing more', async () => {
  let count = 0
  const serve: Serve = (response, request) => {
    count++
    answerKept(response, count === 1 ? 500 : 200, count === 1 ? fault : kept)
    request.on('data', () => {})
  }
  const { begin, send } = await startBridge(serve, { limits: { calls: 1 } })
  const { request, answer: first } = begin('Keep', { 'content-type': formType, 'transfer-encoding': 'chunked' })
  request.write(form(file('one', big)).subarray(0, 2_000_000))
  assert.equal((await first).status, 422)
  request.destroy()
  const next = await send('Keep', {}, 'POST', { title: 't' })
  assert.deepEqual([next.status, count], [200, 2], next.content.toString())
})

test('a backend that reads slowly holds up the client', async () => {
  let taken: http.IncomingMessage | undefined
  const serve: Serve = (response, request) => {
    taken = request.pause()
    request.on('end', () => answerKept(response))
  }
  const { begin } = await startBridge(serve, { limits: { longestPassing: 1024 ** 3 } })
  const { request, answer: given } = begin('Keep', { 'content-type': formType })
  let sent = 0
  let isFlowing = true
  const piece = octetsOf(65_536, 2)
  const more = () => {
    do sent += piece.length
    while (isFlowing && request.write(piece))
  }
  request.write(partHead('one', 'application/octet-stream'))
  request.on('drain', () => isFlowing && more())
  more()
  const before = await waitUntilStill(() => sent)
  assert.ok(sent < 30_000_000, `${sent} octets were taken for a service that reads none`)
  taken?.resume()
  await waitUntil(() => sent > before + 30_000_000)
  isFlowing = false
  request.end('\r\n--f--\r\n')
  assert.equal((await given).status, 200)
})
