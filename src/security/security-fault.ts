/**
 * The fault of a message whose verification fails: the fault codes of WSS SOAP Message Security 1.1
 * §12 in the exact words of the standard, the same for every cause (wrong user or wrong password,
 * wrong key or wrong octet). `why` is for the service's own log and names no secret; it is never
 * sent.
 */

import { showControls } from '../base/markup.ts'
import { Refused } from '../service/refusal.ts'
import type { SoapRefusal } from '../soap/refusal.ts'
import { internName, Malformed } from '../xml/index.ts'
import { isCertificateError } from './crypto/certificate.ts'
import { wsseNs } from './vocabulary.ts'

const faultTexts = {
  UnsupportedSecurityToken: 'An unsupported token was provided',
  UnsupportedAlgorithm: 'An unsupported signature or encryption algorithm was used',
  InvalidSecurity: 'An error was discovered processing the <wsse:Security> header.',
  InvalidSecurityToken: 'An invalid security token was provided',
  FailedAuthentication: 'The security token could not be authenticated or authorized',
  FailedCheck: 'The signature or decryption was invalid',
  SecurityTokenUnavailable: 'Referenced security token could not be retrieved',
  MessageExpired: 'The message has expired',
} as const

/** The faults of WSS 1.1 §12, by the local names of their codes. */
export type SecurityFault = keyof typeof faultTexts

/**
 * A message that fails to authenticate. The fault says what WSS 1.1 §12 allows; `why` is only for
 * the operator's log.
 */
export class Insecure extends Refused<SoapRefusal> {
  readonly fault: SecurityFault
  readonly why: string
  constructor(fault: SecurityFault, why: string) {
    super({ kind: 'security', subcode: internName(wsseNs, fault), detail: faultTexts[fault] })
    this.fault = fault
    this.why = why
  }
}

export function failSecurity(fault: SecurityFault, why: string): never {
  throw new Insecure(fault, why)
}

/** Refuses an algorithm, which the log names: it is usually a setting of the other party. */
export function refuseAlgorithm(what: string, ...uris: readonly string[]): never {
  failSecurity('UnsupportedAlgorithm', `${what}: ${showControls(uris.join(' ').slice(0, namedMax))}`)
}
/** Longer than the identifiers of any standard. */
const namedMax = 200

/**
 * The result of `act`. An invalid key or certificate, or a tree without a canonical form, becomes
 * this single failure.
 */
export function orFail<T>(fault: SecurityFault, why: string, act: () => T): T {
  try {
    return act()
  } catch (thrown) {
    if (thrown instanceof Malformed) return failSecurity(fault, `${why}: ${thrown.reason}`)
    if (isCertificateError(thrown)) return failSecurity(fault, why)
    throw thrown
  }
}
