/**
 * Octets that stand in a value without being held: they come from elsewhere as they are read. The
 * receiver of such a value reads all of them or drops them: in the order of their arrival, in which
 * none has to wait for another, or in any other one, where no arrival is told or it holds octets.
 */
import type { Pieces } from './octets.ts'

/** Where octets stand in the order in which those of their value come. */
export interface ArrivalPlace {
  /** The same for all octets of one value. */
  readonly order: ArrivalOrder
  /** Which of them these are. */
  readonly key: string
}
export interface ArrivalOrder {
  /**
   * The key of the octets that come next, once those before have been read; undefined: there are no
   * more. It throws where some do not come.
   */
  readonly next: () => Promise<string | undefined>
}

/**
 * How octets of a value are read: in the order in which they stand in it, or as their arrival says.
 */
export type ReadingOrder = 'as written' | 'as they come'

export class PassingOctets {
  /** Reads them, once. It throws where they do not come whole. */
  readonly read: () => Pieces
  /** Neither these nor the others of the same value are wanted. */
  readonly drop: () => void
  /** Undefined: in any order. */
  readonly arrival: ArrivalPlace | undefined

  constructor(read: () => Pieces, drop: () => void, arrival?: ArrivalPlace) {
    this.read = read
    this.drop = drop
    this.arrival = arrival
  }

  /** The same octets, watched or limited while they are read, and while the next are waited for. */
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

/** All that is of a class in a value, in the order of its members. */
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

/** @param look whether what is inside of it is left out */
function visitEach(value: unknown, look: (each: object) => boolean): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || look(value)) return
  if (Array.isArray(value)) for (const each of value) visitEach(each, look)
  else for (const key in value) visitEach(value[key as keyof typeof value], look)
}

/** The value with something else in place of each thing that is of a class. */
export function replaceEach<T extends object>(value: unknown, kind: Kind<T>, replace: (found: T) => unknown): unknown {
  if (value instanceof kind) return replace(value)
  if (Array.isArray(value)) return value.map(each => replaceEach(each, kind, replace))
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaceEach(each, kind, replace)]))
}

/** The octets of a value are not wanted. */
export function dropPassing(value: unknown): void {
  for (const each of listEach(value, PassingOctets)) each.drop()
}
