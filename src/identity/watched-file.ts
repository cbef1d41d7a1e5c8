/**
 * A file of settings, read again when it changes; while it is invalid, the last valid one counts.
 */
import { readFileSync, statSync } from 'node:fs'

const lookEveryMs = 1000

/** Thrown if a file of settings is missing or invalid. */
export class Unusable extends Error {
  override readonly name = 'Unusable'
}

/** Watches a file of UTF-8 text. */
export const watchFile = <T>(
  file: string,
  parse: (text: string) => T,
  watching: Watching & { readonly absent?: { readonly value: T } },
): (() => T) => watchOctets(file, octets => parse(octets.toString('utf8')), watching)

/**
 * @param parse throws for an invalid file; the first read throws `Unusable`, later ones report it
 *   to `failed`
 * @param absent the value for a missing file. Default: a missing file is a failure
 */
export function watchOctets<T>(
  file: string,
  parse: (octets: Buffer) => T,
  { clock, failed, absent }: Watching & { readonly absent?: { readonly value: T } },
): () => T {
  const mark = (): string => {
    const found = statSync(file, { throwIfNoEntry: false })
    return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'absent'
  }
  const load = (): T => {
    if (absent && mark() === 'absent') return absent.value
    try {
      return parse(readFileSync(file))
    } catch (cause) {
      throw new Unusable(
        `${file} cannot be used: ${cause instanceof Error ? cause.message : cause}: check its path and its content`,
        { cause },
      )
    }
  }
  let lastMark = mark()
  let value = load()
  let looked = clock()
  return () => {
    const now = clock()
    if (now - looked < lookEveryMs && now >= looked) return value
    looked = now
    const next = mark()
    if (next === lastMark) return value
    lastMark = next
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
