/**
 * A text that contains passing octets as base64. It is first written with unguessable marks in
 * their places, which no other text in it can equal; then it is sent, and the octets replace their
 * marks as they are read.
 */
import { randomBytes } from 'node:crypto'
import { encodeBase64 } from './base64.ts'
import { encodePieces, type Pieces } from './octets.ts'
import { listEach, PassingOctets, replaceEach, standInOctets } from './passing-octets.ts'

/** Octets by the base64 that marks them in a text. */
export type MarkedOctets = ReadonlyMap<string, { readonly read: () => AsyncIterable<Uint8Array> }>

/** A value without its passing octets, and these octets by the base64 in their places. */
export interface MarkedValue {
  readonly value: unknown
  readonly octetsOf: ReadonlyMap<string, PassingOctets>
  /** Discards the octets, which nothing will read. */
  readonly drop: () => void
}

/** @returns undefined if no octets pass */
export function markPassing(value: unknown): MarkedValue | undefined {
  const all = listEach(value, PassingOctets)
  if (all.length === 0) return undefined
  const octetsOf = new Map<string, PassingOctets>()
  const marked = replaceEach(value, PassingOctets, octets => {
    const mark = new Uint8Array(randomBytes(standInOctets))
    octetsOf.set(encodeBase64(mark), octets)
    return mark
  })
  return { value: marked, octetsOf, drop: () => all.forEach(each => void each.drop()) }
}

const utf8 = new TextEncoder()
/** The text, with the octets in place of their marks. */
export async function* fillMarks(text: string, octetsOf: MarkedOctets): Pieces {
  const places = [...octetsOf].map(([mark, { read }]) => ({ mark, read, at: text.indexOf(mark) }))
  let from = 0
  for (const { mark, read, at } of places.sort((a, b) => a.at - b.at)) {
    yield utf8.encode(text.slice(from, at))
    yield* encodePieces(read())
    from = at + mark.length
  }
  yield utf8.encode(text.slice(from))
}
