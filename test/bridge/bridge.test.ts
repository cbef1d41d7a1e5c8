/** A SOAP service of others by REST (docs/bridge.md): what it answers, and what becomes of what it does wrong. */
import assert from 'node:assert/strict'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type BridgeLimits, completeLimits, transportOptionsOf } from '../../src/bridge/bridge-limits.ts'
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { verbOf } from '../../src/bridge/exchange-members.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { startHosted } from '../host/hosted-service.ts'

const shop = x.namespace('urn:shop')
const Ask = shop.element('Ask', x.object({ item: x.element(x.string) }))
const Price = shop.element('Price', x.object({ amount: x.element(x.decimal), tax: x.attribute(x.int).optional() }))
const NoSuchItem = shop.element('NoSuchItem', x.object({ item: x.element(x.string) }))
const Session = shop.element('Session', x.string)
const faults = { NoSuchItem }
const messages = { input: Ask, output: Price, faults, requestHeaders: { Session }, replyHeaders: { Session } }
const portOf = (soap: '1.1' | '1.2') =>
  port('Shop', {
    namespace: 'urn:shop:wsdl',
    soap,
    allow: [anyone],
    exchanges: {
      GetPrice: exchange({ action: 'urn:GetPrice', ...messages }),
      SetPrice: exchange({ action: 'urn:SetPrice', ...messages }),
      Clear: exchange({ action: 'urn:Clear', input: Ask, output: 'empty' }),
      Note: exchange({ action: 'urn:Note', input: Ask }),
      add: exchange({
        style: 'encoded',
        action: 'urn:add',
        input: x.call('urn:rpc', 'add', { a: x.element(x.int), b: x.element(x.int) }),
        output: x.call('urn:rpc', 'addResponse', { sum: x.element(x.int) }),
      }),
    },
  })

const answerPrice = ({ item }: { readonly item: string }, ctx: Parameters<Handler>[1]) => {
  if (item === 'none') ctx.fail('NoSuchItem', { item }, 'no such item')
  if (ctx.headers.Session !== undefined) ctx.setHeader('Session', `${ctx.headers.Session}!`)
  return { amount: '12.50', tax: 7 }
}
type Handler = (
  input: { readonly item: string },
  ctx: import('../../src/contract/port-handlers.ts').ExchangeContext<typeof faults, { Session: typeof Session }>,
) => { amount: string; tax: number }

/** A bridge to an address. */
async function startBridge(
  to: string,
  soap: '1.1' | '1.2' = '1.1',
  timeLimit = 20_000,
  clock = Date.now,
  limits: Partial<BridgeLimits> = {},
) {
  const { longest } = limits
  const transport = createHttpTransport(to, transportOptionsOf(completeLimits(limits)))
  after(() => transport.close())
  const notes: string[] = []
  const contract = describeBridge('shop', 'urn:shop', [openPort(portOf(soap), [anyone])])
  const callerOf = (each: Parameters<typeof createPortCaller>[0]) =>
    createPortCaller(each, transport, { timeLimit, ...(longest !== undefined && { longest }) })
  const { ask } = await startHosted(
    {},
    createBridge(contract, { callerOf, note: line => void notes.push(line), clock, limits }),
  )
  const send = (name: string, content: unknown, fields = {}) =>
    ask('POST', `/api/v1/Shop/${name}`, { 'content-type': 'application/json', ...fields }, JSON.stringify(content))
  return { ask, send, notes }
}

for (const soap of ['1.1', '1.2'] as const)
  test(`SOAP ${soap}: operations, declared faults and header blocks of the backend, in REST`, async () => {
    const behind = service('behind', { namespace: 'urn:behind', resources: [], ports: [portOf(soap)] })
    const handlers = {
      GetPrice: answerPrice,
      SetPrice: answerPrice,
      Clear: () => {},
      Note: () => {},
      add: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
    }
    const { server } = await startHosted({}, implement(behind, { Shop: handlers }))
    const { send, ask } = await startBridge(`http://127.0.0.1:${server.port}/soap/Shop`, soap)
    const answer = await send('GetPrice', { item: 'tea' }, { 'soap-session': '"s"' })
    assert.equal(answer.text, '{"amount":"12.50","tax":7}')
    assert.equal(answer.fields['soap-session'], '"s!"')
    assert.equal((await send('add', { a: 1, b: 2 })).text, '{"sum":3}')
    const fault = await send('SetPrice', { item: 'none' })
    assert.equal(fault.status, 404, fault.text)
    const { detail, fault: element } = JSON.parse(fault.text)
    assert.deepEqual([detail, element], ['no such item', { item: 'none' }])
    const queried = await ask('QUERY', '/api/v1/Shop/GetPrice', { 'content-type': 'application/json' }, '{"item":"a"}')
    assert.equal(queried.status, 200)
    assert.ok(queried.fields['etag'])
  })

test('a header block of the response that is longer than a field may be is a 502 that says so', async () => {
  const behind = service('behind', { namespace: 'urn:behind', resources: [], ports: [portOf('1.1')] })
  const unasked = () => assert.fail('not asked')
  const handlers = { GetPrice: answerPrice, SetPrice: answerPrice, Clear: unasked, Note: unasked, add: unasked }
  const { server } = await startHosted({}, implement(behind, { Shop: handlers }))
  const { send, ask, notes } = await startBridge(`http://127.0.0.1:${server.port}/soap/Shop`)
  const session = 's'.repeat(4094)
  const answer = await send('SetPrice', { item: 'tea' }, { 'soap-session': JSON.stringify(session) })
  assert.equal(answer.status, 502, answer.text)
  const says =
    'the header Session has 4097 octets as a field, and at most 4096 are possible: call the operation over SOAP'
  assert.equal(JSON.parse(answer.text).detail, `the backend has responded, but ${says}`)
  assert.deepEqual(notes, [`Shop.SetPrice: ${says}`])
  const asked = withHeader(
    envelope('<Ask xmlns="urn:shop"><item>tea</item></Ask>'),
    `<Session xmlns="urn:shop">${session}</Session>`,
  )
  const bySoap = await ask('POST', '/soap/Shop', { 'content-type': 'text/xml', soapaction: '"urn:SetPrice"' }, asked)
  assert.equal(bySoap.status, 200, bySoap.text)
  assert.ok(bySoap.text.includes(`${session}!`))
})

/** Responds by hand; counts its requests. */
async function startMisbehaving(serve: (response: http.ServerResponse) => void) {
  let requests = 0
  const server = http.createServer((request, response) => {
    requests++
    request.resume().on('end', () => serve(response))
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { to: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, count: () => requests }
}
const reply =
  (status: number, type: string, content: string) =>
  (response: http.ServerResponse): void =>
    void response.writeHead(status, { 'content-type': type }).end(content)
const envelope = (body: string): string =>
  `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${body}</e:Body></e:Envelope>`
const faultOf = (code: string, reason: string, detail = ''): string =>
  envelope(`<e:Fault><faultcode>e:${code}</faultcode><faultstring>${reason}</faultstring>${detail}</e:Fault>`)

const brokenDetail = '<detail><NoSuchItem xmlns="urn:shop"/></detail>'
const withHeader = (message: string, block: string): string =>
  message.replace('<e:Body>', `<e:Header>${block}</e:Header><e:Body>`)
const wcfAction = (dialect: string): string =>
  `<Action e:mustUnderstand="1" xmlns="http://schemas.microsoft.com/ws/2005/05/addressing/${dialect}">urn:Fault</Action>`

const misbehaviours: readonly (readonly [
  title: string,
  serve: (response: http.ServerResponse) => void,
  status: number,
  note: RegExp,
])[] = [
  ['a page of HTML with an error', reply(500, 'text/html', '<html><body>Oops<br></body></html>'), 502, /text\/html/],
  ['a page of HTML with 200', reply(200, 'text/html', '<html/>'), 502, /text\/html/],
  ['nothing', reply(200, 'text/xml', ''), 502, /no content/],
  ['XML that is cut', reply(200, 'text/xml', envelope('').slice(0, 60)), 502, /not well-formed/],
  ['another element', reply(200, 'text/xml', envelope('<a/>')), 502, /a instead of Price/],
  [
    'a price that is no number',
    reply(200, 'text/xml', envelope('<Price xmlns="urn:shop"><amount>x</amount></Price>')),
    502,
    /decimal/,
  ],
  ['a fault with 200', reply(200, 'text/xml', faultOf('Server', 'secret of the house')), 502, /secret of the house/],
  [
    'an undeclared fault of the sender',
    reply(500, 'text/xml', faultOf('Client', 'Item not found')),
    404,
    /Item not found/,
  ],
  ['an undeclared fault without a hint', reply(500, 'text/xml', faultOf('Client', 'No.')), 422, /No\./],
  ...(
    [
      ['of .NET', '\r\n   at secret.NotFound.Take(Int32 n)\n   at b'],
      ['of Mono', '\n  at secret.NotFound.Take (System.Int32 n) [0x00016] in &lt;246c&gt;:0 \n  at (wrapper x) b'],
      ['of .NET in German', '\n   bei secret.NotFound..ctor()'],
      ['of .NET, of an inner exception', '\n --- End of inner exception stack trace of secret ---'],
      ['of Java', '\n\tat secret.NotFound.take(NotFound.java:7)'],
    ] as const
  ).map(
    ([whose, stack]) =>
      [
        `a reason with the stack of an exception ${whose}`,
        reply(500, 'text/xml', faultOf('Client', `x.SoapException: too few${stack}`)),
        ...([422, /secret/] as const),
      ] as const,
  ),
  [
    'a declared fault of the sender whose detail breaks its type',
    reply(500, 'text/xml', faultOf('Client', 'None left', brokenDetail)),
    404,
    /Sender: None left,.*the detail of the fault NoSuchItem breaks its type/,
  ],
  [
    'a declared fault of the service whose detail breaks its type',
    reply(500, 'text/xml', faultOf('Server', 'secret of the house', brokenDetail)),
    502,
    /secret of the house,.*the detail of the fault NoSuchItem breaks its type/,
  ],
  [
    'a fault with the mandatory action of WCF',
    reply(500, 'text/xml', withHeader(faultOf('Client', 'Item not found'), wcfAction('none'))),
    404,
    /Item not found/,
  ],
  [
    'attack: a fault with a mandatory action that nobody knows',
    reply(500, 'text/xml', withHeader(faultOf('Client', 'Item not found'), wcfAction('some'))),
    502,
    /not understood: \{http:.*some\}Action/,
  ],
  ['a connection that is cut', response => void response.destroy(), 502, /lost/],
  [
    'content that is cut',
    response => void response.writeHead(200, { 'content-length': 9 }).write('<e', () => response.destroy()),
    502,
    /lost/,
  ],
]
for (const [title, serve, status, note] of misbehaviours)
  test(`${title} is ${status}, and only the operator gets the reason`, async () => {
    const { to, count } = await startMisbehaving(serve)
    const { send, notes } = await startBridge(to)
    const answer = await send('SetPrice', { item: 'tea' })
    assert.equal(answer.status, status, answer.text)
    assert.match(String(answer.fields['content-type']), /problem\+json/)
    assert.match(notes.join(), note)
    assert.doesNotMatch(answer.text, /secret/)
    assert.equal(count(), 1, 'what may have been carried out is not sent again')
  })

const priced = Buffer.from(envelope('<Price xmlns="urn:shop"><amount>1</amount></Price>'))
/** The text written on the connection, which then stays open. */
const write =
  (head: string, ...pieces: readonly (string | Uint8Array)[]) =>
  ({ socket }: http.ServerResponse): void => {
    socket?.write(`HTTP/1.1 ${head}\r\nContent-Type: text/xml\r\n`)
    for (const piece of pieces) socket?.write(piece)
  }
const framings: readonly (readonly [
  title: string,
  serve: (response: http.ServerResponse) => void,
  status: number,
  note: RegExp,
])[] = [
  [
    'a redirection',
    response => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    502,
    /redirects are not followed: 302 to http:\/\/127\.0\.0\.1:1\//,
  ],
  [
    'a redirection with a message',
    response => void response.writeHead(307, { 'content-type': 'text/xml' }).end(priced),
    502,
    /redirects are not followed: 307 to no location/,
  ],
  [
    'a bomb of gzip, a thousandth of what it opens to,',
    write('200 OK', 'Content-Encoding: gzip\r\nConnection: close\r\n', sized(gzipSync(Buffer.alloc(64 << 20, ' ')))),
    502,
    /content coding gzip is not supported/,
  ],
  ['a length beyond the content', write('200 OK', `Content-Length: ${priced.length + 1}\r\n\r\n`, priced), 504, /late/],
  [
    'a length short of the content',
    write('200 OK', `Content-Length: ${priced.length - 1}\r\n\r\n`, priced),
    502,
    /well-f/,
  ],
  ['a length that is no number', write('200 OK', 'Content-Length: -1\r\n\r\n', priced), 502, /no-http/],
  ['two lengths', write('200 OK', 'Content-Length: 1\r\nContent-Length: 2\r\n\r\n', priced), 502, /no-http/],
  ['a length of many megabytes', write('200 OK', 'Content-Length: 99999999\r\n\r\n', priced), 502, /too-long/],
  ['chunks without an end', write('200 OK', 'Transfer-Encoding: chunked\r\n\r\n', '1\r\n<\r\n'), 504, /late/],
  ['a head without an end', write('200 OK'), 504, /late/],
  ['what is not HTTP', ({ socket }) => void socket?.write('SSH-2.0-dropbear\r\n\r\n'), 502, /no-http/],
  [
    'content of one octet at a time',
    response => {
      response.writeHead(200, { 'content-type': 'text/xml' })
      const timer = setInterval(() => response.write('<'), 20)
      response.on('close', () => clearInterval(timer))
    },
    504,
    /late/,
  ],
]
function sized(content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`Content-Length: ${content.length}\r\n\r\n`), content])
}
for (const [title, serve, status, note] of framings)
  test(`${title} is ${status}, and the next call has a connection of its own`, async () => {
    let calls = 0
    const { to } = await startMisbehaving(response =>
      calls++ === 0 ? serve(response) : void response.writeHead(200, { 'content-type': 'text/xml' }).end(priced),
    )
    const { send, notes } = await startBridge(to, '1.1', 1000)
    const answer = await send('SetPrice', { item: 'tea' })
    assert.equal(answer.status, status, answer.text)
    assert.match(String(answer.fields['content-type']), /problem\+json/)
    assert.match(notes.join(), note)
    assert.equal((await send('SetPrice', { item: 'tea' })).status, 200)
    assert.equal(calls, 2)
  })

for (const name of ['Clear', 'Note'])
  test(`${name}, which has no output, is done by a response without one, and by no other`, async () => {
    const cases: readonly (readonly [answer: (response: http.ServerResponse) => void, status: number])[] = [
      [reply(202, 'text/xml', ''), 204],
      [reply(200, 'text/xml', envelope('')), 204],
      [reply(200, 'text/xml', faultOf('Server', 'not done')), 502],
      [reply(200, 'text/xml', faultOf('Client', 'Item not found')), 404],
      [reply(200, 'text/html', '<html>please log in</html>'), 502],
      [reply(500, 'text/xml', ''), 502],
    ]
    for (const [serve, status] of cases) {
      const { to } = await startMisbehaving(serve)
      const { send } = await startBridge(to)
      assert.equal((await send(name, { item: 'tea' })).status, status)
    }
  })
test('a slow backend is 504, which says that the call may have been carried out', async () => {
  const { to } = await startMisbehaving(() => {})
  const { send } = await startBridge(to, '1.1', 200)
  const answer = await send('SetPrice', { item: 'tea' })
  assert.equal(answer.status, 504)
  assert.match(answer.text, /may have been carried out/)
})
test('a backend that is down is 503: nothing was carried out', async () => {
  const { send } = await startBridge('http://127.0.0.1:1/')
  const answer = await send('SetPrice', { item: 'tea' })
  assert.equal(answer.status, 503, answer.text)
  assert.match(answer.text, /nothing was carried out/)
})
for (const [status, retryAfter, operation, expected] of [
  [429, '7', 'SetPrice', [503, '7']],
  [429, '0', 'SetPrice', [503, '0']],
  [429, undefined, 'SetPrice', [503, undefined]],
  [503, '7', 'SetPrice', [503, undefined]], // nothing says that it was not done: not to be sent again
] as const)
  test(`RFC 9110 §10.2.3 ${status} of a backend that wants no calls for ${retryAfter} s`, async () => {
    const { to } = await startMisbehaving(response => {
      response.writeHead(status, { 'content-type': 'text/html', ...(retryAfter && { 'retry-after': retryAfter }) })
      response.end('<h1>busy</h1>')
    })
    const { send, notes } = await startBridge(to)
    const answer = await send(operation, { item: 'tea' })
    assert.deepEqual([answer.status, answer.fields['retry-after']], expected, answer.text)
    if (!answer.fields['retry-after'])
      assert.match(answer.text, status === 429 ? /nothing was carried out/ : /it may have been carried out/)
    assert.match(notes.join(), /no answer \(busy\)/)
  })

test('a backend that does not respond five times is left alone for five seconds, then tried by one call', async () => {
  let now = 0
  let held: http.ServerResponse[] | undefined
  let isUp = false
  const done = reply(200, 'text/xml', envelope(''))
  const { to, count } = await startMisbehaving(response => {
    if (held) held.push(response)
    else if (isUp) done(response)
    else response.destroy()
  })
  const { send, notes } = await startBridge(to, '1.1', 20_000, () => now)
  const statusOf = async () => (await send('Clear', { item: 'tea' })).status
  for (let i = 0; i < 5; i++) assert.equal(await statusOf(), 502)
  assert.match(notes.join(), /has not responded 5 times: it is not called for 5 s/)
  const refused = await send('Clear', { item: 'tea' })
  assert.deepEqual([refused.status, refused.fields['retry-after'], count()], [503, '5', 5])
  now += 5000
  assert.equal(await statusOf(), 502)
  assert.deepEqual([await statusOf(), count()], [503, 6])
  now += 5000
  held = []
  const trial = statusOf()
  while (held.length === 0) await new Promise(resolve => setTimeout(resolve, 2))
  assert.equal(await statusOf(), 503, 'one call tries, the others do not')
  isUp = true
  const [waiting] = held
  held = undefined
  if (waiting) done(waiting)
  assert.equal(await trial, 204)
  assert.deepEqual([await statusOf(), count()], [204, 8])
  assert.match(notes.join(), /responds again/)
})
test('a fault is a response: a backend that refuses is called again', async () => {
  const { to, count } = await startMisbehaving(reply(500, 'text/xml', faultOf('Server', 'no')))
  const { send } = await startBridge(to)
  for (let i = 0; i < 7; i++) assert.equal((await send('Clear', { item: 'tea' })).status, 502)
  assert.equal(count(), 7)
})
test('at most 32 calls of the backend are under way; a caller with more than 64 waiting is refused', async () => {
  const held: http.ServerResponse[] = []
  const statuses: number[] = []
  const { to, count } = await startMisbehaving(response => void held.push(response))
  const { send } = await startBridge(to)
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise(resolve => setTimeout(resolve, 2))
  }
  const answers = Array.from({ length: 100 }, async () => {
    statuses.push((await send('Clear', { item: 'tea' })).status)
  })
  await until(() => statuses.length === 4 && held.length === 32)
  assert.deepEqual([statuses, count()], [[503, 503, 503, 503], 32])
  const done = reply(200, 'text/xml', envelope(''))
  for (let ended = 0; ended < 96; ended++) {
    await until(() => held.length > 0)
    for (const each of held.splice(0, 1)) done(each)
  }
  await Promise.all(answers)
  assert.deepEqual(statuses.slice(4), Array(96).fill(204))
})
test('its limits are those of its options: calls, those of a caller, a response, failures in a row', async () => {
  const held: http.ServerResponse[] = []
  let answer: ((response: http.ServerResponse) => void) | undefined
  const { to, count } = await startMisbehaving(response => (answer ? answer(response) : void held.push(response)))
  const limits = { calls: 4, callsOfCaller: 3, waiting: 2, waitingOfCaller: 1, longest: 2000, failures: 2, pause: 9000 }
  let now = Date.parse('2026-11-22T08:00:00Z')
  const { send, ask } = await startBridge(to, '1.1', 20_000, () => now, limits)
  const figures = async () => {
    const { text } = await ask('GET', '/metrics')
    return [...text.matchAll(/^diglot_behind_(.+)$/gm)].map(([, line]) => line)
  }
  const statuses: number[] = []
  const calls = Array.from({ length: 5 }, async () => {
    statuses.push((await send('Clear', { item: 'tea' })).status)
  })
  while (statuses.length < 1 || held.length < 3) await new Promise(resolve => setTimeout(resolve, 2))
  assert.deepEqual([statuses, count()], [[503], 3])
  assert.deepEqual(await figures(), ['calls{state="running"} 3', 'calls{state="waiting"} 1', 'left_alone 0'])
  answer = reply(200, 'text/xml', envelope(' '.repeat(2000)))
  for (const each of held) answer(each)
  await Promise.all(calls)
  assert.deepEqual(statuses, [503, 502, 502, 502, 502])
  answer = response => void response.destroy()
  for (const expected of [502, 502, 503]) assert.equal((await send('Clear', { item: 'tea' })).status, expected)
  assert.deepEqual(await figures(), [
    'calls{state="running"} 0',
    'calls{state="waiting"} 0',
    'answers_total{outcome="too-long"} 4',
    'answers_total{outcome="lost"} 2',
    'left_alone 1',
  ])
  now += 8999
  assert.equal((await send('Clear', { item: 'tea' })).status, 503)
  now += 1
  assert.equal((await send('Clear', { item: 'tea' })).status, 502)
})
test('content that breaks its type is 422, and nothing is sent', async () => {
  const { to, count } = await startMisbehaving(reply(200, 'text/xml', ''))
  const { send } = await startBridge(to)
  assert.equal((await send('SetPrice', { item: 1 })).status, 422)
  assert.equal(count(), 0)
})
test('an operation that reads by its name is called twice if the connection was lost', async () => {
  const { to, count } = await startMisbehaving(response => void response.destroy())
  const { send } = await startBridge(to)
  assert.equal((await send('GetPrice', { item: 'tea' })).status, 502)
  assert.equal(count(), 2)
})
test('an operation reads by its name if a word of its own says so', () => {
  assert.deepEqual(
    ['GetPrice', 'listAll', 'get_x', 'Find', 'Getaway', 'Readmit', 'Update'].map(name => verbOf(name) === 'read'),
    [true, true, true, true, false, false, false],
  )
})
