/** Links of an item: which it has, and that they do not depend on the request that asks first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyone, implement, resource, role, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const owners = resource('owners', { fields: { id: t.id('o'), name: t.string() } }).rules({ allow: { read: [anyone] } })
const pets = resource('pets', {
  fields: { id: t.id('p'), owner: t.ref('owners'), keeper: t.ref('owners').optional() },
}).rules({ relations: { owner: { by: 'owner' }, keeper: { by: 'keeper' } }, allow: { read: [anyone] } })
const zoo = service('zoo', { namespace: 'urn:test:zoo', resources: [owners, pets], versions: { v1: {} } })
const app = implement(
  zoo,
  {},
  {
    seed: () => ({
      items: {
        owners: [
          { id: 'o-1', name: 'Ann' },
          { id: 'o-2', name: 'Bob' },
        ],
        pets: [
          { id: 'p-1', owner: 'o-1', keeper: 'o-2' },
          { id: 'p-2', owner: 'o-1' },
        ],
      },
    }),
  },
)

test('A3.4 an item has a link to each item that it names, and none if it names none', async () => {
  await using running = await startTestService(zoo, app)
  const send = running.fetchAs()
  const ask = (id: string, fields: Record<string, string> = {}) =>
    send(`${running.address}/api/v1/pets/${id}`, { headers: { accept: 'application/json', ...fields } })
  const linksOf = async (id: string) => ((await (await ask(id)).json()) as { _links: object })._links
  const common = (id: string) => ({
    self: { href: `/api/v1/pets/${id}` },
    collection: { href: '/api/v1/pets' },
    owner: { href: '/api/v1/owners/o-1' },
  })
  const tags = new Map<string, string>()
  for (const id of ['p-1', 'p-2']) tags.set(id, (await ask(id)).headers.get('etag') ?? '')
  const version = (tag = '') => tag.split('-').slice(1).join()
  assert.notEqual(version(tags.get('p-1')), version(tags.get('p-2')), 'other links are another variant')
  for (let turn = 0; turn < 3; turn++) {
    for (const [id, tag] of tags) assert.equal((await ask(id, { 'if-none-match': tag })).status, 304)
    assert.deepEqual(await linksOf('p-1'), { ...common('p-1'), keeper: { href: '/api/v1/owners/o-2' } })
    assert.deepEqual(await linksOf('p-2'), common('p-2'))
  }
})

test('A3.4 an item has links to what its reader may ever read, and none to the rest', async () => {
  const nurse = role('nurse')
  const wards = resource('wards', { fields: { id: t.id('w') } }).rules({
    allow: { read: [nurse] },
    relations: { beds: { of: 'beds', by: 'ward' } },
  })
  const drawers = resource('drawers', { fields: { id: t.id('d') } }).rules({ allow: { create: [nurse] } })
  const beds = resource('beds', {
    fields: { id: t.id('b'), ward: t.ref('wards'), drawer: t.ref('drawers') },
  }).rules({
    allow: { read: [anyone] },
    relations: { ward: { by: 'ward' }, drawer: { by: 'drawer' }, notes: { of: 'notes', by: 'bed' } },
  })
  const notes = resource('notes', { fields: { id: t.id('n'), bed: t.ref('beds') } }).rules({ allow: { read: [nurse] } })
  const hospital = service('hospital', { namespace: 'urn:test:hospital', resources: [wards, drawers, beds, notes] })
  const items = { wards: [{ id: 'w-1' }], drawers: [{ id: 'd-1' }], beds: [{ id: 'b-1', ward: 'w-1', drawer: 'd-1' }] }
  await using running = await startTestService(hospital, implement(hospital, {}, { seed: () => ({ items }) }))
  const readBed = async (send: typeof fetch) => {
    const response = await send(`${running.address}/api/beds/b-1`, { headers: { accept: 'application/json' } })
    const { _links } = (await response.json()) as { _links: Record<string, { href: string }> }
    return { links: Object.keys(_links).toSorted(), tag: response.headers.get('etag') }
  }
  for (let turn = 0; turn < 2; turn++) {
    const [stranger, nurses] = [
      await readBed(running.fetchAs()),
      await readBed(running.fetchAs({ subject: 'ann', roles: ['nurse'] })),
    ]
    assert.deepEqual(stranger.links, ['collection', 'self'])
    assert.deepEqual(nurses.links, ['collection', 'notes', 'self', 'ward'], 'drawers are read by nobody')
    assert.notEqual(stranger.tag, nurses.tag)
  }
})

test('A3.4 each caller has its own links and tag, also when an item has more than 53 links', async () => {
  const verbs = Array.from({ length: 70 }, (_, i) => `step${i}`)
  const [cook, waiter] = [role('cook'), role('waiter')]
  const plans = resource('plans', {
    fields: { id: t.id('p'), state: t.state() },
    states: ['open'],
    actions: on => Object.fromEntries(verbs.map(verb => [verb, on('open').to('open', { rel: `${verb}-result` })])),
  }).rules({
    allow: {
      read: [anyone],
      ...Object.fromEntries(verbs.map((verb, i) => [verb, i === 0 ? [cook] : i === 1 ? [waiter] : [cook, waiter]])),
    },
  })
  const kitchen = service('kitchen', { namespace: 'urn:test:kitchen', resources: [plans] })
  const handlers = { plans: Object.fromEntries(verbs.map(verb => [verb, () => {}])) }
  const seed = () => ({ items: { plans: [{ id: 'p-1', state: 'open' as const }] } })
  await using running = await startTestService(kitchen, implement(kitchen, handlers, { seed }))
  const readPlan = async (subject: string) => {
    const send = running.fetchAs({ subject, roles: [subject] })
    const response = await send(`${running.address}/api/plans/p-1`, { headers: { accept: 'application/json' } })
    const { _links } = (await response.json()) as { _links: Record<string, { href: string }> }
    return { links: verbs.filter(verb => `${verb}-result` in _links), tag: response.headers.get('etag') }
  }
  const [cooks, waiters] = [await readPlan('cook'), await readPlan('waiter')]
  assert.deepEqual(
    cooks.links,
    verbs.filter(verb => verb !== 'step1'),
  )
  assert.deepEqual(
    waiters.links,
    verbs.filter(verb => verb !== 'step0'),
  )
  assert.notEqual(cooks.tag, waiters.tag)
})
