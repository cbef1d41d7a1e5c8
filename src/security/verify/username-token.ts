/**
 * UsernameToken (Username Token Profile 1.1). What always holds:
 *  (1) A token without a Password proves nothing, whatever else it has.
 *  (2) A digest needs Nonce and Created, is of now, and is taken once.
 *  (3) An unknown name, a name without a kept password and a wrong password end alike, after the same work.
 */

import { hash, timingSafeEqual } from 'node:crypto'
import { decodeBase64 } from '../../base/base64.ts'
import type { Caller } from '../../contract/policy.ts'
import type { Element } from '../../xml/index.ts'
import type { VerificationContext } from '../policy/verification-context.ts'
import { failSecurity } from '../security-fault.ts'
import { optionalChild, readBase64, readInstant, requiredChild, textOnly } from '../tree/strict-children.ts'
import {
  base64TypeUri,
  CreatedName,
  encodingTypeAttribute,
  NonceName,
  PasswordName,
  passwordDigestUri,
  passwordTextUri,
  typeAttribute,
  UsernameName,
} from '../vocabulary.ts'

export interface UsernameToken {
  readonly kind: 'text' | 'digest'
  readonly caller: Caller
  /** What makes a second use of this token known, and until when. */
  readonly once: { readonly key: string; readonly until: number } | undefined
}

/** Created may be so far off, in milliseconds, to either side. */
const window = 300_000
const longestNonce = 1024

interface Claim {
  readonly name: string
  readonly password: string
  readonly nonce: Buffer | undefined
  readonly created: string | undefined
}

/** Whose token this is. @param from the peer's address @throws Insecure */
export async function verifyUsername(
  token: Element,
  kinds: ReadonlySet<UsernameToken['kind']>,
  guard: VerificationContext,
  from: string,
): Promise<UsernameToken> {
  const [kind, claim] = claimed(token)
  if (!kinds.has(kind)) return failSecurity('UnsupportedSecurityToken', 'a kind of Password that is not taken here')
  const until = fresh(claim, guard.now())
  const caller = kind === 'text' ? guard.identities.password(claim.name, claim.password, from) : byDigest(claim, guard)
  return {
    kind,
    caller: (await caller) ?? failSecurity('FailedAuthentication', 'name and password'),
    once: once(claim, until),
  }
}

function claimed(token: Element): [UsernameToken['kind'], Claim] {
  const name = textOnly(requiredChild(token, UsernameName))
  const password = optionalChild(token, PasswordName) ?? failSecurity('FailedAuthentication', 'no Password')
  const nonce = optionalChild(token, NonceName)
  const created = optionalChild(token, CreatedName)
  if (nonce && (nonce.attribute(encodingTypeAttribute) ?? base64TypeUri) !== base64TypeUri) {
    return failSecurity('InvalidSecurityToken', 'a Nonce in another encoding')
  }
  const octets = nonce && readBase64(nonce, 'InvalidSecurityToken')
  if (octets && octets.length > longestNonce) return failSecurity('InvalidSecurityToken', 'a Nonce that is too long')
  const type = password.attribute(typeAttribute) ?? passwordTextUri
  const kind = type === passwordTextUri ? 'text' : type === passwordDigestUri ? 'digest' : undefined
  if (!kind) return failSecurity('UnsupportedSecurityToken', 'a Password of another type')
  if (kind === 'digest' && !(octets && created))
    return failSecurity('FailedAuthentication', 'a digest without Nonce and Created')
  return [kind, { name, password: textOnly(password), nonce: octets, created: created && textOnly(created) }]
}

/** Until when the token is of now; undefined when it does not say. */
function fresh({ created }: Claim, now: number): number | undefined {
  if (created === undefined) return undefined
  const at =
    readInstant(created.trim()) ?? failSecurity('InvalidSecurityToken', 'a Created that is not in the form of one')
  if (Math.abs(now - at) > window) return failSecurity('MessageExpired', 'a UsernameToken that is not of now')
  return at + window
}

/** Username Token Profile §3.1: Base64(SHA-1(nonce + created + password)). */
async function byDigest(
  { name, password, nonce, created }: Claim,
  guard: VerificationContext,
): Promise<Caller | undefined> {
  const kept = await guard.identities.secret(name)
  const expected = hash('sha1', Buffer.concat([nonce!, Buffer.from(`${created}${kept ?? ''}`)]), 'buffer')
  const given = decodeBase64(password.trim())
  const holds = given?.length === expected.length && timingSafeEqual(given, expected)
  return holds && kept !== undefined ? guard.identities.known(name) : undefined
}

/** The nonce and its time, joined as in the digest: no octet moved from one to the other makes a new key. */
function once({ nonce, created }: Claim, until: number | undefined): UsernameToken['once'] {
  if (!nonce || until === undefined) return undefined
  return { key: `wss:nonce:${hash('sha256', Buffer.concat([nonce, Buffer.from(`${created}`)]), 'base64url')}`, until }
}
