/** One request on its way: each row of the plan records its findings, on which later rows rely. */
import type { Operation } from '../contract/operation.ts'
import { anonymous, type Caller } from '../contract/policy.ts'
import type { Entry } from '../front/entry.ts'
import type { TextMembers } from '../html/text-tree.ts'
import type { Pairs } from '../http/uri.ts'
import type { Admitted, CallHeaders, Calls } from '../service/call.ts'
import type { Outcome } from '../service/outcome.ts'
import type { ApiVersion } from './api-version.ts'
import type { PageForm } from './browse/page-form.ts'
import type { CompiledFace } from './compiled-face.ts'
import type { SelectedItem } from './memory.ts'
import { emptyHead, type FacePage, type HeadDraft, type ParsedHead, type TargetDraft } from './parsed-head.ts'
import { emptyQuery, type ParsedQuery } from './query-parameters.ts'
import type { Route } from './route.ts'

const noParents: readonly string[] = []

export class Exchange implements TargetDraft, HeadDraft {
  readonly face: CompiledFace
  readonly entry: Entry
  /** The row that is currently being asked. */
  row: number
  edition: ApiVersion
  base: string
  place: string
  page: FacePage | undefined = undefined
  route: Route | undefined = undefined
  id: string | undefined = undefined
  parents: readonly string[] = noParents
  allow = ''
  operation: Operation | undefined = undefined
  isSafe = true
  parameters: ParsedQuery = emptyQuery
  applied: Record<string, string> | undefined = undefined
  /** Written only by rows of the head, or remembered from an earlier request. */
  head: ParsedHead = emptyHead
  caller: Caller = anonymous
  admitted: Admitted | undefined = undefined
  /** The criteria of a search sent as content, as parameters of an address that finds the same. */
  criteria: Pairs | undefined = undefined
  shown: SelectedItem | undefined = undefined
  /** The content of a replacement, decoded. */
  received: Uint8Array | undefined = undefined
  /** Present if the request came from a form on a page. */
  form: PageForm | undefined = undefined
  /** The values typed into that form, once the content has been read. */
  typed: TextMembers | undefined = undefined
  /** The outcome of the call, for a page. */
  outcome: Outcome | undefined = undefined
  /** The row that said "no". */
  endedAt = 0
  /** Headers of the contract that have an HTTP field. */
  headers: CallHeaders | undefined = undefined
  /** Header fields that the operation reads: its response may vary by them. */
  headerFields: readonly string[] = []

  constructor(face: CompiledFace, entry: Entry) {
    this.face = face
    this.entry = entry
    this.row = entry.row
    this.edition = face.api.newest
    this.base = face.api.newest.base
    this.place = this.base
  }
}

/** The service as the version of the request sees it. */
export const callsOf = ({ edition, face }: Exchange): Calls =>
  edition.callsOf ? edition.callsOf(face.context.calls) : face.context.calls
