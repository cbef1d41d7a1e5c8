/** WS-Security in the shape that the SOAP face asks for: `soap/security-port.ts`. */
import { refuse } from '../service/refusal.ts'
import type { ProtectAnswer, VerifyMessage } from '../soap/security-port.ts'
import { suiteCipher, suiteTransport } from './policy/algorithm-suite.ts'
import { findSigningFlaw } from './policy/pair-flaws.ts'
import { exchangePolicyOf, findPolicyMistakes, type SecurityPolicy } from './policy/policy.ts'
import type { Decryption, VerificationContext } from './policy/verification-context.ts'
import type { Encryption } from './protect/encrypt.ts'
import { type Protection, protectMessage } from './protect/protect.ts'
import { failSecurity } from './security-fault.ts'
import type { Signer } from './verify/incoming.ts'
import { type VerifiedMessage, verifyMessage } from './verify/verify.ts'

/** Everything but the clock, which is the face's. */
export type SecurityMeans = Omit<VerificationContext, 'now'>

/**
 * Verifies messages by this policy: always on endpoints that demand it, elsewhere where there is a
 * Security block. Gives what protects the answer, if the policy wants that.
 * @param means asked for each message, since keys change
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
    const { document, body, version, targeted, processed, from, confidential, parts, part } = evidence
    const { root: envelope } = document
    const [header] = envelope.elements(version.header)
    const attachments = { uris: parts, octets: (uri: string, complete: boolean) => (complete ? undefined : part(uri)) }
    const packaged = parts.length > 0 ? { attachments } : {}
    const message = { envelope, header, body, blocks: targeted, processed, from, confidential, ...packaged }
    const demanded = { ...policy, required: evidence.demanded }
    const context = { ...current(), now: () => evidence.now }
    const proven = await verifyMessage(message, demanded, context)
    const { answers } = exchangePolicyOf(demanded, proven.body)
    const signs = evidence.demanded && answers ? context.signs : undefined
    const flaw = signs && findSigningFlaw(signs, evidence.now)
    if (flaw !== undefined) refuse({ kind: 'unavailable', after: 60, cause: `the key that signs answers has ${flaw}` })
    const protection = signs && answerProtection(proven, signs, answers === 'encrypted')
    const protect: ProtectAnswer | undefined =
      protection && ((answer, now) => protectMessage(answer, protection, now).envelope)
    return { caller: proven.caller, body: proven.body, ...(protect && { protect }) }
  }
}

/** What the answer to a proven message proves: that it is the service's, and answers this one. */
function answerProtection(proven: VerifiedMessage, { key, certificate }: Decryption, encrypts: boolean): Protection {
  const { confirms, signer } = proven
  return {
    timestamp: {},
    confirms: confirms ? [confirms] : [],
    signature: { key, by: { certificate, refer: 'direct' }, parts: ['Headers', 'Timestamp', 'Body'] },
    ...(encrypts && { encryption: encryptionTo(signer), encryptsFirst: true }),
  }
}

function encryptionTo(signer: Signer | undefined): Encryption {
  if (signer?.kind !== 'x509' || signer.key.asymmetricKeyType !== 'rsa')
    return failSecurity('InvalidSecurityToken', 'a certificate to which no answer can be encrypted: RSA alone can')
  return { to: signer.certificate, parts: ['Body'], cipher: suiteCipher, transport: suiteTransport }
}
