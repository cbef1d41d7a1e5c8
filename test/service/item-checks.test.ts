/** What a state and the policy offer a caller: links, buttons and refusals depend on it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { listOperations } from '../../src/contract/operation.ts'
import { type Caller, role } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { idPrefix, isOffered, isOfferedByState } from '../../src/service/item-checks.ts'
import { walkItems } from '../../src/service/item-walk.ts'
import type { ItemPage, Query, Snapshot } from '../../src/service/store.ts'

const member = role('member')
const allow = { read: [member], create: [member], change: [member.owning({ by: 'name' })], remove: [member] }
const papers = resource('papers', {
  fields: { id: t.id('p'), state: t.state(), by: t.string() },
  states: ['draft', 'sent', 'old'],
  actions: on => ({
    send: on('draft').to('sent', { rel: 'sending' }),
    stamp: on('sent', 'old').stay({ rel: 'mark', output: { text: t.string() }, kept: true }),
    view: on('sent').read({ rel: 'view', output: { text: t.string() } }),
  }),
}).rules({
  edit: ['draft', 'sent'],
  remove: ['old'],
  bulk: true,
  search: ['by'],
  allow: { ...allow, bulk: [member], send: [member], stamp: [member] },
})
/** Without states, and without rules about them. */
const plain = resource('notes', { fields: { id: t.id('n'), by: t.string() } }).rules({ allow })
/** With states, and without rules about them. */
const free = resource('tickets', {
  fields: { id: t.id('t'), state: t.state(), by: t.string() },
  states: ['open', 'shut'],
  actions: on => ({ shut: on('open').to('shut', { rel: 'shutting' }) }),
}).rules({ allow: { ...allow, shut: [member] } })
const contract = service('desk', { namespace: 'urn:desk', resources: [papers, plain, free], versions: { v1: {} } })
const operationOf = (name: string) =>
  listOperations(contract).find(each => each.name === name) ?? assert.fail(`no operation ${name}`)
const item = (value: Record<string, unknown>, kept: Snapshot['kept'] = {}): Snapshot => ({
  id: 'x-1',
  version: 1,
  modified: 0,
  created: 0,
  value,
  kept,
})

describe('A3.4 a state offers', () => {
  const rows: readonly (readonly [operation: string, states: string])[] = [
    ['GetPaper', 'draft sent old'],
    ['ListPapers', 'draft sent old'],
    ['SearchPapers', 'draft sent old'],
    ['CreatePaper', 'draft sent old'],
    ['ReplacePaper', 'draft sent'],
    ['PatchPaper', 'draft sent'],
    ['DeletePaper', 'old'],
    ['DeletePapers', 'old'],
    ['SendPaper', 'draft'],
    ['StampPaper', 'sent old'],
    ['ViewPaper', 'sent'],
    ['ReplaceTicket', 'open shut'],
    ['DeleteTicket', 'open shut'],
    ['ShutTicket', 'open'],
  ]
  for (const [operation, states] of rows)
    test(`${operation} if it is ${states}`, () => {
      const all = operation.endsWith('Ticket') ? ['open', 'shut'] : ['draft', 'sent', 'old']
      const offered = all.filter(state => isOfferedByState(operationOf(operation), item({ state })))
      assert.equal(offered.join(' '), states)
    })
  test('outputs that were kept, and none before that', () => {
    const kept = operationOf('GetPaperMark')
    assert.equal(isOfferedByState(kept, item({ state: 'sent' })), false)
    assert.equal(isOfferedByState(kept, item({ state: 'sent' }, { stamp: { text: 'x' } })), true)
  })
  test('everything if there is no machine', () => {
    for (const operation of ['GetNote', 'ReplaceNote', 'PatchNote', 'DeleteNote'])
      assert.equal(isOfferedByState(operationOf(operation), item({})), true, operation)
  })
  test('only what the policy allows too', () => {
    const caller: Caller = { subject: 'ann', roles: ['member'], claims: { name: 'ann' } }
    const offers = (state: string, by: string) =>
      isOffered(operationOf('ReplacePaper'), { caller, now: 0 }, item({ state, by }))
    assert.deepEqual(
      [offers('draft', 'ann'), offers('draft', 'bob'), offers('old', 'ann'), offers('old', 'bob')],
      [true, false, false, false],
    )
  })
})

test('an identifier begins as its field says, or else with the name of its resource', () => {
  assert.equal(idPrefix(papers), 'p')
  assert.equal(idPrefix(resource('codes', { fields: { id: t.string() } as never })), 'codes')
})

describe('a walk over all items', () => {
  /** Pages of a list of that many items, and the queries for them. */
  function startList(count: number) {
    const asked: Query[] = []
    const read = (query: Query): ItemPage => {
      asked.push(query)
      const start = query.from ? Number(query.from.id) + 1 : 0
      const items = Array.from({ length: Math.min(query.size, count - start) }, (_, i) => ({
        ...item({ n: start + i }),
        id: String(start + i),
      }))
      const [first, last] = [items[0], items.at(-1)]
      return {
        items,
        total: undefined,
        more: { before: start > 0, after: start + items.length < count },
        edges: first && last && { first: { id: first.id, keys: [] }, last: { id: last.id, keys: [7] } },
        octets: 0,
        isCut: false,
      }
    }
    return { asked, read }
  }
  for (const [count, size, reads] of [
    [0, undefined, 1],
    [100, undefined, 1],
    [101, undefined, 2],
    [250, undefined, 3],
    [250, 1000, 3],
    [10, 5, 2],
  ] as const)
    test(`of ${count}, ${size ?? 'a hundred'} at once, reads ${reads} pages and gives each once`, async () => {
      const { asked, read } = startList(count)
      const ids: string[] = []
      for await (const { id } of walkItems(read, { filters: [], within: 'all' }, { sizeMax: size })) ids.push(id)
      assert.deepEqual(
        ids,
        Array.from({ length: count }, (_, i) => String(i)),
      )
      assert.equal(asked.length, reads)
      const sizes = Math.min(100, size ?? 100)
      assert.ok(asked.every(query => query.size === sizes && query.counted === false && query.sort.length === 0))
      assert.equal(asked[0]?.from, undefined)
      if (reads > 1) assert.deepEqual(asked[1]?.from, { id: String(sizes - 1), keys: [7], backwards: false })
    })
  test('leaves the event loop to others between two pages', async () => {
    const { asked, read } = startList(300)
    const others: number[] = []
    setImmediate(() => others.push(asked.length))
    for await (const _ of walkItems(read, { filters: [], within: 'all' }));
    assert.deepEqual(others, [1])
  })
})
