/** Forms of pages: each stands for one request of the interface, and passes all of its rows. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { likePng } from '../support/png.ts'
import { type Answer, json, order, startOrders } from './orders-over-rest.ts'

const own = {
  'content-type': 'application/x-www-form-urlencoded',
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  origin: 'http://localhost',
  host: 'localhost',
  'sec-fetch-site': 'same-origin',
}
const foreign = { ...own, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
const html = { accept: 'text/html' }

/** The address that the form with this identifier submits to. */
const actionOf = ({ text }: Answer, form: string): string =>
  (new RegExp(`<form id="${form}" method="post" action="([^"]+)"`).exec(text)?.[1] ?? '').replaceAll('&amp;', '&')
const write = (fields: Readonly<Record<string, string>>): string => new URLSearchParams(fields).toString()
const edited = { customer: 'c-1', 'lines[0][product]': 'p-2', 'lines[0][quantity]': '3', currency: 'EUR', note: 'new' }

describe('pages: a form stands for the request that its address names', async () => {
  const shop = await startOrders()
  const place = async (): Promise<string> =>
    (await shop.as.clara('POST', '/api/v2/orders', json, order)).fields['location'] ?? ''

  it('PUT, PATCH and DELETE by POST, each followed by the page of the changed item', async () => {
    const at = await place()
    const put = await shop.as.clara(
      'POST',
      actionOf(await shop.as.clara('GET', at, html), 'edit-put'),
      own,
      write(edited),
    )
    assert.deepEqual([put.status, put.fields['location']], [303, `${at}#done`])
    const patched = await shop.as.clara(
      'POST',
      actionOf(await shop.as.clara('GET', at, html), 'edit-patch'),
      own,
      write({ customer: '', 'lines[0][product]': '', currency: 'USD', note: '' }),
    )
    assert.equal(patched.status, 303)
    const { json: is } = await shop.as.clara('GET', at)
    assert.deepEqual([is.currency, is.note, is.lines[0].product, is.lines[0].quantity], ['USD', 'new', 'p-2', 3])
    await shop.as.clara('POST', `${at}/cancellation`, json, {})
    const removed = await shop.as.maria(
      'POST',
      actionOf(await shop.as.maria('GET', at, html), 'delete-delete'),
      own,
      '',
    )
    assert.deepEqual([removed.status, removed.fields['location']], [303, '/api/v2/orders#done'])
    assert.equal((await shop.as.clara('GET', at)).status, 410)
  })

  it('its tag is If-Match: a late change is a 412 with the typed values and the current ones', async () => {
    const at = await place()
    const page = await shop.as.clara('GET', at, html)
    await shop.as.maria(
      'PATCH',
      at,
      { 'content-type': 'application/merge-patch+json', 'if-match': '*' },
      { note: 'theirs' },
    )
    const late = await shop.as.clara('POST', actionOf(page, 'edit-put'), own, write({ ...edited, note: 'mine' }))
    assert.equal(late.status, 412)
    assert.match(late.text, /<textarea id="edit-put-note"[^>]*>\nmine<\/textarea>/)
    assert.match(late.text, /<dt>Note<\/dt><dd>theirs<\/dd>/)
    assert.equal((await shop.as.clara('POST', actionOf(late, 'edit-put'), own, write(edited))).status, 303)
  })

  it('without a tag a change that needs one is refused, as for any client', async () => {
    const at = await place()
    const bare = await shop.as.clara('PUT', at, json, order)
    const form = await shop.as.clara('POST', `${at}?_method=PUT`, own, write(edited))
    assert.equal(form.status, bare.status)
  })

  it('A5.2 neither a page of another origin nor a request without an origin changes anything', async () => {
    const at = await place()
    const before = (await shop.as.clara('GET', at)).fields['etag']
    const address = actionOf(await shop.as.clara('GET', at, html), 'edit-put')
    assert.equal((await shop.as.clara('POST', address, foreign, write(edited))).status, 403)
    const { origin: _, 'sec-fetch-site': __, ...silent } = own
    assert.equal((await shop.as.clara('POST', address, silent, write(edited))).status, 405)
    assert.equal((await shop.as.clara('POST', address, { ...own, ...json }, '{}')).status, 405)
    assert.equal((await shop.as.clara('POST', `${at}?_method=TRACE`, own, '')).status, 405)
    assert.equal((await shop.as.clara('GET', at)).fields['etag'], before)
  })

  it('A5.4 a caller who may not change it is refused by the same rows', async () => {
    const at = await place()
    const as = async (method: string, who: 'anyone' | 'alice') =>
      (await shop.as[who]('POST', `${at}?_method=${method}&_match=*`, own, write(edited))).status
    assert.deepEqual(
      [await as('PUT', 'anyone'), await as('PUT', 'alice'), await as('DELETE', 'alice')],
      [401, 403, 403],
    )
  })

  it('every problem is shown at its control, rows in reading order', async () => {
    const sent = write({
      customer: 'c-1',
      'lines[0][product]': '',
      'lines[1][product]': 'p-1',
      'lines[1][quantity]': '0',
      currency: 'EUR',
    })
    const { status, text } = await shop.as.clara('POST', '/api/v2/orders?_method=POST', own, sent)
    assert.equal(status, 422)
    assert.match(text, /name="lines\[0\]\[quantity\]"[^>]* aria-invalid="true"[^>]* value="0"/)
    assert.match(text, /<a href="#create-post-lines-0-quantity-">Quantity must be/)
    assert.equal(text.match(/aria-invalid/g)?.length, 1)
  })

  it('a conflict says which transitions are possible, and offers them', async () => {
    const at = await place()
    await shop.as.clara('POST', `${at}/cancellation`, json, {})
    const { status, text } = await shop.as.clara('POST', `${at}/payment?_method=POST`, own, 'method=card&amount=9.90')
    assert.equal(status, 409)
    assert.match(text, /It is cancelled\. No transition leads on from there\./)
    assert.doesNotMatch(text, /id="payment-post"/)
  })

  it('RFC 9457 §3.1.4 the detail of a problem is on its page, as a sentence', async () => {
    for (const [target, sentence] of [
      ['/api/v2/orders/o-nowhere', 'The resource does not exist, or the caller may not see it.'],
      ['/api/v2/orders?size=x', 'Size: must be a whole number from 1 to 100.'],
    ] as const) {
      const { detail } = (await shop.as.clara('GET', target)).json
      const { text } = await shop.as.clara('GET', target, html)
      assert.ok(text.includes(`<p>${sentence}</p>`), text)
      assert.equal(`${detail.replace(/[.]$/, '')}.`.toLowerCase(), sentence.toLowerCase())
    }
  })

  it('the page shows what programs get, where addresses of pages are links, and forms and templates are not', async () => {
    const { text } = await shop.as.clara('GET', '/api/v2/orders?size=2', html)
    const [, first] = /&quot;href&quot;: &quot;<a href="(\/api\/v2\/orders\/o-\w+)">\1<\/a>&quot;/.exec(text) ?? []
    assert.equal((await shop.as.clara('GET', first ?? '', html)).status, 200)
    assert.match(text, /&quot;href&quot;: &quot;\/api\/v2\/orders\/\{id\}&quot;/)
    const { text: entry } = await shop.as.clara('GET', '/api/v2', html)
    assert.match(entry, /&quot;href&quot;: &quot;\/api\/v2\/searches&quot;/)
  })

  it('a button adds a row without a script, and changes nothing', async () => {
    const { status, text } = await shop.as.clara(
      'POST',
      '/api/v2/orders?_method=POST&_add=lines',
      own,
      write({ customer: 'c-1', 'lines[0][product]': 'p-1', 'lines[0][quantity]': '' }),
    )
    assert.equal(status, 200)
    assert.match(text, /name="lines\[0\]\[product\]"[^>]* value="p-1"/)
    assert.match(text, /name="lines\[1\]\[product\]"/)
    assert.match(text, /name="customer"[^>]* value="c-1"/)
    assert.equal((await shop.as.anyone('POST', '/api/v2/orders?_method=POST&_add=lines', own, '')).status, 401)
  })

  it('a filter field left empty is no condition; a moment gets its zone', async () => {
    const at = '/api/v2/orders?_find=1&state=paid&customer=&placedAt%5Bgte%5D.utc=2026-01-02T10%3A00&size='
    const found = await shop.as.clara('GET', at, html)
    const to = '/api/v2/orders?state=paid&placedAt%5Bgte%5D=2026-01-02T10%3A00%3A00Z'
    assert.deepEqual([found.status, decodeURIComponent(found.fields['location'] ?? '')], [303, decodeURIComponent(to)])
    assert.equal((await shop.as.clara('GET', found.fields['location'] ?? '', html)).status, 200)
  })

  it("a GET of a form's address gives the page without the form", async () => {
    const { status, fields } = await shop.as.clara('GET', '/api/v2/orders/o-1?_method=PUT&_match=%22x%22', html)
    assert.deepEqual([status, fields['location']], [303, '/api/v2/orders/o-1'])
  })

  it('RFC 7578 a file that a form sends is stored octet by octet, wherever its boundary is cut', async () => {
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('\r\n--b\r\n--boundar\r\n--')])
    const sent = Buffer.concat([
      Buffer.from(
        '--boundary\r\nContent-Disposition: form-data; name="file"; filename="x.png"\r\nContent-Type: image/png\r\n\r\n',
      ),
      png,
      Buffer.from('\r\n--boundary--\r\n'),
    ])
    const type = 'multipart/form-data; boundary=boundary'
    const product = '/api/v2/products/p-1'
    const button = /<button [^>]*formaction="([^"]+)">Send as image\/png</
    const [, action = ''] = button.exec((await shop.as.maria('GET', product, html)).text) ?? []
    assert.doesNotMatch((await shop.as.clara('GET', product, html)).text, button, 'she may not send one')
    const put = action.replaceAll('&amp;', '&')
    for (const size of [1, 7, sent.length]) {
      async function* chunks() {
        for (let at = 0; at < sent.length; at += size) yield new Uint8Array(sent.subarray(at, at + size))
      }
      const content = { length: sent.length, bytes: () => new Uint8Array(sent), chunks }
      const stored = await shop.as.maria('POST', put, { ...own, 'content-type': type }, undefined, { content })
      assert.equal(stored.status, 303, stored.text)
      assert.deepEqual(Buffer.from((await shop.as.anyone('GET', `${product}/picture`)).bytes), png)
    }
  })

  it('RFC 2046 §5.1.1 a file replaces nothing if its form, or the field part of it, does not end', async () => {
    const product = '/api/v2/products/p-2'
    const type = 'multipart/form-data; boundary=b'
    const send = async (sent: string) => {
      const to = `${product}/picture?_method=PUT&_type=image%2Fpng`
      const octets = Buffer.from(sent, 'latin1')
      const { status, text } = await shop.as.maria('POST', to, { ...own, 'content-type': type }, octets)
      return [status, /(?<=<p>)The form [^<]+/.exec(text)?.[0]]
    }
    const fields = 'Content-Disposition: form-data; name="file"\r\n\r\n'
    const png = Buffer.from(likePng(Buffer.from('--------first'))).toString('latin1')
    assert.deepEqual(await send(`--b\r\n${fields}${png}\r\n--b--\r\n`), [303, undefined])
    const cut = 'The form is not valid: the package ends before its last boundary.'
    const long = 'The form is not valid: the fields of a part are longer than the limit.'
    const like = 'The form is not valid: a line begins like the boundary but continues.'
    for (const [sent, says] of [
      [`--b\r\n${fields}second and no end`, cut],
      [`--b\r\n${fields}second\r\n--other--\r\n`, cut],
      [`--b\r\n${fields}${png}\r\n--bee, and more of the file\r\n--b--\r\n`, like],
      ['--b\r\nContent-Disposition: form-data; name="file"', cut],
      ['', cut],
      [`--b\r\nX-Long: ${'x'.repeat(9000)}`, long],
    ] as const)
      assert.deepEqual(await send(sent), [400, says], sent.slice(0, 80))
    const { bytes } = await shop.as.anyone('GET', `${product}/picture`)
    assert.equal(Buffer.from(bytes).toString('latin1'), png)
  })

  it('RFC 9110 §8.8.3 a page names its reader, and so does its tag; JSON is the same for both', async () => {
    const tags = async (accept: string) => [
      (await shop.as.clara('GET', '/api/v2/orders/o-7', { accept })).fields['etag'],
      (await shop.as.maria('GET', '/api/v2/orders/o-7', { accept })).fields['etag'],
    ]
    const [clara, maria] = await tags('text/html')
    assert.notEqual(clara, maria)
    const again = await shop.as.clara('GET', '/api/v2/orders/o-7', { ...html, 'if-none-match': clara ?? '' })
    assert.equal(again.status, 304)
    assert.equal(
      (await shop.as.maria('GET', '/api/v2/orders/o-7', { ...html, 'if-none-match': clara ?? '' })).status,
      200,
    )
  })

  it('A1.3 a page that names its reader is for that reader only, and is fetched again after a change', async () => {
    assert.equal(
      (await shop.as.maria('GET', '/api/v2/products/p-1', html)).fields['cache-control'],
      'private, no-cache',
    )
    assert.equal((await shop.as.maria('GET', '/', html)).fields['cache-control'], 'private, no-cache')
    assert.equal(
      (await shop.as.anyone('GET', '/api/v2/products/p-1', html)).fields['cache-control'],
      'public, max-age=60',
    )
  })
})
