/** Passwords as argon2id: each costs at most a tenth of a second of a core. */
import { argon2 } from 'node:crypto'

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

/** 32 octets. */
export const hashPassword = (message: string, nonce: Uint8Array, cost: Cost): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    argon2('argon2id', { message, nonce, ...cost, parallelism: 1, tagLength: 32 }, (error, tag) =>
      error ? reject(error) : resolve(tag),
    ),
  )
