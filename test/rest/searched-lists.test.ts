/** Words in the address of a list: a search by GET, for a resource without searches of its own. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fault, implement, resource, role, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const [reader, desk] = [role('reader'), role('desk')]
const TooVague = fault('TooVague', {
  status: 422,
  title: 'Too many items have this word',
  detail: { word: t.string() },
})

const authors = resource('authors', { fields: { id: t.id('a'), name: t.string() } }).rules({
  filter: ['name'],
  relations: { books: { of: 'books', by: 'author' } },
  allow: { read: [reader, desk] },
})
const books = resource('books', {
  fields: { id: t.id('b'), title: t.string(), author: t.ref('authors'), price: t.decimal(6, 2), owner: t.string() },
}).rules({
  filter: ['price', 'author'],
  sort: ['title', 'price'],
  search: ['title', 'author.name'],
  searchBy: ['price', 'title'],
  bulk: true,
  faults: { search: [TooVague] },
  allow: { read: [reader.owning({ owner: 'name' }), desk], bulk: [desk] },
})
const library = service('library', { namespace: 'urn:library', resources: [authors, books] })
const titles = ['Red lamp', 'Blue lamp', 'Green lamp', 'Blue door']
const app = implement(
  library,
  {
    authors: {},
    books: { searching: (ctx, [word]) => (word === 'the' ? ctx.fail(TooVague, { word }) : undefined) },
  },
  {
    seed: () => ({
      people: [
        { subject: 'ann', password: 'ann-secret', roles: ['reader'], claims: { name: 'ann' } },
        { subject: 'dan', password: 'dan-secret', roles: ['desk'] },
      ],
      items: {
        authors: ['Moon', 'Sun'].map((name, i) => ({ id: `a-${i}`, name })),
        books: titles.map((title, i) => ({
          ...{ id: `b-${i}`, title, author: `a-${i % 2}`, price: `${i + 1}.00`, owner: i < 2 ? 'ann' : 'ben' },
        })),
      },
    }),
  },
)

interface Found {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service answers
  readonly body: any
  readonly ids: string
}

describe('A4.14 a list with words', () => {
  let running: Awaited<ReturnType<typeof startTestService<typeof library>>>
  before(async () => {
    running = await startTestService(library, app)
  })
  after(() => running.close())

  async function find(who: string, target: string, method = 'GET'): Promise<Found> {
    const response = await running.fetchAs(who)(running.address + target, { method })
    const body = (await response.json()) as Found['body']
    return { status: response.status, body, ids: body.items?.map((each: { id: string }) => each.id).join(' ') }
  }

  for (const [target, ids, total] of [
    ['/api/books?q=lamp&sort=price', 'b-0 b-1 b-2', 3],
    ['/api/books?q=BLUE%20lamp', 'b-1', 1],
    ['/api/books?q=sun&sort=price', 'b-1 b-3', 2],
    ['/api/books?q=lamp&price[gte]=2.00&sort=-price', 'b-2 b-1', 2],
    ['/api/books?q=lamp&price[in]=1.00,4.00', 'b-0', 1],
    ['/api/books?q=&sort=price', 'b-0 b-1 b-2 b-3', 4],
    ['/api/books?q=window', '', 0],
    ['/api/authors/a-1/books?q=blue&sort=price', 'b-1 b-3', 2],
  ] as const)
    it(`finds what has all of them, within its filters: ${target}`, async () => {
      const found = await find('dan', target)
      assert.deepEqual([found.status, found.ids, found.body.total], [200, ids, total])
    })

  it('RFC 10008 §2.4 QUERY names the address that finds the same by GET, and its links lead on there', async () => {
    const ask = async (content: object, target = '/api/books') => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify(content)
      const response = await running.fetchAs('dan')(running.address + target, { method: 'QUERY', headers, body })
      const { items, _links: links } = (await response.json()) as Found['body']
      return { location: response.headers.get('location'), ids: items.map((each: Item) => each.id), links }
    }
    interface Item {
      readonly id: string
    }
    const found = await ask({ q: 'lamp', price: '2.00' }, '/api/books?sort=price')
    assert.equal(found.location, '/api/books?q=lamp&price=2.00&sort=price')
    assert.equal((await find('dan', found.location ?? '')).ids, found.ids.join(' '))
    const first = await ask({ q: 'lamp' }, '/api/books?size=2&sort=price')
    assert.deepEqual(first.ids, ['b-0', 'b-1'])
    assert.equal((await find('dan', first.links.next.href)).ids, 'b-2', 'the next page has the same criteria')
    assert.equal((await find('dan', first.links.self.href)).ids, 'b-0 b-1')
    const again = await ask({ q: 'lamp' }, first.links.next.href)
    assert.deepEqual(again.ids, ['b-2'], 'a client may send the content to the next page, too')
    assert.equal((await find('dan', again.links.previous.href)).ids, 'b-0 b-1')
    const both = await ask({ q: 'red' }, '/api/books?q=lamp&price=1.00&sort=price')
    assert.deepEqual([both.ids, both.location], [['b-0'], '/api/books?q=lamp%20red&price=1.00&sort=price'])
    assert.equal((await ask({ title: 'Red lamp' })).location, null, 'the list has no filter of this name')
    assert.equal((await ask({ q: 'é'.repeat(900) })).location, null, 'no address is that long')
  })

  it('finds what its caller may read', async () => {
    assert.equal((await find('ann', '/api/books?q=lamp&sort=price')).ids, 'b-0 b-1')
  })

  it('has the words in its links to other pages', async () => {
    const first = await find('dan', '/api/books?q=lamp&size=2&sort=price')
    assert.match(first.body._links.next.href, /^\/api\/books\?q=lamp&size=2&sort=price&cursor=/)
    assert.equal((await find('dan', first.body._links.next.href)).ids, 'b-2')
  })

  it('A2.4 is linked from the list', async () => {
    const { href, templated } = (await find('dan', '/api/books')).body._links.search
    assert.deepEqual([href, templated], ['/api/books{?q,price,author,page,size,cursor,sort,fields}', true])
    assert.equal((await find('dan', '/api/authors')).body._links.search, undefined)
  })

  it('is ended by the faults of a search, which its description names', async () => {
    const vague = await find('dan', '/api/books?q=the')
    assert.deepEqual([vague.status, vague.body.type, vague.body.word], [422, '/problems/TooVague', 'the'])
    const { get } = (await find('dan', '/openapi.json')).body.paths['/api/v1/books']
    assert.ok(get.responses['422'], 'declared')
    assert.ok(get.parameters.some((each: { $ref: string }) => each.$ref === '#/components/parameters/q'))
  })

  it('has a page with the words, which offers no removal by them', async () => {
    const pageOf = async (target: string): Promise<string> => {
      const response = await running.fetchAs('dan')(running.address + target, { headers: { accept: 'text/html' } })
      return response.text()
    }
    const [filtered, sought] = [await pageOf('/api/books?price=1.00'), await pageOf('/api/books?q=lamp&price=1.00')]
    assert.match(filtered, /Remove all books that these filters show/)
    assert.match(sought, /name="q" type="search" value="lamp"/)
    assert.doesNotMatch(sought, /Remove all books/)
  })

  it('A4.23 words are refused where nothing is searched, and where they would remove', async () => {
    for (const [target, method] of [
      ['/api/authors?q=moon', 'GET'],
      ['/api/books?q=lamp&price=1.00', 'DELETE'],
    ] as const) {
      const { status, body } = await find('dan', target, method)
      assert.deepEqual([status, body.parameter], [400, 'q'], target)
    }
    assert.equal((await find('dan', '/api/books')).body.total, 4)
  })
})

it('A4.14 words of another resource are found if the references to it have an index for filters', async () => {
  const all = [reader]
  const rights = { read: all, create: all }
  const towns = resource('towns', { fields: { id: t.id('t'), name: t.string() } }).rules({ allow: rights })
  const makers = resource('makers', { fields: { id: t.id('m'), town: t.ref('towns') } }).rules({
    filter: ['town'],
    allow: rights,
  })
  const lamps = resource('lamps', { fields: { id: t.id('l'), maker: t.ref('makers') } }).rules({
    filter: ['maker'],
    search: ['maker.town.name'],
    allow: rights,
  })
  const shop = service('shop', { namespace: 'urn:shop', resources: [towns, makers, lamps] })
  await using running = await startTestService(shop, implement(shop, {}, {}))
  const rest = running.rest({ subject: 'ann', roles: ['reader'] })
  const madeIn = async (name: string) => {
    const { id: town } = await rest.towns.create({ name })
    const { id: maker } = await rest.makers.create({ town })
    return (await rest.lamps.create({ maker })).id
  }
  const [oslo] = [await madeIn('Oslo'), await madeIn('Rome')]
  const search = async (word: string) => (await Array.fromAsync(rest.lamps.search(word))).map(each => each.id)
  assert.deepEqual([await search('oslo'), await search('paris')], [[oslo], []])
})
