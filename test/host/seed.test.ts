/** A service's seed passes the checks of content from outside; else the service does not start. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from '../../examples/orders/service.ts'
import type { Implementation } from '../../src/contract/implement.ts'
import { startService } from '../../src/host/serve.ts'
import { anyone, implement, resource, service, t } from '../../src/index.ts'

type Seed = ReturnType<Implementation['seed']>
const seed = app.seed()
const [product = {}] = seed.items?.['products'] ?? []
const [customer = {}] = seed.items?.['customers'] ?? []
const [order = {}] = seed.items?.['orders'] ?? []
const png = { mediaType: 'image/png', bytes: Uint8Array.of(1, 2, 3) }
const base = { products: [product], customers: [customer] }

const cases: readonly (readonly [title: string, seed: Seed, says: RegExp])[] = [
  [
    'a decimal with too many places',
    { items: { products: [{ ...product, price: '80.005' }] } },
    /^the seed of products p-1: price .*: correct the seed$/,
  ],
  [
    'a required field that is missing',
    { items: { products: [{ ...product, name: undefined }] } },
    /products p-1: name is required/,
  ],
  [
    'a field that the contract does not have',
    { items: { products: [{ ...product, colour: 'red' }] } },
    /colour is not a known field/,
  ],
  ['an identifier that no address can name', { items: { products: [{ ...product, id: 'p 1' }] } }, /products p 1: id /],
  ['a state that the resource does not have', { items: { ...base, orders: [{ ...order, state: 'lost' }] } }, /state /],
  [
    'a reference to an item that is not seeded',
    { items: { ...base, orders: [{ ...order, customer: 'c-99' }] } },
    /orders o-1: customer refers to c-99, which does not exist in customers: seed it, too/,
  ],
  ['an identifier twice', { items: { products: [product, product] } }, /products p-1 occurs twice/],
  [
    'a resource that the contract does not have',
    { items: { baskets: [{ id: 'b-1' }] } },
    /"baskets", which is not a stored resource: use /,
  ],
  [
    'a person twice',
    { people: [1, 2].map(() => ({ subject: 'ann', password: 'x', roles: ['clerk'] })) },
    /ann occurs twice/,
  ],
  [
    'a file of no resource',
    { items: base, files: { orders: { 'o-1': { scan: png } } } },
    /the seed of orders o-1: scan is not a file of a stored resource/,
  ],
  [
    'a file of an item that is not there',
    { items: base, files: { products: { 'p-9': { picture: png } } } },
    /the seed of products p-9: picture belongs to no seeded item: seed the item, too/,
  ],
  [
    'a file of a media type that the contract does not name',
    { items: base, files: { products: { 'p-1': { picture: { ...png, mediaType: 'image/gif' } } } } },
    /picture has the media type image\/gif: use image\/png or image\/jpeg/,
  ],
  [
    'a file that is too long',
    { items: base, files: { products: { 'p-1': { picture: { ...png, bytes: 'x'.repeat(5 * 1024 * 1024 + 1) } } } } },
    /picture has 5242881 octets: give 5242880 at most/,
  ],
  [
    'a file without octets',
    { items: base, files: { products: { 'p-1': { picture: { mediaType: 'image/png' } as never } } } },
    /picture has no bytes: give a text or a Uint8Array/,
  ],
  ['a person without a password', { people: [{ subject: 'ann', password: '', roles: [] }] }, /password must be a text/],
  [
    'the same mistake in many items',
    { items: { products: Array.from({ length: 30 }, (_, i) => ({ ...product, id: `p-${i}`, stock: -1 })) } },
    /20 more mistakes in the seed of products$/,
  ],
]
test('a role in the seed that no rule names is reported once, and the service starts', async () => {
  const told: string[] = []
  const logger = { info() {}, warn: (fields: object) => void told.push(JSON.stringify(fields)), error: assert.ifError }
  const people = [
    { subject: 'ann', password: 'x', roles: ['clark', 'manager'] },
    { subject: 'bob', password: 'x', roles: ['clerk'] },
  ]
  const server = await startService(
    { ...app, seed: () => ({ people }) },
    { port: 0, data: ':memory:', logger, settings: { passwordsOnLoopback: true } },
  )
  await server.close()
  const roles = told.filter(each => each.includes('role'))
  assert.equal(roles.length, 1, told.join('\n'))
  assert.match(roles[0] ?? '', /ann: no policy of orders names the role clark: its roles are .*clerk/)
})

for (const [title, given, says] of cases)
  test(`a seed is refused at start: ${title}`, async () => {
    const start = startService({ ...app, seed: () => given }, { port: 0, data: ':memory:' })
    await assert.rejects(start, (thrown: Error) => {
      assert.equal(thrown.name, 'SeedMistakes')
      assert.match(thrown.message, says)
      return true
    })
  })

test('files of the seed are there from the start, also those of a single resource', async () => {
  const files = { note: { mediaTypes: ['text/plain'], max: 100 } }
  const allow = { read: [anyone] }
  const rooms = resource('rooms', { fields: { id: t.id('r') }, files }).rules({ allow })
  const hall = resource('hall', { single: true, fields: { opens: t.string() }, files }).rules({ allow })
  const inn = implement(
    service('inn', { namespace: 'urn:inn', resources: [rooms, hall] }),
    {},
    {
      seed: () => ({
        items: { rooms: [{ id: 'r-1' }, { id: 'r-2' }], hall: { opens: '8' } },
        files: {
          rooms: { 'r-1': { note: { mediaType: 'text/plain', bytes: 'schön' } } },
          hall: { note: { mediaType: 'text/plain', bytes: Uint8Array.of(0x61) } },
        },
      }),
    },
  )
  const server = await startService(inn, { port: 0, data: ':memory:' })
  const read = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/${path}`)
    return [answer.status, answer.status === 200 && (await answer.text())]
  }
  assert.deepEqual(await Promise.all(['rooms/r-1/note', 'hall/note', 'rooms/r-2/note'].map(read)), [
    [200, 'schön'],
    [200, 'a'],
    [404, false],
  ])
  await server.close()
})

test('a seed is refused at start: a list of a single resource, which the compiler does not see', async () => {
  const settings = resource('settings', { single: true, fields: { opens: t.string() } }).rules({
    allow: { read: [anyone] },
  })
  const seed = () => ({ items: { settings: [{ opens: '8' }] } })
  const inn = implement(service('inn', { namespace: 'urn:inn', resources: [settings] }), {}, { seed: seed as never })
  await assert.rejects(
    startService(inn, { port: 0, data: ':memory:' }),
    /the seed of settings is a list, but settings is a single resource: write its one item without brackets/,
  )
})

test('a seed that throws is refused at start, as the seed', async () => {
  const seed = () => {
    throw new Error('no such file')
  }
  const inn = implement(service('inn', { namespace: 'urn:inn', resources: [] }), {}, { seed: seed as never })
  await assert.rejects(
    startService(inn, { port: 0, data: ':memory:' }),
    /^Error: the seed of inn cannot be made: no such file$/,
  )
})
