/**
 * The answers of responders about certificates, and when to ask them again. What it guards:
 *  (1) Only addresses from the settings are asked; if the certificate names responders, only those
 *      of them.
 *  (2) An answer counts until its own end, and is renewed after `renewMs`; an older answer never
 *      replaces a newer one, since anyone on the network path could replay it.
 *  (3) A revoked certificate stays revoked until a newer answer says otherwise.
 *  (4) At most one request about a certificate is under way, for at most `questionMs`, and after a
 *      failure none follows for `retryMs`; a message that needs no answer does not wait.
 *  (5) A cache may answer a request without a nonce (RFC 5019 §6). If that answer cannot be used,
 *      the responder itself is asked.
 *  (6) A responder's failure is reported once, by `ocsp-failures.ts`, however many certificates
 *      wait.
 */

import { hash as digest, randomBytes } from 'node:crypto'
import type { Maybe } from '../../base/maybe.ts'
import { BoundedCache, memoizeByObject } from '../../base/memo.ts'
import type { Certificate } from './certificate.ts'
import { type CertificateStatus, judgeOcspResponse, type OcspQuestion } from './ocsp.ts'
import { OcspFailures } from './ocsp-failures.ts'
import { identityOf, type OcspHash, writeOcspRequest } from './ocsp-response.ts'
import { describeCertificate } from './path-validation.ts'
import type { RevocationLists } from './revocation.ts'

/** A request to a responder. */
export interface OcspRequest {
  readonly address: string
  readonly request: Buffer
  /** Whether a cache may answer (5). */
  readonly isCacheable: boolean
  /** The party whose turn it is: equal for certificates of one issuer. */
  readonly party: string
  readonly signal: AbortSignal
}

/** The responders that may be asked, and how to ask them. */
export interface OcspMeans {
  /** http or https addresses, as `URL.href` writes them. */
  readonly addresses: readonly string[]
  /** Whether every answer has to repeat a nonce (RFC 9654). */
  readonly nonce: boolean
  /** How requests name the issuer. */
  readonly hash: OcspHash
  /** The octets of the response. Rejects with an Error if none arrives. */
  readonly send: (request: OcspRequest) => Promise<Buffer>
  readonly clock: () => number
  /** Receives the reason why there is no usable answer. */
  readonly failed: (thrown: unknown) => void
}

type StatusQuestion = Omit<OcspQuestion, 'nonce'>

interface StatusEntry {
  known: CertificateStatus | undefined
  dueAt: number
  retryAt: number
  asking: Promise<void> | undefined
}

const entriesMax = 10_000
/** The same as for CRLs. */
const renewMs = 3_600_000
const retryMs = 10_000
/** For all responders of a certificate together. */
const questionMs = 10_000
/** A responder may not yet know a certificate issued a moment ago. */
const unknownMs = 60_000
/** RFC 9654 §2.1. */
const nonceOctets = 32

const certificateDigest = memoizeByObject(({ der }: Certificate) => digest('sha256', der, 'base64url'))

export class OcspStatuses {
  readonly #means: OcspMeans
  readonly #entries = new BoundedCache<string, StatusEntry>(entriesMax)
  readonly #failures: OcspFailures

  constructor(means: OcspMeans) {
    this.#means = means
    this.#failures = new OcspFailures(means)
  }

  /**
   * The known status of the first certificate of the path; a promise while a responder is asked.
   */
  find(question: StatusQuestion): Maybe<CertificateStatus | undefined> {
    const [certificate, issuer] = question.path
    const { lists, now } = question.search
    const entry = this.#entryOf(`${certificateDigest(certificate)} ${certificateDigest(issuer)}`)
    const waitMs = (doListsHold(entry.known, lists) ? entry.dueAt : entry.retryAt) - now
    const isDue = waitMs <= 0 || waitMs > renewMs // the clock was put back
    if (!entry.asking && isDue) {
      entry.retryAt = entry.dueAt = now + retryMs
      entry.asking = this.#ask(question, entry)
        .catch(this.#means.failed)
        .finally(() => (entry.asking = undefined))
    }
    const known = statusAt(entry.known, now, lists)
    if (known || !entry.asking) return known
    return entry.asking.then(() => statusAt(entry.known, this.#means.clock(), lists))
  }

  #entryOf(key: string): StatusEntry {
    const before = this.#entries.get(key)
    if (before) return before
    const never = Number.NEGATIVE_INFINITY
    const entry: StatusEntry = { known: undefined, dueAt: never, retryAt: never, asking: undefined }
    this.#entries.set(key, entry)
    return entry
  }

  /** (1), RFC 6960 §3.1. */
  #addressesOf({ extensions: { responders } }: Certificate): readonly string[] {
    const { addresses } = this.#means
    const named = new Set(responders.map(each => URL.parse(each)?.href))
    const allowed = addresses.filter(address => named.has(address))
    return allowed.length > 0 ? allowed : addresses
  }

  /** The first responder that knows the certificate decides. */
  async #ask(question: StatusQuestion, entry: StatusEntry): Promise<void> {
    const [certificate] = question.path
    const signal = AbortSignal.timeout(questionMs)
    let unknown: CertificateStatus | undefined
    for (const address of this.#addressesOf(certificate)) {
      if (signal.aborted) break
      const found = await this.#askAt(address, question, entry, signal)
      if (found?.status === 'unknown') unknown ??= found
      else if (found) return this.#take(found, entry)
    }
    if (unknown && entry.known?.status !== 'revoked') {
      const until = Math.min(unknown.until, this.#means.clock() + unknownMs)
      entry.known = { ...unknown, until }
      entry.dueAt = until
    }
  }

  /** (5), (6) The usable answer of the responder. */
  async #askAt(
    address: string,
    question: StatusQuestion,
    { known }: StatusEntry,
    signal: AbortSignal,
  ): Promise<CertificateStatus | undefined> {
    const [certificate] = question.path
    const ways = this.#means.nonce ? [false] : [true, false]
    let problem: string | undefined
    for (const isCacheable of ways) {
      let found: CertificateStatus | string
      try {
        found = await this.#askOnce(address, question, isCacheable, signal)
      } catch (thrown) {
        this.#failures.reportOutage(address, thrown as Error) // nothing else is thrown there
        return undefined
      }
      problem = typeof found === 'string' ? found : checkOlder(known, found)
      this.#failures.forgetOutage(address)
      if (typeof found !== 'string' && problem === undefined) return found
    }
    if (problem !== undefined) this.#failures.reportUnusable(address, describeCertificate(certificate), problem)
    return undefined
  }

  /** @throws the Error of `send` */
  async #askOnce(
    address: string,
    question: StatusQuestion,
    isCacheable: boolean,
    signal: AbortSignal,
  ): Promise<CertificateStatus | string> {
    const { send, clock, hash, nonce: hasNonce } = this.#means
    const [certificate, issuer] = question.path
    const nonce = hasNonce ? randomBytes(nonceOctets) : undefined
    const request = writeOcspRequest(identityOf(certificate, issuer, hash), nonce)
    const octets = await send({ address, request, isCacheable, party: certificateDigest(issuer), signal })
    return judgeOcspResponse(octets, { ...question, search: { ...question.search, now: clock() }, nonce })
  }

  #take(found: CertificateStatus, entry: StatusEntry): void {
    const now = this.#means.clock()
    entry.known = found
    entry.dueAt = Math.max(now + retryMs, Math.min(now + renewMs, found.until))
  }
}

/** (2), (3) */
function checkOlder(known: CertificateStatus | undefined, found: CertificateStatus): string | undefined {
  if (!known || found.thisUpdate > known.thisUpdate) return undefined
  const isOlder = found.thisUpdate < known.thisUpdate || (known.status === 'revoked' && found.status !== 'revoked')
  return isOlder ? 'it is older than the one before' : undefined
}

/** Whether the CRLs that cleared the responder are the current ones. */
const doListsHold = (known: CertificateStatus | undefined, lists: RevocationLists | undefined): boolean =>
  !known?.lists || known.lists === lists

function statusAt(
  known: CertificateStatus | undefined,
  now: number,
  lists: RevocationLists | undefined,
): CertificateStatus | undefined {
  if (!known || !(doListsHold(known, lists) || known.status === 'revoked')) return undefined
  return now < known.until || known.status === 'revoked' ? known : undefined
}
