/** The error for a response of a REST service with an OpenAPI document. */
import { CallError } from '../client/errors.ts'

/** What is known about an error apart from its reason. */
interface ProblemFacts {
  readonly status: number
  /** The error that the document declares, with its content. */
  readonly declared?: { readonly name: string; readonly detail: unknown } | undefined
  readonly retryAfter?: number | undefined
}

/** A service responded with an error; a declared error has its name and its content. */
export class OpenApiError extends CallError {
  override readonly name = 'OpenApiError'
  /** The HTTP status. */
  readonly status: number
  /** Its name in the contract; undefined: the document does not declare it. */
  readonly fault: string | undefined
  /** The content of a declared error, valid by its schema. */
  readonly detail: unknown
  /** Seconds after which the client may retry (RFC 9110 §10.2.3), if the service says so. */
  readonly retryAfter: number | undefined

  constructor(operation: string, reason: string, { status, declared, retryAfter }: ProblemFacts) {
    super(operation, reason)
    this.status = status
    this.fault = declared?.name
    this.detail = declared?.detail
    this.retryAfter = retryAfter
  }

  protected override describeFacts(): object {
    const { status, fault, detail, retryAfter } = this
    const waiting = retryAfter === undefined ? {} : { retryAfter }
    return { status, ...waiting, ...(fault === undefined ? {} : { fault, detail }) }
  }
}
