/**
 * What cannot be does not compile: each expectation below is an error of the type checker, or the
 * check itself fails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PaymentDeclined, shop } from '../../examples/orders/contract.ts'
import { createSoapClient, FaultError, type SoapClient, StateConflict } from '../../src/client/index.ts'
import type { Service } from '../../src/contract/service.ts'
import { compileMessages } from '../../src/contract/xml-message.ts'
import { anyone, fault, job, resource, role, service, t } from '../../src/index.ts'
import { address, came, cannedTransport } from './canned.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}
type Ask<C> = C extends (...given: infer A) => unknown ? NonNullable<A[0]> : never
type Told<C> = C extends (...given: never[]) => Promise<infer R> ? R : never

const transport = cannedTransport(() => came(202, undefined))

/** Nothing here is called: the checker reads it. */
const unasked = (_: () => unknown): void => {}

type Orders = SoapClient<typeof shop, 'v2'>
type Old = SoapClient<typeof shop, 'v1'>

test('one method for each message of the contract, and one member for each resource and job', () => {
  const client = createSoapClient(shop, { address, transport, version: 'v2' })
  const names = compileMessages(shop as unknown as Service, 'v2').map(each => each.operation.name)
  const surface = ['orders', 'customers', 'products', 'reports'] as const
  assert.deepEqual(Object.keys(client), [...surface, 'close', ...names])
  same<
    Exclude<keyof Orders, (typeof surface)[number] | 'close' | symbol>,
    | 'GetOrder'
    | 'ListOrders'
    | 'CreateOrder'
    | 'ReplaceOrder'
    | 'DeleteOrder'
    | 'PayOrder'
    | 'CancelOrder'
    | 'ShipOrder'
    | 'TrackOrder'
    | 'DeliverOrder'
    | 'NotifyDelivery'
    | 'SearchOrders'
    | 'GetCustomer'
    | 'ListCustomers'
    | 'MergeCustomer'
    | 'GetProduct'
    | 'ListProducts'
    | 'CreateProduct'
    | 'GetProductPicture'
    | 'PutProductPicture'
    | 'StartReport'
    | 'GetReportJob'
  >(true)
  const listed: readonly (keyof Orders)[] = Object.keys(client) as (keyof Orders)[]
  assert.equal(listed.length, 27)
  // @ts-expect-error products cannot be deleted by a message
  assert.equal(client.DeleteProduct, undefined)
})

test('arguments and replies have the types of the messages', () => {
  same<Ask<Orders['GetOrder']>, { readonly id: string }>(true)
  same<
    Ask<Orders['PayOrder']>,
    { readonly id: string; readonly version?: string; readonly method: 'card' | 'transfer'; readonly amount: string }
  >(true)
  same<Told<Orders['PayOrder']>['payment'], { readonly id: string; readonly amount: string; readonly receipt: string }>(
    true,
  )
  same<Told<Orders['GetOrder']>['order']['state'], 'placed' | 'paid' | 'shipped' | 'delivered' | 'cancelled'>(true)
  same<Told<Orders['GetOrder']>['order']['version'], string>(true)
  same<
    Told<Orders['GetOrder']>['order']['lines'][number],
    { readonly product: string; readonly quantity: number; readonly price: string }
  >(true)
  same<Told<Orders['ListOrders']>['next'], string | undefined>(true)
  same<Told<Orders['GetProductPicture']>['picture'], Uint8Array>(true)
  same<Told<Orders['NotifyDelivery']>, void>(true)
  same<keyof Told<Orders['DeleteOrder']>, never>(true)
  same<Told<Orders['GetReportJob']>['job']['state'], 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'>(true)
  same<NonNullable<Told<Orders['GetReportJob']>['report']>['rows'][number]['quantity'], bigint>(true)
  same<Ask<Orders['SearchOrders']>['state'], 'placed' | 'paid' | 'shipped' | 'delivered' | 'cancelled' | undefined>(
    true,
  )
})

test('impossible calls do not compile', () => {
  unasked(() => {
    const client = createSoapClient(shop, { address, transport, version: 'v2' })
    const order = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 1 }], currency: 'EUR' } as const
    // @ts-expect-error an id is required
    client.GetOrder({})
    // @ts-expect-error it has to be said
    client.GetOrder()
    client.ListOrders()
    // @ts-expect-error no such field
    client.GetOrder({ id: 'o-1', more: true })
    // @ts-expect-error cash is not taken
    client.PayOrder({ id: 'o-1', method: 'cash', amount: '1.00' })
    // @ts-expect-error money is decimal text
    client.PayOrder({ id: 'o-1', method: 'card', amount: 1 })
    // @ts-expect-error the total is the server's
    client.CreateOrder({ order: { ...order, total: '1.00' } })
    // @ts-expect-error so is a line's price
    client.CreateOrder({ order: { ...order, lines: [{ product: 'p-1', quantity: 1, price: '1.00' }] } })
    // @ts-expect-error a product has a price
    client.CreateProduct({ product: { name: 'Tea', stock: 1 } })
    // @ts-expect-error orders are not filtered by their lines
    client.ListOrders({ lines: [] })
    // @ts-expect-error searches are narrowed by state and customer alone
    client.SearchOrders({ q: 'tea', currency: 'EUR' })
    // @ts-expect-error octets are octets
    client.PutProductPicture({ id: 'p-1', picture: 'x', mediaType: 'image/png' })
    // @ts-expect-error an order has no colour
    client.GetOrder({ id: 'o-1' }).then(({ order }) => order.colour)
    // @ts-expect-error there are v1 and v2
    createSoapClient(shop, { address, version: 'v3' })
    // @ts-expect-error a user has a password
    createSoapClient(shop, { address, credentials: { user: 'clara' } })
  })
})

test('a version has the fields that it knows', () => {
  same<'note' extends keyof Told<Orders['GetOrder']>['order'] ? true : false, true>(true)
  same<'note' extends keyof Told<Old['GetOrder']>['order'] ? true : false, false>(true)
  same<'note' extends keyof Ask<Orders['ListOrders']> ? true : false, true>(true)
  same<'note' extends keyof Ask<Old['ListOrders']> ? true : false, false>(true)
  unasked(() => {
    const order = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 1 }], currency: 'EUR' } as const
    createSoapClient(shop, { address, version: 'v2' }).CreateOrder({ order: { ...order, note: 'x' } })
    createSoapClient(shop, { address }).CreateOrder({ order: { ...order, note: 'x' } })
    // @ts-expect-error v1 has no note
    createSoapClient(shop, { address, version: 'v1' }).CreateOrder({ order: { ...order, note: 'x' } })
  })
})

test('a field that a grant binds to a claim of the caller may be left out', () => {
  same<Ask<Orders['CreateOrder']>['order']['customer'], string | undefined>(true)
})

test('declared faults have their detail', () => {
  unasked(async () => {
    const client = createSoapClient(shop, { address, version: 'v2' })
    try {
      await client.PayOrder({ id: 'o-1', method: 'card', amount: '1.00' })
    } catch (thrown) {
      if (!(thrown instanceof FaultError)) throw thrown
      if (thrown.is(PaymentDeclined)) same<typeof thrown.detail, { readonly reason: string }>(true)
      // @ts-expect-error a StateConflict has no reason
      if (thrown.is(StateConflict)) thrown.detail.reason
      if (!thrown.is(...client.PayOrder.faults)) throw thrown
      switch (thrown.fault) {
        case 'PaymentDeclined':
          return thrown.detail.reason
        case 'StateConflict':
          return thrown.detail.possible
        // @ts-expect-error to pay does not fail so
        case 'OutOfStock':
          return
      }
    }
  })
})

// Names and shapes that the orders do not have.

const Torn = fault('Torn', { status: 409, title: 'Torn', detail: { where: t.string() } })
const boxes = resource('boxes', {
  fields: {
    id: t.id('b'),
    version: t.int(),
    secret: t.string().internal(),
    page: t.int(),
    owner: t.string(),
    content: t.union('kind', { letter: { text: t.string() }, coin: { worth: t.long() } }),
  },
  actions: on => ({
    open: on().stay({
      rel: 'lid',
      input: { id: t.string(), force: t.boolean().optional() },
      output: { creaks: t.boolean() },
      faults: [Torn],
    }),
    drop: on().stay({ rel: 'fall' }),
    weigh: on().read({ rel: 'weight', output: { grams: t.double() } }),
  }),
  files: { photo: { mediaTypes: ['image/png'], max: 10 } },
}).rules({
  one: 'crate',
  filter: ['page'],
  allow: { read: [anyone], create: [role('packer').owning({ owner: 'name' })], remove: [], open: [anyone] },
})
const counts = job('tallies', { one: 'tally', input: { of: t.string() }, output: { count: t.long() }, allow: [anyone] })
const store = service('store', { namespace: 'urn:store', resources: [boxes], jobs: [counts] })

test('names that the contract gives, takes or collides with', () => {
  type Store = SoapClient<typeof store>
  const client = createSoapClient(store, { address, transport })
  same<
    Exclude<keyof Store, 'boxes' | 'tallies' | 'close' | symbol>,
    | 'GetCrate'
    | 'ListBoxes'
    | 'CreateCrate'
    | 'OpenCrate'
    | 'WeighCrate'
    | 'GetCratePhoto'
    | 'StartTally'
    | 'GetTallyJob'
  >(true)
  const { close: _, boxes, tallies, ...operations } = client
  assert.deepEqual(
    [Object.keys(boxes), Object.keys(tallies)],
    [
      ['get', 'list', 'create', 'open', 'weigh', 'photo'],
      ['start', 'run'],
    ],
  )
  assert.deepEqual(Object.keys(operations).sort(), [
    'CreateCrate',
    'GetCrate',
    'GetCratePhoto',
    'GetTallyJob',
    'ListBoxes',
    'OpenCrate',
    'StartTally',
    'WeighCrate',
  ])
  same<
    Told<Store['GetCrate']>['crate'],
    {
      readonly id: string
      readonly version: number
      readonly page: number
      readonly owner: string
      readonly content:
        | { readonly kind: 'letter'; readonly text: string }
        | { readonly kind: 'coin'; readonly worth: bigint }
      readonly version2: string
    }
  >(true)
  same<Ask<Store['ListBoxes']>['where'], { readonly page?: number } | undefined>(true)
  same<
    Ask<Store['OpenCrate']>,
    {
      readonly id: string
      readonly version?: string
      readonly input: { readonly id: string; readonly force?: boolean }
    }
  >(true)
  same<Told<Store['OpenCrate']>, { readonly lid: { readonly creaks: boolean } }>(true)
  same<Told<Store['WeighCrate']>, { readonly weight: { readonly grams: number } }>(true)
  same<Ask<Store['CreateCrate']>['crate']['owner'], string | undefined>(true)
  same<'secret' extends keyof Told<Store['GetCrate']>['crate'] ? true : false, false>(true)
  same<NonNullable<Told<Store['GetTallyJob']>['tally']>, { readonly count: bigint }>(true)
  const names: readonly ('Torn' | 'StateConflict' | 'NotFound' | 'VersionConflict' | 'Invalid' | 'Forbidden')[] =
    client.OpenCrate.faults.map(each => each.fault)
  assert.equal(names[0], 'Torn')
})

test('a contract whose names are not known gives rows', () => {
  const client = createSoapClient(store as unknown as Service, { address, transport })
  same<Told<(typeof client)['GetCrate']>, Readonly<Record<string, unknown>>>(true)
  assert.equal(typeof client['GetCrate'], 'function')
})

test('singulars are those that the contract makes', () => {
  const names = [
    'categories',
    'boxes',
    'classes',
    'matches',
    'dishes',
    'quizzes',
    'buses',
    'glass',
    'lines',
    'fish',
    'cases',
    'houses',
    'licenses',
    'sizes',
    'statuses',
    'census',
    'analysis',
  ] as const
  for (const name of names) {
    const one = resource(name, { fields: { id: t.id('x') } }).rules({ allow: { read: [anyone] } })
    const [operation] = compileMessages(
      service('s', { namespace: 'urn:s', resources: [one] }) as unknown as Service,
      'v1',
    )
    const singular = operation?.operation.name.slice(3)
    const typed: Record<(typeof names)[number], string> = singulars
    assert.equal(singular, typed[name])
  }
})
const of = <const N extends string>(name: N) =>
  resource(name, { fields: { id: t.id('x') } }).rules({ allow: { read: [anyone] } })
type One<R> = R extends { types: { rules: { one: infer O extends string } } } ? Capitalize<O> : never
const kinds = {
  categories: of('categories'),
  boxes: of('boxes'),
  classes: of('classes'),
  matches: of('matches'),
  dishes: of('dishes'),
  quizzes: of('quizzes'),
  buses: of('buses'),
  glass: of('glass'),
  lines: of('lines'),
  fish: of('fish'),
  cases: of('cases'),
  houses: of('houses'),
  licenses: of('licenses'),
  sizes: of('sizes'),
  statuses: of('statuses'),
  census: of('census'),
  analysis: of('analysis'),
}
const singulars: { readonly [K in keyof typeof kinds]: One<(typeof kinds)[K]> } = {
  categories: 'Category',
  boxes: 'Box',
  classes: 'Class',
  matches: 'Match',
  dishes: 'Dish',
  quizzes: 'Quizz',
  buses: 'Bus',
  glass: 'Glass',
  lines: 'Line',
  fish: 'Fish',
  cases: 'Case',
  houses: 'House',
  licenses: 'License',
  sizes: 'Size',
  statuses: 'Status',
  census: 'Census',
  analysis: 'Analysis',
}
