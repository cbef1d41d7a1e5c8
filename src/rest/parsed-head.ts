/**
 * What is found out of a request by its head alone. A row of the plan is given one of these views
 * and no more: none of them has a clock, a caller or the store, so what such a row finds is the
 * same whenever it is asked.
 */
import type { Operation } from '../contract/operation.ts'
import type { Entry } from '../front/entry.ts'
import type { Request } from '../http/message.ts'
import type { ApiVersion } from './api-version.ts'
import type { Offer } from './media-types.ts'
import type { ParsedQuery } from './query-parameters.ts'
import type { Route } from './route.ts'

/** The face's own pages: the entry, the explanations of problems, and of the plan. */
export type FacePage = 'entry' | 'problem' | 'decisions'

type HeadRequest = Pick<Request, 'method' | 'fields' | 'content'>

/** Rows that look at the target (9 to 14): written down here, asked of each request. */
export interface TargetDraft {
  readonly entry: Pick<Entry, 'path' | 'query' | 'segments' | 'pairs'> & { readonly request: HeadRequest }
  edition: ApiVersion
  /** Of the addresses that were asked: `/api/v1` or `/api`. */
  base: string
  page: FacePage | undefined
  route: Route | undefined
  /** The identifier in the path. */
  id: string | undefined
  allow: string
  operation: Operation | undefined
  /** Safe methods ask for a representation; HEAD for all but its content. */
  isSafe: boolean
  parameters: ParsedQuery
  /** What of Prefer was honoured. */
  applied: Record<string, string> | undefined
}

/**
 * What content and its negotiation come to (rows 19 to 21): the same for each request with these
 * fields for this operation.
 */
export interface ParsedHead {
  readonly offer: Offer | undefined
  readonly coding: string
  readonly identityTaken: boolean
  /** The media type of the request's content. */
  readonly mediaType: string
  readonly contentCoding: string
  /**
   * The operation takes content by this method (RFC 9110 §9.3.1: GET has none, also where QUERY of
   * the same has).
   */
  readonly acceptsContent: boolean
}

/**
 * Rows that look at fields for an operation: remembered for as long as a connection repeats its
 * fields.
 */
export interface HeadDraft {
  readonly entry: { readonly request: HeadRequest }
  readonly edition: ApiVersion
  readonly page: FacePage | undefined
  readonly route: Route | undefined
  readonly allow: string
  readonly operation: Operation | undefined
  readonly isSafe: boolean
  readonly head: { -readonly [K in keyof ParsedHead]: ParsedHead[K] }
}

/** Before rows 19 to 21 are asked. */
export const emptyHead: ParsedHead = {
  offer: undefined,
  coding: 'identity',
  identityTaken: true,
  mediaType: '',
  contentCoding: 'identity',
  acceptsContent: false,
}
export const draftHead = (): ParsedHead => ({ ...emptyHead })
