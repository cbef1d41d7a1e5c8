/**
 * `rest/memory.ts`: which checks a connection that repeats its fields is spared, and which are
 * always made.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { anonymous } from '../../src/contract/policy.ts'
import { openGate } from '../../src/front/gate.ts'
import { refuseAtFront } from '../../src/front/refusal.ts'
import { type LastingCredentials, type LastingFields, selectLasting } from '../../src/http/lasting-fields.ts'
import { createRestFace } from '../../src/rest/face.ts'
import { restLimits } from '../../src/rest/limits.ts'
import { type ItemDocument, type RememberedPage, RestMemory } from '../../src/rest/memory.ts'
import type { HeadRow } from '../../src/rest/plan.ts'
import type { Snapshot } from '../../src/service/store.ts'
import { readAnswer, request, startOrders } from './orders-over-rest.ts'

test('a decision that looks at the clock cannot be remembered', () => {
  const row = { number: 11, of: 'head', question: '', no: [], source: '' } as const
  // @ts-expect-error a row of the head has no clock
  const wrong: HeadRow = { ...row, ask: (_, api) => (api.context.clock() > 0 ? undefined : undefined) }
  // @ts-expect-error nor the moment at which the request came
  const late: HeadRow = { ...row, ask: head => (head.entry.now > 0 ? undefined : undefined) }
  // @ts-expect-error nor the caller
  const known: HeadRow = { ...row, ask: head => (head.caller ? undefined : undefined) }
  // @ts-expect-error nor a field by which nothing is remembered
  const passing: HeadRow = { ...row, ask: head => (head.entry.request.fields['if-none-match'] ? undefined : undefined) }
  assert.ok(wrong && late && known && passing)
})

test('row 11: a version past its sunset is refused on a connection that it has served (A9.1, RFC 8594)', async () => {
  const sunset = '2026-12-01T00:00:00Z'
  const shop = await startOrders({
    app: { ...app, contract: { ...app.contract, versions: { v1: { sunset }, v2: {} } } },
  })
  const asked = request('GET', '/api/v1/products/p-1')
  assert.equal((await readAnswer(await shop.face(asked))).status, 200)
  assert.equal((await readAnswer(await shop.face(asked))).status, 200)
  shop.clock.now = Date.parse(sunset)
  assert.equal((await readAnswer(await shop.face(asked))).status, 410)
})

test('row 5: a flood is refused on a connection that was served before', async () => {
  let isFlooded = false
  const requireUnflooded = (): void => {
    if (isFlooded) refuseAtFront({ kind: 'too-many', after: 1, limit: 1000, window: 1 })
  }
  const shop = await startOrders({ options: { gate: { ...openGate(), requireUnflooded } } })
  const asked = request('GET', '/api/v1/products/p-1')
  assert.equal((await shop.face(asked)).status, 200)
  isFlooded = true
  assert.equal((await shop.face(asked)).status, 429)
})

test('one head serves every identifier, and no other route, method or fields', async () => {
  const shop = await startOrders()
  const first = request('GET', '/api/v1/products/p-1', { accept: 'application/xml' })
  const again = { ...first, target: '/api/v1/products/p-2' }
  const other = { ...first, target: '/api/v1/products' }
  for (const asked of [first, again, other, first, { ...first, method: 'HEAD' }]) {
    const answer = await readAnswer(await shop.face(asked))
    assert.deepEqual([answer.status, answer.fields['content-type']], [200, 'application/xml;charset=utf-8'])
  }
  const json = await readAnswer(await shop.face(request('GET', '/api/v1/products/p-1', { accept: 'application/json' })))
  assert.equal(json.fields['content-type'], 'application/json')
})

test('A4.19 a connection whose tags, names and callers change gets what each request asks for', async () => {
  const shop = await startOrders()
  const path = '/api/v2/orders/o-2'
  type Asked = LastingFields & Partial<LastingCredentials>
  const lastingOf = new Map<string | undefined, LastingFields>() // one object for all callers
  const ask = async (asked: Asked, more: Record<string, string>) => {
    const lasting = lastingOf.get(asked.accept) ?? selectLasting(asked)
    lastingOf.set(asked.accept, lasting)
    const fields = { ...(asked as Record<string, string>), ...more }
    const credentials = asked.authorization === undefined ? undefined : (asked as LastingCredentials)
    return readAnswer(await shop.face({ ...request('GET', path, fields), lasting, credentials }))
  }
  const [clara, alice] = ['clara', 'alice'].map(name => ({ authorization: `Bearer ${name}`, accept: '*/*' }))
  const { etag = '' } = (await ask(clara ?? {}, {})).fields
  const table: readonly (readonly [asked: Asked | undefined, more: Record<string, string>, status: number])[] = [
    [clara, { traceparent: '00-1' }, 200],
    [clara, { 'if-none-match': String(etag) }, 304],
    [clara, { 'if-none-match': '"other"', 'x-request-id': 'r' }, 200],
    [clara, { 'if-match': '"other"' }, 412],
    [clara, { 'if-match': String(etag), prefer: 'handling=lenient' }, 200],
    [alice, { 'if-none-match': '"other"' }, 404],
    [{ accept: '*/*' }, { 'if-none-match': '"other"' }, 401],
    [{ ...clara, accept: 'image/png' }, {}, 406],
    [clara, {}, 200],
  ]
  for (const [asked = {}, more, status] of [...table, ...table])
    assert.equal((await ask(asked, more)).status, status, JSON.stringify({ asked, more }))
})

test('a memory bounded by number drops its oldest entry, and a variant keeps its tag, remembered or not', () => {
  const memory = new RestMemory()
  const tag = memory.variantTag('first')
  for (let i = 0; i < restLimits.variantsKept; i++) memory.variantTag(`variant ${i}`)
  assert.equal(memory.variantTag('first'), tag)
  const octets = new Uint8Array(restLimits.codedOctetsKept / 16)
  for (let i = 0; i < 20; i++) memory.keepCoded(`key ${i}`, octets)
  assert.deepEqual([memory.findCoded('key 0'), memory.findCoded('key 19')], [undefined, octets])
  memory.keepCoded('too large', new Uint8Array(octets.length + 1))
  assert.equal(memory.findCoded('too large'), undefined)
})

test('A9.1 an item is shown under the requested address, whatever address was requested before', async () => {
  const shop = await startOrders()
  for (const path of ['orders/o-2', 'products/p-1', 'orders?size=2', 'products?size=2'])
    for (const base of ['/api/v2', '/api', '/api/v1', '/api', '/api/v2']) {
      const { status, text } = await shop.as.clara('GET', `${base}/${path}`)
      assert.equal(status, 200)
      const hrefs = [...text.matchAll(/"href":"([^"]+)"/g)].map(([, href = '']) => href)
      assert.ok(hrefs.length > 1)
      for (const href of hrefs) assert.equal(/^\/api(?:\/v\d)?/.exec(href)?.[0], base, `${base}/${path}: ${href}`)
    }
})

test('A1.3 only a response without any credentials is shared: a key without a subject sees other links', async () => {
  const shop = await startOrders()
  const identities = {
    ...shop.serving.identities,
    bearer: () => ({ subject: undefined, roles: ['manager'], claims: {} }),
  }
  const face = createRestFace({ ...shop.serving, identities })
  const cacheControl = async (fields: Record<string, string>) =>
    (await face(request('GET', '/api/v2/products/p-1', fields))).fields['cache-control']
  assert.equal(await cacheControl({}), 'public, max-age=60')
  assert.equal(await cacheControl({ authorization: 'Bearer key' }), 'private, max-age=60')
})

const snapshot = (id: string): Snapshot =>
  Object.freeze({ id, version: 1, modified: 0, created: 0, value: {}, kept: {} })
const pageOf = (octets: number, items: readonly Snapshot[] = []): RememberedPage => ({
  of: { items, total: 0, more: { before: false, after: false }, edges: undefined, octets, isCut: false },
  to: anonymous,
  page: { document: { name: '', title: '', fields: {}, value: {}, links: [] }, version: '', text: undefined },
})

test('pages are remembered up to their number, the last requested longest, and no long ones', () => {
  const memory = new RestMemory()
  const fits = pageOf(restLimits.keptPageOctets)
  for (let i = 0; i < restLimits.pagesKept; i++) memory.keepPage(`page ${i}`, fits)
  assert.equal(memory.findPage('page 0'), fits)
  memory.keepPage('page 0', fits)
  memory.keepPage('one more', fits)
  assert.deepEqual(
    [memory.findPage('page 0'), memory.findPage('page 1'), memory.findPage('page 2')],
    [fits, undefined, fits],
  )
  memory.keepPage('long', pageOf(restLimits.keptPageOctets + 1))
  assert.equal(memory.findPage('long'), undefined)
  memory.keepPage('page 2', pageOf(restLimits.keptPageOctets + 1))
  assert.equal(memory.findPage('page 2'), undefined, 'nor what was there before')
})

test('a page whose snapshot is not given again is not remembered', () => {
  const memory = new RestMemory()
  const shared = pageOf(9, [snapshot('t-1'), snapshot('t-2')])
  memory.keepPage('shared', shared)
  memory.keepPage('other', pageOf(9, [snapshot('t-1'), { ...snapshot('t-2') }]))
  assert.deepEqual([memory.findPage('shared'), memory.findPage('other')], [shared, undefined])
})

test('a few documents of one item are remembered, of which the oldest goes first', () => {
  const memory = new RestMemory()
  const item = snapshot('t-1')
  const documents = Array.from({ length: restLimits.documentsKept + 1 }, (_, mask) => ({ mask }) as ItemDocument)
  for (const document of documents) memory.keepDocument(item, document)
  const findAll = (of: Snapshot) => {
    const found: ItemDocument[] = []
    for (let each = memory.lastDocument(of); each; each = each.earlier) found.unshift(each)
    return found
  }
  assert.deepEqual(findAll(item), documents.slice(1))
  assert.deepEqual(findAll(snapshot('t-1')), [], 'another snapshot has its own')
  const alone = { ...snapshot('t-2') }
  memory.keepDocument(alone, documents[0] as ItemDocument)
  assert.deepEqual(findAll(alone), [], 'nor are those of a snapshot that is not given again')
})

test('compressed octets share one bound, and are counted anew once the oldest have gone', () => {
  const memory = new RestMemory()
  const octets = new Uint8Array(restLimits.codedOctetsKept / 16)
  for (let i = 0; i < 100; i++) {
    memory.keepCoded(`key ${i}`, octets)
    const kept = Array.from({ length: i + 1 }, (_, at) => memory.findCoded(`key ${at}`)).filter(Boolean).length
    assert.equal(kept, Math.min(i + 1, 16), `${i}`)
  }
})
