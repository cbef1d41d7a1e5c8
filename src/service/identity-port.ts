/**
 * The port to the directory of people, keys and certificates. A face finds the credentials; the
 * directory says whose they are.
 */

import type { Maybe } from '../base/maybe.ts'
import type { Caller } from '../contract/policy.ts'

/** What a request says to prove that its sender holds the key of a token (RFC 9449 §4). */
export interface PossessionProof {
  /** The field DPoP: one JWT; empty if the field is absent. */
  readonly jwt: string
  /** Of the request. */
  readonly method: string
  /** Whether this is the address of the request, without its query. */
  readonly isAddress: (address: string) => boolean
  /** DER of the peer's own certificate. */
  readonly certificate?: Uint8Array | undefined
}

/** Each method gives undefined for invalid credentials, without a reason and in the same time. */
export interface Identities {
  /**
   * RFC 6750: a token, as the field has it. `source`: the object that carries it, if that is
   * reused. `certificate`: DER of the peer's own, for tokens that are bound to it (RFC 8705).
   */
  bearer(token: string, source?: object, certificate?: Uint8Array): Maybe<Caller | undefined>
  /**
   * RFC 9449: a token of the scheme DPoP, with the proof that its sender holds the token's key.
   * Absent if no tokens of this scheme are accepted.
   */
  readonly dpop?: (token: string, proof: PossessionProof) => Maybe<Caller | undefined>
  /** The algorithms of such proofs (RFC 9449 §7.1 `algs`); absent like `dpop`. */
  readonly proofAlgorithms?: readonly string[]
  /** RFC 7617, and UsernameToken with PasswordText. `from` is the peer's address, for lockout. */
  password(name: string, password: string, from: string): Maybe<Caller | undefined>
  /**
   * UsernameToken with PasswordDigest: `isMadeOf` says whether a password gives the digest. It is
   * called once, even if the name is unknown.
   */
  digest(name: string, isMadeOf: (password: string) => boolean, from: string): Maybe<Caller | undefined>
  /** The caller with a name that a message has proven, by a trusted key, assertion or ticket. */
  known(name: string): Maybe<Caller | undefined>
  /**
   * The caller of a certificate (DER) with a trusted issuer, whose key the peer has proven to hold.
   */
  certificate(der: Uint8Array): Maybe<Caller | undefined>
  /** An API key, as its field has it. */
  key(key: string): Maybe<Caller | undefined>
  /**
   * The caller according to the host that mounted the service; called first; undefined if unknown.
   */
  readonly hosted?: (carrier: object) => Maybe<Caller | undefined>
  /** Whether there are API keys: a refusal then names their scheme. */
  readonly takesKeys?: () => boolean
  /** The caller of a session cookie; absent if signing in is not possible. */
  readonly cookie?: (value: string) => Maybe<Caller | undefined>
}
