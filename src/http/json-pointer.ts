import type { Json } from '../base/objects.ts'

/**
 * RFC 6901: a JSON Pointer as its reference tokens, unescaped; undefined for other text. `''` is
 * the whole document.
 */
export function parsePointer(text: string): readonly string[] | undefined {
  if (text === '') return []
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined
  const tokens = text.slice(1).split('/')
  if (!text.includes('~')) return tokens
  return tokens.map(token => token.replaceAll('~1', '/').replaceAll('~0', '~')) // §4: ~1 first
}

/** The JSON Pointer (RFC 6901 §5) for names and indexes, `~` and `/` escaped; empty for none. */
export function writePointer(tokens: readonly (string | number)[]): string {
  let text = ''
  for (const token of tokens) text += `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`
  return text
}

/**
 * §4 array-index: digits without a leading zero; undefined for other tokens. `-` names no existing
 * element.
 */
export function arrayIndex(token: string): number | undefined {
  return /^(?:0|[1-9]\d{0,9})$/.test(token) ? Number(token) : undefined
}

/**
 * The value to which a pointer leads; undefined if it leads nowhere. Own members only, so
 * `__proto__` is a name like any other.
 */
export function valueAt(document: Json, tokens: readonly string[]): Json | undefined {
  let value: Json | undefined = document
  for (const token of tokens) {
    if (value === undefined) return undefined
    value = childOf(value, token)
  }
  return value
}

/** One step of valueAt. */
export function childOf(value: Json, token: string): Json | undefined {
  if (Array.isArray(value)) {
    const index = arrayIndex(token)
    return index === undefined ? undefined : value[index]
  }
  return isRecord(value) && Object.hasOwn(value, token) ? value[token] : undefined
}

/** Whether a JSON value is an object: neither null nor an array. */
export function isRecord(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
