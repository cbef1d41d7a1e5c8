/** The operations that `growth.ts` measures, on both faces. Ids, filters, words and amounts differ each time. */
import { orders } from '../examples/orders/contract.ts'
import { writeCursor } from '../src/rest/page-cursor.ts'
import { states, totalOf } from './growth-data.ts'

export interface Answer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}
export type Ask = (method: string, path: string, fields?: Record<string, string>, content?: string) => Promise<Answer>
export interface World {
  readonly ask: Ask
  readonly rows: number
  /** A number below a limit, the same at every run. */
  readonly below: (limit: number) => number
}
export interface Operation {
  readonly name: string
  /** Requests of one period. */
  readonly times: number
  /** Makes what one request needs; its cost is not counted. */
  readonly prepare?: (world: World) => Promise<string>
  readonly run: (world: World, prepared: string) => Promise<Answer>
}

const json = { 'content-type': 'application/json' }
const xml = { 'content-type': 'text/xml' }
const merge = { 'content-type': 'application/merge-patch+json', 'if-match': '*' }

const orderContent = ({ below }: World): string =>
  JSON.stringify({
    customer: `c-${1 + below(3)}`,
    lines: [{ product: `p-${1 + below(20)}`, quantity: 1 }],
    currency: 'EUR',
  })
const createOrder = async (world: World): Promise<Answer['json']> =>
  (await world.ask('POST', '/api/v2/orders', json, orderContent(world))).json
const createPaid = async (world: World, action?: 'payment' | 'cancellation'): Promise<string> => {
  const { id, total } = await createOrder(world)
  if (action === 'payment') await pay(world, `${id} ${total}`)
  if (action === 'cancellation') await world.ask('POST', `/api/v2/orders/${id}/cancellation`, json, '{}')
  return `${id} ${total}`
}
const pay = ({ ask }: World, of: string): Promise<Answer> => {
  const [id, amount] = of.split(' ')
  return ask('POST', `/api/v2/orders/${id}/payment`, json, JSON.stringify({ method: 'card', amount }))
}
const cancelled = (world: World): Promise<string> =>
  createPaid(world, 'cancellation').then(of => of.split(' ')[0] ?? '')
const size = ({ below }: World): string => `size=${20 + below(5)}`
const list = (name: string, query: (world: World) => string, times = 60): Operation => ({
  name,
  times,
  run: world => world.ask('GET', `/api/v2/orders?${query(world)}`),
})
const soap = (
  name: string,
  body: (world: World, prepared: string) => string,
  more: Partial<Operation> = {},
): Operation => ({
  name: `SOAP ${name}`,
  times: 60,
  run: (world, prepared) =>
    world.ask(
      'POST',
      '/soap/v2',
      xml,
      `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><${name} xmlns="urn:diglot:orders:v2">${body(world, prepared)}</${name}></e:Body></e:Envelope>`,
    ),
  ...more,
})
const range = '"from":"2026-01-01","to":"2026-01-31"'

/** Until it has ended, asked for as a client does that waits. */
async function finishJob({ ask }: World, started: Answer): Promise<Answer> {
  const id = started.json['id']
  for (;;) {
    const job = await ask('GET', `/api/v2/reports/jobs/${id}`)
    if (!['queued', 'running'].includes(String(job.json['state']))) return job
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

export const operations: readonly Operation[] = [
  {
    name: 'GET of an order',
    times: 400,
    run: ({ ask, rows, below }) => ask('GET', `/api/v2/orders/o-g${below(rows)}`),
  },
  {
    name: 'the same, 304',
    times: 400,
    prepare: async ({ rows, below }) => `o-g${below(rows)}`,
    run: ({ ask }, id) => ask('GET', `/api/v2/orders/${id}`, { 'if-none-match': '*' }),
  },
  { name: 'POST of an order', times: 60, run: world => world.ask('POST', '/api/v2/orders', json, orderContent(world)) },
  {
    name: 'POST with a key',
    times: 60,
    run: world =>
      world.ask('POST', '/api/v2/orders', { ...json, 'idempotency-key': `"${Math.random()}"` }, orderContent(world)),
  },
  {
    name: 'PATCH of a note',
    times: 60,
    run: ({ ask, rows, below }) =>
      ask('PATCH', `/api/v2/orders/o-g${5 * below(rows / 5)}`, merge, `{"note":"n${below(1e6)}"}`),
  },
  { name: 'payment', times: 30, prepare: world => createPaid(world), run: pay },
  {
    name: 'shipment, which changes a product',
    times: 30,
    prepare: world => createPaid(world, 'payment'),
    run: ({ ask }, of) => ask('POST', `/api/v2/orders/${of.split(' ')[0]}/shipment`, json, '{"carrier":"dhl"}'),
  },
  {
    name: 'DELETE of an order',
    times: 30,
    prepare: cancelled,
    run: ({ ask }, id) => ask('DELETE', `/api/v2/orders/${id}`, { 'if-match': '*' }),
  },
  {
    name: 'bulk removal of 5 orders, by id',
    times: 6,
    prepare: async world => [...(await Promise.all(Array.from({ length: 5 }, () => cancelled(world))))].join(),
    run: ({ ask }, ids) => ask('DELETE', `/api/v2/orders?state=cancelled&id[in]=${ids}`),
  },
  {
    name: 'merger of a customer without orders',
    times: 20,
    prepare: async ({ ask, below }) => {
      const content = JSON.stringify({ name: `Cy ${below(1e6)}`, email: 'c@example.org', tier: 'basic' })
      return String((await ask('POST', '/api/v2/customers', json, content)).json['id'])
    },
    run: ({ ask, below }, id) => ask('POST', `/api/v2/customers/${id}/merger`, json, `{"into":"c-${1 + below(3)}"}`),
  },
  list('list, first page', size),
  list('list by state', world => `state=${states[world.below(5)]}&${size(world)}`),
  list('list by state, sorted by total', world => `state=${states[world.below(5)]}&sort=-total&${size(world)}`),
  list('list by customer, sorted by total', world => `customer=c-${1 + world.below(3)}&sort=total&${size(world)}`),
  list('list by total', world => `total=${world.below(1000)}.00&${size(world)}`),
  list('list of totals above', world => `total[gte]=${world.below(900)}.00&sort=total&${size(world)}`),
  list('page 50', world => `page=50&${size(world)}`),
  {
    name: 'the page behind a cursor',
    times: 60,
    prepare: async ({ rows, below }) => {
      const at = below(rows)
      const place = { keys: [totalOf(at)], id: `o-g${at}`, backwards: false }
      const cursor = writeCursor(orders, [{ field: 'total', descending: false }], place)
      return `/api/v2/orders?size=20&total[gte]=${Math.floor(Number(totalOf(at)) / 2)}.00&sort=total&cursor=${cursor}`
    },
    run: ({ ask }, href) => ask('GET', href),
  },
  {
    name: 'orders of a customer',
    times: 60,
    run: world => world.ask('GET', `/api/v2/customers/c-${1 + world.below(3)}/orders?${size(world)}`),
  },
  {
    name: 'list, counted exactly',
    times: 20,
    run: world => world.ask('GET', `/api/v2/orders?state=paid&${size(world)}`, { prefer: 'count=exact' }),
  },
  {
    name: 'search, a word in one of 5,000',
    times: 30,
    run: world => world.ask('GET', `/api/v2/search?q=rare${world.below(5000)}&${size(world)}`),
  },
  {
    name: 'search, a word in one of ten',
    times: 30,
    run: world => world.ask('GET', `/api/v2/search?q=tenth${world.below(10)}&${size(world)}`),
  },
  {
    name: 'search, a word in no order',
    times: 30,
    run: world => world.ask('GET', `/api/v2/search?q=none${world.below(1e6)}&${size(world)}`),
  },
  {
    name: 'changes, 20 of them',
    times: 30,
    run: ({ ask, rows, below }) => ask('GET', `/changes?after=${below(rows / 20)}&limit=20`),
  },
  {
    name: 'a report of the stock, from start to end',
    times: 2,
    run: async world => finishJob(world, await world.ask('POST', '/api/v2/reports', json, `{${range},"kind":"stock"}`)),
  },
  { name: 'health', times: 100, run: ({ ask }) => ask('GET', '/health/ready') },
  soap('GetOrder', ({ rows, below }) => `<id>o-g${below(rows)}</id>`, { times: 200 }),
  soap(
    'CreateOrder',
    ({ below }) =>
      `<order><customer>c-${1 + below(3)}</customer><lines><line><product>p-${1 + below(20)}</product><quantity>1</quantity></line></lines><currency>EUR</currency></order>`,
  ),
  soap('PayOrder', (_, of) => `<id>${of.split(' ')[0]}</id><method>card</method><amount>${of.split(' ')[1]}</amount>`, {
    times: 30,
    prepare: world => createPaid(world),
  }),
  soap('ListOrders', ({ below }) => `<size>${20 + below(5)}</size><state>${states[below(5)]}</state>`),
  soap('SearchOrders', ({ below }) => `<q>rare${below(5000)}</q>`, { times: 30 }),
  soap('DeleteOrder', (_, id) => `<id>${id}</id>`, { times: 30, prepare: cancelled }),
]
