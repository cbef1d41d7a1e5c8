/** New identifiers of items, in the order of their time. */
import { randomFillSync } from 'node:crypto'

/** Crockford's base 32: the order of texts is that of numbers. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** For milliseconds since 1970: enough until the year 3084. */
const timeCharacters = 9
const randomCharacters = 11

/**
 * A new identifier: the time, then 55 random bits (as in RFC 9562 §5.7). Consecutive identifiers
 * are neighbours in the indexes of a database, so that a transaction of many writes few pages,
 * however large the table.
 */
export function createItemIdentifier(prefix: string, now = Date.now()): string {
  if (now !== moment.now) moment = { now, text: writeBase32(now) }
  if (at + randomCharacters > pool.length) {
    randomFillSync(pool)
    at = 0
  }
  let text = `${prefix}-${moment.text}`
  for (const end = at + randomCharacters; at < end; at++) text += alphabet[(pool[at] ?? 0) & 31]
  return text
}

/** Random octets, drawn in bulk; none is used twice. */
const pool = new Uint8Array(4096)
let at = pool.length

let moment = { now: -1, text: '' }
function writeBase32(now: number): string {
  let text = ''
  for (let left = now; text.length < timeCharacters; left = Math.floor(left / 32))
    text = (alphabet[left % 32] ?? '') + text
  return text
}
