/** One face of one release: what its callers send and receive, from a description of any kind. */
import type { WireType } from './wire-type.ts'

/** `contract`: facts that no description of a face states, such as states and roles. */
export type DescribedFace = 'rest' | 'soap' | 'contract'

export interface ServiceDescription {
  readonly face: DescribedFace
  /** Its origin, for a reader: a file, an address. */
  readonly source: string
  /** By the name that a caller uses: `GET /api/v1/orders/{}`, `SOAP 1.2 {urn:x}GetOrder`. */
  readonly operations: ReadonlyMap<string, DescribedOperation>
  /** What a `TypeReference` refers to. */
  readonly types: ReadonlyMap<string, WireType>
  /** What could not be read and is therefore not compared: one sentence each. */
  readonly remarks?: readonly string[]
}
export interface DescribedOperation {
  readonly inputs: ReadonlyMap<string, DescribedInput>
  readonly outputs: ReadonlyMap<string, DescribedOutput>
  /** Facts that must be the same for a message to arrive: an action, a namespace, a style. */
  readonly facts: ReadonlyMap<string, string>
  /**
   * Ways to reach it, by kind: `access` with these credentials, `state` before it. The loss of a
   * way breaks its callers, unless there is one for `anyone`, or `anyone that …`.
   */
  readonly ways: ReadonlyMap<string, readonly string[]>
  /** The same for a member that it shows or accepts: compared only if both releases have it. */
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
/** The content of one outcome in one media type, or one of its header fields. */
export interface DescribedOutput {
  readonly type: WireType
  /** `200`; `PaymentDeclined`. */
  readonly outcome: string
  readonly kind: 'content' | 'error' | 'field'
}

/** Says what a user has to change before a comparison can be made. */
export class DiffImpossible extends Error {}
