/** The removal of expired rows while a service runs: once a minute, and one removal at a time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openService, sweepEveryMs } from '../../src/host/open-service.ts'
import { openAllOrNothing } from '../../src/host/options.ts'
import { anyone, implement, resource, service, t } from '../../src/index.ts'

const notes = resource('notes', { fields: { id: t.id('n'), text: t.string() } }).rules({ allow: { read: [anyone] } })
const app = implement(service('notes', { namespace: 'urn:notes', resources: [notes] }), {})

test('a removal that takes longer than a minute is followed by the next, not joined by it', async context => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const sweeps: PromiseWithResolvers<number>[] = []
  const failures: unknown[] = []
  const sweep = (): Promise<number> => {
    const next = Promise.withResolvers<number>()
    sweeps.push(next)
    return next.promise
  }
  const logger = { info() {}, warn() {}, error: (fields: object) => void failures.push(fields) }
  const open = await openAllOrNothing(opened =>
    openService(app, { data: ':memory:', logger }, opened, { store: kept => ({ ...kept, sweep }) }),
  )
  context.after(() => open.close(0))
  const passMinutes = async (count: number): Promise<number> => {
    context.mock.timers.tick(count * sweepEveryMs)
    await nextTurn()
    return sweeps.length
  }
  assert.equal(await passMinutes(3), 1)
  sweeps[0]?.resolve(1_500_000)
  await nextTurn()
  assert.equal(await passMinutes(1), 2)
  sweeps[1]?.reject(new Error('the disk is full'))
  await nextTurn()
  assert.equal(await passMinutes(2), 3)
  assert.equal(failures.length, 1, 'a failed removal is reported and tried again')
  sweeps[2]?.resolve(0)
})
