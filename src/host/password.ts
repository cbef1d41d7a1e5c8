/**
 * Passwords as argon2id. What it guards:
 *  (1) A password costs a tenth of a core's second at most, and two are worked on at once: whoever sends many waits in
 *      line, and beyond the line is told to come back, while everybody else is served.
 */
import { argon2 } from 'node:crypto'
import { Unavailable } from '../service/store.ts'

/** OWASP's least for argon2id: 19 MiB, two passes, one lane. */
const cost = { parallelism: 1, tagLength: 32, memory: 19_456, passes: 2 } as const
const atOnce = 2
const inLine = 64

let working = 0
const waiting: (() => void)[] = []

/** 32 octets. Throws `Unavailable` when too many wait. */
export async function hash(password: string, salt: Uint8Array): Promise<Buffer> {
  if (working >= atOnce) {
    if (waiting.length >= inLine) throw new Unavailable(1)
    await new Promise<void>(resolve => waiting.push(resolve)) // whoever ends hands his place on
  } else working++
  try {
    return await tag(password, salt)
  } finally {
    const next = waiting.shift()
    if (next) next()
    else working--
  }
}

const tag = (message: string, nonce: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    argon2('argon2id', { message, nonce, ...cost }, (error, tag) => (error ? reject(error) : resolve(tag))),
  )
