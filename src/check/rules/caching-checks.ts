/** A4.19: what responses say about caching, each by itself, compared with others, and over time. */
import { setTimeout } from 'node:timers/promises'
import { parseCacheControl } from '../../http/cache.ts'
import { parseDate } from '../../http/date.ts'
import { isEntityTag } from '../../http/entity-tag.ts'
import type { CollectionTarget } from '../discovered-service.ts'
import type { ReadItem } from '../materials.ts'
import type { ProbeExchange, ProbeFields } from '../probe-message.ts'
import type { Trial } from '../trial.ts'

/** How far clocks may differ. */
export const clockMs = 300_000
/** A clock that is wrong by more says nothing about freshness. */
const dayMs = 86_400_000

type FieldFlaw = (fields: ProbeFields) => string | undefined

const dateOf = (fields: ProbeFields, name: string): number | undefined => {
  const text = fields[name]
  return text === undefined ? undefined : parseDate(text)
}
const secondsOf = (text: string | true | undefined): number | undefined =>
  typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : undefined

/** How long current caches may keep a response, in seconds; undefined: it does not say. */
function lifetimeOf(fields: ProbeFields): number | undefined {
  const directives = parseCacheControl(fields['cache-control'] ?? '')
  if (directives['no-store'] !== undefined || directives['no-cache'] === true) return 0
  return secondsOf(directives['max-age'])
}

const fieldFlaws: readonly FieldFlaw[] = [
  // RFC 9110 §8.8.3
  ({ etag }) => (etag === undefined || isEntityTag(etag) ? undefined : `ETag ${etag} is an entity tag in quotes`),
  // §5.6.7; RFC 9111 §5.3: 0 and -1 are in use for expired responses.
  fields => {
    const name = ['date', 'last-modified', 'expires'].find(each => {
      const text = fields[each]
      return text !== undefined && parseDate(text) === undefined && !(each === 'expires' && /^(?:0|-1)$/.test(text))
    })
    return name && `${name} "${fields[name]}" is a date of HTTP`
  },
  // RFC 9111 §5.1
  ({ age }) => (age === undefined || /^\d+$/.test(age) ? undefined : `Age "${age}" is a number of seconds`),
  // RFC 9111 §1.2.2
  fields => {
    const directives = parseCacheControl(fields['cache-control'] ?? '')
    const name = ['max-age', 's-maxage'].find(
      each => directives[each] !== undefined && secondsOf(directives[each]) === undefined,
    )
    return name && `${name} of Cache-Control is a number of seconds`
  },
  // RFC 9110 §8.8.2.1
  fields => {
    const [modified, date] = [dateOf(fields, 'last-modified'), dateOf(fields, 'date')]
    return modified !== undefined && date !== undefined && modified > date
      ? 'Last-Modified is not after Date'
      : undefined
  },
  // RFC 9111 §5.3: HTTP/1.0 caches follow Expires.
  fields => {
    const [expires, date, lifetime] = [dateOf(fields, 'expires'), dateOf(fields, 'date'), lifetimeOf(fields)]
    const isLonger =
      expires !== undefined &&
      date !== undefined &&
      lifetime !== undefined &&
      expires - date > lifetime * 1000 + clockMs
    return isLonger ? `Expires allows no more than Cache-Control: ${fields['cache-control']}` : undefined
  },
  // RFC 9111 §5.2.2.2: such a response may not be used once it is stale.
  fields => {
    const [age, lifetime] = [secondsOf(fields['age']), lifetimeOf(fields)]
    const { 'must-revalidate': must, 'proxy-revalidate': proxyMust } = parseCacheControl(fields['cache-control'] ?? '')
    const isStale = age !== undefined && lifetime !== undefined && age * 1000 > lifetime * 1000 + clockMs
    return isStale && (must ?? proxyMust) !== undefined
      ? `Age ${age} is within max-age, where must-revalidate is given`
      : undefined
  },
  // RFC 9110 §6.6.1; a cache's Date belongs to the response that it stores.
  fields => {
    const date = fields['age'] === undefined ? dateOf(fields, 'date') : undefined
    return date !== undefined && Math.abs(date - Date.now()) > dayMs ? `Date ${fields['date']} is of today` : undefined
  },
]

/** Judges each response to GET and HEAD; one finding for each flaw. */
export function expectSoundFields(trial: Trial): void {
  const reads = trial.bench.exchanges.filter(({ request }) => request.method === 'GET' || request.method === 'HEAD')
  for (const flaw of fieldFlaws) {
    const broken = reads.find(({ fields }) => flaw(fields) !== undefined)
    if (broken) trial.expect(false, String(flaw(broken.fields)), broken)
  }
}

/** RFC 9110 §8.8.1: a strong tag stands for the same octets, regardless of negotiation and time. */
export function expectOneContentByTag(trial: Trial): void {
  const reads = trial.bench.exchanges.filter(
    ({ request, status, fields, reply }) =>
      request.method === 'GET' &&
      status === 200 &&
      reply.isWhole &&
      fields['etag']?.startsWith('"') &&
      // A4.18 compares the responses where a coding is refused.
      (request.fields['accept-encoding'] === undefined || fields['content-encoding'] !== undefined),
  )
  for (const [, [first, ...others]] of Map.groupBy(
    reads,
    ({ request, fields }) => `${request.target} ${fields['etag']}`,
  )) {
    const other = others.find(each => first && Buffer.compare(each.reply.content, first.reply.content) !== 0)
    if (!first || !other) continue
    trial.expect(
      false,
      `the strong entity tag ${first.fields['etag']} of ${first.request.target} has one content`,
      first,
      other,
    )
    return
  }
}

/** After this time, dates differ by their seconds. */
const lookAfterMs = 1100

/** Reads an item from the start of the run twice more: it must have the same validators. */
export async function readItemAgain(trial: Trial, { path, as, read }: ReadItem): Promise<void> {
  const second = await trial.send('GET', path, { as })
  await setTimeout(lookAfterMs)
  const looks = [read, second, await trial.send('GET', path, { as })]
  if (new Set(looks.map(({ text }) => text)).size > 1) return
  const valuesOf = (name: string) => looks.map(({ fields }) => fields[name]).filter(each => each !== undefined)
  // A validator may change once without a change of content (RFC 9110 §8.8.1), but not every time.
  for (const name of ['etag', 'last-modified']) {
    const given = valuesOf(name)
    if (given.length < looks.length) continue
    trial.expect(new Set(given).size < looks.length, `${name} of what has not changed is the same later`, ...looks)
  }
  const dates = valuesOf('age').length > 0 ? [] : valuesOf('date')
  if (dates.length === looks.length && new Set(dates).size === 1) trial.expect(false, 'Date advances', ...looks)
}

/** How often a value that came or went between two requests is checked again. */
const looksMax = 3

/** RFC 9110 §13.1.2: a representation with an entity tag is not sent to a client that has it. */
export async function expectConditionalList(trial: Trial, { path, reader: as }: CollectionTarget): Promise<void> {
  const seen: ProbeExchange[] = []
  for (let look = 0; look < looksMax; look++) {
    const list = await trial.send('GET', path, { as })
    const { etag } = list.fields
    if (list.status !== 200 || etag === undefined) return
    const again = await trial.send('GET', path, { as, fields: { 'if-none-match': etag } })
    seen.push(list, again)
    if (again.status === 304) break
  }
  const isKnown = seen.at(-1)?.status === 304
  trial.expect(isKnown, `${path} is answered 304 to its entity tag`, ...seen.slice(-2))
}

/** A field of requests, two of its values, and what differs in responses if it matters. */
const negotiations = [
  {
    name: 'accept-language',
    values: ['en', 'de'],
    shown: ({ text, fields }: ProbeExchange) => `${fields['content-language']} ${text}`,
  },
  {
    name: 'origin',
    values: ['https://a.example', 'https://b.example'],
    shown: ({ fields }: ProbeExchange) => fields['access-control-allow-origin'] ?? '',
  },
] as const

/**
 * RFC 9110 §12.5.5: Vary names each field with an influence; a third request rules out mere time.
 */
export async function expectVary(trial: Trial, { path, as }: ReadItem): Promise<void> {
  for (const { name, values, shown } of negotiations) {
    const [one, other, again] = [
      await trial.send('GET', path, { as, fields: { [name]: values[0] } }),
      await trial.send('GET', path, { as, fields: { [name]: values[1] } }),
      await trial.send('GET', path, { as, fields: { [name]: values[0] } }),
    ]
    if (shown(one) === shown(other) || shown(one) !== shown(again)) continue
    const isNamed = namesInVary(one.fields).includes(name) || namesInVary(one.fields).includes('*')
    trial.expect(isNamed, `Vary names ${name}, by which responses differ`, one, other)
  }
}

const namesInVary = ({ vary = '' }: ProbeFields): readonly string[] =>
  vary.split(',').map(each => each.trim().toLowerCase())

/** RFC 9111 §3.5: with these a shared cache gives the response to other users while it is fresh. */
export function allowsSharing(fields: ProbeFields): boolean {
  const directives = parseCacheControl(fields['cache-control'] ?? '')
  if (directives['private'] === true || directives['no-store'] !== undefined) return false
  if (directives['public'] !== undefined || directives['s-maxage'] !== undefined) return true
  return directives['must-revalidate'] !== undefined && (lifetimeOf(fields) ?? 0) > 0
}

/** The directives of RFC 9111 §5.2.2 and RFC 8246, which say whether a response may be stored. */
const knownDirectives: readonly string[] = [
  ...['no-store', 'no-cache', 'private', 'public', 'max-age', 's-maxage', 'must-revalidate', 'proxy-revalidate'],
  ...['must-understand', 'immutable'],
]

/** Whether a response explicitly says how it may be stored. */
export const saysCaching = ({ fields }: ProbeExchange): boolean =>
  Object.keys(parseCacheControl(fields['cache-control'] ?? '')).some(each => knownDirectives.includes(each)) ||
  fields['expires'] !== undefined
