/**
 * The port to whatever knows people, keys and certificates. A face finds the credentials; this says
 * whose they are.
 */

import type { Maybe } from '../base/maybe.ts'
import type { Caller } from '../contract/policy.ts'

/**
 * Each answers undefined for credentials that prove nothing, without saying why and in the same
 * time.
 */
export interface Identities {
  /**
   * RFC 6750: a token, as it stands in the field. `came` is what it came in: the same object when
   * it comes again.
   */
  bearer(token: string, came: object): Maybe<Caller | undefined>
  /** RFC 7617, and UsernameToken with PasswordText. `from` is the peer's address, for lockout. */
  password(name: string, password: string, from: string): Maybe<Caller | undefined>
  /**
   * The password itself, for UsernameToken with PasswordDigest; undefined for whom it is not kept.
   */
  secret(name: string): Maybe<string | undefined>
  /**
   * Who this name is, after a message proved it: the digest held, or a trusted certificate names
   * it.
   */
  known(name: string): Maybe<Caller | undefined>
  /** DER of a certificate whose key the peer has proven to hold and whose issuer is trusted. */
  certificate(der: Uint8Array): Maybe<Caller | undefined>
  /** An API key, as it stands in its field. */
  key(key: string): Maybe<Caller | undefined>
  /** Whether there are API keys: a refusal then names their scheme. */
  readonly takesKeys?: () => boolean
  /** The value of the cookie that signing in gave; absent where nobody can sign in. */
  readonly cookie?: (value: string) => Maybe<Caller | undefined>
}
