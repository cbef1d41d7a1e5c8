/**
 * A file of settings that may change while the service runs: read again when it has, the last good
 * one kept when it is broken.
 */
import { readFileSync, statSync } from 'node:fs'

/** Milliseconds within which a change is noticed. */
const pause = 1000

/** A file of settings that cannot be used, in a line. */
export class Unusable extends Error {
  override readonly name = 'Unusable'
}

/**
 * @param parse throws when the text cannot be used; at the first reading `Unusable` goes up, later
 * it goes to `failed`
 * @param absent what stands for a file that is not there; without it that is a failure too
 */
export function watchFile<T>(
  file: string,
  parse: (text: string) => T,
  { clock, failed, absent }: Watching & { readonly absent?: { readonly value: T } },
): () => T {
  const mark = (): string => {
    const found = statSync(file, { throwIfNoEntry: false })
    return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'absent'
  }
  const load = (): T => {
    if (absent && mark() === 'absent') return absent.value
    try {
      return parse(readFileSync(file, 'utf8'))
    } catch (cause) {
      throw new Unusable(`${file} cannot be used: ${cause instanceof Error ? cause.message : cause}`, { cause })
    }
  }
  let seen = mark()
  let value = load()
  let looked = clock()
  return () => {
    const now = clock()
    if (now - looked < pause && now >= looked) return value
    looked = now
    const next = mark()
    if (next === seen) return value
    seen = next
    try {
      value = load()
    } catch (thrown) {
      failed(thrown)
    }
    return value
  }
}

export interface Watching {
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly failed: (thrown: unknown) => void
}
