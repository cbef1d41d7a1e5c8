/**
 * Passwords as argon2id. What it guards:
 *  (1) A password costs a tenth of a core's second at most, and two are worked on at once: whoever
 *      sends many waits in line, and beyond the line is told to come back, while everybody else is
 *      served.
 */
import { argon2 } from 'node:crypto'
import { Unavailable } from '../service/store.ts'

/**
 * What a hash costs who makes it; it stands beside each that is kept, so the next may cost another.
 */
export interface Cost {
  /** KiB. */
  readonly memory: number
  readonly passes: number
}
/**
 * Of OWASP's leasts for argon2id, which guard alike: each thread of Node's pool keeps what one hash
 * took.
 */
export const currentCost: Cost = { memory: 12_288, passes: 3 }

const atOnce = 2
const inLine = 64

let working = 0
const waiting: (() => void)[] = []

/** 32 octets. Throws `Unavailable` when too many wait. */
export async function hashPassword(password: string, salt: Uint8Array, cost: Cost): Promise<Buffer> {
  if (working >= atOnce) {
    if (waiting.length >= inLine) throw new Unavailable(1)
    await new Promise<void>(resolve => waiting.push(resolve)) // whoever ends hands his place on
  } else working++
  try {
    return await computeTag(password, salt, cost)
  } finally {
    const next = waiting.shift()
    if (next) next()
    else working--
  }
}

const computeTag = (message: string, nonce: Uint8Array, cost: Cost): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    argon2('argon2id', { message, nonce, ...cost, parallelism: 1, tagLength: 32 }, (error, tag) =>
      error ? reject(error) : resolve(tag),
    ),
  )
