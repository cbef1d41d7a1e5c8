/**
 * How many rows a list has, remembered until something is committed: each reader of the same list
 * gets the same total. To count up to `countedMax` rows takes half as long as to read a page of
 * them, and an exact count looks at all.
 */
import type { Cell } from './dialect.ts'
import { boundParameters, type Statement } from './statement.ts'

/** Of one connection. */
const countsMax = 1000
/** What is asked for in more characters is not remembered. */
const keyMax = 1000

export class CountMemory {
  /** By the text of the statement, and by what is bound in it. */
  readonly #counts = new Map<string, Map<string, number>>()
  #size = 0
  #state: Cell | undefined

  /** @param state differs from the one before where something was committed in between */
  follow(state: Cell | undefined): void {
    if (state !== this.#state) this.#forget()
    this.#state = state
  }

  recall(of: Statement, values: readonly Cell[], count: () => number): number {
    const key = JSON.stringify(boundParameters(of, values), spellCell)
    const known = this.#counts.get(of.text)?.get(key)
    if (known !== undefined) return known
    const counted = count()
    if (key.length <= keyMax) this.#keep(of.text, key, counted)
    return counted
  }

  #keep(text: string, key: string, counted: number): void {
    if (this.#size === countsMax) this.#forget()
    let ofText = this.#counts.get(text)
    if (!ofText) this.#counts.set(text, (ofText = new Map()))
    ofText.set(key, counted)
    this.#size++
  }

  #forget(): void {
    this.#counts.clear()
    this.#size = 0
  }
}

/** JSON has no large integers, and no infinite numbers. */
const spellCell = (_at: string, cell: unknown): unknown =>
  typeof cell === 'bigint' || (typeof cell === 'number' && !Number.isFinite(cell)) ? String(cell) : cell
