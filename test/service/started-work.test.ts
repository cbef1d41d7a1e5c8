/** What a handler starts and does not await ends its call: nothing is lost, and the process goes on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyone, implement, job, resource, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const rel = (name: string) => ({ rel: name })
const notes = resource('notes', {
  fields: { id: t.id('n'), count: t.int(), state: t.state() },
  states: ['open'],
  actions: on => ({
    lose: on().stay(rel('loss')),
    touch: on().stay(rel('touching')),
    queue: on().stay(rel('queueing')),
    refuse: on().stay(rel('refusal')),
    give: on().stay(rel('gift')),
    gather: on().stay(rel('gathering')),
    defer: on().stay(rel('deferral')),
  }),
}).rules({
  allow: {
    ...{ read: [anyone], lose: [anyone], touch: [anyone], queue: [anyone], refuse: [anyone] },
    ...{ give: [anyone], gather: [anyone], defer: [anyone] },
  },
})
const mails = job('mails', { input: { how: t.string() }, output: {}, allow: [anyone], tries: 1 })
const desk = service('desk', { namespace: 'urn:desk', resources: [notes], jobs: [mails] })
const wait = () => new Promise<void>(resolve => setImmediate(resolve))

const app = implement(
  desk,
  {
    notes: {
      lose: ctx => void ctx.items.change('notes', 'n-2', { count: 1 }),
      touch: (ctx, { id }) => void ctx.items.change('notes', id, { count: 1 }),
      queue: ctx => void ctx.after('mails', { how: 'well' }),
      refuse: async ctx => {
        void ctx.items.change('notes', 'n-3', { count: 1 })
        ctx.conflict('not now')
      },
      give: ctx => ctx.items.change('notes', 'n-2', { count: 2 }).then(() => undefined),
      gather: async ctx => {
        await Promise.all([1, 2, 3].map(count => ctx.items.change('notes', 'n-2', { count })))
      },
      defer: async ctx => {
        const change = ctx.items.change('notes', 'n-2', { count: 4 })
        await wait()
        await change
      },
    },
    mails: {
      run: async (ctx, { how }) => {
        if (how === 'badly') void ctx.items.change('notes', 'n-2', { count: 1 })
        if (how === 'in a step') await ctx.once('step', step => void step.items.change('notes', 'n-2', { count: 1 }))
        if (how === 'beside a step') void ctx.once('step', () => wait())
        return {}
      },
    },
  },
  { seed: () => ({ items: { notes: ['n-1', 'n-2'].map(id => ({ id, count: 0, state: 'open' as const })) } }) },
)

async function post(path: string, content?: object) {
  await using desks = await startTestService(desk, app)
  const call = desks.fetchAs()
  const headers = { 'content-type': 'application/json' }
  const { status } = await call(`${desks.address}/api/${path}`, {
    method: 'POST',
    ...(content && { headers, body: JSON.stringify(content) }),
  })
  await desks.work()
  const { count } = await desks.rest().notes.get('n-2')
  return {
    status,
    count,
    incidents: desks.incidents.map(each => (each as Error).message),
    events: await desks.events(),
  }
}
const lost = (what: string) => `${what} is not awaited, so it would be lost: write await before it`

for (const [path, text] of [
  ['loss', `LoseNote: ctx.items.change('notes', …)`],
  ['touching', `TouchNote: ctx.items.change('notes', …)`],
  ['queueing', `QueueNote: ctx.after('mails', …)`],
] as const)
  test(`a handler that does not await what it starts fails, and changes nothing: ${path}`, async () => {
    const { status, count, incidents, events } = await post(`notes/n-1/${path}`)
    assert.deepEqual([status, count, events.length], [500, 0, 0])
    assert.deepEqual(incidents, [lost(text)])
  })
test('the error that ends a handler is kept, also if a change that it did not await fails', async () => {
  const { status, count, incidents } = await post('notes/n-1/refusal')
  assert.deepEqual([status, count, incidents], [409, 0, []])
})
for (const [path, expected] of [
  ['gift', 2],
  ['gathering', 3],
  ['deferral', 4],
] as const)
  test(`a change may be awaited later, returned, or awaited with others: ${path}`, async () => {
    const { status, count, incidents } = await post(`notes/n-1/${path}`)
    assert.deepEqual([status, count, incidents], [200, expected, []])
  })
for (const [how, text] of [
  ['badly', `mails: ctx.items.change('notes', …)`],
  ['in a step', `mails: ctx.items.change('notes', …)`],
  ['beside a step', `mails: ctx.once('step', …)`],
] as const)
  test(`a job that does not await what it starts fails: ${how}`, async () => {
    const { status, incidents } = await post('mails', { how })
    assert.equal(status, 202)
    assert.ok(
      incidents.some(each => each.includes(lost(text))),
      incidents.join('\n'),
    )
  })
