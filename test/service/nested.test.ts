/** Resources nested in resources, in both faces: what a caller finds, makes and changes where. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyone, implement, resource, role, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'
import app, { shop } from './nested-shop.ts'

type Running = Awaited<ReturnType<typeof startTestService<typeof shop>>>
interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service answers
  readonly body: any
}

async function ask(running: Running, who: string, line: string, content?: unknown, more = {}): Promise<Answer> {
  const [method = '', path = ''] = line.split(' ')
  const sent = content === undefined ? {} : { body: typeof content === 'string' ? content : JSON.stringify(content) }
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const response = await running.fetchAs(who)(`${running.address}/api/v2${path}`, {
    ...{ method, redirect: 'manual', ...sent },
    headers: { ...(content !== undefined && { 'content-type': type }), ...more },
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

const soap = async (running: Running, who: string, body: string, version = 'v2'): Promise<string> => {
  const response = await running.fetchAs(who)(`${running.address}/soap/${version}`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/soap+xml' } },
    body: `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>${body.replace('>', ` xmlns="urn:nested:${version}">`)}</e:Body></e:Envelope>`,
  })
  return response.text()
}
const idsIn = (xml: string): string[] => [...xml.matchAll(/<id>([^<]+)</g)].map(([, id = '']) => id)

/** Who asks for what, with which content, and the status of the response. */
const clauses: readonly (readonly [why: string, who: string, line: string, status: number, content?: unknown])[] = [
  ['a list is that of its parent', 'ann', 'GET /orders/o-1/notes', 200],
  ['an item is below its parent', 'ann', 'GET /orders/o-1/notes/n-1', 200],
  ['and below no other', 'ann', 'GET /orders/o-2/notes/n-1', 404],
  ['nor below one that does not exist', 'ann', 'GET /orders/o-9/notes/n-1', 404],
  ['a parent that the caller may not read has no list', 'ann', 'GET /orders/o-3/notes', 404],
  ['nor has one that does not exist', 'ann', 'GET /orders/o-9/notes', 404],
  ['nor is its item there, which the caller may read by its own rules', 'ann', 'GET /orders/o-3/notes/n-4', 404],
  ['nor is it changed', 'ann', 'PATCH /orders/o-3/notes/n-4', 404, { text: 'mine' }],
  ['nor changed below a parent of the caller', 'ann', 'PUT /orders/o-1/notes/n-4', 404, { text: 'mine' }],
  ['nor removed', 'ann', 'DELETE /orders/o-3/notes/n-4', 404],
  ['nor removed below a parent of the caller', 'ann', 'DELETE /orders/o-1/notes/n-4', 404],
  ['nor acted on', 'ann', 'POST /orders/o-3/notes/n-4/closing', 404],
  ['nor acted on below a parent of the caller', 'ann', 'POST /orders/o-1/notes/n-4/closing', 404],
  ['nor looked at', 'ann', 'GET /orders/o-1/notes/n-4/weight', 404],
  ['nor is anything made there', 'ann', 'POST /orders/o-3/notes', 404, { text: 'mine' }],
  ['also where the content is wrong', 'ann', 'POST /orders/o-3/notes', 404, {}],
  ['nor by PUT', 'ann', 'PUT /orders/o-3/notes/n-new', 404, { text: 'mine' }],
  ['nor is anything removed there at once', 'ann', 'DELETE /orders/o-3/notes?pinned=false', 404],
  ['nor is there a file', 'ann', 'GET /orders/o-3/notes/n-4/scan', 404],
  ['nothing is made in what does not exist', 'cora', 'POST /orders/o-9/notes', 404, { text: 'lost' }],
  ['replies are in notes in orders', 'ann', 'GET /orders/o-1/notes/n-1/replies/y-1', 200],
  ['of which each has to be the own', 'ann', 'GET /orders/o-1/notes/n-2/replies/y-1', 404],
  ['also far above', 'ann', 'GET /orders/o-2/notes/n-1/replies/y-1', 404],
  ['also of a list', 'ann', 'GET /orders/o-2/notes/n-1/replies', 404],
  ['and one that the caller may not read hides all below', 'ann', 'GET /orders/o-3/notes/n-4/replies/y-4', 404],
  ['whatever comes between', 'ann', 'GET /orders/o-1/notes/n-4/replies/y-4', 404],
  ['and all that could be made there', 'ann', 'POST /orders/o-3/notes/n-4/replies', 404, { text: 'mine' }],
  ['who may read it finds it', 'bob', 'GET /orders/o-3/notes/n-4/replies/y-4', 200],
  ['there is no collection of all', 'cora', 'GET /notes', 404],
  ['nor an item of it', 'cora', 'GET /notes/n-1', 404],
  ['dots lead nowhere', 'ann', 'GET /orders/o-1/../o-3/notes/n-4', 404],
  ['nor do they where they are escaped', 'ann', 'GET /orders/o-1%2Fnotes%2F..%2F..%2Fo-3/notes/n-4', 404],
  ['nor an empty identifier', 'ann', 'GET /orders//notes/n-1', 400],
  ['the parent is no filter', 'ann', 'GET /orders/o-1/notes?order=o-3', 400],
  ['another parent in content is refused', 'ann', 'POST /orders/o-1/notes', 422, { text: 'a', order: 'o-2' }],
  ['also in a change', 'ann', 'PUT /orders/o-1/notes/n-2', 422, { text: 'a', order: 'o-2' }],
  ['and in a patch', 'ann', 'PATCH /orders/o-1/notes/n-2', 422, { order: 'o-2' }],
  ['the own one may be said', 'ann', 'PUT /orders/o-1/notes/n-2', 200, { text: 'a', order: 'o-1' }],
  [
    'a reference to what is hidden is one to nothing',
    'ann',
    'POST /orders/o-1/notes/n-1/replies',
    422,
    { text: 'a', about: 'n-4' },
  ],
  ['one to what is seen is good', 'ann', 'POST /orders/o-1/notes/n-1/replies', 201, { text: 'a', about: 'n-3' }],
  ['a parent stays while something is in it', 'cora', 'DELETE /orders/o-1', 428],
]

test('A1.2 A5.2 an item is found, made and changed only in its own parent, by callers who may read that', async () => {
  await using running = await startTestService(shop, app)
  for (const [why, who, line, status, content] of clauses) {
    const answer = await ask(running, who, line, content)
    assert.equal(answer.status, status, `${why}: ${who} ${line}: ${JSON.stringify(answer.body)}`)
  }
  assert.deepEqual(running.incidents, [])
})

test('A2.3 A4.1 lists, filters, orders, searches and bulk removals are those of the parent', async () => {
  await using running = await startTestService(shop, app)
  const idsOf = async (line: string, content?: unknown) =>
    (await ask(running, 'cora', line, content)).body.items.map(({ id }: { id: string }) => id)
  assert.deepEqual(await idsOf('GET /orders/o-1/notes?sort=text'), ['n-2', 'n-1'])
  assert.deepEqual(await idsOf('GET /orders/o-2/notes'), ['n-3'])
  assert.deepEqual(await idsOf('GET /orders/o-1/notes?pinned=true'), ['n-1'])
  assert.deepEqual(await idsOf('QUERY /orders/o-1/notes', { q: 'ring' }), ['n-1'])
  const page = await ask(running, 'cora', 'GET /orders/o-1/notes?size=1&sort=text')
  const next = page.body._links.next.href.replace('/api/v2', '')
  assert.match(next, /^\/orders\/o-1\/notes\?/)
  assert.deepEqual(await idsOf(`GET ${next}`), ['n-1'])
  const foreign = next.replace('o-1', 'o-2')
  assert.deepEqual(await idsOf(`GET ${foreign}`), ['n-3'])
  const removed = await ask(running, 'cora', 'DELETE /orders/o-1/notes?pinned=false')
  assert.deepEqual([removed.body.removed, removed.body.refused], [1, 0])
  assert.deepEqual(await idsOf('GET /orders/o-2/notes'), ['n-3'])
  assert.deepEqual(running.incidents, [])
})

test('A2.2 A4.2 a new item is where it was made, with links up and down', async () => {
  await using running = await startTestService(shop, app)
  const made = await ask(running, 'ann', 'POST /orders/o-1/notes', { text: 'new' })
  const { id, order, length } = made.body
  const at = `/api/v2/orders/o-1/notes/${id}`
  assert.deepEqual([made.status, order, length], [201, 'o-1', 6])
  assert.equal(made.headers.get('location'), at)
  assert.equal(made.headers.get('content-location'), at)
  const hrefs = Object.fromEntries(
    Object.entries(made.body._links).map(([rel, link]) => [rel, (link as { href: string }).href]),
  )
  assert.deepEqual(hrefs, {
    ...{ self: at, collection: '/api/v2/orders/o-1/notes', up: '/api/v2/orders/o-1', replies: `${at}/replies` },
    ...{
      scan: `${at}/scan`,
      edit: at,
      closing: `${at}/closing`,
      weight: `${at}/weight`,
      union: `${at}/union`,
      delete: at,
    },
  })
  assert.match(made.headers.get('link') ?? '', /<\/api\/v2\/orders\/o-1>; rel="up"/)
  const parent = await ask(running, 'ann', 'GET /orders/o-1')
  assert.equal(parent.body._links.notes.href, '/api/v2/orders/o-1/notes')
  const list = await ask(running, 'ann', 'GET /orders/o-1/notes')
  assert.equal(list.body._links.up.href, '/api/v2/orders/o-1')
  assert.equal(list.body._links.item.href, '/api/v2/orders/o-1/notes/{id}')
  assert.equal(list.body.items[0]._links.self.href.startsWith('/api/v2/orders/o-1/notes/'), true)
  const entry = await ask(running, 'ann', 'GET ')
  assert.deepEqual(entry.body._links.notes, { href: '/api/v2/orders/{order}/notes', templated: true })
  assert.equal(entry.body._links.reply.href, '/api/v2/orders/{order}/notes/{note}/replies/{id}')
  const put = await ask(running, 'ann', 'PUT /orders/o-2/notes/n-mine', { text: 'chosen' })
  assert.deepEqual([put.status, put.body.order], [201, 'o-2'])
  assert.equal(put.headers.get('location'), '/api/v2/orders/o-2/notes/n-mine')
  const closed = await ask(running, 'ann', 'POST /orders/o-2/notes/n-mine/closing')
  assert.equal(closed.headers.get('content-location'), '/api/v2/orders/o-2/notes/n-mine')
  assert.equal((await ask(running, 'ann', 'POST /orders/o-2/notes/n-mine/closing')).status, 409)
  const weight = await ask(running, 'ann', 'GET /orders/o-2/notes/n-mine/weight')
  assert.equal(weight.body._links.related.href, '/api/v2/orders/o-2/notes/n-mine')
  assert.deepEqual(running.incidents, [])
})

test('A4.2 a parent stays while items are in it; removed items are gone, moved ones lead on', async () => {
  await using running = await startTestService(shop, app)
  const any = { 'if-match': '*' }
  assert.equal((await ask(running, 'cora', 'DELETE /orders/o-1', undefined, any)).status, 409)
  assert.equal((await ask(running, 'cora', 'DELETE /orders/o-3/notes/n-4')).status, 409)
  assert.equal((await ask(running, 'cora', 'DELETE /orders/o-2/notes/n-3')).status, 204)
  assert.equal((await ask(running, 'cora', 'GET /orders/o-2/notes/n-3')).status, 410)
  assert.equal((await ask(running, 'ann', 'GET /orders/o-2/notes/n-3')).status, 404)
  assert.equal((await ask(running, 'cora', 'DELETE /orders/o-2', undefined, any)).status, 204)
  assert.equal((await ask(running, 'cora', 'GET /orders/o-2/notes')).status, 410)
  assert.equal((await ask(running, 'ann', 'GET /orders/o-2/notes')).status, 404)
  const join = await ask(running, 'ann', 'POST /orders/o-1/notes/n-2/union', { to: 'n-1' })
  assert.equal(join.status, 200)
  const moved = await ask(running, 'cora', 'GET /orders/o-1/notes/n-2')
  assert.deepEqual([moved.status, moved.headers.get('location')], [301, '/api/v2/orders/o-1/notes/n-1'])
  assert.equal((await ask(running, 'cora', 'POST /orders/o-1/notes/n-1/union', { to: 'n-4' })).status, 409)
  // The handler takes the notes of the order along.
  assert.equal((await ask(running, 'cora', 'POST /orders/o-1/merger', { into: 'o-3' })).status, 200)
  const away = await ask(running, 'cora', 'GET /orders/o-1/notes/n-1/replies/y-1')
  assert.deepEqual([away.status, away.headers.get('location')], [301, '/api/v2/orders/o-3/notes/n-1/replies/y-1'])
  assert.equal((await ask(running, 'cora', 'GET /orders/o-3/notes/n-1/replies/y-1')).status, 200)
  const lists = await ask(running, 'cora', 'GET /orders/o-1/notes?sort=text')
  assert.equal(lists.headers.get('location'), '/api/v2/orders/o-3/notes?sort=text')
  assert.equal((await ask(running, 'ann', 'GET /orders/o-1/notes')).status, 404)
  const detailOf = async (who: string, body: string) =>
    /<\w+:Detail>(.*)<\/\w+:Detail>/
      .exec(await soap(running, who, body))?.[1]
      ?.replace(/<\/?(?:\w+:)?NotFound[^>]*>/g, '')
  const within = '<movedTo>o-3</movedTo><within>orders</within>'
  assert.equal(await detailOf('cora', '<ListNotes><order>o-1</order></ListNotes>'), within)
  assert.equal(await detailOf('cora', '<GetNote><id>n-2</id></GetNote>'), '<movedTo>n-1</movedTo>')
  assert.equal(await detailOf('ann', '<ListNotes><order>o-1</order></ListNotes>'), '')
  assert.deepEqual(running.incidents, [])
})

test('B4.4 B7.2 messages find, make and change the same items', async () => {
  await using running = await startTestService(shop, app)
  const list = (who: string, order: string) =>
    soap(running, who, `<ListNotes><order>${order}</order><sort>text</sort></ListNotes>`)
  assert.deepEqual(idsIn(await list('ann', 'o-1')), ['n-2', 'n-1'])
  for (const order of ['o-3', 'o-9']) assert.match(await list('ann', order), /NotFound/)
  assert.match(await soap(running, 'ann', '<ListNotes></ListNotes>'), /Fault.*order/s)
  assert.deepEqual(idsIn(await soap(running, 'ann', '<SearchNotes><order>o-1</order><q>ring</q></SearchNotes>')), [
    'n-1',
  ])
  assert.match(await soap(running, 'ann', '<SearchNotes><order>o-3</order><q>ring</q></SearchNotes>'), /NotFound/)
  assert.deepEqual(idsIn(await soap(running, 'ann', '<GetNote><id>n-1</id></GetNote>')), ['n-1'])
  const hidden = [
    '<GetNote><id>n-4</id></GetNote>',
    '<DeleteNote><id>n-4</id></DeleteNote>',
    '<CloseNote><id>n-4</id></CloseNote>',
    '<WeighNote><id>n-4</id></WeighNote>',
    '<GetNoteScan><id>n-4</id></GetNoteScan>',
    '<PutNoteScan><id>n-4</id><scan>AAAA</scan><mediaType>text/plain</mediaType></PutNoteScan>',
    '<ReplaceNote><order>o-3</order><id>n-4</id><note><text>mine</text></note></ReplaceNote>',
    '<ReplaceNote><order>o-1</order><id>n-4</id><note><text>mine</text></note></ReplaceNote>',
    '<CreateNote><order>o-3</order><note><text>mine</text></note></CreateNote>',
    '<GetReply><id>y-4</id></GetReply>',
    '<ListReplies><note>n-4</note></ListReplies>',
    '<CreateReply><note>n-4</note><reply><text>mine</text></reply></CreateReply>',
  ]
  for (const body of hidden) assert.match(await soap(running, 'ann', body), /NotFound/, body)
  const made = await soap(running, 'ann', '<CreateNote><order>o-2</order><note><text>new</text></note></CreateNote>')
  const [id = ''] = idsIn(made)
  assert.match(made, /<order>o-2<\/order>/)
  assert.equal((await ask(running, 'ann', `GET /orders/o-2/notes/${id}`)).status, 200)
  const chosen = '<ReplaceNote><order>o-2</order><id>n-own</id><note><text>own</text></note></ReplaceNote>'
  assert.match(await soap(running, 'ann', chosen), /<order>o-2<\/order>/)
  const kept = '<ReplaceReply><id>y-1</id><reply><note>n-3</note><text>b</text></reply></ReplaceReply>'
  assert.match(await soap(running, 'ann', kept), /<note>n-1<\/note>/)
  assert.match(await soap(running, 'cora', '<DeleteNote><id>n-3</id></DeleteNote>'), /DeleteNoteResponse/)
  assert.doesNotMatch(await soap(running, 'ann', '<GetNote><id>n-3</id></GetNote>'), /<text>/)
  assert.deepEqual(running.incidents, [])
})

test('A9.3 B9.3 an older version has another name for the parent', async () => {
  await using running = await startTestService(shop, app)
  const response = await running.fetchAs('ann')(`${running.address}/api/v1/orders/o-1/notes/n-1`)
  const note = (await response.json()) as { purchase: string; _links: { up: { href: string } } }
  assert.deepEqual([note.purchase, note._links.up.href], ['o-1', '/api/v1/orders/o-1'])
  const list = await soap(running, 'ann', '<ListNotes><purchase>o-1</purchase></ListNotes>', 'v1')
  assert.deepEqual(idsIn(list).toSorted(), ['n-1', 'n-2'])
  const made = await running.fetchAs('ann')(`${running.address}/api/v1/orders/o-1/notes`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"old"}' },
  })
  assert.equal(((await made.json()) as { purchase: string }).purchase, 'o-1')
  assert.deepEqual(running.incidents, [])
})

test('C6.1 the feed reports an item to those who may read its parents', async () => {
  await using running = await startTestService(shop, app)
  await ask(running, 'ann', 'POST /orders/o-1/notes/n-1/closing')
  await ask(running, 'bob', 'POST /orders/o-3/notes/n-4/closing')
  await ask(running, 'bob', 'PATCH /orders/o-3/notes/n-4/replies/y-4', { text: 'b' })
  await ask(running, 'cora', 'DELETE /orders/o-2/notes/n-3')
  const feedOf = async (who: string) => {
    const response = await running.fetchAs(who)(`${running.address}/changes`)
    const { items } = (await response.json()) as { items: { resource: string; id: string }[] }
    return items.map(({ resource, id }) => `${resource}/${id}`)
  }
  assert.deepEqual(await feedOf('cora'), ['notes/n-1', 'notes/n-4', 'replies/y-4', 'notes/n-3'])
  assert.deepEqual(await feedOf('ann'), ['notes/n-1'])
  assert.deepEqual(await feedOf('bob'), ['notes/n-4', 'replies/y-4'])
})

test('A6.1 items in a private parent are private, whoever may read them by their own rules', async () => {
  const boxes = resource('boxes', { fields: { id: t.id('b') } }).rules({ allow: { read: [role('owner')] } })
  const shelves = resource('shelves', { fields: { id: t.id('s') } }).rules({ allow: { read: [anyone] } })
  const things = (name: 'coins' | 'books', within: string) =>
    resource(name, { within: 'place', fields: { id: t.id('t'), place: t.ref(within) } }).rules({
      cache: { maxAge: 60 },
      allow: { read: [anyone] },
    })
  const contract = service('house', {
    ...{ namespace: 'urn:house', resources: [boxes, shelves, things('coins', 'boxes'), things('books', 'shelves')] },
  })
  const seed = () => ({
    items: {
      ...{ boxes: [{ id: 'b-1' }], shelves: [{ id: 's-1' }] },
      ...{ coins: [{ id: 't-1', place: 'b-1' }], books: [{ id: 't-1', place: 's-1' }] },
    },
  })
  await using running = await startTestService(contract, implement(contract, {}, { seed }))
  const read = async (path: string, caller?: { subject: string; roles: string[] }) => {
    const { status, headers } = await running.fetchAs(caller)(`${running.address}/api${path}`)
    return [status, headers.get('cache-control')]
  }
  const owner = { subject: 'olga', roles: ['owner'] }
  assert.deepEqual(await read('/shelves/s-1/books/t-1'), [200, 'public, max-age=60'])
  assert.deepEqual(await read('/boxes/b-1/coins/t-1'), [404, 'no-store'])
  assert.deepEqual(await read('/boxes/b-1/coins/t-1', owner), [200, 'private, no-cache'])
})

test('A handler searches only in parents that the caller may read, in both faces', async () => {
  await using running = await startTestService(shop, app)
  for (const [order, status, fault] of [
    ['o-1', 422, /Invalid/],
    ['o-3', 404, /NotFound/],
    ['o-9', 404, /NotFound/],
  ] as const) {
    assert.equal((await ask(running, 'ann', `QUERY /orders/${order}/notes`, { q: 'secret' })).status, status)
    assert.match(await soap(running, 'ann', `<SearchNotes><order>${order}</order><q>secret</q></SearchNotes>`), fault)
  }
})
