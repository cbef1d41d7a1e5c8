/** A REST service of an OpenAPI document answered with an error. */
import { CallError } from '../client/errors.ts'

/** What is known of an error besides its reason. */
interface ProblemFacts {
  readonly status: number
  /** The error that the document declares, with its content. */
  readonly declared?: { readonly name: string; readonly detail: unknown } | undefined
  readonly retryAfter?: number | undefined
}

/** A service answered with an error: a declared one has its name and its content. */
export class OpenApiError extends CallError {
  override readonly name = 'OpenApiError'
  /** The status of HTTP. */
  readonly status: number
  /** As the contract names it; undefined: the document does not declare it. */
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
