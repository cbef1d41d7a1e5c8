/**
 * What `/soap/…/secure` demands, and with what it is proven: people, trusted certificates, and a
 * memory for replays in the store.
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
  /** PEM of authorities: whoever they have given a certificate may sign messages. */
  readonly authorities?: readonly (string | Uint8Array)[]
  /** PEM of certificates that may sign messages themselves. */
  readonly certificates?: readonly (string | Uint8Array)[]
  /**
   * In place of the usual ways: a UsernameToken, or a trusted signature over Body and Timestamp.
   */
  readonly policy?: Omit<SecurityPolicy, 'required'>
  /**
   * Assertions, keys for decryption, shared secrets, Kerberos: what else messages may be proven by.
   */
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

/** What proves messages, and the policy by which it does, for whoever asks what is demanded. */
export interface MessageSecurityPort {
  readonly secure: VerifyMessage
  readonly policy: SecurityPolicy
}

/** @throws Error with every mistake of a policy that cannot be enforced with what is given */
export function createMessageSecurity(
  given: MessageSecurity,
  { store, identities, clock }: ReplayMemory,
): MessageSecurityPort {
  const { authorities = [], certificates = [] } = given
  const trust = new CertificateTrust({ authorities, certificates })
  const policy = given.policy ?? { anyOf: trust.empty ? [username] : [username, signature] }
  const secure = createWsSecurity(policy, {
    ...given.means,
    identities,
    trust,
    seen: async (key, expires) =>
      !(await store.write(writer => writer.remember('replay', key, { value: '', expires }, clock()))),
  })
  return { secure, policy: { ...policy, required: true } }
}

/**
 * A file of certificates, PEM one after another: authorities, whose holders may sign messages, and
 * certificates that may themselves. @throws Error when it cannot be read or holds something else
 */
export function readSigners(file: string): Pick<MessageSecurity, 'authorities' | 'certificates'> {
  const found = readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0) throw new Error(`${file} has no certificate: it takes PEM, one after another`)
  const isAuthority = (pem: string): boolean => new X509Certificate(pem).ca
  return { authorities: found.filter(isAuthority), certificates: found.filter(pem => !isAuthority(pem)) }
}
