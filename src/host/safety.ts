/** Refuses to start with unsafe settings. Each error is one line that says what to change. */

import { isHttpAddress, isLoopbackAddress } from '../base/address.ts'
import { type Places, tokenAlgorithms } from '../identity/bearer-token.ts'
import type { OpenIdProvider } from '../identity/openid.ts'
import type { Settings } from '../service/face-context.ts'
import { checkTarget } from './delivery/safe-post.ts'

/** The issuer of bearer tokens, instead of the local key. */
export interface Tokens extends Places {
  /** The signer's JWKS: a file or an https address. */
  readonly jwks: string
  /** The `iss` of accepted tokens. */
  readonly issuer: string
  /** The `aud` of accepted tokens. Default: the service's name. */
  readonly audience?: string | undefined
  /** Default: all supported algorithms, which are asymmetric. */
  readonly algorithms?: readonly string[] | undefined
  /**
   * Only tokens bound to the client certificate (RFC 8705) or to a key (RFC 9449) count, so that a
   * stolen one is useless. Default: false.
   */
  readonly bound?: boolean | undefined
}

export interface SafetyOptions {
  readonly host?: string | undefined
  readonly http?: 'own' | 'node' | undefined
  readonly tokens?: Tokens | undefined
  readonly openid?: OpenIdProvider | undefined
  readonly key?: string | undefined
  readonly insecure?: boolean | undefined
  readonly replies?: readonly string[] | undefined
  readonly settings?:
    | Partial<Pick<Settings, 'origins' | 'publicUrl' | 'prefix' | 'trustProxy' | 'proxyProtocol'>>
    | undefined
}

/** Thrown at start. */
export class Unsafe extends Error {
  override readonly name = 'Unsafe'
}

/**
 * The setting that makes the service reachable from other machines; undefined if none does. A proxy
 * on this machine connects to a loopback address, but its clients are anywhere.
 */
export function findExposure({ host = '127.0.0.1', settings = {} }: SafetyOptions): string | undefined {
  const { publicUrl, trustProxy = false, proxyProtocol = false } = settings
  if (!isLoopbackAddress(host)) return host
  const url = isHttpAddress(publicUrl ?? '') ? URL.parse(publicUrl ?? '') : undefined
  if (url && !isLoopbackAddress(url.hostname)) return `a service whose public address is ${publicUrl}`
  if (trustProxy !== false) return 'a service behind a proxy (--trust-proxy)'
  return proxyProtocol ? 'a service behind a proxy (--proxy-protocol)' : undefined
}

/** Whether no other machine reaches the service. */
export const isForThisMachine = (options: SafetyOptions): boolean => findExposure(options) === undefined

/** Whether the seeded people, whose passwords are public, may sign in. */
export const allowsSeededPasswords = (options: SafetyOptions): boolean =>
  options.insecure === true || (isForThisMachine(options) && !options.tokens)

/** Throws `Unsafe` with a line for each flaw. */
export function ensureSafe(options: SafetyOptions): void {
  const flaws = [
    ...checkAddress(options),
    ...checkTokens(options.tokens),
    ...checkOpenId(options),
    ...checkSettings(options.settings ?? {}),
    ...checkListener(options),
    ...checkReplies(options.replies ?? []),
  ]
  if (flaws.length > 0) throw new Unsafe(flaws.join('\n'))
}

function checkAddress(options: SafetyOptions): string[] {
  const { tokens, openid, key, insecure } = options
  const way = findExposure(options)
  if (insecure || tokens || openid || key !== undefined || way === undefined) return []
  return [
    `${way} can be reached from other machines, but no credentials are configured: give --jwks with --issuer, or --key with a file of your own; --insecure serves the example as it is`,
  ]
}

/** The return address must be the one registered with the provider, whatever Host a request has. */
function checkOpenId(options: SafetyOptions): string[] {
  const { openid, settings = {} } = options
  if (!openid) return []
  const { issuer, client, rights, signOut } = openid
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackAddress(url.hostname))
  return [
    ...(isSafe ? [] : [`the OpenID provider ${issuer} is not an https address`]),
    ...(client === '' ? ['the OpenID provider knows this service by a client identifier: give --openid-client'] : []),
    ...(rights === undefined || rights === 'token' || rights === 'people'
      ? []
      : [`the rights ${rights} of the OpenID provider are unknown: use token or people`]),
    ...(signOut === undefined || signOut === 'provider' || signOut === 'here'
      ? []
      : [`signing out ${signOut} is unknown to the OpenID provider: use provider or here`]),
    ...(settings.publicUrl === undefined && !isForThisMachine(options)
      ? ['the OpenID provider sends people back to the address of this service: give it by --public-url']
      : []),
  ]
}

const checkReplies = (prefixes: readonly string[]): string[] => prefixes.flatMap(each => checkTarget(each) ?? [])

function checkTokens(tokens: Tokens | undefined): string[] {
  if (!tokens) return []
  const { jwks, issuer, audience, algorithms: accepted } = tokens
  const unknown = (accepted ?? []).filter(each => !tokenAlgorithms.includes(each))
  return [
    ...(issuer === '' ? ['tokens of any issuer would be accepted: give --issuer'] : []),
    ...(audience === '' ? ['tokens for any audience would be accepted: give --audience'] : []),
    ...(accepted?.length === 0 ? ['no token algorithm would be accepted: give at least one'] : []),
    ...unknown.map(each => `the token algorithm ${each} is not supported: use ${tokenAlgorithms.join(', ')}`),
    ...(isHttpAddress(jwks) ? checkJwksAddress(jwks) : []),
  ]
}

function checkJwksAddress(jwks: string): string[] {
  const url = URL.canParse(jwks) ? new URL(jwks) : undefined
  if (!url) return [`${jwks} is not a valid address of a JWKS: give an https address or a file`]
  if (url.protocol === 'https:' || isLoopbackAddress(url.hostname)) return []
  return [`keys from ${jwks} could be forged on the way: give an https address or a file`]
}

function checkSettings({
  origins = [],
  publicUrl,
  prefix = '',
  trustProxy,
  proxyProtocol,
}: NonNullable<SafetyOptions['settings']>): string[] {
  const wrong = origins.filter(each => !URL.canParse(each) || new URL(each).origin !== each)
  const address = publicUrl === undefined || (URL.canParse(publicUrl) && /^https?:$/.test(new URL(publicUrl).protocol))
  return [
    ...wrong.map(each => `the origin ${each} is invalid: write it as browsers do, such as https://app.example.org`),
    ...(address ? [] : [`the public address ${publicUrl} is not an http or https address`]),
    ...(prefix === '' || /^(?:\/[\w.~-]+)+$/.test(prefix)
      ? []
      : [`the prefix ${prefix} is not a path such as /shop: begin it with a slash, and end it without one`]),
    ...(isProxySetting(trustProxy) ? [] : [`the proxy fields ${trustProxy} are unknown: use x-forwarded or forwarded`]),
    ...(isSwitch(proxyProtocol) ? [] : [`the setting proxyProtocol is ${proxyProtocol}: use true or false`]),
  ]
}

const checkListener = ({ http, settings = {} }: SafetyOptions): string[] =>
  http === 'node' && settings.proxyProtocol
    ? ['node:http does not read the PROXY protocol: leave out --http node, or --proxy-protocol']
    : []

/** Also checks settings that no compiler has checked. */
const isProxySetting = (value: unknown): boolean => isSwitch(value) || value === 'x-forwarded' || value === 'forwarded'

const isSwitch = (value: unknown): boolean => value === undefined || typeof value === 'boolean'
