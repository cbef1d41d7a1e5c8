/** A map: values by keys that the contract does not know, the same in both faces and in the store. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Implementation, implement, resource, role, service, t } from 'diglot'
import { startTestService, type TestService } from 'diglot/testing'
import fc from 'fast-check'
import { readFields, valueWriter } from '../../src/contract/field-json.ts'
import type { FieldProblem } from '../../src/contract/given-fields.ts'
import { findContractMistakes } from '../../src/contract/review.ts'
import { findContractWarnings } from '../../src/contract/review-warnings.ts'
import type { Service } from '../../src/contract/service.ts'
import { checkValue, findReferences } from '../../src/contract/typed-value.ts'

const clerk = role('clerk')
const makers = resource('makers', { fields: { id: t.id('m'), name: t.string() } }).rules({
  allow: { read: [clerk], create: [clerk] },
})
const things = resource('things', {
  fields: {
    id: t.id('t'),
    titles: t.map(t.string({ min: 1 }), { key: t.string({ pattern: '[a-z]{2}' }), min: 1, max: 3 }),
    counts: t.map(t.long()).optional(),
    sizes: t.map(t.decimal(5, 2).nullable(), { key: t.enum('inner', 'outer') }).optional(),
    parts: t.map(t.object({ name: t.string(), made: t.date().optional() }, 'Part')).optional(),
    makers: t.map(t.ref('makers')).optional(),
  },
  actions: on => ({ retitle: on().stay({ rel: 'retitling', input: { titles: t.map(t.string(), { max: 3 }) } }) }),
}).rules({
  precondition: false,
  allow: { read: [clerk], create: [clerk], change: [clerk], remove: [clerk], retitle: [clerk] },
})
const shop = service('maps', { namespace: 'urn:maps', resources: [things, makers] })
const app: Implementation = implement(shop, {
  things: { retitle: (_ctx, _thing, { titles }) => ({ set: { titles } }) },
})
const caller = { subject: 'carl', roles: ['clerk'] }

const start = (): Promise<TestService<typeof shop>> => startTestService(shop, app)
const full = {
  titles: { de: 'Ding', en: 'thing' },
  counts: { __proto__x: 1n, constructor: 2n ** 60n, '': -1n, 'a b <&>': 0n },
  sizes: { outer: '1.50', inner: null },
  parts: { left: { name: 'arm', made: '2026-01-05' }, right: { name: 'leg' } },
}

test('A2.1 both clients send and receive the same map, with keys that cannot be names of objects or elements', async () => {
  await using running = await start()
  const [rest, soap] = [running.rest(caller), running.soap(caller)]
  const counts = Object.fromEntries([...Object.entries(full.counts), ['__proto__', 5n]])
  const made = await rest.things.create({ ...full, counts })
  const seen = await soap.things.get(made.id)
  assert.deepEqual({ ...seen }.counts, counts)
  assert.deepEqual(seen.titles, full.titles)
  assert.deepEqual(seen.sizes, full.sizes)
  assert.deepEqual(seen.parts, full.parts)
  const other = await soap.things.create({ ...full, counts })
  const { id: _one, ...first } = await rest.things.get(made.id)
  const { id: _other, ...second } = await rest.things.get(other.id)
  assert.deepEqual(JSON.stringify(second, plain), JSON.stringify(first, plain))
  await soap.RetitleThing({ id: made.id, titles: { fr: 'chose' } })
  assert.deepEqual((await rest.things.get(made.id)).titles, { fr: 'chose' })
})
const plain = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value)

const send = async (running: TestService<typeof shop>, method: string, path: string, type: string, body: string) => {
  const answer = await running.fetchAs(caller)(`${running.address}/api/v1${path}`, {
    method,
    headers: { 'content-type': type, accept: type === 'application/xml' ? type : 'application/json' },
    body,
  })
  return { status: answer.status, text: await answer.text() }
}

test('RFC 7396 a patch sets and removes single keys; RFC 6902 a path leads to a key', async () => {
  await using running = await start()
  const { id } = await running.rest(caller).things.create(full)
  const merge = { titles: { de: null, it: 'cosa' }, parts: { right: { made: '2026-02-01' } } }
  const merged = await send(running, 'PATCH', `/things/${id}`, 'application/merge-patch+json', JSON.stringify(merge))
  assert.equal(merged.status, 200, merged.text)
  const thing = JSON.parse(merged.text)
  assert.deepEqual(thing.titles, { en: 'thing', it: 'cosa' })
  assert.deepEqual(thing.parts.right, { name: 'leg', made: '2026-02-01' })
  const patch = JSON.stringify([{ op: 'replace', path: '/titles/it', value: 'roba' }])
  const patched = await send(running, 'PATCH', `/things/${id}`, 'application/json-patch+json', patch)
  assert.equal(JSON.parse(patched.text).titles.it, 'roba')
})

test('A4.9 XML has an entry for each key, in both directions', async () => {
  await using running = await start()
  const document = `<thing xmlns="urn:maps:v1"><titles><entry><key>de</key><value>Ding</value></entry></titles><counts/></thing>`
  const made = await send(running, 'POST', '/things', 'application/xml', document)
  assert.equal(made.status, 201, made.text)
  assert.match(made.text, /<titles><entry><key>de<\/key><value>Ding<\/value><\/entry><\/titles><counts><\/counts>/)
})

const wrong: readonly (readonly [what: string, content: object, path: string, detail: RegExp])[] = [
  ['no object', { titles: [] }, '/titles', /must be an object: a value for each key/],
  ['null', { titles: null }, '/titles', /must not be null/],
  ['a key outside its facets', { titles: { DE: 'x' } }, '/titles/DE', /has a key that must match/],
  ['a value outside its facets', { titles: { de: '' } }, '/titles/de', /must not be empty/],
  ['a value of another type', { titles: { de: 5 } }, '/titles/de', /must be (a )?text|string/],
  ['too few entries', { titles: {} }, '/titles', /must not be empty/],
  ['too many entries', { titles: { aa: 'x', bb: 'x', cc: 'x', dd: 'x' } }, '/titles', /at most 3 entries/],
  ['a key that is not listed', { ...full, sizes: { middle: '1.00' } }, '/sizes/middle', /has a key that/],
  ['a null that is not allowed', { ...full, counts: { a: null } }, '/counts/a', /must not be null/],
  ['a member of a value', { ...full, parts: { a: { nam: 'x' } } }, '/parts/a/nam', /is not a known member/],
  ['a reference that leads nowhere', { ...full, makers: { a: 'm-none' } }, '/makers/a', /./],
]
for (const [what, content, pointer, detail] of wrong)
  test(`A2.5 a map is refused with its place: ${what}`, async () => {
    await using running = await start()
    const answer = await send(
      running,
      'POST',
      '/things',
      'application/json',
      JSON.stringify(content, plain).replace(/"(-?\d+)n"/g, '$1'),
    )
    assert.equal(answer.status, 422, answer.text)
    const { errors } = JSON.parse(answer.text) as { errors: readonly { pointer: string; detail: string }[] }
    const found = errors.find(each => each.pointer.replace('#', '') === pointer)
    assert.match(found?.detail ?? JSON.stringify(errors), detail)
  })

const entry = (key: string, value: string): string => `<entry><key>${key}</key><value>${value}</value></entry>`
const twice = entry('de', 'a') + entry('de', 'b')
for (const [what, xml] of [
  ['a key that occurs twice', twice],
  ['an entry without a value', '<entry><key>de</key></entry>'],
  ['an entry without a key', '<entry><value>x</value></entry>'],
  ['an element that is not an entry', '<item><key>de</key><value>x</value></item>'],
  ['an entry with an extra member', '<entry><key>de</key><value>x</value><more/></entry>'],
] as const) {
  test(`A2.5 entries in XML are refused: ${what}`, async () => {
    await using running = await start()
    const document = `<thing xmlns="urn:maps:v1"><titles>${xml}</titles></thing>`
    const answer = await send(running, 'POST', '/things', 'application/xml', document)
    assert.equal(answer.status, 422, answer.text)
  })
  test(`B1.6 entries in a message are refused: ${what}`, async () => {
    await using running = await start()
    const body = `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><CreateThing xmlns="urn:maps:v1"><thing><titles>${xml}</titles></thing></CreateThing></Body></Envelope>`
    const answer = await running.fetchAs(caller)(`${running.address}/soap/v1`, {
      method: 'POST',
      headers: { 'content-type': 'text/xml', soapaction: '""' },
      body,
    })
    assert.equal(answer.status, 500)
    assert.match(await answer.text(), /titles/)
  })
}

test('a form has a row for each entry, and shows a problem in the row of its key', async () => {
  await using running = await start()
  const { id } = await running.rest(caller).things.create({ titles: { de: 'Ding' } })
  const post = async (fields: Readonly<Record<string, string>>): Promise<{ status: number; text: string }> => {
    const answer = await running.fetchAs(caller)(`${running.address}/api/v1/things/${id}?_method=PUT`, {
      method: 'POST',
      redirect: 'manual',
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', origin: running.address },
      body: new URLSearchParams(fields).toString(),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const row = (at: number, key: string, value: string) => ({
    [`titles[${at}][key]`]: key,
    [`titles[${at}][value]`]: value,
  })
  assert.equal((await post({ ...row(0, 'de', 'Sache'), ...row(1, 'en', 'item'), ...row(2, '', '') })).status, 303)
  assert.deepEqual((await running.rest(caller).things.get(id)).titles, { de: 'Sache', en: 'item' })
  const refused = await post({ ...row(0, 'de', 'Sache'), ...row(1, 'EN', 'item') })
  assert.equal(refused.status, 422)
  const marked = /<input [^>]*name="titles\[1\]\[value\]"[^>]*>/.exec(refused.text)?.[0] ?? ''
  assert.match(marked, /aria-invalid="true"/)
  assert.equal((await post({ ...row(0, 'de', 'a'), ...row(1, 'de', 'b') })).status, 422)
})

test('a map in JSON is read as it was written, whatever its keys', () => {
  const fields = { map: t.map(t.map(t.double(), { max: Number.POSITIVE_INFINITY })) }
  const write = valueWriter(t.object(fields))
  const keys = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', '0', '-1', 'key', 'value'))
  const number = fc.double({ noNaN: true, noDefaultInfinity: true })
  const maps = fc.dictionary(keys, fc.dictionary(keys, number, { maxKeys: 4 }), { maxKeys: 4, noNullPrototype: true })
  fc.assert(
    fc.property(maps, map => {
      const problems: FieldProblem[] = []
      const read = readFields(fields, JSON.parse(write({ map })), problems)
      assert.deepEqual(problems, [])
      assert.deepEqual(JSON.stringify(read['map']), JSON.stringify(map))
      assert.deepEqual(checkValue(fields, read), [])
    }),
  )
})

test('A2.3 references in a map are found along with their keys', () => {
  const fields = { by: t.map(t.ref('makers')), deep: t.map(t.list(t.object({ of: t.ref('towns') }))) }
  const found = findReferences(fields, { by: { a: 'm-1' }, deep: { x: [{ of: 't-1' }] } })
  assert.deepEqual(
    found.map(({ resource, id, path }) => [resource, id, path.join('.')]),
    [
      ['makers', 'm-1', 'by.a'],
      ['towns', 't-1', 'deep.x.0.of'],
    ],
  )
})

const mistakes: readonly (readonly [field: ReturnType<typeof t.map>, mistake: RegExp])[] = [
  [t.map(t.int(), { key: t.date() as never }), /a key of a map is text: give t\.string\(\) or t\.enum\(\)/],
  [t.map(t.int(), { key: t.string().nullable() as never }), /a key of a map is text/],
  [t.map(t.int().optional() as never), /each key of a map has a value: remove optional\(\)/],
  [t.map(t.int(), { min: 3, max: 2 }), /min|bound/],
  [t.map(t.ref('nobodies')), /nobodies/],
]
for (const [field, mistake] of mistakes)
  test(`a mistake in a map prevents the start: ${mistake.source}`, () => {
    const all = resource('all', { fields: { id: t.id('a'), map: field } }).rules({ allow: {} })
    const found = findContractMistakes(implement(service('s', { namespace: 'urn:s', resources: [all] }), {}))
    assert.match(found.join('\n'), mistake)
  })
test('t.map accepts a field as its value', () => {
  assert.throws(() => t.map({ de: t.string() } as never), /t\.map\(value\): value must be a field/)
  assert.throws(() => t.map(t.int(), { key: 'text' as never }), /t\.map\(value\): key must be a field/)
})
test('the path of a search cannot lead through the keys of a map', () => {
  const all = resource('all', { fields: { id: t.id('a'), map: t.map(t.string()) } }).rules({
    search: ['map' as never],
    allow: {},
  })
  const found = findContractMistakes(implement(service('s', { namespace: 'urn:s', resources: [all] }), {}))
  assert.match(found.join('\n'), /search "map" does not lead to text/)
})
test('the log warns at start of a map without max', () => {
  const found = findContractWarnings(shop as unknown as Service).join('\n')
  assert.match(found, /things\.counts has no max, so it holds at most 1000 entries/)
  assert.doesNotMatch(found, /titles/)
})
