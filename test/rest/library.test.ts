import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { refuse } from '../../src/service/refusal.ts'
import { Unavailable } from '../../src/service/store.ts'
import { likePng } from '../support/png.ts'
import { library } from './library.ts'
import { type Answer, json, order, startOrders } from './orders-over-rest.ts'

const book = {
  isbn: '978-3-16',
  title: 'A "B", & <C>',
  blurb: null,
  copies: 9007199254740993n,
  rating: 4.5,
  lent: false,
  tags: ['a', 'b,c'],
  cover: 'AAEC',
  from: { kind: 'gift', giver: 'Ann' },
}
const text = (value: object): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `#${each}#` : each)).replace(
    /"#(\d+)#"/g,
    '$1',
  )
const xmlType = { 'content-type': 'application/xml' }
const formType = { 'content-type': 'application/x-www-form-urlencoded' }

describe('every kind of field, in every media type', async () => {
  const shop = await startOrders({ app: library })
  const make = (content: object = book) => shop.as.clara('POST', '/api/v1/books', json, text(content))
  const match = (answer: Answer) => ({ 'if-match': answer.fields['etag'] ?? '' })

  it('JSON: exact integers, bytes, null, a union; nothing internal', async () => {
    const made = await make()
    assert.equal(made.status, 201, made.text)
    assert.match(made.text, /"copies":9007199254740993,/)
    const { _links, id, ...rest } = made.json
    assert.deepEqual({ ...rest, copies: 0n }, { ...book, copies: 0n })
    assert.equal((await make({ ...book, secret: 'x' })).json.errors[0].pointer, '/secret')
  })

  it('XML: an attribute, nil, lists, a union; reading it back gives the same', async () => {
    const made = await make()
    const got = await shop.as.clara('GET', made.fields['location'] ?? '', { accept: 'text/xml' })
    assert.match(
      got.text,
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<book xmlns="urn:library:v1" isbn="978-3-16"><id>b-/,
    )
    assert.match(
      got.text,
      /<title>A "B", &amp; &lt;C&gt;<\/title><blurb xmlns:xsi="[^"]+" xsi:nil="true"\/><copies>9007199254740993</,
    )
    assert.match(
      got.text,
      /<tags><tag>a<\/tag><tag>b,c<\/tag><\/tags><cover>AAEC<\/cover><from><gift><giver>Ann<\/giver><\/gift><\/from>/,
    )
    const put = await shop.as.clara(
      'PUT',
      made.fields['location'] ?? '',
      { ...xmlType, accept: 'text/xml', ...match(got) },
      got.bytes,
    )
    assert.deepEqual([put.status, put.text], [200, got.text])
  })

  it('XML from outside the version: another namespace, another root, members of other types', async () => {
    const got = await shop.as.clara('GET', (await make()).fields['location'] ?? '', { accept: 'application/xml' })
    const send = (content: string) => shop.as.clara('POST', '/api/v1/books', xmlType, content)
    assert.equal((await send(got.text.replace('urn:library:v1', 'urn:other'))).status, 400)
    assert.equal((await send(got.text.replaceAll('book', 'brook'))).status, 400)
    const own = got.text.replace(/<id>[^<]*<\/id>/, '')
    assert.equal((await send(own)).status, 201)
    assert.equal((await send(own.replace(' xmlns="urn:library:v1"', ''))).status, 201, 'no namespace at all is ours')
    const foreign = await send(own.replace('<title>', '<title xmlns="urn:other">'))
    assert.deepEqual(
      foreign.json.errors.map((each: { pointer: string }) => each.pointer),
      ['/{urn:other}title', '/title'],
    )
  })

  it('a form: an empty field is absent; a repeated one, and one that is not UTF-8, are refused', async () => {
    const filled =
      'isbn=1&title=t&blurb=b&copies=3&rating=1.5&lent=on&tags[0]=x&tags[1]=&cover=AAEC&from[kind]=shop&from[price]=2'
    const made = await shop.as.clara('POST', '/api/v1/books', formType, `${filled}&published=`)
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(
      [made.json.copies, made.json.lent, made.json.tags, made.json.from, made.json.published],
      [3, true, ['x'], { kind: 'shop', price: '2.00' }, undefined],
    )
    assert.equal((await shop.as.clara('POST', '/api/v1/books', formType, `${filled}&title=u`)).status, 400)
    const bytes = Uint8Array.from([...new TextEncoder().encode(`${filled}&published=`), 0xff])
    assert.equal((await shop.as.clara('POST', '/api/v1/books', formType, bytes)).status, 400)
  })

  it('CSV quotes where it must; a writer of the application has its own media type', async () => {
    const made = await make()
    const csv = await shop.as.clara('GET', '/api/v1/books?fields=title,tags,lent&lent=false', { accept: 'text/csv' })
    assert.match(csv.text, /^title,lent,tags\r\n/)
    assert.match(csv.text, /"A ""B"", & <C>",false,"\[""a"",""b,c""\]"\r\n/)
    const plain = await shop.as.clara('GET', made.fields['location'] ?? '', {
      accept: 'text/plain',
      'accept-encoding': 'gzip',
    })
    assert.deepEqual(
      [plain.status, plain.text, plain.fields['content-type']],
      [200, book.title, 'text/plain;charset=utf-8'],
    )
    assert.equal((await shop.as.clara('GET', '/api/v1/books', { accept: 'text/plain' })).status, 406)
  })

  it('a cursor for an absent sort member works, and none works for another sort', async () => {
    for (const published of ['2020-01-01', '2021-01-01', undefined, undefined])
      await make({ ...book, ...(published && { published }) })
    const seen: string[] = []
    let href = '/api/v1/books?sort=published&size=2'
    let first: Answer | undefined
    while (href) {
      const page = await shop.as.clara('GET', href)
      first ??= page
      seen.push(...page.json.items.map((item: { id: string }) => item.id))
      href = page.json._links.next?.href
    }
    assert.equal(seen.length, first?.json.total)
    assert.equal(new Set(seen).size, seen.length)
    const other = String(first?.json._links.next.href).replace('sort=published', 'sort=title')
    assert.equal((await shop.as.clara('GET', other)).json.parameter, 'cursor')
  })

  it('A4.23 a field with the name of a parameter is filtered by with [eq]', async () => {
    await make({ ...book, size: 3 })
    const { json: page } = await shop.as.clara('GET', '/api/v1/books?size=2&size[eq]=3')
    assert.deepEqual([page.items.length, page.total, page.items[0].size], [1, 1, 3])
  })

  it('only the caller’s own response is fresh if reading is not public; an error is never kept', async () => {
    const made = await make()
    const at = made.fields['location'] ?? ''
    assert.equal((await shop.as.clara('GET', at)).fields['cache-control'], 'private, no-cache')
    assert.equal((await shop.as.anyone('GET', '/api/v1/rules')).fields['cache-control'], 'public, max-age=30')
    assert.equal((await shop.as.anyone('GET', '/api/v1/rules/r-none')).fields['cache-control'], 'no-store')
  })

  it('RFC 9457 §3.2 a fault’s detail is among the members of the problem', async () => {
    const at = (await make()).fields['location'] ?? ''
    const torn = await shop.as.clara('POST', `${at}/tear`, json, { pages: 0 })
    const { type, ...members } = torn.json
    assert.match(String(type), /\/problems\/Torn$/)
    assert.deepEqual(members, { title: 'Torn', status: 409, detail: 'Torn', look: 'torn', pages: 7 })
  })

  it('an invalid fault of a handler is a 500 with an incident', async () => {
    const at = (await make()).fields['location'] ?? ''
    const broken = await shop.as.clara('POST', `${at}/tear`, json, { pages: 1 })
    assert.deepEqual([broken.status, broken.json.type, shop.incidents.length], [500, '/problems/failed', 1])
  })

  it('A4.4 a PUT without a precondition, if the contract requires one', async () => {
    const put = await shop.as.clara('PUT', '/api/v1/books/b-mine', json, text(book))
    assert.equal(put.status, 201)
    assert.equal((await shop.as.clara('PUT', '/api/v1/books/b-mine', json, text(book))).status, 200)
  })
})

describe('details', async () => {
  const shop = await startOrders()
  const bad = async (path: string, parameter: string) => {
    const answer = await shop.as.clara('GET', path)
    assert.deepEqual([answer.status, answer.json.parameter], [400, parameter])
  }

  it('A4.23 a parameter twice, a field twice in a sort, two ways to page: the 400 names it', async () => {
    await bad('/api/v1/orders?size=1&size=2', 'size')
    await bad('/api/v1/orders?sort=total,-total', 'sort')
    await bad('/api/v1/orders?sort=lines', 'sort')
    await bad('/api/v1/orders?state[like]=paid', 'state[like]')
    await bad('/api/v1/orders?lines=x', 'lines')
    await bad('/api/v1/orders?page=0', 'page')
    const { json: page } = await shop.as.clara('GET', '/api/v1/orders?size=1')
    await bad(`${page._links.next.href}&page=2`, 'cursor')
  })

  it('lenient is only for reading: DELETE with an unknown parameter is refused', async () => {
    const answer = await shop.as.maria('DELETE', '/api/v1/orders/o-1?x=1', {
      'if-match': '*',
      prefer: 'handling=lenient',
    })
    assert.equal(answer.status, 400)
  })

  it('A4.18 a client that refuses identity gets files in a coding too', async () => {
    const at = '/api/v1/products/p-9/picture'
    await shop.as.maria('PUT', at, { 'content-type': 'image/png' }, likePng(new Uint8Array(2000)))
    const plain = await shop.as.anyone('GET', at, { 'accept-encoding': 'gzip' })
    assert.equal(plain.fields['content-encoding'], undefined)
    const only = { 'accept-encoding': 'gzip, identity;q=0' }
    const coded = await shop.as.anyone('GET', at, only)
    assert.deepEqual([coded.fields['content-encoding'], gunzipSync(coded.bytes).length], ['gzip', 2000])
    assert.notEqual(coded.fields['etag'], plain.fields['etag'])
    const again = await shop.as.anyone('GET', at, { ...only, 'if-none-match': coded.fields['etag'] ?? '' })
    assert.deepEqual([again.status, again.fields['etag']], [304, coded.fields['etag']])
  })

  it('the tag of a page differs for callers that may add an item', async () => {
    const [one, other] = [
      await shop.as.clara('GET', '/api/v1/customers'),
      await shop.as.maria('GET', '/api/v1/customers'),
    ]
    assert.ok(other.json._links.create && !one.json._links.create)
    assert.notEqual(one.fields['etag'], other.fields['etag'])
  })

  it('a page of our own origin may send a form; one of no origin may not', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const send = (origin: string, to = shop) =>
      to.as.clara('POST', '/api/v1/orders/o-2/cancellation', { ...form, origin }, 'reason=no')
    assert.equal((await send('null')).status, 403)
    assert.equal((await send('https://elsewhere.test')).status, 403)
    assert.equal((await send('https://shop.test')).status, 200)
    const behind = await startOrders({ settings: { publicUrl: 'https://public.test/x' } })
    assert.equal((await send('https://public.test', behind)).status, 200)
  })

  it('If-Match on a read compares the whole tag, also of a computed representation', async () => {
    const xml = (await shop.as.clara('GET', '/api/v1/orders/o-1', { accept: 'application/xml' })).fields['etag'] ?? ''
    assert.equal((await shop.as.clara('GET', '/api/v1/orders/o-1', { 'if-match': xml })).status, 412)
    assert.equal(
      (await shop.as.clara('GET', '/api/v1/orders/o-1', { 'if-match': xml, accept: 'application/xml' })).status,
      200,
    )
    assert.equal((await shop.as.clara('GET', '/api/v1/orders', { 'if-match': xml })).status, 412)
  })

  it('A2.3 the tag of a page changes with each item on it', async () => {
    const before = await shop.as.clara('GET', '/api/v1/orders?state=placed&size=5')
    const [first] = before.json.items
    const changed = await shop.as.clara(
      'PATCH',
      `/api/v1/orders/${first.id}`,
      { 'content-type': 'application/merge-patch+json', 'if-match': '*' },
      { currency: first.currency === 'GBP' ? 'EUR' : 'GBP' },
    )
    assert.equal(changed.status, 200)
    const after = await shop.as.clara('GET', '/api/v1/orders?state=placed&size=5')
    assert.notEqual(after.fields['etag'], before.fields['etag'])
  })

  it("A9.2 the client's preference decides the version; the representation of another has another tag", async () => {
    const vendor = 'application/vnd.diglot.orders.v1+json'
    const made = await shop.as.clara('POST', '/api/orders', { 'content-type': vendor }, order)
    const at = made.fields['location'] ?? ''
    const got = await shop.as.clara('GET', at)
    assert.notEqual(got.fields['etag'], made.fields['etag'])
    const prefers = await shop.as.clara('GET', '/api', { accept: `application/json, ${vendor};q=0.1` })
    assert.equal(prefers.json.version, 'v2')
    assert.equal((await shop.as.clara('GET', '/api', { accept: vendor })).json.version, 'v1')
  })

  it('A2.5 Accept with problem+json and an unavailable type: 406, and a problem', async () => {
    const answer = await shop.as.clara('GET', '/api/v1/orders/o-1', { accept: 'image/png, application/problem+json' })
    assert.deepEqual([answer.status, answer.fields['content-type']], [406, 'application/problem+json'])
    assert.equal((await shop.as.clara('GET', '/api/v1/orders/o-1', { accept: 'application/problem+xml' })).status, 200)
  })

  it('301 keeps the rest of the address', async () => {
    await shop.as.maria('POST', '/api/v1/customers/c-2/merger', json, { into: 'c-3' })
    const moved = await shop.as.clara('GET', '/api/v1/customers/c-2/orders?size=3')
    assert.deepEqual([moved.status, moved.fields['location']], [301, '/api/v1/customers/c-3/orders?size=3'])
    assert.equal((await shop.as.maria('POST', '/api/v1/customers/c-3/merger', json, { into: 'c-3' })).status, 409)
  })

  it('a large request under a completed key gets the same response, though its tag is stale by now', async () => {
    const { fields } = await shop.as.clara('POST', '/api/v2/orders', json, order)
    const lines = Array.from({ length: 400 }, (_, i) => ({ product: `p-${(i % 20) + 1}`, quantity: i + 1 }))
    const again = () =>
      shop.as.clara(
        'PUT',
        fields['location'] ?? '',
        { ...json, 'if-match': fields['etag'] ?? '', 'idempotency-key': '"big"' },
        JSON.stringify({ ...order, lines }, null, 2),
      )
    const [first, second] = [await again(), await again()]
    assert.deepEqual([first.status, second.status, second.text], [200, 200, first.text])
  })

  it('incomplete content is not reported as a bug of ours', async () => {
    const aborted = Object.assign(new Error('cut'), { name: 'Aborted' })
    const broken = { content: { length: undefined, bytes: () => Promise.reject(aborted), chunks: () => assert.fail() } }
    assert.equal((await shop.as.clara('POST', '/api/v1/orders', json, undefined, broken)).status, 400)
    assert.deepEqual(shop.incidents, [])
  })

  it('an unreachable store or directory of people: 503, not 500', async () => {
    const down = await startOrders()
    Object.assign(down.serving.identities, { bearer: () => Promise.reject(new Unavailable(2)) })
    const answer = await down.as.clara('GET', '/api/v1/orders')
    assert.deepEqual([answer.status, answer.fields['retry-after'], down.incidents], [503, '2', []])
  })

  it('the trace of a refusal by the service names its row', async () => {
    const late = await startOrders()
    Object.assign(late.serving, { calls: { ...late.serving.calls, admit: () => refuse({ kind: 'forbidden' }) } })
    assert.equal(
      (await late.as.clara('GET', '/api/v1/orders')).fields['diglot-trace'],
      '1-16; no=forbidden; status=403',
    )
  })
})
