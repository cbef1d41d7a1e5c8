/** Random contracts and calls: SQLite and PostgreSQL give the same answers, in the same order. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import fc from 'fast-check'
import { type AnyField, type Fields, t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { startTestService } from '../../src/testing/index.ts'
import { type Database, database, noDatabase } from './database.ts'

const skip = noDatabase()
const seeds = 20

/** Words and characters that collations and word breakers treat in their own ways. */
const words =
  'lamp Lamp LAMP lämp la\u0308mp Straße STRASSE ſ σας ΣΑΣ ﬁre fire İ ı 100% _ a_b a%b x\u0301 😀 e-mail 數 １２ Ⅷ a\u200db don’t \\ " \u2028 \u00a0 ǅ \ufeff \u{10ffff} \ud7ff \ue000 Ω \u2126 ß ẞ ½ ² 가 \u1100\u1161 <b> & + :* ! ( ) | \' a:b'
const text = fc
  .array(fc.constantFrom(...words.split(' '), ' ', '  ', '', 'a', 'b', '.', ','), { maxLength: 5 })
  .map(parts => parts.join(''))
const dates = fc.constantFrom('0001-01-01', '0999-12-28', '1969-12-31', '1970-01-01', '2024-02-29', '9999-12-31')
const times = fc.constantFrom('00:00:00', '01:59:59.5', '12:00:00.50', '23:59:59.123456789', '23:59:59.0')
const zones = fc.constantFrom('Z', '+14:00', '-14:00', '-05:30', '+00:00', '-00:00')
const joined = (...parts: readonly fc.Arbitrary<string>[]) => fc.tuple(...parts).map(all => all.join(''))
const owners = fc.constantFrom('o-1', 'o-2', 'o-3')

/** A field of a kind, and values for it as JSON writes them. */
interface Kind {
  readonly field: AnyField
  /** As a text of JSON: numbers have all their digits. */
  readonly json: fc.Arbitrary<string>
  readonly isCompared: boolean
}
const compared = (field: AnyField, json: fc.Arbitrary<string>): Kind => ({ field, json, isCompared: true })
const other = (field: AnyField, json: fc.Arbitrary<string>): Kind => ({ field, json, isCompared: false })
const quoted = (texts: fc.Arbitrary<string>) => texts.map(each => JSON.stringify(each))
const oneOf = (...texts: readonly string[]) => fc.constantFrom(...texts)

const kinds: Readonly<Record<string, Kind>> = {
  note: compared(t.string({ max: 60 }), quoted(text)),
  flag: compared(t.boolean(), oneOf('true', 'false')),
  count: compared(t.int(), oneOf('0', '-1', '1', '2147483647', '-2147483648')),
  long: compared(t.long(), oneOf('0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808')),
  whole: compared(
    t.long({ xsd: 'integer' }),
    oneOf('0', '-1', `1${'0'.repeat(30)}`, `-1${'0'.repeat(30)}`, '99', '100'),
  ),
  price: compared(t.decimal(8, 2), quoted(oneOf('0.00', '-0.01', '999999.99', '-999999.99', '4.95', '10.00'))),
  exact: compared(
    t.decimal(18, 6),
    quoted(oneOf('0.000000', '-0.000001', '900719925474.099300', '900719925474.099200')),
  ),
  size: compared(
    t.double(),
    oneOf('0', '-0', '1.5', '"NaN"', '"INF"', '"-INF"', '5e-324', '1.7976931348623157e308', '0.1'),
  ),
  day: compared(t.date({ zone: 'optional' }), quoted(joined(dates, fc.oneof(zones, fc.constant(''))))),
  moment: compared(t.dateTime(), quoted(joined(dates, fc.constant('T'), times, zones))),
  hour: compared(t.time(), quoted(joined(times, fc.oneof(zones, fc.constant(''))))),
  term: compared(
    t.duration(),
    quoted(oneOf('P1D', 'PT24H', 'P1M', 'P30D', '-P1Y', 'P12M', 'PT0S', '-PT0S', 'PT0.50S')),
  ),
  grade: compared(t.enum('a', 'B', 'é', 'z', '', ' '), quoted(oneOf('a', 'B', 'é', 'z', '', ' '))),
  owner: compared(t.ref('owners'), quoted(owners)),
  picture: other(t.bytes({ max: 20 }), quoted(oneOf('', 'AA==', 'AQID'))),
  labels: other(
    t.map(t.string()),
    fc.dictionary(oneOf('de', 'en', 'a.b'), text, { maxKeys: 3 }).map(each => JSON.stringify(each)),
  ),
  friends: other(
    t.list(t.ref('owners')),
    fc.array(owners, { maxLength: 3 }).map(each => JSON.stringify(each)),
  ),
}

interface Part extends Kind {
  readonly name: string
  readonly isOptional: boolean
}
const anyParts: fc.Arbitrary<readonly Part[]> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...Object.keys(kinds)), fc.boolean()), {
    ...{ minLength: 2, maxLength: 6 },
    selector: ([name]) => name,
  })
  .map(all => all.map(([name, isOptional]) => ({ name, isOptional, ...kinds[name]! })))

function describeThings(parts: readonly Part[], isUnique: boolean) {
  const fields: Fields = {
    id: t.id('x'),
    ...Object.fromEntries(parts.map(({ name, field, isOptional }) => [name, isOptional ? field.optional() : field])),
  }
  const sortable = parts.filter(({ isCompared }) => isCompared).map(({ name }) => name)
  const search = parts.flatMap(({ name }) => (name === 'note' ? [name] : name === 'owner' ? ['owner.name'] : []))
  const unique = isUnique ? sortable.slice(0, 1).map(name => [name]) : []
  const all = [anyone]
  const rights = { read: all, create: all, change: all, remove: all }
  return service('test', {
    namespace: 'urn:test',
    resources: [
      resource('owners', { fields: { id: t.id('o'), name: t.string() } }).rules({
        ...{ putCreates: true, search: ['name'], allow: rights },
      }),
      resource('things', { fields }).rules({
        one: 'thing',
        putCreates: true,
        bulk: true,
        unserved: 'accept',
        ...({ filter: sortable, sort: sortable, search, unique } as object), // names of random fields
        allow: { ...rights, bulk: all },
      }),
    ],
  })
}

/** A call to both, or the pages of a list, each after the one before. */
type Call =
  | { readonly method: string; readonly path: string; readonly json?: string; readonly type?: string }
  | { readonly list: string }

const put = (path: string, json: string): Call => ({ method: 'PUT', path, json, type: 'application/json' })
const writeThing = (parts: readonly Part[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...parts.map(({ name, json, isOptional }) =>
        fc
          .tuple(isOptional ? fc.boolean() : fc.constant(true), json)
          .map(([has, one]) => (has ? `"${name}":${one}` : '')),
      ),
    )
    .map(members => `{${members.filter(each => each !== '').join()}}`)

function anyQuery(parts: readonly Part[]): fc.Arbitrary<string> {
  const sortable = parts.filter(({ isCompared }) => isCompared)
  const plain = (json: string): string => encodeURIComponent(json.startsWith('"') ? JSON.parse(json) : json)
  const filters = sortable.map(({ name, json }) =>
    fc.oneof(
      fc.tuple(oneOf('eq', 'ne', 'lt', 'lte', 'gt', 'gte'), json).map(([by, one]) => `${name}[${by}]=${plain(one)}`),
      fc.array(json, { minLength: 1, maxLength: 3 }).map(each => `${name}[in]=${each.map(plain).join()}`),
      fc.boolean().map(isAbsent => `${name}[absent]=${isAbsent}`),
    ),
  )
  const orders = fc
    .uniqueArray(fc.constantFrom('', ...sortable.map(({ name }) => name)), { minLength: 1, maxLength: 3 })
    .chain(each => fc.tuple(...each.filter(Boolean).map(name => oneOf(name, `-${name}`))))
    .map(each => (each.length > 0 ? `sort=${each.join()}` : ''))
  const searched = parts.some(({ name }) => name === 'note' || name === 'owner')
  const question = searched
    ? fc.oneof(
        fc.constant(''),
        text.map(each => `q=${encodeURIComponent(each)}`),
      )
    : fc.constant('')
  const sizes = oneOf('size=3', 'size=1', 'size=100', '', 'page=2&size=3')
  return fc
    .tuple(filters.length > 0 ? fc.oneof(fc.constant(''), ...filters) : fc.constant(''), orders, question, sizes)
    .map(all => `/api/things?${all.filter(each => each !== '').join('&')}`)
}

function anyCalls(parts: readonly Part[]): fc.Arbitrary<readonly Call[]> {
  const thing = writeThing(parts)
  const id = fc.integer({ min: 0, max: 15 }).map(number => `/api/things/t-${number}`)
  const changed = fc.oneof(
    fc
      .tuple(id, thing)
      .map(([path, json]): Call => ({ method: 'PATCH', path, json, type: 'application/merge-patch+json' })),
    id.map((path): Call => ({ method: 'DELETE', path })),
    id.map((path): Call => ({ method: 'GET', path })),
  )
  const queries = anyQuery(parts)
  return fc
    .tuple(
      fc.array(thing, { minLength: 16, maxLength: 16 }),
      fc.array(changed, { minLength: 8, maxLength: 8 }),
      fc.array(queries, { minLength: 25, maxLength: 25 }),
    )
    .map(([things, changes, lists]) => [
      ...['lamp Straße', 'ΣΑΣ x', ''].map((name, at) => put(`/api/owners/o-${at + 1}`, JSON.stringify({ name }))),
      ...things.map((json, at) => put(`/api/things/t-${at}`, json)),
      ...changes,
      ...lists.map(list => ({ list })),
      { method: 'GET', path: '/api/things?size=100', type: 'text/csv' },
    ])
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Places in a list are sealed by each service for itself, and incidents have names of their own. */
const comparable = (content: string): string =>
  content.replaceAll(/cursor=[^"&\\<>]+/g, 'cursor=').replaceAll(/"(?:instance|incident)":"[^"]*",?/g, '')

async function answerTo(fetch: Fetch, call: Call): Promise<readonly string[]> {
  if ('list' in call) return listPages(fetch, call.list)
  const { method, path, json, type } = call
  const headers = {
    ...(method === 'GET' && type && { accept: type }),
    ...(json !== undefined && type && { 'content-type': type }),
    ...((method === 'PATCH' || method === 'DELETE') && { 'if-match': '*' }),
    ...(method === 'PUT' && { 'if-none-match': '*' }),
  }
  const response = await fetch(`http://service.test${path}`, {
    method,
    headers,
    ...(json !== undefined && { body: json }),
  })
  return [`${response.status} ${comparable(await response.text())}`]
}

async function listPages(fetch: Fetch, list: string): Promise<readonly string[]> {
  const pages: string[] = []
  let next: string | undefined = list
  while (next !== undefined && pages.length < 20) {
    const response = await fetch(`http://service.test${next}`, { headers: { prefer: 'count=exact' } })
    const content = await response.text()
    pages.push(`${response.status} ${comparable(content)}`)
    next = /"next":\{"href":"([^"]*)"/.exec(content)?.[1]?.replaceAll('\\u0026', '&')
  }
  return pages
}

describe('SQLite and PostgreSQL', { skip }, () => {
  let store: Database
  before(async () => {
    store = await database()
  })
  for (let seed = 1; seed <= seeds; seed++)
    it(`A4.14 A4.23 the same calls have the same answers: contract ${seed}`, async () => {
      const [parts = []] = fc.sample(anyParts, { numRuns: 1, seed })
      const [calls = []] = fc.sample(anyCalls(parts), { numRuns: 1, seed })
      const contract = describeThings(parts, seed % 3 === 0)
      const app = implement(contract, {} as never, {} as never)
      await store.ask('drop schema public cascade')
      await store.ask('create schema public')
      const services = [
        await startTestService(contract, app),
        await startTestService(contract, app, { database: store.url }),
      ]
      try {
        for (const call of calls) {
          const [ours, theirs] = await Promise.all(
            services.map(each => answerTo(each.fetchAs(undefined) as Fetch, call)),
          )
          assert.deepEqual(theirs, ours, JSON.stringify(call))
          assert.doesNotMatch(ours?.join() ?? '', /^5/, JSON.stringify(call))
          for (const each of services) each.clock.advance({ seconds: 1 })
        }
      } finally {
        for (const each of services) await each.close()
      }
    })
})
