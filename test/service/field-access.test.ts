/**
 * A5.2, A5.3, A2.1: fields that are for some callers alone (`visibleTo`, `settableBy`,
 * `settableIn`), the same by both faces, in every form of an answer, and not to be found out.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findContractMistakes } from '../../src/contract/review.ts'
import { writeAccessMatrix } from '../../src/describe/index.ts'
import { anyone, type Grant, implement, resource, role, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

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
    state: t.state(),
  },
  states: ['booked', 'held'],
  actions: on => ({ hold: on('booked').to('held', { rel: 'holding' }) }),
}).rules({
  filter: ['patient', 'diagnosis', 'fee'],
  sort: ['patient', 'diagnosis'],
  search: ['patient'],
  searchBy: ['diagnosis'],
  unserved: 'accept',
  allow: {
    read: [doctor, desk, patient],
    create: [doctor, desk],
    change: [doctor, desk],
    hold: [doctor, desk],
  },
})

const clinic = service('visits', {
  namespace: 'urn:test:visits',
  resources: [visits],
  searches: { of: 'visits', allow: [doctor, desk] },
  versions: { v1: { renames: { visits: { finding: 'diagnosis' } } }, v2: {} },
})
const app = implement(
  clinic,
  { visits: { derive: (_, draft) => ({ margin: (draft.diagnosis ?? '').length }), hold: () => {} } },
  {
    seed: () => ({
      people: [
        { subject: 'dora', password: 'dora-secret', roles: ['doctor'] },
        { subject: 'dirk', password: 'dirk-secret', roles: ['desk'] },
        { subject: 'pat', password: 'pat-secret', roles: ['patient'], claims: { patient: 'pat' } },
        { subject: 'quin', password: 'quin-secret', roles: ['patient'], claims: { patient: 'quin' } },
      ],
      items: {
        visits: [
          {
            id: 'v-1',
            patient: 'pat',
            room: 'a',
            diagnosis: 'flu',
            fee: '20.00',
            margin: 3,
            whisper: 'x',
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

    test('A4.14 a replacement leaves what the caller may not see or set, and handlers see it', async () => {
      await using clinic = await open()
      const item = await clinic[face]('dirk').visits.get('v-1')
      assert.ok(item.state === 'booked')
      const after = await clinic[face]('dirk').visits.replace(item, { patient: 'pat', room: 'b', fee: '25.00' })
      assert.deepEqual([after.room, after.fee, after.margin], ['b', '25.00', 3])
      const { diagnosis, whisper } = await clinic[face]('dora').visits.get('v-1')
      assert.deepEqual([diagnosis, whisper], ['flu', 'x'])
    })

    test('A7.13 a field that the caller may not set is refused, at its name', async () => {
      await using clinic = await open()
      const [dirk, dora] = [clinic[face]('dirk'), clinic[face]('dora')]
      const draft = { patient: 'pat', room: 'a' }
      await assert.rejects(dirk.visits.create({ ...draft, diagnosis: 'cold' }), /diagnosis.*set by other callers/)
      await assert.rejects(dora.visits.create({ ...draft, fee: '1.00' }), /fee.*set by other callers/)
      assert.equal((await dora.visits.create({ ...draft, fee: '20.00', diagnosis: 'cold' })).diagnosis, 'cold')
      const item = await dora.visits.get('v-1')
      assert.ok(item.state === 'booked')
      await assert.rejects(dora.visits.replace(item, { ...draft, fee: '1.00' }), /fee.*set by other callers/)
      const same = await dora.visits.replace(item, { ...draft, fee: '20.00', diagnosis: 'cold' })
      assert.deepEqual([same.fee, same.diagnosis], ['20.00', 'cold'])
      const left = await dora.visits.replace(same as typeof item, { ...draft })
      assert.deepEqual([left.fee, left.diagnosis], ['20.00', undefined], 'a doctor may remove the diagnosis')
    })

    test('what a caller may not see is refused whatever its value, so that no value can be guessed', async () => {
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

    test('A7.13 a field is set in its states alone', async () => {
      await using clinic = await open()
      const dirk = clinic[face]('dirk')
      const booked = await dirk.visits.get('v-1')
      assert.ok(booked.state === 'booked')
      await dirk.visits.hold(booked)
      const held = await dirk.visits.get('v-1')
      assert.ok(held.state === 'held')
      await assert.rejects(
        dirk.visits.replace(held, { patient: 'pat', room: 'z' }),
        /room.*can be set in the state booked alone, and the state is held/,
      )
      const same = await dirk.visits.replace(held, { patient: 'pat', room: 'a', fee: '30.00' })
      assert.deepEqual([same.room, same.fee], ['a', '30.00'])
    })

    test('A5.3 nobody filters, sorts or searches by what they may not see of every item', async () => {
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
        /finding.*set by other callers/,
      )
    })
  })

describe('fields for some callers, as HTTP', () => {
  const json = { 'content-type': 'application/json' }
  async function ask(clinic: Awaited<ReturnType<typeof open>>, name: string, method: string, path: string, more = {}) {
    const response = await clinic.fetchAs(name)(`${clinic.address}${path}`, { method, ...more })
    return { status: response.status, etag: response.headers.get('etag') ?? '', text: await response.text() }
  }

  for (const type of [
    'application/json',
    'application/hal+json',
    'application/xml',
    'text/html',
    'text/csv',
    'application/cbor',
  ])
    test(`A2.1 ${type} of an item, of a page and of one field holds what the caller may see`, async () => {
      await using clinic = await open()
      for (const path of ['/api/v2/visits/v-1', '/api/v2/visits', '/api/v2/visits/v-1?fields=diagnosis,room']) {
        const seen = await ask(clinic, 'dora', 'GET', path, { headers: { accept: type } })
        const covered = await ask(clinic, 'dirk', 'GET', path, { headers: { accept: type } })
        if (seen.status === 406) continue
        assert.deepEqual([seen.status, covered.status], [200, 200])
        assert.match(seen.text, /flu/, path)
        assert.doesNotMatch(covered.text, /flu/, path)
        assert.notEqual(seen.etag, covered.etag)
      }
    })

  test('A4.18 callers that see other fields have other tags, and each tag holds for its own', async () => {
    await using clinic = await open()
    const at = '/api/v2/visits/v-1'
    const [dora, pat] = [await ask(clinic, 'dora', 'GET', at), await ask(clinic, 'pat', 'GET', at)]
    const quin = await ask(clinic, 'quin', 'GET', at)
    assert.equal(new Set([dora.etag, pat.etag, quin.etag]).size, 3)
    assert.equal((await ask(clinic, 'pat', 'GET', at, { headers: { 'if-none-match': pat.etag } })).status, 304)
    assert.equal((await ask(clinic, 'pat', 'GET', at, { headers: { 'if-none-match': quin.etag } })).status, 200)
  })

  test('RFC 7396, RFC 6902 a patch neither removes nor tests what the caller may not set or see', async () => {
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
    assert.match(removed.text, /fee.*set by other callers/s)
    assert.equal((await patch('dirk', merge, { diagnosis: null, room: 'c' })).status, 200)
    assert.equal((await patch('dirk', operations, [{ op: 'test', path: '/diagnosis', value: 'flu' }])).status, 409)
    assert.equal((await patch('dirk', operations, [{ op: 'copy', from: '/diagnosis', path: '/room' }])).status, 409)
    for (const margin of [3, 4]) assert.equal((await patch('dora', merge, { margin })).status, 422)
    assert.match((await ask(clinic, 'dora', 'GET', at)).text, /"diagnosis":"flu"/)
  })

  test('a form in a browser has no field that its reader may not see or set', async () => {
    await using clinic = await open()
    const html = { headers: { accept: 'text/html' } }
    const nameOf = (field: string) => new RegExp(`name="${field}"`)
    const page = await ask(clinic, 'dirk', 'GET', '/api/v2/visits/v-1', html)
    assert.match(page.text, nameOf('fee'))
    assert.doesNotMatch(page.text, /whisper|diagnosis/)
    const list = await ask(clinic, 'dirk', 'GET', '/api/v2/visits', html)
    assert.doesNotMatch(list.text, nameOf('diagnosis'))
    assert.doesNotMatch((await ask(clinic, 'dora', 'GET', '/api/v2/visits/v-1', html)).text, nameOf('fee'))
  })

  test('content with a field for others is refused, and nothing of it is stored', async () => {
    await using clinic = await open()
    const body = JSON.stringify({ patient: 'pat', room: 'a', diagnosis: 'flu' })
    const refused = await ask(clinic, 'dirk', 'POST', '/api/v2/visits', { headers: json, body })
    assert.equal(refused.status, 422)
    assert.match(refused.text, /"pointer":"#?\/diagnosis"/)
    assert.equal((await Array.fromAsync(clinic.rest('dora').visits.list())).length, 1)
  })
})

describe('what descriptions say of such fields', () => {
  test('A5.3 the access matrix lists them', () => {
    assert.match(writeAccessMatrix(clinic), /- visits\.diagnosis: Visible to doctor, patient \(own patient\) alone/)
  })
  test('A2.1 a field that not all may see is required nowhere, and its rule is told', async () => {
    await using clinic = await open()
    const read = async (path: string) => (await clinic.fetchAs()(`${clinic.address}${path}`)).text()
    const { components } = JSON.parse(await read('/openapi.json'))
    const { properties, required } = components.schemas['v2.Visit']
    assert.match(
      properties.diagnosis.description,
      /^Visible to doctor, patient \(own patient\) alone\. Set by doctor alone\.$/,
    )
    assert.equal(properties.room.description, 'Set in the state booked alone.')
    assert.ok(!required.includes('diagnosis') && !required.includes('margin') && required.includes('room'))
    assert.match(await read('/soap/v2?wsdl'), /name="diagnosis"[^>]* minOccurs="0"/)
  })
})

describe('mistakes of such rules are told at start', () => {
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
      /things\.a\.b has visibleTo, which is for the fields of a resource/,
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
    ['a key', { a: t.string({ max: 9 }).visibleTo(desk) }, { unique: [['a']] }, /unique names "a".*add settableBy/],
    [
      'a shared cache',
      { a: t.string().visibleTo(desk) },
      { cache: { maxAge: 9 }, allow: { read: [anyone] } },
      /cache keeps one answer for all callers/,
    ],
    [
      'an unknown owner',
      { a: t.string().visibleTo(desk.owning({ nobody: 'x' }) as Grant) },
      {},
      /names "nobody", which is not a scalar field/,
    ],
  ] as const)
    test(what, () => assert.match(mistakesOf({ ...own, ...fields }, rules), expected))
})
