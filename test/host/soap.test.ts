/**
 * The SOAP endpoints of a hosted service: which callers are refused, and which address descriptions
 * have.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import { Malformed, parseXml } from '../../src/xml/index.ts'
import { json, sendRequest, startHosted } from './hosted-service.ts'

const envelope = (body: string, header = '') =>
  `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Header>${header}</e:Header><e:Body>${body}</e:Body></e:Envelope>`
const getProduct = '<GetProduct xmlns="urn:diglot:orders:v1"><id>p-1</id></GetProduct>'
const soap = { 'content-type': 'application/soap+xml' }

test('row 5: REST and SOAP are counted together by address; a message beyond the limit gets Busy', async () => {
  const { ask } = await startHosted({ flood: 3, clock: () => 1_000_000 })
  const statuses = [
    (await ask('GET', '/api/v1/products/p-1')).status,
    (await ask('POST', '/soap/v1', soap, envelope(getProduct))).status,
    (await ask('GET', '/soap/v1?wsdl')).status,
  ]
  assert.deepEqual(statuses, [200, 200, 200])
  const over = await ask('POST', '/soap/v1', soap, envelope(getProduct))
  assert.deepEqual([over.status, over.fields['retry-after']], [429, '1'])
  assert.match(over.text, /:Receiver<.*:Busy<.*<retryAfter>1</s)
  const old = await ask('POST', '/soap/v1', { 'content-type': 'text/xml' }, 'not even XML')
  assert.deepEqual([old.status, old.fields['content-type']], [429, 'text/xml; charset=utf-8'])
  assert.equal((await ask('GET', '/soap/v1?wsdl')).status, 429)
  assert.equal((await ask('GET', '/api/v1/products/p-1')).status, 429)
})

test('B5.1 WSS §12 the cause of a refused message is in the log, in one line a second, and not in its fault', async () => {
  let now = 1_000_000
  const { ask, lines } = await startHosted({ clock: () => now })
  const refusals = () => lines.filter(each => each.message === 'message refused').map(each => each.fields)
  const path = '/soap/v1/secure'
  const post = () => ask('POST', path, soap, envelope(getProduct))
  assert.match((await post()).text, /InvalidSecurity/)
  assert.doesNotMatch((await post()).text, /no Security block/)
  await post()
  now += 1000
  await post()
  now -= 86_400_000 // a clock that ran ahead is set back
  await post()
  const about = { from: '127.0.0.1', fault: 'InvalidSecurity', why: 'no Security block' }
  assert.deepEqual(
    refusals().map(({ endpoint, ...rest }) => [String(endpoint).endsWith(path), rest]),
    [
      [true, { ...about, refusals: 1 }],
      [true, { ...about, refusals: 3 }],
      [true, { ...about, refusals: 1 }],
    ],
  )
})

test('B5.3 a message with a nonce is accepted once by the service, and another one after it', async () => {
  const { ask } = await startHosted()
  const protect = () =>
    protectMessage(
      envelope(getProduct),
      { username: { name: 'clara', password: 'clara-secret', kind: 'digest' } },
      Date.now(),
    ).envelope
  const post = async (message: string) => (await ask('POST', '/soap/v1/secure', soap, message)).status
  const first = protect()
  assert.deepEqual([await post(first), await post(first), await post(protect())], [200, 500, 200])
})

test('row 2: exactly one Host', async () => {
  const { server } = await startHosted()
  for (const host of ['me@there.example', 'one.example, two.example'])
    assert.equal((await sendRequest(server.port, 'GET', '/soap/v1?wsdl', { host })).status, 400, host)
})

describe('a trusted proxy names the address of the endpoint', async () => {
  const alone = await startHosted()
  const wsa = 'http://www.w3.org/2005/08/addressing'
  const to = (address: string) =>
    envelope(
      getProduct,
      `<a:To xmlns:a="${wsa}">${address}</a:To><a:Action xmlns:a="${wsa}">urn:diglot:orders:v1/GetProduct</a:Action><a:MessageID xmlns:a="${wsa}">urn:uuid:1</a:MessageID>`,
    )
  const rows = [
    ['forwarded', { forwarded: 'for=192.0.2.1;proto=https;host=shop.example' }],
    [
      'x-forwarded',
      { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' },
    ],
  ] as const
  const known = 'https://shop.example/soap/v1'
  for (const [kind, fields] of rows)
    test(kind, async () => {
      const behind = await startHosted({ insecure: true, settings: { trustProxy: kind } })
      for (const query of ['wsdl', 'wsdl2'])
        assert.ok((await behind.ask('GET', `/soap/v1?${query}`, fields)).text.includes(`"${known}"`), query)
      assert.equal((await behind.ask('POST', '/soap/v1', { ...soap, ...fields }, to(known))).status, 200)
      const elsewhere = await behind.ask('POST', '/soap/v1', { ...soap, ...fields }, to('https://shop.example/soap/v2'))
      assert.match(elsewhere.text, /DestinationUnreachable/)
      assert.ok(!(await alone.ask('GET', '/soap/v1?wsdl', fields)).text.includes('shop.example'), 'not from a stranger')
      assert.match(
        (await alone.ask('POST', '/soap/v1', { ...soap, ...fields }, to(known))).text,
        /DestinationUnreachable/,
      )
    })
})

test('B2.12 B5.1 the WSDL of the secure endpoint, and of no other, states what it requires', async () => {
  const { ask } = await startHosted()
  for (const query of ['wsdl', 'wsdl=1.1', 'wsdl=1.2']) {
    const { text } = await ask('GET', `/soap/v1/secure?${query}`)
    const parsed = parseXml(Buffer.from(text))
    assert.ok(!(parsed instanceof Malformed))
    const ids = [...text.matchAll(/wsu:Id="(\w+)"/g)].map(found => found[1])
    const ways = query === 'wsdl' ? 2 : 1
    assert.equal(text.match(/:PolicyReference [^>]*URI="#MessageSecurity"/g)?.length, ways)
    assert.ok(ids.includes('MessageSecurity') && new Set(ids).size === ids.length, ids.join())
    assert.match(text, /<sp:UsernameToken/)
    for (const path of ['/soap/v1', '/soap/v1/rpc', '/soap/v1/encoded'])
      assert.doesNotMatch((await ask('GET', `${path}?${query}`)).text, /MessageSecurity|securitypolicy/)
  }
})

test('B2.13 Metadata §4.1 both versions of WSDL name the [action]s of the messages', async () => {
  const { ask } = await startHosted()
  const actionsOf = async (query: string) =>
    [...(await ask('GET', `/soap/v1?${query}`)).text.matchAll(/wsam:Action="([^"]*)"/g)]
      .map(([, uri = '']) => uri)
      .toSorted()
  const named = await actionsOf('wsdl2')
  assert.ok(named.includes('urn:diglot:orders:v1/GetProductResponse'))
  assert.deepEqual(named, await actionsOf('wsdl'))
})

test('B9.3 a version pages and sorts by the fields that it knows', async () => {
  const things = resource('things', { fields: { id: t.id('t'), name: t.string(), rank: t.int().optional() } }).rules({
    order: ['rank', 'name'],
    sort: ['rank', 'name'],
    allow: { read: [anyone], create: [anyone] },
  })
  const versions = { v1: { without: { things: ['rank'] } }, v2: {} } as const
  const { ask } = await startHosted(
    {},
    implement(service('things', { namespace: 'urn:x', resources: [things], versions }), {}),
  )
  for (const [i, name] of ['b', 'c', 'a'].entries())
    await ask('POST', '/api/v2/things', json, JSON.stringify({ name, rank: i }))
  const page = async (version: string, more: string): Promise<string> => {
    const list = `<ListThings xmlns="urn:x:${version}"><size>1</size>${more}</ListThings>`
    return (await ask('POST', `/soap/${version}`, soap, envelope(list))).text
  }
  for (const [version, expected] of [
    ['v1', 'abc'],
    ['v2', 'bca'],
  ] as const) {
    let names = ''
    let next: string | undefined = ''
    while (next !== undefined) {
      const found = await page(version, next)
      names += /<name>(.)</.exec(found)?.[1]
      const [, cursor] = /<next>([^<]+)</.exec(found) ?? []
      next = cursor && `<cursor>${cursor}</cursor>`
    }
    assert.equal(names, expected)
  }
  assert.match(await page('v1', '<sort>rank</sort>'), /:Invalid</)
})
