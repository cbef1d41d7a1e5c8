/** One face of one release: what its callers send and receive, from any kind of description. */
import type { WireType } from './wire-type.ts'

/** `contract`: what no description of a face tells, such as states and roles. */
export type DescribedFace = 'rest' | 'soap' | 'contract'

export interface ServiceDescription {
  readonly face: DescribedFace
  /** Where it came from, for a reader: a file, an address. */
  readonly source: string
  /** By what a caller names: `GET /api/v1/orders/{}`, `SOAP 1.2 {urn:x}GetOrder`. */
  readonly operations: ReadonlyMap<string, DescribedOperation>
  /** What a `TypeReference` refers to. */
  readonly types: ReadonlyMap<string, WireType>
  /** What could not be read, and so is not compared: one sentence each. */
  readonly remarks?: readonly string[]
}
export interface DescribedOperation {
  readonly inputs: ReadonlyMap<string, DescribedInput>
  readonly outputs: ReadonlyMap<string, DescribedOutput>
  /** What must be the same for a message to arrive: an action, a namespace, a style. */
  readonly facts: ReadonlyMap<string, string>
  /**
   * Ways to reach it, by kind: `access` by these credentials, `state` before it. The loss of one
   * breaks the callers that took it, unless there is one for `anyone`, or `anyone that …`.
   */
  readonly ways: ReadonlyMap<string, readonly string[]>
  /** The same for a member of what it shows or takes: told only where both releases have it. */
  readonly memberWays?: ReadonlyMap<string, MemberWays>
}
export interface MemberWays {
  readonly party: 'readers' | 'writers'
  readonly ways: readonly string[]
}
/** A parameter, a header block, or content; contents in several media types are alternatives. */
export interface DescribedInput {
  readonly type: WireType
  readonly isRequired: boolean
  readonly isAlternative: boolean
}
/** What one outcome holds in one media type, or one of its header fields. */
export interface DescribedOutput {
  readonly type: WireType
  /** `200`; `PaymentDeclined`. */
  readonly outcome: string
  readonly kind: 'content' | 'error' | 'field'
}

/** What a user has to change before a comparison can be made. */
export class DiffImpossible extends Error {}
