/**
 * The status of one certificate that an OCSP response proves (RFC 6960 §3.2, RFC 5019 §4). What
 * always holds:
 *  (1) It is signed by the issuer of that very certificate, or by a responder that this issuer's
 *      key certified directly (§4.2.2.2). Other certificates in it count for nothing.
 *  (2) It is about this certificate: names, key and serial number (§3.2 1).
 *  (3) It is current: it states until when it counts, or it repeats the nonce of this request.
 */

import type { Certificate } from './certificate.ts'
import { checkListed, type PathSearch } from './certification-path.ts'
import { NotDer } from './der.ts'
import { hashToName, identityOf, isSameIdentity, OcspResponse, type SingleAnswer } from './ocsp-response.ts'
import { type CertificatePath, checkPath, describeCertificate } from './path-validation.ts'
import type { RevocationLists } from './revocation.ts'

export interface OcspQuestion {
  /** The certificate in question, its issuer, and so on up to the anchor. */
  readonly path: readonly [Certificate, Certificate, ...Certificate[]]
  /** For certificates of responders, whose revocation only CRLs decide. */
  readonly search: PathSearch
  /** The nonce of the request, if it had one. */
  readonly nonce: Buffer | undefined
}

/** The proven status of a certificate. */
export interface CertificateStatus {
  readonly status: SingleAnswer['status']
  /** Milliseconds since 1970; it counts before `until`. */
  readonly thisUpdate: number
  readonly until: number
  /**
   * The CRLs that clear the responder, where it needs them: without these lists the answer does not
   * count.
   */
  readonly lists: RevocationLists | undefined
}

/** How far a responder's clock may be ahead (RFC 5019 §4). */
const skewMs = 300_000
/** How long an answer counts from its arrival, however distant its next update. */
const answerMaxMs = 7 * 86_400_000
/** How long an answer without a next update counts: its freshness rests on the repeated nonce. */
const noncedAnswerMs = 60_000

/** id-kp-OCSPSigning; anyExtendedKeyUsage is not enough (§4.2.2.2). */
const ocspSigning = '1.3.6.1.5.5.7.3.9'

/** The status that these octets prove, or why they prove none. */
export function judgeOcspResponse(octets: Buffer, question: OcspQuestion): CertificateStatus | string {
  const response = parseOcspResponse(octets)
  if (typeof response === 'string') return response
  const { path, search, nonce } = question
  const [answer, ...others] = response.answers.filter(({ identity }) =>
    isSameIdentity(identity, identityOf(path[0], path[1], identity.hash)),
  )
  if (!answer) return 'it is about another certificate' // (2)
  if (others.some(each => !isSameAnswer(each, answer))) return 'it has two answers about the certificate that differ'
  if (nonce && !response.hasNonce(nonce)) return 'it does not repeat the nonce of the request'
  const until = Math.min(
    answer.nextUpdate ?? (nonce ? search.now + noncedAnswerMs : Number.NaN),
    search.now + answerMaxMs,
  )
  if (Number.isNaN(until)) return 'it does not state its end' // (3)
  const latest = search.now + skewMs
  if (answer.thisUpdate > latest || response.producedAt > latest) return 'it is dated in the future'
  if (search.now >= until) return 'it has ended'
  const signer = findResponder(response, question)
  if (typeof signer === 'string') return signer
  return { status: answer.status, thisUpdate: answer.thisUpdate, until, lists: signer.lists }
}

/** A responder may answer with two hashes at once, but both answers have to agree. */
const isSameAnswer = (one: SingleAnswer, other: SingleAnswer): boolean =>
  one.status === other.status && one.thisUpdate === other.thisUpdate && one.nextUpdate === other.nextUpdate

function parseOcspResponse(octets: Buffer): OcspResponse | string {
  try {
    return new OcspResponse(octets)
  } catch (thrown) {
    if (thrown instanceof NotDer) return thrown.message
    throw thrown
  }
}

/** The CRLs needed to accept the signer (1), or why no signer counts. */
function findResponder(response: OcspResponse, question: OcspQuestion): Pick<CertificateStatus, 'lists'> | string {
  const [, issuer] = question.path
  const { responder } = response
  const isResponder = ({ subjectKey, keyOctets }: Certificate): boolean =>
    responder.by === 'name' ? responder.key === subjectKey : responder.hash.equals(hashToName(keyOctets))
  const problem = isResponder(issuer)
    ? response.checkSignature(issuer)
    : 'its signer is not the issuer, and it carries no certificate of a responder'
  if (problem === undefined) return { lists: undefined }
  let reason = problem
  for (const delegate of response.certificates.filter(isResponder)) {
    const mistake = checkDelegate(delegate, question) ?? response.checkSignature(delegate)
    if (mistake === undefined) return { lists: delegate.extensions.isUnchecked ? undefined : question.search.lists }
    reason = `its signer ${describeCertificate(delegate)}: ${mistake}`
  }
  return reason
}

/** §4.2.2.2: the very key that signed the certificate in question certified it for this purpose. */
function checkDelegate(delegate: Certificate, { path, search }: OcspQuestion): string | undefined {
  const [certificate, ...above] = path
  const delegatePath: CertificatePath = [delegate, ...above]
  if (!delegate.extensions.purposes?.has(ocspSigning)) return 'it is not for signing OCSP responses'
  if (delegate.der.equals(certificate.der)) return 'it answers for itself'
  if (!delegate.maySign) return 'it may not sign'
  const problem = checkPath(delegatePath, {}, search.now)
  if (problem || delegate.extensions.isUnchecked) return problem
  if (search.lists) return checkListed(delegatePath, 0, search)
  return search.revocation === 'required' ? 'no CRL shows whether it is revoked, and it has no ocsp-nocheck' : undefined
}
