import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib'
import { t } from '../../src/contract/field.ts'
import { expandTemplate } from '../../src/http/uri-template.ts'
import { csvWriter } from '../../src/rest/formats/csv.ts'
import { xmlWriter } from '../../src/rest/formats/xml.ts'
import { parseXml } from '../../src/xml/index.ts'
import { likePng } from '../support/png.ts'
import { type Answer, json, order, startOrders } from './orders-over-rest.ts'

const merge = { 'content-type': 'application/merge-patch+json' }
const patch = { 'content-type': 'application/json-patch+json' }
const ifMatch = (answer: Answer) => ({ 'if-match': answer.fields['etag'] ?? 'none' })
const omitFields = (fields: Answer['fields'], ...names: string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name) && !name.startsWith('ratelimit')))

it('A1.6 a field named like an inherited member of every object is absent in each media type unless it is given', () => {
  const fields = { id: t.id('t'), constructor: t.string().optional(), valueOf: t.string().optional().attribute() }
  const document = { name: 'thing', title: 'Thing', fields, value: { id: 't-1' }, links: [] }
  const writing = { base: '/api/v1', namespace: 'urn:t', only: undefined }
  for (const { write } of [xmlWriter, csvWriter])
    assert.doesNotMatch(String(write(document, writing, [])), /native code|Object\(\)/)
})

describe('A1 what the interface is', async () => {
  const shop = await startOrders()

  it('A1.2 each request is independent: another face on the same store gives the same response', async () => {
    const other = await startOrders({ store: shop.store })
    const [one, two] = [
      await shop.as.clara('GET', '/api/v1/orders/o-7'),
      await other.as.clara('GET', '/api/v1/orders/o-7'),
    ]
    assert.deepEqual([one.text, one.fields['etag']], [two.text, two.fields['etag']])
  })

  it('A1.3 every response says how it may be cached', async () => {
    const control = async (who: 'anyone' | 'clara', path: string) =>
      (await shop.as[who]('GET', path)).fields['cache-control']
    assert.equal(await control('anyone', '/api/v1/products/p-1'), 'public, max-age=60')
    assert.equal(await control('clara', '/api/v1/products/p-1'), 'private, max-age=60')
    assert.equal(await control('clara', '/api/v1/orders/o-1'), 'private, no-cache')
    assert.equal(await control('clara', '/api/v1/orders/o-999'), 'no-store')
    assert.equal(await control('anyone', '/'), 'public, no-cache')
  })

  it('A1.4 the entry links to everything, and a client needs no other address', async () => {
    const entry = await shop.as.clara('GET', '/')
    const links: Record<string, { href: string; templated?: boolean }> = entry.json._links
    for (const [rel, { href, templated }] of Object.entries(links)) {
      if (templated || rel === 'searches' || rel === 'reports') continue
      assert.equal((await shop.as.clara('GET', href)).status, 200, rel)
    }
    assert.equal(expandTemplate(links['order']?.href ?? '', { id: 'o-1' }), '/api/v2/orders/o-1')
    for (const path of ['/api', '/api/v1', '/api/v2']) assert.equal((await shop.as.anyone('GET', path)).status, 200)
  })

  it('A1.6 one order in five media types, each with its own tag', async () => {
    const types = ['application/hal+json', 'application/json', 'application/xml', 'text/html', 'application/pdf']
    const answers = await Promise.all(types.map(accept => shop.as.clara('GET', '/api/v1/orders/o-1', { accept })))
    for (const [i, answer] of answers.entries()) {
      assert.equal(answer.status, 200)
      assert.ok(answer.fields['content-type']?.startsWith(types[i] ?? 'none'))
    }
    assert.equal(new Set(answers.map(answer => answer.fields['etag'])).size, types.length)
    assert.ok(answers[4]?.text.startsWith('%PDF-'))
    assert.equal(answers[0]?.text, answers[1]?.text)
  })

  it('A1.6 a collection in CSV', async () => {
    const { text, fields } = await shop.as.clara('GET', '/api/v1/orders?fields=id,total&size=3&sort=total', {
      accept: 'text/csv',
    })
    assert.match(text, /^id,total\r\no-\d+,\d+\.\d\d\r\no-\d+,\d+\.\d\d\r\no-\d+,\d+\.\d\d\r\n$/)
    assert.match(fields['link'] ?? '', /rel="next"/)
  })

  it('A1.7 reading changes nothing, however often it happens', async () => {
    const before = (await shop.as.clara('GET', '/api/v1/orders/o-1')).fields['etag']
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY']) await shop.as.clara(method, '/api/v1/orders/o-1')
    assert.equal((await shop.as.clara('GET', '/api/v1/orders/o-1')).fields['etag'], before)
  })

  it('A1.8 a repeated PUT or DELETE leaves what one leaves; two POSTs make two', async () => {
    const ware = { name: 'Stool', price: '9.00', stock: 1 }
    const first = await shop.as.maria('PUT', '/api/v1/products/p-stool', json, ware)
    assert.deepEqual([first.status, first.fields['location']], [201, '/api/v1/products/p-stool'])
    const got = await shop.as.maria('GET', '/api/v1/products/p-stool')
    const second = await shop.as.maria('PUT', '/api/v1/products/p-stool', { ...json, ...ifMatch(got) }, ware)
    assert.deepEqual([second.status, second.text], [200, first.text])
    assert.equal((await shop.as.maria('DELETE', '/api/v1/products/p-stool', ifMatch(got))).status, 204)
    assert.equal((await shop.as.maria('DELETE', '/api/v1/products/p-stool', ifMatch(got))).status, 410)
    const made = await Promise.all([1, 2].map(() => shop.as.clara('POST', '/api/v1/orders', json, order)))
    assert.notEqual(made[0]?.fields['location'], made[1]?.fields['location'])
  })

  it('A1.8 a reused identifier does not reuse a version', async () => {
    const ware = { name: 'Bench', price: '9.00', stock: 1 }
    const put = () => shop.as.maria('PUT', '/api/v1/products/p-bench', json, ware)
    const get = () => shop.as.maria('GET', '/api/v1/products/p-bench')
    assert.equal((await put()).status, 201)
    const first = await get()
    await shop.as.maria('DELETE', '/api/v1/products/p-bench', ifMatch(first))
    assert.equal((await put()).status, 201)
    const second = await get()
    assert.equal(second.text, first.text)
    assert.notEqual(second.fields['etag'], first.fields['etag'])
  })

  it('A1.9 every path consists of nouns: no verb of the contract is a segment', async () => {
    const { json: is } = await shop.as.clara('GET', '/api/v1/orders/o-2')
    for (const { href } of Object.values<{ href: string }>(is._links))
      assert.doesNotMatch(href, /\/(pay|ship|cancel|deliver|track|merge)(\/|$)/)
  })

  it('A1.10 an error is never a 200', async () => {
    const refused = await shop.as.clara('POST', '/api/v1/orders/o-1/payment', json, { method: 'card', amount: '1.00' })
    assert.deepEqual([refused.status, refused.fields['content-type']], [422, 'application/problem+json'])
    assert.equal(refused.json.reason, '1.00 was offered for 4.95')
  })
})

describe('A2 representations', async () => {
  const shop = await startOrders()

  it('A2.1 fields are those of the contract, in its order', async () => {
    const { json: is } = await shop.as.clara('GET', '/api/v2/orders/o-1')
    assert.deepEqual(Object.keys(is), [
      'id',
      'customer',
      'lines',
      'currency',
      'total',
      'note',
      'placedAt',
      'state',
      '_links',
    ])
  })

  it('A2.2 _links: relation → { href }', async () => {
    const { json: is } = await shop.as.clara('GET', '/api/v1/orders/o-3')
    assert.deepEqual(is._links, {
      self: { href: '/api/v1/orders/o-3' },
      collection: { href: '/api/v1/orders' },
      customer: { href: '/api/v1/customers/c-3' },
      tracking: { href: '/api/v1/orders/o-3/tracking' },
      delivery: { href: '/api/v1/orders/o-3/delivery' },
    })
  })

  it('A2.3 a page has items, a total and links both ways', async () => {
    const first = await shop.as.clara('GET', '/api/v1/orders?size=40')
    assert.deepEqual([first.json.items.length, first.json.total, first.json._links.previous], [40, 100, undefined])
    const second = await shop.as.clara('GET', first.json._links.next.href)
    const back = await shop.as.clara('GET', second.json._links.previous.href)
    assert.deepEqual(back.json.items, first.json.items)
    const third = await shop.as.clara('GET', second.json._links.next.href)
    assert.deepEqual([third.json.items.length, third.json._links.next], [20, undefined])
    assert.equal((await shop.as.clara('GET', second.json._links.self.href)).text, second.text)
  })

  it('A2.3 pages by number, past the end too', async () => {
    const second = await shop.as.clara('GET', '/api/v1/orders?page=2&size=40')
    assert.equal(second.json._links.previous.href, '/api/v1/orders?size=40&page=1')
    assert.equal((await shop.as.clara('GET', second.json._links.next.href)).json.items.length, 20)
    const beyond = await shop.as.clara('GET', '/api/v1/orders?page=99')
    assert.deepEqual([beyond.status, beyond.json.items], [200, []])
  })

  it('A2.3 a walk by cursor visits every item once while others come and go', async () => {
    const seen: string[] = []
    let href = '/api/v1/orders?size=7&state=placed&sort=-total'
    for (let n = 0; href; n++) {
      const { json: page } = await shop.as.clara('GET', href)
      seen.push(...page.items.map((item: { id: string }) => item.id))
      if (n % 2) await shop.as.clara('POST', '/api/v1/orders', json, order)
      else await shop.as.clara('POST', `/api/v1/orders/${seen.at(-1)}/cancellation`, json, {})
      href = page._links.next?.href
    }
    const seeded = Array.from({ length: 20 }, (_, i) => `o-${i * 5 + 1}`)
    assert.equal(new Set(seen).size, seen.length)
    assert.deepEqual(
      seeded.filter(id => !seen.includes(id)),
      [],
    )
  })

  it('A2.4 URI templates follow RFC 6570, and their expansions are served', async () => {
    const { json: page } = await shop.as.clara('GET', '/api/v1/orders')
    assert.equal(page._links.search.templated, true)
    const found = await shop.as.clara('GET', expandTemplate(page._links.search.href, { q: 'lamp', size: 2 }) ?? '')
    assert.deepEqual([found.status, found.json.items.length], [200, 2])
  })

  it('A2.5 problems in JSON, in XML, and for people', async () => {
    const at = (accept: string) => shop.as.clara('GET', '/api/v1/orders/o-999', { accept })
    assert.deepEqual((await at('application/json')).json, {
      type: '/problems/not-found',
      title: 'Not found',
      status: 404,
      detail: 'The resource does not exist, or the caller may not see it.',
    })
    const xml = await at('application/xml')
    assert.equal(xml.fields['content-type'], 'application/problem+xml')
    assert.match(xml.text, /<problem xmlns="urn:ietf:rfc:7807"><type>\/problems\/not-found<\/type>/)
    assert.equal((await at('application/problem+xml')).fields['content-type'], 'application/problem+xml')
    const html = await at('text/html,application/xhtml+xml,*/*;q=0.8')
    assert.match(html.fields['content-type'] ?? '', /^text\/html/)
    assert.match(html.text, /href="\/problems\/not-found"/)
    assert.equal((await shop.as.anyone('GET', '/problems/PaymentDeclined')).status, 200)
    assert.equal((await shop.as.anyone('GET', '/problems/__proto__')).status, 404)
  })

  it('A2.5 errors have a JSON Pointer each', async () => {
    const bad = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 0 }], currency: 'XXX', colour: 1 }
    const { json: is } = await shop.as.clara('POST', '/api/v1/orders', json, bad)
    const at = is.errors.map((each: { pointer: string; code: string }) => `${each.pointer} ${each.code}`)
    assert.deepEqual(at.sort(), ['/colour unknown', '/currency enum', '/lines/0/quantity minimum'])
  })

  it('A2.2 XML: declared order, singular items, the namespace of the version; reading it back gives the same', async () => {
    const got = await shop.as.clara('GET', '/api/v1/orders/o-1', { accept: 'application/xml' })
    assert.ok('root' in parseXml(got.bytes))
    assert.match(
      got.text,
      /<order xmlns="urn:diglot:orders:v1"><id>o-1<\/id><customer>c-1<\/customer><lines><line><product>/,
    )
    const put = await shop.as.clara(
      'PUT',
      '/api/v1/orders/o-1',
      { 'content-type': 'application/xml', accept: 'application/xml', ...ifMatch(got) },
      got.bytes,
    )
    assert.deepEqual([put.status, put.text], [200, got.text])
    const wrong = await shop.as.clara(
      'POST',
      '/api/v1/orders',
      { 'content-type': 'application/xml' },
      '<order xmlns="urn:diglot:orders:v1"><customer>c-1</customer><lines><line><product>p-1</product><quantity>many</quantity></line></lines><currency>EUR</currency><currency>USD</currency></order>',
    )
    assert.deepEqual(wrong.json.errors.map((each: { pointer: string }) => each.pointer).sort(), [
      '/currency',
      '/lines/0/quantity',
    ])
  })

  it('A2.2 HTML: text is escaped, forms work, nothing is executed', async () => {
    const script = '<script>alert("x")</script>'
    const made = await shop.as.clara('POST', '/api/v2/orders', json, { ...order, note: script })
    const page = await shop.as.clara('GET', made.fields['location'] ?? '', { accept: 'text/html' })
    assert.doesNotMatch(page.text, /<script(?! src="\/look\/page\.js" defer><)/)
    assert.match(page.text, /&lt;script&gt;/)
    assert.match(page.fields['content-security-policy'] ?? '', /default-src 'none'/)
    assert.doesNotMatch(page.fields['content-security-policy'] ?? '', /unsafe/)
    assert.match(page.text, /<form [^>]*action="[^"]+\/payment\?[^"]+"[^>]*>.*name="amount"/)
    const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
    const paid = await shop.as.clara('POST', `${made.fields['location']}/payment`, form, 'method=card&amount=9.90')
    assert.equal(paid.status, 201)
    const ordered = await shop.as.clara(
      'POST',
      '/api/v2/orders',
      form,
      'customer=c-1&lines%5B0%5D%5Bproduct%5D=p-2&lines%5B0%5D%5Bquantity%5D=3&lines%5B1%5D%5Bproduct%5D=&lines%5B1%5D%5Bquantity%5D=&currency=EUR&note=',
    )
    assert.equal(ordered.status, 201)
    assert.match(
      (await shop.as.clara('GET', '/api/v1/orders', { accept: 'text/html' })).text,
      /name="lines\[0\]\[product\]"/,
    )
  })

  it('A3.4 HAL-FORMS: the transitions with their input', async () => {
    const { json: is } = await shop.as.clara('GET', '/api/v1/orders/o-2', { accept: 'application/prs.hal-forms+json' })
    assert.deepEqual(is._templates.shipment, {
      title: 'ship',
      method: 'POST',
      target: '/api/v1/orders/o-2/shipment',
      contentType: 'application/json',
      properties: [{ name: 'carrier', required: true, options: { inline: ['dhl', 'ups'] } }],
    })
    assert.equal(is._templates.payment, undefined)
  })
})

describe('A3 jobs', async () => {
  const shop = await startOrders({ options: { sleep: ms => setTimeout(ms) } })
  const input = { from: '2026-01-01', to: '2026-12-31', kind: 'sales' }

  it('A8.1 too many jobs of one caller wait: 429, Retry-After and a limit of concurrent requests', async () => {
    const own = await startOrders()
    for (let i = 0; i < 100; i++) await own.as.alice('POST', '/api/v1/reports', json, input)
    const { status, fields } = await own.as.alice('POST', '/api/v1/reports', json, input)
    assert.deepEqual(
      [status, fields['retry-after'], fields['ratelimit-policy'], fields['ratelimit']],
      [429, '5', '"queued";q=100;qu="concurrent-requests"', '"queued";r=0;t=5'],
    )
    assert.equal((await own.as.clara('POST', '/api/v1/reports', json, input)).status, 202)
  })

  it('A3.1 A3.2 A3.3 A4.15 A4.16 accepted, running, completed, with its result', async () => {
    const made = await shop.as.alice('POST', '/api/v1/reports', { ...json, prefer: 'respond-async' }, input)
    assert.deepEqual([made.status, made.fields['preference-applied']], [202, 'respond-async'])
    const location = made.fields['location'] ?? ''
    assert.match(location, /^\/api\/v1\/reports\/jobs\/j-/)
    const waits = await shop.as.alice('GET', location)
    assert.deepEqual([waits.status, waits.json.state, waits.fields['retry-after']], [200, 'queued', '1'])
    assert.deepEqual(Object.keys(waits.json._links), ['self', 'cancel'])
    await shop.work()
    const done = await shop.as.alice('GET', location)
    assert.deepEqual([done.json.state, done.json.progress, done.fields['retry-after']], ['completed', 1, undefined])
    const result = await shop.as.alice('GET', done.json._links.related.href)
    assert.deepEqual([result.status, result.json.kind], [200, 'sales'])
    assert.equal(
      (await shop.as.alice('GET', done.json._links.related.href, { 'if-none-match': result.fields['etag'] ?? '' }))
        .status,
      304,
    )
    assert.match(
      (await shop.as.alice('GET', done.json._links.related.href, { accept: 'text/csv' })).fields['content-type'] ?? '',
      /^text\/csv/,
    )
    assert.ok(
      (await shop.as.alice('GET', done.json._links.related.href, { accept: 'application/pdf' })).text.startsWith(
        '%PDF',
      ),
    )
    assert.equal((await shop.as.clara('GET', location)).status, 404, 'another’s job')
  })

  it('A3.2 a cancelled job says so, and is not cancelled twice', async () => {
    const made = await shop.as.clara('POST', '/api/v1/reports', json, input)
    const cancelled = await shop.as.clara('POST', made.json._links.cancel.href)
    assert.deepEqual([cancelled.status, cancelled.json.state], [200, 'cancelled'])
    assert.equal((await shop.as.clara('POST', made.json._links.cancel.href)).status, 409)
  })

  it('Prefer: wait responds when the job has ended', async () => {
    const made = shop.as.clara('POST', '/api/v1/reports', { ...json, prefer: 'wait=5' }, input)
    await setTimeout(20)
    await shop.work()
    const answer = await made
    assert.deepEqual(
      [answer.status, answer.json.state, answer.fields['preference-applied']],
      [202, 'completed', 'wait=5'],
    )
  })
})

describe('A4 methods', async () => {
  const shop = await startOrders()
  const made = async () => shop.as.clara('POST', '/api/v1/orders', json, order)

  it('A4.1 A4.23 filters and sorting are parameters of the collection', async () => {
    const { json: is } = await shop.as.clara(
      'GET',
      '/api/v1/orders?state=paid&total[gte]=20&total[lt]=60.00&sort=-total&size=100',
    )
    assert.ok(is.items.length > 1)
    const totals = is.items.map((item: { total: string }) => Number(item.total))
    assert.ok(is.items.every((item: { state: string }) => item.state === 'paid'))
    assert.ok(totals.every((total: number) => total >= 20 && total < 60))
    assert.deepEqual(
      totals,
      [...totals].sort((a, b) => b - a),
    )
    const either = await shop.as.clara('GET', '/api/v1/orders?state[in]=paid,placed&size=100')
    assert.equal(either.json.total, 40)
    assert.equal((await shop.as.clara('GET', '/api/v1/orders?note=fragile')).status, 400, 'v1 has no note')
    assert.equal((await shop.as.clara('GET', '/api/v2/orders?note=fragile')).status, 200)
  })

  it('A4.1 lists show a customer their own items', async () => {
    const { json: is } = await shop.as.alice('GET', '/api/v1/orders?size=100')
    assert.deepEqual([...new Set(is.items.map((item: { customer: string }) => item.customer))], ['c-1'])
  })

  it('A4.2 A4.21 POST creates an item, names it and shows it', async () => {
    const answer = await made()
    assert.equal(answer.status, 201)
    const again = await shop.as.clara('GET', answer.fields['location'] ?? '')
    assert.deepEqual([again.text, again.fields['etag']], [answer.text, answer.fields['etag']])
    const own = await shop.as.alice('POST', '/api/v1/orders', json, { lines: order.lines, currency: 'EUR' })
    assert.deepEqual([own.status, own.json.customer], [201, 'c-1'])
  })

  it('A4.3 a matching tag: 304 and nothing else; another: 200', async () => {
    const got = await shop.as.clara('GET', '/api/v1/orders/o-1')
    const tag = got.fields['etag'] ?? ''
    for (const given of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const same = await shop.as.clara('GET', '/api/v1/orders/o-1', { 'if-none-match': given })
      assert.deepEqual([same.status, same.bytes.length, same.fields['etag']], [304, 0, tag], given)
      for (const name of ['cache-control', 'vary', 'last-modified']) assert.equal(same.fields[name], got.fields[name])
    }
    assert.equal((await shop.as.clara('GET', '/api/v1/orders/o-1', { 'if-none-match': '"1-other"' })).status, 200)
    assert.equal(
      (await shop.as.clara('GET', '/api/v1/orders/o-1', { 'if-none-match': tag, accept: 'application/xml' })).status,
      200,
    )
    assert.equal(
      (
        await shop.as.maria('GET', '/api/v1/products/p-1', {
          'if-none-match': (await shop.as.anyone('GET', '/api/v1/products/p-1')).fields['etag'] ?? '',
        })
      ).status,
      200,
      'maria sees other links',
    )
    const page = await shop.as.clara('GET', '/api/v1/orders?size=2')
    assert.equal(
      (await shop.as.clara('GET', '/api/v1/orders?size=2', { 'if-none-match': page.fields['etag'] ?? '' })).status,
      304,
    )
  })

  it('A4.4 PUT sets the whole state; server fields from GET do no harm, other values of them do', async () => {
    const answer = await made()
    const location = answer.fields['location'] ?? ''
    const same = await shop.as.clara('PUT', location, { ...json, ...ifMatch(answer) }, answer.json)
    assert.deepEqual([same.status, same.json], [200, answer.json])
    const changed = await shop.as.clara(
      'PUT',
      location,
      { ...json, ...ifMatch(answer) },
      { ...answer.json, total: '0.01' },
    )
    assert.deepEqual([changed.status, changed.json.errors[0].pointer], [422, '/total'])
    const other = await shop.as.clara('PUT', location, { ...json, ...ifMatch(answer) }, { ...order, currency: 'GBP' })
    assert.equal(other.json.currency, 'GBP')
    assert.equal(other.fields['content-location'], location)
  })

  it('A4.4 a PUT through v1 keeps what v1 does not know', async () => {
    const answer = await shop.as.clara('POST', '/api/v2/orders', json, { ...order, note: 'kept' })
    const location = answer.fields['location']?.replace('v2', 'v1') ?? ''
    const old = await shop.as.clara('GET', location)
    assert.equal(old.json.note, undefined)
    await shop.as.clara('PUT', location, { ...json, ...ifMatch(old) }, { ...order, currency: 'USD' })
    const { json: is } = await shop.as.clara('GET', location.replace('v1', 'v2'))
    assert.deepEqual([is.note, is.currency], ['kept', 'USD'])
  })

  it('A4.5 a patch that leaves no object is reported once, and not for each read-only member', async () => {
    const shop = await startOrders()
    const rows: readonly (readonly [type: string, content: string])[] = [
      ['application/merge-patch+json', 'null'],
      ['application/merge-patch+json', '[1]'],
      ['application/json-patch+json', '[{"op":"replace","path":"","value":"x"}]'],
    ]
    for (const [type, content] of rows) {
      const given = { 'content-type': type, 'if-match': '*' }
      const answer = await shop.as.clara('PATCH', '/api/v2/orders/o-1', given, content)
      assert.deepEqual([answer.status, answer.json.detail], [422, 'the content must be an object'], content)
    }
  })

  it('A4.5 merge patch and JSON patch, on the representation without _links', async () => {
    const answer = await shop.as.clara('POST', '/api/v2/orders', json, { ...order, note: 'a' })
    const location = answer.fields['location'] ?? ''
    const merged = await shop.as.clara(
      'PATCH',
      location,
      { ...merge, ...ifMatch(answer) },
      { note: null, currency: 'USD' },
    )
    assert.deepEqual([merged.json.note, merged.json.currency], [undefined, 'USD'])
    const patched = await shop.as.clara('PATCH', location, { ...patch, ...ifMatch(merged) }, [
      { op: 'test', path: '/currency', value: 'USD' },
      { op: 'add', path: '/lines/-', value: { product: 'p-2', quantity: 1 } },
      { op: 'add', path: '/note', value: 'b' },
    ])
    assert.deepEqual([patched.status, patched.json.lines.length, patched.json.note], [200, 2, 'b'])
    const tries: [number, object, object][] = [
      [422, patch, [{ op: 'replace', path: '/state', value: 'paid' }]],
      [422, patch, [{ op: 'remove', path: '/total' }]],
      [409, patch, [{ op: 'remove', path: '/_links' }]],
      [409, patch, [{ op: 'add', path: '/__proto__/x', value: 1 }]],
      [422, merge, { id: 'o-1' }],
      [422, merge, { total: null }],
      [400, patch, { op: 'add' }],
    ]
    for (const [status, type, content] of tries)
      assert.equal(
        (await shop.as.clara('PATCH', location, { ...type, ...ifMatch(patched) }, content)).status,
        status,
        JSON.stringify(content),
      )
    assert.equal((await shop.as.clara('GET', location)).fields['etag'], patched.fields['etag'])
  })

  it('A4.6 DELETE: 204, then 410 until the identifier is used again', async () => {
    const answer = await made()
    const location = answer.fields['location'] ?? ''
    const cancelled = await shop.as.clara('POST', `${location}/cancellation`)
    const gone = await shop.as.maria('DELETE', location, ifMatch(cancelled))
    assert.deepEqual([gone.status, gone.bytes.length, gone.fields['content-type']], [204, 0, undefined])
    assert.equal((await shop.as.clara('GET', location)).status, 410)
    assert.equal((await shop.as.alice('GET', location)).status, 404)
  })

  it('A4.7 bulk removal requires a filter, and removes what may be removed', async () => {
    const answer = await shop.as.maria('DELETE', '/api/v1/orders?customer=c-2')
    assert.equal(answer.status, 200)
    assert.ok(answer.json.removed > 0 && answer.json.refused > 0)
    assert.equal((await shop.as.maria('GET', '/api/v1/orders?customer=c-2&state=cancelled')).json.total, 0)
    assert.equal((await shop.as.clara('DELETE', '/api/v1/orders?state=cancelled')).status, 403)
  })

  it('A4.8 HEAD is GET without the content, length included', async () => {
    const targets = [
      '/',
      '/api/v1/orders',
      '/api/v1/orders/o-1',
      '/api/v1/customers/c-1/orders',
      '/api/v1/search?q=oak',
      '/api/v1/orders/o-999',
      '/api/v1/orders/o-3/tracking',
      '/problems/stale',
      '/decisions',
    ]
    for (const target of targets)
      for (const accept of ['*/*', 'text/html']) {
        const got = await shop.as.clara('GET', target, { accept })
        const head = await shop.as.clara('HEAD', target, { accept })
        assert.equal(head.status, got.status)
        assert.equal(head.bytes.length, 0)
        assert.equal(head.fields['content-length'], String(got.bytes.length), target)
        assert.deepEqual(
          omitFields(head.fields, 'content-length', 'request-id'),
          omitFields(got.fields, 'request-id'),
          target,
        )
      }
  })

  it('A4.9 OPTIONS lists the methods of a target, and each of them is served', async () => {
    for (const target of [
      '/api/v1/orders',
      '/api/v1/orders/o-1',
      '/api/v1/products/p-1/picture',
      '/api/v1/reports',
      '/',
    ]) {
      const { status, fields } = await shop.as.anyone('OPTIONS', target)
      assert.equal(status, 204)
      const allow = (fields['allow'] ?? '').split(', ')
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'])
        assert.equal(
          (await shop.as.maria(method, target)).status === 405,
          !allow.includes(method),
          `${method} ${target}`,
        )
    }
    const query = await shop.as.anyone('OPTIONS', '/api/v1/orders')
    assert.match(query.fields['accept-query'] ?? '', /application\/json/)
    assert.match(query.fields['accept-post'] ?? '', /application\/xml/)
  })

  it('A4.10 A4.11 an action is a sub-resource; its output is read where it was made', async () => {
    const answer = await made()
    const payment = `${answer.fields['location']}/payment`
    const paid = await shop.as.alice('POST', payment, json, { method: 'card', amount: answer.json.total })
    assert.deepEqual([paid.status, paid.fields['location']], [201, payment])
    const read = await shop.as.alice('GET', payment)
    assert.deepEqual([read.status, read.json.id, read.json.amount], [200, paid.json.id, '9.90'])
    assert.equal((await shop.as.alice('GET', payment, { 'if-none-match': read.fields['etag'] ?? '' })).status, 304)
    const shipped = await shop.as.clara('POST', `${answer.fields['location']}/shipment`, json, { carrier: 'ups' })
    assert.deepEqual(
      [shipped.status, shipped.json.state, shipped.fields['content-location']],
      [200, 'shipped', answer.fields['location']],
    )
    const tracked = await shop.as.alice('GET', shipped.json._links.tracking.href)
    assert.deepEqual([tracked.status, tracked.json.position], [200, 'on its way'])
    const delivered = await shop.as.clara('POST', shipped.json._links.delivery.href)
    assert.equal(delivered.json.state, 'delivered')
  })

  it('A4.10 a relation: the orders of a customer, for callers that may see the customer', async () => {
    const { json: is } = await shop.as.alice('GET', '/api/v1/customers/c-1/orders?size=2')
    assert.deepEqual(
      is.items.map((item: { customer: string }) => item.customer),
      ['c-1', 'c-1'],
    )
    assert.match(is._links.next.href, /^\/api\/v1\/customers\/c-1\/orders\?/)
    assert.equal((await shop.as.alice('GET', '/api/v1/customers/c-2/orders')).status, 404)
    assert.equal((await shop.as.clara('GET', '/api/v1/customers/c-9/orders')).status, 404)
    assert.equal((await shop.as.clara('GET', '/api/v1/customers/c-2/orders?state=paid')).status, 200)
  })

  it('A4.12 A4.13 A4.14 a kept search, one that is not kept, and QUERY find the same', async () => {
    const kept = await shop.as.clara('POST', '/api/v1/searches', json, { q: 'brass lamp', state: 'paid' })
    assert.equal(kept.status, 201)
    assert.match(kept.fields['location'] ?? '', /^\/api\/v1\/searches\/s-/)
    const found = await shop.as.clara('GET', `${kept.fields['location']}?size=2`)
    assert.deepEqual([found.status, found.json.q, found.json.items.length], [200, 'brass lamp', 2])
    const next = await shop.as.clara('GET', found.json._links.next.href)
    assert.ok(next.json.items.length > 0)
    const direct = await shop.as.clara('GET', '/api/v1/search?q=brass+lamp&state=paid&size=2')
    assert.deepEqual(direct.json.items, found.json.items)
    const asked = await shop.as.clara('QUERY', '/api/v1/orders?size=2', json, { q: 'brass lamp', state: 'paid' })
    assert.deepEqual([asked.status, asked.json.items], [200, found.json.items])
    assert.deepEqual((await shop.as.clara('GET', asked.json._links.next.href)).json.items, next.json.items)
    assert.deepEqual((await shop.as.clara('GET', asked.fields['location'] ?? '')).json.items, found.json.items)
    assert.equal((await shop.as.maria('GET', kept.fields['location'] ?? '')).status, 404, 'another’s search')
    assert.equal((await shop.as.clara('GET', '/api/v1/search?q=%25')).json.total, 0, '% is text')
    assert.equal((await shop.as.clara('GET', '/api/v1/search?q=fragile')).json.total, 0, 'v1 has no note')
    assert.ok((await shop.as.clara('GET', '/api/v2/search?q=fragile')).json.total > 0)
  })

  it('A4.14 a repeated word has no effect, and the number of words is limited', async () => {
    const search = async (words: readonly string[]) => shop.as.clara('GET', `/api/v1/search?q=${words.join('+')}`)
    const [once, often] = [await search(['lamp']), await search(Array(1500).fill('lamp'))]
    assert.ok(once.json.total > 0)
    assert.deepEqual([often.status, often.json.items], [200, once.json.items])
    const different = Array.from({ length: 1500 }, (_, i) => i.toString(36))
    assert.equal((await search(different.slice(0, 500))).status, 200)
    const many = await search(different)
    assert.deepEqual([many.status, many.json.parameter], [400, 'q'])
  })

  it('A4.17 Accept: quality, specificity, parameters, q=0, and no acceptable type', async () => {
    const type = async (accept: string) =>
      (await shop.as.clara('GET', '/api/v1/orders/o-1', { accept })).fields['content-type']
    assert.equal(await type('application/xml;q=0.5, application/json;q=0.9'), 'application/json')
    assert.equal(
      await type('application/*, application/json;q=0, application/hal+json;q=0'),
      'application/xml;charset=utf-8',
    )
    assert.equal(await type('*/*, application/xml'), 'application/xml;charset=utf-8')
    assert.equal(await type('application/problem+json'), 'application/hal+json')
    assert.equal(await type('application/json, application/problem+json;q=1'), 'application/json')
    for (const accept of ['text/csv;header=present', 'text/csv;header=absent'])
      assert.equal(
        (await shop.as.clara('GET', '/api/v1/orders', { accept: `${accept}, application/json;q=0.5` })).fields[
          'content-type'
        ],
        accept.endsWith('present') ? 'text/csv;charset=utf-8;header=present' : 'application/json',
      )
    const none = await shop.as.clara('GET', '/api/v1/orders/o-1', { accept: 'image/png, application/json;q=0' })
    assert.deepEqual([none.status, none.json.offers.includes('application/pdf')], [406, true])
    assert.match(none.fields['vary'] ?? '', /Accept, Accept-Encoding/)
  })

  it('A7.12 a 412 says which precondition fails: the item already exists, or has changed', async () => {
    const shop = await startOrders()
    const at = '/api/v1/orders/o-1'
    const detailOf = async (method: 'GET' | 'PATCH', fields: Record<string, string>) => {
      const given = { 'content-type': 'application/merge-patch+json', ...fields }
      const answer = await shop.as.clara(method, at, given, method === 'GET' ? undefined : '{}')
      assert.equal(answer.status, 412)
      return answer.json.detail as string
    }
    const { etag = '' } = (await shop.as.clara('GET', at)).fields
    assert.match(await detailOf('PATCH', { 'if-match': '"0-x"' }), /changed since it was read/)
    assert.match(
      await detailOf('GET', { 'if-match': '"0-x"', 'if-none-match': '*' }),
      /^The resource has changed since it was read/,
    )
    assert.match(await detailOf('PATCH', { 'if-match': `W/${etag}` }), /a weak tag, W\/"…", never matches/)
    assert.match(await detailOf('PATCH', { 'if-match': `W/${etag}, "0-x"` }), /changed since it was read/)
    assert.match(
      await detailOf('PATCH', { 'if-match': etag, 'if-none-match': etag }),
      /^If-Match and If-None-Match both/,
    )
    assert.match(await detailOf('PATCH', { 'if-none-match': '*' }), /requires that the resource does not exist/)
    assert.match(await detailOf('PATCH', { 'if-none-match': etag }), /one of the entity tags/)
  })

  it('A4.18 br, zstd and gzip, each with its own tag; small content stays as it is', async () => {
    const plain = await shop.as.clara('GET', '/api/v1/orders')
    const tags = new Set([plain.fields['etag']])
    for (const [coding, open] of [
      ['br', brotliDecompressSync],
      ['zstd', zstdDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      for (let twice = 0; twice < 2; twice++) {
        const coded = await shop.as.clara('GET', '/api/v1/orders', { 'accept-encoding': coding })
        assert.equal(coded.fields['content-encoding'], coding)
        assert.equal(open(coded.bytes).toString(), plain.text)
        tags.add(coded.fields['etag'])
        assert.equal(
          (
            await shop.as.clara('GET', '/api/v1/orders', {
              'accept-encoding': coding,
              'if-none-match': coded.fields['etag'] ?? '',
            })
          ).status,
          304,
        )
      }
    }
    assert.equal(tags.size, 4)
    const small = await shop.as.clara('GET', '/api/v1/customers/c-1', { 'accept-encoding': 'gzip' })
    assert.equal(small.fields['content-encoding'], undefined)
    assert.match(small.fields['vary'] ?? '', /Accept-Encoding/)
    const forced = await shop.as.clara('GET', '/api/v1/customers/c-1', { 'accept-encoding': 'gzip, identity;q=0' })
    assert.equal(gunzipSync(forced.bytes).toString(), small.text)
    const behind = await startOrders({ settings: { trustProxy: true } })
    const left = await behind.as.clara('GET', '/api/v1/orders', { 'accept-encoding': 'gzip' })
    assert.deepEqual(
      [left.fields['content-encoding'], left.fields['vary']],
      [undefined, 'Accept, Authorization, Prefer'],
    )
  })

  it('A4.18 a large enough item is coded, and its tag holds for 304 and If-Match', async () => {
    const note = 'x'.repeat(500)
    const lines = Array.from({ length: 20 }, (_, i) => ({ product: `p-${i + 1}`, quantity: 1 }))
    const large = await shop.as.clara('POST', '/api/v2/orders', json, { ...order, note, lines })
    const location = large.fields['location'] ?? ''
    const coded = await shop.as.clara('GET', location, { 'accept-encoding': 'gzip' })
    assert.equal(coded.fields['content-encoding'], 'gzip')
    assert.notEqual(coded.fields['etag'], large.fields['etag'])
    assert.equal(
      (await shop.as.clara('GET', location, { 'accept-encoding': 'gzip', 'if-none-match': coded.fields['etag'] ?? '' }))
        .status,
      304,
    )
    assert.equal(
      (await shop.as.clara('GET', location, { 'accept-encoding': 'gzip', 'if-none-match': large.fields['etag'] ?? '' }))
        .status,
      200,
    )
    assert.equal((await shop.as.clara('PATCH', location, { ...merge, ...ifMatch(coded) }, { note: 'y' })).status, 200)
  })

  it('A4.18 content that arrives in gzip', async () => {
    const sent = gzipSync(JSON.stringify(order))
    assert.equal(
      (await shop.as.clara('POST', '/api/v1/orders', { ...json, 'content-encoding': 'gzip' }, sent)).status,
      201,
    )
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024))
    assert.equal(
      (await shop.as.clara('POST', '/api/v1/orders', { ...json, 'content-encoding': 'gzip' }, bomb)).status,
      413,
      'RFC 9110 §15.5.14: valid, and too large',
    )
    const cut = sent.subarray(0, -1)
    assert.equal(
      (await shop.as.clara('POST', '/api/v1/orders', { ...json, 'content-encoding': 'gzip' }, cut)).status,
      400,
    )
  })

  it('A4.19 Last-Modified, Expires, Vary', async () => {
    const got = await shop.as.anyone('GET', '/api/v1/products/p-1')
    assert.equal(got.fields['last-modified'], 'Sat, 21 Nov 2026 12:00:00 GMT')
    assert.equal(got.fields['expires'], 'Sat, 21 Nov 2026 12:01:00 GMT')
    assert.equal(got.fields['vary'], 'Accept, Accept-Encoding, Authorization')
    const since = { 'if-modified-since': got.fields['last-modified'] }
    assert.equal((await shop.as.anyone('GET', '/api/v1/products/p-1', since)).status, 304)
    assert.equal(
      (await shop.as.anyone('GET', '/api/v1/products/p-1', { ...since, 'if-none-match': '"x"' })).status,
      200,
    )
  })

  it('A4.20 If-Match on a change, of any representation of that version', async () => {
    const answer = await made()
    const location = answer.fields['location'] ?? ''
    const xml = await shop.as.clara('GET', location, { accept: 'application/xml' })
    const other = { ...order, currency: 'GBP' }
    assert.equal((await shop.as.clara('PUT', location, { ...json, ...ifMatch(xml) }, other)).status, 200)
    const now = await shop.as.clara('GET', location)
    const late = await shop.as.clara('PUT', location, { ...json, ...ifMatch(xml) }, order)
    assert.deepEqual([late.status, late.fields['etag']], [412, now.fields['etag']])
    const weak = await shop.as.clara('PUT', location, { ...json, 'if-match': `W/${now.fields['etag']}` }, order)
    assert.equal(weak.status, 412)
    const cancel = await shop.as.clara('POST', `${location}/cancellation`, { ...json, ...ifMatch(xml) }, {})
    assert.equal(cancel.status, 412)
    const past = { 'if-unmodified-since': 'Sun, 06 Nov 1994 08:49:37 GMT' }
    assert.equal((await shop.as.clara('PUT', location, { ...json, ...past }, order)).status, 412)
    assert.equal(
      (await shop.as.alice('PUT', '/api/v1/customers/c-2', { ...json, 'if-match': '"x"' }, {})).fields['etag'],
      undefined,
      'a 403 hides what a 412 would say',
    )
  })

  it('A4.24 fields= gives a part, in each type, under its own tag', async () => {
    const part = await shop.as.clara('GET', '/api/v1/orders/o-1?fields=total,id')
    assert.deepEqual(Object.keys(part.json), ['id', 'total', '_links'])
    assert.notEqual(part.fields['etag'], (await shop.as.clara('GET', '/api/v1/orders/o-1')).fields['etag'])
    const xml = await shop.as.clara('GET', '/api/v1/orders/o-1?fields=total', { accept: 'application/xml' })
    assert.match(xml.text, /<order xmlns="[^"]+"><total>4.95<\/total><link/)
    const { json: page } = await shop.as.clara('GET', '/api/v1/orders?fields=id&size=1')
    assert.deepEqual(Object.keys(page.items[0]), ['id', '_links'])
    assert.match(page._links.next.href, /fields=id/)
    assert.equal((await shop.as.clara('GET', '/api/v1/orders/o-1?fields=colour')).json.parameter, 'fields')
  })

  it('RFC 7240 Prefer: minimal, representation, lenient; the response names honoured preferences', async () => {
    const answer = await made()
    const location = answer.fields['location'] ?? ''
    const put = await shop.as.clara('PUT', location, { ...json, ...ifMatch(answer), prefer: 'return=minimal' }, order)
    assert.deepEqual(
      [put.status, put.bytes.length, put.fields['preference-applied'], put.fields['etag']],
      [204, 0, 'return=minimal', undefined],
    )
    const patched = await shop.as.clara('PATCH', location, { ...merge, 'if-match': '*', prefer: 'return=minimal' }, {})
    assert.deepEqual(
      [patched.status, patched.fields['etag']],
      [204, (await shop.as.clara('GET', location)).fields['etag']],
    )
    const minimal = await shop.as.clara('POST', '/api/v1/orders', { ...json, prefer: 'return=minimal' }, order)
    assert.deepEqual([minimal.status, minimal.bytes.length, typeof minimal.fields['location']], [201, 0, 'string'])
    const whole = await shop.as.clara('POST', '/api/v1/orders', { ...json, prefer: 'return=representation' }, order)
    assert.equal(whole.fields['preference-applied'], 'return=representation')
    const lenient = await shop.as.clara('GET', '/api/v1/orders?colour=red', { prefer: 'handling=lenient' })
    assert.deepEqual([lenient.status, lenient.fields['preference-applied']], [200, 'handling=lenient'])
  })

  it('100-continue: a refused client is never asked for the content', async () => {
    const unread = {
      content: { length: 300, bytes: () => Promise.reject(new Error('was read')), chunks: () => assert.fail() },
    }
    const expecting = { ...json, expect: '100-continue' }
    const tries: [number, Promise<Answer>][] = [
      [428, shop.as.clara('PUT', '/api/v1/orders/o-1', expecting, undefined, unread)],
      [412, shop.as.clara('PUT', '/api/v1/orders/o-1', { ...expecting, 'if-match': '"x"' }, undefined, unread)],
      [404, shop.as.clara('PUT', '/api/v1/orders/o-999', { ...expecting, 'if-match': '"x"' }, undefined, unread)],
      [401, shop.as.anyone('PUT', '/api/v1/orders/o-1', expecting, undefined, unread)],
    ]
    for (const [status, answer] of tries) assert.equal((await answer).status, status)
    assert.deepEqual(shop.incidents, [])
  })
})

describe('files', async () => {
  const shop = await startOrders()
  const png = likePng(Uint8Array.from({ length: 1000 }, (_, i) => (i * 7) & 255))
  const at = '/api/v1/products/p-1/picture'

  it('A4.10 a picture: 201, 204, its bytes, its type', async () => {
    const made = await shop.as.maria('PUT', at, { 'content-type': 'image/png' }, png)
    assert.deepEqual([made.status, made.fields['location']], [201, at])
    const again = await shop.as.maria('PUT', at, { 'content-type': 'image/png', ...ifMatch(made) }, png)
    assert.equal(again.status, 204)
    assert.notEqual(again.fields['etag'], made.fields['etag'])
    assert.equal((await shop.as.maria('PUT', at, { 'content-type': 'image/png', ...ifMatch(made) }, png)).status, 412)
    const got = await shop.as.anyone('GET', at)
    assert.deepEqual([got.status, got.fields['content-type'], got.bytes], [200, 'image/png', png])
    assert.equal(got.fields['etag'], again.fields['etag'])
    assert.equal((await shop.as.anyone('GET', at, { accept: 'image/jpeg' })).status, 406)
    assert.equal((await shop.as.anyone('GET', at, { accept: 'text/html' })).status, 406)
    assert.equal(
      (await shop.as.maria('PUT', at, { 'content-type': 'image/gif' }, png)).fields['accept'],
      'image/png, image/jpeg',
    )
    assert.equal((await shop.as.anyone('GET', at, { 'if-none-match': got.fields['etag'] ?? '' })).status, 304)
  })

  it('A8.3 a picture over 5 MiB: 413', async () => {
    const large = new Uint8Array(5 * 1024 * 1024 + 1)
    assert.equal((await shop.as.maria('PUT', at, { 'content-type': 'image/png' }, large)).status, 413)
  })

  it('RFC 9110 §14 ranges: one, several, none, and If-Range', async () => {
    const whole = await shop.as.anyone('GET', at)
    const tag = whole.fields['etag'] ?? ''
    assert.equal(whole.fields['accept-ranges'], 'bytes')
    const part = await shop.as.anyone('GET', at, { range: 'bytes=-10' })
    assert.deepEqual(
      [part.status, part.fields['content-range'], part.bytes, part.fields['etag']],
      [206, 'bytes 990-999/1000', png.subarray(990), tag],
    )
    const parts = await shop.as.anyone('GET', at, { range: 'bytes=0-1,10-11' })
    assert.match(parts.fields['content-type'] ?? '', /^multipart\/byteranges; boundary=/)
    assert.match(parts.text, /Content-Range: bytes 10-11\/1000/)
    const rows: [number, Record<string, string>][] = [
      [416, { range: 'bytes=1000-' }],
      [200, { range: 'lines=1-2' }],
      [200, { range: 'bytes=0-1', 'if-range': '"other"' }],
      [206, { range: 'bytes=0-1', 'if-range': tag }],
      [304, { range: 'bytes=0-1', 'if-none-match': tag }],
      [200, { range: 'bytes=5-1' }],
    ]
    for (const [status, fields] of rows)
      assert.equal((await shop.as.anyone('GET', at, fields)).status, status, JSON.stringify(fields))
    const head = await shop.as.anyone('HEAD', at, { range: 'bytes=0-1' })
    assert.deepEqual([head.status, head.fields['content-length']], [200, '1000'])
  })
})

describe('A5 callers', async () => {
  const shop = await startOrders()
  const basic = (text: string) => ({ authorization: `Basic ${btoa(text)}` })

  it('A5.1 A5.3 Bearer and Basic; Basic over cleartext only from this machine', async () => {
    const at = '/api/v1/orders/o-1'
    assert.equal((await shop.as.anyone('GET', at, basic('clara:clara-secret'))).status, 200)
    const wrong = await shop.as.anyone('GET', at, basic('clara:wrong'))
    assert.equal(wrong.status, 401)
    // RFC 6750 §3.1: there was no token that could be invalid.
    assert.doesNotMatch(wrong.fields['www-authenticate'] ?? '', /error/)
    assert.match(wrong.json.detail, /wrong or no longer valid/)
    assert.match((await shop.as.anyone('GET', at)).json.detail, /^Send credentials/)
    const far = await shop.as.anyone('GET', at, basic('clara:clara-secret'), undefined, { from: '203.0.113.7' })
    assert.deepEqual([far.status, far.fields['www-authenticate']], [401, 'Bearer realm="orders"'])
    assert.match(far.json.detail, /^A password is accepted over https only/)
    assert.equal(
      (
        await shop.as.anyone('GET', at, basic('clara:clara-secret'), undefined, {
          from: '203.0.113.7',
          scheme: 'https',
        })
      ).status,
      200,
    )
  })

  it('A5.2 the same caller may read and yet be refused a removal', async () => {
    assert.equal((await shop.as.alice('GET', '/api/v1/orders/o-1')).status, 200)
    assert.equal((await shop.as.alice('DELETE', '/api/v1/orders/o-1', { 'if-match': '*' })).status, 403)
  })

  it('CORS: no origin by default; an allowed one gets the fields, and preflight needs no credentials', async () => {
    const asks = {
      origin: 'https://shop.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization, if-match',
    }
    const denied = await shop.as.anyone('OPTIONS', '/api/v1/orders/o-1', asks)
    assert.equal(denied.fields['access-control-allow-origin'], undefined)
    const open = await startOrders({ settings: { origins: ['https://shop.example'] } })
    const { fields } = await open.as.anyone('OPTIONS', '/api/v1/orders/o-1', asks)
    assert.equal(fields['access-control-allow-origin'], 'https://shop.example')
    assert.equal(fields['access-control-allow-headers'], 'authorization, if-match')
    assert.match(fields['access-control-allow-methods'] ?? '', /PUT/)
    const got = await open.as.clara('GET', '/api/v1/orders/o-1', { origin: 'https://shop.example' })
    assert.match(got.fields['vary'] ?? '', /Origin/)
    const page = await open.as.anyone('GET', '/decisions?x', {
      origin: 'https://shop.example',
      prefer: 'handling=lenient',
    })
    assert.deepEqual(
      [page.status, page.fields['vary']],
      [200, 'Accept-Encoding, Authorization, Cookie, Api-Key, Prefer, Origin'],
    )
    assert.match(got.fields['access-control-expose-headers'] ?? '', /ETag/)
    assert.equal(got.fields['access-control-allow-credentials'], undefined)
  })
})

describe('A8 limits and A9 versions', async () => {
  const shop = await startOrders()

  it('A8.1 A8.2 A4.22 each operation has its rate, announced before it is reached', async () => {
    const read = await shop.as.clara('GET', '/api/v1/orders/o-1')
    assert.equal(read.fields['ratelimit-policy'], '"reads";q=6000;w=60')
    assert.match(read.fields['ratelimit'] ?? '', /^"reads";r=5999;t=60$/)
    const search = await shop.as.clara('POST', '/api/v1/searches', json, { q: 'x' })
    assert.equal(search.fields['ratelimit'], '"searches";r=29;t=60')
  })

  it('A9.1 A9.2 a version in the address, in the media type, or the newest', async () => {
    const made = await shop.as.clara('POST', '/api/orders', json, { ...order, note: 'new' })
    assert.equal(made.json.note, 'new')
    const at = made.fields['location'] ?? ''
    assert.match(at, /^\/api\/orders\/o-/)
    const old = await shop.as.clara('GET', at, { accept: 'application/vnd.diglot.orders.v1+json' })
    assert.deepEqual([old.fields['content-type'], old.json.note], ['application/vnd.diglot.orders.v1+json', undefined])
    const current = await shop.as.clara('GET', at, { accept: 'application/vnd.diglot.orders.v2+json' })
    assert.deepEqual(
      [current.fields['content-type'], current.json.note],
      ['application/vnd.diglot.orders.v2+json', 'new'],
    )
    assert.notEqual(old.fields['etag'], current.fields['etag'])
    const none = await shop.as.clara('GET', at, { accept: 'application/vnd.diglot.orders.v7+json' })
    assert.equal(none.status, 406)
    const sent = { 'content-type': 'application/vnd.diglot.orders.v1+json' }
    assert.equal(
      (await shop.as.clara('POST', '/api/orders', sent, { ...order, note: 'x' })).status,
      422,
      'v1 has no note',
    )
    assert.equal(
      (await shop.as.clara('GET', '/api/v1/orders/o-1', { accept: 'application/vnd.diglot.orders.v2+json' })).status,
      406,
    )
  })

  it('A9.3 a version that will end says so: Deprecation, Sunset, successor-version; afterwards 410', async () => {
    const { default: app } = await import('../../examples/orders/service.ts')
    const versions = { v1: { ...app.contract.versions['v1'], deprecated: '2026-01-01', sunset: '2027-01-01' }, v2: {} }
    const ending = await startOrders({ app: { ...app, contract: { ...app.contract, versions } } })
    const { fields } = await ending.as.anyone('GET', '/api/v1/products/p-1')
    assert.equal(fields['deprecation'], `@${Date.UTC(2026, 0, 1) / 1000}`)
    assert.equal(fields['sunset'], 'Fri, 01 Jan 2027 00:00:00 GMT')
    assert.match(fields['link'] ?? '', /<\/api\/v2\/products\/p-1>; rel="successor-version"/)
    assert.equal((await ending.as.anyone('GET', '/api/v2/products/p-1')).fields['deprecation'], undefined)
    const pages = ['', '/products', '/products/p-1'].map(async place => {
      const read = async (version: string) =>
        (await ending.as.anyone('GET', `/api/${version}${place}`, { accept: 'text/html' })).text
      const notice =
        'v1 is deprecated from 2026-01-01 on, no longer served from 2027-01-01 on. The current version is <a href="/api/v2">v2</a>.'
      assert.ok((await read('v1')).includes(`<p class="hint" role="note">${notice}</p>`), place)
      assert.doesNotMatch(await read('v2'), /role="note"/)
    })
    await Promise.all(pages)
    ending.clock.now = Date.UTC(2027, 0, 2)
    assert.equal((await ending.as.anyone('GET', '/api/v1/products/p-1')).status, 410)
  })

  it('a path before ours is in every address', async () => {
    const behind = await startOrders({ settings: { publicUrl: 'https://api.example.org/shop' } })
    const { json: is } = await behind.as.clara('GET', '/api/v1/orders/o-1')
    assert.equal(is._links.self.href, '/shop/api/v1/orders/o-1')
    const lost = await behind.as.clara('GET', '/api/v1/orders/o-999')
    assert.equal(lost.json.type, 'https://api.example.org/shop/problems/not-found')
  })
})
