/**
 * Two services differ only in what a caller may not see: every answer to this caller is the same,
 * in both faces.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AnyField } from '../../src/contract/field.ts'
import { type Handlers, implement, resource, role, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const [clerk, guest] = [role('clerk'), role('guest')]
const own = guest.owning({ owner: 'name' })
const caller = { subject: 'gus', roles: ['guest'], claims: { name: 'gus' } }
const keeper = { subject: 'kim', roles: ['clerk'] }

interface Kind {
  readonly field: () => AnyField
  /** Two values that only clerks may tell apart. */
  readonly values: readonly [unknown, unknown]
}
const kinds: readonly Kind[] = [
  { field: () => t.string({ max: 40 }), values: ['a', 'rather longer'] },
  { field: () => t.int(), values: [0, 1_000_000] },
  { field: () => t.decimal(8, 2), values: ['1.00', '99999.00'] },
  { field: () => t.enum('north', 'south'), values: ['north', 'south'] },
  { field: () => t.dateTime(), values: ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.5+01:00'] },
]

interface Form {
  readonly kind: Kind
  readonly isOptional: boolean
  /** Whether guests see the value in their own items. */
  readonly isOwn: boolean
  readonly readsAll: boolean
  readonly isUnique: boolean
  readonly setting: 'unsaid' | 'by clerks' | 'in one state'
}
const forms: fc.Arbitrary<Form> = fc.record({
  kind: fc.constantFrom(...kinds),
  isOptional: fc.boolean(),
  isOwn: fc.boolean(),
  readsAll: fc.boolean(),
  isUnique: fc.boolean(),
  setting: fc.constantFrom('unsaid', 'by clerks', 'in one state'),
})

function describeHidden({ kind, isOptional, isOwn, readsAll, isUnique, setting }: Form) {
  const plain: AnyField = isOptional ? kind.field().optional() : kind.field()
  const covered: AnyField = plain.visibleTo(clerk, ...(isOwn ? [own] : []))
  const hidden =
    setting === 'by clerks' ? covered.settableBy(clerk) : setting === 'unsaid' ? covered : covered.settableIn('on')
  const both = [clerk, guest]
  const things = resource('things', {
    fields: {
      id: t.id('x'),
      name: t.string({ max: 40 }),
      owner: t.string({ max: 20 }).default('none').settableBy(clerk),
      code: t.int().optional().settableBy(clerk),
      hidden,
      sum: t.string().computed().visibleTo(clerk),
      state: t.state(),
    },
    states: ['on', 'off'],
    actions: on => ({ stop: on('on').to('off', { rel: 'stopping' }), start: on('off').to('on', { rel: 'starting' }) }),
  }).rules({
    one: 'thing',
    filter: ['name', 'owner', 'hidden'],
    sort: ['name', 'hidden'],
    search: ['name'],
    searchBy: ['hidden'],
    unserved: 'accept',
    putCreates: true,
    bulk: true,
    ...(isUnique && { unique: [['hidden', 'code']] }),
    allow: {
      read: [clerk, readsAll ? guest : own],
      create: [clerk],
      change: both,
      remove: both,
      bulk: both,
      stop: both,
      start: both,
    },
  })
  return service('test', { namespace: 'urn:test', resources: [things] })
}
type Described = ReturnType<typeof describeHidden>

const handlers: Handlers<Described, 'things'> = {
  compute: ({ hidden }) => ({ sum: `of ${String(hidden)}` }),
  stop: () => {},
  start: () => {},
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly accept?: string
  readonly body?: string
}
const json = 'application/json'
const mergePatch = 'application/merge-patch+json'
const jsonPatch = 'application/json-patch+json'
const soapMessage = (body: string): Sent => ({
  method: 'POST',
  path: '/soap/v1',
  type: 'application/soap+xml',
  body: `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>${body}</e:Body></e:Envelope>`,
})
const itemIds = ['t-0', 't-1', 't-2', 't-3', 't-4', 't-5']

/** Whatever a guest may try in order to learn a value. */
function attempts({ kind }: Form): fc.Arbitrary<Sent> {
  const id = fc.constantFrom(...itemIds)
  const guess = fc.constantFrom(...kind.values)
  const accept = fc.constantFrom(json, 'application/xml', 'text/csv', 'application/prs.hal-forms+json')
  const method = fc.constantFrom('GET', 'HEAD')
  const query = fc.oneof(
    fc.constantFrom('', '?sort=hidden', '?sort=-hidden,name', '?q=lamp', '?fields=hidden,sum', '?name=lamp&size=2'),
    fc.tuple(fc.constantFrom('', '[ne]', '[gte]', '[in]'), guess).map(([is, value]) => `?hidden${is}=${value}`),
    fc.constant('?hidden[absent]=true'),
  )
  const members = fc.record({ name: fc.constantFrom('lamp', 'mine'), hidden: guess }, { requiredKeys: ['name'] })
  const operation = fc.oneof(
    guess.map(value => ({ op: 'test', path: '/hidden', value })),
    guess.map(value => ({ op: 'add', path: '/hidden', value })),
    fc.constantFrom<object>({ op: 'remove', path: '/hidden' }, { op: 'copy', from: '/hidden', path: '/name' }),
  )
  const at = (each: string): string => `/api/things/${each}`
  return fc.oneof(
    fc.record({ method, path: query.map(each => `/api/things${each}`), accept }),
    fc.record({ method, path: id.map(at), accept }),
    fc.record({ method: fc.constant('PUT'), path: id.map(at), type: fc.constant(json), body: members.map(toText) }),
    fc.record({
      method: fc.constant('PATCH'),
      path: id.map(at),
      type: fc.constant(mergePatch),
      body: members.map(toText),
    }),
    fc.record({
      method: fc.constant('PATCH'),
      path: id.map(at),
      type: fc.constant(jsonPatch),
      body: operation.map(each => toText([each])),
    }),
    fc.record({ method: fc.constant('POST'), path: id.map(each => `${at(each)}/stopping`) }),
    fc.record({ method: fc.constant('DELETE'), path: query.map(each => `/api/things${each}`) }),
    fc.record({ method: fc.constant('GET'), path: fc.constantFrom('/changes?after=0', '/openapi.json') }),
    id.map(each => soapMessage(`<GetThing xmlns="urn:test:v1"><id>${each}</id></GetThing>`)),
    guess.map(each => soapMessage(`<ListThings xmlns="urn:test:v1"><hidden>${each}</hidden></ListThings>`)),
    guess.map(each =>
      soapMessage(`<SearchThings xmlns="urn:test:v1"><q>lamp</q><hidden>${each}</hidden></SearchThings>`),
    ),
    fc
      .tuple(id, guess)
      .map(([each, value]) =>
        soapMessage(
          `<ReplaceThing xmlns="urn:test:v1"><id>${each}</id><thing><name>lamp</name><hidden>${value}</hidden></thing></ReplaceThing>`,
        ),
      ),
  )
}
const toText = (value: unknown): string => JSON.stringify(value)

/** Versions are drawn at random, cursors and positions in the feed contain some. */
const plainText = (text: string): string =>
  text
    .replace(/(cursor=|after=|<next>)[\w-]+/g, '$1…')
    .replace(/\b\d{16}\b/g, '…')
    .replace(/"[0-9a-f]{16}-/g, '"…-')
const varying = /^(request-id|ratelimit|date)$/

async function ask(fetchAs: typeof fetch, { method, path, type, accept, body }: Sent) {
  const headers = { 'if-match': '*', ...(type && { 'content-type': type }), ...(accept && { accept }) }
  const answer = await fetchAs(`http://service.test${path}`, { method, headers, ...(body && { body }) })
  const text = await answer.text()
  const isMoving = path.startsWith('/changes') || /cursor=/.test(text + answer.headers.get('link'))
  const fields = [...answer.headers].filter(([name]) => !varying.test(name) && !(isMoving && name === 'content-length'))
  return { status: answer.status, fields: plainText(toText(fields)), text: plainText(text) }
}

interface Draft {
  readonly name: string
  readonly owner: string
  /** Of the first service, and of the second. */
  readonly hidden: readonly [number, number]
}
const drafts: fc.Arbitrary<Draft> = fc.record({
  name: fc.constantFrom('lamp', 'red lamp', 'chair'),
  owner: fc.constantFrom('gus', 'eve'),
  hidden: fc.tuple(fc.integer({ min: 0, max: 1 }), fc.integer({ min: 0, max: 1 })),
})

/** An item of which the guest may see all is the same in both services. */
async function fill(fetchAs: typeof fetch, form: Form, all: readonly Draft[], at: 0 | 1): Promise<void> {
  for (const [i, { name, owner, hidden }] of all.entries()) {
    const isSeen = form.isOwn && owner === 'gus'
    const value = form.kind.values[hidden[isSeen ? 0 : at]]
    const body = toText({ name, owner, code: i, hidden: value })
    const made = { method: 'PUT', headers: { 'content-type': json, 'if-none-match': '*' }, body }
    const { status } = await fetchAs(`http://service.test/api/things/${itemIds[i]}`, made)
    assert.equal(status, 201)
  }
}

test('A5.2 no answer tells what a caller may not see', async () => {
  const property = fc.asyncProperty(
    forms,
    fc.array(drafts, { minLength: itemIds.length, maxLength: itemIds.length }),
    fc.integer({ min: 1 }),
    async (form, all, seed) => {
      const contract = describeHidden(form)
      const app = implement(contract, { things: handlers })
      await using one = await startTestService(contract, app)
      await using other = await startTestService(contract, app)
      await fill(one.fetchAs(keeper), form, all, 0)
      await fill(other.fetchAs(keeper), form, all, 1)
      for (const sent of fc.sample(attempts(form), { numRuns: 25, seed })) {
        for (const each of [one, other]) each.clock.advance({ seconds: 10 })
        const [first, second] = [await ask(one.fetchAs(caller), sent), await ask(other.fetchAs(caller), sent)]
        assert.deepEqual(first, second, toText(sent))
      }
      assert.deepEqual([...one.incidents, ...other.incidents], [])
    },
  )
  await fc.assert(property, { numRuns: 40 })
})
