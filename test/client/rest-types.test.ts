/**
 * The types of the REST client: what the machine, the rules or the version of a contract do not
 * allow does not compile. Each expectation below is an error of the type checker, or the check
 * itself fails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PaymentDeclined, shop } from '../../examples/orders/contract.ts'
import {
  createRestClient,
  createSoapClient,
  FaultError,
  type RestClient,
  type SoapClient,
} from '../../src/client/index.ts'
import { anyone, resource, service, t } from '../../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}
type Told<C> = C extends (...given: never[]) => Promise<infer R> ? R : never

/** Nothing here is called: the checker reads it. */
const unasked = (_: () => unknown): void => {}

type Orders = RestClient<typeof shop>
const address = 'http://127.0.0.1:8080/api'

test('one member for each resource and job, as values and as types', () => {
  same<Exclude<keyof Orders, symbol>, 'orders' | 'customers' | 'products' | 'reports' | 'close'>(true)
  const api = createRestClient(shop, { address })
  assert.deepEqual(Object.keys(api), ['orders', 'customers', 'products', 'reports', 'close'])
  const members: readonly (keyof Orders['orders'])[] = [
    ...(['pay', 'cancel', 'ship', 'track', 'deliver', 'get', 'list', 'search', 'create', 'replace', 'patch'] as const),
    ...(['remove', 'removeAll', 'offers'] as const),
  ]
  assert.deepEqual(Object.keys(api.orders), members)
  same<keyof Orders['orders'], (typeof members)[number]>(true)
})

test('an item is a union by its state', () => {
  type Order = Told<Orders['orders']['get']>
  same<Order['state'], 'placed' | 'paid' | 'shipped' | 'delivered' | 'cancelled'>(true)
  same<Extract<Order, { state: 'paid' }>['total'], string>(true)
  same<Order['note'], string | undefined>(true)
  same<Order['lines'][number], { readonly product: string; readonly quantity: number; readonly price: string }>(true)
  same<Told<Orders['orders']['pay']>, { readonly id: string; readonly amount: string; readonly receipt: string }>(true)
  same<Told<Orders['orders']['ship']>['state'], 'shipped'>(true)
  same<Told<Orders['orders']['cancel']>['state'], 'cancelled'>(true)
})

test('an action that the state of the item does not allow does not compile', () => {
  unasked(async () => {
    const api = createRestClient(shop, { address })
    const order = await api.orders.get('o-1')
    // @ts-expect-error only a paid order is shipped
    api.orders.ship(order, { carrier: 'dhl' })
    if (order.state === 'paid') {
      const shipped = await api.orders.ship(order, { carrier: 'dhl' })
      await api.orders.deliver(shipped)
      // @ts-expect-error a shipped order is not cancelled
      await api.orders.cancel(shipped)
      // @ts-expect-error a paid order is not paid again
      await api.orders.pay(order, { method: 'card', amount: '1.00' })
    }
    if (order.state === 'paid' || order.state === 'placed') await api.orders.cancel(order)
    if (order.state === 'shipped' || order.state === 'delivered') await api.orders.track(order)
    // @ts-expect-error only a placed order is edited
    if (order.state === 'paid') await api.orders.patch(order, { note: 'x' })
    // @ts-expect-error only a cancelled order is removed
    if (order.state !== 'cancelled') await api.orders.remove(order)
    // @ts-expect-error an action takes an item, which has its links and its tag
    await api.orders.cancel('o-1')
    // @ts-expect-error there is no such carrier
    if (order.state === 'paid') await api.orders.ship(order, { carrier: 'post' })
    // @ts-expect-error products have no actions
    api.products.pay
    // @ts-expect-error the contract does not grant it
    api.customers.removeAll({})
  })
})

test('filters, order and fields are those of the contract', () => {
  unasked(() => {
    const { orders, customers, products } = createRestClient(shop, { address })
    orders.list({ where: { total: { gte: '10.00' }, state: { in: ['paid'] } }, sort: ['-placedAt', 'total'] })
    orders.list({ where: { note: { absent: true } } })
    // @ts-expect-error an order always has its total
    orders.list({ where: { total: { absent: true } } })
    // @ts-expect-error it is or it is not
    orders.list({ where: { note: { absent: 'yes' } } })
    // @ts-expect-error orders are not filtered by their lines
    orders.list({ where: { lines: [] } })
    // @ts-expect-error money is decimal text
    orders.list({ where: { total: { gte: 10 } } })
    // @ts-expect-error there is no such comparison
    orders.list({ where: { total: { above: '10.00' } } })
    // @ts-expect-error there is no such state
    orders.list({ where: { state: 'lost' } })
    // @ts-expect-error orders are not sorted by their note
    orders.list({ sort: ['note'] })
    // @ts-expect-error a search is narrowed by state and customer alone
    orders.search('tea', { currency: 'EUR' })
    const identified = orders.list({ only: ['id'] })
    // @ts-expect-error the item has the fields that were asked for
    identified.first().then(({ items }) => items[0]?.total)
    products.create({ name: 'Tea', price: '1.00', stock: 1 }, { id: 'p-tea' })
    // @ts-expect-error the service names its orders itself
    orders.create({ lines: [{ product: 'p-1', quantity: 1 }], currency: 'EUR' }, { id: 'o-mine' })
    // @ts-expect-error the total is the server's
    orders.create({ lines: [], currency: 'EUR', total: '1.00' })
    // @ts-expect-error a required field cannot be removed
    customers.get('c-1').then(customer => customers.patch(customer, { name: null }))
    // @ts-expect-error a picture has a media type
    products.get('p-1').then(product => products.picture.put(product, new Uint8Array(0), {}))
  })
})

test('a version has the fields that it knows', () => {
  unasked(async () => {
    const old = createRestClient(shop, { address, version: 'v1' })
    const order = await old.orders.get('o-1')
    // @ts-expect-error v1 has no note
    order.note
    // @ts-expect-error v1 has no note
    if (order.state === 'placed') old.orders.patch(order, { note: 'x' })
    // @ts-expect-error there is no v3
    createRestClient(shop, { address, version: 'v3' })
  })
})

test('declared faults have their detail', () => {
  unasked((thrown?: unknown) => {
    if (thrown instanceof FaultError && thrown.is(PaymentDeclined))
      same<typeof thrown.detail, { readonly reason: string }>(true)
  })
})

test('values are those that handlers get: decimal text, bigint, ISO 8601 text, octets', () => {
  const things = resource('things', {
    fields: {
      id: t.id('x'),
      count: t.long(),
      day: t.date(),
      seal: t.bytes(),
      ratio: t.double(),
      price: t.decimal(9, 2),
    },
  }).rules({ allow: { read: [anyone], create: [anyone] } })
  const contract = service('shelf', { namespace: 'urn:shelf', resources: [things] })
  type Thing = Told<RestClient<typeof contract>['things']['get']>
  same<
    Thing,
    {
      readonly id: string
      readonly count: bigint
      readonly day: string
      readonly seal: Uint8Array
      readonly ratio: number
      readonly price: string
    }
  >(true)
  // @ts-expect-error nothing is granted that changes one
  unasked(() => createRestClient(contract, { address }).things.replace)
})

test('the same call with either client: one word differs', () => {
  unasked(async () => {
    const [rest, soap] = [createRestClient(shop, { address }), createSoapClient(shop, { address })]
    for (const client of [rest, soap]) {
      const order = await client.orders.get('o-1')
      if (order.state === 'paid') await client.orders.ship(order, { carrier: 'dhl' })
    }
    // @ts-expect-error nor by SOAP is an order shipped before it is paid
    soap.orders.get('o-1').then(order => soap.orders.ship(order, { carrier: 'dhl' }))
    // @ts-expect-error SOAP has no patches
    soap.orders.patch
  })
  same<keyof SoapClient<typeof shop>['orders'], Exclude<keyof Orders['orders'], 'patch' | 'removeAll' | 'offers'>>(true)
})
