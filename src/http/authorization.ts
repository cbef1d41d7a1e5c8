/**
 * RFC 9110 §11, RFC 6750 (Bearer), RFC 7617 (Basic): the credentials of a request and the
 * challenges of a response.
 */
import { decodeUtf8 } from '../base/attempt.ts'
import { decodeBase64Loosely, encodeBase64 } from '../base/base64.ts'
import {
  cursorOver,
  isAtEnd,
  quoteString,
  readToken,
  readTokenOrQuoted,
  skipCharacter,
  skipSpace,
  splitElements,
  type TextCursor,
} from './grammar.ts'

/** The field Authorization (RFC 9110 §11.6.2): a scheme with one token68, or with parameters. */
export interface Credentials {
  /** Lower case (§11.1). */
  readonly scheme: string
  /** §11.2: one token68, or else parameters. */
  readonly token68?: string
  readonly parameters: Readonly<Record<string, string>>
}

const token68Pattern = /[A-Za-z0-9\-._~+/]+=*/y

/** §11.4 credentials; undefined if malformed. */
export function parseCredentials(field: string): Credentials | undefined {
  const cursor = cursorOver(field)
  const scheme = readToken(cursor).toLowerCase()
  if (scheme === '') return undefined
  if (isAtEnd(cursor)) return { scheme, parameters: {} }
  if (!skipCharacter(cursor, ' ')) return undefined
  while (skipCharacter(cursor, ' '));
  const text = field.slice(cursor.at)
  token68Pattern.lastIndex = 0
  if (token68Pattern.test(text) && token68Pattern.lastIndex === text.length)
    return { scheme, token68: text, parameters: {} }
  const parameters = parseAuthParameters(splitElements(text))
  return parameters && { scheme, parameters }
}

/** §11.2 auth-param = token BWS "=" BWS ( token / quoted-string ); each name once. */
function parseAuthParameters(texts: readonly string[]): Readonly<Record<string, string>> | undefined {
  const parameters: Record<string, string> = Object.create(null)
  for (const text of texts) {
    const cursor = cursorOver(text)
    const [name, value] = readAuthParameter(cursor) ?? []
    if (name === undefined || value === undefined || !isAtEnd(cursor) || parameters[name] !== undefined)
      return undefined
    parameters[name] = value
  }
  return parameters
}

function readAuthParameter(cursor: TextCursor): [name: string, value: string] | undefined {
  const name = readToken(cursor).toLowerCase()
  skipSpace(cursor)
  if (name === '' || !skipCharacter(cursor, '=')) return undefined
  skipSpace(cursor)
  const value = readTokenOrQuoted(cursor)
  return value === undefined ? undefined : [name, value]
}

/** RFC 6750 §2.1: the b64token; undefined if it is malformed, or the scheme is another. */
export function bearerToken(field: string): string | undefined {
  const [, token] = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(field) ?? []
  return token
}

/** The user and the password of Basic credentials, decoded (RFC 7617 §2). */
export interface Basic {
  readonly user: string
  readonly password: string
}

/**
 * RFC 7617: user and password in UTF-8, separated by the first colon. Undefined if the scheme is
 * another, or if the content is not base64, not UTF-8, has no colon, or has control characters
 * (§2).
 */
export function basicCredentials(field: string): Basic | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(field) ?? []
  const octets = encoded === undefined ? undefined : decodeBase64Loosely(encoded)
  const text = octets && decodeUtf8(octets)
  const colon = text?.indexOf(':') ?? -1
  if (text === undefined || colon < 0 || /[\0-\x1f\x7f]/.test(text)) return undefined
  return { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** RFC 7617, for clients; undefined if the user has a colon, or either has a control character. */
export function writeBasic({ user, password }: Basic): string | undefined {
  if (user.includes(':') || /[\0-\x1f\x7f]/.test(user + password)) return undefined
  return `Basic ${encodeBase64(new TextEncoder().encode(`${user}:${password}`))}`
}

/**
 * One challenge of WWW-Authenticate (RFC 9110 §11.6.1): a scheme with one token68, or with
 * parameters.
 */
export interface Challenge {
  readonly scheme: string
  readonly token68?: string
  readonly parameters: Readonly<Record<string, string>>
}

/**
 * §11.6.1 WWW-Authenticate. Every value is quoted: §11.5 requires it for realm, RFC 6750 for its
 * own parameters, and readers accept it for all.
 */
export function writeChallenges(challenges: readonly Challenge[]): string {
  return challenges
    .map(({ scheme, token68, parameters }) => {
      const parts = Object.entries(parameters).map(([name, value]) => `${name}=${quoteString(value)}`)
      const rest = token68 ?? parts.join(', ')
      return rest === '' ? scheme : `${scheme} ${rest}`
    })
    .join(', ')
}

/**
 * §11.6.1, for clients. Commas separate both challenges and their parameters, so an element is a
 * parameter if it has the form `name=value` and follows a challenge. Schemes are in lower case;
 * undefined if malformed.
 */
export function parseChallenges(field: string): readonly Challenge[] | undefined {
  const challenges: { scheme: string; token68?: string; texts: string[] }[] = []
  for (const element of splitElements(field)) {
    const [, scheme, rest] = /^([^ =",]+)(?: +(?![ =])(.*))?$/s.exec(element) ?? []
    if (scheme === undefined) {
      const last = challenges.at(-1)
      if (last === undefined || last.token68 !== undefined) return undefined
      last.texts.push(element)
    } else {
      const credentials = parseCredentials(rest === undefined ? scheme : `${scheme} ${rest}`)
      if (credentials === undefined) return undefined
      const { token68 } = credentials
      challenges.push({
        scheme: credentials.scheme,
        ...(token68 ? { token68 } : {}),
        texts: token68 || !rest ? [] : [rest],
      })
    }
  }
  return challengesOf(challenges)
}

function challengesOf(drafts: readonly { scheme: string; token68?: string; texts: string[] }[]) {
  const challenges: Challenge[] = []
  for (const { texts, ...rest } of drafts) {
    const parameters = parseAuthParameters(texts)
    if (parameters === undefined) return undefined
    challenges.push({ ...rest, parameters })
  }
  return challenges
}
