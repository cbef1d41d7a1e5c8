import { anyone, fault, job, resource, role, service, t, type Value } from 'diglot'

const customer = role('customer')
const clerk = role('clerk')
const manager = role('manager')
const money = () => t.decimal(12, 2, { min: '0' })
const currency = () => t.enum('EUR', 'USD', 'GBP')

export const PaymentDeclined = fault('PaymentDeclined', {
  status: 422,
  title: 'Payment declined',
  detail: { reason: t.string() },
})
export const OutOfStock = fault('OutOfStock', {
  status: 409,
  title: 'Out of stock',
  detail: { product: t.ref('products'), stock: t.int() },
})

const Line = t.object(
  { product: t.ref('products'), quantity: t.int({ min: 1, max: 1_000_000 }), price: money().readOnly() },
  'Line',
)
const Payment = { id: t.id('pay'), amount: money(), receipt: t.string() }

export const products = resource('products', {
  fields: {
    id: t.id('p'),
    name: t.string({ min: 1, max: 100 }),
    price: money(),
    stock: t.int({ min: 0 }),
    description: t.string({ max: 2000 }).optional(),
  },
  files: { picture: { mediaTypes: ['image/png', 'image/jpeg'], max: 5 * 1024 * 1024 } },
}).rules({
  filter: ['id', 'name', 'price', 'stock', 'description'],
  sort: ['name', 'price', 'stock'],
  unserved: 'refuse',
  search: ['name', 'description'],
  putCreates: true,
  cache: { maxAge: 60 },
  messages: ['get', 'list', 'create', 'picture'],
  allow: { read: [anyone], create: [manager], change: [manager], remove: [manager] },
})

export const customers = resource('customers', {
  fields: {
    id: t.id('c'),
    name: t.string({ min: 1, max: 100 }),
    email: t.string({ max: 254, pattern: '[^@\\s]+@[^@\\s]+' }),
    tier: t.enum('basic', 'gold'),
  },
  actions: on => ({
    merge: on().moves({ rel: 'merger', input: { into: t.ref('customers') } }),
  }),
}).rules({
  relations: { orders: { of: 'orders', by: 'customer' } },
  filter: ['id', 'name', 'email', 'tier'],
  sort: ['name', 'email'],
  indexes: [
    ['tier', 'name'],
    ['tier', 'email'],
  ],
  unserved: 'refuse',
  search: ['name', 'email'],
  messages: ['get', 'list', 'merge'],
  allow: {
    read: [customer.owning({ id: 'customer' }), clerk, manager],
    create: [manager],
    change: [manager],
    remove: [manager],
    merge: [manager],
  },
})

export const orders = resource('orders', {
  fields: {
    id: t.id('o'),
    customer: t.ref('customers'),
    lines: t.list(Line, { min: 1, max: 1000 }),
    currency: currency(),
    total: money().readOnly(),
    note: t.string({ max: 500 }).optional(),
    placedAt: t.dateTime().readOnly(),
    state: t.state(),
    paidAt: t.dateTime().readOnly().optional(),
    carrier: t.enum('dhl', 'ups').readOnly().optional(),
    trackingNumber: t.string().readOnly().optional(),
  },
  states: ['placed', 'paid', 'shipped', 'delivered', 'cancelled'],
  actions: on => ({
    pay: on('placed').to('paid', {
      rel: 'payment',
      input: { method: t.enum('card', 'transfer'), amount: money() },
      output: Payment,
      faults: [PaymentDeclined],
      kept: true,
    }),
    cancel: on('placed', 'paid').to('cancelled', {
      rel: 'cancellation',
      link: 'cancel',
      input: { reason: t.string({ max: 500 }).optional() },
    }),
    ship: on('paid').to('shipped', {
      rel: 'shipment',
      input: { carrier: t.enum('dhl', 'ups') },
      faults: [OutOfStock],
    }),
    track: on('shipped', 'delivered').read({
      rel: 'tracking',
      output: { carrier: t.enum('dhl', 'ups'), trackingNumber: t.string(), position: t.string() },
    }),
    deliver: on('shipped').to('delivered', { rel: 'delivery', oneWay: 'NotifyDelivery' }),
  }),
}).rules({
  relations: { customer: { by: 'customer' } },
  filter: [
    'id',
    'customer',
    'lines.product',
    'currency',
    'total',
    'note',
    'placedAt',
    'state',
    'paidAt',
    'carrier',
    'trackingNumber',
  ],
  sort: ['customer', 'currency', 'total', 'placedAt', 'state', 'paidAt'],
  order: ['-placedAt'],
  indexes: [
    ['state', 'total'],
    ['customer', 'total'],
    ['total', '-placedAt'],
  ],
  unserved: 'refuse',
  search: ['note', 'customer.name', 'lines.product.name'],
  searchBy: ['state', 'customer'],
  edit: ['placed'],
  remove: ['cancelled'],
  bulk: true,
  messages: ['get', 'list', 'create', 'replace', 'delete', 'pay', 'cancel', 'ship', 'track', 'deliver', 'search'],
  allow: {
    read: [customer.owning({ customer: 'customer' }), clerk, manager],
    create: [customer.owning({ customer: 'customer' }), clerk, manager],
    pay: [customer.owning({ customer: 'customer' }), clerk, manager],
    cancel: [customer.owning({ customer: 'customer' }), clerk, manager],
    ship: [clerk, manager],
    deliver: [clerk, manager],
    change: [clerk, manager],
    remove: [manager],
    bulk: [manager],
  },
})

/** Sums over many orders have more digits than the amounts of one order. */
const sum = () => t.decimal(18, 2, { min: '0' })
const Row = t.object(
  {
    product: t.ref('products'),
    name: t.string(),
    currency: currency(),
    quantity: t.long(),
    amount: sum(),
  },
  'Row',
)
export const reports = job('reports', {
  input: { from: t.date(), to: t.date(), kind: t.enum('sales', 'stock') },
  output: {
    from: t.date(),
    to: t.date(),
    kind: t.enum('sales', 'stock'),
    rows: t.list(Row, { max: Infinity }),
    totals: t.list(t.object({ currency: currency(), amount: sum() }, 'CurrencyTotal'), { max: 3 }),
  },
  allow: [customer, clerk, manager],
})

export type ReportOutput = Value<(typeof reports)['output']>

export const shop = service('orders', {
  namespace: 'urn:diglot:orders',
  title: 'Orders',
  resources: [orders, customers, products],
  jobs: [reports],
  searches: { of: 'orders', allow: [customer, clerk, manager], limit: { count: 30, seconds: 60 } },
  versions: { v1: { without: { orders: ['note'] }, renames: { products: { details: 'description' } } }, v2: {} },
})
