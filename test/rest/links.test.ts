/** Links of an item: which it has, and that they do not depend on the request that asks first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyone, implement, resource, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const owners = resource('owners', { fields: { id: t.id('o'), name: t.string() } }).rules({ allow: { read: [anyone] } })
const pets = resource('pets', {
  fields: { id: t.id('p'), owner: t.ref('owners'), keeper: t.ref('owners').optional() },
}).rules({ relations: { owner: { by: 'owner' }, keeper: { by: 'keeper' } }, allow: { read: [anyone] } })
const zoo = service('zoo', { namespace: 'urn:test:zoo', resources: [owners, pets], versions: { v1: {} } })
const app = implement(
  zoo,
  {},
  {
    seed: () => ({
      items: {
        owners: [
          { id: 'o-1', name: 'Ann' },
          { id: 'o-2', name: 'Bob' },
        ],
        pets: [
          { id: 'p-1', owner: 'o-1', keeper: 'o-2' },
          { id: 'p-2', owner: 'o-1' },
        ],
      },
    }),
  },
)

test('A3.4 an item has a link to each item that it names, and none if it names none', async () => {
  await using running = await startTestService(zoo, app)
  const send = running.fetchAs()
  const ask = (id: string, fields: Record<string, string> = {}) =>
    send(`${running.address}/api/v1/pets/${id}`, { headers: { accept: 'application/json', ...fields } })
  const linksOf = async (id: string) => ((await (await ask(id)).json()) as { _links: object })._links
  const common = (id: string) => ({
    self: { href: `/api/v1/pets/${id}` },
    collection: { href: '/api/v1/pets' },
    owner: { href: '/api/v1/owners/o-1' },
  })
  const tags = new Map<string, string>()
  for (const id of ['p-1', 'p-2']) tags.set(id, (await ask(id)).headers.get('etag') ?? '')
  const version = (tag = '') => tag.split('-').slice(1).join()
  assert.notEqual(version(tags.get('p-1')), version(tags.get('p-2')), 'other links are another variant')
  for (let turn = 0; turn < 3; turn++) {
    for (const [id, tag] of tags) assert.equal((await ask(id, { 'if-none-match': tag })).status, 304)
    assert.deepEqual(await linksOf('p-1'), { ...common('p-1'), keeper: { href: '/api/v1/owners/o-2' } })
    assert.deepEqual(await linksOf('p-2'), common('p-2'))
  }
})
