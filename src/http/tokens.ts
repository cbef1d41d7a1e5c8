import { elements, isToken } from './grammar.ts'

/**
 * A list of tokens, in lower case: Content-Encoding, in the order applied (RFC 9110 §8.4), Connection, Access-Control-
 * Request-Headers. undefined when an element is none; none at all is an empty list.
 */
export function parseTokens(field: string): readonly string[] | undefined {
  const found = elements(field)
  return found.every(isToken) ? found.map(token => token.toLowerCase()) : undefined
}
