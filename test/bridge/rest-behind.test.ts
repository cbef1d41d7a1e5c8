/** A REST service of others by SOAP (docs/bridge.md): what it is asked, and what becomes of its answers. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { createBridge, describeBridge } from '../../src/bridge/bridged-service.ts'
import { createKeptTransport } from '../../src/bridge/kept-transport.ts'
import { createBridgedRestCaller } from '../../src/bridge/rest-caller.ts'
import { mapApi } from '../../src/cli/mapped-api.ts'
import { anyone } from '../../src/contract/policy.ts'
import type { Service } from '../../src/contract/service.ts'
import { decodings } from '../../src/host/zlib-codings.ts'
import { importContract } from '../../src/import/import-command.ts'
import { readRestPort } from '../../src/import/openapi/rest-port.ts'
import { startHosted } from '../host/hosted-service.ts'

const json = (schema: object) => ({ description: 'It.', content: { 'application/json': { schema } } })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const text = { type: 'string' }
const problem = { type: 'object', required: ['title'], properties: { title: text, sku: text } }
const parameter = (place: string, name: string, schema: object = text, more: object = {}) => ({
  in: place,
  name,
  schema,
  ...more,
})
const description = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.example/api/v1' }],
  paths: {
    '/items/{id}': {
      get: {
        operationId: 'getItem',
        parameters: [
          parameter('path', 'id', text, { required: true }),
          parameter('query', 'fields', { type: 'array', items: text }, { explode: false }),
          parameter('query', 'tag', { type: 'array', items: text }),
          parameter('header', 'X-Trace'),
          ...['Accept', 'content-type', 'Authorization', 'Host', 'Content-Length'].map(name =>
            parameter('header', name),
          ),
        ],
        responses: { 200: json(ref('Item')), 404: json(ref('Problem')), default: json(ref('Problem')) },
      },
      put: {
        operationId: 'putItem',
        parameters: [parameter('path', 'id', text, { required: true })],
        requestBody: json(ref('Item')),
        responses: {
          204: { description: 'Kept.' },
          409: json({ type: 'object', properties: { held: { type: 'integer' } } }),
        },
      },
    },
    '/items': {
      get: { operationId: 'listItems', responses: { 200: json({ type: 'array', items: ref('Item') }) } },
    },
    '/items/{id}/image': {
      get: {
        operationId: 'getImage',
        parameters: [parameter('path', 'id', text, { required: true })],
        responses: { 200: { description: 'It.', content: { 'image/png': {} } } },
      },
      put: {
        operationId: 'putImage',
        parameters: [parameter('path', 'id', text, { required: true })],
        requestBody: { content: { 'image/png': {} } },
        responses: { 204: { description: 'Kept.' } },
      },
    },
    '/stock/{id}': {
      get: {
        operationId: 'getStock',
        parameters: [parameter('path', 'id', text, { required: true })],
        responses: {
          200: {
            ...json({ type: 'object', properties: { ETag: text } }),
            headers: {
              ETag: { schema: text },
              'X-Rest': { $ref: '#/components/headers/Rest' },
              'X-Places': { schema: { type: 'array', items: text } },
              'X-Exact': { schema: { type: 'boolean' } },
              ...Object.fromEntries(['Content-Type', 'Set-Cookie', 'Vary'].map(name => [name, { schema: text }])),
            },
          },
          404: { ...json(ref('Problem')), headers: { 'X-Searched': { schema: text } } },
        },
      },
      put: {
        operationId: 'putStock',
        parameters: [
          parameter('path', 'id', text, { required: true }),
          parameter('header', 'If-Match', text, { required: true }),
        ],
        requestBody: { content: { 'text/plain': {} } },
        responses: {
          204: { description: 'Kept.', headers: { ETag: { schema: text } } },
          412: json(ref('Problem')),
        },
      },
    },
    '/login': {
      post: {
        operationId: 'login',
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: { type: 'object', properties: { name: text, 'a b': text } },
            },
          },
        },
        responses: { 200: { description: 'It.', content: { 'text/plain': {} } } },
      },
    },
  },
  components: {
    headers: { Rest: { schema: { type: 'integer', minimum: 0 } } },
    schemas: {
      Problem: problem,
      Item: {
        type: 'object',
        required: ['id', 'in stock'],
        properties: {
          id: text,
          'in stock': { type: 'integer' },
          price: { type: ['number', 'null'] },
          parts: { type: 'array', items: ref('Item') },
          grid: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
          anything: {},
          shape: { oneOf: [ref('Round'), ref('Square')] },
        },
      },
      Round: { type: 'object', required: ['radius'], properties: { radius: { type: 'number' } } },
      Square: { type: 'object', required: ['side'], properties: { side: { type: 'number' } } },
    },
  },
}

interface Heard {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly type: string | undefined
  readonly trace: string | string[] | undefined
  readonly version: string | undefined
  readonly content: Buffer
}
type Answer = readonly [status: number, type: string, content: string | Buffer, fields?: http.OutgoingHttpHeaders]

/** The backend, which responds as configured, and a bridge to it. */
async function startBridge(
  given: { answer: Answer | ((response: http.ServerResponse) => void) },
  timeLimit = 20_000,
  mapped: Service | undefined = undefined,
) {
  const heard: Heard[] = []
  const behind = http.createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { method, url, headers } = request
      heard.push({
        method,
        url,
        type: headers['content-type'],
        trace: headers['x-trace'],
        version: headers['if-match'],
        content: Buffer.concat(pieces),
      })
      if (typeof given.answer === 'function') return given.answer(response)
      const [status, type, content, fields] = given.answer
      response.writeHead(status, { 'content-type': type, location: 'http://127.0.0.1:1/', ...fields }).end(content)
    })
  })
  await new Promise<void>(resolve => void behind.listen(0, '127.0.0.1', resolve))
  after(() => {
    behind.closeAllConnections()
    behind.close()
  })
  const to = `http://127.0.0.1:${(behind.address() as AddressInfo).port}/api/v1/`
  const described = readRestPort(JSON.stringify(description), 'shop.json', [anyone], {
    find: () => undefined,
    parse: source => ({ value: JSON.parse(source) }),
  })
  const rest = mapped ? mapApi(described, mapped, { map: 'map.ts', document: 'shop.json' }) : described
  const notes: string[] = []
  const transport = createKeptTransport(to, { connections: 64, decoders: decodings })
  after(() => transport.close())
  const caller = createBridgedRestCaller(rest, to, { timeLimit }, transport.ask)
  const contract = describeBridge(rest.name, rest.namespace, [rest.port])
  const app = createBridge(contract, { callerOf: () => caller, note: line => void notes.push(line) })
  const { ask } = await startHosted({}, app)
  const call = async (name: string, inside: string, envelope = 'http://schemas.xmlsoap.org/soap/envelope/') => {
    const content = `<e:Envelope xmlns:e="${envelope}"><e:Body><${name} xmlns="urn:shop">${inside}</${name}></e:Body></e:Envelope>`
    const type = envelope.includes('2003') ? 'application/soap+xml' : 'text/xml'
    const answer = await ask('POST', '/soap/Operations', { 'content-type': type, soapaction: '""' }, content)
    return { status: answer.status, body: plain(answer.text) }
  }
  return { call, ask, heard, notes, losses: rest.losses }
}

/** The child of a Body, without prefixes and declarations. */
const plain = (envelope: string): string =>
  (/Body>(.*)<\/[\w:]*Body>/s.exec(envelope)?.[1] ?? envelope)
    .replace(/ xmlns(:\w+)?="[^"]*"/g, '')
    .replace(/(<\/?)(?!soap)\w+:/g, '$1')

const item = {
  id: 'a/1',
  'in stock': 3,
  price: null,
  parts: [{ id: 'p', 'in stock': 0 }],
  grid: [[1, 2], [3]],
  anything: { deep: [true] },
  shape: { side: 2 },
  grown: 'unknown to the description',
}
const itemXml =
  '<id>a/1</id><in_stock>3</in_stock><price xsi:nil="true"/><parts><id>p</id><in_stock>0</in_stock></parts>' +
  '<grid><item>1</item><item>2</item></grid><grid><item>3</item></grid>' +
  '<anything>{"deep":[true]}</anything><shape><square><side>2</side></square></shape>'

test('the members of a message are the path, query and fields of a request; its JSON is a message', async () => {
  for (const envelope of ['http://schemas.xmlsoap.org/soap/envelope/', 'http://www.w3.org/2003/05/soap-envelope']) {
    const { call, heard } = await startBridge({ answer: [200, 'application/json', JSON.stringify(item)] })
    const inside = '<id>a/1 ü</id><fields>x</fields><fields>y</fields><tag>1&amp;</tag><tag>2</tag><X-Trace>t</X-Trace>'
    const { status, body } = await call('GetItem', inside, envelope)
    assert.equal(status, 200, body)
    assert.deepEqual(
      heard.map(({ method, url, trace }) => [method, url, trace]),
      [['GET', '/api/v1/items/a%2F1%20%C3%BC?fields=x,y&tag=1%26&tag=2', 't']],
    )
    assert.equal(body, `<GetItemResponse>${itemXml}</GetItemResponse>`)
  }
})

test('a message is written as the JSON that the description asks for', async () => {
  const { call, heard } = await startBridge({ answer: [204, '', ''] })
  const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
  const inside = `<id>a</id><id2>a/1</id2>${itemXml.slice('<id>a/1</id>'.length)}`.replace('xsi:nil', `${xsi} xsi:nil`)
  const { status, body } = await call('PutItem', inside)
  assert.equal(status, 200, body)
  const { grown: _, ...sent } = item
  assert.deepEqual(JSON.parse(String(heard[0]?.content)), sent)
  assert.deepEqual([heard[0]?.method, heard[0]?.url, heard[0]?.type], ['PUT', '/api/v1/items/a', 'application/json'])
})

test('an error that is declared by default has the status of the response in both faces', async () => {
  const given: { answer: Answer } = { answer: [500, 'application/json', '{"title":"Broken"}'] }
  const { call, ask } = await startBridge(given)
  const failure = '<detail><Failure><title>Broken</title></Failure></detail>'
  const inRest = async () => {
    const { status } = await ask(
      'POST',
      '/api/v1/Operations/GetItem',
      { 'content-type': 'application/json' },
      '{"id":"a"}',
    )
    return status
  }
  const { body } = await call('GetItem', '<id>a</id>')
  assert.match(body, /<faultcode>soap:Server<\/faultcode>/)
  assert.ok(body.includes(failure), body)
  assert.match((await call('GetItem', '<id>a</id>', 'http://www.w3.org/2003/05/soap-envelope')).body, /soap:Receiver/)
  assert.equal(await inRest(), 500)
  given.answer = [423, 'application/json', '{"title":"Broken"}']
  assert.match((await call('GetItem', '<id>a</id>')).body, /<faultcode>soap:Client<\/faultcode>.*<Failure>/)
  assert.equal(await inRest(), 423)
})

test('octets, texts, forms and bare arrays', async () => {
  const given: { answer: Answer } = { answer: [200, 'image/png', Buffer.from([0, 255, 1])] }
  const { call, heard } = await startBridge(given)
  assert.match((await call('GetImage', '<id>a</id>')).body, /<content>AP8B<\/content>/)
  given.answer = [204, '', '']
  assert.equal((await call('PutImage', '<id>a</id><content>AP8B</content>')).status, 200)
  assert.deepEqual([heard[1]?.type, heard[1]?.content], ['image/png', Buffer.from([0, 255, 1])])
  given.answer = [200, 'text/plain', 'welcome']
  assert.match((await call('Login', '<name>a&amp;b</name><a_b>c</a_b>')).body, /<content>welcome<\/content>/)
  assert.deepEqual(
    [heard[2]?.type, String(heard[2]?.content)],
    ['application/x-www-form-urlencoded', 'name=a%26b&a%20b=c'],
  )
  given.answer = [200, 'application/json', '[{"id":"a","in stock":1},{"id":"b","in stock":2}]']
  assert.match((await call('ListItems', '')).body, /<item><id>a<\/id><in_stock>1<\/in_stock><\/item><item><id>b/)
})

test('fields of a response that the document declares are members of the reply; a tag is the version of a change', async () => {
  const fields = { etag: '"7"', 'x-rest': '12', 'x-places': 'a, b', 'x-exact': 'true', 'set-cookie': 'secret=1' }
  const given: { answer: Answer } = { answer: [200, 'application/json', '{"ETag":"own"}', fields] }
  const { call, heard, losses } = await startBridge(given)
  const members = '<X-Rest>12</X-Rest><X-Places>a</X-Places><X-Places>b</X-Places><X-Exact>true</X-Exact>'
  assert.equal(
    (await call('GetStock', '<id>a</id>')).body,
    `<GetStockResponse><ETag>own</ETag><ETag2>"7"</ETag2>${members}</GetStockResponse>`,
  )
  given.answer = [204, '', '', { etag: '"8"' }]
  const changed = await call('PutStock', '<id>a</id><If-Match>"7"</If-Match><content>x</content>')
  assert.equal(changed.body, '<PutStockResponse><ETag>"8"</ETag></PutStockResponse>')
  assert.deepEqual(
    heard.map(each => each.version),
    [undefined, '"7"'],
  )
  given.answer = [412, 'application/problem+json', problemJson('Changed meanwhile')]
  assert.match((await call('PutStock', '<id>a</id><If-Match>"7"</If-Match>')).body, /Client<.*<PreconditionFailed>/s)
  given.answer = [200, 'application/json', '{}', { 'x-rest': 'many' }]
  assert.match((await call('GetStock', '<id>a</id>')).body, /Server</, 'a field that breaks its type')
  given.answer = [200, 'application/json', '{}']
  assert.equal((await call('GetStock', '<id>a</id>')).body, '<GetStockResponse/>')
  assert.deepEqual(
    losses.filter(({ place }) => place.endsWith('/stock/{id}')).map(({ detail }) => detail),
    ['the response fields Set-Cookie, X-Searched are left out'],
  )
})

test('the types that an import has written carry the same values', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-rest-map-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const [document, map] = [join(folder, 'shop.json'), join(folder, 'map.ts')]
  writeFileSync(document, JSON.stringify(description))
  const print = { text: () => {}, note: () => {} }
  await importContract(document, { output: map, operations: true, from: [], fetch: [] }, print)
  const index = pathToFileURL(join(import.meta.dirname, '..', '..', 'src', 'index.ts'))
  const text = readFileSync(map, 'utf8')
    .replace("from 'diglot'", `from '${index}'`)
    .replace('exchange, port', 'anyone, exchange, port')
  writeFileSync(map, text.replace('Grant[] = []', 'Grant[] = [anyone]'))
  const { contract }: { readonly contract: Service } = await import(pathToFileURL(map).href)
  const given: { answer: Answer } = { answer: [200, 'application/json', JSON.stringify(item)] }
  const { call, heard } = await startBridge(given, undefined, contract)
  assert.equal((await call('GetItem', '<id>a</id>')).body, `<GetItemResponse>${itemXml}</GetItemResponse>`)
  given.answer = [204, '', '']
  const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
  await call(
    'PutItem',
    `<id>a</id><id2>a/1</id2>${itemXml.slice('<id>a/1</id>'.length)}`.replace('xsi:nil', `${xsi} xsi:nil`),
  )
  const { grown: _, ...sent } = item
  assert.deepEqual(JSON.parse(String(heard[1]?.content)), sent)
})

const problemJson = (title: string, more: object = {}) => JSON.stringify({ title, ...more })
const failures: readonly (readonly [
  title: string,
  answer: Answer | ((response: http.ServerResponse) => void),
  body: RegExp,
  note: RegExp,
])[] = [
  [
    'a declared error',
    [404, 'application/problem+json', problemJson('No such item', { sku: 'a' })],
    /Client<.*No such item.*<NotFound><title>No such item<\/title><sku>a<\/sku><\/NotFound>/s,
    /^$/,
  ],
  [
    'an error that only default declares',
    [418, 'application/json', problemJson('Tea')],
    /Client<.*Tea.*<Failure/s,
    /^$/,
  ],
  ['a declared error without its members', [404, 'text/html', '<p>'], /Client<.*Not Found/s, /Not Found/],
  ['credentials that are not taken', [401, 'text/plain', 'who?'], /Server</, /does not admit the bridge/],
  [
    'credentials that are not taken, by an error that is declared',
    [401, 'application/problem+json', problemJson('Who are you?')],
    /Server<(?!.*Who are you)/s,
    /does not admit the bridge: Who are you/,
  ],
  ['an overload', [503, 'text/html', ''], /Server<.*it may have been carried out/s, /busy/],
  ['a limit', [429, 'text/html', ''], /Server<.*nothing was carried out/s, /busy/],
  ['an error of its own', [500, 'text/html', 'stack trace'], /Server<(?!.*stack)/s, /./],
  ['a redirection', [302, 'text/html', ''], /Server</, /redirection/],
  ['HTML', [200, 'text/html', '<p>'], /Server</, /text\/html instead of/],
  ['JSON that is cut', [200, 'application/json', '{"id":'], /Server</, /not JSON/],
  ['JSON without what is required', [200, 'application/json', '{"id":"a"}'], /Server</, /in_stock is required/],
  ['JSON that is no object', [200, 'application/json', '7'], /Server</, /no object/],
  ['a connection that is cut', response => void response.destroy(), /Server</, /lost/],
  [
    'a bomb of gzip',
    response =>
      void response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(64 << 20, ' '))),
    /Server</,
    /too-long/,
  ],
  [
    'what is not gzip and says so',
    response =>
      void response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('{}'),
    /Server</,
    /coding gzip.*invalid/,
  ],
  [
    'a coding that was not asked for',
    [200, 'application/json', '{}', { 'content-encoding': 'compress' }],
    /Server</,
    /coding compress.*unknown/,
  ],
  [
    'a length short of the content',
    ({ socket }) =>
      void socket?.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n{}'),
    /Server</,
    /not JSON|lost/,
  ],
  [
    'a length beyond the content',
    ({ socket }) =>
      void socket?.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{}'),
    /Server</,
    /lost/,
  ],
  ['what is not HTTP', ({ socket }) => void socket?.end('SSH-2.0-dropbear\r\n\r\n'), /Server</, /no-http/],
  ['an answer of 17 MiB', [200, 'application/json', `"${'x'.repeat(17 * 1024 * 1024)}"`], /Server</, /too-long/],
]
for (const [title, answer, body, note] of failures)
  test(`${title} is a fault that says what happened`, async () => {
    const { call, notes } = await startBridge({ answer })
    const fault = await call('GetItem', '<id>a</id>')
    assert.equal(fault.status, 500)
    assert.match(fault.body, body)
    assert.match(notes.join(), note)
  })

test('RFC 9110 §12.5.3 no coding is requested, and one that is used all the same is read', async () => {
  const asked: unknown[] = []
  for (const coding of ['gzip', 'x-gzip', 'br']) {
    const octets = coding === 'br' ? brotliCompressSync(JSON.stringify(item)) : gzipSync(JSON.stringify(item))
    const answer = (response: http.ServerResponse) => {
      asked.push(response.req.headers['accept-encoding'])
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding }).end(octets)
    }
    const { call } = await startBridge({ answer })
    assert.equal((await call('GetItem', '<id>a</id>')).body, `<GetItemResponse>${itemXml}</GetItemResponse>`, coding)
  }
  assert.deepEqual(asked, ['identity', 'identity', 'identity'])
})

test('RFC 9112 §9.3 successive calls use one connection', async () => {
  const ports = new Set<number | undefined>()
  const answer = (response: http.ServerResponse) => {
    ports.add(response.req.socket.remotePort)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(item))
  }
  const { call } = await startBridge({ answer })
  for (let i = 0; i < 3; i++) assert.equal((await call('GetItem', '<id>a</id>')).status, 200)
  assert.equal(ports.size, 1)
})

test('RFC 9110 §10.2.3 a limit of the backend with a time to retry is Busy until then', async () => {
  const answer = (response: http.ServerResponse) => void response.writeHead(429, { 'retry-after': '7' }).end()
  const { call, notes } = await startBridge({ answer })
  const fault = await call('GetItem', '<id>a</id>')
  assert.deepEqual(
    [fault.status, /the service is busy: retry later, in 7 s</.test(fault.body)],
    [503, true],
    fault.body,
  )
  assert.match(notes.join(), /busy/)
})

test('a service that does not respond in time may have carried out the call', async () => {
  const { call, notes } = await startBridge({ answer: () => {} }, 200)
  assert.match(
    (await call('PutItem', '<id>a</id><id2>a</id2><in_stock>1</in_stock>')).body,
    /it may have been carried out/,
  )
  assert.match(notes.join(), /late/)
})

for (const [title, inside] of [
  ['an empty segment', '<id></id>'],
  ['the folder', '<id>.</id>'],
  ['the folder above', '<id>..</id>'],
  ['a field with another line', '<id>a</id><X-Trace>a&#13;&#10;b: c</X-Trace>'],
  ['a field beyond ASCII', '<id>a</id><X-Trace>ü</X-Trace>'],
] as const)
  test(`attack: ${title} is refused, and no request is sent`, async () => {
    const { call, heard } = await startBridge({ answer: [200, 'application/json', '{}'] })
    assert.match((await call('GetItem', inside)).body, /Client</)
    assert.deepEqual(heard, [])
  })

test('attack: a value of a path stays in its segment', async () => {
  for (const [value, path] of [
    ['../../admin', '..%2F..%2Fadmin'],
    ['a?b=c#d', 'a%3Fb%3Dc%23d'],
    ['%2e%2e', '%252e%252e'],
    ['\\..\\x', '%5C..%5Cx'],
  ]) {
    const { call, heard } = await startBridge({ answer: [404, 'text/plain', ''] })
    await call('GetItem', `<id>${value}</id>`)
    assert.equal(heard[0]?.url, `/api/v1/items/${path}`)
  }
})

test('its WSDL has an operation for each of the description, with typed faults', async () => {
  const { ask, losses } = await startBridge({ answer: [204, '', ''] })
  const { text: wsdl } = await ask('GET', '/soap/Operations?wsdl')
  assert.doesNotMatch(wsdl, /name="(Accept|content-type|Authorization|Host|Content-Length)"/)
  for (const name of ['GetItem', 'PutItem', 'ListItems', 'GetImage', 'PutImage', 'GetStock', 'Login'])
    assert.match(wsdl, new RegExp(`<(?:wsdl:)?operation name="${name}"`))
  assert.match(wsdl, /<(?:wsdl:)?fault name="NotFound"/)
  assert.deepEqual([...new Set(losses.map(({ detail }) => detail.replace(/:.*/, '')))].sort(), [
    'has one of several schemas',
    'is called a_b',
    'is called id2',
    'is called in_stock',
    'may be any JSON',
    'the response fields Set-Cookie, X-Searched are left out',
  ])
})
