/** Handlers behind both faces: declared faults of every operation, effects after, log and signal. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:http2'
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { createRestClient, createSoapClient, FaultError } from '../../src/client/index.ts'
import { createHandler } from '../../src/host/handler.ts'
import {
  BadPicture,
  type ClinicHandlers,
  Closed,
  clinic as contract,
  createClinic,
  DoctorBusy,
  sentMails,
  Undeclared,
} from '../service/clinic-service.ts'
import { bearer, startHosted } from './hosted-service.ts'

const silent = { info: () => {}, warn: () => {}, error: () => {} }
const json = { 'content-type': 'application/json' }
const png = { 'content-type': 'image/png' }
const draft = (doctor: string) => JSON.stringify({ owner: 'pat', doctor, day: '2026-12-01' })

async function startClinic(more: ClinicHandlers = {}) {
  const hosted = await startHosted({}, createClinic(more))
  const desk = bearer(await hosted.server.token('dora', ['desk']))
  const rest = (method: string, path: string, content?: string, fields = json) =>
    hosted.ask(method, `/api/v1${path}`, { ...desk, ...fields }, content)
  const soap = (body: string) =>
    hosted.ask(
      'POST',
      '/soap/v1',
      { ...desk, 'content-type': 'application/soap+xml' },
      `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body xmlns="urn:clinic:v1">${body}</e:Body></e:Envelope>`,
    )
  const create = async (doctor: string) => {
    const made = await rest('POST', '/visits', draft(doctor))
    assert.equal(made.status, 201, made.text)
    return JSON.parse(made.text)['id'] as string
  }
  return { ...hosted, rest, soap, create }
}

// Not in a hook: anything that a hook starts ends with it.
const clinic = await startClinic()
const id = await clinic.create('busy')
const held = await clinic.create('holds')
assert.equal((await clinic.rest('POST', `/visits/${held}/holding`, '{"minutes":5}')).status, 200)

describe('B7.5 a declared fault ends any operation, in both faces', () => {
  const visit = '<owner>pat</owner><doctor>busy</doctor><day>2026-12-01</day>'
  const rows: [
    what: string,
    fault: string,
    status: number,
    rest: () => Promise<{ status: number; text: string }>,
    soap?: () => string,
  ][] = [
    [
      'create',
      'DoctorBusy',
      409,
      () => clinic.rest('POST', '/visits', draft('busy')),
      () => `<CreateVisit><visit>${visit}</visit></CreateVisit>`,
    ],
    [
      'replace',
      'DoctorBusy',
      409,
      () => clinic.rest('PUT', `/visits/${held}`, draft('busy')),
      () => `<ReplaceVisit><id>${held}</id><visit>${visit}</visit></ReplaceVisit>`,
    ],
    [
      'patch',
      'DoctorBusy',
      409,
      () =>
        clinic.rest('PATCH', `/visits/${held}`, '{"doctor":"busy"}', {
          'content-type': 'application/merge-patch+json',
        }),
    ],
    [
      'search',
      'TooVague',
      400,
      () => clinic.rest('GET', '/search?q=doctor'),
      () => '<SearchVisits><q>doctor</q></SearchVisits>',
    ],
    ['stored search', 'TooVague', 400, () => clinic.rest('POST', '/searches', '{"q":"doctor"}')],
    [
      'file',
      'BadPicture',
      422,
      () => clinic.rest('PUT', `/visits/${id}/picture`, 'abc', png),
      () => `<PutVisitPicture><id>${id}</id><picture>YWJj</picture><mediaType>image/png</mediaType></PutVisitPicture>`,
    ],
    [
      'job',
      'Closed',
      503,
      () => clinic.rest('POST', '/archives', '{"year":1066}'),
      () => '<StartArchive><year>1066</year></StartArchive>',
    ],
  ]
  for (const [what, fault, status, rest, soap] of rows)
    test(`${what}: ${fault}`, async () => {
      const answer = await rest()
      assert.equal(answer.status, status, answer.text)
      assert.match(JSON.parse(answer.text)['type'], new RegExp(`/problems/${fault}$`))
      const message = soap?.()
      if (!message) return
      const told = await clinic.soap(message)
      assert.match(told.text, new RegExp(`<[^>]*Detail>\\s*<(?:\\w+:)?${fault}\\b`), told.text)
      assert.match(told.text, status < 500 ? /Sender/ : /Receiver/)
    })
  test('remove and bulk: HasHistory', async () => {
    // An invoice keeps whatever it refers to: this order was held, without invoice.
    const other = await startClinic({ visits: { hold: () => {} } })
    const old = await other.create('old')
    await other.rest('POST', `/visits/${old}/holding`, '{"minutes":5}')
    for (const answer of [
      await other.rest('DELETE', `/visits/${old}`),
      await other.rest('DELETE', '/visits?state=held'),
    ]) {
      assert.equal(answer.status, 409, answer.text)
      assert.match(JSON.parse(answer.text)['type'], /\/problems\/HasHistory$/)
    }
    assert.match((await other.soap(`<DeleteVisit><id>${old}</id></DeleteVisit>`)).text, /HasHistory/)
  })
  test('WSDL 1.1 and 2.0 and OpenAPI list each fault where it may occur', async () => {
    const { text } = await clinic.ask('GET', '/soap/v1?wsdl')
    const faultsOf = (operation: string) =>
      [
        ...(new RegExp(`<wsdl:operation name="${operation}">.*?</wsdl:operation>`, 's').exec(text)?.[0] ?? '').matchAll(
          /<wsdl:fault name="(\w+)"/g,
        ),
      ].map(found => found[1])
    for (const [operation, fault] of Object.entries({
      CreateVisit: 'DoctorBusy',
      ReplaceVisit: 'DoctorBusy',
      DeleteVisit: 'HasHistory',
      SearchVisits: 'TooVague',
      PutVisitPicture: 'BadPicture',
      StartArchive: 'Closed',
    }))
      assert.ok(faultsOf(operation).includes(fault), `${operation}: ${faultsOf(operation)}`)
    assert.ok(!faultsOf('GetVisit').includes('DoctorBusy'))
    assert.match((await clinic.ask('GET', '/soap/v1?wsdl2')).text, /outfault[^>]*ref="tns:DoctorBusy"/)
    const api = JSON.parse((await clinic.ask('GET', '/openapi.json')).text)
    const told = (path: string, method: string, status: string) =>
      JSON.stringify(api.paths[`/api/v1${path}`]?.[method]?.responses?.[status] ?? {})
    assert.match(told('/visits', 'post', '409'), /The doctor is busy/)
    assert.match(told('/visits/{id}', 'put', '409'), /The doctor is busy/)
    assert.match(told('/visits/{id}', 'patch', '409'), /The doctor is busy/)
    assert.match(told('/visits/{id}', 'delete', '409'), /There is a history/)
    assert.match(told('/visits', 'delete', '409'), /There is a history/)
    assert.match(told('/visits/{id}/picture', 'put', '422'), /The picture cannot be read/)
    assert.match(told('/archives', 'post', '503'), /archive is closed/)
    assert.match((await clinic.ask('GET', '/problems/DoctorBusy')).text, /The doctor is busy/)
  })
})

test('both clients give a declared fault its type', async () => {
  const token = await clinic.server.token('dora', ['desk'])
  const api = createRestClient(contract, { address: `${clinic.server.url}/api`, credentials: { bearer: token } })
  const soap = createSoapClient(contract, { address: `${clinic.server.url}/soap/v1`, credentials: { bearer: token } })
  const wanted = { owner: 'pat', doctor: 'busy', day: '2026-12-01' }
  for (const create of [api.visits.create, soap.visits.create])
    await assert.rejects(create(wanted), (thrown: unknown) => {
      assert.ok(thrown instanceof FaultError && thrown.is(DoctorBusy), String(thrown))
      const { doctor, until }: { readonly doctor: string; readonly until?: string } = thrown.detail
      assert.deepEqual([doctor, until], ['busy', undefined])
      return true
    })
  await assert.rejects(
    api.archives.start({ year: 1 }),
    (thrown: unknown) => thrown instanceof FaultError && thrown.is(Closed),
  )
  const named: readonly string[] = soap.CreateVisit.faults.map(each => each.fault)
  assert.ok(named.includes('DoctorBusy'))
  type Declared = (typeof soap.CreateVisit.faults)[number]['fault']
  const declared: Declared = 'DoctorBusy'
  // @ts-expect-error a fault of another operation
  const other: Declared = 'HasHistory'
  assert.notEqual(declared, other)
  await api.close()
})

describe('B7.5 an undeclared fault is a bug of the service', () => {
  for (const [what, fail] of [
    ['a fault that no operation declares', { derive: ctx => ctx.fail(Undeclared as never, {} as never) }],
    ['one that another operation declares', { derive: ctx => ctx.fail(BadPicture as never, {} as never) }],
    [
      'a detail that breaks the declaration',
      { derive: ctx => ctx.fail({ ...DoctorBusyLike } as never, { doctor: 7 } as never) },
    ],
  ] as [string, NonNullable<ClinicHandlers['visits']>][])
    test(what, async () => {
      const lines: [string, unknown][] = []
      const clinic = await startHosted(
        { onError: (incident, thrown) => void lines.push([incident, thrown]) },
        createClinic({ visits: fail }),
      )
      const desk = bearer(await clinic.server.token('dora', ['desk']))
      const rest = await clinic.ask('POST', '/api/v1/visits', { ...desk, ...json }, draft('x'))
      assert.equal(rest.status, 500)
      assert.doesNotMatch(rest.text, /Undeclared|BadPicture|doctor/)
      const soap = await clinic.ask(
        'POST',
        '/soap/v1',
        { ...desk, 'content-type': 'application/soap+xml' },
        '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body xmlns="urn:clinic:v1"><CreateVisit><visit><owner>p</owner><doctor>d</doctor><day>2026-12-01</day></visit></CreateVisit></e:Body></e:Envelope>',
      )
      assert.equal(soap.status, 500)
      assert.match(soap.text, /Receiver/)
      assert.equal(lines.length, 2)
      for (const [incident, thrown] of lines) {
        assert.ok(rest.text.includes(incident) || soap.text.includes(incident))
        assert.match(
          String(thrown),
          /CreateVisit does not declare the fault \w+: add it to the `faults`|CreateVisit: invalid detail of a handler: DoctorBusy\.doctor/,
        )
      }
    })
})
const DoctorBusyLike = { fault: 'DoctorBusy', status: 409, title: '', detail: {} }

test('a job that a handler starts runs after the commit; a job without grants has no address', async () => {
  sentMails.length = 0
  const clinic = await startClinic()
  const id = await clinic.create('x')
  assert.equal((await clinic.rest('POST', `/visits/${id}/holding`, '{"minutes":5}')).status, 200)
  while (sentMails.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
  assert.deepEqual(sentMails, [`pat: Visit ${id}`])
  assert.equal((await clinic.rest('POST', '/mails', '{"to":"x","about":"y"}')).status, 404)
  // Nor is it named where clients look: descriptions, the entry, or the types of clients.
  const desk = bearer(await clinic.server.token('dora', ['desk']))
  for (const path of ['/soap/v1?wsdl', '/soap/v1?wsdl2', '/openapi.json', '/api/v1']) {
    const { status, text } = await clinic.ask('GET', path, {
      ...desk,
      accept: 'application/json, application/xml, */*',
    })
    assert.equal(status, 200)
    assert.doesNotMatch(text, /\bmails?\b/i, path)
    assert.match(text, /archive/i, path)
  }
  const options = { address: `${clinic.server.url}/api` }
  const api = createRestClient(contract, options)
  assert.equal(typeof api.archives.start, 'function')
  // @ts-expect-error started by handlers alone
  assert.equal(api.mails, undefined)
  const soap = createSoapClient(contract, { address: `${clinic.server.url}/soap/v1` })
  // @ts-expect-error as above
  assert.deepEqual([soap.mails, soap.StartMail], [undefined, undefined])
  await api.close()
})

test('a caller whose handlers fill the queue is told 429 and when, by both faces; another caller is not', async () => {
  const many = { count: 1001 }
  const clinic = await startHosted(
    { work: false },
    createClinic({
      visits: {
        derive: async ctx => {
          for (let i = 0; i < many.count; i++) await ctx.after('mails', { to: 'x', about: 'y' })
          return { fee: '1.00' }
        },
      },
    }),
  )
  const [dora, dick] = [await clinic.server.token('dora', ['desk']), await clinic.server.token('dick', ['desk'])]
  const make = (token: string) => clinic.ask('POST', '/api/v1/visits', { ...bearer(token), ...json }, draft('x'))
  const full = await make(dora)
  assert.deepEqual([full.status, full.fields['retry-after']], [429, '5'], full.text)
  many.count = 1000
  assert.equal((await make(dora)).status, 201, 'nothing of the call before was kept')
  many.count = 1
  assert.equal((await make(dora)).status, 429)
  const soap = await clinic.ask(
    'POST',
    '/soap/v1',
    { ...bearer(dora), 'content-type': 'application/soap+xml' },
    '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><CreateVisit xmlns="urn:clinic:v1"><visit><owner>p</owner><doctor>d</doctor><day>2026-12-01</day></visit></CreateVisit></e:Body></e:Envelope>',
  )
  assert.match(soap.text, /Receiver[\s\S]*Busy/)
  assert.equal((await make(dick)).status, 201)
})

test('lines of a handler name the request, the operation and the caller, and no credential', async () => {
  const clinic = await startClinic({
    visits: {
      cancel: ctx => ctx.log.warn('cancelled late', { days: 1, why: new Error('Bearer abc.def'), password: 'x' }),
    },
  })
  const id = await clinic.create('x')
  const answer = await clinic.rest('POST', `/visits/${id}/cancellation`, '{}')
  const [line] = clinic.lines.filter(each => each.message === 'cancelled late')
  assert.equal(line?.level, 'warn')
  const { fields, ...notes } = line.fields as { fields: Record<string, unknown> }
  assert.deepEqual(notes, { request: answer.fields['request-id'], operation: 'CancelVisit', subject: 'dora' })
  assert.equal(fields['days'], 1)
  assert.match(JSON.stringify(fields['why']), /\[redacted\]/)
})

describe('ctx.signal is aborted when the client is gone', () => {
  const startWaiting = async () => {
    let began = (): void => {}
    const begun = new Promise<void>(resolve => (began = resolve))
    let ended: (why: unknown) => void = () => {}
    const end = new Promise<unknown>(resolve => (ended = resolve))
    const clinic = await startClinic({
      visits: {
        cancel: async ctx => {
          began()
          await once(ctx.signal, 'abort').then(() => ended(ctx.signal.reason))
        },
      },
    })
    return { clinic, begun, end, id: await clinic.create('x'), token: await clinic.server.token('dora', ['desk']) }
  }
  const cancelOver = async (token: string, port: number, id: string) => {
    const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.write(
      `POST /api/v1/visits/${id}/cancellation HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    )
    return socket
  }
  for (const [how, leave] of [
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
    ['closed in both directions, which shows when something is written', (socket: Socket) => socket.destroy()],
  ] as const)
    test(`HTTP/1.1, REST: a connection that was ${how}`, async () => {
      const { clinic, begun, end, id, token } = await startWaiting()
      const socket = await cancelOver(token, clinic.server.port, id)
      await begun
      leave(socket)
      assert.match(String(await end), /the client has closed its connection/)
    })
  test('RFC 9112 §9.6 a client that has closed its own side alone still reads, and is not gone', async () => {
    let release = (): void => {}
    let begin: (signal: AbortSignal) => void = () => {}
    const begun = new Promise<AbortSignal>(resolve => (begin = resolve))
    const clinic = await startClinic({
      visits: {
        cancel: async ctx => {
          begin(ctx.signal)
          await new Promise<void>(resolve => (release = resolve))
        },
      },
    })
    const token = await clinic.server.token('dora', ['desk'])
    const socket = await cancelOver(token, clinic.server.port, await clinic.create('x'))
    let received = ''
    socket.setEncoding('latin1').on('data', text => (received += text))
    const signal = await begun
    socket.end()
    // Twice: a connection that nobody reads is reset by the first.
    while ((received.match(/HTTP\/1\.1 100 Continue\r\n\r\n/g)?.length ?? 0) < 2) await once(socket, 'data')
    assert.equal(signal.aborted, false)
    release()
    await once(socket, 'end')
    assert.match(received, /^(HTTP\/1\.1 100 Continue\r\n\r\n){2,}HTTP\/1\.1 200 OK\r\n/)
    assert.equal(signal.aborted, false)
    socket.destroy()
  })
  test('HTTP/2, SOAP', async () => {
    const { clinic, begun, end, id, token } = await startWaiting()
    const session = connect(clinic.server.url)
    const stream = session.request({
      ':method': 'POST',
      ':path': '/soap/v1',
      authorization: `Bearer ${token}`,
      'content-type': 'application/soap+xml',
    })
    stream.on('error', () => {})
    stream.end(
      `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><CancelVisit xmlns="urn:clinic:v1"><id>${id}</id></CancelVisit></e:Body></e:Envelope>`,
    )
    await begun
    stream.close(8)
    assert.match(String(await end), /the client has closed its connection/)
    session.destroy()
  })
  test('mounted in node:http and by Fetch', async () => {
    let begin: (signal: AbortSignal) => void = () => {}
    const cancel: NonNullable<ClinicHandlers['visits']>['cancel'] = async ctx => {
      begin(ctx.signal)
      await once(ctx.signal, 'abort')
    }
    const clinic = await createHandler(createClinic({ visits: { cancel } }), { data: ':memory:', logger: silent })
    const token = await clinic.token('dora', ['desk'])
    const send = (path: string, content: string, signal?: AbortSignal) =>
      new Request(`http://x${path}`, {
        method: 'POST',
        headers: { ...bearer(token), ...json },
        body: content,
        signal: signal ?? null,
      })
    const { id } = (await (await clinic.fetch(send('/api/v1/visits', draft('x')))).json()) as { id: string }
    const server = createServer(clinic.node).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const nextSignal = () => new Promise<AbortSignal>(resolve => (begin = resolve))
    const socketSignal = nextSignal()
    const socket = await cancelOver(token, (server.address() as AddressInfo).port, id)
    const bySocket = await socketSignal
    assert.equal(bySocket.aborted, false)
    const socketGone = once(bySocket, 'abort')
    socket.resetAndDestroy()
    await socketGone
    const other = (await (await clinic.fetch(send('/api/v1/visits', draft('y')))).json()) as { id: string }
    const leave = new AbortController()
    const fetchSignal = nextSignal()
    const answer = clinic.fetch(send(`/api/v1/visits/${other.id}/cancellation`, '{}', leave.signal))
    const byFetch = await fetchSignal
    assert.equal(byFetch.aborted, false)
    leave.abort()
    await answer
    assert.equal(byFetch.aborted, true)
    server.close()
    await clinic.close(0)
  })
})
