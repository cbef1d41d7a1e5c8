/**
 * The policy of `/soap/…/secure`, and the means of its proof: people, trusted certificates, a
 * memory of replays in the store.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CertificateTrust } from '../security/crypto/trust.ts'
import type { Demand, SecurityPolicy } from '../security/policy/policy.ts'
import { createWsSecurity, type SecurityMeans } from '../security/ws-security.ts'
import type { Identities } from '../service/identity-port.ts'
import type { Store } from '../service/store.ts'
import type { VerifyMessage } from '../soap/security-port.ts'

export interface MessageSecurity {
  /** PEM of authorities: holders of their certificates may sign messages. */
  readonly authorities?: readonly (string | Uint8Array)[]
  /** PEM of certificates that may sign messages themselves. */
  readonly certificates?: readonly (string | Uint8Array)[]
  /** Default: a UsernameToken, or a trusted signature over Body and Timestamp. */
  readonly policy?: Omit<SecurityPolicy, 'required'>
  /** Further means of proof: assertions, keys for decryption, shared secrets, Kerberos. */
  readonly means?: Omit<SecurityMeans, 'identities' | 'seen' | 'trust'>
}

const username: Demand = { caller: 'username', passwords: ['text', 'digest'] }
const signature: Demand = { caller: 'x509', timestamp: true, signed: ['Body', 'Timestamp'] }

export interface ReplayMemory {
  readonly store: Store
  readonly identities: Identities
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/** The verifier of messages, and its policy for descriptions. */
export interface MessageSecurityPort {
  readonly secure: VerifyMessage
  readonly policy: SecurityPolicy
}

/** @throws Error that names every part of the policy that the given means cannot enforce */
export function createMessageSecurity(
  options: MessageSecurity,
  { store, identities, clock }: ReplayMemory,
): MessageSecurityPort {
  const { authorities = [], certificates = [] } = options
  const trust = new CertificateTrust({ authorities, certificates })
  const policy = options.policy ?? { anyOf: trust.isEmpty ? [username] : [username, signature] }
  const secure = createWsSecurity(policy, {
    ...options.means,
    identities,
    trust,
    seen: async (key, expires) =>
      !(await store.write(writer => writer.remember('replay', key, { value: '', expires }, clock()))),
  })
  return { secure, policy: { ...policy, required: true } }
}

/**
 * Reads a file of PEM certificates: authorities, whose holders may sign messages, and certificates
 * that may sign themselves.
 * @throws Error if it cannot be read or contains no certificate
 */
export function readSigners(file: string): Pick<MessageSecurity, 'authorities' | 'certificates'> {
  const found = readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0)
    throw new Error(`${file} contains no certificate: give certificates in PEM, one after another`)
  const isAuthority = (pem: string): boolean => new X509Certificate(pem).ca
  return { authorities: found.filter(isAuthority), certificates: found.filter(pem => !isAuthority(pem)) }
}
