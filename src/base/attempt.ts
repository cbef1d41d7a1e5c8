/**
 * Functions of the platform that refuse by throwing, made to answer undefined. Each attempt names
 * the one kind of error that it expects; any other is a mistake, and is thrown again.
 */

export function attempt<T>(work: () => T, isExpected: (thrown: unknown) => boolean): T | undefined {
  try {
    return work()
  } catch (thrown) {
    if (isExpected(thrown)) return undefined
    throw thrown
  }
}

/** Of JSON.parse and BigInt: the text is not of their syntax. */
export const isSyntaxError = (thrown: unknown): boolean => thrown instanceof SyntaxError

/** The `code` of an error of Node; empty without one. */
export const errorCodeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : ''

/** For a person. An AggregateError of several addresses has no message of its own. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return messageOf((thrown.errors as unknown[])[0])
  return thrown instanceof Error ? thrown.message || errorCodeOf(thrown) : String(thrown)
}

/**
 * Of node:crypto: the octets are not what they should be. Some errors of OpenSSL have no code; Node
 * 24 gives none to those of keys, but a stack of OpenSSL's own.
 */
export const isCryptoError = (thrown: unknown): boolean =>
  /^ERR_(?:OSSL|CRYPTO)_/.test(errorCodeOf(thrown)) ||
  (thrown instanceof Error && ('opensslErrorStack' in thrown || uncoded.test(thrown.message)))
const uncoded = /^(?:error:[0-9A-F]{8}:|Unsupported state|Trying to add data in unsupported state)/

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 (RFC 3629), a byte order mark kept as a character. */
export function decodeUtf8(octets: Uint8Array): string | undefined {
  try {
    return utf8.decode(octets)
  } catch (thrown) {
    if (errorCodeOf(thrown) === 'ERR_ENCODING_INVALID_ENCODED_DATA') return undefined
    throw thrown
  }
}

/** Percent-encoded UTF-8 (RFC 3986 §2.1). */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch (thrown) {
    if (thrown instanceof URIError) return undefined
    throw thrown
  }
}
