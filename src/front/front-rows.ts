/**
 * Rows 1–9 of the order of decisions (RFC 9110 §13.2.1), asked of every request before a mount is
 * chosen. They are data in the form of the rows in `rest/plan.ts`, which appends its own: trace,
 * page and coverage show one table.
 */

import { isToken } from '../http/grammar.ts'
import type { HttpFields, Response } from '../http/message.ts'
import { parseHost, parsePath, parseQuery, parseTarget } from '../http/uri.ts'
import type { EntryDraft } from './entry.ts'
import type { Gate } from './gate.ts'
import { type FrontRefusal, refuseAtFront } from './refusal.ts'

export interface FrontRow {
  readonly number: number
  readonly question: string
  /** The refusals that a "no" may become. */
  readonly no: readonly FrontRefusal['kind'][]
  /** Statuses of responses that the row itself returns. */
  readonly answers?: readonly number[]
  readonly source: string
  readonly of: 'front'
  /** Whether it may end a request of this method; it is skipped for others. Default: any method. */
  readonly concerns?: (method: string) => boolean
  readonly ask: (entry: EntryDraft, gate: Gate) => Response | void
}

/** What the front door accepts of one request. */
export const frontLimits = {
  /** Octets of a request-target (RFC 9110 §4.1 recommends at least 8,000). */
  targetOctets: 8 * 1024,
  /**
   * Octets of all fields together, including names: Node and nginx have defaults of half to four
   * times this.
   */
  fieldOctets: 32 * 1024,
} as const

/** The methods that this server knows, in the order of the Allow field. */
export const knownMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']

/** The value of Allow for these methods: GET implies HEAD, and OPTIONS is always allowed. */
export function writeAllow(methods: Iterable<string>): string {
  const found = new Set(methods)
  if (found.has('GET')) found.add('HEAD')
  found.add('OPTIONS')
  return knownMethods.filter(method => found.has(method)).join(', ')
}

/** For each known method the rows that concern it, selected once. */
export function groupByMethod<R extends Pick<FrontRow, 'concerns'>>(
  rows: readonly R[],
): ReadonlyMap<string, readonly R[]> {
  return new Map(knownMethods.map(method => [method, rows.filter(row => row.concerns?.(method) ?? true)]))
}

export const frontRows: readonly FrontRow[] = [
  {
    number: 1,
    of: 'front',
    question: 'Is the head well-formed: a method that is a token, fields within their limit?',
    no: ['unknown-method', 'fields-too-large'],
    source: 'RFC 9112 §3, RFC 6585 §5',
    ask: requireWellFormed,
  },
  {
    number: 2,
    of: 'front',
    question: 'Is there exactly one Host, and a target in a form that the method and the connection allow?',
    no: ['bad-request', 'misdirected'],
    source: 'RFC 9112 §3.2; RFC 9110 §7.4',
    ask: parseAddress,
  },
  {
    number: 3,
    of: 'front',
    question: 'Is the service not overloaded?',
    no: ['unavailable'],
    source: 'RFC 9110 §15.6.4',
    ask: ({ mount }, gate) => {
      if (mount.exempt === undefined) gate.requireInService()
    },
  },
  {
    number: 4,
    of: 'front',
    question: `Is the target within ${frontLimits.targetOctets} octets?`,
    no: ['target-too-long'],
    source: 'RFC 9110 §15.5.15',
    ask: ({ request }) => {
      if (request.target.length > frontLimits.targetOctets) refuseAtFront({ kind: 'target-too-long' })
    },
  },
  {
    number: 5,
    of: 'front',
    question: 'Is the peer’s address within its rate?',
    no: ['too-many'],
    source: 'RFC 6585 §4',
    ask: ({ mount, request, now }, gate) => {
      if (mount.exempt !== 'all') gate.requireUnflooded(request.from, now)
    },
  },
  {
    number: 6,
    of: 'front',
    question: 'Is the target a resource? (OPTIONS * is about the server; CONNECT is not supported)',
    no: ['not-allowed'],
    answers: [204],
    source: 'RFC 9110 §9.3.6, §9.3.7',
    concerns: method => !knownMethods.includes(method) || method === 'OPTIONS',
    ask: requireResource,
  },
  {
    number: 7,
    of: 'front',
    question: 'Does the server know the method? (TRACE is known, and no target supports it: row 13)',
    no: ['unknown-method'],
    source: 'RFC 9110 §15.6.2',
    concerns: method => !knownMethods.includes(method),
    ask: ({ request }) => {
      if (request.method !== 'TRACE') refuseAtFront({ kind: 'unknown-method' })
    },
  },
  {
    number: 8,
    of: 'front',
    question: 'Is Expect absent or 100-continue?',
    no: ['expectation-failed'],
    source: 'RFC 9110 §10.1.1',
    ask: ({ request }) => {
      const expect = request.fields['expect']
      if (expect !== undefined && expect.toLowerCase() !== '100-continue') refuseAtFront({ kind: 'expectation-failed' })
    },
  },
  {
    number: 9,
    of: 'front',
    question: 'Can path and query be decoded, and is the path normalized?',
    no: ['bad-request'],
    source: 'RFC 3986 §2.1, §6.2.2',
    ask: decodeTarget,
  },
]

/** For an unknown method, all rows. */
export const frontRowsOfMethod = groupByMethod(frontRows)

function countOctets(fields: HttpFields): number {
  let octets = 0
  for (const name in fields) octets += name.length + (fields[name]?.length ?? 0) + 4
  return octets
}

function requireWellFormed({ request: { method, fields, fieldOctets = countOctets(fields) } }: EntryDraft): void {
  if (!knownMethods.includes(method) && !isToken(method)) refuseAtFront({ kind: 'unknown-method' })
  if (fieldOctets > frontLimits.fieldOctets) refuseAtFront({ kind: 'fields-too-large' })
}

/**
 * RFC 9112 §3.2: HTTP/1.1 has one Host, HTTP/1.0 may have none. The host of an absolute target wins
 * over the field (§3.2.2).
 */
function parseAddress(entry: EntryDraft): void {
  const { method, target, fields, version, scheme } = entry.request
  const host = fields['host']
  if (host === undefined ? version !== '1.0' : !parseHost(host))
    refuseAtFront({ kind: 'bad-request', detail: 'Host is missing, repeated or invalid: send exactly one' })
  const found = parseTarget(method, target)
  if (!found) refuseAtFront({ kind: 'bad-request', detail: 'the request-target is invalid (RFC 9112 §3.2)' })
  entry.host = host ?? 'localhost'
  if (found.form === 'absolute') {
    if (found.scheme === 'https' && scheme !== 'https') refuseAtFront({ kind: 'misdirected' })
    const { name, port } = found.host
    entry.host = port === undefined ? name : `${name}:${port}`
  }
  if (!('path' in found)) return
  entry.path = found.path
  entry.query = found.query ?? ''
}

const everyMethod = writeAllow(knownMethods)
function requireResource({ request: { method, target } }: EntryDraft): Response | undefined {
  if (method === 'CONNECT') refuseAtFront({ kind: 'not-allowed', allow: everyMethod })
  return target === '*' ? { status: 204, fields: { allow: everyMethod, 'cache-control': 'no-store' } } : undefined
}

function decodeTarget(entry: EntryDraft): void {
  const path = parsePath(entry.path)
  const pairs = entry.query === '' ? entry.pairs : parseQuery(entry.query)
  if (!path || !pairs)
    refuseAtFront({ kind: 'bad-request', detail: 'the request-target cannot be decoded: percent-encode it as UTF-8' })
  if (!path.clean) refuseAtFront({ kind: 'bad-request', detail: 'the path contains dot segments or empty segments' })
  entry.segments = path.segments
  entry.pairs = pairs
}
