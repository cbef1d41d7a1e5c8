/**
 * The demands of endpoints on messages, by the contract or by the settings, and the means to verify
 * them: people, trusted certificates, the service's own keys, a memory of replays in the store.
 */
import { isHttpAddress } from '../../base/address.ts'
import { settle } from '../../base/maybe.ts'
import type { SecurityRule, ServedEndpoint } from '../../contract/endpoint-rule.ts'
import type { Port } from '../../contract/exchange.ts'
import { type Watching, watchOctets } from '../../identity/watched-file.ts'
import { readCrlList } from '../../security/crypto/key-source.ts'
import { type OcspHash, ocspHashes } from '../../security/crypto/ocsp-response.ts'
import { OcspStatuses } from '../../security/crypto/ocsp-statuses.ts'
import { RevocationLists } from '../../security/crypto/revocation.ts'
import type { Anchors, CurrentLists } from '../../security/crypto/trust.ts'
import { compileDeclaredPolicy, compilePortPolicy } from '../../security/policy/declared-policy.ts'
import { type ProofMeans, prepareDecryption, prepareMeans } from '../../security/policy/means.ts'
import { findSigningFlaw } from '../../security/policy/pair-flaws.ts'
import type { Demand, SecurityPolicy } from '../../security/policy/policy.ts'
import type { Decryption } from '../../security/policy/verification-context.ts'
import { Insecure } from '../../security/security-fault.ts'
import { createWsSecurity, type SecurityMeans } from '../../security/ws-security.ts'
import type { Identities } from '../../service/identity-port.ts'
import { clocksDifferMs, type Store } from '../../service/store.ts'
import type { VerifyMessage } from '../../soap/security-port.ts'
import type { Logger } from '../operations/log.ts'
import { type FetchedLists, fetchLists, type ListWatching } from './fetched-crls.ts'
import { createOcspClient } from './ocsp-client.ts'
import { type Partner, watchSigners } from './signers.ts'

/**
 * Settings of message security. Holders of certificates issued by `authorities`, or listed in
 * `certificates`, may sign messages.
 */
export interface MessageSecurity extends Anchors {
  /** Further files of CRLs, PEM or DER; read again when they change. */
  readonly crlFiles?: readonly string[]
  /**
   * Additional addresses of CRLs, http or https, fetched at start, every hour and when a list ends.
   * No other address is contacted, whatever certificates name. If one cannot be fetched, the last
   * list remains in force until its end; then `revocation` decides.
   */
  readonly crlAddresses?: readonly string[]
  /**
   * Addresses of OCSP responders, http or https, which are queried about signers and the
   * authorities on their paths (RFC 6960): those that a certificate names, or all if it names none
   * of them. No other address is contacted. An answer is valid until its next update, at most a
   * week, and is refreshed every hour; a message waits only if no answer is known, up to 10
   * seconds. Without an answer CRLs decide, and then `revocation`.
   */
  readonly ocspAddresses?: readonly string[]
  /**
   * Whether every OCSP response must repeat a nonce (RFC 9654). Default: false, since responders
   * that prepare responses in advance cannot (RFC 5019).
   */
  readonly ocspNonce?: boolean
  /**
   * The hash that names the issuer of a certificate in queries. Default: `sha1`, which every
   * responder knows; `sha256` according to RFC 9919. Answers with SHA-1, SHA-256, SHA-384 and
   * SHA-512 are always accepted.
   */
  readonly ocspHash?: OcspHash
  /**
   * Files of PEM certificates in addition to `authorities`, `intermediates` and `certificates`: a
   * certificate that is not an authority counts among `certificates`; an authority that another one
   * has issued counts among `intermediates`, so it must itself be valid and not revoked. Read again
   * when they change.
   */
  readonly signerFiles?: readonly string[]
  /**
   * Partners, each with its authorities and certificates, and the people that these may identify.
   * With several authorities, each must belong to a partner, since otherwise any of them could
   * identify anyone.
   */
  readonly partners?: readonly Partner[]
  /**
   * Files of the service's own key pairs. The first signs answers; senders may encrypt to any. Read
   * again when they change: a replaced key continues to decrypt until its certificate ends.
   */
  readonly keyFiles?: readonly KeyFiles[]
  /**
   * Applies where the contract leaves it to the settings. Default: a UsernameToken, or a trusted
   * signature over Body and Timestamp.
   */
  readonly policy?: Omit<SecurityPolicy, 'required'>
  /** Further means of proof: assertions, keys for decryption, shared secrets, Kerberos. */
  readonly means?: ProofMeans
}

/** A key pair of the service, in two PEM files. */
export interface KeyFiles {
  readonly key: string
  readonly certificate: string
  readonly passphrase?: string
}

const username: Demand = { caller: 'username', passwords: ['text', 'digest'] }
const signature: Demand = { caller: 'x509', timestamp: true, signed: ['Body', 'Timestamp'] }

export interface SecurityWorld {
  readonly store: Store
  readonly identities: Identities
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** Called when CRLs or OCSP responses cannot be used; the former ones still count. */
  readonly failed?: (thrown: unknown) => void
  readonly logger: Pick<Logger, 'warn'>
  /** The endpoints to serve, whose policies need means. Default: none. */
  readonly endpoints?: readonly ServedEndpoint[]
  /** The ports to serve, whose policies need means as well. Default: none. */
  readonly ports?: readonly Port[]
}

/** The verifier of messages at an endpoint, and its policy for descriptions. */
export interface EndpointSecurity {
  readonly secure: VerifyMessage
  readonly policy: SecurityPolicy
}

export interface MessageSecurityPort {
  /** For an endpoint with this declaration. */
  readonly of: (declared: ServedEndpoint['security']) => EndpointSecurity
  readonly ofPort: (port: Port) => EndpointSecurity
}

const place = 'messageSecurity'

/** @throws Error that names every part of a policy that the given means cannot enforce */
export function createMessageSecurity(options: MessageSecurity, world: SecurityWorld): MessageSecurityPort {
  const { store, identities, clock, logger, endpoints = [], ports = [] } = world
  const fixed = prepareMeans(options.means ?? {}, `${place}.means`)
  const fetched = fetchAllLists(options, world, list => signers().trust.hasSigned(list))
  const sources = { lists: watchLists(options, world, fetched), statuses: watchStatuses(options, world) }
  const signers = watchSigners(options, place, sources, watchingOf(world))
  const keys = watchKeys(options, world)
  const seen: SecurityMeans['seen'] = async (key, until) => {
    const memo = { value: '', expires: until + clocksDifferMs } // an instance whose clock is behind still accepts it
    return !(await store.write(writer => writer.remember('replay', key, memo, clock())))
  }
  const means = (): SecurityMeans => {
    const { signs, decrypts } = keys()
    const { trust, mayName } = signers()
    return {
      ...fixed,
      ...(signs && { signs }),
      decrypts: [...decrypts, ...(fixed.decrypts ?? [])],
      identities,
      trust,
      mayName,
      seen,
    }
  }
  const create = (policy: SecurityPolicy): EndpointSecurity => ({
    policy,
    secure: logRefusals(waitForLists(createWsSecurity(policy, means, clock()), fetched), logger, clock),
  })
  const usual = create({ ...(options.policy ?? usualPolicy(means())), required: true })
  const created = new Map<SecurityRule | Port, EndpointSecurity>()
  const createOnce = (declared: SecurityRule | Port, compile: () => SecurityPolicy): EndpointSecurity => {
    const made = created.get(declared) ?? create(compile())
    created.set(declared, made)
    return made
  }
  const port: MessageSecurityPort = {
    of: declared =>
      typeof declared === 'object' ? createOnce(declared, () => compileDeclaredPolicy(declared)) : usual,
    ofPort: declared => {
      const policy = compilePortPolicy(declared, usual.policy)
      return policy === usual.policy ? usual : createOnce(declared, () => policy)
    },
  }
  for (const { security } of endpoints) port.of(security)
  for (const each of ports) port.ofPort(each)
  return port
}

/** Without signers, only passwords prove a message. */
function usualPolicy({ trust }: SecurityMeans): Pick<SecurityPolicy, 'anyOf'> {
  return { anyOf: trust?.isEmpty === false ? [username, signature] : [username] }
}

const logPauseMs = 1000

/**
 * A fault does not state its cause (WSS SOAP Message Security §12), but the log does: one line a
 * second, with the number of refusals since the last line.
 */
function logRefusals(
  secure: VerifyMessage,
  logger: SecurityWorld['logger'],
  clock: SecurityWorld['clock'],
): VerifyMessage {
  let writtenAt = 0
  let refusals = 0
  return evidence =>
    settle(
      () => secure(evidence),
      thrown => {
        if (!(thrown instanceof Insecure)) throw thrown
        refusals++
        if (Math.abs(clock() - writtenAt) >= logPauseMs) {
          const { fault, why } = thrown
          logger.warn({ from: evidence.from, endpoint: evidence.address, fault, why, refusals }, 'message refused')
          writtenAt = clock()
          refusals = 0
        }
        throw thrown
      },
    )
}

function fetchAllLists(
  { crlAddresses = [] }: MessageSecurity,
  world: SecurityWorld,
  isSigned: ListWatching['isSigned'],
): readonly FetchedLists[] {
  requireAddresses(crlAddresses, 'crlAddresses')
  return crlAddresses.map(address => fetchLists(address, { ...watchingOf(world), isSigned }))
}

function requireAddresses(addresses: readonly string[], setting: string): void {
  for (const address of addresses) {
    if (!isHttpAddress(address) || !URL.canParse(address))
      throw new TypeError(`${place}.${setting} has ${JSON.stringify(address)}: give an address with http or https`)
  }
}

/** The answers of responders; undefined without responders. */
function watchStatuses(
  { ocspAddresses = [], ocspNonce: nonce = false, ocspHash: hash = 'sha1' }: MessageSecurity,
  world: SecurityWorld,
) {
  requireAddresses(ocspAddresses, 'ocspAddresses')
  if (!ocspHashes.includes(hash))
    throw new TypeError(`${place}.ocspHash is ${JSON.stringify(hash)}: give one of ${ocspHashes.join(', ')}`)
  if (ocspAddresses.length === 0) return undefined
  const addresses = ocspAddresses.map(address => new URL(address).href)
  return new OcspStatuses({ addresses, nonce, hash, send: createOcspClient(), ...watchingOf(world) })
}

/** A message waits if no fresh list is known and a request for one is under way. */
const waitForLists = (secure: VerifyMessage, fetched: readonly FetchedLists[]): VerifyMessage =>
  fetched.length === 0
    ? secure
    : async evidence => {
        await Promise.all(fetched.map(each => each.awaited()))
        return secure(evidence)
      }

/** The current lists of files and addresses, and the fixed ones; undefined without any. */
function watchLists(
  { crls, crlFiles = [] }: MessageSecurity,
  world: SecurityWorld,
  fetched: readonly FetchedLists[],
): CurrentLists | undefined {
  if (crlFiles.length + fetched.length === 0) return undefined
  const fixed = readCrlList(crls, `${place}.crls`)
  const files = crlFiles.map(file => watchOctets(file, octets => readCrlList(octets, 'the file'), watchingOf(world)))
  const parts = [...files, ...fetched.map(each => each.current)]
  return memoizeByParts(parts, current => new RevocationLists([...fixed, ...current.flat()]))
}

const watchingOf = ({ clock, failed = () => {} }: SecurityWorld): Watching => ({ clock, failed })

/** A value made from the current parts, and made again when one of them changes. */
function memoizeByParts<P, T>(parts: readonly (() => P)[], make: (current: readonly P[]) => T): () => T {
  let known = parts.map(read => read())
  let made = make(known)
  return () => {
    const current = parts.map(read => read())
    if (current.some((each, at) => each !== known[at])) {
      known = current
      made = make(current)
    }
    return made
  }
}

/** The service's key pairs. */
interface ServiceKeys {
  /** The first pair; if that cannot sign, such as before its certificate begins, a former one. */
  readonly signs: Decryption | undefined
  /** All pairs to which senders may have encrypted. */
  readonly decrypts: readonly Decryption[]
}

function watchKeys({ keyFiles = [] }: MessageSecurity, world: SecurityWorld): () => ServiceKeys {
  const former: Decryption[] = []
  const pairs = keyFiles.map((files, at) => watchPair(files, `${place}.keyFiles[${at}]`, world, former))
  const found = memoizeByParts(pairs, current => ({
    signing: [...current.slice(0, 1), ...former.toReversed()],
    decrypts: [...current, ...former.filter(({ certificate }) => certificate.notAfter >= world.clock())],
  }))
  return () => {
    const { signing, decrypts } = found()
    const now = world.clock()
    return { signs: signing.find(each => findSigningFlaw(each, now) === undefined) ?? signing[0], decrypts }
  }
}

const nameFiles = (thrown: unknown, { key, certificate }: KeyFiles): unknown =>
  thrown instanceof TypeError ? new TypeError(`${key}, ${certificate}: ${thrown.message}`, { cause: thrown }) : thrown

/**
 * A pair as its files have it now. Two files change one after the other: until they match again,
 * the former pair counts.
 */
function watchPair(files: KeyFiles, where: string, world: SecurityWorld, former: Decryption[]): () => Decryption {
  const read = (file: string) => watchOctets(file, octets => octets, watchingOf(world))
  const parts = [read(files.key), read(files.certificate)]
  const pairOf = ([key, certificate]: readonly Buffer[]): Decryption => {
    const { passphrase } = files
    const source = passphrase === undefined ? key! : { key: key!, passphrase }
    return prepareDecryption({ key: source, certificate: certificate! }, where)
  }
  let pair: Decryption | undefined
  return memoizeByParts(parts, octets => {
    try {
      const next = pairOf(octets)
      if (pair) former.push(pair)
      pair = next
    } catch (thrown) {
      if (!pair) throw nameFiles(thrown, files)
      world.failed?.(thrown)
    }
    return pair
  })
}
