/**
 * What an endpoint demands of the messages that come to it, and what its replies carry: data, so that it can be published
 * (`published.ts`) and reviewed before it serves. A policy that could not be enforced is a mistake at start.
 */
import { clark, type Name } from '../../xml/index.ts'
import type { Allowance } from '../crypto/algorithm.ts'
import type { SubjectConfirmation } from '../verify/saml.ts'
import type { Freshness } from '../verify/timestamp.ts'
import { SecurityName, wsseNs } from '../vocabulary.ts'
import type { VerificationContext } from './verification-context.ts'

/** What can be covered: a header block by its name, the token that says who is asking, or all attachments. */
export type CoveredPart = 'Body' | 'Timestamp' | 'Token' | 'Attachments' | Name

/** One way to say who is asking, and what has to be proven with it. */
export interface Demand {
  /** What says it: a UsernameToken; the signer's certificate; an assertion; a Kerberos ticket; a secret that both sides have. */
  readonly caller: 'username' | 'x509' | 'saml' | 'kerberos' | 'secret'
  /** Of a UsernameToken. Both by default. */
  readonly passwords?: readonly ('text' | 'digest')[]
  /** Of an assertion. */
  readonly confirmations?: readonly SubjectConfirmation[]
  /** Whether there has to be a Timestamp. Whatever is there has to be of now. */
  readonly timestamp?: boolean
  /** What one trusted signature has to cover. Header blocks: all of this name, if there are any. */
  readonly signed?: readonly CoveredPart[]
  /** What has to come encrypted. Timestamp and Attachments cannot be asked for. */
  readonly encrypted?: readonly CoveredPart[]
}

export interface SecurityPolicy {
  /** Whether a message without a Security block is refused. */
  readonly required: boolean
  /** The first of these that a message meets says who is asking. Whatever else it carries has to be right, too. */
  readonly anyOf: readonly Demand[]
  /** What only old peers need. Nothing by default. */
  readonly allow?: readonly Allowance[]
  readonly freshness?: Partial<Freshness>
}

const signers = new Set<Demand['caller']>(['x509', 'secret'])

/** Mistakes of a policy, each with its cure; none when it can be enforced with what `guard` has. */
export function findPolicyMistakes(policy: SecurityPolicy, guard: VerificationContext): string[] {
  const found = policy.anyOf.flatMap((demand, index) =>
    mistakes(demand, guard).map(mistake => `security: way ${index + 1} (${demand.caller}) ${mistake}`),
  )
  if (policy.anyOf.length === 0) found.push('security: no way to say who is asking; list at least one in anyOf')
  const { age = 1, skew = 0 } = policy.freshness ?? {}
  if (!(age > 0 && age <= day && skew >= 0 && skew <= day)) {
    found.push('security: freshness has to be within a day; replays are remembered as long')
  }
  return found
}

const day = 86_400_000

function mistakes(demand: Demand, guard: VerificationContext): string[] {
  const { caller, signed = [], encrypted = [], timestamp = false } = demand
  const found: string[] = []
  const need = (holds: boolean, says: string) => holds || found.push(says)
  const signs = signed.length > 0
  const vouched = demand.confirmations?.some(kind => kind !== 'bearer') ?? false
  if (signers.has(caller) || (caller === 'saml' && vouched)) {
    need(signed.includes('Body'), 'proves nothing of the message unless the Body is signed; add it to signed')
  }
  if (signs) {
    need(signed.includes('Timestamp'), 'could be replayed; add Timestamp to signed')
    need(timestamp || !signed.includes('Timestamp'), 'signs a Timestamp that need not be there; set timestamp')
    need(signed.includes('Body'), 'signs no Body; add it to signed, or sign nothing')
    const holder = caller === 'saml' && demand.confirmations?.every(kind => kind === 'holder-of-key')
    const keyed = caller === 'secret' ? (guard.secrets?.size ?? 0) > 0 : guard.trust && !guard.trust.empty
    need(
      Boolean(holder || keyed),
      'asks for a signature that nobody is trusted to make; configure authorities or secrets',
    )
  }
  if (caller === 'username') {
    need((demand.passwords ?? ['text']).length > 0, 'takes no kind of password; name one in passwords')
    need(!signs || signed.includes('Token'), 'signs the message and not who sends it; add Token to signed')
  }
  if (caller === 'saml') {
    need((demand.confirmations ?? []).length > 0, 'takes no confirmation; name them in confirmations')
    need((guard.saml?.issuers.size ?? 0) > 0, 'believes no issuer; configure one')
    need(
      [...(guard.saml?.issuers.values() ?? [])].every(trust => !trust.empty),
      'has an issuer without a certificate',
    )
    need((guard.saml?.audiences.length ?? 0) > 0, 'has no audience; configure the names of this service')
    if (demand.confirmations?.includes('sender-vouches')) {
      need(signed.includes('Token'), 'takes vouchers whose signature need not cover the assertion; add Token to signed')
      need(guard.saml?.vouchers !== undefined && !guard.saml.vouchers.empty, 'trusts no voucher; configure one')
    }
  }
  if (caller === 'kerberos') need(guard.kerberos !== undefined, 'cannot check a ticket; configure kerberos')
  if (encrypted.length > 0) {
    need((guard.decrypts?.length ?? 0) > 0, 'asks for what cannot be decrypted; configure a key')
    need(!encrypted.includes('Timestamp'), 'cannot have an encrypted Timestamp')
    need(!encrypted.includes('Attachments'), 'cannot have encrypted attachments')
  }
  for (const part of [...signed, ...encrypted]) {
    if (typeof part === 'string') continue
    need(part !== SecurityName && part.uri !== wsseNs, `cannot cover ${clark(part)}, which holds the proof`)
  }
  if (signed.includes('Token') && (caller === 'x509' || caller === 'secret')) {
    need(caller === 'x509', 'has no Token to sign')
  }
  return found
}
