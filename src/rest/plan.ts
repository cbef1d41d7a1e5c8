/**
 * The order of decisions for one request, as data: the rows are followed one by one, and the
 * development trace, the documentation page and the coverage of edges are printed from them. The
 * order is that of RFC 9110 §13.2.1: whatever can be decided before the content is read comes
 * before 412 and 304; whatever needs the content comes after. Rows 1–9 belong to the front door;
 * rows of the service are checked inside the call's transaction. A row of the target or of the head
 * gets no clock, caller or store, so the findings of a head row may be remembered.
 */
import type { Maybe } from '../base/maybe.ts'
import { type FrontRow, frontRows, groupByMethod } from '../front/front-rows.ts'
import type { Response } from '../http/message.ts'
import type { CompiledApi } from './compiled-face.ts'
import type { Exchange } from './exchange.ts'
import {
  answerOptions,
  checkLength,
  checkMediaType,
  chooseRepresentation,
  findOperation,
  findRoute,
  parseParametersOf,
  preflightOf,
} from './head-rows.ts'
import { admitCaller, identifyCaller, requireServed } from './moment-rows.ts'
import { draftHead, type HeadDraft, type TargetDraft } from './parsed-head.ts'
import type { RefusalKind } from './refusal.ts'

interface RowText {
  readonly number: number
  readonly question: string
  /** Refusals that a "no" becomes. */
  readonly no: readonly RefusalKind[]
  /** Statuses of responses that the row itself gives. */
  readonly answers?: readonly number[]
  readonly source: string
  /**
   * Whether the row may end a request with this method; otherwise it is skipped. Default: any
   * method.
   */
  readonly concerns?: (method: string) => boolean
}
/** Checked on path and query, for each request. */
export type TargetRow = RowText & {
  readonly of: 'target'
  readonly ask: (draft: TargetDraft, api: CompiledApi) => Response | void
}
/** Checked on the fields for an operation; remembered. */
export type HeadRow = RowText & {
  readonly of: 'head'
  readonly ask: (draft: HeadDraft, api: CompiledApi) => Response | void
}
/** Depends on the moment: the answer may differ the next time. */
export type MomentRow = RowText & {
  readonly of: 'moment'
  readonly ask: (exchange: Exchange) => Maybe<Response | void>
}
/** Checked by the service. */
type ServiceRow = RowText & { readonly of: 'service' }
export type DecisionRow = FrontRow | TargetRow | HeadRow | MomentRow | ServiceRow

const isOptions = (method: string): boolean => method === 'OPTIONS'

const ownRows: readonly Exclude<DecisionRow, FrontRow>[] = [
  {
    number: 10,
    of: 'target',
    question: 'Does a route match?',
    no: ['not-found'],
    source: 'RFC 9110 §15.5.5',
    ask: findRoute,
  },
  {
    number: 11,
    of: 'moment',
    question: 'Is the version served?',
    no: ['not-found', 'retired'],
    source: 'RFC 8594, RFC 9745; rule A9.1',
    ask: requireServed,
  },
  {
    number: 12,
    of: 'target',
    question: 'Is it anything but a CORS preflight?',
    no: [],
    answers: [204],
    source: 'Fetch §3.2.2',
    concerns: isOptions,
    ask: preflightOf,
  },
  {
    number: 13,
    of: 'target',
    question: 'Is the method allowed on this target, by the contract alone?',
    no: ['not-allowed'],
    source: 'RFC 9110 §15.5.6',
    ask: findOperation,
  },
  {
    number: 14,
    of: 'target',
    question: 'Are all query parameters known and well-formed?',
    no: ['bad-parameter'],
    source: 'rules A4.23, A4.24; RFC 7240 §4.4',
    ask: parseParametersOf,
  },
  {
    number: 15,
    of: 'moment',
    question: 'Do the credentials prove a caller, where one is needed?',
    no: ['unauthenticated'],
    source: 'RFC 9110 §15.5.2; rule A5.3',
    ask: identifyCaller,
  },
  {
    number: 16,
    of: 'moment',
    question: 'May this caller ever do this, and does the request not come from a page of a foreign origin?',
    no: ['forbidden'],
    source: 'RFC 9110 §15.5.4; rule A5.2',
    ask: admitCaller,
  },
  {
    number: 17,
    of: 'service',
    question: 'Is the caller within the rate of this operation?',
    no: ['too-many'],
    source: 'RFC 6585 §4; rule A8.1',
  },
  {
    number: 18,
    of: 'head',
    question: 'Is the method other than OPTIONS?',
    no: [],
    answers: [204],
    source: 'RFC 9110 §9.3.7; rule A4.9',
    concerns: isOptions,
    ask: answerOptions,
  },
  {
    number: 19,
    of: 'head',
    question: 'Is the content complete, its announced length within the limit, and its coding known?',
    no: ['bad-request', 'too-large', 'unsupported-media-type'],
    source: 'RFC 9110 §14.5, §15.5.14, §8.4; rule A8.3',
    ask: checkLength,
  },
  {
    number: 20,
    of: 'head',
    question: 'Is there a Content-Type that this method accepts here, in a known charset?',
    no: ['unsupported-media-type'],
    source: 'RFC 9110 §15.5.16; rule A4.17',
    ask: checkMediaType,
  },
  {
    number: 21,
    of: 'head',
    question: 'Can Accept and Accept-Encoding be met?',
    no: ['not-acceptable'],
    source: 'RFC 9110 §12.5; rules A1.6, A4.17, A4.18',
    ask: chooseRepresentation,
  },
  {
    number: 22,
    of: 'service',
    question: 'Does the target exist, and may this caller see it and do this now?',
    no: ['not-found', 'gone', 'moved', 'forbidden'],
    source: 'RFC 9110 §15.5.5, §15.5.11, §15.4.2',
  },
  {
    number: 23,
    of: 'service',
    question: 'Do the preconditions hold on the selected representation, and is the range in it?',
    no: ['stale', 'range'],
    answers: [304],
    source: 'RFC 9110 §13.2.2, §14.2; rules A4.3, A4.20',
  },
  {
    number: 24,
    of: 'service',
    question: 'Does a change to an item carry a precondition, where the contract demands one?',
    no: ['precondition-required'],
    source: 'RFC 6585 §3',
  },
  {
    number: 25,
    of: 'service',
    question: 'Is the idempotency key new, or its request the same and done?',
    no: ['in-flight', 'key-reused'],
    source: 'draft-ietf-httpapi-idempotency-key-header §2.6, §2.7',
  },
  {
    number: 26,
    of: 'service',
    question: 'Is the content within the limit, and does it decode and parse?',
    no: ['too-large', 'malformed'],
    source: 'RFC 9110 §15.5.1; rule A7.17',
  },
  {
    number: 27,
    of: 'service',
    question: 'Does the content fit the declared shape?',
    no: ['invalid'],
    source: 'RFC 9110 §15.5.21; rule A7.17',
  },
  {
    number: 28,
    of: 'service',
    question: 'Does the state allow it, and does the domain?',
    no: ['conflict', 'declared', 'unserved'],
    source: 'RFC 9110 §15.5.10; rule A3.4',
  },
  {
    number: 29,
    of: 'service',
    question: 'Was it done, in one transaction, on the version that was compared?',
    no: ['unavailable', 'unimplemented', 'failed'],
    source: 'RFC 9110 §15.6.1, §15.6.2, §15.6.4',
  },
  {
    number: 30,
    of: 'service',
    question: 'What is the outcome?',
    no: [],
    answers: [200, 201, 202, 204, 206],
    source: 'RFC 9110 §15.3',
  },
]

export const decisionRows: readonly DecisionRow[] = [...frontRows, ...ownRows]

/** Kind of refusal → its row, for the service, which checks several rows at once. */
const rowOfKind = new Map<RefusalKind, number>(
  ownRows.flatMap(row => (row.number < 15 ? [] : row.no.map(kind => [kind, row.number]))),
)
const rowOfAdmission = new Map<RefusalKind, number>([
  ['unauthenticated', 15],
  ['forbidden', 16],
  ['too-many', 17],
])
/** @param reached the row that was being asked */
export function rowOfRefusal(kind: RefusalKind, reached: number): number {
  if (reached === 16) return rowOfAdmission.get(kind) ?? reached
  return reached > 21 ? (rowOfKind.get(kind) ?? reached) : reached
}

const planRows = ownRows.filter(row => row.of !== 'service')
const rowsOfMethod = groupByMethod(planRows)

/**
 * Rows 10 to 21; a response ends the exchange here. A row that throws `Refused` said "no". Rows of
 * the head are skipped if their findings are remembered for these fields and this operation.
 */
export function followPlan(exchange: Exchange, from = 0, isHeadKnown = false): Maybe<Response | undefined> {
  const rows = rowsOfMethod.get(exchange.entry.request.method) ?? planRows
  let known = isHeadKnown
  for (let at = from; at < rows.length; at++) {
    const row = rows[at]! // within bounds
    if (known && row.of === 'head') continue
    exchange.row = row.number
    const answer = row.of === 'moment' ? row.ask(exchange) : row.ask(exchange, exchange.face.api)
    if (answer instanceof Promise) return answer.then(response => response ?? followPlan(exchange, at + 1, known))
    if (answer) return answer
    if (row.number === 13) known = recallHead(exchange)
  }
  if (!known) keepHead(exchange)
  exchange.row = 22
  return undefined
}

/** The same fields may arrive with another method, or with content of another length. */
function recallHead(exchange: Exchange): boolean {
  const { operation, face } = exchange
  const { lasting, method, content } = exchange.entry.request
  const known = lasting && operation ? face.memory.findHead(lasting, operation) : undefined
  const isSame = known !== undefined && known.method === method && known.length === content.length
  exchange.head = isSame ? known : draftHead(exchange.entry.request)
  return isSame
}

function keepHead({ operation, face, entry: { request }, head }: Exchange): void {
  if (request.lasting && operation) face.memory.keepHead(request.lasting, operation, head)
}
