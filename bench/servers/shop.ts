/** The contract that SOAP is measured with: one message of 1 KB, an order of typed lines, answered with the order. */
import { anyone, implement, resource, service, t } from 'diglot'

const Line = t.object(
  { product: t.string({ max: 40 }), quantity: t.int({ min: 1 }), price: t.decimal(12, 2, { min: '0' }) },
  'Line',
)
const plenty = { count: 1e9, seconds: 60 }

export const orders = resource('orders', {
  fields: {
    id: t.id('o'),
    customer: t.string({ min: 1, max: 40 }),
    currency: t.enum('EUR', 'USD', 'GBP'),
    delivery: t.date(),
    express: t.boolean(),
    lines: t.list(Line, { min: 1, max: Infinity }),
    note: t.string({ max: 500 }).optional(),
  },
}).rules({ messages: ['create'], allow: { read: [anyone], create: [anyone] } })

export const shop = service('shop', {
  namespace: 'urn:diglot:shop',
  resources: [orders],
  versions: { v1: {} },
  limits: { reads: plenty, changes: plenty },
})

export default implement(shop, {})

const note = 'Please leave it with the neighbours on the second floor if nobody is at home.'
const line = (n: number): string =>
  `<line><product>well-known-product-${1000 + n}</product><quantity>${1 + (n % 9)}</quantity><price>${n}.50</price></line>`

/** An order of so many lines, as the child of Body. */
export const orderXml = (lines: number): string =>
  `<CreateOrder xmlns="urn:diglot:shop:v1"><order><customer>c-1024</customer><currency>EUR</currency><delivery>2026-12-24</delivery><express>true</express><lines>${Array.from({ length: lines }, (_, n) => line(n + 1)).join('')}</lines><note>${note}</note></order></CreateOrder>`
