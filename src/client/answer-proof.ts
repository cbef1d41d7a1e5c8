/**
 * The proof of an answer (WSS SOAP Message Security 1.1 §8): it is the service's, it is recent, it
 * answers this very request, and what is read of it is what was signed. Nothing here remembers
 * answers: each confirms the signature of its request, and no two requests have the same.
 */
import type { Caller } from '../contract/policy.ts'
import type { Certificate } from '../security/crypto/certificate.ts'
import type { SecurityPolicy } from '../security/policy/policy.ts'
import type { VerificationContext } from '../security/policy/verification-context.ts'
import { Insecure } from '../security/security-fault.ts'
import { verifyMessage } from '../security/verify/verify.ts'
import type { SoapVersion } from '../soap/version.ts'
import type { Document, Element } from '../xml/index.ts'
import type { AnswerDemand } from './message-keys.ts'

/** An answer as its envelope was opened. */
export interface AnswerToProve {
  readonly document: Document
  readonly version: SoapVersion
  readonly body: Element
  /** The blocks for this node. */
  readonly blocks: readonly Element[]
  /** Those of them that are read, but for the Security block. */
  readonly processed: readonly Element[]
  /** The values of the request's signatures. */
  readonly sent: readonly Buffer[]
}

/** The Body that was proven, decrypted where it was encrypted; or why nothing proves it. */
export async function proveAnswer(answer: AnswerToProve, demand: AnswerDemand): Promise<Element | string> {
  const { document, version, body, blocks, processed, sent } = answer
  const [header] = document.root.elements(version.header)
  const message = { envelope: document.root, header, body, blocks, processed, sent, from: '', confidential: false }
  try {
    const proven = await verifyMessage(message, policyOf(demand), contextOf(demand))
    return proven.body
  } catch (thrown) {
    if (thrown instanceof Insecure) return thrown.why
    throw thrown
  }
}

const policyOf = ({ isEncrypted }: AnswerDemand): SecurityPolicy => ({
  required: true,
  anyOf: [
    {
      caller: 'x509',
      timestamp: true,
      signed: ['Body', 'Timestamp'],
      ...(isEncrypted && { encrypted: ['Body'] }),
    },
  ],
})

const nobody = (): undefined => undefined

function contextOf(demand: AnswerDemand): VerificationContext {
  const { trust, decrypts } = demand
  const service: Caller = { subject: 'the service', roles: [], claims: {} }
  const isService = (der: Uint8Array) => demand.pinned.some(each => each.der.equals(der)) || hasName(demand, der)
  return {
    now: Date.now,
    trust,
    decrypts,
    seen: () => false,
    identities: {
      bearer: nobody,
      key: nobody,
      password: nobody,
      digest: nobody,
      known: nobody,
      certificate: der => (isService(der) ? service : undefined),
    },
  }
}

/** The only common name, as for a signer of requests. */
function hasName({ name, trust }: AnswerDemand, der: Uint8Array): boolean {
  const found: Certificate | undefined = trust.findTrusted(Buffer.from(der), Date.now())
  return name !== undefined && found?.commonNames.length === 1 && found.commonNames[0] === name
}
