/**
 * Items that were read before. Equal cells are an equal item: a row that matches, cell by cell, the
 * one kept for its identifier is not decoded again. So an item that has not changed costs only its
 * SQL, and a face that keeps something for a snapshot can tell by the snapshot's identity that it
 * still holds. A row is kept when it comes for the second time within a while: most rows of a large
 * table come once, and keeping each would cost more than decoding it.
 */

import { freezeDeep } from '../base/objects.ts'
import type { Snapshot } from '../service/store.ts'
import { type Cells, isLargeRow } from './connection.ts'

/** The table of the rows, and how to read one. */
interface RowKind {
  readonly table: { readonly name: string }
  readonly item: (row: Cells) => Snapshot
}
interface CachedRow {
  readonly table: string
  readonly row: Cells
  readonly item: Snapshot
}

/** Across all tables. */
const itemsMax = 4096
/** A power of two, like those below. */
const chains = 8192
const passedBits = 1 << 18
/** After this many rows that came once, all of these are forgotten. */
const passedMax = 8192

/**
 * V8 interns each text that a Map looks up, which costs more than the rest of a lookup. So rows are
 * found by hashes of their identifiers; if two have the same hash, the later row takes the place.
 */
export class RowCache {
  /** By places from 1 on. The oldest leaves first, so the rows of a page leave together. */
  readonly #rows = new Array<CachedRow | undefined>(itemsMax + 1).fill(undefined)
  readonly #sums = new Int32Array(itemsMax + 1)
  /** The first place of each chain, and the place after each; 0 means none. */
  readonly #first = new Uint16Array(chains)
  readonly #next = new Uint16Array(itemsMax + 1)
  #oldest = 1
  /** A bit for each hash that came once, so that two rows of a page never displace each other. */
  readonly #passed = new Int32Array(passedBits / 32)
  #passedCount = 0

  /** @param row begins with the cells that `systemColumns` names */
  item({ table, item: readItem }: RowKind, row: Cells): Snapshot {
    const sum = sumOf(row[4] as string) // the column of identifiers is text
    const place = this.#find(sum)
    const entry = this.#rows[place]
    if (entry?.table === table.name && isSame(entry.row, row)) return entry.item
    const item = readItem(row)
    if ((entry || this.#hasPassed(sum)) && isKeepable(row))
      this.#rows[place || this.#takePlace(sum)] = { table: table.name, row, item: freezeDeep(item) }
    return item
  }

  #find(sum: number): number {
    let place = this.#first[sum & (chains - 1)] ?? 0
    while (place !== 0 && this.#sums[place] !== sum) place = this.#next[place] ?? 0
    return place
  }

  /** Takes the place of the oldest row, once all are taken. */
  #takePlace(sum: number): number {
    const place = this.#oldest
    this.#oldest = (place % itemsMax) + 1
    if (this.#rows[place]) this.#leaveChain(place)
    const chain = sum & (chains - 1)
    this.#sums[place] = sum
    this.#next[place] = this.#first[chain] ?? 0
    this.#first[chain] = place
    return place
  }

  #leaveChain(place: number): void {
    const chain = (this.#sums[place] ?? 0) & (chains - 1)
    const next = this.#next[place] ?? 0
    let before = this.#first[chain] ?? 0
    if (before === place) this.#first[chain] = next
    else {
      while (before !== 0 && this.#next[before] !== place) before = this.#next[before] ?? 0
      this.#next[before] = next
    }
  }

  #hasPassed(sum: number): boolean {
    const word = (sum >>> 5) & (passedBits / 32 - 1)
    const bit = 1 << (sum & 31)
    const bits = this.#passed[word] ?? 0
    if ((bits & bit) !== 0) return true
    if (this.#passedCount === passedMax) {
      this.#passed.fill(0)
      this.#passedCount = 0
    }
    this.#passedCount++
    this.#passed[word] = (this.#passed[word] ?? 0) | bit
    return false
  }
}

/** Hashes the last characters, since identifiers differ there. */
function sumOf(id: string): number {
  let sum = 0
  for (let at = Math.max(0, id.length - 16); at < id.length; at++) sum = (Math.imul(sum, 31) + id.charCodeAt(at)) | 0
  sum = Math.imul(sum, 0x9e3779b1) // Fibonacci hashing: the place depends on all bits
  return sum ^ (sum >>> 15)
}

function isSame(a: Cells, b: Cells): boolean {
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false
  return a.length === b.length
}

/** Not for a row with octets: they cannot be compared quickly, nor frozen. */
const isKeepable = (row: Cells): boolean =>
  !isLargeRow(row) && row.every(cell => typeof cell !== 'object' || cell === null)
