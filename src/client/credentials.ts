/** Who is asking, as the transport says it, or as the message does. */
import type { Maybe } from '../base/maybe.ts'
import { writeBasic } from '../http/authorization.ts'
import type { HttpFields } from '../http/message.ts'
import type { Protection } from '../security/protect/protect.ts'

export type ClientCredentials =
  /** RFC 6750. A function is asked for each call: it may hand out a token until that expires. */
  | { readonly bearer: string | (() => Maybe<string>) }
  /** RFC 7617. */
  | { readonly user: string; readonly password: string }
  /** A key in a field of its own; `api-key` unless it says otherwise. */
  | { readonly key: string; readonly field?: string }
  /** WS-Security: a UsernameToken in each message, its password as it is or digested with a nonce and the time. */
  | { readonly username: string; readonly password: string; readonly digest?: boolean }

export interface CredentialFields {
  /** The same for all calls. */
  readonly fields: HttpFields
  /** For each call. */
  readonly changing: (() => Maybe<HttpFields>) | undefined
  readonly protection: Protection | undefined
}

const nothing: CredentialFields = { fields: {}, changing: undefined, protection: undefined }

/** @throws TypeError when they can't be said */
export function writeCredentials(credentials: ClientCredentials | undefined): CredentialFields {
  if (!credentials) return nothing
  if ('user' in credentials) {
    const authorization = writeBasic(credentials)
    if (authorization === undefined) throw new TypeError('a user has no colon, and neither part a control character')
    return { ...nothing, fields: { authorization } }
  }
  if ('key' in credentials) return { ...nothing, fields: { [credentials.field ?? 'api-key']: credentials.key } }
  if ('username' in credentials) {
    const { username: name, password, digest = false } = credentials
    return { ...nothing, protection: { username: { name, password, kind: digest ? 'digest' : 'text' } } }
  }
  const { bearer } = credentials
  if (typeof bearer === 'string') return { ...nothing, fields: { authorization: bearerField(bearer) } }
  return {
    ...nothing,
    changing: () => {
      const token = bearer()
      return typeof token === 'string'
        ? { authorization: bearerField(token) }
        : token.then(each => ({ authorization: bearerField(each) }))
    },
  }
}

const bearerField = (token: string): string => `Bearer ${token}`
