/**
 * The demands of an endpoint on the messages that it receives: data, which is published in the WSDL
 * (`ws-security-policy.ts`) and reviewed at start. A policy that cannot be enforced is an error at
 * start.
 */
import type {
  AlgorithmSuite,
  ExchangeParty,
  KeyForm,
  NamingForm,
  ProofKind,
  SubjectConfirmation,
} from '../../contract/endpoint-rule.ts'
import { clarkNotation, type Element, type Name } from '../../xml/index.ts'
import type { Allowance } from '../crypto/algorithm.ts'
import type { Freshness } from '../verify/timestamp.ts'
import { SecurityName, wsseNs } from '../vocabulary.ts'
import { canDecrypt, canDecryptBySuite, findSigningFlaw } from './pair-flaws.ts'
import type { VerificationContext } from './verification-context.ts'

/**
 * A part that can be covered: the token that names the caller, the certificate or assertion whose
 * key signs (`SigningToken`, only signed), all header blocks that the receiver processes, all
 * attachments, or the header blocks with a name. `Attachments` signs their content,
 * `CompleteAttachments` also the fields that describe it.
 */
export type CoveredPart = 'Body' | 'Timestamp' | 'Token' | 'SigningToken' | 'Headers' | SignedAttachments | Name

/** SwA Profile 1.1 §5.3. */
export type SignedAttachments = 'Attachments' | 'CompleteAttachments'

export type { KeyForm }

/** One way to authenticate the caller, and the protection that it requires. */
export interface Demand {
  /**
   * The means of authentication: a UsernameToken, the signer's certificate, an assertion, a
   * Kerberos ticket, or a shared secret; for answers only, the key of the exchange.
   */
  readonly caller: ProofKind | 'exchange'
  /** For a UsernameToken; default: both. */
  readonly passwords?: readonly ('text' | 'digest')[]
  /** For an assertion. */
  readonly confirmations?: readonly SubjectConfirmation[]
  /** Whether a Timestamp is required. Every Timestamp must be valid now. */
  readonly timestamp?: boolean
  /**
   * The parts that one trusted signature must cover; of header blocks, all with the name. If it
   * lists anything, all blocks that the receiver processes must be covered as well: those of
   * WS-Addressing and declared ones (WS-Addressing SOAP Binding §7).
   */
  readonly signed?: readonly CoveredPart[]
  /**
   * The message is signed and encrypted with the key of the exchange, or with keys derived from it;
   * the caller's signature endorses that signature. Default: the caller's own key signs.
   */
  readonly symmetric?: KeyForm
  /** The signer's certificate is named, so it has to be pinned. */
  readonly isNamed?: boolean
  /** The parts that must be encrypted; neither Timestamp nor CompleteAttachments is possible. */
  readonly encrypted?: readonly CoveredPart[]
}

/** The proof that the two messages of an exchange must have. */
export interface ExchangePolicy {
  /**
   * The first demand that a message meets names its caller. Everything else in the message has to
   * be valid as well.
   */
  readonly anyOf: readonly Demand[]
  /** The proof of replies; default: none. Encrypted replies are signed as well. */
  readonly answers?: 'signed' | 'encrypted'
  /** Replies have a Timestamp, also if they prove nothing. */
  readonly isStamped?: boolean
  /** Whether replies confirm the signatures of their requests (WSS 1.1 §8.5); default: they do. */
  readonly confirmed?: boolean
  /** How messages name certificates that they do not carry; default by thumbprint. */
  readonly reference?: NamingForm
  /** Whose certificates are only named by the messages that they signed. */
  readonly unsent?: readonly ExchangeParty[]
  /** Whether replies sign the certificate that signs them. */
  readonly protectsAnswers?: boolean
  /** A message without a Security block is accepted as it is. */
  readonly isOptional?: boolean
}

/** The proof that requests need at an endpoint, and the operations with a policy of their own. */
export interface SecurityPolicy extends ExchangePolicy {
  /** Whether a message without a Security block is refused. */
  readonly required: boolean
  /** Operations with a policy of their own, by the local name of the request's element. */
  readonly operations?: ReadonlyMap<string, ExchangePolicy>
  /** How Diglot's own messages are signed and encrypted; default `Basic256Sha256`. */
  readonly suite?: AlgorithmSuite
  /** Algorithms that only old peers need; default none. */
  readonly allow?: readonly Allowance[]
  readonly freshness?: Partial<Freshness>
}

/** The policy of the operation that this Body requests. */
export const exchangePolicyOf = (policy: SecurityPolicy, body: Element): ExchangePolicy =>
  policy.operations?.get(body.elements()[0]?.name.local ?? '') ?? policy

/** How attachments are signed along with these parts; undefined: not at all. */
export const signedAttachmentsOf = (parts: readonly CoveredPart[] = []): SignedAttachments | undefined =>
  parts.find(part => part === 'Attachments' || part === 'CompleteAttachments')

/** How replies to these messages sign attachments: as the messages do. */
export const answeredAttachmentsOf = ({ anyOf }: ExchangePolicy): SignedAttachments | undefined =>
  signedAttachmentsOf(anyOf.flatMap(({ signed = [] }) => signed))

/** Whether replies to these messages sign the certificate that signs them. */
export const protectsAnswers = ({ anyOf, protectsAnswers }: ExchangePolicy): boolean =>
  protectsAnswers ?? anyOf.some(({ signed = [] }) => signed.includes('SigningToken'))

/** The same policy, with attachments signed and encrypted where the Body is. */
export function coverAttachments(policy: SecurityPolicy): SecurityPolicy {
  const cover = (parts: readonly CoveredPart[]): readonly CoveredPart[] =>
    parts.includes('Body') && !signedAttachmentsOf(parts) ? [...parts, 'Attachments'] : parts
  const change = <P extends ExchangePolicy>(each: P): P => ({
    ...each,
    anyOf: each.anyOf.map(way => ({
      ...way,
      ...(way.signed && { signed: cover(way.signed) }),
      ...(way.encrypted && { encrypted: cover(way.encrypted) }),
    })),
  })
  const operations = policy.operations && new Map([...policy.operations].map(([name, each]) => [name, change(each)]))
  return { ...change(policy), ...(operations && { operations }) }
}

/** Whether the operation that this Body requests demands proof. */
export const isProofRequired = (policy: SecurityPolicy, body: Element): boolean =>
  policy.required && exchangePolicyOf(policy, body).isOptional !== true

const signingCallers = new Set<Demand['caller']>(['x509', 'secret'])

/**
 * Mistakes in a policy, each with its cure; none if `guard` can enforce it.
 * @param now milliseconds since 1970, at which the certificate that signs has to be valid
 */
export function findPolicyMistakes(policy: SecurityPolicy, guard: VerificationContext, now?: number): string[] {
  const exchanges: readonly (readonly [string, ExchangePolicy])[] = [
    ['security', policy],
    ...[...(policy.operations ?? [])].map(([name, own]) => [`security of ${name}`, own] as const),
  ]
  const found = exchanges.flatMap(([place, exchange]) => findUnenforceable(place, exchange, guard, now))
  const { age = 1, skew = 0 } = policy.freshness ?? {}
  if (!(age > 0 && age <= dayMs && skew >= 0 && skew <= dayMs)) {
    found.push('security: freshness must be at most a day, since replays are remembered that long')
  }
  return found
}

const dayMs = 86_400_000

function findUnenforceable(
  place: string,
  { anyOf, answers, reference, unsent = [] }: ExchangePolicy,
  guard: VerificationContext,
  now: number | undefined,
): string[] {
  const found = anyOf.flatMap((demand, index) =>
    findDemandMistakes(demand, guard).map(mistake => `${place}: way ${index + 1} (${demand.caller}) ${mistake}`),
  )
  if (anyOf.length === 0) found.push(`${place}: no way to name the caller; list at least one in anyOf`)
  if (!answers || anyOf.every(({ symmetric }) => symmetric)) return found
  const flaw = guard.signs && findSigningFlaw(guard.signs, now)
  if (!guard.signs) found.push(`${place}: signs answers, and has no key to sign with; configure keyFiles`)
  if (flaw !== undefined) found.push(`${place}: signs answers, and its key is ${flaw}; put another first in keyFiles`)
  if (reference === 'key-identifier' && unsent.includes('service') && !guard.signs?.certificate.subjectKeyIdentifier)
    found.push(`${place}: answers name their certificate by a key identifier, which it lacks; use issuer-serial`)
  const unsigned = anyOf.find(({ signed = [] }) => signed.length === 0)
  if (unsigned) found.push(`${place}: answers confirm a signature, which ${unsigned.caller} lacks; add signed`)
  const nameless = answers === 'encrypted' && anyOf.find(({ caller }) => caller !== 'x509')
  if (nameless) found.push(`${place}: answers are encrypted to a certificate, which ${nameless.caller} lacks; use x509`)
  return found
}

/** What an endpoint cannot demand or enforce, phrased to follow the name of its caller. */
const findDemandMistakes = (demand: Demand, guard: VerificationContext): readonly string[] =>
  demandRules.flatMap(rules => rules(demand, guard).flatMap(([holds, says]) => (holds ? [] : [says])))

type Requirement = readonly [holds: boolean, mistake: string]

const demandRules: readonly ((demand: Demand, guard: VerificationContext) => readonly Requirement[])[] = [
  requireBodySigned,
  requireSignature,
  requireExchangeKey,
  ({ isNamed = false }, { trust }) => [
    [
      !isNamed || trust?.hasPinned === true,
      "names a certificate that messages do not carry, and none is known: put partners' own certificates among the signers",
    ],
  ],
  requirePasswords,
  requireAssertion,
  ({ caller }, { kerberos }) => [
    [caller !== 'kerberos' || kerberos !== undefined, 'cannot verify a ticket; configure kerberos'],
  ],
  requireEncryption,
  requireCoverable,
]

function requireBodySigned({ caller, confirmations, signed = [] }: Demand): readonly Requirement[] {
  const isVouched = confirmations?.some(kind => kind !== 'bearer') ?? false
  if (!signingCallers.has(caller) && !(caller === 'saml' && isVouched)) return []
  return [[signed.includes('Body'), 'proves nothing about the message unless the Body is signed; add Body to signed']]
}

function requireSignature(
  { caller, confirmations, signed = [], timestamp = false }: Demand,
  { secrets, trust }: VerificationContext,
): readonly Requirement[] {
  if (signed.length === 0) return []
  const isOfHolder = caller === 'saml' && confirmations?.every(kind => kind === 'holder-of-key')
  const isTrusted = caller === 'secret' ? (secrets?.size ?? 0) > 0 : trust && !trust.isEmpty
  return [
    [signed.includes('Timestamp'), 'could be replayed; add Timestamp to signed'],
    [timestamp || !signed.includes('Timestamp'), 'signs a Timestamp that it does not require; set timestamp'],
    [signed.includes('Body'), 'does not sign the Body; add Body to signed, or sign nothing'],
    [
      Boolean(isOfHolder || isTrusted),
      'demands a signature, and no signer is trusted; configure authorities or secrets',
    ],
  ]
}

function requireExchangeKey({ caller, symmetric }: Demand, guard: VerificationContext): readonly Requirement[] {
  const isEndorsed: Requirement = [caller === 'x509', 'is symmetric, and cannot endorse a signature; use x509']
  const isReadable: Requirement = [
    guard.decrypts?.some(canDecryptBySuite) === true,
    'is symmetric, and has no key to decrypt the key of an exchange with; configure one of RSA',
  ]
  return [
    ...(symmetric ? [isEndorsed, isReadable] : []),
    [caller !== 'exchange', 'proves answers alone; name another caller'],
  ]
}

function requirePasswords({ caller, passwords = ['text'], signed = [] }: Demand): readonly Requirement[] {
  if (caller !== 'username') return []
  return [
    [passwords.length > 0, 'accepts no kind of password; name one in passwords'],
    [signed.length === 0 || signed.includes('Token'), 'signs the message and not its sender; add Token to signed'],
  ]
}

function requireAssertion(
  { caller, confirmations = [], signed = [] }: Demand,
  { saml }: VerificationContext,
): readonly Requirement[] {
  if (caller !== 'saml') return []
  const issuers = [...(saml?.issuers.values() ?? [])]
  const vouched: readonly Requirement[] = [
    [signed.includes('Token'), 'accepts vouchers whose signature may leave out the assertion; add Token to signed'],
    [saml?.vouchers !== undefined && !saml.vouchers.isEmpty, 'trusts no voucher; configure one'],
  ]
  return [
    [confirmations.length > 0, 'accepts no confirmation; name one in confirmations'],
    [issuers.length > 0, 'trusts no issuer; configure one'],
    [issuers.every(({ trust }) => !trust.isEmpty), 'has an issuer without a certificate'],
    [
      issuers.length < 2 || issuers.every(({ people }) => people !== undefined),
      'trusts several issuers, each of which could identify anyone; give each a rule in people',
    ],
    [(saml?.audiences.length ?? 0) > 0, 'has no audience; configure the names of the service'],
    ...(confirmations.includes('sender-vouches') ? vouched : []),
  ]
}

function requireEncryption(
  { signed = [], encrypted = [] }: Demand,
  guard: VerificationContext,
): readonly Requirement[] {
  if (encrypted.length === 0) return []
  return [
    [guard.decrypts?.some(canDecrypt) === true, 'demands encryption, and has no key to decrypt with; configure one'],
    [!encrypted.includes('Timestamp'), 'cannot demand an encrypted Timestamp'],
    [
      !encrypted.includes('Attachments') || signedAttachmentsOf(signed) !== undefined,
      'demands encrypted attachments that nothing signs; add Attachments to signed',
    ],
    [!encrypted.includes('CompleteAttachments'), 'cannot demand encrypted CompleteAttachments; name Attachments'],
    [!encrypted.includes('Headers'), 'cannot demand encrypted Headers; name the blocks'],
    [!encrypted.includes('SigningToken'), 'cannot demand an encrypted SigningToken, which would prove nothing'],
  ]
}

function requireCoverable({ caller, symmetric, signed = [], encrypted = [] }: Demand): readonly Requirement[] {
  const blocks = [...signed, ...encrypted].filter(part => typeof part !== 'string')
  return [
    ...blocks.map(
      (part): Requirement => [
        part !== SecurityName && part.uri !== wsseNs,
        `cannot cover ${clarkNotation(part)}, which holds the signature`,
      ],
    ),
    [caller !== 'secret' || !signed.includes('Token'), 'has no Token to sign; remove Token from signed'],
    [
      !signed.includes('SigningToken') || !(symmetric || caller === 'secret' || caller === 'exchange'),
      'signs with a key that no token brings; remove SigningToken from signed',
    ],
  ]
}
