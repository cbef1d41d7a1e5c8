/**
 * RFC 9112 §7.1: content in chunks. Strict, because a lenient server and a strict proxy in front
 * would see different messages: a size is hexadecimal digits, lines end with CRLF, and a chunk is
 * as long as its size. Extensions are skipped and trailer fields dropped (§7.1.1, §7.1.2), within a
 * bound.
 */

/** Octets of extensions and trailer fields in one message. */
const asideOctetsMax = 16 * 1024
/** Hexadecimal digits of a size: a number cannot hold more of them exactly. */
const sizeDigitsMax = 13

const cr = 0x0d
const lf = 0x0a
const isSpace = (octet: number): boolean => octet === 0x20 || octet === 0x09

type ChunkState = 'size' | 'white space' | 'extension' | 'size end' | 'data' | 'data end' | 'trailer' | 'end'

export class Chunked {
  #state: ChunkState = 'size'
  #size = 0
  #digits = 0
  #aside = 0
  /** The current trailer line; undefined at its start. */
  #line: string | undefined
  /** The CR of a CRLF has been read. */
  #isHalf = false

  get isDone(): boolean {
    return this.#state === 'end'
  }

  /**
   * Hands on the content in these octets.
   * @returns how many of them belong to this message: all, or fewer once it `isDone`; undefined if
   *   they are not valid chunks
   */
  read(octets: Buffer, handOn: (piece: Buffer) => void): number | undefined {
    let at = 0
    while (at < octets.length && this.#state !== 'end') {
      if (this.#state === 'data') {
        const piece = octets.subarray(at, at + this.#size)
        at += piece.length
        this.#size -= piece.length
        if (this.#size === 0) this.#state = 'data end'
        handOn(piece)
      } else if (!this.#readOctet(octets[at++] as number)) return undefined // within bounds by the condition of the loop
    }
    return at
  }

  #readOctet(octet: number): boolean {
    switch (this.#state) {
      case 'size':
        return this.#readSize(octet)
      case 'white space':
        if (octet === 0x3b) this.#state = 'extension'
        return this.#skipOctet(octet) && (octet === 0x3b || isSpace(octet))
      case 'extension':
        if (octet !== cr) return this.#skipOctet(octet)
        this.#state = 'size end'
        return true
      case 'size end':
        this.#state = this.#size === 0 ? 'trailer' : 'data'
        this.#digits = 0
        return octet === lf
      case 'data end':
        if (!this.#isHalf) return (this.#isHalf = octet === cr)
        this.#isHalf = false
        this.#state = 'size'
        return octet === lf
      default:
        return this.#readTrailer(octet)
    }
  }

  #readSize(octet: number): boolean {
    const digit = hexDigitOf(octet)
    if (digit !== undefined) {
      this.#size = (this.#digits === 0 ? 0 : this.#size * 16) + digit
      return ++this.#digits <= sizeDigitsMax
    }
    if (this.#digits === 0) return false
    this.#state = octet === cr ? 'size end' : octet === 0x3b ? 'extension' : 'white space'
    return octet === cr || octet === 0x3b || isSpace(octet) // an extension begins with ";", after white space or none
  }

  /** §7.1.1 */
  #skipOctet(octet: number): boolean {
    return ++this.#aside <= asideOctetsMax && (octet === 0x09 || (octet >= 0x20 && octet !== 0x7f))
  }

  /** §7.1.2: lines of fields up to an empty one. */
  #readTrailer(octet: number): boolean {
    if (this.#isHalf) {
      this.#isHalf = false
      if (this.#line === undefined) this.#state = 'end'
      else if (!/^[!#$%&'*+\-.^_`|~\w]+:/.test(this.#line)) return false
      this.#line = undefined
      return octet === lf
    }
    if (octet === cr) return (this.#isHalf = true)
    this.#line = (this.#line ?? '') + String.fromCharCode(octet)
    return this.#skipOctet(octet)
  }
}

function hexDigitOf(octet: number): number | undefined {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30
  const letter = octet | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
