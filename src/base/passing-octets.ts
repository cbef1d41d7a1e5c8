/**
 * Octets that a value refers to and does not hold: they arrive while they are read. The receiver of
 * such a value reads all of them, or drops them. It reads them in the order of their arrival, so
 * that none waits for another; in any other order only if the arrival order is unknown, or the
 * source holds them.
 */
import type { Pieces } from './octets.ts'

/** The place of octets in the order in which those of their value arrive. */
export interface ArrivalPlace {
  /** Shared by all octets of one value. */
  readonly order: ArrivalOrder
  /** Identifies these octets. */
  readonly key: string
}
export interface ArrivalOrder {
  /**
   * The key of the octets that arrive next, once those before have been read; undefined if there
   * are no more. Throws if some do not arrive.
   */
  readonly next: () => Promise<string | undefined>
}

/**
 * How the octets of a value are read: in the order of its members, or in the order of their
 * arrival.
 */
export type ReadingOrder = 'as written' | 'as they come'

export class PassingOctets {
  /** Reads the octets, once. Throws if they do not arrive completely. */
  readonly read: () => Pieces
  /** Discards these octets and all others of the same value. */
  readonly drop: () => void
  /** Undefined: they may be read in any order. */
  readonly arrival: ArrivalPlace | undefined

  constructor(read: () => Pieces, drop: () => void, arrival?: ArrivalPlace) {
    this.read = read
    this.drop = drop
    this.arrival = arrival
  }

  /**
   * The same octets, with `read` around their pieces and `wait` around each wait for the next
   * octets: to watch or limit both.
   */
  through(read: (pieces: Pieces) => Pieces, wait = (next: ArrivalOrder['next']) => next()): PassingOctets {
    const { arrival } = this
    const place = arrival && { ...arrival, order: { next: () => wait(arrival.order.next) } }
    return new PassingOctets(() => read(this.read()), this.drop, place)
  }
}

/**
 * Octets that may stand in their place while a value is checked and written: a multiple of three,
 * so that their base64 has no padding, and enough that none can be guessed. A type that does not
 * allow so many has no octets that pass.
 */
export const standInOctets = 24

/** All instances of a class in a value, in the order of its members. */
export function listEach<T extends object>(value: unknown, kind: Kind<T>): readonly T[] {
  const found: T[] = []
  visitEach(value, each => {
    if (!(each instanceof kind)) return false
    found.push(each)
    return true
  })
  return found
}
type Kind<T> = abstract new (...given: never[]) => T

/** @param look whether the content of an instance is left out */
function visitEach(value: unknown, look: (each: object) => boolean): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || look(value)) return
  if (Array.isArray(value)) for (const each of value) visitEach(each, look)
  else for (const key in value) visitEach(value[key as keyof typeof value], look)
}

/** The value, with each instance of a class replaced. */
export function replaceEach<T extends object>(value: unknown, kind: Kind<T>, replace: (found: T) => unknown): unknown {
  if (value instanceof kind) return replace(value)
  if (Array.isArray(value)) return value.map(each => replaceEach(each, kind, replace))
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaceEach(each, kind, replace)]))
}

/** Drops all passing octets of a value. */
export function dropPassing(value: unknown): void {
  for (const each of listEach(value, PassingOctets)) each.drop()
}
