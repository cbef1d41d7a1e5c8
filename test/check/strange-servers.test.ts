/** What other services do and ours never does: each rule is tried, and none fails falsely. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createServer as createOctetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { performCheck } from '../../src/check/command.ts'
import {
  type CheckOptions,
  type CheckReport,
  checkRules,
  openSocketTransport,
  runCheck,
} from '../../src/check/index.ts'

interface Asked {
  readonly method: string
  readonly path: string
  readonly type: string
  readonly text: string
  /** If-Match. */
  readonly match: string | undefined
}
interface Answer {
  readonly status: number
  readonly json?: unknown
  readonly xml?: string
  readonly fields?: Readonly<Record<string, string>>
}

/** A service on a free port, as one function. */
async function startPeer(answer: (asked: Asked) => Answer): Promise<string> {
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', part => {
      text += part
    })
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const {
        status,
        json,
        xml,
        fields = {},
      } = answer({ method, path, type: headers['content-type'] ?? '', text, match: headers['if-match'] })
      const type = json !== undefined ? 'application/json' : xml !== undefined ? 'text/xml; charset=utf-8' : undefined
      response.writeHead(status, { ...(type !== undefined && { 'content-type': type }), ...fields })
      response.end(json === undefined ? xml : JSON.stringify(json))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close().closeAllConnections())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

async function check(origin: string, ids: readonly string[], options: CheckOptions = {}): Promise<CheckReport> {
  const transport = await openSocketTransport(origin)
  const rules = checkRules.filter(({ id }) => ids.includes(id))
  try {
    return await runCheck(transport, { allowChanges: true, rate: 100_000, rules, ...options })
  } finally {
    transport.close()
  }
}

const judged = ({ verdicts }: CheckReport): readonly string[] =>
  verdicts.map(({ rule, status, reason }) => `${rule.id} ${status}${status === 'pass' ? '' : `: ${reason}`}`)

/**
 * Notes as many frameworks serve them: identifiers are integers, and the methods are known by Allow
 * alone.
 *
 * @param page how a list comes
 */
function serveNotes(page: (notes: readonly object[]) => unknown = notes => notes): (asked: Asked) => Answer {
  const notes = new Map([1, 2].map(id => [id, { id, title: `note ${id}` }]))
  let last = 2
  return ({ method, path, text }) => {
    const [, collection, given] = path.split('/')
    if (collection !== 'notes') return { status: 404, json: { message: `Cannot ${method} ${path}` } }
    const allow = given === undefined ? 'GET, HEAD, POST' : 'GET, HEAD, PUT, DELETE'
    if (method === 'OPTIONS') return { status: 204, fields: { allow } }
    if (given === undefined && method === 'POST') {
      const note = { ...JSON.parse(text), id: ++last }
      notes.set(note.id, note)
      return { status: 201, json: note, fields: { location: `/notes/${note.id}` } }
    }
    if (given === undefined) return { status: 200, json: page([...notes.values()]) }
    if (!/^[0-9]+$/.test(given)) return { status: 422, json: { message: 'id is not an integer' } }
    const id = Number(given)
    if (!notes.has(id)) return { status: 404, json: {} }
    if (method === 'DELETE') return { status: notes.delete(id) ? 204 : 404 }
    if (method === 'PUT') notes.set(id, { ...JSON.parse(text), id })
    return { status: 200, json: notes.get(id) }
  }
}

const description = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/notes': {
      get: { responses: { 200: { description: 'all' } } },
      post: {
        requestBody: {
          content: {
            'application/json': { schema: { type: 'object', properties: { title: { type: 'string' } } } },
          },
        },
        responses: { 201: { description: 'new' } },
      },
    },
    '/notes/{id}': {
      get: { responses: { 200: { description: 'one' } } },
      put: { responses: { 200: { description: 'one' } } },
    },
  },
}

describe('discovery', () => {
  it('reads the address itself as a collection, with the methods in Allow (RFC 9110 §10.2.1)', async () => {
    const origin = await startPeer(serveNotes())
    const report = await check(origin, ['A4.1', 'A4.2', 'A4.4', 'A4.6'], { basePath: '/notes' })
    assert.deepEqual(judged(report), ['A4.1 pass', 'A4.2 pass', 'A4.4 pass', 'A4.6 pass'])
    assert.deepEqual(report.leftBehind, [])
  })

  for (const member of ['items', 'results', 'data', 'value', 'content'])
    it(`finds the items of a page in ${member}`, async () => {
      const origin = await startPeer(serveNotes(notes => ({ count: 2, next: null, [member]: notes })))
      assert.deepEqual(judged(await check(origin, ['A4.2'], { basePath: '/notes' })), ['A4.2 pass'])
    })

  it('does not mistake the list of errors in a refusal for a collection', async () => {
    const origin = await startPeer(() => ({ status: 401, json: [{ id: 1 }] }))
    const openapi = description as CheckOptions['openapi']
    const [verdict = ''] = judged(await check(origin, ['A4.1'], openapi ? { openapi } : {}))
    assert.match(verdict, /^A4\.1 not observable: a collection/)
  })
})

describe('docs/check.md, verdicts: an address where no service is makes no check', () => {
  const flags = { caller: [], token: [], key: [], wsdl: [], rule: [], rate: 1000, time: 60 }
  /** It says the same to all that HTTP allows. */
  async function startGate(head: string): Promise<string> {
    const server = createOctetServer(socket =>
      socket
        .on('error', () => {})
        .on('data', octets => {
          const isOdd = /host:.*host:/is.test(octets.toString('latin1'))
          socket.end(`HTTP/1.1 ${isOdd ? '400 Bad Request' : head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
        }),
    )
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    const address = server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  }
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [
      'not found',
      '404 Not Found',
      /cannot be checked: the address responds with 404, and leads to no service: give the one/,
    ],
    [
      'moved to another origin',
      '302 Found\r\nLocation: http://other.test/',
      /the address responds with 302, and leads to no/,
    ],
  ]
  for (const [title, head, message] of cases)
    it(title, async () => {
      const origin = await startGate(head)
      await assert.rejects(performCheck(origin, flags), message)
      await assert.rejects(performCheck(origin, { ...flags, rule: ['A7.7'] }), message)
      await assert.rejects(performCheck(origin, { ...flags, learn: join(tmpdir(), 'never.json') }), message)
    })
  it('one that asks for credentials is checked', async () => {
    const { text } = await performCheck(await startGate('401 Unauthorized'), flags)
    assert.match(text, / [1-9][0-9]* fail,/)
  })
})

it('created items are removed without If-Match where items have no entity tag', async () => {
  const serve = serveNotes()
  const fields: unknown[] = []
  const origin = await startPeer(each => {
    if (each.method !== 'DELETE') return serve(each)
    fields.push(each.match)
    return each.match === undefined ? serve(each) : { status: 412 }
  })
  const report = await check(origin, ['A4.2'], { basePath: '/notes' })
  assert.deepEqual(report.leftBehind, [])
  assert.ok(fields.length > 0)
})

describe('no rule fails falsely', () => {
  it('A2.5: the missing item is requested by an identifier like the others', async () => {
    const asked: string[] = []
    const serve = serveNotes()
    const origin = await startPeer(each => {
      asked.push(each.path)
      return serve(each)
    })
    await check(origin, ['A2.5'], { basePath: '/notes' })
    assert.ok(asked.includes('/notes/987654321'), asked.join())
    assert.ok(!asked.some(path => path.includes('no-such-item')), asked.join())
  })

  it('A4.4: a copy leaves out members that the schema of the content lacks, such as the identifier', async () => {
    const sent: string[] = []
    const serve = serveNotes()
    const origin = await startPeer(each => {
      if (each.method === 'POST' || each.method === 'PUT') sent.push(each.text)
      return serve(each)
    })
    const report = await check(origin, ['A4.4'], { openapi: description as never }) // it is JSON
    assert.deepEqual(judged(report), ['A4.4 pass'])
    assert.deepEqual([...new Set(sent)], ['{"title":"note 1"}', '{"title":"note 2"}', '{"title":"note 1 é漢😀"}'])
  })

  it('A4.8: the content of an error may name the method', async () => {
    const origin = await startPeer(serveNotes())
    assert.deepEqual(judged(await check(origin, ['A4.8'], { openapi: description as never })), ['A4.8 pass'])
  })

  it('A7.15: an unknown method is sent to an address that exists', async () => {
    const serve = serveNotes()
    const origin = await startPeer(each => (each.method === 'BREW' ? { status: 501 } : serve(each)))
    const asked = await check(origin, ['A7.15'], { openapi: description as never })
    // Node's parser refuses the method before the peer sees it.
    assert.deepEqual(judged(asked), ['A7.15 pass'])
  })
})

const wsdl = (address: string, schema: string): string => `<definitions targetNamespace="urn:n" xmlns:n="urn:n"
  xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
  xmlns:x="http://www.w3.org/2001/XMLSchema">
  <types>${schema}</types>
  <message name="In"><part name="p" element="n:GetNote"/></message>
  <message name="Out"><part name="p" element="n:GetNoteResponse"/></message>
  <portType name="T"><operation name="GetNote"><input message="n:In"/><output message="n:Out"/></operation></portType>
  <binding name="B" type="n:T">
    <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="GetNote">
      <soap:operation soapAction=""/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output>
    </operation>
  </binding>
  <service name="S"><port name="P" binding="n:B"><soap:address location="${address}/notes"/></port></service>
</definitions>`

const member = (attributes: string): string =>
  `<x:complexType><x:sequence><x:element name="id" type="x:string"${attributes}/></x:sequence></x:complexType>`
const schemaWith = (form: string, own = ''): string =>
  `<x:schema targetNamespace="urn:n"${form}><x:element name="GetNote">${member(own)}</x:element><x:element name="GetNoteResponse">${member(own)}</x:element></x:schema>`

const envelope = (body: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`
const fault = (code: string, detail = ''): Answer => ({
  status: 500,
  xml: envelope(`<s:Fault><faultcode>s:${code}</faultcode><faultstring>no</faultstring>${detail}</s:Fault>`),
})

/** A SOAP service that knows the note 1 alone, and no block. */
async function startSoapPeer(schema: string, accepts: RegExp): Promise<string> {
  let origin = ''
  origin = await startPeer(({ method, text }) => {
    if (method === 'GET') return { status: 200, xml: wsdl(origin, schema) }
    if (text.includes('mustUnderstand')) return fault('MustUnderstand')
    if (!accepts.test(text)) return fault('Client')
    if (!text.includes('>1<')) return fault('Client', '<detail><n:Absent xmlns:n="urn:n"/></detail>')
    return { status: 200, xml: envelope('<n:GetNoteResponse xmlns:n="urn:n"/>') }
  })
  return origin
}
const known: CheckOptions = { profile: { wsdl: ['/notes?wsdl'], messages: { GetNote: { id: '1' } } } }
const qualified = schemaWith(' elementFormDefault="qualified"')
const isQualified = /<p:id/
const isPlain = /<id>/

describe('of SOAP, no rule fails falsely', () => {
  it('B2.11: a service that refuses mandatory WS-Addressing blocks with MustUnderstand complies with SOAP', async () => {
    const origin = await startSoapPeer(qualified, isQualified)
    assert.deepEqual(judged(await check(origin, ['B2.11'], known)), [
      'B2.11 not applicable: the endpoint does not understand blocks of WS-Addressing, and says so',
    ])
  })

  it('a port at another address is reported and not called', async () => {
    const origin = await startPeer(() => ({ status: 200, xml: wsdl('https://elsewhere.example', qualified) }))
    const { remarks } = await check(origin, ['B2.1'], known)
    assert.deepEqual(remarks, [
      `the port P of /notes?wsdl is at https://elsewhere.example/notes, not at ${origin}: it was not checked; check that address, or let the WSDL name this one`,
    ])
  })

  it('B7.4: a failure is provoked by the schema, even if the profile has content that succeeds', async () => {
    const origin = await startSoapPeer(qualified, isQualified)
    assert.deepEqual(judged(await check(origin, ['B7.4'], known)), ['B7.4 pass'])
  })

  for (const [title, schema, accepts] of [
    ['elementFormDefault', qualified, isQualified],
    ['form of the element', schemaWith('', ' form="qualified"'), isQualified],
    ['form of the element against the schema', schemaWith(' elementFormDefault="qualified"', ' form="unqualified"'), isPlain], // biome-ignore format: one row
    ['neither', schemaWith(''), isPlain],
  ] as const)
    it(`B7.4: a sample is qualified as the schema says: ${title}`, async () => {
      const origin = await startSoapPeer(schema, accepts)
      const [, failure = ''] = await listFaults(origin)
      assert.match(failure, /Absent/)
    })
})

/** The answers to an existing and to a missing note. */
async function listFaults(origin: string): Promise<readonly string[]> {
  const report = await check(origin, ['B2.1', 'B7.4'], { profile: { wsdl: ['/notes?wsdl'], messages: { GetNote: { id: '1' } } } }) // biome-ignore format: one call
  return report.verdicts.map(({ findings }) => findings.map(({ evidence }) => evidence[0]?.text).join())
}

describe('connections', () => {
  /** Answers each connection with its own words, by order. */
  async function startOctets(words: (count: number) => string, closes: (count: number) => boolean): Promise<string> {
    let count = 0
    const server = createOctetServer(socket => {
      socket.on('error', () => {})
      socket.on('data', () => {
        count += 1
        const said = words(count)
        if (closes(count)) socket.end(said)
        else socket.write(said)
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    const address = server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  }
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na'

  it('RFC 9112 §9.3: HTTP/1.0 closes unless it says keep-alive, so the next request uses a new connection', async () => {
    const old = 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na'
    const transport = await openSocketTransport(await startOctets(() => old, () => true)) // biome-ignore format: one call
    const post = () => transport.send({ method: 'POST', target: '/', fields: {} }, 2000)
    for (let count = 0; count < 3; count++) assert.equal((await post()).status, 200)
    transport.close()
  })

  it('RFC 9112 §9.3.1: an idempotent request is sent again if a kept connection closes silently, others are not', async () => {
    const origin = await startOctets(count => (count % 2 === 0 ? '' : ok), count => count % 2 === 0) // biome-ignore format: one call
    const transport = await openSocketTransport(origin)
    const send = (method: string) => transport.send({ method, target: '/', fields: {} }, 2000)
    assert.equal((await send('GET')).status, 200)
    assert.equal((await send('GET')).status, 200, 'its second connection is answered')
    await assert.rejects(send('POST'), /closed without a response|ECONNRESET/)
    transport.close()
  })

  it('RFC 9110 §9.3.2: content that arrives after the head of a response to HEAD is noticed', async () => {
    const server = createOctetServer(socket => {
      socket.on('error', () => {})
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n')
        setTimeout(() => socket.write('abc'), 10)
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    const address = server.address()
    const transport = await openSocketTransport(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
    const { content, isWhole } = await transport.send({ method: 'HEAD', target: '/', fields: {} }, 2000)
    assert.deepEqual([new TextDecoder().decode(content), isWhole], ['abc', false])
    transport.close()
  })

  it('RFC 9110 §10.1.1: a service has a second to refuse announced content', async () => {
    const origin = await startOctets(() => 'HTTP/1.1 100 Continue\r\n\r\n', () => false) // biome-ignore format: one call
    const transport = await openSocketTransport(origin)
    const startMs = performance.now()
    const announced = { method: 'POST', target: '/', fields: {}, announcedOctets: 2 ** 40 }
    await assert.rejects(transport.send(announced, 20_000), /asks for it with 100/)
    assert.ok(performance.now() - startMs < 5000)
    transport.close()
  })
})
