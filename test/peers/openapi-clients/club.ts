/** A contract with what generators stumble over: unions, maps, null, defaults, declared faults, two versions, files. */
import { anyone, fault, implement, resource, service, t } from '../../../src/index.ts'

const Grounded = fault('Grounded', {
  status: 409,
  title: 'The boat is on land',
  detail: { until: t.date().optional() },
})
const boats = resource('boats', {
  title: 'Boats',
  fields: {
    id: t.id('b'),
    name: t.string({ min: 1, max: 60 }),
    harbour: t.enum('north', 'south').default('north'),
    berth: t.int({ min: 1 }),
    length: t.decimal(5, 2),
    engine: t.union('kind', {
      sail: { area: t.int({ min: 1 }) },
      motor: { power: t.double({ min: 0, max: 5000 }), fuel: t.enum('diesel', 'petrol') },
    }),
    names: t.map(t.string(), { max: 5 }).optional(),
    equipment: t.list(t.object({ what: t.string(), count: t.int() }, 'Equipment')).optional(),
    rate: t.decimal(7, 2).nullable(),
    note: t.string({ max: 200 }).nullable().optional(),
    checked: t.dateTime().optional(),
    state: t.state(),
  },
  states: ['ashore', 'afloat'],
  actions: on => ({
    launch: on('ashore').to('afloat', { rel: 'departure', input: { tide: t.int().optional() }, faults: [Grounded] }),
  }),
  files: { photo: { mediaTypes: ['image/png'], max: 100_000 } },
}).rules({
  filter: ['harbour', 'length', 'name'],
  sort: ['name', 'length'],
  unserved: 'accept',
  search: ['name'],
  edit: ['ashore', 'afloat'],
  remove: ['ashore'],
  bulk: true,
  allow: {
    read: [anyone],
    create: [anyone],
    change: [anyone],
    remove: [anyone],
    bulk: [anyone],
    launch: [anyone],
  },
})
const club = service('club', {
  namespace: 'urn:example:club',
  title: 'Boat club',
  resources: [boats],
  searches: { of: 'boats', allow: [anyone] },
  versions: { v1: { without: { boats: ['checked'] } }, v2: {} },
})

export default implement(club, {
  boats: {
    launch: ctx => ctx.fail(Grounded, { until: '2027-01-01' }),
  },
})
