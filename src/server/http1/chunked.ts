/**
 * RFC 9112 §7.1: content that comes in chunks. Strict, for whoever is lenient here is told apart
 * from a proxy that is not: a size is hexadecimal digits, lines end with CRLF, and a chunk is as
 * long as it says. Extensions are passed over and trailer fields dropped (§7.1.1, §7.1.2), within a
 * bound.
 */

/** Octets of extensions and trailer fields in one message. */
const mostAside = 16 * 1024
/** Hexadecimal digits of a size: beyond, no number holds it exactly. */
const mostDigits = 13

const cr = 0x0d
const lf = 0x0a
const isSpace = (octet: number): boolean => octet === 0x20 || octet === 0x09

type ChunkState = 'size' | 'white space' | 'extension' | 'size end' | 'data' | 'data end' | 'trailer' | 'end'

export class Chunked {
  #state: ChunkState = 'size'
  #size = 0
  #digits = 0
  #aside = 0
  /** Of the trailer line that is being read; undefined at its start. */
  #line: string | undefined
  /** Half of a CRLF was read. */
  #half = false

  get done(): boolean {
    return this.#state === 'end'
  }

  /**
   * Hands on the content in these octets. Answers how many of them were this message's: all, or
   * fewer once it is `done`; undefined when they are no chunks.
   */
  read(octets: Buffer, take: (piece: Buffer) => void): number | undefined {
    let at = 0
    while (at < octets.length && this.#state !== 'end') {
      if (this.#state === 'data') {
        const piece = octets.subarray(at, at + this.#size)
        at += piece.length
        this.#size -= piece.length
        if (this.#size === 0) this.#state = 'data end'
        take(piece)
      } else if (!this.#step(octets[at++] as number)) return undefined // at was within
    }
    return at
  }

  #step(octet: number): boolean {
    switch (this.#state) {
      case 'size':
        return this.#sizeStep(octet)
      case 'white space':
        if (octet === 0x3b) this.#state = 'extension'
        return this.#passOver(octet) && (octet === 0x3b || isSpace(octet))
      case 'extension':
        if (octet !== cr) return this.#passOver(octet)
        this.#state = 'size end'
        return true
      case 'size end':
        this.#state = this.#size === 0 ? 'trailer' : 'data'
        this.#digits = 0
        return octet === lf
      case 'data end':
        if (!this.#half) return (this.#half = octet === cr)
        this.#half = false
        this.#state = 'size'
        return octet === lf
      default:
        return this.#trailerStep(octet)
    }
  }

  #sizeStep(octet: number): boolean {
    const digit = digitOf(octet)
    if (digit !== undefined) {
      this.#size = (this.#digits === 0 ? 0 : this.#size * 16) + digit
      return ++this.#digits <= mostDigits
    }
    if (this.#digits === 0) return false
    this.#state = octet === cr ? 'size end' : octet === 0x3b ? 'extension' : 'white space'
    return octet === cr || octet === 0x3b || isSpace(octet) // an extension begins with ";", after white space or none
  }

  /** §7.1.1 */
  #passOver(octet: number): boolean {
    return ++this.#aside <= mostAside && (octet === 0x09 || (octet >= 0x20 && octet !== 0x7f))
  }

  /** §7.1.2: lines of fields up to an empty one. */
  #trailerStep(octet: number): boolean {
    if (this.#half) {
      this.#half = false
      if (this.#line === undefined) this.#state = 'end'
      else if (!/^[!#$%&'*+\-.^_`|~\w]+:/.test(this.#line)) return false
      this.#line = undefined
      return octet === lf
    }
    if (octet === cr) return (this.#half = true)
    this.#line = (this.#line ?? '') + String.fromCharCode(octet)
    return this.#passOver(octet)
  }
}

function digitOf(octet: number): number | undefined {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30
  const letter = octet | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
