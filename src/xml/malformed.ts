import type { XmlLimits } from './limits.ts'

/**
 * Why a document is refused: it is not well-formed (XML 1.0), not namespace-well-formed (Namespaces
 * in XML 1.0), or over a limit. It is data, without a stack. Every movement of a cursor may throw
 * it; `parseOrUndefined` and `parseXml` return it.
 */
export class Malformed {
  readonly reason: string
  /** Offset in octets into the document as received. */
  readonly at: number
  /** The limit that was exceeded, if any. */
  readonly limit: keyof XmlLimits | undefined

  constructor(reason: string, at: number, limit?: keyof XmlLimits) {
    this.reason = reason
    this.at = at
    this.limit = limit
  }
}

/** The result of `read`, or the Malformed that it throws. Any other error is passed on. */
export function parseOrUndefined<T>(read: () => T): T | Malformed {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof Malformed) return thrown
    throw thrown
  }
}

/** A place in a document as an editor shows it. */
export interface Position {
  /** From 1; lines end as in XML 1.0 §2.11. */
  readonly line: number
  /** From 1, in characters. */
  readonly column: number
}

/** Line and column of an offset in a UTF-8 document. */
export function positionOf(bytes: Uint8Array, at: number): Position {
  const before = new TextDecoder().decode(bytes.subarray(0, at))
  const lines = before.split(/\r\n?|\n/)
  return { line: lines.length, column: [...lines.at(-1)!].length + 1 }
}
