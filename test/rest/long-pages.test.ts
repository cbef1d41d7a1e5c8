/** A page of a list ends at a budget of octets, and its links continue from there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { restLimits } from '../../src/rest/limits.ts'
import { startOrders } from './orders-over-rest.ts'

const texts = resource('texts', {
  fields: { id: t.id('t'), rank: t.int(), words: t.list(t.string()) },
}).rules({ sort: ['rank'], filter: ['rank'], allow: { read: [anyone], create: [anyone] } })
const contract = service('library', { namespace: 'urn:library', resources: [texts] })
/** From a few octets to more than a page may have. */
const sizes = Array.from({ length: 60 }, (_, i) => (i === 30 ? 5_000_000 : ((i * 7919) % 11) * 60_000))
const values = sizes.map((size, i) => ({
  id: `t-${i}`,
  rank: i,
  words: Array.from({ length: size / 50 }, (_, at) => `${i} ${at} `.padEnd(47, 'x')),
}))
const kept = new Map(values.map(value => [value.id, { value, version: 1, modified: 0 }]))
const keep = {
  load: (id: string) => kept.get(id),
  list: () => [...kept.values()],
  save: () => 1,
  remove: () => true,
}
const stores = [
  [
    'of the database',
    await startOrders({ app: implement(contract, {}, { seed: () => ({ items: { texts: values } }) }) }),
  ],
  ['kept elsewhere', await startOrders({ app: implement(contract, { texts: { keep } }) })],
] as const

for (const [title, shop] of stores) {
  const follow = async (first: string, rel: 'next' | 'previous') => {
    const pages: { readonly ids: string[]; readonly octets: number; readonly text: string }[] = []
    let last = first
    for (let at: string | undefined = first; at !== undefined; ) {
      const { status, json, text } = await shop.as.anyone('GET', at)
      assert.equal(status, 200, text.slice(0, 200))
      pages.push({ ids: json.items.map((item: { id: string }) => item.id), octets: text.length, text })
      last = at
      at = json._links[rel]?.href
    }
    return { pages, last }
  }

  test(`A4.1 pages of items ${title} are at most ${restLimits.pageOctets} octets long, or one item`, async () => {
    const { pages, last } = await follow('/api/v1/texts?size=100&sort=rank', 'next')
    assert.ok(pages.length >= 4)
    assert.deepEqual(
      pages.flatMap(page => page.ids),
      values.map(({ id }) => id),
    )
    for (const { ids, octets } of pages)
      assert.ok(octets < restLimits.pageOctets * 1.05 || ids.length === 1, `${octets}`)
    const back = await follow(last, 'previous')
    assert.deepEqual(
      back.pages.toReversed().flatMap(page => page.ids),
      values.map(({ id }) => id),
      'and backwards',
    )
  })

  test(`A4.1 the page by number after one that was cut continues where it ended, for items ${title}`, async () => {
    for (const first of ['/api/v1/texts?size=20&page=2&sort=rank', '/api/v1/texts?size=20&page=2&sort=-rank']) {
      const { pages } = await follow(first, 'next')
      const order = first.includes('-rank') ? values.toReversed() : values
      assert.deepEqual(
        pages.flatMap(page => page.ids),
        order.slice(20).map(({ id }) => id),
      )
    }
  })

  test(`a page that fits has the requested size, and is remembered; items ${title}`, async () => {
    const small = '/api/v1/texts?size=2&sort=rank&rank[lt]=2'
    const [one, two] = [await shop.as.anyone('GET', small), await shop.as.anyone('GET', small)]
    assert.deepEqual([one.json.items.length, one.text], [2, two.text])
  })
}
