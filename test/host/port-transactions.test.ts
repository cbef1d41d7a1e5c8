/** Transactions of exchanges under contention: nothing is sold twice, on either database. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { anyone, exchange, implement, port, resource, service, t, x } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'
import { type Server, server } from '../store/postgres.ts'

const ns = x.namespace('urn:tickets')
const desk = port('Desk', {
  namespace: 'urn:tickets:wsdl',
  allow: [anyone],
  exchanges: {
    Sell: exchange({
      action: 'urn:sell',
      input: ns.element('Sell', x.string),
      output: ns.element('Sold', x.int),
      faults: { SoldOut: ns.element('SoldOut', x.string) },
      statuses: { SoldOut: 409 },
    }),
  },
})
const stocks = resource('stocks', { fields: { id: t.id('s'), left: t.int({ min: 0 }) } }).rules({
  allow: { read: [anyone] },
})
const contract = service('tickets', {
  namespace: 'urn:tickets',
  resources: [stocks],
  ports: [desk],
  limits: { changes: { count: 100_000, seconds: 60 } },
})
const seats = 30
/** How often the work of a transaction was begun. */
let begun = 0
const app = implement(
  contract,
  {
    Desk: {
      Sell: async (id, ctx) => {
        try {
          return await ctx.transaction(async tx => {
            begun++
            const stock = await tx.items.get('stocks', id)
            if (!stock || stock.left === 0) return tx.conflict('all are sold')
            await tx.items.change('stocks', id, { left: stock.left - 1 })
            return stock.left
          })
        } catch (thrown) {
          const refusal = ctx.refusalOf(thrown)
          if (refusal?.fault !== 'StateConflict') throw thrown
          return ctx.fail('SoldOut', refusal.reason)
        }
      },
    },
  },
  { seed: () => ({ items: { stocks: [{ id: 's-1', left: seats }] } }) },
)

/** Each seat that was sold, in order, and how many callers learned that there is none. */
async function sellAtOnce(instances: readonly Awaited<ReturnType<typeof startTestService<typeof contract>>>[]) {
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      const at = instances[i % instances.length] ?? assert.fail('no instance')
      const answer = await at.fetchAs()(`${at.address}/api/v1/Desk/Sell`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: '"s-1"',
      })
      return { status: answer.status, text: await answer.text() }
    }),
  )
  const of = (status: number) => answers.filter(each => each.status === status)
  return {
    seats: of(200)
      .map(({ text }) => Number(text))
      .sort((a, b) => a - b),
    refused: of(409).length,
    answers,
  }
}
const allSeats = Array.from({ length: seats }, (_, i) => i + 1)

test('on SQLite, each seat is sold once, and nobody else gets one', async () => {
  await using one = await startTestService(contract, app)
  const sold = await sellAtOnce([one])
  assert.deepEqual([sold.seats, sold.refused], [allSeats, 20])
  assert.equal((await one.rest().stocks.get('s-1')).left, 0)
})

describe('on PostgreSQL', () => {
  let postgres: Server
  before(async () => {
    postgres = await server()
  })
  after(() => postgres.stop())

  test('with two instances, each seat is sold once, and a work that collides runs again', async t => {
    const { url } = await postgres.place()
    if (url === undefined) return t.skip('PGlite has no address that two instances could open')
    await using one = await startTestService(contract, app, { database: url })
    await using other = await startTestService(contract, app, { database: url })
    begun = 0
    const sold = await sellAtOnce([one, other])
    assert.deepEqual([sold.seats, sold.refused], [allSeats, 20], JSON.stringify(sold.answers.slice(0, 3)))
    assert.ok(begun >= 50, `${begun} works`)
    assert.equal((await other.rest().stocks.get('s-1')).left, 0)
  })
})
