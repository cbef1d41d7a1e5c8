/** Fields that `compute` makes at each read: the same in both faces, wherever an item is seen. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import type { Implementation } from '../../src/contract/implement.ts'
import { findContractMistakes } from '../../src/contract/review.ts'
import { migrateDatabase, openStore } from '../../src/host/store/open-store.ts'
import { anyone, implement, resource, role, service, t } from '../../src/index.ts'
import { createMock } from '../../src/mock/create-mock.ts'
import type { Snapshot } from '../../src/service/store.ts'
import { startTestService } from '../../src/testing/index.ts'

const desk = role('desk')
const line = t.object({ what: t.string({ max: 20 }), cents: t.int({ min: 0 }) })
const stored = {
  id: t.id('b'),
  first: t.string({ max: 20 }),
  last: t.string({ max: 20 }).optional(),
  lines: t.list(line),
  state: t.state(),
}
const bills = resource('bills', {
  fields: {
    ...stored,
    name: t.string({ max: 41 }).computed(),
    sum: t.object({ cents: t.int(), lines: t.int() }, 'Sum').computed(),
    remark: t.string({ max: 20 }).optional().computed(),
  },
  states: ['open', 'paid'],
  actions: on => ({
    add: on('open').stay({ rel: 'line', input: { line } }),
    pay: on('open').to('paid', { rel: 'payment', output: { name: t.string(), cents: t.int() } }),
  }),
}).rules({
  filter: ['first'],
  unserved: 'accept',
  allow: {
    read: [anyone],
    create: [desk],
    change: [desk],
    add: [desk],
    pay: [desk.given('there is something to pay', ({ value }) => value === undefined || sumOf(value['sum']) > 0)],
  },
})
const sumOf = (sum: unknown): number => (sum as { cents: number } | undefined)?.cents ?? 0

const shop = service('bills', { namespace: 'urn:bills', resources: [bills] })
const seen: unknown[] = []
const app = implement(
  shop,
  {
    bills: {
      compute: ({ first, last, lines }) => ({
        name: last === undefined ? first : `${first} ${last}`,
        sum: { cents: lines.reduce((sum, { cents }) => sum + cents, 0), lines: lines.length },
        ...(lines.length === 0 && { remark: 'nothing yet' }),
      }),
      add: (_ctx, item, { line }) => {
        seen.push(item.sum, item.remark)
        return { set: { lines: [...item.lines, line] } }
      },
      pay: async (ctx, item) => {
        const others = await Array.fromAsync(ctx.items.all.list('bills', { first: item.first }))
        return { output: { name: item.name, cents: others.reduce((sum, each) => sum + each.sum.cents, 0) } }
      },
    },
  },
  {
    seed: () => ({
      people: [{ subject: 'dana', password: 'dana-secret', roles: ['desk'] }],
      items: { bills: [{ id: 'b-1', first: 'Ann', lines: [], state: 'open' }] },
    }),
  },
)

for (const face of ['rest', 'soap'] as const)
  describe(`computed fields by ${face}`, () => {
    test('an item has them as soon as it is made, and they are recomputed after each change and action', async () => {
      await using of = await startTestService(shop, app)
      seen.length = 0
      const dana = of[face]('dana')
      const made = await dana.bills.create({ first: 'Bo', last: 'Lee', lines: [{ what: 'pen', cents: 120 }] })
      assert.deepEqual([made.name, made.sum, made.remark], ['Bo Lee', { cents: 120, lines: 1 }, undefined])
      assert.ok(made.state === 'open')
      const more = await dana.bills.add(made, { line: { what: 'ink', cents: 80 } })
      assert.deepEqual([more.name, more.sum], ['Bo Lee', { cents: 200, lines: 2 }])
      assert.deepEqual(seen.splice(0), [{ cents: 120, lines: 1 }, undefined])
      const replaced = await dana.bills.replace(more, { first: 'Bo', lines: [] })
      assert.deepEqual([replaced.name, replaced.sum, replaced.remark], ['Bo', { cents: 0, lines: 0 }, 'nothing yet'])
      const read = await of[face]().bills.get(made.id)
      assert.deepEqual([read.name, read.sum, read.remark], ['Bo', { cents: 0, lines: 0 }, 'nothing yet'])
    })

    test('lists, the seed, policies and what handlers read have them', async () => {
      await using of = await startTestService(shop, app)
      const dana = of[face]('dana')
      const [ann] = await Array.fromAsync(dana.bills.list({ where: { first: 'Ann' } }))
      assert.ok(ann?.state === 'open')
      assert.deepEqual([ann.name, ann.sum, ann.remark], ['Ann', { cents: 0, lines: 0 }, 'nothing yet'])
      await assert.rejects(dana.bills.pay(ann), /link payment is missing|may not do this/)
      const due = await dana.bills.add(ann, { line: { what: 'pen', cents: 5 } })
      assert.ok(due.state === 'open')
      await dana.bills.create({ first: 'Ann', lines: [{ what: 'cap', cents: 7 }] })
      assert.deepEqual(await dana.bills.pay(due), { name: 'Ann', cents: 12 })
    })
  })

test('A2.1 content may repeat computed values from before or after the change, and no others', async () => {
  await using of = await startTestService(shop, app)
  const send = (body: object, method = 'POST', path = '/bills', more: Record<string, string> = {}) =>
    of.fetchAs('dana')(`${of.address}/api${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    })
  const draft = { first: 'Cy', lines: [] }
  assert.equal((await send({ ...draft, name: 'Cy' })).status, 201)
  const refused = await send({ ...draft, name: 'Di' })
  assert.equal(refused.status, 422)
  assert.match(await refused.text(), /"pointer":"#?\/name".*is read-only/)
  const merge = { 'if-match': '*', 'content-type': 'application/merge-patch+json' }
  for (const [name, status] of [
    ['Ann', 200],
    ['Eve', 200],
    ['Ann Eve', 422],
  ] as const)
    assert.equal((await send({ first: 'Eve', name }, 'PATCH', '/bills/b-1', merge)).status, status, name)
})

test('A9.3 a change through a version without some fields keeps them, also if others are computed', async () => {
  const boxes = resource('boxes', {
    fields: {
      id: t.id('b'),
      label: t.string({ max: 20 }),
      weight: t.int().optional(),
      moves: t.int().readOnly().default(0),
      long: t.boolean().computed(),
    },
  }).rules({ precondition: false, allow: { read: [anyone], create: [anyone], change: [anyone] } })
  for (const renames of [{}, { boxes: { name: 'label' } }] as const) {
    const store = service('boxes', {
      namespace: 'urn:boxes',
      resources: [boxes],
      versions: { v1: { without: { boxes: ['weight', 'moves', 'long'] }, renames }, v2: {} },
    })
    await using running = await startTestService(
      store as never,
      implement(store, { boxes: { compute: ({ label }) => ({ long: label.length > 3 }) } }),
    )
    const ask = async (method: string, path: string, content: object, type = 'application/json') => {
      const headers = { 'content-type': type }
      const answer = await running.fetchAs()(`${running.address}/api/${path}`, {
        ...{ method, headers },
        ...(method !== 'GET' && { body: JSON.stringify(content) }),
      })
      const { _links, ...value } = JSON.parse(await answer.text())
      assert.ok(answer.ok, JSON.stringify(value))
      return value
    }
    const name = 'boxes' in renames ? 'name' : 'label'
    const made = await ask('POST', 'v1/boxes', { [name]: 'box' })
    assert.deepEqual(await ask('GET', `v2/boxes/${made.id}`, {}), { id: made.id, label: 'box', moves: 0, long: false })
    await ask('PATCH', `v2/boxes/${made.id}`, { weight: 7 }, 'application/merge-patch+json')
    await ask('PUT', `v1/boxes/${made.id}`, { [name]: 'boxes' })
    await ask('PATCH', `v1/boxes/${made.id}`, { [name]: 'crate' }, 'application/merge-patch+json')
    const all = { id: made.id, label: 'crate', weight: 7, moves: 0, long: true }
    assert.deepEqual(await ask('GET', `v2/boxes/${made.id}`, {}), all)
  }
})
test('an unchanged item keeps its tag, and a tag finds it unchanged', async () => {
  await using of = await startTestService(shop, app)
  const read = (more: object) =>
    of.fetchAs()(`${of.address}/api/bills/b-1`, { headers: { accept: 'application/json', ...more } })
  const first = await read({})
  const etag = first.headers.get('etag') ?? ''
  const again = await read({ 'if-none-match': etag })
  assert.equal(again.status, 304)
})

test("RFC 9110 §8.8.1 another formula gives other tags, since the item's representation differs", async () => {
  const tagOf = async (name: string) => {
    const compute = new Function('item', `return { name: '${name}', sum: { cents: 0, lines: 0 } }`)
    const bills = { ...app.handlers['bills'], actions: app.handlers['bills']?.actions ?? {}, compute }
    await using of = await startTestService(shop, { ...app, handlers: { bills: bills as never } })
    return (await of.fetchAs()(`${of.address}/api/bills/b-1`)).headers.get('etag')?.split('-')[1]
  }
  assert.equal(await tagOf('Ann'), await tagOf('Ann'))
  assert.notEqual(await tagOf('Ann'), await tagOf('Bea'))
})

describe('a compute that gives what the contract does not allow', () => {
  let isBroken = false
  const broken = (compute: () => object): Implementation => ({
    ...app,
    handlers: {
      bills: {
        ...app.handlers['bills'],
        actions: app.handlers['bills']?.actions ?? {},
        compute: (item: never) => (isBroken ? compute() : app.handlers['bills']?.compute?.(item)),
      } as never,
    },
  })
  for (const [title, compute] of [
    ['a value of another type', () => ({ name: 5, sum: { cents: 0, lines: 0 } })],
    ['no value', () => ({ sum: { cents: 0, lines: 0 } })],
    ['another field', () => ({ name: 'x', sum: { cents: 0, lines: 0 }, first: 'y' })],
    ['nothing', () => undefined as never],
    ['an error', () => assert.fail('of its own')],
  ] as const)
    test(`${title}: 500, and no part of it is sent`, async () => {
      await using of = await startTestService(shop, broken(compute))
      isBroken = true
      const answer = await of.fetchAs()(`${of.address}/api/bills/b-1`, { headers: { accept: 'application/json' } })
      isBroken = false
      assert.equal(answer.status, 500)
      assert.doesNotMatch(await answer.text(), /compute|of its own|"y"/)
    })
})

describe('a database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'computed-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'bills.sqlite')
  const older = service('bills', {
    namespace: 'urn:bills',
    resources: [resource('bills', { fields: stored, states: ['open', 'paid'] }).rules({ allow: { read: [anyone] } })],
  })

  test('needs no step for a new computed field, even a required one, and has no column for it', async () => {
    const former = await openStore(implement(older, {}), { data })
    await former.write(writer =>
      writer.put('bills', 'b-7', { id: 'b-7', first: 'Gus', lines: [], state: 'open' }, {}, undefined, 1),
    )
    await former.close()
    const told: string[] = []
    const wish = { isPlan: true, drop: [], tell: (says: string) => void told.push(says) }
    await migrateDatabase(app, { data }, wish as never)
    assert.deepEqual(
      told.filter(says => /name|sum|remark/.test(says)),
      [],
    )
    const store = await openStore(app, { data })
    const found = await store.read(reader => reader.get('bills', 'b-7'))
    assert.equal((found as Snapshot).value['name'], 'Gus')
    const all = await store.read(reader => reader.getAll('bills', ['b-7', 'b-8']))
    assert.deepEqual(
      [...all.values()].map(({ value }) => value['sum']),
      [{ cents: 0, lines: 0 }],
    )
    await store.close()
    const database = new DatabaseSync(data, { readOnly: true })
    const columns = database.prepare('select name from pragma_table_info(?)').all('bills')
    database.close()
    assert.deepEqual(
      columns.map(each => String(each['name'])).filter(name => ['name', 'sum', 'remark'].includes(name)),
      [],
    )
  })

  test('gives all readers of one version the same snapshot, so that what is cached for it is found', async () => {
    const store = await openStore(app, { data })
    const read = async () => (await store.read(reader => reader.get('bills', 'b-7'))) as Snapshot
    for (let i = 0; i < 3; i++) await read()
    const shared = await read()
    assert.ok(Object.isFrozen(shared) && Object.isFrozen(shared.value) && Object.isFrozen(shared.value['sum']))
    assert.equal(await read(), shared)
    const after = await store.write(writer =>
      writer.put('bills', 'b-7', { ...shared.value, first: 'Ida', name: 'stale' }, {}, shared, 2),
    )
    assert.deepEqual([after.value['name'], (await read()).value['name']], ['Ida', 'Ida'])
    await store.close()
  })
})

test('a mock gives examples of them, and keeps the rules of the other fields', async () => {
  await using of = await startTestService(shop, createMock(shop, {}) as never)
  const list = await of.fetchAs('desk')(`${of.address}/api/bills`, { headers: { accept: 'application/json' } })
  const { items } = (await list.json()) as { items: readonly { name: unknown; sum: object }[] }
  assert.ok(items.length > 0)
  for (const { name, sum } of items) assert.deepEqual([typeof name, Object.keys(sum)], ['string', ['cents', 'lines']])
})

describe('a service with a field that cannot be computed does not start', () => {
  const mistakesOf = (field: object, rules: object = {}, handlers: object = { compute: () => ({}) }) =>
    findContractMistakes(
      implement(
        service('s', {
          namespace: 'urn:s',
          resources: [
            resource('others', { fields: { id: t.id('o') } }).rules({ allow: { read: [anyone] } }),
            resource('items', { fields: { id: t.id('i'), text: t.string(), field: field as never } }).rules({
              allow: { read: [anyone] },
              ...rules,
            } as never),
          ],
        }),
        { items: handlers } as never,
      ),
    ).join('\n')
  const plain = t.string().computed()
  for (const [title, mistakes, expected] of [
    ['a reference', mistakesOf(t.ref('others').computed()), /items\.field is computed, and names an item/],
    ['a default', mistakesOf(t.string().default('x').computed()), /items\.field is computed and has a default/],
    ['an internal field', mistakesOf(t.string().internal().computed()), /items\.field is computed and internal/],
    ['a former name', mistakesOf(t.string().was('old').computed()), /items\.field is computed and has a former name/],
    ['a filter', mistakesOf(plain, { filter: ['field'] }), /items: filter names "field", which is computed and not/],
    [
      'an order',
      mistakesOf(plain, { sort: ['field'], order: ['-field'] }),
      /sort names "field".*\n.*order names "field"/,
    ],
    ['a unique key', mistakesOf(plain, { unique: [['text', 'field']] }), /unique names "field", which is computed/],
    ['a search', mistakesOf(plain, { search: ['field'] }), /search names "field", which is computed/],
    ['an index', mistakesOf(plain, { indexes: [['field']] }), /indexes names "field", which is computed/],
    [
      'the owner of an item',
      mistakesOf(plain, { allow: { read: [desk.owning({ field: 'subject' } as never)] } }),
      /allow names "field", which is computed/,
    ],
    [
      'a part of a field',
      mistakesOf(t.list(t.string().computed() as never)),
      /items\.field\[\] is computed, which only/,
    ],
    [
      'no handler',
      mistakesOf(plain, {}, {}),
      /items has computed fields: give implement\(\) a function items\.compute/,
    ],
    ['a handler for nothing', mistakesOf(t.string(), {}), /items\.compute, and no field of the resource is computed/],
    [
      'items kept elsewhere',
      mistakesOf(plain, {}, { compute: () => ({}), keep: {} }),
      /items has computed fields, which only the store's items have/,
    ],
  ] as const)
    test(title, () => assert.match(mistakes, expected))

  test('a sound definition is accepted', () => assert.equal(mistakesOf(plain), ''))
})

// Types

test('compute must give every computed field, and no other', () => {
  const of = service('s', { namespace: 'urn:s', resources: [bills] })
  const actions = { add: () => {}, pay: () => ({ output: { name: '', cents: 0 } }) }
  // @ts-expect-error `compute` is missing
  implement(of, { bills: actions })
  // @ts-expect-error `sum` is missing
  implement(of, { bills: { ...actions, compute: () => ({ name: 'x' }) } })
  const sum = { cents: 0, lines: 0 }
  // @ts-expect-error an action does not set what is computed
  implement(of, { bills: { ...actions, add: () => ({ set: { name: 'x' } }), compute: () => ({ name: 'x', sum }) } })
  // @ts-expect-error what is made is not there yet
  implement(of, { bills: { ...actions, compute: item => ({ name: item.name, sum }) } })
  implement(of, { bills: { ...actions, compute: ({ first }) => ({ name: first, sum }) } })
})
