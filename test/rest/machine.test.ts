import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { orders } from '../../examples/orders/contract.ts'
import { type Answer, json, type OrdersOverRest, order, startOrders } from './orders-over-rest.ts'

/** The content of each action of an order. */
const content: Readonly<Record<string, (total: string) => object>> = {
  pay: total => ({ method: 'card', amount: total }),
  cancel: () => ({}),
  ship: () => ({ carrier: 'dhl' }),
  deliver: () => ({}),
}
const path = (verb: string): string => orders.actions[verb as keyof typeof orders.actions].rel

async function act(shop: OrdersOverRest, location: string, verb: string): Promise<Answer> {
  const { json: current } = await shop.as.maria('GET', location)
  return shop.as.maria('POST', `${location}/${path(verb)}`, json, content[verb]?.(current.total))
}

/** The shortest way to each state, from the machine itself. */
function findWays(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>([['placed', []]])
  for (const [state, way] of found)
    for (const [verb, to] of Object.entries(orders.machine[state] ?? {}))
      if (!found.has(to)) found.set(to, [...way, verb])
  return found
}

async function orderIn(shop: OrdersOverRest, way: readonly string[]): Promise<string> {
  const made = await shop.as.maria('POST', '/api/v1/orders', json, order)
  const location = made.fields['location'] ?? ''
  for (const verb of way) assert.ok((await act(shop, location, verb)).status < 300)
  return location
}

describe('A3.4 the machine of orders, walked', async () => {
  const shop = await startOrders()
  const transitions = Object.entries(orders.actions).filter(([, action]) => action.effect === 'transition')
  const reached = findWays()

  it('every state is reached', () => assert.deepEqual([...reached.keys()].sort(), [...orders.states].sort()))

  for (const [state, way] of reached) {
    for (const [verb, action] of transitions) {
      const to = orders.machine[state]?.[verb]
      if (to !== undefined)
        it(`${state} → ${verb} → ${to}`, async () => {
          const location = await orderIn(shop, way)
          const before = await shop.as.maria('GET', location)
          assert.equal(before.json._links[action.link].href, `${location}/${action.rel}`)
          assert.ok((await act(shop, location, verb)).status < 300)
          assert.equal((await shop.as.maria('GET', location)).json.state, to)
        })
      else
        it(`${state} offers no ${verb}`, async () => {
          const location = await orderIn(shop, way)
          const before = await shop.as.maria('GET', location)
          assert.equal(before.json._links[action.link], undefined)
          const refused = await act(shop, location, verb)
          assert.equal(refused.status, 409)
          assert.equal(refused.json.state, state)
          const possible = Object.keys(orders.machine[state] ?? {})
          assert.deepEqual(refused.json.possible, possible)
          assert.deepEqual(
            Object.values<{ href: string }>(refused.json._links).map(link => link.href),
            possible.map(each => `${location}/${path(each)}`),
          )
          const after = await shop.as.maria('GET', location)
          assert.equal(after.fields['etag'], before.fields['etag'])
        })
    }

    it(`${state}: edit, delete and tracking are linked where they are possible, and only there`, async () => {
      const location = await orderIn(shop, way)
      const { json: is, fields } = await shop.as.maria('GET', location)
      const links = Object.keys(is._links)
      assert.equal(links.includes('edit'), state === 'placed')
      assert.equal(links.includes('delete'), state === 'cancelled')
      assert.equal(links.includes('tracking'), state === 'shipped' || state === 'delivered')
      const match = { 'if-match': fields['etag'] ?? '' }
      const edited = await shop.as.maria('PUT', location, { ...json, ...match }, order)
      assert.equal(edited.status, state === 'placed' ? 200 : 409)
      const tracked = await shop.as.maria('GET', `${location}/tracking`)
      assert.equal(tracked.status, links.includes('tracking') ? 200 : 404)
      const removed = await shop.as.maria('DELETE', location, {
        'if-match': edited.fields['etag'] ?? match['if-match'],
      })
      assert.equal(removed.status, state === 'cancelled' ? 204 : 409)
    })
  }

  it('A5.2 a caller sees only the links that he may follow', async () => {
    const location = await orderIn(shop, ['pay'])
    assert.ok((await shop.as.clara('GET', location)).json._links.shipment)
    assert.equal((await shop.as.alice('GET', location)).json._links.shipment, undefined)
    assert.ok((await shop.as.alice('GET', location)).json._links.cancel)
  })
})
