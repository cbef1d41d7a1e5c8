/** Jobs: work that takes longer than one request. */

import { grantListKind } from './declaration-kinds.ts'
import type { Fault } from './fault.ts'
import { type Fields, type Singular, singularName } from './field.ts'
import { fieldsKind, requireMemberKinds } from './member-kinds.ts'
import type { Grant } from './policy.ts'
import type { Rate } from './resource.ts'

/**
 * POST answers 202 and creates a job resource; its result is a separate resource (rules A3.1–A3.3).
 */
export interface Job<
  N extends string = string,
  I extends Fields = Fields,
  O extends Fields = Fields,
  One extends string = string,
  X extends readonly Fault[] = readonly Fault[],
  G extends readonly Grant[] = readonly Grant[],
> {
  readonly job: N
  /** The name of one result; the singular of the collection's name by default. */
  readonly one: One
  readonly input: I
  readonly output: O
  /** May end the call that starts it; a run that ends with one fails under its name. */
  readonly faults: X
  /** Without a grant, only handlers start it, with `ctx.after`. */
  readonly allow: G
  readonly limit?: Rate
  /** Tries before the job fails; default 3. */
  readonly tries: number
  /** Seconds that one try may take; default 60. */
  readonly timeLimit: number
  /** Seconds that a finished job and its result are kept; default one day. */
  readonly keep: number
  readonly title?: string
  readonly description?: string
}
/** Whether any client may start it. */
export const isCallable = ({ allow }: Pick<Job, 'allow'>): boolean => allow.length > 0

export type JobState = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
export const jobStates: readonly JobState[] = ['queued', 'running', 'completed', 'failed', 'cancelled']

/** Declares a job: work that takes longer than a response. `allow: []`: only handlers start it. */
export function job<
  const N extends string,
  I extends Fields,
  O extends Fields,
  const One extends string = Singular<N>,
  const X extends readonly Fault[] = readonly [],
  const G extends readonly Grant[] = readonly Grant[],
>(
  name: N,
  declaration: {
    readonly one?: One
    readonly input: I
    readonly output: O
    readonly faults?: X
    readonly allow: G
    readonly limit?: Rate
    readonly tries?: number
    readonly timeLimit?: number
    readonly keep?: number
    /** A few words for people, instead of the name. */
    readonly title?: string
    readonly description?: string
  },
): Job<N, I, O, One, X, G> {
  requireMemberKinds<Pick<Job, 'input' | 'output' | 'allow'>>(`the job ${name}`, declaration, {
    input: fieldsKind,
    output: fieldsKind,
    allow: grantListKind,
  })
  const one = declaration.one ?? (singularName(name) as One) // One's default
  const faults = declaration.faults ?? ([] as unknown as X) // X's default
  return { tries: 3, timeLimit: 60, keep: 86_400, ...declaration, faults, job: name, one }
}
