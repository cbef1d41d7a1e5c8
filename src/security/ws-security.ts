/** WS-Security behind the interface of the SOAP face: `soap/security-port.ts`. */
import type { NamingForm } from '../contract/endpoint-rule.ts'
import { refuse } from '../service/refusal.ts'
import type { ProtectAnswer, VerifyMessage } from '../soap/security-port.ts'
import { algorithmsOf, type SuiteAlgorithms, suiteTransport } from './policy/algorithm-suite.ts'
import { findSigningFlaw } from './policy/pair-flaws.ts'
import {
  answeredAttachmentsOf,
  type CoveredPart,
  type ExchangePolicy,
  exchangePolicyOf,
  findPolicyMistakes,
  protectsAnswers,
  type SecurityPolicy,
} from './policy/policy.ts'
import type { Decryption, VerificationContext } from './policy/verification-context.ts'
import type { Encryption } from './protect/encrypt.ts'
import { type Protection, protectMessage } from './protect/protect.ts'
import { failSecurity } from './security-fault.ts'
import type { Signer } from './verify/incoming.ts'
import { type VerifiedMessage, verifyMessage } from './verify/verify.ts'

/** Everything except the clock, which the face has. */
export type SecurityMeans = Omit<VerificationContext, 'now'>

/**
 * Verifies messages by this policy: always on endpoints that demand it, elsewhere if there is a
 * Security block. Returns the protection of the answer, if the policy requires that.
 * @param means a function is called for each message, since keys change
 * @param startsAt milliseconds since 1970: the certificate that signs answers is valid then
 * @throws Error with every mistake of a policy that cannot be enforced (X14)
 */
export function createWsSecurity(
  policy: Omit<SecurityPolicy, 'required'>,
  means: SecurityMeans | (() => SecurityMeans),
  startsAt?: number,
): VerifyMessage {
  const current = typeof means === 'function' ? means : () => means
  const mistakes = findPolicyMistakes({ ...policy, required: true }, { ...current(), now: () => 0 }, startsAt)
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'))
  return async evidence => {
    const { document, body, version, targeted, isProcessed, from, confidential, parts } = evidence
    const { root: envelope } = document
    const [header] = envelope.elements(version.header)
    const packaged = parts.size > 0 ? { parts } : {}
    const message = { envelope, header, body, blocks: targeted, isProcessed, from, confidential, ...packaged }
    const demanded = { ...policy, required: evidence.demanded }
    const context = { ...current(), now: () => evidence.now }
    const proven = await verifyMessage(message, demanded, context)
    const exchange = exchangePolicyOf(demanded, proven.body)
    const { answers, isStamped } = exchange
    const read = { caller: proven.caller, body: proven.body, parts: proven.parts }
    if (!evidence.demanded) return read
    const protectBy =
      (protection: Protection): ProtectAnswer =>
      ({ envelope, attached }, now) =>
        protectMessage(envelope, protection, now, attached)
    if (!answers) return isStamped ? { ...read, protect: protectBy({ timestamp: {} }) } : read
    const covered: readonly CoveredPart[] = [
      ...answerParts,
      ...(protectsAnswers(exchange) ? (['SigningToken'] as const) : []),
      answeredAttachmentsOf(exchange) ?? 'Attachments',
    ]
    const protection = compileAnswerProtection(
      proven,
      {
        parts: covered,
        encrypts: answers === 'encrypted',
        confirms: exchange.confirmed !== false,
        suite: algorithmsOf(policy.suite),
        exchange,
      },
      context.signs,
      evidence.now,
    )
    return { ...read, protect: protectBy(protection) }
  }
}

const answerParts = ['Headers', 'Timestamp', 'Body'] as const

interface AnswerForm {
  readonly parts: readonly CoveredPart[]
  readonly encrypts: boolean
  readonly confirms: boolean
  readonly suite: SuiteAlgorithms
  readonly exchange: ExchangePolicy
}

/** The proof in the reply to a proven message: that it is the service's, for this message. */
function compileAnswerProtection(
  { confirms: signatures, signer, keyForms }: VerifiedMessage,
  { parts, encrypts, confirms, suite, exchange: { reference = 'thumbprint', unsent = [] } }: AnswerForm,
  signs: Decryption | undefined,
  now: number,
): Protection {
  const answering: Protection = { timestamp: {}, ...(confirms && { confirms: signatures }) }
  if (signer?.kind === 'exchange') {
    const [form = 'direct'] = keyForms
    if (encrypts && form === 'direct' && signer.source.octets.length !== suite.keyOctets)
      return failSecurity('InvalidSecurityToken', `an exchange key that is not of ${suite.keyOctets} octets`)
    return { ...answering, exchange: { key: signer.source, form, signed: parts, encrypts, suite } }
  }
  if (!signs) return failSecurity('InvalidSecurity', 'an answer that nothing can sign') // or the start has failed
  const flaw = findSigningFlaw(signs, now)
  if (flaw !== undefined) refuse({ kind: 'unavailable', after: 60, cause: `the key that signs answers has ${flaw}` })
  const { key, certificate } = signs
  return {
    ...answering,
    signature: {
      key,
      by: { certificate, refer: unsent.includes('service') ? reference : 'direct' },
      parts,
      hash: suite.hash,
    },
    ...(encrypts && { encryption: encryptionTo(signer, suite, reference), encryptsFirst: true }),
  }
}

function encryptionTo(signer: Signer | undefined, { cipher }: SuiteAlgorithms, reference: NamingForm): Encryption {
  if (signer?.kind !== 'x509')
    return failSecurity('InvalidSecurityToken', 'a message without a certificate to which its answer can be encrypted')
  const to = signer.certificate
  const refer = reference === 'key-identifier' && !to.subjectKeyIdentifier ? 'issuer-serial' : reference
  return { to, refer, parts: ['Body', 'Attachments'], cipher, transport: suiteTransport }
}
