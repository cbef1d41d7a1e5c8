/** What a service seeds has passed the checks of content from outside; else it does not start. */
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
  ['an identifier twice', { items: { products: [product, product] } }, /products p-1 is there twice/],
  [
    'a resource that the contract does not have',
    { items: { baskets: [{ id: 'b-1' }] } },
    /"baskets", which is not a stored resource: use /,
  ],
  [
    'a person twice',
    { people: [1, 2].map(() => ({ subject: 'ann', password: 'x', roles: ['clerk'] })) },
    /ann is there twice/,
  ],
  ['a person without a password', { people: [{ subject: 'ann', password: '', roles: [] }] }, /password must be a text/],
  [
    'the same mistake in many items',
    { items: { products: Array.from({ length: 30 }, (_, i) => ({ ...product, id: `p-${i}`, stock: -1 })) } },
    /20 more mistakes in the seed of products$/,
  ],
]
test('a role that no rule names of the seed is told once, and the service starts', async () => {
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

test('a seed is refused at start: a list of a single resource, which the compiler does not see', async () => {
  const settings = resource('settings', { single: true, fields: { opens: t.string() } }).rules({
    allow: { read: [anyone] },
  })
  const seed = () => ({ items: { settings: [{ opens: '8' }] } })
  const inn = implement(service('inn', { namespace: 'urn:inn', resources: [settings] }), {}, { seed: seed as never })
  await assert.rejects(
    startService(inn, { port: 0, data: ':memory:' }),
    /the seed of settings is a list, and settings is single: write its one item without brackets/,
  )
})
