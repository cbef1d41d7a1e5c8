/** Keys that no two items share: in either face, in handlers, in the seed, and under races. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FaultError, StateConflict } from '../../src/client/index.ts'
import { findMissingIndex, listIndexesOf } from '../../src/contract/list-index.ts'
import type { Resource } from '../../src/contract/resource.ts'
import { findContractMistakes } from '../../src/contract/review.ts'
import type { Service } from '../../src/contract/service.ts'
import { compileMessages } from '../../src/contract/xml-message.ts'
import { anyone, type Implementation, implement, resource, role, service, t } from '../../src/index.ts'
import { createMock } from '../../src/mock/create-mock.ts'
import { startTestService } from '../../src/testing/index.ts'

const clerk = role('clerk')
const owner = role('owner').owning({ owner: 'owner' })
const clara = { subject: 'clara', roles: ['clerk'] }
const owen = { subject: 'owen', roles: ['owner'], claims: { owner: 'owen' } }
const accounts = resource('accounts', {
  fields: {
    id: t.id('a'),
    owner: t.string({ max: 20 }),
    email: t.string({ max: 100 }).optional(),
    branch: t.string({ max: 10 }).nullable(),
    number: t.decimal(6, 2),
    since: t.dateTime().optional(),
  },
  actions: on => ({ rename: on().stay({ rel: 'new-email', input: { email: t.string({ max: 100 }) } }) }),
}).rules({
  unique: [['email'], ['branch', 'number'], ['since']],
  unserved: 'refuse',
  sort: ['owner'],
  putCreates: true,
  precondition: false,
  filter: ['email', 'branch', 'number'],
  allow: {
    read: [owner, clerk],
    create: [owner, clerk],
    change: [owner, clerk],
    remove: [clerk],
    rename: [clerk],
  },
})
const bank = service('bank', { namespace: 'urn:bank', resources: [accounts] })
const app = implement(bank, {
  accounts: {
    rename: async (ctx, _item, { email }) => {
      if (email === 'other@x')
        await ctx.items.create('accounts', { owner: 'o', branch: null, number: '9.00', email: 'a@x' })
      return { set: { email } }
    },
  },
})
const draft = { owner: 'owen', branch: 'b', number: '1.00', email: 'a@x' }
const taken = (detail: RegExp) => (thrown: unknown) => {
  assert.ok(thrown instanceof FaultError && thrown.is(StateConflict), String(thrown))
  assert.match(thrown.message, detail)
  return true
}

test('A7.10, B7.4 an item with the key of another is refused: 409, fault StateConflict, with the fields', async () => {
  await using bankOf = await startTestService(bank, app)
  const [rest, soap] = [bankOf.rest(clara), bankOf.soap(clara)]
  const first = await rest.accounts.create(draft)
  const other = await rest.accounts.create({ ...draft, email: 'b@x', number: '2' })
  const email = taken(/another item has this email: give another value/)
  const pair = taken(/another item has this branch and number: /)
  await assert.rejects(rest.accounts.create({ ...draft, number: '3.00' }), email)
  await assert.rejects(soap.CreateAccount({ account: { ...draft, number: '3.00' } }), email)
  await assert.rejects(rest.accounts.create({ ...draft, email: 'c@x', number: '2.00' }), pair)
  await assert.rejects(rest.accounts.replace(other, { ...draft, number: '2.00' }), email)
  await assert.rejects(soap.ReplaceAccount({ id: other.id, account: { ...draft, email: 'b@x' } }), pair)
  await assert.rejects(rest.accounts.patch(other, { email: 'a@x' }), email)
  await assert.rejects(rest.accounts.rename(other, { email: 'a@x' }), email)
  await assert.rejects(rest.accounts.rename(other, { email: 'other@x' }), email, 'by a handler, for another item')
  const put = await bankOf.fetchAs(clara)(`${bankOf.address}/api/v1/accounts/mine`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...draft, number: '4.00' }),
  })
  assert.deepEqual([put.status, put.headers.get('content-type')], [409, 'application/problem+json'])
  assert.deepEqual((await rest.accounts.list().first()).items.length, 2, 'nothing of it is stored')
  const renewed = await rest.accounts.replace(first, { ...draft, owner: 'new' })
  await rest.accounts.patch(renewed, { email: 'z@x' })
  await rest.accounts.remove(await rest.accounts.patch(other, { email: 'a@x' }))
  await rest.accounts.create({ ...draft, number: '5.00' })
  assert.deepEqual(bankOf.incidents, [])
})

test('an absent or null field has no key; an instant has one, whatever its zone', async () => {
  await using bankOf = await startTestService(bank, app)
  const rest = bankOf.rest(clara)
  for (let i = 0; i < 2; i++) await rest.accounts.create({ owner: 'o', branch: null, number: '1.00' })
  await rest.accounts.create({ ...draft, since: '2026-01-31T12:00:00Z' })
  const same = { ...draft, email: 'b@x', number: '2.00', since: '2026-01-31T13:00:00+01:00' }
  await assert.rejects(rest.accounts.create(same), taken(/another item has this since/))
})

test('A5.2 of an item that they may not read, a caller learns only that the value is taken', async () => {
  await using bankOf = await startTestService(bank, app)
  const { id } = await bankOf.rest(clara).accounts.create({ ...draft, owner: 'olga' })
  const response = await bankOf.fetchAs(owen)(`${bankOf.address}/api/v1/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...draft, number: '2.00' }),
  })
  const text = await response.text()
  assert.equal(response.status, 409)
  assert.ok(!text.includes(id) && !text.includes('olga'), text)
})

test('of simultaneous creations one is made', async () => {
  await using bankOf = await startTestService(bank, app)
  const rest = bankOf.rest(clara)
  const all = await Promise.allSettled(
    Array.from({ length: 10 }, (_, i) => rest.accounts.create({ ...draft, number: `${i}.00` })),
  )
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('a list by a whole key is served by its index, but not in another order', () => {
  const of = accounts as unknown as Resource
  const indexes = listIndexesOf(of, bank as unknown as Service)
  const byKey = (...fields: string[]) => ({ filters: fields.map(field => ({ field, is: 'eq' })), sort: [] })
  assert.equal(findMissingIndex(of, indexes, byKey('branch', 'number')), undefined)
  const asSorted = { filters: [], sort: [{ field: 'since', descending: false }] }
  assert.ok(findMissingIndex(of, indexes, asSorted))
})

test('B7.5 operations that may find a key taken declare the fault', () => {
  const faultsOf = (name: string) =>
    compileMessages(bank as unknown as Service, 'v1')
      .find(({ operation }) => operation.name === name)
      ?.faults.map(({ fault }) => fault)
  for (const name of ['CreateAccount', 'ReplaceAccount']) assert.ok(faultsOf(name)?.includes('StateConflict'), name)
  assert.ok(!faultsOf('DeleteAccount')?.includes('StateConflict'))
})

test('a seed with the same key twice is a mistake', async () => {
  const items = [
    { id: 'a-1', ...draft },
    { id: 'a-2', ...draft, number: '2.00' },
  ]
  const twice: Implementation = { ...app, seed: () => ({ items: { accounts: items } }) }
  await assert.rejects(
    async () => await startTestService(bank, twice),
    /the seed of accounts a-2: email is already that of a-1/,
  )
})

test('keys that cannot be kept are mistakes of the contract', () => {
  const of = (unique: readonly (readonly string[])[]) =>
    findContractMistakes(
      implement(
        service('s', {
          namespace: 'urn:s',
          resources: [
            resource('items', {
              fields: {
                id: t.id('i'),
                a: t.string({ max: 500 }),
                b: t.string({ max: 200 }),
                long: t.string(),
                list: t.list(t.string()),
                kind: t.string({ max: 5 }).default('x'),
              },
            }).rules({ unique: unique as never, allow: { read: [anyone] } }),
          ],
        }),
        {},
      ),
    ).join('\n')
  assert.equal(of([['a'], ['b', 'kind']]), '')
  for (const [unique, says] of [
    [[['nope']], /unique .*"?nope/],
    [[['list']], /unique/],
    [[[]], /unique has an empty list/],
    [[['id']], /names the id/],
    [[['a', 'a']], /names a field twice/],
    [[['b'], ['b']], /unique has \['b'\] twice/],
    [[['a', 'b']], /longer than an index can hold/],
    [[['long']], /give its texts and bytes a max/],
    [[['kind']], /has a default in each field/],
  ] as const)
    assert.match(of(unique), says)
})

test('a mock, whose examples are alike, starts', async () => {
  const exampled = { id: t.id('u'), email: t.string({ max: 50 }).describe('Where to write to', { example: 'a@b.c' }) }
  const users = resource('users', { fields: exampled }).rules({
    unique: [['email']],
    allow: { read: [anyone], create: [anyone] },
  })
  const mocked = service('users', { namespace: 'urn:users', resources: [users] })
  const mock = createMock(mocked)
  await using started = await startTestService(mock.contract as unknown as typeof mocked, mock)
  assert.equal((await started.rest().users.list().first()).items.length, 3)
})
