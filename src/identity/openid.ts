/**
 * Signing in at an OpenID provider (OpenID Connect Core 1.0): the authorization code flow with PKCE
 * (RFC 7636). The protocol is openid-client's. What it guards:
 *  (1) The browser that returns is the one that left: state, nonce and verifier are in a cookie of
 *      its own, which this service has sealed and which counts for ten minutes.
 *  (2) An ID token counts after its signature, issuer, audience, expiry and nonce were verified; an
 *      answer of another provider is refused (RFC 9207).
 *  (3) A provider that is slow or down is `Unavailable`; so many may be asking it at once, and the
 *      next one is told to come again.
 *  (4) What the provider is told to give never decides where the browser goes afterwards.
 */
import { isLoopbackAddress } from '../base/address.ts'
import { decodeUtf8 } from '../base/attempt.ts'
import { decodeBase64Url, encodeBase64Url } from '../base/base64.ts'
import type { Caller } from '../contract/policy.ts'
import { Unavailable } from '../service/store.ts'
import { type Places, readTokenCaller } from './bearer-token.ts'
import { authenticationTag, isSameTag } from './local-key.ts'

/** An OpenID provider at which people sign in with a browser. */
export interface OpenIdProvider extends Places {
  /** Its issuer identifier: an https address; http on loopback alone. */
  readonly issuer: string
  /** The identifier that the provider gave this service (`client_id`). */
  readonly client: string
  /** The secret that goes with it. Default: none, for a public client. */
  readonly secret?: string | undefined
  /** Scopes, separated by spaces. Default: `openid profile`. */
  readonly scope?: string | undefined
  /** What the button is for: `Sign in with …`. Default: the host of the issuer. */
  readonly title?: string | undefined
  /**
   * The source of a person's roles and claims: the ID token (`token`, the default), or the people
   * of this service, by a name that is the subject (`people`).
   */
  readonly rights?: 'token' | 'people' | undefined
}

/** What stays in the browser while it is at the provider. */
export interface StartedSignIn {
  /** Where the browser goes. */
  readonly address: string
  /** Names the sign-in among several of one browser: the parameter `state` of the return. */
  readonly state: string
  readonly sealed: string
}

export type SignInEnd =
  | { readonly kind: 'proven'; readonly caller: Caller; readonly to: string }
  /** The provider says no, or the person does. */
  | { readonly kind: 'declined'; readonly to: string }
  /** Nothing that this browser had begun here, or too long ago, or a forged answer. */
  | { readonly kind: 'invalid' }

export interface OpenIdSignIn {
  readonly title: string
  readonly rights: 'token' | 'people'
  /**
   * @param returnAddress where the provider sends the browser back, as it is registered there
   * @param to the path to go to afterwards
   */
  begin(returnAddress: string, to: string): Promise<StartedSignIn>
  /** @param returned the return address with its query; `sealed` as `begin` gave it */
  finish(returned: URL, sealed: string): Promise<SignInEnd>
}

export interface OpenIdSources {
  /** Seals what the browser keeps. */
  readonly secret: Uint8Array
  readonly clock: () => number
  /** Told why an answer of the provider was refused. */
  readonly failed: (thrown: unknown) => void
}

export const signInSeconds = 600
/** Seconds that the provider has for an answer. */
const answerSeconds = 10
const retrySeconds = 5
/** (3) Sign-ins that ask the provider at once. */
const askingMax = 64

type Library = typeof import('openid-client')
type Configuration = Awaited<ReturnType<Library['discovery']>>

export function createOpenIdSignIn(provider: OpenIdProvider, sources: OpenIdSources): OpenIdSignIn {
  const { clock, failed } = sources
  const find = createDiscovery(provider)
  let asking = 0
  const ask = async <T>(work: (library: Library, configuration: Configuration) => Promise<T>): Promise<T> => {
    if (asking >= askingMax) throw new Unavailable(retrySeconds, 'too many people are signing in at once')
    asking++
    try {
      const library = await import('openid-client')
      return await work(library, await find(library))
    } finally {
      asking--
    }
  }
  return {
    title: provider.title ?? new URL(provider.issuer).host,
    rights: provider.rights ?? 'token',
    begin: (returnAddress, to) =>
      ask(async (library, configuration) => {
        const [state, nonce, verifier] = [
          library.randomState(),
          library.randomNonce(),
          library.randomPKCECodeVerifier(),
        ]
        const address = library.buildAuthorizationUrl(configuration, {
          redirect_uri: returnAddress,
          scope: provider.scope ?? 'openid profile',
          state,
          nonce,
          code_challenge: await library.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        })
        const until = clock() + signInSeconds * 1000
        return {
          address: address.href,
          state,
          sealed: sealSignIn(sources.secret, { state, nonce, verifier, to, until }),
        }
      }),
    finish: async (returned, sealed) => {
      const kept = openSignIn(sources.secret, sealed)
      if (!kept || kept.until <= clock() || returned.searchParams.get('state') !== kept.state)
        return { kind: 'invalid' }
      return ask(async (library, configuration) => {
        try {
          const tokens = await library.authorizationCodeGrant(configuration, returned, {
            pkceCodeVerifier: kept.verifier,
            expectedState: kept.state,
            expectedNonce: kept.nonce,
            idTokenExpected: true,
          })
          const claims = tokens.claims()
          return claims
            ? { kind: 'proven', caller: readTokenCaller(claims, provider), to: kept.to }
            : { kind: 'invalid' }
        } catch (thrown) {
          if (thrown instanceof library.AuthorizationResponseError) return { kind: 'declined', to: kept.to }
          if (isOutage(thrown)) throw new Unavailable(retrySeconds, thrown)
          failed(thrown)
          return { kind: 'invalid' }
        }
      })
    },
  }
}

/** The provider's metadata, asked once; after a failure again with the next sign-in. */
function createDiscovery({ issuer, client, secret }: OpenIdProvider) {
  const server = new URL(issuer)
  let found: Promise<Configuration> | undefined
  const discover = (library: Library): Promise<Configuration> =>
    library.discovery(server, client, secret, secret === undefined ? library.None() : undefined, {
      timeout: answerSeconds,
      execute: [
        library.enableNonRepudiationChecks, // (2) the signature, although TLS says whose answer it is
        ...(server.protocol === 'http:' && isLoopbackAddress(server.hostname) ? [library.allowInsecureRequests] : []),
      ],
    })
  return (library: Library): Promise<Configuration> =>
    (found ??= discover(library).catch(thrown => {
      found = undefined
      throw new Unavailable(retrySeconds, thrown)
    }))
}

/** The provider did not answer, or cannot now; all else that is thrown is a wrong answer. */
function isOutage(thrown: unknown): boolean {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error.name === 'TimeoutError' || error.name === 'AbortError') return true
    if (error instanceof TypeError && error.message === 'fetch failed') return true
    if ('status' in error && typeof error.status === 'number' && error.status >= 500) return true
    if (error.cause instanceof Response && error.cause.status >= 500) return true
  }
  return false
}

interface KeptSignIn {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly to: string
  /** Milliseconds since 1970. */
  readonly until: number
}

/** (1) `<JSON in base64url>.<tag>` */
function sealSignIn(secret: Uint8Array, kept: KeptSignIn): string {
  const text = encodeBase64Url(Buffer.from(JSON.stringify(kept)))
  return `${text}.${authenticationTag(secret, text)}`
}

function openSignIn(secret: Uint8Array, sealed: string): KeptSignIn | undefined {
  const [text = '', tag = ''] = sealed.split('.')
  if (!isSameTag(authenticationTag(secret, text), tag)) return undefined
  const octets = decodeBase64Url(text)
  return octets && (JSON.parse(decodeUtf8(octets) ?? 'null') as KeptSignIn) // it was sealed here
}
