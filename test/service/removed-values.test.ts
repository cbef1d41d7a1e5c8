/** A handler removes the value of an optional field: by undefined, also where types are exact. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyone, type Handlers, implement, resource, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const desks = resource('desks', {
  fields: {
    id: t.id('d'),
    number: t.int(),
    holder: t.string({ max: 20 }).optional(),
    since: t.date().readOnly().optional(),
    state: t.state(),
  },
  states: ['taken', 'free'],
  actions: on => ({
    leave: on('taken').to('free', { rel: 'departure' }),
    clear: on('free').to('taken', { rel: 'clearance', input: { other: t.ref('desks') } }),
  }),
}).rules({
  precondition: false,
  allow: { read: [anyone], create: [anyone], change: [anyone], leave: [anyone], clear: [anyone] },
})
const office = service('office', { namespace: 'urn:office', resources: [desks] })
const handlers: Handlers<typeof office, 'desks'> = {
  derive: (_ctx, { holder }) => ({ since: holder === undefined ? undefined : '2026-01-01' }),
  leave: () => ({ set: { holder: undefined, since: undefined } }),
  clear: async (ctx, _desk, { other }) => void (await ctx.items.change('desks', other, { holder: undefined })),
}
export const mistakes: Handlers<typeof office, 'desks'> = {
  // @ts-expect-error a required field has a value
  leave: () => ({ set: { number: undefined } }),
  // @ts-expect-error the same
  clear: async (ctx, _desk, { other }) => void (await ctx.items.change('desks', other, { number: undefined })),
}

test('a handler removes a value by undefined: in `set`, in `ctx.items.change` and in `derive`', async () => {
  await using running = await startTestService(office, implement(office, { desks: handlers }))
  const api = running.rest()
  const made = await api.desks.create({ number: 1, holder: 'Ann' })
  assert.deepEqual([made.holder, made.since], ['Ann', '2026-01-01'])
  if (made.state !== 'taken') throw new Error(made.state)
  const left = await api.desks.leave(made)
  assert.deepEqual(
    ['holder', 'since'].map(name => name in left),
    [false, false],
  )
  const second = await api.desks.create({ number: 2, holder: 'Ben' })
  await api.desks.clear(left, { other: second.id })
  const cleared = await api.desks.get(second)
  assert.deepEqual(
    ['holder', 'since'].map(name => name in cleared),
    [false, false],
  )
  assert.deepEqual(running.incidents, [])
})
