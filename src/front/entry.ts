/**
 * A request, interpreted once (rows 1–9). Faces and pages never read the request-target or Host
 * themselves.
 */
import type { Maybe } from '../base/maybe.ts'
import type { Request, Response } from '../http/message.ts'
import { type Pairs, percentDecode } from '../http/uri.ts'
import type { RequestNotes, Settings } from '../service/face-context.ts'
import type { FrontRefusal } from './refusal.ts'

/** A face, or a group of pages, behind the front door. */
export interface Mount {
  readonly name: MountName
  /** First segments of the paths that it serves. */
  readonly segments: readonly string[]
  /**
   * `load`: not refused under load (row 3), when operators need it most; `all`: not refused in a
   * flood (row 5), either.
   */
  readonly exempt?: 'load' | 'all'
  readonly serve: (entry: Entry) => Maybe<Response>
  /** Writes a refusal of rows 1–9 in the terms of this mount. */
  readonly refuse: (entry: Entry, refusal: FrontRefusal) => Maybe<Response>
}
/** Its name in the access log and the metrics. */
export type MountName = 'rest' | 'soap' | 'operations'

/** Only the rows of the front door write it. */
export interface EntryDraft {
  /** As the client sent it: the fields of a trusted proxy are already applied. */
  readonly request: Request
  /** The request's id in the audit, in logs and in its response. */
  readonly id: string
  /** Time of arrival, in milliseconds since 1970. */
  readonly now: number
  /** The row that is currently being asked. */
  row: number
  readonly mount: Mount
  path: string
  query: string
  host: string
  segments: readonly string[]
  pairs: Pairs
  /** Mounts write to these, too. */
  readonly notes: RequestNotes
}

export interface Entry extends Readonly<EntryDraft> {
  /** The path of the target, still encoded; empty for `OPTIONS *`. */
  readonly path: string
  /** The query, still encoded, without its question mark. */
  readonly query: string
  /** The authority of the target, or else the Host (RFC 9110 §7.2). */
  readonly host: string
  /** Segments of the path, decoded. */
  readonly segments: readonly string[]
  /** Parameters of the query, decoded. */
  readonly pairs: Pairs
}

/** Scheme and authority of the client's request. */
export const originOf = ({ request, host }: Entry): string => `${request.scheme}://${host}`

/** The path in front of all our paths, as clients see it; '' at a root. */
export const prefixOf = ({ publicUrl, prefix = '' }: Pick<Settings, 'publicUrl' | 'prefix'>): string =>
  publicUrl === undefined ? prefix : new URL(publicUrl).pathname.replace(/\/+$/, '')

/** The first segment of a target in any form, decoded as in row 9: it names the mount. */
export function firstSegmentOf(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
  if (!path.startsWith('/')) return ''
  const rest = path.slice(1)
  const end = rest.search(/[/?#]/)
  const segment = end < 0 ? rest : rest.slice(0, end)
  return segment.includes('%') ? (percentDecode(segment) ?? segment) : segment
}

const none: readonly never[] = []

export const createEntry = (request: Request, id: string, now: number, mount: Mount): EntryDraft => ({
  request,
  id,
  now,
  row: 1,
  mount,
  path: '',
  query: '',
  host: '',
  segments: none,
  pairs: none,
  notes: { operation: undefined, subject: undefined, cause: undefined },
})
