/**
 * The caller of a request (rules A5.1, A5.3): its credentials, proven by the directory of people
 * and keys, for faces and pages alike; and whether a password may be sent. What it guards: people
 * whose browser sends credentials on its own (see `isCrossOrigin`).
 */

import { isLoopbackAddress } from '../base/address.ts'
import { chain, type Maybe } from '../base/maybe.ts'
import { anonymous, type Caller } from '../contract/policy.ts'
import { parseCookies } from '../http/cookie.ts'
import { proveCredentials, tokenScheme, writeChallengesFor } from '../http/credentials.ts'
import type { Request } from '../http/message.ts'
import type { FaceContext, Settings } from '../service/face-context.ts'
import type { PossessionProof } from '../service/identity-port.ts'
import { refuse } from '../service/refusal.ts'
import { isAddressOf } from './requested-address.ts'

export type AuthenticationContext = Pick<FaceContext, 'identities' | 'settings'>

/**
 * Refuses invalid credentials even where none are needed, since their sender expects to be
 * recognized.
 * @param service the name in the session cookie; undefined: cookies do not count, as on SOAP
 */
export function authenticate(request: Request, context: AuthenticationContext, service?: string): Maybe<Caller> {
  const { hosted } = context.identities
  if (hosted === undefined || request.carrier === undefined) return authenticateAlone(request, context, service)
  return chain(hosted(request.carrier), caller => caller ?? authenticateAlone(request, context, service))
}

/** Authenticates by the credentials in the request itself. */
function authenticateAlone(request: Request, context: AuthenticationContext, service?: string): Maybe<Caller> {
  if (hasAmbientCredentials(request)) return authenticateAmbient(request, context, service)
  const { identities, settings } = context
  const found = proveCredentials<Maybe<Caller | undefined>, PossessionProof>(request, identities, {
    takesPassword: () => isConfidential(request, settings),
    proofOf: () => ({
      jwt: request.fields['dpop'] ?? '',
      method: request.method,
      isAddress: address => isAddressOf(request, settings, address),
      certificate: request.certificate,
    }),
  })
  if (found === 'unusable') return refuse({ kind: 'unauthenticated' })
  if (!(found instanceof Promise)) return found ?? refuse({ kind: 'unauthenticated' })
  return found.then(caller => caller ?? refuse({ kind: 'unauthenticated' }))
}

/** A browser adds its cookie or certificate to any request, so an invalid one counts as none. */
function authenticateAmbient(
  { fields, scheme, certificate }: Request,
  { identities }: AuthenticationContext,
  service: string | undefined,
): Maybe<Caller> {
  const cookies = service === undefined ? undefined : fields['cookie']
  const value = cookies && parseCookies(cookies).get(sessionCookieName(service ?? '', scheme))
  const found =
    value && identities.cookie ? identities.cookie(value) : certificate && identities.certificate(certificate)
  return found instanceof Promise ? found.then(caller => caller ?? anonymous) : (found ?? anonymous)
}

/** Whether the credentials, if any, are of the kind that a browser adds on its own. */
export const hasAmbientCredentials = ({ fields }: Request): boolean =>
  fields['authorization'] === undefined && fields['api-key'] === undefined

/** RFC 6265bis §4.1.3.2: with this prefix, no other host and no cleartext can set the cookie. */
export const sessionCookieName = (service: string, scheme: Request['scheme']): string =>
  scheme === 'https' ? `__Host-${service}` : service

/** WWW-Authenticate: all schemes accepted for this request, and whether a token failed. */
export const writeAuthChallenges = (
  request: Request,
  { identities, settings }: AuthenticationContext,
  realm: string,
): string =>
  writeChallengesFor({
    realm,
    passwords: isConfidential(request, settings),
    keys: identities.takesKeys?.() ?? false,
    proofAlgorithms: identities.proofAlgorithms,
    failed: tokenScheme(request.fields),
  })

type Origin = Pick<Request, 'from'>

type ExposureSettings = Pick<Settings, 'trustProxy' | 'proxyProtocol' | 'publicUrl'>

/**
 * Whether the client is on this machine. Behind a trusted proxy no client is: the proxy's word
 * about its client is good enough for limits, but not for rights. With a public address none is
 * either: a proxy on this machine may pass connections on as they are.
 */
export const isFromThisMachine = (
  { from }: Origin,
  { trustProxy, proxyProtocol = false, publicUrl }: ExposureSettings,
): boolean => trustProxy === false && !proxyProtocol && isLoopbackAddress(from) && !isPublishedAt(publicUrl)

const isPublishedAt = (publicUrl: string | undefined): boolean =>
  publicUrl !== undefined && !isLoopbackAddress(URL.parse(publicUrl)?.hostname ?? '')

/** RFC 7617 §4, rule A5.1: a password can be read in transit, unless over TLS or locally. */
export function isConfidential(
  request: Origin & Pick<Request, 'scheme'>,
  settings: Pick<Settings, 'passwordsOnLoopback'> & ExposureSettings,
): boolean {
  return request.scheme === 'https' || (settings.passwordsOnLoopback && isFromThisMachine(request, settings))
}
