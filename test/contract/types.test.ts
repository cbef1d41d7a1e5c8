/**
 * Mistakes do not compile: each expected error is one of the type checker, or the type check of
 * this file fails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SoapClient } from '../../src/client/index.ts'
import type { RestClient } from '../../src/client/rest/index.ts'
import {
  anyone,
  type Draft,
  fault,
  type Item,
  implement,
  type Provider,
  type Representation,
  resource,
  role,
  service,
  t,
  type ValueOf,
  x,
} from '../../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

const Torn = fault('Torn', { status: 409, title: 'Torn', detail: { where: t.string() } })
const Line = t.object({ text: t.string(), cost: t.decimal(6, 2).readOnly() })
const letters = resource('letters', {
  fields: {
    id: t.id('l'),
    to: t.ref('people'),
    lines: t.list(Line, { min: 1 }),
    weight: t.long(),
    sealedAt: t.dateTime().readOnly().optional(),
    stamp: t.enum('first', 'second').optional(),
    postage: t.decimal(6, 2).readOnly(),
  },
  states: ['open', 'sealed', 'sent'],
  actions: on => ({
    seal: on('open').to('sealed', { rel: 'seal-mark', input: { wax: t.boolean() }, faults: [Torn] }),
    send: on('sealed').to('sent', { rel: 'dispatch', output: { by: t.string() } }),
    trace: on('sent').read({ rel: 'trail', output: { at: t.string() } }),
  }),
}).rules({ filter: ['stamp'], edit: ['open'], allow: { read: [anyone], seal: [role('clerk')], send: [role('clerk')] } })
const people = resource('people', { fields: { id: t.id('p'), name: t.string() } }).rules({ allow: { read: [anyone] } })
const post = service('post', { namespace: 'urn:post', resources: [letters, people] })

test('a field has its TypeScript type, with optional and read-only ones distinguished', () => {
  same<Item<typeof people>, { readonly id: string; readonly name: string }>(true)
  type Letter = Item<typeof letters>
  same<Letter['weight'], bigint>(true)
  same<Letter['stamp'], 'first' | 'second' | undefined>(true)
  same<Letter['state'], 'open' | 'sealed' | 'sent'>(true)
  same<Letter['lines'][number], { readonly text: string; readonly cost: string }>(true)
  type LetterDraft = Draft<(typeof letters)['types']['fields']>
  same<LetterDraft['lines'][number], { readonly text: string }>(true)
  same<'postage' extends keyof LetterDraft ? true : false, false>(true)
  same<'id' extends keyof LetterDraft ? true : false, false>(true)
})

test('a representation is a union by state, each member with the links of its state', () => {
  const letter = { state: 'open' } as Representation<typeof letters>
  if (letter.state === 'open') {
    const links = letter._links as typeof letter._links | undefined
    assert.equal(links?.['seal-mark'], undefined)
    // @ts-expect-error an open letter has no link to dispatch
    assert.equal(links?.dispatch, undefined)
  }
})

test('a machine, its rules and its handlers accept only declared names', () => {
  resource('x', {
    fields: { id: t.id('x') },
    states: ['open', 'paid'],
    actions: on => ({
      // @ts-expect-error a transition must lead to a declared state
      pay: on('open').to('payed', { rel: 'payment' }),
    }),
  })
  resource('x', {
    fields: { id: t.id('x') },
    states: ['open'],
    // @ts-expect-error a transition starts at a declared state
    actions: on => ({ pay: on('opened').to('open', { rel: 'payment' }) }),
  })
  // @ts-expect-error a filter names a field
  resource('x', { fields: { id: t.id('x') } }).rules({ filter: ['colour'], allow: {} })
  // @ts-expect-error a grant is for an operation of the resource
  resource('x', { fields: { id: t.id('x') } }).rules({ allow: { fly: [anyone] } })
  // @ts-expect-error `edit` names states
  resource('x', { fields: { id: t.id('x') }, states: ['a'] }).rules({ edit: ['b'], allow: {} })
  // Roles that several rules share, before and behind others.
  const staff = [role('clerk'), role('manager')]
  const own = role('customer').owning({ customer: 'customer' })
  resource('x', { fields: { id: t.id('x'), customer: t.string() } }).rules({
    allow: { read: [...staff, own], create: [own, ...staff], change: [...staff, ...staff], remove: staff },
  })
  // @ts-expect-error an attribute of a list item is a field, not a value
  assert.throws(() => t.list('string'), /item must be a field/)
})

test('handlers are typed from the contract', () => {
  const derive = async () => ({ postage: '1.00', lines: [] })
  implement(post, {
    letters: {
      derive,
      seal: (ctx, letter, input) => {
        same<typeof letter.state, 'open'>(true)
        same<typeof input.wax, boolean>(true)
        if (!input.wax) ctx.fail(Torn, { where: 'edge' })
        // @ts-expect-error the fault's detail is declared
        const torn = (): never => ctx.fail(Torn, { place: 'edge' })
        return torn === undefined ? undefined : { set: { sealedAt: ctx.now } }
      },
      send: () => ({ output: { by: 'train' } }),
      trace: () => ({ at: 'here' }),
    },
  })
  implement(post, {
    letters: {
      derive,
      // @ts-expect-error the declared output is required
      send: () => ({}),
      seal: () => {},
      trace: () => ({ at: 'here' }),
    },
  })
  // @ts-expect-error a handler is missing
  implement(post, { letters: { derive, send: () => ({ output: { by: 'train' } }), seal: () => {} } })
  implement(post, {
    letters: {
      // @ts-expect-error derive must compute fields that clients cannot send
      derive: async () => ({}),
      send: () => ({ output: { by: 'train' } }),
      seal: () => {},
      trace: () => ({ at: 'here' }),
    },
  })
  const Other = fault('Other', { status: 409, title: 'Other' })
  implement(post, {
    letters: {
      derive,
      // @ts-expect-error a fault that the action does not declare
      seal: ctx => ctx.fail(Other),
      send: () => ({ output: { by: 'train' } }),
      trace: () => ({ at: 'here' }),
    },
  })
})

test('a result of a handler may have undefined where a member may be absent, and nowhere else', () => {
  const Late = fault('Late', { status: 409, title: 'Late', detail: { from: t.date(), until: t.date().optional() } })
  const rooms = resource('rooms', {
    fields: { id: t.id('m'), name: t.string(), until: t.date().optional(), state: t.state() },
    states: ['free'],
    actions: on => ({ book: on('free').stay({ rel: 'booking', output: Late.detail, faults: [Late] }) }),
  }).rules({ allow: { read: [anyone], book: [anyone] } })
  const inn = service('inn', { namespace: 'urn:inn', resources: [rooms] })
  implement(inn, {
    rooms: {
      book: async (ctx, { name, until }) => {
        await ctx.items.create('rooms', { name, until })
        // @ts-expect-error a name has to be there
        if (until === '') await ctx.items.create('rooms', { name: undefined })
        // @ts-expect-error so has the day
        if (until === undefined) ctx.fail(Late, { from: undefined })
        if (name === '') ctx.fail(Late, { from: ctx.now, until })
        return { output: { from: ctx.now, until } }
      },
    },
  })
})

test('a map accepts any key, or only the keys that its enumeration lists', () => {
  type Texts = (typeof texts)['type']
  const texts = t.map(t.string())
  same<Texts, { readonly [key: string]: string }>(true)
  const sizes = t.map(t.long(), { key: t.enum('inner', 'outer') })
  same<(typeof sizes)['type'], { readonly inner?: bigint; readonly outer?: bigint }>(true)
  const parts = t.map(t.object({ name: t.string(), made: t.date().readOnly() }))
  same<(typeof parts)['draft'], { readonly [key: string]: { readonly name: string } }>(true)
  // @ts-expect-error a value of a map is never optional
  t.map(t.string().optional())
  // @ts-expect-error a key is text
  t.map(t.string(), { key: t.int() })
})

test('a provider gets queries for fields of its resource, with their types, and returns whole items', () => {
  type Person = Item<typeof people>
  const person = { value: { id: 'p-1', name: 'Ann' }, version: 1, modified: 1 }
  const rest = { load: () => person, remove: () => true }
  const keep: Provider<Person> = {
    ...rest,
    list: ({ filters, sort, after }) => {
      for (const filter of filters) {
        same<typeof filter.field, 'id' | 'name'>(true)
        // @ts-expect-error one of several values is compared by `in` alone
        if (filter.is === 'eq') assert.ok(filter.value.map)
        // @ts-expect-error no field has this name
        assert.ok(filter.field !== 'nam')
      }
      same<(typeof sort)[number]['field'], 'id' | 'name'>(true)
      // @ts-expect-error a place has the fields of the resource
      assert.equal(after?.colour, undefined)
      return { items: [person], more: false, total: 1 }
    },
    save: (_id, value) => ({ ...person, value: { ...value, id: '17' } }),
  }
  assert.ok(keep)
  const all = { ...rest, list: () => [person], save: () => 1 }
  same<typeof all extends Provider<Person> ? true : false, true>(true)
  implement(post, {
    letters: {
      derive: () => ({ postage: '1.00', lines: [] }),
      seal: () => {},
      send: () => ({ output: { by: '' } }),
      trace: () => ({ at: '' }),
    },
    // @ts-expect-error a page says whether there are more
    people: { keep: { ...all, list: () => ({ items: [person] }) } },
  })
  // @ts-expect-error what is saved is a whole item
  const partial: Provider<Person> = { ...all, save: () => ({ ...person, value: { id: '17' } }) }
  assert.ok(partial)
})

test('a single resource has no list and no identifier', async () => {
  const hours = resource('hours', {
    single: true,
    fields: { opens: t.time() },
    states: ['open', 'closed'],
    actions: on => ({ close: on('open').to('closed', { rel: 'closing', input: { why: t.string() } }) }),
  })
  const allow = { read: [anyone], create: [anyone], close: [anyone] }
  const ruled = hours.rules({ allow })
  // @ts-expect-error it has no list to filter
  hours.rules({ allow, filter: ['opens'] })
  // @ts-expect-error it has no list to sort
  hours.rules({ allow, sort: ['opens'] })
  // @ts-expect-error it has no list with an order
  hours.rules({ allow, order: ['opens'] })
  // @ts-expect-error it has no list to search
  hours.rules({ allow, search: ['opens'] })
  // @ts-expect-error no two items can have the same key
  hours.rules({ allow, unique: [['opens']] })
  // @ts-expect-error PUT makes it by `allow.create` alone
  hours.rules({ allow, putCreates: true })
  // @ts-expect-error there is nothing to remove in bulk
  hours.rules({ allow, bulk: true })
  // @ts-expect-error no caller has a use for its identifier
  resource('days', { single: true, fields: { id: t.id('d'), opens: t.time() } })
  same<Item<typeof ruled>, { readonly opens: string; readonly state: 'open' | 'closed' }>(true)
  same<(typeof ruled)['types']['rules']['one'], 'hours'>(true)

  const shop = service('shop', { namespace: 'urn:shop', resources: [ruled, people] })
  implement(
    shop,
    {
      hours: {
        close: async ctx => {
          const now = await ctx.items.get('hours')
          same<typeof now, Item<typeof ruled> | undefined>(true)
          await ctx.items.change('hours', { opens: '08:00:00' })
          await ctx.items.act('hours', 'close', { why: 'night' })
          await ctx.items.get('people', 'p-1')
          // @ts-expect-error it has no identifier to give
          await ctx.items.get('hours', 'h-1')
          // @ts-expect-error others have one
          await ctx.items.get('people')
          // @ts-expect-error it has no list
          ctx.items.list('hours')
          // @ts-expect-error a field has its type
          await ctx.items.change('hours', { opens: 8 })
          // @ts-expect-error an action has its input
          await ctx.items.act('hours', 'close', { because: 'night' })
        },
      },
    },
    { seed: () => ({ items: { hours: { opens: '08:00:00', state: 'open' } } }) },
  )
  const handlers = { hours: { close: () => {} } }
  // @ts-expect-error a seed has its one item, and no list
  implement(shop, handlers, { seed: () => ({ items: { hours: [{ opens: '08:00:00', state: 'open' }] } }) })
  const call = (client: RestClient<typeof shop>, soap: SoapClient<typeof shop>) => {
    client.hours.get()
    soap.GetHours({})
    // @ts-expect-error it has no identifier to give
    client.hours.get('h-1')
    // @ts-expect-error it has no list
    client.hours.list()
    // @ts-expect-error nor has it by messages
    soap.ListHours({})
  }
  assert.ok(call)
})

test('a nested resource has one parent, which its content does not name', () => {
  const orders = resource('orders', { fields: { id: t.id('o') } }).rules({ allow: { read: [anyone] } })
  const notes = resource('notes', {
    within: 'order',
    fields: { id: t.id('n'), order: t.ref('orders'), text: t.string(), by: t.ref('orders').optional() },
    actions: on => ({ close: on().stay({ rel: 'closing' }) }),
  }).rules({ allow: { read: [anyone], create: [anyone], close: [anyone] } })
  const fields = { id: t.id('x'), order: t.ref('orders') }
  // @ts-expect-error each item has a parent
  resource('a', { within: 'order', fields: { ...fields, order: t.ref('orders').optional() } })
  // @ts-expect-error it is in one parent
  resource('b', { within: 'order', fields: { ...fields, order: t.list(t.ref('orders')) } })
  // @ts-expect-error it is one of the fields
  resource('c', { within: 'parent', fields })
  // @ts-expect-error what there is one of is in no other
  resource('d', { within: 'order', single: true, fields: { order: t.ref('orders') } })
  const shop = service('shop', { namespace: 'urn:x', resources: [orders, notes] })
  implement(shop, {
    notes: {
      derive: (_ctx, draft) => ({ text: draft.text + draft.order }),
      close: async ctx => {
        await ctx.items.create('notes', { order: 'o-1', text: '' })
        await ctx.items.change('notes', 'n-1', { order: 'o-2' })
        ctx.items.list('notes', { order: 'o-1' })
        // @ts-expect-error a new item has a parent
        await ctx.items.create('notes', { text: '' })
        // @ts-expect-error only the parent is a filter without a word in the contract
        ctx.items.list('notes', { text: 'a' })
      },
    },
  })
  const close = () => ({ set: { order: 'o-2' } }) as const
  // @ts-expect-error an action does not take its item elsewhere
  implement(shop, { notes: { close } })
  // @ts-expect-error nor does derive
  implement(shop, { notes: { close: () => {}, derive: () => ({ order: 'o-2' }) } })
})

const zoo = x.namespace('urn:zoo')
const Animal = zoo.type('Animal', { name: x.element(x.string) }, { abstract: true })
const Bird = zoo.type('Bird', { wings: x.element(x.int) }, { extends: Animal })
const Fish = zoo.type('Fish', { fins: x.element(x.int) }, { extends: Animal })
const AnyAnimal = x.derivable(Animal, () => [Bird, Fish])
const AnyBird = x.derivable(Bird, () => [zoo.type('Owl', { hunts: x.element(x.string) }, { extends: Bird })])

test('§2.6 $type names the type of a derived value; an abstract type has no values of its own', () => {
  const countLimbs = (animal: ValueOf<typeof AnyAnimal>): number =>
    animal.$type === 'Bird' ? animal.wings : animal.fins
  // @ts-expect-error an abstract type has no values of its own (XML Schema Part 1 §3.4.1)
  assert.equal(countLimbs({ name: 'Ann' }), undefined)
  assert.equal(countLimbs({ $type: 'Bird', name: 'Ann', wings: 2 }), 2)
  const preyOf = (bird: ValueOf<typeof AnyBird>): string => (bird.$type === 'Owl' ? bird.hunts : `${bird.wings}`)
  assert.equal(preyOf({ name: 'Bea', wings: 2 }), '2')
  assert.equal(preyOf({ $type: 'Owl', name: 'Cid', wings: 2, hunts: 'mice' }), 'mice')
})
