/**
 * UsernameToken (Username Token Profile 1.1). What always holds:
 *  (1) A token without a Password proves nothing, whatever else it has.
 *  (2) A digest needs Nonce and Created, is valid for some minutes, and is accepted once.
 *  (3) Only the directory of people proves a password or a digest; it counts wrong ones and does
 *      the same work for an unknown name.
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
  /** The key by which a second use of this token is recognized, and until when. */
  readonly once: { readonly key: string; readonly until: number } | undefined
}

/** How far Created may be from now, in either direction. */
const clockWindowMs = 300_000
const nonceOctetsMax = 1024

interface UsernameClaim {
  readonly name: string
  readonly password: string
  readonly nonce: Buffer | undefined
  readonly created: string | undefined
}

/**
 * The caller that a token proves.
 * @param from the peer's address
 * @throws Insecure
 */
export async function verifyUsername(
  token: Element,
  kinds: ReadonlySet<UsernameToken['kind']>,
  guard: VerificationContext,
  from: string,
): Promise<UsernameToken> {
  const [kind, claim] = readClaim(token)
  if (!kinds.has(kind)) return failSecurity('UnsupportedSecurityToken', 'an unsupported kind of Password')
  const until = verifyFreshness(claim, guard.now())
  const { identities } = guard
  const caller =
    kind === 'text'
      ? identities.password(claim.name, claim.password, from)
      : identities.digest(claim.name, compileDigestTest(claim), from)
  return {
    kind,
    caller: (await caller) ?? failSecurity('FailedAuthentication', 'a wrong name or password'),
    once: describeUse(claim, until),
  }
}

function readClaim(token: Element): [UsernameToken['kind'], UsernameClaim] {
  const name = textOnly(requiredChild(token, UsernameName))
  const password = optionalChild(token, PasswordName) ?? failSecurity('FailedAuthentication', 'no Password')
  const nonce = optionalChild(token, NonceName)
  const created = optionalChild(token, CreatedName)
  if (nonce && (nonce.attribute(encodingTypeAttribute) ?? base64TypeUri) !== base64TypeUri) {
    return failSecurity('InvalidSecurityToken', 'a Nonce in an unsupported encoding')
  }
  const octets = nonce && readBase64(nonce, 'InvalidSecurityToken')
  if (octets && octets.length > nonceOctetsMax) return failSecurity('InvalidSecurityToken', 'a Nonce that is too long')
  const type = password.attribute(typeAttribute) ?? passwordTextUri
  const kind = type === passwordTextUri ? 'text' : type === passwordDigestUri ? 'digest' : undefined
  if (!kind) return failSecurity('UnsupportedSecurityToken', 'a Password of an unknown type')
  if (kind === 'digest' && !(octets && created))
    return failSecurity('FailedAuthentication', 'a digest without Nonce and Created')
  return [kind, { name, password: textOnly(password), nonce: octets, created: created && textOnly(created) }]
}

/** When the token expires; undefined if it has no Created. */
function verifyFreshness({ created }: UsernameClaim, now: number): number | undefined {
  if (created === undefined) return undefined
  const at = readInstant(created.trim()) ?? failSecurity('InvalidSecurityToken', 'a Created in an invalid form')
  if (Math.abs(now - at) > clockWindowMs) return failSecurity('MessageExpired', 'a UsernameToken that is not valid now')
  return at + clockWindowMs
}

/**
 * Username Token Profile §3.1: Base64(SHA-1(nonce + created + password)).
 * @param claim a digest, which has a nonce and a time
 */
function compileDigestTest({ password, nonce, created }: UsernameClaim): (password: string) => boolean {
  const digest = decodeBase64(password.trim())
  return password => {
    const expected = hash('sha1', Buffer.concat([nonce!, Buffer.from(`${created}${password}`)]), 'buffer')
    return digest?.length === expected.length && timingSafeEqual(digest, expected)
  }
}

/**
 * Nonce and time, joined as in the digest: moving an octet from one to the other yields the same
 * key.
 */
function describeUse({ nonce, created }: UsernameClaim, until: number | undefined): UsernameToken['once'] {
  if (!nonce || until === undefined) return undefined
  return { key: `wss:nonce:${hash('sha256', Buffer.concat([nonce, Buffer.from(`${created}`)]), 'base64url')}`, until }
}
