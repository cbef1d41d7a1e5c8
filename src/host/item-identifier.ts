/** New identifiers of items, which sort by their time. */
import { randomFillSync } from 'node:crypto'
import { memoizeLatest } from '../base/memo.ts'

/** Crockford's base 32: its texts sort like the numbers. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** For milliseconds since 1970: enough until the year 3084. */
const timeCharacters = 9
const randomCharacters = 11

/**
 * A new identifier: the time, then 55 random bits (as in RFC 9562 §5.7). Consecutive identifiers
 * are neighbours in the indexes of a database, so a transaction that creates many items writes few
 * pages, however large the table.
 */
export const createItemIdentifier = (prefix: string, now = Date.now()): string =>
  `${prefix}-${writeMoment(now)}${pool.draw(randomCharacters)}`

const writeMoment = memoizeLatest((now: number): string => {
  let text = ''
  for (let left = now; text.length < timeCharacters; left = Math.floor(left / 32))
    text = (alphabet[left % 32] ?? '') + text
  return text
})

/** Random characters, from octets drawn in bulk; none is used twice. */
class CharacterPool {
  readonly #octets = new Uint8Array(4096)
  #used = this.#octets.length

  draw(count: number): string {
    if (this.#used + count > this.#octets.length) {
      randomFillSync(this.#octets)
      this.#used = 0
    }
    let text = ''
    for (const end = this.#used + count; this.#used < end; this.#used++)
      text += alphabet[(this.#octets[this.#used] ?? 0) & 31]
    return text
  }
}
const pool = new CharacterPool()
