/**
 * The caller of a token, as its sender presents it: alone (RFC 6750), next to a client certificate
 * (RFC 8705 §3), or with a proof of possession (RFC 9449 §7). What it guards:
 *  (1) What is remembered of a token is not who may use it: its binding is compared each time.
 *  (2) A proof counts once, for all instances; only valid ones of valid tokens are recorded.
 */
import { hash } from 'node:crypto'
import type { Caller } from '../contract/policy.ts'
import type { Identities, PossessionProof } from '../service/identity-port.ts'
import type { Store } from '../service/store.ts'
import { type TokenTrust, tokenAlgorithms, verifyToken } from './bearer-token.ts'
import { type VerifiedProof, verifyProof } from './possession-proof.ts'
import { matchesBinding, type TokenBinding } from './token-binding.ts'

/** What is known of proven credentials. */
export interface ProvenCaller {
  readonly caller: Caller
  /** What else the sender must own. */
  readonly binding: TokenBinding
  /** Remembered so that putting the clock back does not extend it. */
  readonly since: number
  readonly until: number
}

/** By the tags of tokens. */
export interface TokenMemory {
  find(tag: string): ProvenCaller | undefined
  /** @param until in milliseconds since 1970 */
  rememberBound(tag: string, caller: Caller, until: number, binding: TokenBinding): ProvenCaller
}

export interface TokenProofSources {
  readonly store: Store
  readonly trust: TokenTrust
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly memory: TokenMemory
  /** A person of this service, whose claims are added to those of its own tokens. */
  readonly person: (name: string) => Promise<{ readonly caller: Caller } | undefined>
}

const proofSpace = 'possession-proofs'

export interface TokenProof extends Pick<Identities, 'dpop' | 'proofAlgorithms'> {
  /** Undefined for an invalid token; the binding is still to be compared. */
  verify(token: string, tag: string): Promise<ProvenCaller | undefined>
}

export function createTokenProof({ store, trust, clock, memory, person }: TokenProofSources): TokenProof {
  async function verify(token: string, tag: string): Promise<ProvenCaller | undefined> {
    const found = await verifyToken(trust, token, clock())
    if (!found?.caller.subject) return undefined
    const record = trust.ours ? await person(found.caller.subject) : undefined
    const claims = { ...record?.caller.claims, ...found.caller.claims }
    return memory.rememberBound(tag, { ...found.caller, claims }, found.expires, found.binding)
  }

  /** In the caller's turn, like any change, so that a flood of proofs delays no other caller. */
  const isFirstUse = (key: string, { id, until }: VerifiedProof, caller: string): Promise<boolean> =>
    store.write(writer => writer.remember(proofSpace, `${key} ${id}`, { value: '', expires: until }, clock()), {
      caller,
    })

  async function dpop(token: string, presented: PossessionProof): Promise<Caller | undefined> {
    const tag = hash('sha256', token, 'base64url')
    const found = memory.find(tag) ?? (await verify(token, tag))
    const key = found?.binding.key
    if (found === undefined || key === undefined || !matchesBinding(found.binding, { ...presented, key }))
      return undefined
    const proof = await verifyProof(presented, { token, key }, clock())
    return proof && (await isFirstUse(key, proof, found.caller.subject ?? '')) ? found.caller : undefined
  }

  // Only an issuer binds tokens to keys.
  return { verify, ...(!trust.ours && { dpop, proofAlgorithms: tokenAlgorithms }) }
}

/** (1) The caller of a token that came without a proof. */
export const callerAlone = (
  found: ProvenCaller | undefined,
  certificate: Uint8Array | undefined,
): Caller | undefined => (found && matchesBinding(found.binding, { certificate }) ? found.caller : undefined)
