/**
 * Orders with notes in them, and replies in these. Anyone with a role may read any note, so that
 * what a caller finds is decided only by its order.
 */
import { implement, resource, role, service, t } from 'diglot'

const clerk = role('clerk')
const customer = role('customer')

const orders = resource('orders', {
  fields: { id: t.id('o'), customer: t.string() },
  actions: on => ({ merge: on().moves({ rel: 'merger', input: { into: t.ref('orders') } }) }),
}).rules({
  relations: { notes: { of: 'notes', by: 'order' } },
  allow: { read: [customer.owning({ customer: 'customer' }), clerk], create: [clerk], remove: [clerk], merge: [clerk] },
})

const notes = resource('notes', {
  within: 'order',
  fields: {
    id: t.id('n'),
    order: t.ref('orders'),
    text: t.string({ max: 200 }),
    pinned: t.boolean().default(false),
    length: t.int().readOnly(),
    state: t.state(),
  },
  states: ['open', 'closed'],
  actions: on => ({
    close: on('open').to('closed', { rel: 'closing' }),
    weigh: on('open', 'closed').read({ rel: 'weight', output: { grams: t.int() } }),
    join: on('open').moves({ rel: 'union', input: { to: t.ref('notes') } }),
  }),
  files: { scan: { mediaTypes: ['text/plain'], max: 1000 } },
}).rules({
  filter: ['pinned'],
  sort: ['text'],
  search: ['text'],
  searchBy: ['pinned'],
  putCreates: true,
  bulk: true,
  precondition: false,
  allow: {
    read: [customer, clerk],
    create: [customer, clerk],
    change: [customer, clerk],
    remove: [customer, clerk],
    bulk: [customer, clerk],
    close: [customer, clerk],
    join: [customer, clerk],
  },
})

const replies = resource('replies', {
  within: 'note',
  fields: { id: t.id('y'), note: t.ref('notes'), text: t.string({ max: 200 }), about: t.ref('notes').optional() },
}).rules({
  precondition: false,
  allow: { read: [customer, clerk], create: [customer, clerk], change: [customer, clerk], remove: [clerk] },
})

export const shop = service('shop', {
  namespace: 'urn:nested',
  resources: [orders, notes, replies],
  versions: { v1: { renames: { notes: { purchase: 'order' } } }, v2: {} },
})

export default implement(
  shop,
  {
    orders: {
      merge: async (ctx, order, { into }) => {
        for await (const note of ctx.items.all.list('notes', { order: order.id }))
          await ctx.items.change('notes', note.id, { order: into })
        return { to: into }
      },
    },
    notes: {
      derive: (_ctx, { text, order }) => ({ length: text.length + order.length }),
      searching: (ctx, words) => {
        if (words.includes('secret')) ctx.invalid(['q'], 'is not searched')
      },
      close: () => {},
      weigh: (_ctx, { text }) => ({ grams: text.length }),
      join: (_ctx, _note, { to }) => ({ to }),
    },
  },
  {
    seed: () => ({
      people: [
        { subject: 'ann', password: 'ann-secret', roles: ['customer'], claims: { customer: 'ann' } },
        { subject: 'bob', password: 'bob-secret', roles: ['customer'], claims: { customer: 'bob' } },
        { subject: 'cora', password: 'cora-secret', roles: ['clerk'] },
      ],
      items: {
        orders: ['o-1', 'o-2', 'o-3'].map(id => ({ id, customer: id === 'o-3' ? 'bob' : 'ann' })),
        notes: [
          { id: 'n-1', order: 'o-1', text: 'ring the bell', pinned: true, length: 1, state: 'open' },
          { id: 'n-2', order: 'o-1', text: 'mind the dog', pinned: false, length: 1, state: 'open' },
          { id: 'n-3', order: 'o-2', text: 'ring twice', pinned: false, length: 1, state: 'open' },
          { id: 'n-4', order: 'o-3', text: 'ring at noon', pinned: false, length: 1, state: 'open' },
        ],
        replies: [
          { id: 'y-1', note: 'n-1', text: 'it is broken' },
          { id: 'y-4', note: 'n-4', text: 'at one' },
        ],
      },
    }),
  },
)
