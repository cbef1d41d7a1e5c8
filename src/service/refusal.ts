/**
 * Why a call was not carried out: a closed union. Each face has one table from these kinds to its
 * own terms (`rest/refusal.ts`, `soap/refusal.ts`), total at compile time: add a kind and exactly
 * those two stop compiling.
 */
import type { Json } from '../base/objects.ts'
import type { Fault } from '../contract/fault.ts'
import type { FieldProblem } from '../contract/given-fields.ts'

/**
 * For a change: its commit has no reply, but a key shows whether it was made; or it was made
 * outside the store, and the store lost its record of it, including the key.
 */
export type Doubt = 'commit' | 'record'

export type Refusal =
  | { readonly kind: 'not-found' }
  /** The item has been removed, until its identifier is used again. */
  | { readonly kind: 'gone' }
  /** The item has another identifier; or its parent has, and `of` names the parent's resource. */
  | { readonly kind: 'moved'; readonly to: string; readonly of?: string }
  /** Credentials are missing or invalid. */
  | { readonly kind: 'unauthenticated' }
  | { readonly kind: 'forbidden' }
  /** The precondition failed; `version` is the current one, for a caller that may see it. */
  | { readonly kind: 'stale'; readonly version?: number }
  /** The contract demands a precondition, and the call has none. */
  | { readonly kind: 'precondition-required' }
  /** The state does not allow the transition. `possible`: the verbs that it allows this caller. */
  | {
      readonly kind: 'conflict'
      readonly state?: string
      readonly possible?: readonly string[]
      readonly detail?: string
      /** The unique key that another item has: the detail names its fields. */
      readonly taken?: { readonly resource: string; readonly keys: readonly string[] }
    }
  /** Well-formed content that breaks the declared shape or a domain rule. */
  | { readonly kind: 'invalid'; readonly problems: readonly FieldProblem[] }
  /** Content that breaks the syntax of its media type. */
  | { readonly kind: 'malformed'; readonly detail: string; readonly path?: FieldProblem['path'] }
  /** No index serves the list, and the contract refuses such lists. The detail names the cure. */
  | {
      readonly kind: 'unserved'
      readonly field: string
      /** The keys of the index that would serve it. */
      readonly keys: readonly string[]
      readonly detail: string
    }
  | {
      readonly kind: 'declared'
      readonly fault: Fault
      readonly detail: Readonly<Record<string, unknown>>
      /** For a fault of a port: why, and its element if it has one. */
      readonly element?: { readonly reason: string; readonly json?: Json }
    }
  /**
   * The caller is over their limit; `after` and `window` in seconds. Without a window it limits
   * concurrent work.
   */
  | { readonly kind: 'too-many'; readonly after: number; readonly limit: number; readonly window?: number }
  /** A call with the same idempotency key is in progress. */
  | { readonly kind: 'in-flight' }
  /** The idempotency key belongs to another call. */
  | { readonly kind: 'key-reused' }
  /** Its handler has not been written yet (`Unimplemented`). */
  | { readonly kind: 'unimplemented'; readonly operation: string }
  /**
   * The store is busy or unreachable, or there are too many requests; `after` in seconds. The cause
   * is for the operator's log: no face reveals it. With a doubt, the call may have been carried out
   * nevertheless, and a second call would repeat the effect.
   */
  | { readonly kind: 'unavailable'; readonly after: number; readonly cause?: unknown; readonly doubt?: Doubt }

/**
 * Thrown, never returned: it rolls back its transaction. Not an `Error`: it has no stack, and
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

/**
 * A handler has not been written yet. Its call changes nothing, its caller learns only that the
 * operation is not available yet, and the operator's log has the file and the line: unlike a
 * refusal it is an error, whose stack says where the handler is.
 */
export class Unimplemented extends Error {
  override readonly name = 'Unimplemented'
  readonly operation: string
  constructor(operation: string) {
    super(`${operation} is not implemented yet: write its handler`)
    this.operation = operation
  }
}

export function failUnimplemented(operation: string): never {
  throw new Unimplemented(operation)
}
