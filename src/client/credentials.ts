/** The caller's credentials, as fields of the transport or as blocks of the message. */
import type { Maybe } from '../base/maybe.ts'
import type { Caller } from '../contract/policy.ts'
import { writeBasic } from '../http/authorization.ts'
import type { HttpFields } from '../http/message.ts'

/** How a client proves its caller. */
export type ClientCredentials =
  /**
   * RFC 6750. A function is called for each message; it may return the same token until that
   * expires. In a bridge it receives the caller, and may return a token for that caller.
   */
  | { readonly bearer: string | ((caller?: Caller) => Maybe<string>) }
  /** RFC 7617. */
  | { readonly user: string; readonly password: string }
  /** A key in a field of its own: `api-key`, or this one. */
  | { readonly key: string; readonly field?: string }
  /**
   * WS-Security: a UsernameToken in each message, its password as text or as a digest with a nonce
   * and the time.
   */
  | { readonly username: string; readonly password: string; readonly digest?: boolean }

/** The credentials that are HTTP fields. */
export type HttpCredentials = Exclude<ClientCredentials, { readonly username: string }>

/** The part of a `Protection`: its own module has types of Node, which a page's compiler lacks. */
interface UsernameProtection {
  readonly username: { readonly name: string; readonly password: string; readonly kind: 'text' | 'digest' }
}

export interface CredentialFields {
  /** The same for all calls. */
  readonly fields: HttpFields
  /** For each call. */
  readonly changing: ((caller?: Caller) => Maybe<HttpFields>) | undefined
}

const noCredentials: CredentialFields = { fields: {}, changing: undefined }

/** @throws TypeError for credentials that cannot be written */
export function writeCredentials(
  credentials: ClientCredentials | undefined,
): CredentialFields & { readonly protection?: UsernameProtection } {
  if (!credentials || !('username' in credentials)) return writeHttpCredentials(credentials)
  const { username: name, password, digest = false } = credentials
  return { ...noCredentials, protection: { username: { name, password, kind: digest ? 'digest' : 'text' } } }
}

/** @throws TypeError for credentials that cannot be written */
export function writeHttpCredentials(credentials: HttpCredentials | undefined): CredentialFields {
  if (!credentials) return noCredentials
  if ('user' in credentials) {
    const authorization = writeBasic(credentials)
    if (authorization === undefined)
      throw new TypeError('a user must not contain a colon, and neither part a control character')
    return { ...noCredentials, fields: { authorization } }
  }
  if ('key' in credentials) return { ...noCredentials, fields: { [credentials.field ?? 'api-key']: credentials.key } }
  const { bearer } = credentials
  if (typeof bearer !== 'string' && typeof bearer !== 'function')
    throw new TypeError(
      `credentials have only ${Object.keys(credentials).join(', ') || 'no members'}: give bearer, user and password, key, or username and password`,
    )
  if (typeof bearer === 'string') return { ...noCredentials, fields: { authorization: bearerField(bearer) } }
  return {
    ...noCredentials,
    changing: caller => {
      const token = bearer(caller)
      return typeof token === 'string'
        ? { authorization: bearerField(token) }
        : token.then(each => ({ authorization: bearerField(each) }))
    },
  }
}

const bearerField = (token: string): string => `Bearer ${token}`
