/**
 * Octets that have arrived and have not been read yet. Adding octets costs time in proportion to
 * their number, however many are held.
 */
export class ReceiveBuffer {
  octets: Buffer = noOctets
  /** Memory that begins with `octets`. */
  #room: Buffer | undefined
  /** `octets` belong to another owner, which will reuse their memory. */
  #isLent = false

  /** @param isLent the octets are ours only until `copyLent` */
  add(more: Buffer, isLent = false): void {
    const length = this.octets.length + more.length
    if (length === more.length) {
      this.octets = more
      this.#isLent = isLent
      this.#room = undefined
      return
    }
    if (!this.#room || this.#room.length < length) {
      this.#room = Buffer.allocUnsafe(length * 2)
      this.octets.copy(this.#room)
    }
    more.copy(this.#room, this.octets.length)
    this.octets = this.#room.subarray(0, length)
    this.#isLent = false
  }

  /** Copies lent octets before their owner reuses the memory. */
  copyLent(): void {
    if (this.#isLent && this.octets.length > 0) this.octets = copyOctets(this.octets)
    this.#isLent = false
  }

  /** Removes the first `count` octets, for a reader that keeps them. */
  takeOwned(count: number): Buffer {
    const octets = this.octets.subarray(0, count)
    this.drop(count)
    return this.#isLent ? copyOctets(octets) : octets
  }

  /** Removes the first `count` octets. */
  drop(count: number): void {
    this.octets = count === this.octets.length ? noOctets : this.octets.subarray(count)
    this.#room = undefined
  }
}

const noOctets = Buffer.alloc(0)

/**
 * Copies of fewer octets share a buffer; a longer copy has its own buffer, which can be freed once
 * it has been read.
 */
const sharedCopyOctetsMax = 4096

function copyOctets(octets: Buffer): Buffer {
  if (octets.length < sharedCopyOctetsMax) return Buffer.from(octets)
  const copy = Buffer.allocUnsafeSlow(octets.length)
  octets.copy(copy)
  return copy
}
