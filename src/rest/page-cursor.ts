/**
 * Where a page begins, as text in a link: the sort that it belongs to, and the values and
 * identifier of the row next to it. When it comes back, its values are typed again, and it is
 * invalid for another sort. It contains nothing that its reader may not see, and no secret. A
 * cursor is valid for as long as the contract has its fields.
 */

import { attempt, decodeUtf8, isSyntaxError } from '../base/attempt.ts'
import { decodeBase64Url, encodeBase64Url } from '../base/base64.ts'
import { Flaw } from '../contract/lexical/flaw.ts'
import { readScalar, writeScalar } from '../contract/lexical/scalar.ts'
import { isIdentifier } from '../contract/lexical/text.ts'
import type { Resource } from '../contract/resource.ts'
import { isScalar } from '../contract/shape.ts'
import type { Query, Sort } from '../service/store.ts'

type PagePosition = NonNullable<Query['from']>

const sortText = (sort: readonly Sort[]): string =>
  sort.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join(',')

export function writeCursor(resource: Resource, sort: readonly Sort[], from: PagePosition): string {
  const keys = from.keys.map((key, i) => keyText(resource, sort[i], key))
  const text = JSON.stringify([sortText(sort), from.backwards ? 1 : 0, from.id, ...keys])
  return encodeBase64Url(new TextEncoder().encode(text))
}

function keyText(resource: Resource, sort: Sort | undefined, key: unknown): string | null {
  const shape = sort && resource.fields[sort.field]?.shape
  if (key === undefined || key === null) return null
  return shape && isScalar(shape) ? writeScalar(shape, key) : String(key)
}

/** Undefined unless the text is one of our cursors for this sort. */
export function readCursor(resource: Resource, sort: readonly Sort[], text: string): PagePosition | undefined {
  const parts = decodeCursor(text)
  if (!parts) return undefined
  const [sorted, backwards, id, ...texts] = parts
  if (sorted !== sortText(sort) || typeof id !== 'string' || !isIdentifier(id) || (backwards !== 0 && backwards !== 1))
    return undefined
  if (texts.length !== Math.max(1, sort.length)) return undefined
  const keys = texts.map((each, i) => readKey(resource, sort[i], each))
  return keys.some(key => key instanceof Flaw) ? undefined : { keys, id, backwards: backwards === 1 }
}

/** Without a sort, the key is the creation time in milliseconds. An absent member is null. */
function readKey(resource: Resource, sort: Sort | undefined, text: unknown): unknown {
  if (text === null && sort) return undefined
  if (typeof text !== 'string') return new Flaw('type', 'must be text')
  if (!sort) return /^\d{1,15}$/.test(text) ? Number(text) : new Flaw('type', 'must be milliseconds')
  const shape = resource.fields[sort.field]?.shape
  return shape && isScalar(shape) ? readScalar(shape, text) : new Flaw('type', 'must be scalar')
}

function decodeCursor(text: string): readonly unknown[] | undefined {
  if (!/^[A-Za-z0-9_-]{1,2000}$/.test(text)) return undefined
  const octets = decodeBase64Url(text)
  const json = octets && decodeUtf8(octets)
  const parts: unknown = json && attempt(() => JSON.parse(json), isSyntaxError)
  return Array.isArray(parts) ? parts : undefined
}
