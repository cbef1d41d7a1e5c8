/** A2.2: an item links to what its caller may do now, for random machines and grants; and to nothing else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyone, type Grant, implement, resource, role, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const states = ['new', 'open', 'done'] as const
const root = { subject: 'root', roles: ['root'] }
const callers = [
  { subject: 'ann', roles: ['desk'], claims: { name: 'ann' } },
  { subject: 'ben', roles: ['ward'] },
  undefined,
]

const grant: fc.Arbitrary<Grant> = fc.oneof(
  fc.constantFrom(anyone, role('desk'), role('ward'), role('desk').owning({ owner: 'name' })),
  fc.constant(role('ward').given('not new', ({ value }) => value?.['state'] !== 'new')),
)
const grants = fc.array(grant, { maxLength: 2 })
const some = fc.uniqueArray(fc.constantFrom(...states), { minLength: 1, maxLength: 2 })

interface Machine {
  readonly first: readonly ('new' | 'open' | 'done')[]
  readonly second: readonly ('new' | 'open' | 'done')[]
  readonly edit: readonly ('new' | 'open' | 'done')[]
  readonly allow: Readonly<Record<'change' | 'remove' | 'first' | 'second', readonly Grant[]>>
}
const machines: fc.Arbitrary<Machine> = fc.record({
  first: some,
  second: some,
  edit: some,
  allow: fc.record({ change: grants, remove: grants, first: grants, second: grants }),
})

function describeMachine({ first, second, edit, allow }: Machine) {
  const things = resource('things', {
    fields: { id: t.id('x'), owner: t.string(), state: t.state() },
    states: [...states],
    actions: on => ({
      first: on(...first).to('done', { rel: 'one' }),
      second: on(...second).stay({ rel: 'two' }),
      open: on('new').to('open', { rel: 'opening' }),
      end: on('open').to('done', { rel: 'ending' }),
    }),
  }).rules({
    one: 'thing',
    precondition: false,
    edit: [...edit],
    allow: { ...allow, read: [anyone], create: [role('root')], open: [role('root')], end: [role('root')] },
  })
  return service('test', { namespace: 'urn:test', resources: [things] })
}

const doings: readonly (readonly [rel: string, method: string, path: string])[] = [
  ['one', 'POST', '/one'],
  ['two', 'POST', '/two'],
  ['opening', 'POST', '/opening'],
  ['edit', 'PUT', ''],
  ['delete', 'DELETE', ''],
]

test('A2.2 an item, also in a list, has the links of the changes that succeed, and no others', async () => {
  const property = fc.asyncProperty(machines, fc.constantFrom(...states), async (machine, state) => {
    const contract = describeMachine(machine)
    const none = () => {}
    const app = implement(contract, { things: { first: none, second: none, open: none, end: none } })
    await using world = await startTestService(contract, app)
    const things = 'http://service.test/api/things'
    const headers = { 'content-type': 'application/json' }
    const content = JSON.stringify({ owner: 'ann' })
    for (const caller of callers)
      for (const [rel, method, path] of doings) {
        const asRoot = world.fetchAs(root)
        const made = await asRoot(things, { method: 'POST', headers, body: content })
        const address = `http://service.test${made.headers.get('location')}`
        if (state !== 'new') await asRoot(`${address}/opening`, { method: 'POST' })
        if (state === 'done') await asRoot(`${address}/ending`, { method: 'POST' })
        world.clock.advance({ seconds: 10 })
        const ask = world.fetchAs(caller)
        const { _links: links } = (await (await ask(address)).json()) as { _links: object }
        const { items } = (await (await ask(`${things}?size=1`)).json()) as { items: { _links: object }[] }
        assert.deepEqual(items[0]?._links, links)
        const { ok, status } = await ask(address + path, { method, headers, ...(rel === 'edit' && { body: content }) })
        assert.equal(Object.hasOwn(links, rel), ok, `${caller?.subject} ${rel} in ${state}: ${status}`)
      }
    assert.deepEqual(world.incidents, [])
  })
  await fc.assert(property, { numRuns: 25 })
})
