/** Octets that pass through a bridge (docs/bridge.md, Files): whole, or seen to be cut, and never held. */
import assert from 'node:assert/strict'
import type * as http from 'node:http'
import { test } from 'node:test'
import { afterAll, type Received, type Serve, startBridge, waitUntil, waitUntilStill } from './archive-bridge.ts'
import { include, joined, octetsOf, packageType, partHead, rootPart } from './archive-port.ts'

const filesOf = (one: string, two = ''): string =>
  `<Files xmlns="urn:archive"><title>a&amp;b</title><one>${one}</one>${two && `<two>${two}</two>`}</Files>`
const big = octetsOf(700_001, 7)
const other = octetsOf(300_002, 9)
const reply =
  (content: Buffer): Serve =>
  response => {
    response.writeHead(200, { 'content-type': packageType })
    for (let at = 0; at < content.length; at += 60_001) response.write(content.subarray(at, at + 60_001))
    response.end()
  }
/** Sends these octets and then nothing, or ends in whatever way. */
const begin =
  (content: Buffer, then: (response: http.ServerResponse) => void, fields: http.OutgoingHttpHeaders = {}): Serve =>
  response =>
    void response.writeHead(200, { 'content-type': packageType, ...fields }).write(content, () => void then(response))

const readFiles = ({ content }: Received) => {
  const { title, one, two } = JSON.parse(content.toString())
  return { title, one: Buffer.from(one, 'base64'), two: two === undefined ? undefined : Buffer.from(two, 'base64') }
}

// Whole answers

/** The parts, up to the end of the last one. */
const inOtherOrder = joined(
  rootPart(filesOf(include('1'), include('2'))),
  partHead('2'),
  other,
  '\r\n',
  partHead('1'),
  big,
)
const inBase64 = (octets: Buffer): string => octets.toString('base64').replace(/.{76}/g, '$&\r\n')
const wholes: readonly (readonly [title: string, content: Buffer, two?: Buffer])[] = [
  ['RFC 2387 §3.2: the root first', joined(rootPart(filesOf(include('1'))), partHead('1'), big, '\r\n--b--\r\n')],
  [
    'parts in the order of the message',
    joined(
      rootPart(filesOf(include('1'), include('2'))),
      partHead('1'),
      big,
      '\r\n',
      partHead('2'),
      other,
      '\r\n--b--',
    ),
    other,
  ],
  ['parts in another order than the message', joined(inOtherOrder, '\r\n--b--'), other],
  [
    'a part before the root, one behind',
    joined(
      partHead('1'),
      big,
      '\r\n',
      rootPart(filesOf(include('1'), include('2'))),
      partHead('2'),
      other,
      '\r\n--b--\r\n',
    ),
    other,
  ],
  [
    'a part that nothing refers to, before and behind',
    joined(
      rootPart(filesOf(include('1'))),
      partHead('0'),
      other,
      '\r\n',
      partHead('1'),
      big,
      '\r\n',
      partHead('3'),
      other,
      '\r\n--b--',
    ),
  ],
  [
    'RFC 2045 §6.8: a part in base64',
    joined(
      rootPart(filesOf(include('1'))),
      partHead('1', 'Content-Transfer-Encoding: base64\r\n'),
      inBase64(big),
      '\r\n--b--\r\n',
    ),
  ],
  [
    'one file in the XML, one as a part',
    joined(rootPart(filesOf(include('1'), other.toString('base64'))), partHead('1'), big, '\r\n--b--\r\n'),
    other,
  ],
]
for (const [title, content, two] of wholes)
  test(`octets pass: ${title}`, async () => {
    const { send, notes, countRunning } = await startBridge(afterAll(reply(content)))
    const answer = await send('Fetch')
    assert.deepEqual([answer.status, answer.isCut, notes], [200, false, []], answer.content.toString().slice(0, 300))
    assert.deepEqual(readFiles(answer), { title: 'a&b', one: big, two })
    assert.equal(await countRunning(), 0)
  })

test('octets pass in XML, and in a coding if the client accepts nothing else', async () => {
  const content = joined(rootPart(filesOf(include('1'))), partHead('1'), big, '\r\n--b--\r\n')
  const { send } = await startBridge(afterAll(reply(content)))
  const { content: xml } = await send('Fetch', { accept: 'application/xml' })
  assert.ok(xml.toString().includes(`one>${big.toString('base64')}<`))
  const coded = await send('Fetch', { 'accept-encoding': 'gzip, identity;q=0' })
  assert.equal(coded.fields['content-encoding'], 'gzip')
  const { gunzipSync } = await import('node:zlib')
  assert.deepEqual(readFiles({ ...coded, content: gunzipSync(coded.content) }).one, big)
})

test('RFC 9110 §8.8: a small package is held, and a read of it has a tag; octets that pass have none', async () => {
  const small = octetsOf(1000, 3)
  const content = joined(rootPart(filesOf(include('1'))), partHead('1'), small, '\r\n--b--\r\n')
  const held = await startBridge(afterAll(reply(content)))
  const first = await held.send('GetFiles', {}, 'QUERY')
  assert.deepEqual(readFiles(first).one, small)
  assert.equal((await held.send('GetFiles', { 'if-none-match': first.fields.etag }, 'QUERY')).status, 304)
  const large = joined(rootPart(filesOf(include('1'))), partHead('1'), big, '\r\n--b--')
  const passing = await startBridge(afterAll(reply(large)))
  const second = await passing.send('GetFiles', {}, 'QUERY')
  assert.deepEqual([second.status, second.fields.etag], [200, undefined])
  assert.deepEqual(readFiles(second).one, big)
  assert.equal((await passing.send('GetFiles', { 'if-match': '"a"' }, 'QUERY')).status, 412)
  const minimal = await passing.send('Fetch', { prefer: 'return=minimal' })
  assert.deepEqual([minimal.status, minimal.fields['preference-applied']], [204, 'return=minimal'])
  const { status, content: none } = await passing.send('ListFiles', {}, 'HEAD', new Uint8Array(0))
  assert.deepEqual([status, none.length], [200, 0])
  await waitUntil(() => passing.behind.countOpen() === 0)
  assert.equal(await passing.countRunning(), 0)
})

// Answers that are not whole

const root = rootPart(filesOf(include('1')))
const cut = (response: http.ServerResponse): void => void response.destroy()
const trickle = (response: http.ServerResponse): void => {
  const timer = setInterval(() => response.write('x'), 20)
  response.on('close', () => clearInterval(timer))
}
const flood = (response: http.ServerResponse): void => {
  const more = () => {
    while (!response.destroyed && response.write(big));
  }
  response.on('drain', more)
  more()
}
const start = joined(root, partHead('1'), big)
const length = { 'content-length': start.length + 100 }
const flaws: readonly (readonly [title: string, serve: Serve, note: RegExp, outcome: string])[] = [
  ['a connection that is lost in the middle', begin(start, cut), /ended before the response was complete/, 'lost'],
  ['fewer octets than their length', begin(start, cut, length), /ended before the response was complete/, 'lost'],
  ['an end without the last boundary', begin(start, response => response.end()), /before its last boundary/, 'garbage'],
  [
    'a line that begins like the boundary',
    reply(joined(start, '\r\n--bogus\r\n')),
    /begins like the boundary/,
    'garbage',
  ],
  [
    'what is broken, and more without end',
    begin(joined(start, '\r\n--bogus\r\n'), flood),
    /begins like the boundary/,
    'garbage',
  ],
  ['another part that is broken', reply(joined(start, '\r\n--b\r\nno field\r\n\r\n--b--')), /invalid field/, 'garbage'],
  ['silence in the middle', begin(start, () => {}), /fewer than 1\d{3} octets came in 1\d{3} ms/, 'late'],
  ['octets that trickle', begin(start, trickle), /fewer than 1\d{3} octets/, 'late'],
  ['a part without end', begin(start, flood), /longer than 5000000 octets/, 'too-long'],
]
for (const [title, serve, note, outcome] of flaws)
  test(`a response is cut if the backend sends ${title}`, async () => {
    const { send, notes, behind, countRunning, listOutcomes } = await startBridge(afterAll(serve), {
      limits: { longestPassing: 5_000_000 },
      timeLimit: outcome === 'late' ? 1500 : 20_000,
    })
    const answer = await send('Fetch')
    assert.deepEqual([answer.status, answer.isCut], [200, true])
    assert.match(notes.join('\n'), /^Archive\.Fetch: cut while its octets passed: /)
    assert.match(notes.join('\n'), note)
    assert.equal(await countRunning(), 0)
    assert.deepEqual(await listOutcomes(), [`${outcome} 1`])
    await waitUntil(() => behind.countOpen() === 0)
  })

test('after five truncated files in a row the backend is left alone, until a file begins again', async () => {
  let serve = begin(start, cut)
  let now = Date.parse('2026-11-22T08:00:00Z')
  const clock = () => now
  const { send, notes, listOutcomes } = await startBridge(
    afterAll((response, request) => serve(response, request)),
    { clock, limits: { pause: 1000 } },
  )
  for (let i = 0; i < 5; i++) assert.equal((await send('Fetch')).isCut, true)
  assert.equal((await send('Fetch')).status, 503)
  assert.match(notes.join('\n'), /^the backend has not responded 5 times: it is not called for 1 s$/m)
  now += 1000
  const held: http.ServerResponse[] = []
  serve = begin(start, response => void held.push(response))
  const first = send('Fetch')
  await waitUntil(() => notes.at(-1) === 'the backend responds again')
  serve = reply(joined(start, '\r\n--b--'))
  assert.deepEqual(readFiles(await send('Fetch')).one, big)
  held[0]?.end('\r\n--b--')
  assert.deepEqual(readFiles(await first).one, big)
  assert.deepEqual(await listOutcomes(), ['answer 2', 'lost 5'])
})

test('XML Schema Part 2 §4.3.3: more octets than a type allows cut the response', async () => {
  const content = (length: number) =>
    joined(
      rootPart(`<Scan xmlns="urn:archive"><octets>${include('1')}</octets></Scan>`),
      partHead('1'),
      octetsOf(length, 5),
      '\r\n--b--',
    )
  const { send, notes } = await startBridge(afterAll(reply(content(1_000_001))))
  assert.equal((await send('FetchScan')).isCut, true)
  assert.match(notes.join(), /has more than 1000000 octets/)
  const fits = await (await startBridge(afterAll(reply(content(1_000_000))))).send('FetchScan')
  assert.deepEqual([fits.isCut, fits.status], [false, 200])
})

const refused: readonly (readonly [title: string, serve: Serve, note: RegExp])[] = [
  ['without the part', reply(joined(root, partHead('0'), big, '\r\n--b--\r\n')), /a referenced part is missing/],
  ['cut behind its message', begin(joined(partHead('0'), big, '\r\n', root), cut), /lost/],
  [
    'with a message that breaks its schema',
    reply(joined(rootPart('<Files xmlns="urn:archive"/>'), partHead('1'), big)),
    /title/,
  ],
  ['with a message that is too long', reply(joined(partHead('root'), octetsOf(3_000_000, 5))), /longer than 1000000/],
  ['with too long a part before it', reply(joined(partHead('1'), octetsOf(3_000_000, 5), '\r\n', root)), /longer than/],
  [
    'with a fault',
    reply(joined(rootPart('<e:Fault><faultcode>e:Server</faultcode></e:Fault>'), partHead('1'), big)),
    /fault/,
  ],
  ['longer than it may be', begin(start, () => {}, { 'content-length': 50_000_000 }), /too-long/],
]
for (const [title, serve, note] of refused)
  test(`502 for a package ${title}`, async () => {
    const limits = { longest: 1_000_000, longestPassing: 40_000_000 }
    const { send, notes, behind } = await startBridge(afterAll(serve), { limits })
    const answer = await send('Fetch')
    assert.equal(answer.status, 502, answer.content.toString().slice(0, 300))
    assert.match(notes.join('\n'), note)
    await waitUntil(() => behind.countOpen() === 0)
  })

test('only parts that are read later than they arrive are held, within the limit', async () => {
  const { send, notes } = await startBridge(afterAll(reply(inOtherOrder)), { limits: { longest: 200_000 } })
  assert.equal((await send('Fetch')).status, 502)
  assert.match(notes.join(), /200000|400000/)
})

// Readers

test('a reader that waits delays the backend; one that leaves frees its turn', async () => {
  let sent = 0
  const serve: Serve = response => {
    const more = () => {
      do sent += big.length
      while (!response.destroyed && response.write(big))
    }
    response.writeHead(200, { 'content-type': packageType }).write(joined(root, partHead('1')))
    response.on('drain', more)
    more()
  }
  const limits = { calls: 1, longestPassing: 1024 ** 3 }
  const { begin, behind, countRunning, listOutcomes } = await startBridge(afterAll(serve), { limits })
  const { request, answer } = begin('Fetch')
  const response = new Promise<http.IncomingMessage>(resolve => void request.on('response', resolve))
  request.end('{"name":"x"}')
  const { pause, resume } = await response.then(each => ({ pause: () => each.pause(), resume: () => each.resume() }))
  pause()
  const before = await waitUntilStill(() => sent)
  assert.ok(sent < 30_000_000, `${sent} octets were sent to a reader that takes none`)
  assert.equal(await countRunning(), 1)
  resume()
  await waitUntil(() => sent > before + 30_000_000)
  request.destroy()
  assert.equal((await answer).isCut, true)
  await waitUntil(async () => (await listOutcomes()).join() === 'answer 1')
  await waitUntil(() => behind.countOpen() === 0)
  assert.equal(await countRunning(), 0)
})

test('readers that leave do not count against the backend, nor for it', async () => {
  let serve: Serve = response => void response.destroy()
  const {
    begin: ask,
    send,
    listOutcomes,
  } = await startBridge(
    afterAll((response, request) => serve(response, request)),
    { limits: { failures: 3 } },
  )
  assert.equal((await send('Fetch')).status, 502)
  serve = begin(start, () => {})
  for (let i = 0; i < 3; i++) {
    const { request, answer } = ask('Fetch')
    request.on('response', () => void request.destroy()).end('{"name":"x"}')
    assert.equal((await answer).isCut, true)
  }
  await waitUntil(async () => (await listOutcomes()).includes('answer 3'))
  serve = response => void response.destroy()
  assert.deepEqual([(await send('Fetch')).status, (await send('Fetch')).status], [502, 502])
  assert.equal((await send('Fetch')).status, 503)
})
