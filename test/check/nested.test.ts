/** Resources nested in resources are found, and tried, as all others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkService } from '../../src/testing/index.ts'
import app from '../service/nested-shop.ts'

test('the checker finds nested resources, three deep, and reports nothing wrong', async () => {
  const { verdicts, incidents, remarks, leftBehind } = await checkService(app, {
    profile: {
      samples: { 'POST /api/v2/orders/{id}/merger': { into: 'o-2' } },
      exceptions: { 'A7.11': 'an order without states has no action that it does not offer' },
    },
  })
  const wrong = verdicts.flatMap(({ rule, status, findings }) =>
    status === 'fail' ? findings.filter(({ holds }) => !holds).map(({ says }) => `${rule.id}: ${says}`) : [],
  )
  assert.deepEqual(wrong, [])
  assert.deepEqual(incidents, [])
  assert.deepEqual(remarks, [])
  assert.deepEqual(leftBehind, [])
  const targets = verdicts.flatMap(({ findings }) =>
    findings.flatMap(({ evidence }) => evidence.map(({ request }) => request.target)),
  )
  for (const path of [/^\/api\/v2\/orders\/o-1\/notes\/n-[^/]+$/, /^\/api\/v2\/orders\/o-1\/notes\/n-1\/replies$/])
    assert.ok(
      targets.some(target => path.test(target)),
      String(path),
    )
})
