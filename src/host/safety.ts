/**
 * What keeps a service from starting: settings that would not hold what they promise. Each in one
 * line, with the cure.
 */

import { isHttpAddress, isLoopbackAddress } from '../base/address.ts'
import { type Places, tokenAlgorithms } from '../identity/bearer-token.ts'
import { checkTarget } from './delivery/safe-post.ts'

/** Whom bearer tokens are believed; without it the local key alone. */
export interface Tokens extends Places {
  /** The signer's JWKS: a file, or an https address. */
  readonly jwks: string
  /** `iss` of the tokens that are taken. */
  readonly issuer: string
  /** `aud` of the tokens that are taken; default the service's name. */
  readonly audience?: string | undefined
  /** Default all that this library takes, which are asymmetric ones. */
  readonly algorithms?: readonly string[] | undefined
}

export interface Promised {
  readonly host?: string | undefined
  readonly tokens?: Tokens | undefined
  readonly key?: string | undefined
  readonly insecure?: boolean | undefined
  readonly replies?: readonly string[] | undefined
  readonly settings?: { readonly origins?: readonly string[]; readonly publicUrl?: string } | undefined
}

/** Thrown at start. */
export class Unsafe extends Error {
  override readonly name = 'Unsafe'
}

/** Whether the people of the example, with the passwords that everybody knows, are let in. */
export const allowsSeededPasswords = ({ host = '127.0.0.1', tokens, insecure = false }: Promised): boolean =>
  insecure || (isLoopbackAddress(host) && !tokens)

/** Throws `Unsafe` with every flaw, a line each. */
export function ensureSafe(options: Promised): void {
  const flaws = [
    ...ofAddress(options),
    ...ofTokens(options.tokens),
    ...ofSettings(options.settings ?? {}),
    ...ofReplies(options.replies ?? []),
  ]
  if (flaws.length > 0) throw new Unsafe(flaws.join('\n'))
}

function ofAddress({ host = '127.0.0.1', tokens, key, insecure }: Promised): string[] {
  if (insecure || tokens || key !== undefined || isLoopbackAddress(host)) return []
  return [
    `${host} is reached from other machines, and no credentials are configured: give --jwks with --issuer, or --key with a file of your own; --insecure serves the example as it is`,
  ]
}

const ofReplies = (prefixes: readonly string[]): string[] => prefixes.flatMap(each => checkTarget(each) ?? [])

function ofTokens(tokens: Tokens | undefined): string[] {
  if (!tokens) return []
  const { jwks, issuer, audience, algorithms: taken } = tokens
  const unknown = (taken ?? []).filter(each => !tokenAlgorithms.includes(each))
  return [
    ...(issuer === '' ? ['tokens of any issuer would be taken: give --issuer'] : []),
    ...(audience === '' ? ['tokens for anybody would be taken: give --audience'] : []),
    ...(taken?.length === 0 ? ['no algorithm of tokens is taken: name one'] : []),
    ...unknown.map(each => `the algorithm ${each} is not taken: algorithms are ${tokenAlgorithms.join(', ')}`),
    ...(isHttpAddress(jwks) ? ofJwksAddress(jwks) : []),
  ]
}

function ofJwksAddress(jwks: string): string[] {
  const url = URL.canParse(jwks) ? new URL(jwks) : undefined
  if (!url) return [`${jwks} is no address of a JWKS`]
  if (url.protocol === 'https:' || isLoopbackAddress(url.hostname)) return []
  return [`${jwks} could be answered by anybody on the way: give an https address or a file`]
}

function ofSettings({ origins = [], publicUrl }: NonNullable<Promised['settings']>): string[] {
  const wrong = origins.filter(each => !URL.canParse(each) || new URL(each).origin !== each)
  const address = publicUrl === undefined || (URL.canParse(publicUrl) && /^https?:$/.test(new URL(publicUrl).protocol))
  return [
    ...wrong.map(each => `the origin ${each} is none: write it as browsers do, such as https://app.example.org`),
    ...(address ? [] : [`the public address ${publicUrl} is no http or https address`]),
  ]
}
