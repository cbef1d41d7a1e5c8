/**
 * A handler that is still to be written: both faces tell its callers so, nothing is changed,
 * and the operator learns the file and the line.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyone, exchange, implement, job, port, resource, service, t, x } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const clerk = { subject: 'ann', roles: [] }
const allow = { read: [anyone], create: [anyone], change: [anyone] }
const doors = resource('doors', {
  fields: { id: t.id('d'), name: t.string(), state: t.state() },
  states: ['open', 'shut'],
  actions: on => ({ shut: on('open').to('shut', { rel: 'shutting' }) }),
}).rules({ allow: { ...allow, shut: [anyone] } })
const keys = resource('keys', { fields: { id: t.id('k'), made: t.date().readOnly() } }).rules({ allow })
const counts = job('counts', { input: {}, output: { doors: t.int() }, allow: [anyone], tries: 3 })
const messages = x.namespace('urn:bell')
const Ring = messages.element('Ring', x.object({ times: x.element(x.int) }))
const Rung = messages.element('Rung', x.string)
const bell = port('Bell', {
  namespace: 'urn:bell',
  allow: [anyone],
  exchanges: { Ring: exchange({ action: 'urn:bell:ring', input: Ring, output: Rung }) },
})
const house = service('house', {
  namespace: 'urn:house',
  resources: [doors, keys],
  jobs: [counts],
  ports: [bell],
})
const app = implement(house, {
  doors: {
    shut: async ctx => {
      await ctx.items.create('doors', { name: 'another' })
      return ctx.unimplemented()
    },
  },
  keys: { derive: ctx => ctx.unimplemented() },
  counts: { run: async ctx => ctx.unimplemented() },
  Bell: { Ring: (_ring, ctx) => ctx.unimplemented() },
})

const told = (operation: string) => ({ message: new RegExp(`${operation} is not implemented yet`) })

for (const face of ['rest', 'soap'] as const)
  test(`an unwritten action or derive is reported by ${face}; its changes are undone`, async () => {
    await using running = await startTestService(house, app)
    const api = running[face](clerk)
    const { id } = await api.doors.create({ name: 'north' })
    const door = await api.doors.get(id)
    assert.ok(door.state === 'open')
    await assert.rejects(api.doors.shut(door), told('ShutDoor'))
    assert.equal((await api.doors.get(id)).state, 'open')
    assert.equal((await Array.fromAsync(api.doors.list())).length, 1)
    await assert.rejects(api.keys.create({}), told('CreateKey'))
    const [thrown] = running.incidents
    assert.ok(thrown instanceof Error)
    assert.match(thrown.stack ?? '', /unimplemented\.test\.ts:\d+/)
  })

test('RFC 9110 §15.6.2: REST responds 501, with a page that explains it and shows no internals', async () => {
  await using running = await startTestService(house, app)
  const ask = running.fetchAs(clerk)
  const answer = await ask(`${running.address}/api/v1/Bell/Ring`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"times":2}',
  })
  const problem = (await answer.json()) as { readonly type: string; readonly detail: string }
  assert.deepEqual([answer.status, problem.detail], [501, 'Bell.Ring is not implemented yet'])
  assert.doesNotMatch(JSON.stringify(problem), /\.ts/)
  assert.match(await (await ask(new URL(problem.type, running.address))).text(), /does not implement it yet/)
})

test('rule B7.3: SOAP responds with a fault of the receiver', async () => {
  await using running = await startTestService(house, app)
  const answer = await running.fetchAs(clerk)(`${running.address}/soap/Bell`, {
    method: 'POST',
    headers: { 'content-type': 'application/soap+xml' },
    body: `<e:Envelope xmlns:e='http://www.w3.org/2003/05/soap-envelope'><e:Body><Ring xmlns='urn:bell'><times>2</times></Ring></e:Body></e:Envelope>`,
  })
  const text = await answer.text()
  assert.equal(answer.status, 500)
  assert.match(text, /:Receiver<[\s\S]*Bell\.Ring is not implemented yet/)
  assert.doesNotMatch(text, /\.ts/)
})

test('content that breaks the contract is refused first', async () => {
  await using running = await startTestService(house, app)
  const answer = await running.fetchAs(clerk)(`${running.address}/api/v1/Bell/Ring`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"times":"two"}',
  })
  assert.equal(answer.status, 422)
})

test('a job fails at once: another attempt would find the same', async () => {
  await using running = await startTestService(house, app)
  const started = await running.rest(clerk).counts.start({})
  await running.work()
  assert.equal(running.incidents.length, 1)
  await assert.rejects(started.result(), /failed/)
})
