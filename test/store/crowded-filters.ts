/** What the statistics of a database say of filters, as cases of the battery. */
import assert from 'node:assert/strict'
import { anyone, resource, service, t } from '../../src/index.ts'
import type { Case } from './battery.ts'

const papersOf = (more: { readonly unserved?: 'refuse' | 'accept'; readonly indexes?: [['topic', '-_created']] }) => {
  const papers = resource('papers', {
    fields: {
      id: t.id('p'),
      kind: t.enum('book', 'film'),
      topic: t.string({ max: 50 }),
      title: t.string({ max: 50 }),
      note: t.string({ max: 50 }).optional(),
    },
  }).rules({ filter: ['id', 'kind', 'topic', 'title', 'note'], ...more, allow: { read: [anyone] } })
  return service('library', { namespace: 'urn:library', resources: [papers], versions: { v1: {} } })
}

export const crowdedFilters: readonly Case[] = [
  [
    'filters that leave many items are told by the statistics, each with the index that would serve it',
    async place => {
      if (!place.direct) return
      const plain = await place.open(papersOf({}))
      assert.deepEqual(await plain.findCrowded?.(), [], 'of a new database')
      await plain.write(async writer => {
        for (let i = 0; i < 1500; i++) {
          const value = { id: `p-${i}`, kind: 'book', topic: `topic ${i % 3}`, title: `title ${i}` }
          await writer.put('papers', value.id, value, {}, undefined, i)
        }
      })
      await place.direct('analyze')
      assert.deepEqual(await plain.findCrowded?.(), [
        { resource: 'papers', field: 'topic', items: 500, keys: ['topic', '-_created'] },
      ])
      await plain.close()
      for (const [more, count] of [
        [{ unserved: 'refuse' }, 1],
        [{ unserved: 'accept' }, 0],
        [{ indexes: [['topic', '-_created']] }, 0],
      ] as const) {
        const store = await place.open(papersOf(more as never))
        await place.direct('analyze')
        assert.equal((await store.findCrowded?.())?.length, count, JSON.stringify(more))
        await store.close()
      }
    },
  ],
]
