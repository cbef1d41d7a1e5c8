/**
 * Wrappers of platform functions that throw: each returns undefined instead for the one kind of
 * error that it expects, and throws any other again, since that is a mistake.
 */

export function attempt<T>(work: () => T, isExpected: (thrown: unknown) => boolean): T | undefined {
  try {
    return work()
  } catch (thrown) {
    if (isExpected(thrown)) return undefined
    throw thrown
  }
}

/** For JSON.parse and BigInt: the text does not have their syntax. */
export const isSyntaxError = (thrown: unknown): boolean => thrown instanceof SyntaxError

/** The `code` of a Node error; empty if it has none. */
export const errorCodeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : ''

/** The message for a person. An AggregateError of several addresses has no message of its own. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return messageOf((thrown.errors as unknown[])[0])
  return thrown instanceof Error ? thrown.message || errorCodeOf(thrown) : String(thrown)
}

/**
 * An error of node:crypto about invalid octets. Some OpenSSL errors have no code; Node 24 gives
 * errors about keys no code, but an OpenSSL error stack.
 */
export const isCryptoError = (thrown: unknown): boolean =>
  /^ERR_(?:OSSL|CRYPTO)_/.test(errorCodeOf(thrown)) ||
  (thrown instanceof Error && ('opensslErrorStack' in thrown || uncoded.test(thrown.message)))
const uncoded = /^(?:error:[0-9A-F]{8}:|Unsupported state|Trying to add data in unsupported state)/

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 (RFC 3629); a byte order mark is kept as a character. */
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
