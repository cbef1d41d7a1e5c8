/** What an absent field stands for: one meaning in both faces, and in all that tells of it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InputError } from '../../src/client/index.ts'
import { fillDefaults } from '../../src/contract/default-values.ts'
import { findContractMistakes } from '../../src/contract/review.ts'
import type { Service } from '../../src/contract/service.ts'
import { writeWsdl11 } from '../../src/describe/wsdl11.ts'
import { anyone, type Draft, implement, job, resource, role, service, t, toStandardSchema } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const clerk = role('clerk')
const caller = { subject: 'clara', roles: ['clerk'] }
const lineField = t.object({ product: t.string(), quantity: t.int().default(1) }, 'Line')

const parcels = resource('parcels', {
  fields: {
    id: t.id('p'),
    weight: t.decimal(5, 2),
    unit: t.enum('kg', 'lb').attribute().default('kg'),
    note: t.string().nullable().default('none'),
    count: t.long().default(7n),
    tags: t.list(t.string()).default(['new']),
    lines: t.list(lineField).optional(),
    opened: t.int().readOnly().default(0),
    gift: t.boolean().default(false),
  },
  states: ['packed', 'sent'],
  actions: on => ({
    send: on('packed').to('sent', {
      rel: 'shipment',
      input: { by: t.string().default('rail'), speed: t.int().optional() },
    }),
  }),
}).rules({
  filter: ['unit', 'gift'],
  sort: ['count'],
  putCreates: true,
  allow: { read: [clerk], create: [clerk], change: [clerk], remove: [clerk], send: [clerk] },
})
const counts = job('counts', {
  allow: [clerk],
  input: { unit: t.enum('kg', 'lb').default('lb') },
  output: { unit: t.string() },
})
const post = service('post', {
  namespace: 'urn:post',
  resources: [parcels],
  jobs: [counts],
  versions: { v1: { without: { parcels: ['gift', 'count'] } }, v2: {} },
})
const drafts: unknown[] = []
const app = implement(
  post,
  {
    parcels: {
      derive: (_ctx, draft) => {
        const whole: { unit: 'kg' | 'lb'; tags: readonly string[]; lines?: readonly { quantity: number }[] } = draft
        drafts.push(whole)
        return {}
      },
      send: (ctx, _parcel, { by, speed }) => {
        const text: string = by
        ctx.log.info('sent', { by: text })
        return { set: { note: `${text} ${speed ?? 'slow'}` } }
      },
    },
    counts: { run: async (_ctx, { unit }) => ({ unit }) },
  },
  { seed: () => ({ items: { parcels: [{ id: 'p-1', state: 'packed', weight: '1.00' }] } }) },
)
const filled = { unit: 'kg', note: 'none', count: 7n, tags: ['new'], opened: 0, gift: false }
const own = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name in filled || name === 'lines'))

describe('a field with a default', () => {
  test('a default is in a new item of either face, in the seed, and in items that handlers create', async () => {
    await using started = await startTestService(post, app)
    const [rest, soap] = [started.rest(caller), started.soap(caller)]
    assert.deepEqual(own(await rest.parcels.get('p-1')), filled, 'the seed')
    const draft: Draft<typeof parcels.types.fields> = {
      weight: '2.00',
      lines: [{ product: 'a' }, { product: 'b', quantity: 3 }],
    }
    const lines = [
      { product: 'a', quantity: 1 },
      { product: 'b', quantity: 3 },
    ]
    assert.deepEqual(own(await rest.parcels.create(draft)), { ...filled, lines })
    assert.deepEqual(drafts.at(-1), { weight: '2.00', ...filled, lines }, 'handlers get it, too')
    assert.deepEqual(own((await soap.CreateParcel({ parcel: draft })).parcel), { ...filled, lines })
    const others = { unit: 'lb', note: null, count: 0n, tags: [], gift: true } as const
    const given = { ...others, weight: '2.00' }
    assert.deepEqual(own(await rest.parcels.create(given)), { ...others, opened: 0 }, 'and only where it is absent')
    assert.deepEqual(own((await soap.CreateParcel({ parcel: given })).parcel), { ...others, opened: 0 })
  })
  test("RFC 9110 §9.3.4 a default returns where a replacement leaves the field out; the server's fields stay", async () => {
    await using started = await startTestService(post, app)
    const [rest, soap] = [started.rest(caller), started.soap(caller)]
    const given = { weight: '2.00', unit: 'lb', count: 1n, gift: true } as const
    const made = await rest.parcels.create(given)
    const replaced = await rest.parcels.replace(made, { weight: '3.00' })
    assert.deepEqual(own(replaced), filled)
    const again = await rest.parcels.replace(replaced, given)
    const { parcel } = await soap.ReplaceParcel({ id: again.id, parcel: { weight: '4.00' } })
    assert.deepEqual(own(parcel), filled)
  })
  test('A4.5 RFC 7396: a patch without the field changes nothing, one with null restores the default', async () => {
    await using started = await startTestService(post, app)
    const rest = started.rest(caller)
    const made = await rest.parcels.create({ weight: '2.00', unit: 'lb', count: 1n, note: 'n' })
    const silent = await rest.parcels.patch(made, { weight: '3.00' })
    assert.deepEqual(own(silent), { ...filled, unit: 'lb', count: 1n, note: 'n' })
    const back = await rest.parcels.patch(silent, { unit: null, note: null })
    assert.deepEqual(own(back), { ...filled, count: 1n })
    const url = `${started.address}/api/v2/parcels/${made.id}`
    const patched = await started.fetchAs(caller)(url, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json-patch+json', 'if-match': '*' },
      body: JSON.stringify([{ op: 'remove', path: '/count' }]),
    })
    assert.equal(((await patched.json()) as { count: number }).count, 7, 'RFC 6902 §4.2')
  })
  test('A9.3 a default replaces a field that a version does not have; a replacement through the version keeps the value', async () => {
    await using started = await startTestService(post, app)
    const [old, now] = [started.rest(caller, { version: 'v1' }), started.rest(caller)]
    const made = await old.parcels.create({ weight: '1.00' })
    assert.deepEqual(own(await now.parcels.get(made.id)), filled)
    await now.parcels.patch(await now.parcels.get(made.id), { count: 9n })
    await old.parcels.replace(await old.parcels.get(made.id), { weight: '2.00', unit: 'lb' })
    assert.deepEqual(own(await now.parcels.get(made.id)), { ...filled, unit: 'lb', count: 9n })
  })
  test('a default is in the input of an action and of a job, in either face', async () => {
    await using started = await startTestService(post, app)
    const [rest, soap] = [started.rest(caller), started.soap(caller)]
    const one = await rest.parcels.create({ weight: '1.00' })
    assert.ok(one.state === 'packed')
    assert.equal((await rest.parcels.send(one)).note, 'rail slow')
    const other = await rest.parcels.create({ weight: '1.00' })
    assert.equal((await soap.SendParcel({ id: other.id })).parcel.note, 'rail slow')
    const other2 = await rest.parcels.create({ weight: '1.00' })
    assert.equal((await soap.SendParcel({ id: other2.id, by: 'air', speed: 2 })).parcel.note, 'air 2')
  })
  test('A4.23 filters and orders find a default like any value', async () => {
    await using started = await startTestService(post, app)
    const rest = started.rest(caller)
    await rest.parcels.create({ weight: '1.00', unit: 'lb' })
    const { items } = await rest.parcels.list({ where: { unit: 'kg' } }).first()
    assert.deepEqual(
      items.map(each => each.id),
      ['p-1'],
    )
  })
  test('a form shows the default, and a client that empties the control gets it', async () => {
    await using started = await startTestService(post, app)
    const ask = started.fetchAs(caller)
    const page = await ask(`${started.address}/api/v2/parcels`, { headers: { accept: 'text/html' } })
    const html = await page.text()
    assert.match(html, /<option value="kg" selected>/)
    assert.match(html, /name="count"[^>]*value="7"/)
    const made = await ask(`${started.address}/api/v2/parcels`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: 'weight=1.00&unit=&count=&gift=true',
    })
    const item = (await made.json()) as Record<string, unknown>
    assert.deepEqual(
      [made.status, item['unit'], item['count'], item['gift'], item['tags']],
      [201, 'kg', 7, true, ['new']],
    )
  })
  test('a wrong value is refused despite the default, by the client and by the service', async () => {
    await using started = await startTestService(post, app)
    const wrong = { weight: '1.00', unit: 'st' } as never
    await assert.rejects(started.rest(caller).parcels.create(wrong), InputError)
    const response = await started.fetchAs(caller)(`${started.address}/api/v2/parcels`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ weight: '1.00', unit: null }),
    })
    assert.equal(response.status, 422)
  })
})

interface DraftSchema {
  readonly required?: readonly string[]
  readonly properties: Readonly<Record<string, { readonly default?: unknown }>>
}

describe('a default is published', () => {
  test('JSON Schema Validation 2020-12 §9.2: a schema states a default only of content whose member may be absent', async () => {
    await using started = await startTestService(post, app)
    const response = await started.fetchAs(caller)(`${started.address}/openapi.json`)
    const { schemas } = ((await response.json()) as { components: { schemas: Record<string, DraftSchema> } }).components
    const [draft, item] = [schemas['v2.ParcelDraft'], schemas['v2.Parcel']]
    assert.deepEqual(draft?.required, ['weight'])
    const defaults = Object.entries(draft?.properties ?? {}).flatMap(([name, each]) =>
      'default' in each ? [[name, each.default]] : [],
    )
    assert.deepEqual(Object.fromEntries(defaults), { unit: 'kg', note: 'none', count: 7, tags: ['new'], gift: false })
    assert.ok(item?.required?.includes('unit') && item.required.includes('opened'))
    assert.doesNotMatch(JSON.stringify(item), /"default"/)
    assert.equal(schemas['v2.LineDraft']?.properties['quantity']?.default, 1)
  })
  test('XML Schema Part 1 §3.2.1, §3.3.1: an attribute has the default, the documentation of an element states it', () => {
    const wsdl = writeWsdl11(post as unknown as Service, 'v2', { address: 'https://post.example/soap/v2' })
    assert.match(wsdl, /<xs:attribute name="unit" type="[^"]*" default="kg"\/>/)
    assert.match(wsdl, /<xs:attribute name="unit" type="[^"]*" use="required"\/>/, 'in a reply')
    assert.match(
      wsdl,
      /<xs:element name="count" type="xs:long" minOccurs="0">\s*<xs:annotation>\s*<xs:documentation>Default if it is left out: 7</,
    )
    assert.doesNotMatch(wsdl, /<xs:element [^>]*default=/)
    assert.doesNotMatch(wsdl, /name="opened"[^/]*Default/, 'the server alone sets it')
  })
})

test('a Standard Schema fills in the default', () => {
  const schema = toStandardSchema(lineField)['~standard']
  assert.deepEqual(schema.validate({ product: 'a' }), { value: { product: 'a', quantity: 1 } })
})

describe('values of any shape are filled with defaults', () => {
  const inner = { a: t.int().default(1), b: t.int().optional() }
  const fields = {
    object: t.object(inner),
    list: t.list(t.list(t.object(inner))),
    map: t.map(t.object(inner)),
    union: t.union('kind', { one: inner, other: { c: t.string() } }),
    maybe: t.object(inner).nullable().optional(),
    whole: t.object({ c: t.int() }).default({ c: 5 }),
  }
  const value = {
    object: { b: 2 },
    list: [[{}, { a: 3 }]],
    map: { x: {}, y: { a: 4 } },
    union: { kind: 'one' },
    maybe: null,
  }
  test('at every depth', () => {
    assert.deepEqual(fillDefaults(fields, value), {
      object: { a: 1, b: 2 },
      list: [[{ a: 1 }, { a: 3 }]],
      map: { x: { a: 1 }, y: { a: 4 } },
      union: { kind: 'one', a: 1 },
      maybe: null,
      whole: { c: 5 },
    })
  })
  test('a value that lacks nothing, or has another shape, stays as it is', () => {
    const plain = { text: t.string() }
    const whole = { text: 'a' }
    assert.equal(fillDefaults(plain, whole), whole)
    const odd = { ...value, object: 5, list: 'x', map: null, union: { kind: 'none' }, whole: { c: 1 } }
    assert.equal(fillDefaults(fields, odd), odd)
  })
})

test('a default that its field cannot have is a mistake in the contract', () => {
  const of = (field: object, more: object = {}) =>
    findContractMistakes(
      implement(
        service('s', {
          namespace: 'urn:s',
          resources: [
            resource('others', { fields: { id: t.id('o') } }).rules({ allow: { read: [anyone] } }),
            resource('items', { fields: { id: t.id('i'), field: field as never } }).rules({
              allow: { read: [anyone] },
            }),
          ],
          ...more,
        }),
        {},
      ),
    ).join('\n')
  assert.equal(of(t.string({ max: 3 }).default('abc')), '')
  assert.match(
    of(t.string({ max: 3 }).default('abcd')),
    /items\.field has a default that .*: give a value that the field accepts/,
  )
  assert.match(of(t.int().default('5' as never)), /items\.field has a default that/)
  assert.match(of(t.ref('others').default('o-1')), /items\.field is an identifier and cannot have a default/)
  assert.match(
    of(t.list(t.int().default(1) as never)),
    /items\.field: an item of a list cannot be absent: remove default\(\)/,
  )
  assert.match(of(t.map(t.int().default(1) as never)), /items\.field: each key of a map .*default\(\)/)
  assert.match(
    of(t.map(t.int(), { key: t.string().default('k') as never })),
    /items\.field: a key of a map .*default\(\)/,
  )
})
