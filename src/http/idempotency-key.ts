import { item, parseItem, string, writeItem } from './structured.ts'

/** draft-ietf-httpapi-idempotency-key-header §2.1: an item that is a string, in quotes; undefined when malformed or empty. */
export function parseIdempotencyKey(field: string): string | undefined {
  const found = parseItem(field)
  return found?.kind === 'string' && found.value !== '' ? found.value : undefined
}

/** undefined when the key has characters that no such string can hold. */
export const writeIdempotencyKey = (key: string): string | undefined => writeItem(item(string(key)))
