/** `checkService`: the rules of the conventions, in the tests of an application. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import orders from '../../examples/orders/service.ts'
import { findRule, readProfile } from '../../src/check/index.ts'
import { checkService } from '../../src/testing/index.ts'

const failures = ({ verdicts }: Awaited<ReturnType<typeof checkService>>): readonly string[] =>
  verdicts.filter(({ status }) => status === 'fail').map(({ rule }) => rule.id)

test('the orders service keeps every rule that can be observed without a socket', async () => {
  const profile = await readProfile(join(import.meta.dirname, '..', '..', 'examples', 'orders', 'check.json'))
  const report = await checkService(orders, { profile })
  assert.deepEqual(failures(report), [])
  assert.ok(report.verdicts.filter(({ status }) => status === 'pass').length >= 100)
})

test('a rule that a service breaks fails with its exchanges, and the error behind a 500 is reported', async () => {
  const handlers = orders.handlers['orders']
  assert.ok(handlers)
  const broken = {
    ...orders,
    handlers: {
      ...orders.handlers,
      orders: {
        ...handlers,
        actions: {
          ...handlers.actions,
          cancel: () => {
            throw new Error('a bug of the handler')
          },
        },
      },
    },
  }
  const report = await checkService(broken)
  const failed = report.verdicts.filter(({ status }) => status === 'fail')
  assert.deepEqual(
    failed.map(({ rule }) => rule.id),
    ['A4.11'],
  )
  assert.ok(report.incidents.some(each => each instanceof Error && each.message === 'a bug of the handler'))
  assert.ok(
    failed.every(({ findings }) => findings.some(({ evidence }) => evidence.length > 0)),
    'each failure has its exchanges',
  )
})

test('the callers are people of the seed, and rules can be selected', async () => {
  const rule = findRule('A1.3')
  assert.ok(rule)
  const seen: string[] = []
  const report = await checkService(orders, {
    callers: ['clara'],
    allowChanges: false,
    rules: [rule],
    onVerdict: verdict => seen.push(`${verdict.rule.id} ${verdict.status}`),
  })
  assert.deepEqual(seen, ['A1.3 pass'])
  assert.equal(report.verdicts.length, 1)
  await assert.rejects(checkService(orders, { callers: ['nobody'] }), {
    name: 'TypeError',
    message: /the seed has no person "nobody" with a password: give one of \[alice, clara, maria/,
  })
  // @ts-expect-error no such option
  await assert.rejects(checkService(orders, { caller: 'clara' }), /unknown member "caller": use profile, rules/)
})
