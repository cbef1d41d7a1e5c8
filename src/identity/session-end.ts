/**
 * Sessions that an OpenID provider has ended before their cookies did (OpenID Connect Back-Channel
 * Logout 1.0 §2.7): records of the store, which all instances read. What it guards:
 *  (1) A session is identified by its mark, the digest of the provider's `sid`, which its cookie
 *      contains.
 *  (2) An end without a `sid` covers all sessions of the subject that began before it.
 *  (3) A record lives as long as the cookies that it ends; one logout token counts once.
 */
import { hash } from 'node:crypto'
import type { StoreReader, StoreWriter } from '../service/store.ts'
import { sessionSeconds } from './session-cookie.ts'

const endSpace = 'ended-sessions'
const tokenSpace = 'logout-tokens'

/** What a provider has ended: one session, or all sessions of a subject. */
export type SessionEnd = (
  | { readonly session: string; readonly subject?: string | undefined }
  | { readonly session?: undefined; readonly subject: string }
) & {
  /** Identifies the logout token. */
  readonly token: string
  /** Milliseconds since 1970: when the token expires. */
  readonly until: number
}

/** (1) The digest of an ID token's `sid`; empty where the provider gives none. */
export const digestSession = (sid: string | undefined): string => (sid === undefined ? '' : digestName(sid))

const digestName = (name: string): string => hash('sha256', name, 'base64url')
const sessionKey = (mark: string): string => `session ${mark}`
const subjectKey = (subject: string): string => `subject ${digestName(subject)}`

/** False for a token that was used before. */
export async function recordSessionEnd(writer: StoreWriter, end: SessionEnd, now: number): Promise<boolean> {
  const isFirst = await writer.remember(tokenSpace, digestName(end.token), { value: '', expires: end.until }, now)
  if (!isFirst) return false
  const key = end.session === undefined ? subjectKey(end.subject) : sessionKey(digestSession(end.session))
  await writer.forget(endSpace, key)
  await writer.remember(endSpace, key, { value: String(now), expires: now + sessionSeconds * 1000 }, now)
  return true
}

/** Whether the provider has ended a session that lasts until `until`. */
export async function isSessionEnded(
  reader: StoreReader,
  subject: string | undefined,
  { mark, until }: { readonly mark: string; readonly until: number },
): Promise<boolean> {
  if (mark !== '' && (await reader.recall(endSpace, sessionKey(mark)))) return true
  const all = subject === undefined ? undefined : await reader.recall(endSpace, subjectKey(subject))
  return all !== undefined && Number(all.value) >= until - sessionSeconds * 1000 // (2)
}
