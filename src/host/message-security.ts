/**
 * The policy of `/soap/…/secure`, and the means of its proof: people, trusted certificates, a
 * memory of replays in the store.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { settle } from '../base/maybe.ts'
import { watchOctets } from '../identity/watched-file.ts'
import type { RevocationList } from '../security/crypto/crl.ts'
import { readCrlList } from '../security/crypto/key-source.ts'
import { RevocationLists } from '../security/crypto/revocation.ts'
import { type Anchors, CertificateTrust, type CurrentLists } from '../security/crypto/trust.ts'
import { type ProofMeans, prepareMeans } from '../security/policy/means.ts'
import type { Demand, SecurityPolicy } from '../security/policy/policy.ts'
import { Insecure } from '../security/security-fault.ts'
import { createWsSecurity } from '../security/ws-security.ts'
import type { Identities } from '../service/identity-port.ts'
import type { Store } from '../service/store.ts'
import type { VerifyMessage } from '../soap/security-port.ts'
import type { Logger } from './operations/log.ts'

/** Holders of certificates of `authorities`, and of those in `certificates`, may sign messages. */
export interface MessageSecurity extends Anchors {
  /** Files of CRLs, PEM or DER, in addition to `crls`; read again when they change. */
  readonly crlFiles?: readonly string[]
  /** Default: a UsernameToken, or a trusted signature over Body and Timestamp. */
  readonly policy?: Omit<SecurityPolicy, 'required'>
  /** Further means of proof: assertions, keys for decryption, shared secrets, Kerberos. */
  readonly means?: ProofMeans
}

const username: Demand = { caller: 'username', passwords: ['text', 'digest'] }
const signature: Demand = { caller: 'x509', timestamp: true, signed: ['Body', 'Timestamp'] }

export interface SecurityWorld {
  readonly store: Store
  readonly identities: Identities
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** Is told when a file of CRLs that changed cannot be used; the former one counts. */
  readonly failed?: (thrown: unknown) => void
  readonly logger: Pick<Logger, 'warn'>
}

/** The verifier of messages, and its policy for descriptions. */
export interface MessageSecurityPort {
  readonly secure: VerifyMessage
  readonly policy: SecurityPolicy
}

const place = 'messageSecurity'

/** @throws Error that names every part of the policy that the given means cannot enforce */
export function createMessageSecurity(options: MessageSecurity, world: SecurityWorld): MessageSecurityPort {
  const { store, identities, clock, logger } = world
  const trust = new CertificateTrust(options, place, watchLists(options, world))
  const policy = options.policy ?? { anyOf: trust.isEmpty ? [username] : [username, signature] }
  const secure = createWsSecurity(policy, {
    ...prepareMeans(options.means ?? {}, `${place}.means`),
    identities,
    trust,
    seen: async (key, expires) =>
      !(await store.write(writer => writer.remember('replay', key, { value: '', expires }, clock()))),
  })
  return { secure: logRefusals(secure, logger, clock), policy: { ...policy, required: true } }
}

const logPauseMs = 1000

/**
 * A fault does not tell its cause (WSS SOAP Message Security §12): the log does, in one line a
 * second, with the number of refusals since the last.
 */
function logRefusals(
  secure: VerifyMessage,
  logger: SecurityWorld['logger'],
  clock: SecurityWorld['clock'],
): VerifyMessage {
  let nextAt = 0
  let refusals = 0
  return evidence =>
    settle(
      () => secure(evidence),
      thrown => {
        if (!(thrown instanceof Insecure)) throw thrown
        refusals++
        if (clock() >= nextAt) {
          const { fault, why } = thrown
          logger.warn({ from: evidence.from, endpoint: evidence.address, fault, why, refusals }, 'message refused')
          nextAt = clock() + logPauseMs
          refusals = 0
        }
        throw thrown
      },
    )
}

/** The lists of the files as they are now, with the fixed ones; undefined without a file. */
function watchLists({ crls, crlFiles = [] }: MessageSecurity, world: SecurityWorld): CurrentLists | undefined {
  if (crlFiles.length === 0) return undefined
  const { clock, failed = () => {} } = world
  const fixed = readCrlList(crls, `${place}.crls`)
  const files = crlFiles.map(file => watchOctets(file, octets => readCrlList(octets, 'the file'), { clock, failed }))
  let known: readonly (readonly RevocationList[])[] = []
  let lists = new RevocationLists(fixed)
  return () => {
    const current = files.map(read => read())
    if (current.some((each, at) => each !== known[at])) {
      known = current
      lists = new RevocationLists([...fixed, ...current.flat()])
    }
    return lists
  }
}

function readSignerFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`the signers cannot be read: ${why}: check the path, and that this user may read the file`, {
      cause,
    })
  }
}

/**
 * Reads a file of PEM certificates: authorities, whose holders may sign messages, and certificates
 * that may sign themselves.
 * @throws Error if it cannot be read or contains no certificate
 */
export function readSigners(file: string): Pick<MessageSecurity, 'authorities' | 'certificates'> {
  const found = readSignerFile(file).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0)
    throw new Error(`${file} contains no certificate: give certificates in PEM, one after another`)
  const isAuthority = (pem: string): boolean => new X509Certificate(pem).ca
  return { authorities: found.filter(isAuthority), certificates: found.filter(pem => !isAuthority(pem)) }
}
