/** WS-Security in the shape that the SOAP face asks for: `soap/security-port.ts`. */
import type { VerifyMessage } from '../soap/security-port.ts'
import { findPolicyMistakes, type SecurityPolicy } from './policy/policy.ts'
import type { VerificationContext } from './policy/verification-context.ts'
import { verifyMessage } from './verify/verify.ts'

/** Everything but the clock, which is the face's. */
export type SecurityMeans = Omit<VerificationContext, 'now'>

/**
 * Verifies messages by this policy: always on endpoints that demand it, elsewhere where there is a
 * Security block.
 * @throws Error with every mistake of a policy that cannot be enforced (X14)
 */
export function createWsSecurity(policy: Omit<SecurityPolicy, 'required'>, means: SecurityMeans): VerifyMessage {
  const mistakes = findPolicyMistakes({ ...policy, required: true }, { ...means, now: () => 0 })
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'))
  return async evidence => {
    const { document, body, version, targeted, from, confidential, parts, part } = evidence
    const { root: envelope } = document
    const [header] = envelope.elements(version.header)
    const attachments = { uris: parts, octets: (uri: string, complete: boolean) => (complete ? undefined : part(uri)) }
    const packaged = parts.length > 0 ? { attachments } : {}
    const message = { envelope, header, body, blocks: targeted, from, confidential, ...packaged }
    const { caller, body: proven } = await verifyMessage(
      message,
      { ...policy, required: evidence.demanded },
      { ...means, now: () => evidence.now },
    )
    return { caller, body: proven }
  }
}
