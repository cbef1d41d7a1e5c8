/**
 * Signing in at an OpenID provider (OpenID Connect Core 1.0): the authorization code flow with PKCE
 * (RFC 7636). The protocol is openid-client's. What it guards:
 *  (1) The browser that returns is the one that left: state, nonce and verifier are in a cookie of
 *      its own, which this service has sealed and which counts for ten minutes.
 *  (2) An ID token counts after its signature, issuer, audience, expiry and nonce were verified; an
 *      answer of another provider is refused (RFC 9207).
 *  (3) A provider that is slow or down is `Unavailable`; the number of sign-ins that wait for it at
 *      once is bounded, and the next one is told to retry.
 *  (4) The path to which the browser goes afterwards is sealed here; nothing in a response of the
 *      provider decides it.
 *  (5) Signing out goes on at the provider where it publishes an address for that (RP-Initiated
 *      Logout 1.0); an outage there does not keep a session here.
 *  (6) The provider ends sessions here by a logout token (Back-Channel Logout 1.0), which counts as
 *      `logout-token.ts` says, by the keys that its metadata name.
 *  (7) No more than `answerOctetsMax` of an answer are held, decoded.
 */
import type { JWTVerifyGetKey } from 'jose'
import { isLoopbackAddress } from '../base/address.ts'
import { decodeUtf8 } from '../base/attempt.ts'
import { decodeBase64Url, encodeBase64Url } from '../base/base64.ts'
import { takeBounded } from '../base/octets.ts'
import type { Caller } from '../contract/policy.ts'
import { Unavailable } from '../service/store.ts'
import { type Places, readTokenCaller } from './bearer-token.ts'
import { authenticationTag, isSameTag } from './local-key.ts'
import { verifyLogoutToken } from './logout-token.ts'
import { digestSession, type SessionEnd } from './session-end.ts'

/** An OpenID provider where people sign in with a browser. */
export interface OpenIdProvider extends Places {
  /** Its issuer identifier: an https address; http only on loopback. */
  readonly issuer: string
  /** The identifier that the provider gave this service (`client_id`). */
  readonly client: string
  /** The secret for this identifier. Default: none, for a public client. */
  readonly secret?: string | undefined
  /** Scopes, separated by spaces. Default: `openid profile`. */
  readonly scope?: string | undefined
  /** The name on the button: `Sign in with …`. Default: the host of the issuer. */
  readonly title?: string | undefined
  /**
   * The source of a person's roles and claims: the ID token (`token`, the default), or the people
   * of this service, where the subject is the name (`people`).
   */
  readonly rights?: 'token' | 'people' | undefined
  /**
   * How far signing out goes: to the provider, too, if it publishes an address for that
   * (`provider`, the default), or only `here`, so that people stay signed in to other services.
   */
  readonly signOut?: 'provider' | 'here' | undefined
}

/** What the browser keeps while it is at the provider. */
export interface StartedSignIn {
  /** Where the browser goes. */
  readonly address: string
  /** Distinguishes several sign-ins of one browser: the parameter `state` of the return. */
  readonly state: string
  readonly sealed: string
}

export type SignInEnd =
  | {
      readonly kind: 'proven'
      readonly caller: Caller
      readonly to: string
      /** The mark of the session at the provider; empty where the session has no name. */
      readonly mark: string
      /**
       * The ID token, by which the provider knows the person who signs out; undefined if signing
       * out ends here.
       */
      readonly hint: string | undefined
    }
  /** The provider, or the person, declines. */
  | { readonly kind: 'declined'; readonly to: string }
  /** This browser began nothing here, or too long ago, or the response is forged. */
  | { readonly kind: 'invalid' }

export interface OpenIdSignIn {
  readonly title: string
  readonly rights: 'token' | 'people'
  /**
   * @param returnAddress where the provider sends the browser back, as registered there
   * @param to the path to go to afterwards
   */
  begin(returnAddress: string, to: string): Promise<StartedSignIn>
  /** @param returned the return address with its query; `sealed` is the value from `begin` */
  finish(returned: URL, sealed: string): Promise<SignInEnd>
  /**
   * Where the browser signs out at the provider; undefined where that is not possible now (5).
   * @param hint the ID token from `finish`; undefined if it is not at hand
   * @param returnAddress where the provider sends the browser back, as registered there
   * @param to the path to go to afterwards
   */
  signOut(hint: string | undefined, returnAddress: string, to: string): Promise<string | undefined>
  /** The path to go to after that, by the `state` of the return; empty if it is not ours. */
  readReturn(state: string): string
  /** (6) The sessions that a logout token ends, or why it does not count. Throws `Unavailable`. */
  readLogout(token: string): Promise<SessionEnd | string>
}

export interface OpenIdSources {
  /** Seals the values that the browser keeps. */
  readonly secret: Uint8Array
  readonly clock: () => number
  /** Receives the reason why a response of the provider was refused. */
  readonly failed: (thrown: unknown) => void
}

export const signInSeconds = 600
/** How many seconds the provider has for a response. */
const answerSeconds = 10
/** Tokens and metadata have some kilobytes. */
const answerOctetsMax = 1024 * 1024
const retrySeconds = 5
/** (3) Sign-ins that may wait for the provider at once. */
const askingMax = 64

type Library = typeof import('openid-client')
type Configuration = Awaited<ReturnType<Library['discovery']>>

export function createOpenIdSignIn(provider: OpenIdProvider, sources: OpenIdSources): OpenIdSignIn {
  const { clock, failed } = sources
  const find = createDiscovery(provider)
  const end = createSignOut(provider, find, sources)
  let keys: JWTVerifyGetKey | undefined
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
        const { address, ...sent } = await buildSignIn(library, configuration, provider, returnAddress)
        const until = clock() + signInSeconds * 1000
        return { address, state: sent.state, sealed: seal(sources.secret, { ...sent, to, until }) }
      }),
    finish: async (returned, sealed) => {
      const saved = unseal<KeptSignIn>(sources.secret, sealed)
      if (!saved || saved.until <= clock() || returned.searchParams.get('state') !== saved.state)
        return { kind: 'invalid' }
      return ask(async (library, configuration) => {
        try {
          return await redeemCode(library, configuration, provider, returned, saved)
        } catch (thrown) {
          if (thrown instanceof library.AuthorizationResponseError) return { kind: 'declined', to: saved.to }
          if (isOutage(thrown)) throw new Unavailable(retrySeconds, thrown)
          failed(new Error(`a sign-in at ${provider.issuer} is refused`, { cause: thrown }))
          return { kind: 'invalid' }
        }
      })
    },
    ...end,
    readLogout: token =>
      ask(async (_, configuration) => {
        const { issuer, jwks_uri: address } = configuration.serverMetadata()
        if (address === undefined) return 'the provider publishes no keys'
        keys ??= (await import('./jwks.ts')).openJwks(address, { clock, failed })
        return verifyLogoutToken(token, { keys, issuer, audience: provider.client }, clock())
      }),
  }
}

/** (1) Where a browser is sent, and the secrets that only the returning browser may know. */
async function buildSignIn(
  library: Library,
  configuration: Configuration,
  provider: OpenIdProvider,
  returnAddress: string,
) {
  const [state, nonce, verifier] = [library.randomState(), library.randomNonce(), library.randomPKCECodeVerifier()]
  const address = library.buildAuthorizationUrl(configuration, {
    redirect_uri: returnAddress,
    scope: provider.scope ?? 'openid profile',
    state,
    nonce,
    code_challenge: await library.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  return { address: address.href, state, nonce, verifier }
}

/** Exchanges the code of a return for the person whom the provider authenticated. */
async function redeemCode(
  library: Library,
  configuration: Configuration,
  provider: OpenIdProvider,
  returned: URL,
  saved: KeptSignIn,
): Promise<SignInEnd> {
  const tokens = await library.authorizationCodeGrant(configuration, returned, {
    pkceCodeVerifier: saved.verifier,
    expectedState: saved.state,
    expectedNonce: saved.nonce,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (!claims) return { kind: 'invalid' }
  const mark = digestSession(typeof claims['sid'] === 'string' ? claims['sid'] : undefined)
  const hint = findSignOutAddress(provider, configuration) === undefined ? undefined : tokens.id_token
  return { kind: 'proven', caller: readTokenCaller(claims, provider), to: saved.to, mark, hint }
}

/** (5) */
function findSignOutAddress({ signOut }: OpenIdProvider, configuration: Configuration): string | undefined {
  return signOut === 'here' ? undefined : configuration.serverMetadata().end_session_endpoint
}

/** (5) The way to the provider and back. */
function createSignOut(
  provider: OpenIdProvider,
  find: (library: Library) => Promise<Configuration>,
  { secret, clock }: OpenIdSources,
): Pick<OpenIdSignIn, 'signOut' | 'readReturn'> {
  return {
    signOut: async (hint, returnAddress, to) => {
      if (provider.signOut === 'here') return undefined
      const library = await import('openid-client')
      const configuration = await find(library).catch(thrown => {
        if (thrown instanceof Unavailable) return undefined
        throw thrown
      })
      if (!configuration || findSignOutAddress(provider, configuration) === undefined) return undefined
      return library.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: returnAddress,
        state: seal(secret, { to, until: clock() + signInSeconds * 1000 } satisfies KeptSignOut),
        ...(hint !== undefined && { id_token_hint: hint }),
      }).href
    },
    readReturn: state => {
      const saved = unseal<KeptSignOut>(secret, state)
      return saved && saved.until > clock() ? saved.to : ''
    },
  }
}

/** The provider's metadata, fetched once; after a failure, again with the next sign-in. */
function createDiscovery({ issuer, client, secret }: OpenIdProvider) {
  const server = new URL(issuer)
  let found: Promise<Configuration> | undefined
  const discover = (library: Library): Promise<Configuration> =>
    library.discovery(server, client, secret, secret === undefined ? library.None() : undefined, {
      timeout: answerSeconds,
      [library.customFetch]: fetchWithin,
      execute: [
        library.enableNonRepudiationChecks, // (2) the signature, although TLS already proves the sender
        ...(server.protocol === 'http:' && isLoopbackAddress(server.hostname) ? [library.allowInsecureRequests] : []),
      ],
    })
  return (library: Library): Promise<Configuration> =>
    (found ??= discover(library).catch(thrown => {
      found = undefined
      throw new Unavailable(retrySeconds, thrown)
    }))
}

/** (7) */
async function fetchWithin(address: string, options: object): Promise<Response> {
  const answer = await fetch(address, options)
  if (!answer.body) return answer
  const octets = await takeBounded(answer.body, answerOctetsMax)
  if (!octets) throw new Error(`the answer of ${address} is longer than ${answerOctetsMax} octets`)
  const { status, statusText, headers } = answer
  return new Response(octets as Uint8Array<ArrayBuffer>, { status, statusText, headers })
}

/** The provider did not answer, or cannot now; any other error is an invalid response. */
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

/** Its members differ from those of a kept sign-in, so it does not count as one. */
type KeptSignOut = Pick<KeptSignIn, 'to' | 'until'>

/** (1) `<JSON in base64url>.<tag>` */
function seal(secret: Uint8Array, saved: KeptSignIn | KeptSignOut): string {
  const text = encodeBase64Url(Buffer.from(JSON.stringify(saved)))
  return `${text}.${authenticationTag(secret, text)}`
}

function unseal<T extends KeptSignOut>(secret: Uint8Array, sealed: string): T | undefined {
  const [text = '', tag = ''] = sealed.split('.')
  if (!isSameTag(authenticationTag(secret, text), tag)) return undefined
  const octets = decodeBase64Url(text)
  return octets && (JSON.parse(decodeUtf8(octets) ?? 'null') as T) // it was sealed here
}
