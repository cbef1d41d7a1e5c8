/**
 * UsernameToken (Username Token Profile 1.1). What always holds:
 *  (1) A token without a Password proves nothing, whatever else it has.
 *  (2) A digest needs Nonce and Created, is of now, and is taken once.
 *  (3) An unknown name, a name without a kept password and a wrong password end alike, after the same work.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../../contract/policy.ts'
import type { Element } from '../../xml/index.ts'
import type { Guard } from '../policy/verification-context.ts'
import { fail } from '../security-fault.ts'
import { base64, content, decoded, instant, optional, required } from '../tree/strict-children.ts'
import {
  base64Type,
  Created,
  EncodingType,
  Nonce,
  Password,
  passwordDigest,
  passwordText,
  Type,
  Username,
} from '../vocabulary.ts'

export interface Named {
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
export async function username(
  token: Element,
  kinds: ReadonlySet<Named['kind']>,
  guard: Guard,
  from: string,
): Promise<Named> {
  const [kind, claim] = claimed(token)
  if (!kinds.has(kind)) return fail('UnsupportedSecurityToken', 'a kind of Password that is not taken here')
  const until = fresh(claim, guard.now())
  const caller = kind === 'text' ? guard.identities.password(claim.name, claim.password, from) : byDigest(claim, guard)
  return { kind, caller: (await caller) ?? fail('FailedAuthentication', 'name and password'), once: once(claim, until) }
}

function claimed(token: Element): [Named['kind'], Claim] {
  const name = content(required(token, Username))
  const password = optional(token, Password) ?? fail('FailedAuthentication', 'no Password')
  const nonce = optional(token, Nonce)
  const created = optional(token, Created)
  if (nonce && (nonce.attribute(EncodingType) ?? base64Type) !== base64Type) {
    return fail('InvalidSecurityToken', 'a Nonce in another encoding')
  }
  const octets = nonce && base64(nonce, 'InvalidSecurityToken')
  if (octets && octets.length > longestNonce) return fail('InvalidSecurityToken', 'a Nonce that is too long')
  const type = password.attribute(Type) ?? passwordText
  const kind = type === passwordText ? 'text' : type === passwordDigest ? 'digest' : undefined
  if (!kind) return fail('UnsupportedSecurityToken', 'a Password of another type')
  if (kind === 'digest' && !(octets && created))
    return fail('FailedAuthentication', 'a digest without Nonce and Created')
  return [kind, { name, password: content(password), nonce: octets, created: created && content(created) }]
}

/** Until when the token is of now; undefined when it does not say. */
function fresh({ created }: Claim, now: number): number | undefined {
  if (created === undefined) return undefined
  const at = instant(created.trim()) ?? fail('InvalidSecurityToken', 'a Created that is not in the form of one')
  if (Math.abs(now - at) > window) return fail('MessageExpired', 'a UsernameToken that is not of now')
  return at + window
}

/** Username Token Profile §3.1: Base64(SHA-1(nonce + created + password)). */
async function byDigest({ name, password, nonce, created }: Claim, guard: Guard): Promise<Caller | undefined> {
  const kept = await guard.identities.secret(name)
  const expected = hash('sha1', Buffer.concat([nonce!, Buffer.from(`${created}${kept ?? ''}`)]), 'buffer')
  const given = decoded(password.trim())
  const holds = given?.length === expected.length && timingSafeEqual(given, expected)
  return holds && kept !== undefined ? guard.identities.known(name) : undefined
}

/** The nonce and its time, joined as in the digest: no octet moved from one to the other makes a new key. */
function once({ nonce, created }: Claim, until: number | undefined): Named['once'] {
  if (!nonce || until === undefined) return undefined
  return { key: `wss:nonce:${hash('sha256', Buffer.concat([nonce, Buffer.from(`${created}`)]), 'base64url')}`, until }
}
