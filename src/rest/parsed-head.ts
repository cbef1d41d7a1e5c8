/**
 * Findings that depend on the head of a request alone. A row of the plan gets one of these views
 * and nothing more: none has a clock, a caller or the store, so the row has the same finding at any
 * time.
 */
import type { Operation } from '../contract/operation.ts'
import type { Entry } from '../front/entry.ts'
import type { LastingFields } from '../http/lasting-fields.ts'
import type { Request } from '../http/message.ts'
import type { ApiVersion } from './api-version.ts'
import type { PageForm } from './browse/page-form.ts'
import type { Offer } from './media-types.ts'
import type { ParsedQuery } from './query-parameters.ts'
import type { Route } from './route.ts'

/** The face's own pages: the entry, the explanations of problems, the order of decisions. */
export type FacePage = 'entry' | 'problem' | 'decisions'

type HeadRequest = Pick<Request, 'method' | 'fields' | 'content'>
/** Only with the fields by which findings may be remembered. */
type LastingRequest = Pick<Request, 'method' | 'content'> & { readonly fields: LastingFields }

/** For rows that look at the target (9 to 14), which are asked for each request. */
export interface TargetDraft {
  readonly entry: Pick<Entry, 'path' | 'query' | 'segments' | 'pairs'> & { readonly request: HeadRequest }
  edition: ApiVersion
  /** The start of the requested address: `/api/v1` or `/api`. */
  base: string
  /** The beginning of the items' addresses: the parent's address, or `base`. */
  place: string
  page: FacePage | undefined
  route: Route | undefined
  /** The identifier in the path, after those of parents. */
  id: string | undefined
  /** The identifiers of the parents, in the order of the path. */
  parents: readonly string[]
  allow: string
  operation: Operation | undefined
  /** Whether the method is safe (RFC 9110 §9.2.1). */
  isSafe: boolean
  parameters: ParsedQuery
  /** The preferences that were honoured, by name. */
  applied: Record<string, string> | undefined
}

/** Findings of rows 19 to 21: the same for each request with these fields for this operation. */
export interface ParsedHead {
  /** The method of the request: other methods accept other content. */
  readonly method: string
  /** The announced length of its content. */
  readonly length: number | undefined
  readonly offer: Offer | undefined
  readonly coding: string
  readonly acceptsIdentity: boolean
  /** The media type of the request's content. */
  readonly mediaType: string
  /** The charset that its type states. */
  readonly charset: string | undefined
  readonly contentCoding: string
  /**
   * Whether the operation accepts content by this method (RFC 9110 §9.3.1: not by GET, even if it
   * does by QUERY).
   */
  readonly acceptsContent: boolean
}

/**
 * For rows that look at fields; remembered for as long as a connection repeats its lasting fields.
 */
export interface HeadDraft {
  readonly entry: { readonly request: LastingRequest }
  readonly edition: ApiVersion
  readonly page: FacePage | undefined
  readonly route: Route | undefined
  readonly allow: string
  readonly operation: Operation | undefined
  readonly form: PageForm | undefined
  readonly isSafe: boolean
  readonly head: { -readonly [K in keyof ParsedHead]: ParsedHead[K] }
}

/** The state before rows 19 to 21. */
export const emptyHead: ParsedHead = {
  method: '',
  length: undefined,
  offer: undefined,
  coding: 'identity',
  acceptsIdentity: true,
  mediaType: '',
  charset: undefined,
  contentCoding: 'identity',
  acceptsContent: false,
}
export const draftHead = ({ method, content }: LastingRequest): ParsedHead => ({
  ...emptyHead,
  method,
  length: content.length,
})
