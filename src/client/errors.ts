/**
 * How a call can fail: the reply is a fault or another problem; the response is not a reply to the
 * call; no reply arrived; nothing was sent, because the arguments do not match the contract or the
 * service does not offer the operation; the job that it started has no result. Each error names its
 * operation, and carries what it was made from.
 */
import type { DetailOf, Fault } from '../contract/fault.ts'
import { describeProblems } from '../contract/field-json.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { Values } from '../contract/implement.ts'
import type { HttpFields } from '../http/message.ts'
import type { Code, Reason } from '../soap/fault.ts'
import type { Name } from '../xml/name.ts'
import type { Element } from '../xml/tree.ts'
import type { JobStatus } from './surface-types.ts'
import type { TransportResponse } from './transport.ts'

/** Of node:util, in any realm; other programs print errors as they do. */
const inspected: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** Why a call has no result: the base of every error of a client. */
export abstract class CallError extends Error {
  /** The name in the WSDL, `GetOrder`; of the REST client, `orders.get`. */
  readonly operation: string
  constructor(operation: string, detail: string, options?: ErrorOptions) {
    super(`${operation}: ${detail}`, options)
    this.operation = operation
  }

  /** What a reader of a printed error needs besides its stack. */
  protected describeFacts(): object {
    return {}
  }

  /** Printed if nothing has caught the error; without the elements of the reply. */
  [inspected](_depth: number, _options: object, inspect: (value: unknown) => string): string {
    const facts = this.describeFacts()
    return [
      this.stack ?? this.message,
      ...(Object.keys(facts).length > 0 ? [inspect(facts)] : []),
      ...(this.cause === undefined ? [] : [`[cause]: ${inspect(this.cause)}`]),
    ].join('\n')
  }
}

/** A fault as it was read, in either structure. */
export interface FaultRead {
  /** Undefined where the sender uses codes of its own. */
  readonly code: Code | undefined
  /** As sent, the outermost first: Value and Subcodes of SOAP 1.2, faultcode of SOAP 1.1. */
  readonly codes: readonly Name[]
  readonly reasons: readonly Reason[]
  /** In SOAP 1.1, faultactor. */
  readonly node: string | undefined
  readonly role: string | undefined
  /** The children of Detail. */
  readonly entries: readonly Element[]
  readonly declared: DeclaredRead | undefined
}

/** The detail of a declared fault. */
export interface DeclaredRead {
  readonly fault: Fault
  readonly detail: unknown
  /**
   * All faults that it may be: several may have the same element, and nothing else distinguishes
   * them.
   */
  readonly names?: readonly string[]
}

/** Each member of a union of faults, so that `fault` discriminates them. */
export type Faulted<X extends Fault> = X extends Fault ? FaultError<X> & { readonly fault: X['fault'] } : never

/** The reply is a fault. */
export class FaultError<X extends Fault = Fault> extends CallError {
  override readonly name = 'FaultError'
  /**
   * The name of the declared fault whose element Detail holds, valid by its schema: the first one,
   * if several have this element and neither its `xsi:type` nor the [action] of the message names
   * one.
   */
  readonly fault: X['fault'] | undefined
  /** The names of all declared faults that it may be. */
  readonly faults: readonly X['fault'][]
  /** The detail of the declared fault; empty for another one. */
  readonly detail: DetailOf<X>
  declare readonly code: Code | undefined
  declare readonly codes: readonly Name[]
  declare readonly reasons: readonly Reason[]
  declare readonly node: string | undefined
  declare readonly role: string | undefined
  declare readonly entries: readonly Element[]
  /** Of HTTP. */
  declare readonly status: number
  declare readonly fields: HttpFields

  constructor(operation: string, read: FaultRead, { status, fields }: Omit<TransportResponse, 'content'>) {
    const { declared, ...rest } = read
    super(operation, rest.reasons[0]?.text ?? 'a fault without a reason')
    this.fault = declared?.fault.fault
    this.faults = declared?.names ?? (this.fault === undefined ? [] : [this.fault])
    this.detail = (declared?.detail ?? {}) as DetailOf<X> // read by the fields of the fault that `fault` names
    Object.assign(this, rest, { status, fields })
  }

  protected override describeFacts(): object {
    const { fault, detail, code, status } = this
    return { ...(fault === undefined ? {} : { fault, detail }), ...(code && { code }), status }
  }

  /** Whether it is one of these declared faults; `detail` then has their type. */
  is<Y extends readonly Fault[]>(...faults: Y): this is Faulted<Y[number]> {
    return faults.some(each => each.fault === this.fault)
  }
}

/** A refusal that is not a fault of the contract, as problem details (RFC 9457 §3.1). */
export class ProblemError extends CallError {
  override readonly name = 'ProblemError'
  declare readonly status: number
  /** The kind of problem: an address that explains it. */
  declare readonly type: string
  declare readonly title: string
  declare readonly detail: string | undefined
  /** This occurrence of the problem. */
  declare readonly instance: string | undefined
  /** All members, extensions included (§3.2). */
  declare readonly members: Values
  /** Of HTTP. */
  declare readonly fields: HttpFields

  constructor(operation: string, members: Values, { status, fields }: Omit<TransportResponse, 'content'>) {
    const textOf = (name: string) => (typeof members[name] === 'string' ? members[name] : undefined)
    const title = textOf('title') ?? `status ${status}`
    const detail = textOf('detail')
    super(operation, detail ?? title)
    const type = textOf('type') ?? 'about:blank'
    Object.assign(this, { status, type, title, detail, instance: textOf('instance'), members, fields })
  }
}

/** The item that was read has no link for this operation: nothing was sent. */
export class NotOfferedError extends CallError {
  override readonly name = 'NotOfferedError'
  /** The relations that are offered. */
  readonly offered: readonly string[]

  constructor(operation: string, relation: string, offered: readonly string[]) {
    const links = offered.length === 0 ? 'no links' : `the links ${offered.join(', ')}`
    const advice = 'read it again after a change of state, or use credentials of another caller'
    super(operation, `the link ${relation} is missing, the item has ${links}: ${advice}`)
    this.offered = offered
  }
}

/** A job ended without a result. */
export class JobError extends CallError {
  override readonly name = 'JobError'
  readonly status: JobStatus

  constructor(operation: string, status: JobStatus) {
    super(operation, `the job is ${status.state}${status.failure === undefined ? '' : `: ${status.failure}`}`)
    this.status = status
  }
}

/** Why a response is not a reply to the call. */
export type FailureReason =
  /** 3xx: a message is not sent again to an address that a response names. */
  | 'redirect'
  /** An error status without a fault. */
  | 'status'
  /** No content, although a reply is declared. */
  | 'empty'
  | 'media-type'
  | 'coding'
  /** A multipart package without the parts it must have. */
  | 'package'
  /** Not well-formed, cut short, or beyond a limit. */
  | 'malformed'
  /** XML, but not a SOAP message. */
  | 'structure'
  /** A mandatory block for this node that it does not understand. */
  | 'not-understood'
  /** The contract's security demands a proof that it lacks, or that proves something else. */
  | 'unproven'
  /** According to WS-Addressing, it is the reply to another message. */
  | 'uncorrelated'
  /** The reply of another operation. */
  | 'unexpected'
  /** Not valid according to the contract. */
  | 'invalid'

/** The response is not a reply to this call. The service may have carried the call out. */
export class AnswerError extends CallError {
  override readonly name = 'AnswerError'
  readonly why: FailureReason
  /** What is wrong with it. */
  readonly detail: string
  readonly status: number
  readonly fields: HttpFields
  /** The content, as it arrived. */
  readonly content: Uint8Array
  /** Values that are not valid, each with the path of its element. */
  readonly problems: readonly { readonly path: string; readonly detail: string }[]

  constructor(
    operation: string,
    why: FailureReason,
    detail: string,
    response: TransportResponse,
    problems: AnswerError['problems'] = [],
  ) {
    super(operation, detail)
    this.why = why
    this.detail = detail
    this.status = response.status
    this.fields = response.fields
    this.content = response.content
    this.problems = problems
  }

  protected override describeFacts(): object {
    const { why, status, problems } = this
    return { why, status, ...(problems.length > 0 && { problems }) }
  }
}

/** No reply came. */
export class ConnectionError extends CallError {
  override readonly name = 'ConnectionError'
  readonly why: TransportFailure['why']
  /** Whether the service may have carried the call out. */
  readonly mayHaveRun: boolean

  constructor(operation: string, { why, detail, mayHaveRun, cause }: TransportFailure) {
    super(operation, detail, cause === undefined ? undefined : { cause })
    this.why = why
    this.mayHaveRun = mayHaveRun
  }

  protected override describeFacts(): object {
    const { why, mayHaveRun } = this
    return { why, mayHaveRun }
  }
}

/** The arguments do not match the contract; nothing was sent. */
export class InputError extends CallError {
  override readonly name = 'InputError'
  readonly problems: readonly FieldProblem[]

  constructor(operation: string, problems: readonly FieldProblem[]) {
    super(operation, describeProblems(problems, 'the input'))
    this.problems = problems
  }
}

/** Why a transport has no response. */
export class TransportFailure {
  readonly why: /** No connection could be opened. */
    | 'unreachable'
    /** The connection ended before the response was complete. */
    | 'lost'
    /** The time limit was exceeded. */
    | 'late'
    /** The most calls that may wait for a connection are waiting. */
    | 'busy'
    /** The client was closed. */
    | 'closed'
    /** Not an HTTP response, or one whose end is not certain. */
    | 'no-http'
    /** Longer than the limit. */
    | 'too-long'
  readonly detail: string
  readonly mayHaveRun: boolean
  /** Whether an octet of a response had arrived. */
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
