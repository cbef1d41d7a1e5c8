const none = Buffer.alloc(0)

/** Octets that have arrived and are not read yet. To add some costs what they are, however many are held. */
export class ReceiveBuffer {
  octets: Buffer = none
  /** `octets` stand at its start. */
  #room: Buffer | undefined
  /** `octets` are another's. */
  #lent = false

  /** `lent`: they are ours only until `keep`. */
  add(more: Buffer, lent = false): void {
    const length = this.octets.length + more.length
    if (length === more.length) {
      this.octets = more
      this.#lent = lent
      this.#room = undefined
      return
    }
    if (!this.#room || this.#room.length < length) {
      this.#room = Buffer.allocUnsafe(length * 2)
      this.octets.copy(this.#room)
    }
    more.copy(this.#room, this.octets.length)
    this.octets = this.#room.subarray(0, length)
    this.#lent = false
  }

  /** What was lent is copied, for its owner will use it for something else. */
  keep(): void {
    if (this.#lent && this.octets.length > 0) this.octets = copyOf(this.octets)
    this.#lent = false
  }

  /** The same as `take`, to be kept. */
  own(count: number): Buffer {
    const taken = this.take(count)
    return this.#lent ? copyOf(taken) : taken
  }

  /** The first so many, which are held no more. */
  take(count: number): Buffer {
    const taken = this.octets.subarray(0, count)
    this.octets = count === this.octets.length ? none : this.octets.subarray(count)
    this.#room = undefined
    return taken
  }
}

/** Copies of up to so many octets share a buffer; a longer one has its own, which can be freed as soon as it is read. */
const together = 4096

function copyOf(octets: Buffer): Buffer {
  if (octets.length < together) return Buffer.from(octets)
  const copy = Buffer.allocUnsafeSlow(octets.length)
  octets.copy(copy)
  return copy
}
