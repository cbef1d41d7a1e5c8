/**
 * Callers whose credentials were proven a short while ago, by tags of the credentials and never by
 * themselves.
 */
import { hash } from 'node:crypto'
import { BoundedCache } from '../base/memo.ts'
import type { Caller } from '../contract/policy.ts'

const rememberMs = 5 * 60_000
const rememberedMax = 10_000

export class ProvenCallers {
  #known = createMemory()
  readonly #clock: () => number
  /** The object that a token came in → the token's tag. */
  readonly #tagsByObject = new WeakMap<object, string>()

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** @param came the object that the token came in, if it may come again */
  tagOfToken(token: string, came: object | undefined): string {
    let tag = came && this.#tagsByObject.get(came)
    if (tag === undefined) tag = hash('sha256', token, 'base64url')
    if (came) this.#tagsByObject.set(came, tag)
    return tag
  }

  recall(tag: string): Caller | undefined {
    const known = this.#known.get(tag)
    return known && known.until > this.#clock() ? known.caller : undefined
  }

  /** @param until in milliseconds since 1970, like the clock */
  remember(tag: string, caller: Caller, until: number, longestMs = rememberMs): Caller {
    this.#known.set(tag, { caller, until: Math.min(until, this.#clock() + longestMs) })
    return caller
  }

  forget(): void {
    this.#known = createMemory()
  }
}

const createMemory = () => new BoundedCache<string, { readonly caller: Caller; readonly until: number }>(rememberedMax)
