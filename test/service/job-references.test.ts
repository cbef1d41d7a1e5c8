/** Row 28: references in the input of a job, when a client starts it. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { implement, job, resource, role, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const [owner, desk] = [role('owner'), role('desk')]
const flats = resource('flats', {
  fields: { id: t.id('f'), owner: t.string(), state: t.state() },
  states: ['let'],
  actions: on => ({ visit: on('let').to('let', { rel: 'survey', input: { flat: t.string() } }) }),
}).rules({
  allow: { read: [owner.owning({ owner: 'name' }), desk], visit: [desk] },
})
const surveys = job('surveys', {
  input: { rooms: t.list(t.object({ flat: t.ref('flats') })), hint: t.ref('flats', { unseen: true }).optional() },
  output: { flats: t.int() },
  allow: [owner, desk],
})
const houses = service('houses', { namespace: 'urn:houses', resources: [flats], jobs: [surveys] })
const started: string[] = []
const app = implement(
  houses,
  {
    flats: { visit: async (ctx, _flat, { flat }) => void (await ctx.after('surveys', { rooms: [{ flat }] })) },
    surveys: {
      starting: (_ctx, { rooms }) => void started.push(rooms.map(({ flat }) => flat).join()),
      run: async (_ctx, { rooms }) => ({ flats: rooms.length }),
    },
  },
  {
    seed: () => ({
      people: [
        { subject: 'ann', password: 'ann-secret', roles: ['owner'], claims: { name: 'ann' } },
        { subject: 'dan', password: 'dan-secret', roles: ['desk'] },
      ],
      items: { flats: ['ann', 'ben'].map(name => ({ id: `f-${name}`, owner: name, state: 'let' as const })) },
    }),
  },
)

describe('row 28 a reference in the input of a job', () => {
  let running: Awaited<ReturnType<typeof startTestService<typeof houses>>>
  before(async () => {
    running = await startTestService(houses, app)
  })
  after(() => running.close())

  const start = (who: string, input: object): Promise<Response> =>
    running.fetchAs(who)(`${running.address}/api/surveys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
    })

  for (const [what, who, input, status, pointer] of [
    ['leads to an item that its caller may read', 'ann', { rooms: [{ flat: 'f-ann' }] }, 202, undefined],
    ['leads to what nobody has', 'dan', { rooms: [{ flat: 'f-ann' }, { flat: 'f-0' }] }, 422, '/rooms/1/flat'],
    ["does not lead to another owner's item", 'ann', { rooms: [{ flat: 'f-ben' }] }, 422, '/rooms/0/flat'],
    ['that may be unseen is only looked for', 'ann', { rooms: [], hint: 'f-ben' }, 202, undefined],
    ['that may be unseen leads to an item', 'ann', { rooms: [], hint: 'f-0' }, 422, '/hint'],
  ] as const)
    it(`${what}: ${status}`, async () => {
      const before = started.length
      const response = await start(who, input)
      const body = (await response.json()) as { readonly errors?: readonly { readonly pointer: string }[] }
      assert.deepEqual([response.status, body.errors?.[0]?.pointer], [status, pointer])
      assert.equal(started.length - before, status === 202 ? 1 : 0, 'a handler gets references that lead somewhere')
    })

  for (const [flat, status] of [
    ['f-ben', 200],
    ['f-0', 500],
  ] as const)
    it(`that a handler gives to ctx.after and leads to ${flat}: ${status}`, async () => {
      const visit = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ flat }) }
      const response = await running.fetchAs('dan')(`${running.address}/api/flats/f-ann/survey`, visit)
      assert.equal(response.status, status, await response.text())
    })

  it('is refused in SOAP, too', async () => {
    const response = await running.fetchAs('ann')(`${running.address}/soap/v1`, {
      method: 'POST',
      headers: { 'content-type': 'application/soap+xml' },
      body: `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><StartSurvey xmlns="urn:houses:v1"><rooms><room><flat>f-ben</flat></room></rooms></StartSurvey></e:Body></e:Envelope>`,
    })
    assert.match(await response.text(), /refers to f-ben, which does not exist in flats/)
  })
})
