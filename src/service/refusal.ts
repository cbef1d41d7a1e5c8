/**
 * Why a call was not carried out: a closed union. Each face has one table from these kinds to its
 * own words (`rest/refusal.ts`, `soap/refusal.ts`), total at compile time: add a kind and exactly
 * those two stop compiling.
 */
import type { Fault } from '../contract/fault.ts'
import type { FieldProblem } from '../contract/field-json.ts'

export type Refusal =
  | { readonly kind: 'not-found' }
  /** Was here and is not any more, until its identifier is used again. */
  | { readonly kind: 'gone' }
  /** Has another identifier now. */
  | { readonly kind: 'moved'; readonly to: string }
  /** Nobody has said who is asking, or it could not be proven. */
  | { readonly kind: 'unauthenticated' }
  | { readonly kind: 'forbidden' }
  /** The precondition does not hold; `version` is what stands, for those who may see it. */
  | { readonly kind: 'stale'; readonly version?: number }
  /** The contract demands a precondition and there is none. */
  | { readonly kind: 'precondition-required' }
  /**
   * The state does not offer the transition. `possible` are the verbs that it does offer this
   * caller.
   */
  | {
      readonly kind: 'conflict'
      readonly state?: string
      readonly possible?: readonly string[]
      readonly detail?: string
    }
  /** Well-formed content that breaks the declared shape or a domain rule. */
  | { readonly kind: 'invalid'; readonly problems: readonly FieldProblem[] }
  /** Content that is not of its own syntax. */
  | { readonly kind: 'malformed'; readonly detail: string; readonly path?: FieldProblem['path'] }
  | { readonly kind: 'declared'; readonly fault: Fault; readonly detail: Readonly<Record<string, unknown>> }
  /** Over the caller's limit; `after` in seconds. */
  | { readonly kind: 'too-many'; readonly after: number; readonly limit: number; readonly window: number }
  /** The same idempotency key is being worked on right now. */
  | { readonly kind: 'in-flight' }
  /** The idempotency key has been used for something else. */
  | { readonly kind: 'key-reused' }
  /** The store is busy or out of reach, or the service is draining; `after` in seconds. */
  | { readonly kind: 'unavailable'; readonly after: number }

/**
 * Thrown, never returned: inside a transaction it undoes it. Not an `Error`: it keeps no stack, and
 * nothing went wrong.
 */
export class Refused<R extends { readonly kind: string } = Refusal> {
  readonly refusal: R
  constructor(refusal: R) {
    this.refusal = refusal
  }
}

export function refuse(refusal: Refusal): never {
  throw new Refused(refusal)
}
