/**
 * What came in, interpreted once (rows 1–9). Faces and pages read this, never the request-target or
 * the Host.
 */
import type { Maybe } from '../base/maybe.ts'
import type { Request, Response } from '../http/message.ts'
import type { Pairs } from '../http/uri.ts'
import type { FrontRefusal } from './refusal.ts'

/** Where a request goes: a face, or a page of its own. */
export interface Mount {
  readonly name: MountName
  /** First segments of the paths that it serves. */
  readonly segments: readonly string[]
  /**
   * Not turned away under load (row 3): what operators ask is answered just then; `all`: nor in a
   * flood (row 5).
   */
  readonly exempt?: 'load' | 'all'
  readonly serve: (entry: Entry) => Maybe<Response>
  /** A refusal of rows 1–9 in the words of this mount. */
  readonly refuse: (entry: Entry, refusal: FrontRefusal) => Maybe<Response>
}
/** What the access log and the metrics tell apart. */
export type MountName = 'rest' | 'soap' | 'operations'

/** Written by the rows of the front door alone. */
export interface EntryDraft {
  /** As the client made it: the fields of a trusted proxy are applied. */
  readonly request: Request
  /** Names the request in the audit, in logs and in its answer. */
  readonly id: string
  /** When it came: milliseconds since 1970. */
  readonly now: number
  /** The row that is being asked. */
  row: number
  mount: Mount
  path: string
  query: string
  host: string
  segments: readonly string[]
  pairs: Pairs
}

export interface Entry extends Readonly<EntryDraft> {
  /** The path of the target as it came, still encoded; empty for `OPTIONS *`. */
  readonly path: string
  /** Behind the question mark, as it came. */
  readonly query: string
  /** The authority that was asked (RFC 9110 §7.2): of an absolute target, else the Host. */
  readonly host: string
  /** Of the path, decoded. */
  readonly segments: readonly string[]
  /** Of the query, decoded. */
  readonly pairs: Pairs
}

/** Scheme and authority as the client asked for them. */
export const originOf = ({ request, host }: Entry): string => `${request.scheme}://${host}`

/** Row 9 gives the decoded one; until then this is what the target says, whatever its form. */
export function rawSegmentOf(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
  return /^\/([^/?#]*)/.exec(path)?.[1] ?? ''
}

export const createEntry = (request: Request, id: string, now: number, mount: Mount): EntryDraft => ({
  request,
  id,
  now,
  row: 1,
  mount,
  path: '',
  query: '',
  host: '',
  segments: [],
  pairs: [],
})
