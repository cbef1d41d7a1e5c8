/**
 * The proof of an answer (WSS SOAP Message Security 1.1 §8): that it comes from the service, is
 * recent, answers this very request, and that what is read of it was signed. It comes from the
 * service if it is signed with the service's certificate, or with a key that only the holder of
 * this certificate could decrypt. Which request it answers is proven by the first of these that
 * applies:
 *  (1) It confirms the signatures of the request, and no two requests have the same.
 *  (2) It is signed with the key of the exchange, and is not the request itself.
 *  (3) Its signed RelatesTo has the id of the request; `opened-answer.ts` compares them.
 *  (4) Otherwise it must not be older than the request, nor have been accepted before.
 * Answers are remembered for (4) alone.
 */
import type { Caller } from '../contract/policy.ts'
import type { ExchangeKey } from '../security/crypto/derived-key.ts'
import type { SecurityPolicy } from '../security/policy/policy.ts'
import type { VerificationContext } from '../security/policy/verification-context.ts'
import { failSecurity, Insecure } from '../security/security-fault.ts'
import { type VerifiedMessage, verifyMessage } from '../security/verify/verify.ts'
import type { PackedParts } from '../soap/security-port.ts'
import type { SoapVersion } from '../soap/version.ts'
import type { Document, Element } from '../xml/index.ts'
import { takenAnswersMax } from './answer-memory.ts'
import { type AnswerDemand, isServiceCertificate, isTiedAnswer } from './message-keys.ts'

/** An answer as its envelope was opened. */
export interface AnswerToProve {
  readonly document: Document
  readonly version: SoapVersion
  readonly body: Element
  /** The blocks for this node. */
  readonly blocks: readonly Element[]
  /** Whether a block is read, apart from the Security block. */
  readonly isProcessed: (block: Element) => boolean
  /** The parts of its package next to it. */
  readonly parts: PackedParts
  /** The values of the request's signatures. */
  readonly sent: readonly Buffer[]
  /** The key of the request, if it had one of its own. */
  readonly exchangeKey: ExchangeKey | undefined
  /** When the request was sent, in milliseconds since 1970. */
  readonly sentAt: number | undefined
  /** Whether its RelatesTo is compared. */
  readonly isRelated: boolean
}

export type ProvenAnswer = Pick<VerifiedMessage, 'body' | 'parts'>

/** The proven answer, decrypted if it was encrypted; or why it is not proven. */
export async function proveAnswer(answer: AnswerToProve, demand: AnswerDemand): Promise<ProvenAnswer | string> {
  const { document, version, body, blocks, isProcessed, parts, sent, exchangeKey, sentAt, isRelated } = answer
  const [header] = document.root.elements(version.header)
  const isLoose = !isTiedAnswer(demand) && !isRelated
  const facts = {
    sent,
    from: '',
    confidential: false,
    isUnconfirmed: !demand.isConfirmed,
    ...(exchangeKey && { exchangeKey }),
    ...(isLoose && { sentAt }),
  }
  const packaged = parts.size > 0 ? { parts } : {}
  const message = { envelope: document.root, header, body, blocks, isProcessed, ...packaged, ...facts }
  try {
    if (hasForeignKey(demand)) return 'the certificate that the key of the exchange went to is not trusted now'
    const proven = await verifyMessage(message, policyOf(demand), contextOf(demand, isLoose))
    return { body: proven.body, parts: proven.parts }
  } catch (thrown) {
    if (thrown instanceof Insecure) return thrown.why
    throw thrown
  }
}

/** `keys.service` applies to the certificate of the receiver as it does to a signer's. */
const hasForeignKey = ({ exchange, ...service }: AnswerDemand): boolean =>
  exchange !== undefined && !service.trust.isEmpty && !isServiceCertificate(exchange.to, service)

const policyOf = ({ isEncrypted, isWeak, protectsTokens, attachments, exchange }: AnswerDemand): SecurityPolicy => ({
  required: true,
  ...(isWeak && { allow: ['sha1'] as const }),
  anyOf: [
    {
      ...(exchange ? { caller: 'exchange', symmetric: exchange.form } : { caller: 'x509' }),
      timestamp: true,
      signed: ['Body', 'Timestamp', ...(protectsTokens ? (['SigningToken'] as const) : []), attachments],
      ...(isEncrypted && { encrypted: ['Body', 'Attachments'] }),
    },
  ],
})

const nobody = (): undefined => undefined

function contextOf(demand: AnswerDemand, isLoose: boolean): VerificationContext {
  const { trust, decrypts } = demand
  const service: Caller = { subject: 'the service', roles: [], claims: {} }
  return {
    now: Date.now,
    trust,
    decrypts,
    seen: key => isLoose && isAnswerTaken(demand, key),
    identities: {
      bearer: nobody,
      key: nobody,
      password: nobody,
      digest: nobody,
      known: nobody,
      certificate: der => (isServiceCertificate({ der: Buffer.from(der) }, demand) ? service : undefined),
    },
  }
}

/** (4) */
function isAnswerTaken({ acceptedAnswers }: AnswerDemand, key: string): boolean {
  const result = acceptedAnswers.take(key, Date.now())
  if (result === 'full')
    failSecurity(
      'InvalidSecurity',
      `more than ${takenAnswersMax} answers in six minutes, so it may be a copy of an earlier one`,
    )
  return result === 'known'
}
