/**
 * A5.2, A5.3, A2.1: fields that only some callers may use (`visibleTo`, `settableBy`,
 * `settableIn`): the same in both faces and in every form of a response, and not to be guessed.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findContractMistakes } from '../../src/contract/review.ts'
import { writeAccessMatrix } from '../../src/describe/index.ts'
import { contractForReaders } from '../../src/docs/reader-contract.ts'
import { anyone, type Grant, implement, resource, role, service, t } from '../../src/index.ts'
import { restLimits } from '../../src/rest/limits.ts'
import { startTestService } from '../../src/testing/index.ts'
import { startService } from './service-of.ts'

const doctor = role('doctor')
const desk = role('desk')
const patient = role('patient')

const visits = resource('visits', {
  fields: {
    id: t.id('v'),
    patient: t.string({ max: 40 }),
    room: t.string({ max: 10 }).settableIn('booked'),
    diagnosis: t
      .string({ max: 100 })
      .visibleTo(doctor, patient.owning({ patient: 'patient' }))
      .settableBy(doctor),
    fee: t.decimal(8, 2).default('20.00').settableBy(desk),
    margin: t.int().readOnly().visibleTo(desk),
    whisper: t.string({ max: 20 }).visibleTo(doctor),
    pin: t.string({ max: 4 }).visibleTo(doctor).settableBy(doctor, desk),
    ward: t.ref('wards').visibleTo(doctor),
    state: t.state(),
  },
  states: ['booked', 'held'],
  actions: on => ({
    hold: on('booked').to('held', { rel: 'holding' }),
    bill: on('booked').stay({ rel: 'invoice' }),
  }),
}).rules({
  filter: ['patient', 'diagnosis', 'fee', 'ward'],
  sort: ['patient', 'diagnosis'],
  search: ['patient'],
  searchBy: ['diagnosis'],
  unserved: 'accept',
  allow: {
    read: [doctor, desk, patient],
    create: [doctor, desk],
    change: [doctor, desk],
    hold: [doctor, desk],
    bill: [desk.given('it is diagnosed', ({ value }) => value?.['diagnosis'] !== undefined)],
  },
})

const wards = resource('wards', { fields: { id: t.id('w'), name: t.string({ max: 20 }) } }).rules({
  relations: { visits: { of: 'visits', by: 'ward' } },
  allow: { read: [doctor, desk] },
})

const clinic = service('visits', {
  namespace: 'urn:test:visits',
  resources: [visits, wards],
  searches: { of: 'visits', allow: [doctor, desk] },
  versions: { v1: { renames: { visits: { finding: 'diagnosis' } } }, v2: {} },
})
/** What handlers received. */
const drafts: object[] = []
const app = implement(
  clinic,
  {
    visits: {
      derive: (_, draft) => {
        drafts.push(draft)
        return { margin: (draft.diagnosis ?? '').length }
      },
      hold: () => {},
      bill: () => {},
    },
    wards: {},
  },
  {
    seed: () => ({
      people: [
        { subject: 'dora', password: 'dora-secret', roles: ['doctor'] },
        { subject: 'dirk', password: 'dirk-secret', roles: ['desk'] },
        { subject: 'pat', password: 'pat-secret', roles: ['patient'], claims: { patient: 'pat' } },
        { subject: 'quin', password: 'quin-secret', roles: ['patient'], claims: { patient: 'quin' } },
      ],
      items: {
        wards: [{ id: 'w-1', name: 'east' }],
        visits: [
          {
            id: 'v-1',
            patient: 'pat',
            room: 'a',
            diagnosis: 'flu',
            fee: '20.00',
            margin: 3,
            whisper: 'x',
            ward: 'w-1',
            state: 'booked',
          },
        ],
      },
    }),
  },
)
const open = () => startTestService(clinic, app, { now: '2026-03-02T08:00:00Z' })

for (const face of ['rest', 'soap'] as const)
  describe(`fields for some callers, by ${face}`, () => {
    test('A2.1 a caller that may not see a field finds it in no item, page or outcome', async () => {
      await using clinic = await open()
      const seenBy = async (name: 'dora' | 'dirk' | 'pat' | 'quin') => {
        const { diagnosis, margin, whisper } = await clinic[face](name).visits.get('v-1')
        return [diagnosis, margin, whisper]
      }
      assert.deepEqual(await seenBy('dora'), ['flu', undefined, 'x'])
      assert.deepEqual(await seenBy('dirk'), [undefined, 3, undefined])
      assert.deepEqual(await seenBy('pat'), ['flu', undefined, undefined])
      assert.deepEqual(await seenBy('quin'), [undefined, undefined, undefined])
      const [listed] = await Array.fromAsync(clinic[face]('dirk').visits.list())
      assert.deepEqual([listed?.diagnosis, listed?.margin], [undefined, 3])
      const [found] = await Array.fromAsync(clinic[face]('dirk').visits.search('pat'))
      assert.deepEqual([found?.diagnosis, found?.margin], [undefined, 3])
      const booked = await clinic[face]('dirk').visits.get('v-1')
      assert.ok(booked.state === 'booked')
      const held = await clinic[face]('dirk').visits.hold(booked)
      assert.deepEqual([held.diagnosis, held.margin, held.state], [undefined, 3, 'held'])
    })

    test('A4.4 a replacement leaves what the caller may not see or set, and handlers see it', async () => {
      await using clinic = await open()
      const item = await clinic[face]('dirk').visits.get('v-1')
      assert.ok(item.state === 'booked')
      const after = await clinic[face]('dirk').visits.replace(item, { patient: 'pat', room: 'b', fee: '25.00' })
      assert.deepEqual([after.room, after.fee, after.margin], ['b', '25.00', 3])
      const known = { patient: 'pat', room: 'b', fee: '25.00', diagnosis: 'flu', whisper: 'x', ward: 'w-1' }
      assert.deepEqual({ ...drafts.at(-1) }, known, 'the whole content, and nothing that is read-only')
      const { diagnosis, whisper } = await clinic[face]('dora').visits.get('v-1')
      assert.deepEqual([diagnosis, whisper], ['flu', 'x'])
    })

    test('A7.13 a field that the caller may not set is refused, with its name', async () => {
      await using clinic = await open()
      const [dirk, dora] = [clinic[face]('dirk'), clinic[face]('dora')]
      const draft = { patient: 'pat', room: 'a' }
      await assert.rejects(dirk.visits.create({ ...draft, diagnosis: 'cold' }), /diagnosis.*set only by other callers/)
      await assert.rejects(dora.visits.create({ ...draft, fee: '1.00' }), /fee.*set only by other callers/)
      assert.equal((await dora.visits.create({ ...draft, fee: '20.00', diagnosis: 'cold' })).diagnosis, 'cold')
      const item = await dora.visits.get('v-1')
      assert.ok(item.state === 'booked')
      await assert.rejects(dora.visits.replace(item, { ...draft, fee: '1.00' }), /fee.*set only by other callers/)
      const same = await dora.visits.replace(item, { ...draft, fee: '20.00', diagnosis: 'cold' })
      assert.deepEqual([same.fee, same.diagnosis], ['20.00', 'cold'])
      const left = await dora.visits.replace(same as typeof item, { ...draft })
      assert.deepEqual([left.fee, left.diagnosis], ['20.00', undefined], 'a doctor may remove the diagnosis')
    })

    test('a value for a field that the caller may not see is refused whatever it is, so that none can be guessed', async () => {
      await using clinic = await open()
      const dirk = clinic[face]('dirk')
      const item = await dirk.visits.get('v-1')
      assert.ok(item.state === 'booked')
      const outcomes = []
      for (const diagnosis of ['flu', 'cold'])
        outcomes.push(
          await dirk.visits
            .replace(item, { patient: 'pat', room: 'a', diagnosis })
            .catch(thrown => String(thrown.message)),
        )
      assert.match(String(outcomes[0]), /diagnosis/)
      assert.deepEqual(outcomes[0], outcomes[1])
    })

    test('A7.13 a caller may not set a field that they may not see, unless the contract says so', async () => {
      await using clinic = await open()
      const [dirk, dora] = [clinic[face]('dirk'), clinic[face]('dora')]
      const draft = { patient: 'pat', room: 'a' }
      await assert.rejects(dirk.visits.create({ ...draft, whisper: 'y' }), /whisper.*set only by other callers/)
      assert.equal((await dora.visits.create({ ...draft, whisper: 'y' })).whisper, 'y')
      const made = await dirk.visits.create({ ...draft, pin: '1234' })
      assert.equal(made.pin, undefined)
      assert.equal((await dora.visits.get(made.id)).pin, '1234')
      assert.ok(made.state === 'booked')
      await dirk.visits.replace(made, { ...draft, room: 'b' })
      assert.equal((await dora.visits.get(made.id)).pin, '1234', 'what is left out stays')
    })

    test('A7.13 a field can be set only in its states', async () => {
      await using clinic = await open()
      const dirk = clinic[face]('dirk')
      const booked = await dirk.visits.get('v-1')
      assert.ok(booked.state === 'booked')
      await dirk.visits.hold(booked)
      const held = await dirk.visits.get('v-1')
      assert.ok(held.state === 'held')
      await assert.rejects(
        dirk.visits.replace(held, { patient: 'pat', room: 'z' }),
        /room.*can be set only in the state booked, and the state is held/,
      )
      const same = await dirk.visits.replace(held, { patient: 'pat', room: 'a', fee: '30.00' })
      assert.deepEqual([same.room, same.fee], ['a', '30.00'])
    })

    test('A5.3 nobody filters, sorts or searches by a field that they may not see in every item', async () => {
      await using clinic = await open()
      const count = async (items: AsyncIterable<unknown>) => (await Array.fromAsync(items)).length
      assert.equal(await count(clinic[face]('dora').visits.list({ where: { diagnosis: 'flu' } })), 1)
      assert.equal(await count(clinic[face]('dora').visits.list({ sort: ['-diagnosis'] })), 1)
      assert.equal(await count(clinic[face]('dora').visits.search('', { diagnosis: 'flu' })), 1)
      for (const name of ['dirk', 'pat'] as const) {
        await assert.rejects(count(clinic[face](name).visits.list({ where: { diagnosis: 'flu' } })), /may not do this/)
        await assert.rejects(count(clinic[face](name).visits.list({ sort: ['diagnosis'] })), /may not do this/)
      }
      await assert.rejects(count(clinic[face]('dirk').visits.search('', { diagnosis: 'flu' })), /may not do this/)
    })

    test('A9.3 the rule holds by whatever name a version has for the field', async () => {
      await using clinic = await open()
      assert.equal((await clinic[face]('dora', { version: 'v1' }).visits.get('v-1')).finding, 'flu')
      const dirk = clinic[face]('dirk', { version: 'v1' })
      assert.equal((await dirk.visits.get('v-1')).finding, undefined)
      await assert.rejects(
        dirk.visits.create({ patient: 'pat', room: 'a', finding: 'flu' }),
        /finding.*set only by other callers/,
      )
    })
  })

describe('fields for some callers, as HTTP', () => {
  const json = { 'content-type': 'application/json' }
  async function ask(clinic: Awaited<ReturnType<typeof open>>, name: string, method: string, path: string, more = {}) {
    const response = await clinic.fetchAs(name)(`${clinic.address}${path}`, { method, ...more })
    return { status: response.status, etag: response.headers.get('etag') ?? '', text: await response.text() }
  }

  const item = '/api/v2/visits/v-1'
  const list = '/api/v2/visits'
  const answers: readonly (readonly [type: string, paths: readonly string[]])[] = [
    [
      'application/json',
      [item, list, '/api/v2/search?q=pat', `${item}?fields=diagnosis,room`, `${list}?fields=diagnosis`],
    ],
    ['application/hal+json', [item, list]],
    ['application/prs.hal-forms+json', [item, list]],
    ['application/vnd.diglot.visits.v2+json', [item, list]],
    ['application/xml', [item, list]],
    ['text/xml', [item, list]],
    ['text/html', [item, list]],
    ['text/csv', [list]],
  ]
  for (const [type, paths] of answers)
    test(`A2.1 ${type} holds only what the caller may see, under a tag of its own`, async () => {
      await using clinic = await open()
      for (const path of paths) {
        const seen = await ask(clinic, 'dora', 'GET', path, { headers: { accept: type } })
        const covered = await ask(clinic, 'dirk', 'GET', path, { headers: { accept: type } })
        assert.deepEqual([seen.status, covered.status], [200, 200], path)
        assert.match(seen.text, /flu/, path)
        assert.doesNotMatch(covered.text, /flu/, path)
        assert.notEqual(seen.etag, covered.etag)
      }
    })

  test('A4.18 callers that see different fields have different tags, and each tag holds for its own callers', async () => {
    await using clinic = await open()
    const at = '/api/v2/visits/v-1'
    const [dora, pat] = [await ask(clinic, 'dora', 'GET', at), await ask(clinic, 'pat', 'GET', at)]
    const quin = await ask(clinic, 'quin', 'GET', at)
    assert.equal(new Set([dora.etag, pat.etag, quin.etag]).size, 3)
    assert.equal((await ask(clinic, 'pat', 'GET', at, { headers: { 'if-none-match': pat.etag } })).status, 304)
    assert.equal((await ask(clinic, 'pat', 'GET', at, { headers: { 'if-none-match': quin.etag } })).status, 200)
  })

  test('RFC 7396, RFC 6902 a patch neither removes nor tests a field that the caller may not set or see', async () => {
    await using clinic = await open()
    const at = '/api/v2/visits/v-1'
    const patch = async (name: string, type: string, content: unknown) => {
      const { etag } = await ask(clinic, name, 'GET', at)
      const headers = { 'content-type': type, 'if-match': etag }
      return ask(clinic, name, 'PATCH', at, { headers, body: JSON.stringify(content) })
    }
    const [merge, operations] = ['application/merge-patch+json', 'application/json-patch+json']
    const removed = await patch('dora', merge, { fee: null })
    assert.equal(removed.status, 422)
    assert.match(removed.text, /fee.*set only by other callers/s)
    assert.equal((await patch('dirk', merge, { diagnosis: null, room: 'c' })).status, 200)
    assert.equal((await patch('dirk', operations, [{ op: 'test', path: '/diagnosis', value: 'flu' }])).status, 409)
    assert.equal((await patch('dirk', operations, [{ op: 'copy', from: '/diagnosis', path: '/room' }])).status, 409)
    for (const margin of [3, 4]) assert.equal((await patch('dora', merge, { margin })).status, 422)
    assert.match((await ask(clinic, 'dora', 'GET', at)).text, /"diagnosis":"flu"/)
  })

  test('A3.4 a link to a search by a field is only for callers that see the field in every item', async () => {
    await using clinic = await open()
    const linksOf = async (name: string) =>
      Object.keys(JSON.parse((await ask(clinic, name, 'GET', '/api/v2/wards/w-1')).text)._links)
    assert.deepEqual(await linksOf('dora'), ['self', 'collection', 'visits'])
    assert.deepEqual(await linksOf('dirk'), ['self', 'collection'])
    const [dora, dirk] = [
      await ask(clinic, 'dora', 'GET', '/api/v2/wards/w-1/visits'),
      await ask(clinic, 'dirk', 'GET', '/api/v2/wards/w-1/visits'),
    ]
    assert.deepEqual([dora.status, dirk.status], [200, 403])
  })

  test('A4.23 A5.3 only callers that see such a field may ask whether it is absent', async () => {
    await using clinic = await open()
    const list = async (name: string, absent: boolean) =>
      (await ask(clinic, name, 'GET', `/api/v2/visits?diagnosis[absent]=${absent}`)).status
    assert.deepEqual([await list('dora', true), await list('dora', false)], [200, 200])
    assert.deepEqual([await list('dirk', true), await list('dirk', false)], [403, 403])
  })

  test('A4.12 A5.3 a kept search by such a field is only for callers that see it, whoever has its address', async () => {
    await using clinic = await open()
    const search = (name: string) =>
      ask(clinic, name, 'POST', '/api/v2/searches', { headers: json, body: '{"diagnosis":"flu"}' })
    assert.equal((await search('dirk')).status, 403)
    const made = await clinic.fetchAs('dora')(`${clinic.address}/api/v2/searches`, {
      method: 'POST',
      headers: json,
      body: '{"diagnosis":"flu"}',
    })
    assert.equal(made.status, 201)
    const path = new URL(made.headers.get('location') ?? '', clinic.address).pathname
    assert.match((await ask(clinic, 'dora', 'GET', path)).text, /"diagnosis":"flu"/)
    const moved = clinic.fetchAs({ subject: 'dora', roles: ['desk'] })
    assert.equal((await moved(`${clinic.address}${path}`)).status, 403, 'its maker has another role now')
    const other = await ask(clinic, 'dirk', 'GET', path)
    assert.ok([403, 404].includes(other.status), `${other.status}`)
    assert.doesNotMatch(other.text, /v-1|flu/)
    const words = await ask(clinic, 'dirk', 'POST', '/api/v2/searches', { headers: json, body: '{"q":"pat"}' })
    assert.equal(words.status, 201, 'by words anyone may')
  })

  test('row 22–24 a precondition is evaluated before long content is read, by the tag of what the caller sees', async () => {
    await using clinic = await open()
    const at = '/api/v2/visits/v-1'
    const body = JSON.stringify({ patient: 'pat', room: 'b' }) + ' '.repeat(restLimits.eagerOctets)
    const put = (etag: string) => ask(clinic, 'dirk', 'PUT', at, { headers: { ...json, 'if-match': etag }, body })
    const tags = {
      own: (await ask(clinic, 'dirk', 'GET', at)).etag,
      other: (await ask(clinic, 'dora', 'GET', at)).etag,
    }
    assert.equal((await put('"0-0"')).status, 412)
    assert.equal((await put(tags.own)).status, 200)
    assert.equal((await put(tags.own)).status, 412)
  })

  test('A3.4 a link depends on the whole item, also on what its reader may not see', async () => {
    await using clinic = await open()
    const linksOf = async (id: string) =>
      Object.keys(JSON.parse((await ask(clinic, 'dirk', 'GET', `/api/v2/visits/${id}`)).text)._links)
    assert.ok((await linksOf('v-1')).includes('invoice'))
    const { id } = await clinic.rest('dirk').visits.create({ patient: 'pat', room: 'a' })
    assert.ok(!(await linksOf(id)).includes('invoice'))
  })

  test('a search that is refused is not kept, and leaves nothing in the audit', async () => {
    const { ask, store } = await startService(app)
    const outcome = await ask({ subject: 'dirk', roles: ['desk'], claims: {} }, 'CreateSearch', {
      input: () => ({ value: { diagnosis: 'flu' }, server: [] }),
    })
    assert.deepEqual(outcome, { kind: 'forbidden' })
    assert.deepEqual(await store.read(reader => reader.deeds(0, Infinity, 10)), [])
    await store.close()
  })

  test("readers that see the same fields share one row's item, and with it what a face has written of it", async () => {
    const { ask, store } = await startService(app)
    const read = async (role: string) => {
      const outcome = await ask({ subject: role, roles: [role], claims: {} }, 'GetVisit', { id: 'v-1' })
      return 'item' in outcome ? outcome.item : assert.fail(outcome.kind)
    }
    for (let i = 0; i < 2; i++) await read('desk') // a store keeps what is read again
    const [first, second, other] = [await read('desk'), await read('desk'), await read('doctor')]
    assert.equal(first, second)
    assert.ok(Object.isFrozen(first))
    assert.ok(first !== other)
    assert.deepEqual([first.unseen, other.unseen], [['diagnosis', 'whisper', 'pin', 'ward'], ['margin']])
    await store.close()
  })

  test('a form in a browser has only the fields that its reader may set', async () => {
    await using clinic = await open()
    const html = { headers: { accept: 'text/html' } }
    const nameOf = (field: string) => new RegExp(`name="${field}"`)
    const page = await ask(clinic, 'dirk', 'GET', '/api/v2/visits/v-1', html)
    for (const field of ['fee', 'pin']) assert.match(page.text, nameOf(field))
    assert.doesNotMatch(page.text, /whisper|diagnosis/)
    const list = await ask(clinic, 'dirk', 'GET', '/api/v2/visits', html)
    assert.doesNotMatch(list.text, nameOf('diagnosis'))
    assert.doesNotMatch((await ask(clinic, 'dora', 'GET', '/api/v2/visits/v-1', html)).text, nameOf('fee'))
  })

  test('content with a field that its caller may not set is refused, and nothing of it is stored', async () => {
    await using clinic = await open()
    const body = JSON.stringify({ patient: 'pat', room: 'a', diagnosis: 'flu' })
    const refused = await ask(clinic, 'dirk', 'POST', '/api/v2/visits', { headers: json, body })
    assert.equal(refused.status, 422)
    assert.match(refused.text, /"pointer":"#?\/diagnosis"/)
    assert.equal((await Array.fromAsync(clinic.rest('dora').visits.list())).length, 1)
  })
})

describe('descriptions of such fields', () => {
  test('A5.3 the access matrix lists them', () => {
    assert.match(
      writeAccessMatrix(clinic),
      /- visits\.diagnosis: Visible to doctor; patient where patient is the caller's patient\. Set by doctor\./,
    )
  })
  test('A2.1 a field that not everyone may see is nowhere required, and its rule is described', async () => {
    await using clinic = await open()
    const read = async (path: string) => (await clinic.fetchAs()(`${clinic.address}${path}`)).text()
    const { components } = JSON.parse(await read('/openapi.json'))
    const { properties, required } = components.schemas['v2.Visit']
    assert.match(
      properties.diagnosis.description,
      /^Visible to doctor; patient where patient is the caller's patient\. Set by doctor\.$/,
    )
    assert.equal(properties.room.description, 'Set in the state booked.')
    assert.ok(!required.includes('diagnosis') && !required.includes('margin') && required.includes('room'))
    assert.match(await read('/soap/v2?wsdl'), /name="diagnosis"[^>]* minOccurs="0"/)
  })
})

describe('a site for some roles', () => {
  test('A5.3 it has no field that none of them sees, and none for other callers', () => {
    const { resources } = contractForReaders(clinic, ['desk'])
    const [narrowed] = resources
    assert.ok(narrowed)
    assert.deepEqual(Object.keys(narrowed.fields), ['id', 'patient', 'room', 'fee', 'margin', 'state'])
    assert.deepEqual(
      [narrowed.given.filter, narrowed.given.sort, narrowed.given.searchBy],
      [['patient', 'fee'], ['patient'], []],
    )
    const forPatients = contractForReaders(clinic, ['patient']).resources[0]?.fields['diagnosis']?.access
    assert.deepEqual([forPatients?.visibleTo?.length, forPatients?.settableBy?.length], [1, 0])
  })
})

describe('mistakes in such rules are reported at start', () => {
  const mistakesOf = (fields: object, rules: object = {}) => {
    const things = resource('things', { fields: { id: t.id('t'), ...fields }, states: ['new', 'old'] }).rules({
      allow: { read: [desk], create: [desk, doctor] },
      ...rules,
    })
    const shop = service('shop', { namespace: 'urn:test:shop', resources: [things], versions: { v1: {} } })
    return findContractMistakes(implement(shop as never, { things: {} } as never)).join('\n')
  }
  const own = { name: t.string({ max: 10 }).optional() }
  for (const [what, fields, rules, expected] of [
    ['a sound rule', { a: t.string({ max: 9 }).visibleTo(desk).settableIn('new') }, {}, /^(?!.*things\.a)/s],
    ['a default', { a: t.string().visibleTo(desk).default('x') }, {}, /things\.a has visibleTo, so it may be absent/],
    [
      'a default before it',
      { a: t.string().default('x').visibleTo(desk) },
      {},
      /things\.a has visibleTo, so it may be absent/,
    ],
    ['an unknown state', { a: t.string().optional().settableIn('gone') }, {}, /unknown state "gone": use new, old/],
    ['read-only', { a: t.string().readOnly().settableBy(desk) }, {}, /read-only and has settableBy/],
    ['internal', { a: t.string().optional().internal().visibleTo(desk) }, {}, /internal and has visibleTo/],
    ['the id', { id: t.id('t').visibleTo(desk) }, {}, /things\.id has visibleTo, though each reader needs it/],
    [
      'within',
      { a: t.object({ b: t.string().visibleTo(desk) }) },
      {},
      /things\.a\.b has visibleTo, which only a field of a resource can have/,
    ],
    ['in a list', { a: t.list(t.string().settableBy(desk), { max: 3 }) }, {}, /things\.a\[\] has settableBy/],
    [
      'a creator',
      { a: t.string().settableBy(desk) },
      {},
      /required, and doctor may create things without being able to set it/,
    ],
    [
      'the first state',
      { a: t.string().settableIn('old') },
      {},
      /required, and cannot be set in the first state "new"/,
    ],
    [
      'an order',
      { a: t.string({ max: 9 }).visibleTo(desk) },
      { order: ['-a'] },
      /order names "a", which is not visible to all/,
    ],
    ['a search', { a: t.string().visibleTo(desk) }, { search: ['a'] }, /search names "a", which is not visible to all/],
    [
      'a shared cache',
      { a: t.string().visibleTo(desk) },
      { cache: { maxAge: 9 }, allow: { read: [anyone] } },
      /cache keeps one answer for all callers/,
    ],
    [
      'a unique key',
      { a: t.string({ max: 9 }).visibleTo(desk).optional(), b: t.string({ max: 9 }) },
      { unique: [['a', 'b']], allow: { read: [doctor], change: [doctor] } },
      /unique \['a', 'b'\] would reveal "a", which doctor does not see in every item, since doctor may change "b"/,
    ],
    [
      'an unknown owner',
      { a: t.string().visibleTo(desk.owning({ nobody: 'x' }) as Grant) },
      {},
      /things: visibleTo of a names "nobody", which is not a scalar field/,
    ],
  ] as const)
    test(what, () => assert.match(mistakesOf({ ...own, ...fields }, rules), expected))

  test('a unique key reveals nothing to callers who see all of it, or set none of it', () => {
    const covered = t.string({ max: 9 }).visibleTo(desk).optional()
    for (const [b, changer] of [
      [t.string({ max: 9 }), desk],
      [t.string({ max: 9 }).settableBy(desk).optional(), doctor],
      [t.string({ max: 9 }).readOnly().optional(), doctor],
    ] as const) {
      const rules = { unique: [['a', 'b']], allow: { read: [doctor], change: [changer] } }
      assert.doesNotMatch(mistakesOf({ ...own, a: covered, b }, rules), /unique/)
    }
  })
})
