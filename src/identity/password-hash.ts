/**
 * Passwords as argon2id. What it guards:
 *  (1) A password costs at most a tenth of a second of a core, and two are hashed at once: others
 *      wait in line, and beyond the line are told to retry, while all other requests are served.
 */
import { argon2 } from 'node:crypto'
import { Unavailable } from '../service/store.ts'

/** The cost of a hash; stored with each hash, so that the default may change. */
export interface Cost {
  /** In KiB. */
  readonly memory: number
  readonly passes: number
}
/**
 * One of OWASP's minimums for argon2id, which are equally strong: each thread of Node's pool keeps
 * the memory of a hash.
 */
export const currentCost: Cost = { memory: 12_288, passes: 3 }

const hashesMax = 2
const waitingMax = 64

let running = 0
const queue: (() => void)[] = []

/** 32 octets. Throws `Unavailable` if too many wait. */
export async function hashPassword(password: string, salt: Uint8Array, cost: Cost): Promise<Buffer> {
  if (running >= hashesMax) {
    if (queue.length >= waitingMax) throw new Unavailable(1)
    await new Promise<void>(resolve => queue.push(resolve)) // a hash that ends passes its place on
  } else running++
  try {
    return await computeTag(password, salt, cost)
  } finally {
    const next = queue.shift()
    if (next) next()
    else running--
  }
}

const computeTag = (message: string, nonce: Uint8Array, cost: Cost): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    argon2('argon2id', { message, nonce, ...cost, parallelism: 1, tagLength: 32 }, (error, tag) =>
      error ? reject(error) : resolve(tag),
    ),
  )
