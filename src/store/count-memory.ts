/**
 * Remembers how many rows a list has until something is committed, since all readers of the same
 * list get the same total. Counting up to `countedMax` rows takes half as long as reading a page of
 * them, and an exact count looks at every row.
 */
import type { Cell } from './dialect.ts'
import { boundParameters, type Statement } from './statement.ts'

/** Per connection. */
const countsMax = 1000
/** A query whose values take more characters than this is not remembered. */
const keyMax = 1000

export class CountMemory {
  /** By the text of the statement, then by its bound values. */
  readonly #counts = new Map<string, Map<string, number>>()
  #size = 0
  #state: Cell | undefined

  /** @param state changes if something was committed in between */
  follow(state: Cell | undefined): void {
    if (state !== this.#state) this.#forget()
    this.#state = state
  }

  recall(of: Statement, values: readonly Cell[], count: () => number): number {
    const key = JSON.stringify(boundParameters(of, values), spellCell)
    const remembered = this.#counts.get(of.text)?.get(key)
    if (remembered !== undefined) return remembered
    const total = count()
    if (key.length <= keyMax) this.#keep(of.text, key, total)
    return total
  }

  #keep(text: string, key: string, total: number): void {
    if (this.#size === countsMax) this.#forget()
    let ofText = this.#counts.get(text)
    if (!ofText) this.#counts.set(text, (ofText = new Map()))
    ofText.set(key, total)
    this.#size++
  }

  #forget(): void {
    this.#counts.clear()
    this.#size = 0
  }
}

/** JSON has neither large integers nor infinite numbers. */
const spellCell = (_at: string, cell: unknown): unknown =>
  typeof cell === 'bigint' || (typeof cell === 'number' && !Number.isFinite(cell)) ? String(cell) : cell
