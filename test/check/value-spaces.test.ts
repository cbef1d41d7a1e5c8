/** A service that keeps any value its contract accepts passes its own check (A2.1). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyone, implement, resource, service, t } from '../../src/index.ts'
import { checkService, startTestService } from '../../src/testing/index.ts'

const any = { zone: 'optional' } as const
const fields = {
  id: t.id('v'),
  day: t.date(),
  anyDay: t.date(any),
  moment: t.dateTime(),
  anyMoment: t.dateTime(any),
  localMoment: t.dateTime({ zone: 'prohibited' }),
  hour: t.time(),
  zonedHour: t.time({ zone: 'required' }),
  wait: t.duration(),
  double: t.double(),
  doubles: t.list(t.double({ xsd: 'float' })),
}
const values = resource('values', { fields }).rules({
  allow: { read: [anyone], create: [anyone], change: [anyone] },
})
const contract = service('values', { namespace: 'urn:test:values', versions: { v1: {} }, resources: [values] })
const first = {
  ...{ day: '0001-01-01', anyDay: '9999-12-31+14:00', moment: '0001-01-01T00:00:00-14:00' },
  ...{ anyMoment: '9999-12-31T23:59:59.999999999999', localMoment: '2028-02-29T00:00:00', hour: '23:59:59' },
  ...{ zonedHour: '00:00:00.000001Z', wait: '-P1Y2DT0.5S', double: -0, doubles: [-0, 0, Number.NaN] },
}
const last = {
  ...{ day: '2028-02-29', anyDay: '2028-02-29', moment: '9999-12-31T23:59:59.123456789012Z' },
  ...{ anyMoment: '2028-02-29T00:00:00Z', localMoment: '0001-01-01T00:00:00.5', hour: '09:30:00-01:00' },
  ...{ zonedHour: '23:59:59+14:00', wait: 'PT0S', double: Number.NEGATIVE_INFINITY, doubles: [] },
}
const seed = () => ({
  items: {
    values: [
      { id: 'v-1', ...first },
      { id: 'v-2', ...last },
    ],
  },
})
const app = implement(contract, {}, { seed })

test('A2.1 every value that a contract accepts conforms to its description', async () => {
  const { verdicts, incidents } = await checkService(app)
  const wrong = verdicts.flatMap(({ rule, status, findings }) =>
    status === 'fail' ? findings.filter(({ holds }) => !holds).map(({ says }) => `${rule.id}: ${says}`) : [],
  )
  assert.deepEqual(wrong, [])
  assert.equal(verdicts.find(({ rule }) => rule.id === 'A2.1')?.status, 'pass')
  assert.deepEqual(incidents, [])
})

test('XML Schema Part 2 §3.2.5 minus zero keeps its sign in both faces', async () => {
  await using service = await startTestService(contract, app)
  for (const client of [service.rest(), service.soap()]) {
    const seeded = await client.values.get('v-1')
    assert.deepEqual([seeded.double, seeded.doubles], [-0, [-0, 0, Number.NaN]])
    const { id } = await client.values.create({ ...first, doubles: [1, -0] })
    const { double, doubles } = await client.values.get(id)
    assert.deepEqual([double, doubles], [-0, [1, -0]])
  }
})
