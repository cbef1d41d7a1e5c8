/** Rule A5.2: whom a grant admits, and which rows a caller may see. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  anyone,
  type Caller,
  type Grant,
  isAllowed,
  mayEverBeAllowed,
  readRestriction,
  role,
} from '../../src/contract/policy.ts'

const own = role('customer').owning({ owner: 'customer', region: 'region' })
const caller = (claims: Caller['claims'], roles: readonly string[] = ['customer']): Caller => ({
  subject: 'ann',
  roles,
  claims,
})
const ann = caller({ customer: 'c-1', region: 'r-1' })

const rows: readonly (readonly [
  title: string,
  Caller,
  item: Record<string, unknown>,
  allowed: boolean,
  ever: boolean,
])[] = [
  ['their own item', ann, { owner: 'c-1', region: 'r-1' }, true, true],
  ['an item of another', ann, { owner: 'c-2', region: 'r-1' }, false, true],
  ['an item that only one of the fields gives them', ann, { owner: 'c-1', region: 'r-2' }, false, true],
  ['an item without an owner', ann, { region: 'r-1' }, false, true],
  [
    'an item without an owner, by a caller without the claim',
    caller({ region: 'r-1' }),
    { region: 'r-1' },
    false,
    false,
  ],
  ['any item, by a caller without claims', caller({}), {}, false, false],
  ['their own item, in another role', caller(ann.claims, ['clerk']), { owner: 'c-1', region: 'r-1' }, false, false],
]
for (const [title, asks, item, allowed, ever] of rows)
  test(`A5.2 a grant to owners ${allowed ? 'admits to' : 'does not admit to'} ${title}`, () => {
    assert.equal(isAllowed([own], asks, 0, item), allowed)
    assert.equal(mayEverBeAllowed([own], asks, 0), ever)
    assert.deepEqual(readRestriction([own], asks, 0), ever ? [{ owner: 'c-1', region: 'r-1' }] : [])
  })

test('A5.2 a condition sees the caller, the time and the item; one grant that admits is enough', () => {
  const late = role('customer').given('after noon', ({ now }) => now >= 12)
  const small = role('customer').given('small', ({ value }) => value === undefined || Number(value['total']) < 10)
  const may = (grants: readonly Grant[], now: number, total: number) => isAllowed(grants, ann, now, { total })
  assert.deepEqual([may([late], 11, 1), may([late], 12, 1)], [false, true])
  assert.deepEqual([may([small], 0, 9), may([small], 0, 10)], [true, false])
  assert.deepEqual(
    [may([late, small], 11, 9), may([late, small], 12, 10), may([late, small], 11, 10)],
    [true, true, false],
  )
  assert.ok(isAllowed([own, anyone], caller({}, []), 0, {}))
  assert.equal(readRestriction([own, anyone], ann, 0), 'all')
  assert.ok(!mayEverBeAllowed([], ann, 0))
})

for (const given of [{}, 'name', undefined])
  test(`a grant to owners without fields would admit to every item, and is refused: ${JSON.stringify(given)}`, () => {
    assert.throws(() => role('customer').owning(given as never), /role\('customer'\)\.owning\(\) needs a field and the/)
  })
