/**
 * A9.3, B9.3: a version has fields under other names and in other types, the same in both faces;
 * the store, the handlers and the policy know only the newest.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { InputError } from '../../src/client/index.ts'
import { compareVersions } from '../../src/docs/change-page.ts'
import { anyone, implement, resource, retype, role, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const desk = role('desk')
const ward = role('ward')

const doctors = resource('doctors', {
  fields: { id: t.id('d'), name: t.string({ min: 1, max: 20 }), unit: t.string() },
}).rules({ sort: ['name'], filter: ['name'], allow: { read: [desk, ward], create: [desk] } })

const stays = resource('stays', {
  fields: {
    id: t.id('s'),
    doctor: t.ref('doctors'),
    unit: t.string(),
    from: t.dateTime(),
    urgency: t.enum('low', 'medium', 'high'),
    cents: t.int({ min: 0, max: 1_000_000 }),
    remark: t.string({ max: 10 }).optional(),
    note: t.string().optional(),
    stamp: t.dateTime().readOnly(),
    state: t.state(),
  },
  states: ['open', 'closed'],
  actions: on => ({ close: on('open').to('closed', { rel: 'closing' }) }),
}).rules({
  filter: ['doctor', 'from', 'urgency', 'cents', 'remark', 'note', 'unit'],
  sort: ['cents', 'remark', 'urgency', 'from'],
  order: ['-from', 'cents'],
  search: ['remark', 'doctor.name'],
  searchBy: ['urgency', 'remark'],
  relations: { doctor: { by: 'doctor' } },
  bulk: true,
  unserved: 'accept',
  allow: {
    read: [desk, ward.owning({ unit: 'unit' })],
    create: [desk, ward.owning({ unit: 'unit' })],
    change: [desk],
    remove: [desk],
    bulk: [desk],
    close: [desk],
  },
})

const clinic = service('stays', {
  namespace: 'urn:test:stays',
  resources: [stays, doctors],
  searches: { of: 'stays', allow: [desk] },
  versions: {
    v1: {
      without: { stays: ['note'] },
      renames: {
        stays: { physician: 'doctor', day: 'from', price: 'cents', note: 'remark', made: 'stamp', department: 'unit' },
        doctors: { fullName: 'name' },
      },
      retypes: {
        stays: {
          day: retype(stays.fields.from, t.date(), {
            up: day => `${day}T00:00:00Z`,
            down: from => from.slice(0, 10),
          }),
          urgency: retype(stays.fields.urgency, t.int({ min: 1, max: 3 }), {
            up: number => (['low', 'medium', 'high'] as const)[number - 1] ?? 'low',
            down: urgency => ({ low: 1, medium: 2, high: 3 })[urgency],
            exact: true,
          }),
          price: retype(stays.fields.cents, t.decimal(12, 2, { min: '0' }), {
            up: price => Number(price.replace('.', '')),
            down: cents => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`,
            exact: true,
          }),
          made: retype(stays.fields.stamp, t.long(), {
            up: made => new Date(Number(made)).toISOString(),
            down: stamp => BigInt(Date.parse(stamp)),
          }),
        },
      },
    },
    v2: {},
  },
})

const app = implement(
  clinic,
  {
    stays: {
      derive: (ctx, draft, current) => {
        if (draft.remark === 'bad') ctx.invalid(['remark'], 'is bad')
        if (draft.from.startsWith('1999')) ctx.invalid(['from'], 'is over')
        return { stamp: current?.stamp ?? ctx.now }
      },
      close: () => {},
    },
  },
  {
    seed: () => ({
      people: [
        { subject: 'dana', password: 'dana-secret', roles: ['desk'] },
        { subject: 'wanda', password: 'wanda-secret', roles: ['ward'], claims: { unit: 'east' } },
      ],
      items: { doctors: [{ id: 'd-1', name: 'House', unit: 'east' }] },
    }),
  },
)

const open = () => startTestService(clinic, app, { now: '2026-03-02T08:00:00Z' })
const newest = {
  doctor: 'd-1',
  unit: 'east',
  from: '2026-03-03T09:30:00Z',
  urgency: 'high',
  cents: 1250,
  remark: 'calm',
  note: 'secret',
} as const
const draft = { physician: 'd-1', department: 'east', day: '2026-03-03', urgency: 3, price: '12.50', note: 'calm' }
const v1 = { version: 'v1' } as const

for (const face of ['rest', 'soap'] as const)
  describe(`a version with other names and types, by ${face}`, () => {
    test('A9.3 an item is read and written in the names and types of the version', async () => {
      await using clinic = await open()
      const old = clinic[face]('dana', v1)
      const now = clinic[face]('dana')
      const made = await now.stays.create(newest)
      const { id, state, made: stamp, ...seen } = await old.stays.get(made.id)
      assert.deepEqual({ ...seen, version: undefined }, { ...draft, version: undefined })
      assert.deepEqual([id, state, stamp], [made.id, 'open', 1772438400000n])
      const from = await old.stays.create({ ...draft, note: 'mine' })
      assert.equal(from.note, 'mine')
      const { remark, urgency, cents, from: start } = await now.stays.get(from.id)
      assert.deepEqual([remark, urgency, cents, start], ['mine', 'high', 1250, '2026-03-03T00:00:00Z'])
    })

    test('a replacement keeps what the version cannot express: hidden fields, and unchanged values', async () => {
      await using clinic = await open()
      const old = clinic[face]('dana', v1)
      const now = clinic[face]('dana')
      const { id } = await now.stays.create(newest)
      const item = await old.stays.get(id)
      assert.ok(item.state === 'open')
      await old.stays.replace(item, { ...draft, price: '99.00' })
      const after = await now.stays.get(id)
      assert.deepEqual([after.from, after.cents, after.note], [newest.from, 9900, 'secret'])
      const again = await old.stays.get(id)
      assert.ok(again.state === 'open')
      const { note: _, ...without } = draft
      await old.stays.replace(again, { ...without, day: '2026-04-01' })
      const moved = await now.stays.get(id)
      assert.deepEqual([moved.from, moved.remark], ['2026-04-01T00:00:00Z', undefined])
    })

    test('lists filter, sort and page by the names and values of the version', async () => {
      await using clinic = await open()
      const old = clinic[face]('dana', v1)
      const now = clinic[face]('dana')
      for (const [at, urgency] of (['low', 'high', 'medium', 'high', 'low'] as const).entries())
        await now.stays.create({ ...newest, urgency, cents: 100 * (at + 1), remark: `r${at}` })
      const pricesOf = async (items: AsyncIterable<{ readonly price: string }>) =>
        (await Array.fromAsync(items)).map(each => each.price)
      assert.deepEqual(await pricesOf(old.stays.list({ where: { urgency: 3 }, sort: ['price'] })), ['2.00', '4.00'])
      assert.deepEqual(await pricesOf(old.stays.list({ where: { price: '3.00' } })), ['3.00'])
      const all = await pricesOf(old.stays.list({ sort: ['-price'], size: 2 }))
      assert.deepEqual(all, ['5.00', '4.00', '3.00', '2.00', '1.00'])
      assert.deepEqual(await pricesOf(old.stays.list({ where: { note: 'r1', physician: 'd-1' } })), ['2.00'])
      const found = await Array.fromAsync(old.stays.search('house', { urgency: 1, note: 'r0' }))
      assert.deepEqual(
        found.map(each => each.price),
        ['1.00'],
      )
      assert.deepEqual(
        (await Array.fromAsync(old.doctors.list({ where: { fullName: 'House' } }))).map(each => each.fullName),
        ['House'],
      )
    })

    test('the types of a client are those of its version', async () => {
      await using clinic = await open()
      const old = clinic[face]('dana', v1)
      const made = await old.stays.create(draft)
      const read: { day: string; urgency: number; price: string; note?: string; made: bigint } = made
      assert.equal(read.price, '12.50')
      // @ts-expect-error the newest name of the field
      assert.equal(made.cents, undefined)
      // @ts-expect-error lists do not compare a date with a time
      await assert.rejects(Array.fromAsync(old.stays.list({ where: { day: '2026-03-03' } })))
      // @ts-expect-error nor by the newest name
      await assert.rejects(Array.fromAsync(old.stays.list({ where: { cents: 1250 } })))
    })

    test('problems of the service are reported at the names of the version', async () => {
      await using clinic = await open()
      const old = clinic[face]('dana', v1)
      const flawOf = (thrown: unknown) => String((thrown as { message: string }).message)
      await assert.rejects(
        old.stays.create({ ...draft, note: 'bad' }),
        thrown => /note/.test(flawOf(thrown)) && !/remark/.test(flawOf(thrown)),
      )
      await assert.rejects(
        old.stays.create({ ...draft, day: '1999-01-01' }),
        thrown => /day/.test(flawOf(thrown)) && !/from/.test(flawOf(thrown)),
      )
      await assert.rejects(old.stays.create({ ...draft, physician: 'd-9' }), thrown => /physician/.test(flawOf(thrown)))
      await assert.rejects(old.stays.create({ ...draft, price: '999999.00' }), thrown =>
        /price.*has no equivalent in the newest version/.test(flawOf(thrown)),
      )
      await assert.rejects(old.stays.create({ ...draft, urgency: 4 }), InputError)
    })

    test('a field that policy binds to a claim is filled, by whatever name', async () => {
      await using clinic = await open()
      const { department: _, ...own } = draft
      const made = await clinic[face]('wanda', v1).stays.create(own)
      assert.equal(made.department, 'east')
      await assert.rejects(clinic[face]('wanda', v1).stays.create({ ...draft, department: 'west' }), /may not do this/)
    })

    test('an action gives the item as the version has it, and its state allows the next', async () => {
      await using clinic = await open()
      const old = clinic[face]('dana', v1)
      const made = await old.stays.create(draft)
      assert.ok(made.state === 'open')
      const closed = await old.stays.close(made)
      assert.deepEqual([closed.state, closed.price, closed.day], ['closed', '12.50', '2026-03-03'])
    })

    test('down(up(x)) is x: a client of the version reads what it sent', async () => {
      await using clinic = await open()
      const old = clinic[face]('dana', v1)
      const values = fc.record({
        day: fc
          .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
          .map(each => each.toISOString().slice(0, 10))
          .filter(each => !each.startsWith('1999')),
        urgency: fc.integer({ min: 1, max: 3 }),
        price: fc.integer({ min: 0, max: 1_000_000 }).map(each => (each / 100).toFixed(2)),
        note: fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom(...'abcxyz') }),
      })
      await fc.assert(
        fc.asyncProperty(values, values, async (first, second) => {
          const made = await old.stays.create({ ...draft, ...first })
          assert.ok(made.state === 'open')
          const { day, urgency, price, note } = await old.stays.replace(made, { ...draft, ...second })
          assert.deepEqual({ day, urgency, price, note }, { ...second })
        }),
        { numRuns: 40 },
      )
    })
  })

describe('a version with other names and types, as HTTP', () => {
  const json = { 'content-type': 'application/json' }

  async function openHttp() {
    const clinic = await open()
    const fetchAs = clinic.fetchAs('dana')
    const ask = async (method: string, path: string, content?: unknown, fields: Record<string, string> = {}) => {
      const response = await fetchAs(`${clinic.address}${path}`, {
        method,
        headers: { ...(content === undefined ? {} : json), ...fields },
        ...(content === undefined ? {} : { body: typeof content === 'string' ? content : JSON.stringify(content) }),
      })
      const text = await response.text()
      const isJson = /json/.test(response.headers.get('content-type') ?? '')
      return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
    }
    const { id } = await clinic.rest('dana').stays.create(newest)
    return {
      clinic,
      ask,
      id,
      at: `/api/v1/stays/${id}`,
      now: `/api/v2/stays/${id}`,
      [Symbol.asyncDispose]: clinic.close,
    }
  }

  test('A4.24 fields= takes the names of the version, and no other', async () => {
    await using http = await openHttp()
    const { status, json } = await http.ask('GET', `${http.at}?fields=price,day`)
    assert.equal(status, 200)
    assert.deepEqual([json.price, json.day, json.note], ['12.50', '2026-03-03', undefined])
    assert.equal((await http.ask('GET', `${http.at}?fields=cents`)).status, 400)
    assert.equal((await http.ask('GET', `${http.now}?fields=price`)).status, 400)
  })

  test('a filter or a sort that the version cannot have is refused, and those of the newest names too', async () => {
    await using http = await openHttp()
    for (const query of [
      'day=2026-03-03',
      'sort=day',
      'cents=1250',
      'remark=calm',
      'sort=cents',
      'from=2026-03-03T09:30:00Z',
    ])
      assert.equal((await http.ask('GET', `/api/v1/stays?${query}`)).status, 400, query)
    for (const query of [
      'price[gte]=12.50',
      'price[in]=1.00,12.50',
      'price[ne]=1.00',
      'note[absent]=false',
      'urgency=3',
      'note=calm',
      'sort=-price,note',
    ])
      assert.equal((await http.ask('GET', `/api/v1/stays?${query}`)).json.total, 1, query)
    assert.equal((await http.ask('GET', '/api/v1/stays?price[lt]=12.50')).json.total, 0)
    assert.match(
      (await http.ask('GET', '/api/v1/stays?price=999999.00')).text,
      /has no equivalent in the newest version/,
    )
  })

  test('RFC 7396, RFC 6902 a patch speaks the version, and leaves fields that it does not name unchanged', async () => {
    await using http = await openHttp()
    const tag = async () => (await http.ask('GET', http.at)).headers.get('etag') ?? ''
    const merged = await http.ask(
      'PATCH',
      http.at,
      { price: '13.00' },
      { 'content-type': 'application/merge-patch+json', 'if-match': await tag() },
    )
    assert.deepEqual([merged.status, merged.json.price, merged.json.day], [200, '13.00', '2026-03-03'])
    const operations = [
      { op: 'test', path: '/day', value: '2026-03-03' },
      { op: 'replace', path: '/note', value: 'new' },
      { op: 'copy', from: '/note', path: '/department' },
    ]
    const patched = await http.ask('PATCH', http.at, operations, {
      'content-type': 'application/json-patch+json',
      'if-match': await tag(),
    })
    assert.equal(patched.status, 200)
    const { from, cents, remark, note, unit } = (await http.ask('GET', http.now)).json
    assert.deepEqual([from, cents, remark, note, unit], [newest.from, 1300, 'new', 'secret', 'new'])
    const unknown = await http.ask(
      'PATCH',
      http.at,
      { cents: 1 },
      { 'content-type': 'application/merge-patch+json', 'if-match': await tag() },
    )
    assert.equal(unknown.status, 422)
  })

  test('RFC 9110 §8.8.3 representations of two versions have two tags; each is a precondition, and gives 304', async () => {
    await using http = await openHttp()
    const [old, now] = [await http.ask('GET', http.at), await http.ask('GET', http.now)]
    assert.notEqual(old.headers.get('etag'), now.headers.get('etag'))
    assert.equal(
      (await http.ask('GET', http.at, undefined, { 'if-none-match': old.headers.get('etag') ?? '' })).status,
      304,
    )
    assert.equal(
      (await http.ask('GET', http.at, undefined, { 'if-none-match': now.headers.get('etag') ?? '' })).status,
      200,
    )
    const put = await http.ask(
      'PUT',
      http.at,
      { ...draft, price: '1.00' },
      { 'if-match': old.headers.get('etag') ?? '' },
    )
    assert.equal(put.status, 200)
    assert.equal((await http.ask('PUT', http.at, draft, { 'if-match': old.headers.get('etag') ?? '' })).status, 412)
  })

  test('what was read may be sent back, read-only fields included; another value of one is refused at its name', async () => {
    await using http = await openHttp()
    const { headers, json } = await http.ask('GET', http.at)
    const back = await http.ask('PUT', http.at, json, { 'if-match': headers.get('etag') ?? '' })
    assert.equal(back.status, 200)
    assert.equal((await http.ask('GET', http.at)).headers.get('etag'), headers.get('etag'))
    assert.equal((await http.ask('GET', http.now)).json.from, newest.from)
    const other = await http.ask('PUT', http.at, { ...json, made: 5 }, { 'if-match': headers.get('etag') ?? '' })
    assert.equal(other.status, 422)
    assert.match(other.text, /made/)
    assert.doesNotMatch(other.text, /stamp/)
  })

  test('XML, CSV and pages use the names and values of the version', async () => {
    await using http = await openHttp()
    const xml = await http.ask('GET', http.at, undefined, { accept: 'application/xml' })
    assert.match(xml.text, /<day>2026-03-03<\/day>/)
    const csv = await http.ask('GET', '/api/v1/stays', undefined, { accept: 'text/csv' })
    assert.match(csv.text, /physician,department,day,urgency,price,note,made/)
    const page = await http.ask('GET', http.at, undefined, { accept: 'text/html' })
    for (const text of [xml.text, csv.text, page.text]) assert.doesNotMatch(text, /cents|remark|stamp|secret|09:30/)
    assert.match(page.text, /name="price"/)
  })

  test('a stored search has the criteria of the version in which it is read', async () => {
    await using http = await openHttp()
    const made = await http.ask('POST', '/api/v1/searches', { q: 'house', urgency: 3, note: 'calm' })
    assert.equal(made.status, 201)
    const path = new URL(made.headers.get('location') ?? '', 'http://x').pathname
    const old = await http.ask('GET', path)
    assert.deepEqual([old.json.urgency, old.json.note, old.json.total], [3, 'calm', 1])
    const now = await http.ask('GET', path.replace('/v1/', '/v2/'))
    assert.deepEqual([now.json.urgency, now.json.remark, now.json.total], ['high', 'calm', 1])
  })

  test('A4.7 a bulk removal filters by the fields of the version', async () => {
    await using http = await openHttp()
    assert.equal((await http.ask('DELETE', '/api/v1/stays?remark=calm')).status, 400)
    assert.equal((await http.ask('DELETE', '/api/v1/stays?price=12.50')).json.removed, 1)
  })

  test('B9.3 the descriptions of the version have only its names and types', async () => {
    await using http = await openHttp()
    const { text } = await http.ask('GET', '/soap/v1?wsdl')
    assert.match(text, /name="day" type="xs(d)?:date"/)
    assert.doesNotMatch(text, /name="(?:cents|remark|stamp|from)"/)
    const openApi = (await http.ask('GET', '/openapi.json')).json
    const filters = openApi.paths['/api/v1/stays'].get.parameters.map(
      (each: { name?: string; $ref?: string }) => each.name ?? each.$ref,
    )
    assert.equal(filters.filter((each: string) => /v1.stays.(price|note)$/.test(each)).length, 2, filters.join())
    assert.ok(!filters.some((each: string) => /stays.(day|cents|from|remark)\b/.test(each)), filters.join())
  })
})

test('a list that no index serves is refused at the names of the version', async () => {
  const notes = resource('notes', { fields: { id: t.id('n'), kind: t.string(), rank: t.int() } }).rules({
    filter: ['kind'],
    sort: ['kind', 'rank'],
    unserved: 'refuse',
    allow: { read: [desk], create: [desk] },
  })
  const versions = { v1: { renames: { notes: { sort_of: 'kind', place: 'rank' } } }, v2: {} }
  const contract = service('notes', { namespace: 'urn:test:notes', resources: [notes], versions })
  const items = Array.from({ length: 10_001 }, (_, at) => ({ id: `n-${at}`, kind: 'a', rank: at }))
  await using open = await startTestService(
    contract,
    implement(contract, {}, { seed: () => ({ items: { notes: items } }) }),
  )
  const as = open.fetchAs({ subject: 'dana', roles: ['desk'] })
  const refused = await as(`${open.address}/api/v1/notes?sort_of[ne]=x`)
  const text = await refused.text()
  assert.equal(refused.status, 400)
  assert.match(text, /"detail":"sort_of: more than/)
  assert.doesNotMatch(text, /kind|rank/)
})

test('A9.4 B9.2 from one version to the next, other names and types are breaking changes', async () => {
  const [report] = await compareVersions(app)
  const texts = report?.differences.map(each => `${each.face} ${each.place} ${each.text}`).join('\n') ?? ''
  for (const face of ['rest', 'soap'])
    for (const name of ['day', 'price', 'urgency']) assert.match(texts, new RegExp(`^${face} .*${name}`, 'm'))
})

test('A9.3 a key that another item has is named as the version calls its fields, also for a handler', async () => {
  const people = resource('people', { fields: { id: t.id('p'), email: t.string({ max: 60 }) } }).rules({
    unique: [['email']],
    allow: { read: [anyone], create: [anyone] },
  })
  const clubs = resource('clubs', {
    fields: { id: t.id('c') },
    actions: on => ({ enrol: on().stay({ rel: 'enrolment', input: { email: t.string() } }) }),
  }).rules({ allow: { read: [anyone], create: [anyone], enrol: [anyone] } })
  const versions = { v1: { renames: { people: { mail: 'email' }, clubs: {} } }, v2: {} }
  const contract = service('clubs', { namespace: 'urn:test:clubs', resources: [people, clubs], versions })
  const app = implement(contract, {
    clubs: { enrol: async (ctx, _club, { email }) => void (await ctx.items.create('people', { email })) },
  })
  await using club = await startTestService(contract, app)
  const post = async (path: string, value: object) => {
    const body = JSON.stringify(value)
    const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    return (await (await club.fetchAs()(`${club.address}/api/${path}`, asked)).json()) as Record<string, string>
  }
  await post('v1/people', { mail: 'a@b' })
  const told = (name: string) => `another item has this ${name}: give another value`
  assert.equal((await post('v1/people', { mail: 'a@b' }))['detail'], told('mail'))
  assert.equal((await post('v2/people', { email: 'a@b' }))['detail'], told('email'))
  const { id } = await post('v1/clubs', {})
  assert.equal((await post(`v1/clubs/${id}/enrolment`, { email: 'a@b' }))['detail'], told('mail'))
})
