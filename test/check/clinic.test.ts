/** Every rule that can be observed holds for the clinic: an existing table, two versions, header blocks, a job. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import clinic from '../../examples/clinic/service.ts'
import { openSocketTransport, parseCaller, runCheck } from '../../src/check/index.ts'
import { startHosted } from '../host/hosted-service.ts'

/**
 * What a run on this machine cannot see; the report says what each would need. A4.11 and A7.11 are seen at the
 * appointment that the run makes first, since its sample is at the time of that one.
 */
const unseen = [
  ...['A1.5', 'A4.7', 'A4.22', 'A5.4', 'A7.5', 'A7.14', 'A7.16', 'A8.1', 'A9.4'],
  ...['B2.14', 'B4.9', 'B5.3', 'B5.4', 'B9.2', 'C6.1'],
]

it('the clinic keeps every rule that can be observed, with its jobs', async () => {
  const { server } = await startHosted({}, clinic)
  const authorization = `Basic ${Buffer.from('dana:dana-secret').toString('base64')}`
  const made = await fetch(`${server.url}/api/v2/doctors`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'House', ward: 'bones' }),
  })
  const { id: doctor } = (await made.json()) as { id: string }
  const transport = await openSocketTransport(server.url)
  const report = await runCheck(transport, {
    callers: ['dana:dana-secret', 'house:house-secret', 'pat:pat-secret'].map(parseCaller),
    profile: {
      wsdl: ['/soap/v1?wsdl', '/soap/v2?wsdl'],
      samples: {
        'POST /api/v2/appointments': { patient: 'p-1', doctor, from: '2099-01-05T09:00:00Z' },
        'POST /api/v2/documents': { patient: 'p-1', title: 'X-ray' },
      },
    },
    allowChanges: true,
    rate: 100_000,
  })
  transport.close()
  const of = (status: string) => report.verdicts.filter(each => each.status === status)
  assert.deepEqual(
    of('fail').map(({ rule, reason }) => `${rule.id} ${reason}`),
    [],
  )
  assert.deepEqual(
    of('not observable').map(({ rule }) => rule.id),
    unseen,
  )
})
