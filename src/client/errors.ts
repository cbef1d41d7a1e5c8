/**
 * How a call can fail, in four classes: the service answered with a fault; what came is no answer; nothing came; it was
 * never sent, for the arguments are not of the contract. Each names its operation, and carries what it was made from.
 */
import type { DetailOf, Fault } from '../contract/fault.ts'
import type { FieldProblem } from '../contract/field-json.ts'
import type { HttpFields } from '../http/message.ts'
import type { Code, Reason } from '../soap/fault.ts'
import type { Element, Name } from '../xml/index.ts'
import type { TransportResponse } from './transport.ts'

export abstract class CallError extends Error {
  /** As in the WSDL: `GetOrder`. */
  readonly operation: string
  constructor(operation: string, detail: string, options?: ErrorOptions) {
    super(`${operation}: ${detail}`, options)
    this.operation = operation
  }
}

/** A fault as it was read, whichever its structure. */
export interface FaultRead {
  /** Undefined where the sender has a vocabulary of its own and no standard code. */
  readonly code: Code | undefined
  /** As they were sent, the outermost first: SOAP 1.2's Value and Subcodes, SOAP 1.1's faultcode. */
  readonly codes: readonly Name[]
  readonly reasons: readonly Reason[]
  /** SOAP 1.1's faultactor. */
  readonly node: string | undefined
  readonly role: string | undefined
  /** What Detail holds. */
  readonly entries: readonly Element[]
  readonly declared: { readonly fault: Fault; readonly detail: unknown } | undefined
}

/** Each of a union of faults by itself, so that `fault` tells them apart. */
export type Faulted<X extends Fault> = X extends Fault ? FaultError<X> & { readonly fault: X['fault'] } : never

/** The service answered with a fault. */
export class FaultError<X extends Fault = Fault> extends CallError {
  override readonly name = 'FaultError'
  /** The name of the declared fault: what Detail holds is its element, and of its schema. */
  readonly fault: X['fault'] | undefined
  /** Of the declared fault; empty where it is none. */
  readonly detail: DetailOf<X>
  readonly code: Code | undefined
  readonly codes: readonly Name[]
  readonly reasons: readonly Reason[]
  readonly node: string | undefined
  readonly role: string | undefined
  readonly entries: readonly Element[]
  /** Of HTTP. */
  readonly status: number
  readonly fields: HttpFields

  constructor(operation: string, read: FaultRead, { status, fields }: TransportResponse) {
    const { declared, ...rest } = read
    super(operation, rest.reasons[0]?.text ?? 'a fault without a reason')
    this.fault = declared?.fault.fault
    this.detail = (declared?.detail ?? {}) as DetailOf<X> // read by the fields of the fault that `fault` names
    this.code = rest.code
    this.codes = rest.codes
    this.reasons = rest.reasons
    this.node = rest.node
    this.role = rest.role
    this.entries = rest.entries
    this.status = status
    this.fields = fields
  }

  /** Whether it is one of these declared faults; `detail` then has its type. */
  is<Y extends readonly Fault[]>(...faults: Y): this is Faulted<Y[number]> {
    return faults.some(each => each.fault === this.fault)
  }
}

/** Why something that came is no answer. */
export type FailureReason =
  /** 3xx: messages are not sent on to where a stranger says. */
  | 'redirect'
  /** A status that is no success, and no fault with it. */
  | 'status'
  /** Nothing, where an answer is declared. */
  | 'empty'
  | 'media-type'
  | 'coding'
  /** A multipart package that does not hold what it must. */
  | 'package'
  /** Not well-formed, cut short, or beyond a limit. */
  | 'malformed'
  /** XML that is no message of SOAP. */
  | 'structure'
  /** A mandatory block for this node that it does not know. */
  | 'not-understood'
  /** WS-Addressing says that it answers another message. */
  | 'uncorrelated'
  /** An answer, to something else. */
  | 'unexpected'
  /** Not of the contract. */
  | 'invalid'

/** Something came that is no answer to this call. The service may have carried it out. */
export class AnswerError extends CallError {
  override readonly name = 'AnswerError'
  readonly why: FailureReason
  readonly status: number
  readonly fields: HttpFields
  /** What came, as it came. */
  readonly content: Uint8Array
  /** Values outside their bounds, each with the path of its element. */
  readonly problems: readonly { readonly path: string; readonly detail: string }[]

  constructor(
    operation: string,
    why: FailureReason,
    detail: string,
    came: TransportResponse,
    problems: AnswerError['problems'] = [],
  ) {
    super(operation, detail)
    this.why = why
    this.status = came.status
    this.fields = came.fields
    this.content = came.content
    this.problems = problems
  }
}

/** Nothing came that could be an answer. */
export class ConnectionError extends CallError {
  override readonly name = 'ConnectionError'
  readonly why: TransportFailure['why']
  /** Whether the service may have carried it out. */
  readonly mayHaveRun: boolean

  constructor(operation: string, { why, detail, mayHaveRun, cause }: TransportFailure) {
    super(operation, detail, cause === undefined ? undefined : { cause })
    this.why = why
    this.mayHaveRun = mayHaveRun
  }
}

/** The arguments are not of the contract; nothing was sent. */
export class InputError extends CallError {
  override readonly name = 'InputError'
  readonly problems: readonly FieldProblem[]

  constructor(operation: string, problems: readonly FieldProblem[]) {
    super(operation, problems.map(({ path, detail }) => `${path.join('.') || 'the input'} ${detail}`).join('; '))
    this.problems = problems
  }
}

/** Why a transport brings no answer. */
export class TransportFailure {
  readonly why: /** No connection came about. */
    | 'unreachable'
    /** The connection ended before the answer did. */
    | 'lost'
    /** Not within the time limit. */
    | 'late'
    /** As many calls are waiting for a connection as may. */
    | 'busy'
    /** The client was closed. */
    | 'closed'
    /** What came is no HTTP, or not certain in its extent. */
    | 'no-http'
    /** Longer than answers may be. */
    | 'too-long'
  readonly detail: string
  readonly mayHaveRun: boolean
  /** Whether an octet of an answer had come. */
  readonly begun: boolean
  readonly cause: unknown

  constructor(
    why: TransportFailure['why'],
    detail: string,
    { mayHaveRun = false, begun = false, cause }: { mayHaveRun?: boolean; begun?: boolean; cause?: unknown } = {},
  ) {
    this.why = why
    this.detail = detail
    this.mayHaveRun = mayHaveRun
    this.begun = begun
    this.cause = cause
  }
}
