import { randomFillSync } from 'node:crypto'

/** Crockford's base 32: its order is that of the numbers. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** Characters of milliseconds since 1970: enough until the year 3084. */
const ofTime = 9
const ofChance = 11

/**
 * A new identifier: the time, then 55 random bits (as in RFC 9562 §5.7). What is made one after the
 * other stands side by side in the indexes of a database, so that a transaction of many writes few
 * pages, however large the table has become.
 */
export function createItemIdentifier(prefix: string, now = Date.now()): string {
  if (now !== moment.now) moment = { now, text: inBase32(now) }
  if (at + ofChance > pool.length) {
    randomFillSync(pool)
    at = 0
  }
  let text = `${prefix}-${moment.text}`
  for (const end = at + ofChance; at < end; at++) text += alphabet[(pool[at] ?? 0) & 31]
  return text
}

/** Random octets, drawn many at once; none is used twice. */
const pool = new Uint8Array(4096)
let at = pool.length

let moment = { now: -1, text: '' }
function inBase32(now: number): string {
  let text = ''
  for (let left = now; text.length < ofTime; left = Math.floor(left / 32)) text = (alphabet[left % 32] ?? '') + text
  return text
}
