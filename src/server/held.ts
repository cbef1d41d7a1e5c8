const none = Buffer.alloc(0)

/** Octets that have arrived and are not read yet. To add some costs what they are, however many are held. */
export class Held {
  octets: Buffer = none
  /** `octets` stand at its start. */
  #room: Buffer | undefined

  add(more: Buffer): void {
    const length = this.octets.length + more.length
    if (length === more.length) {
      this.octets = more
      this.#room = undefined
      return
    }
    if (!this.#room || this.#room.length < length) {
      this.#room = Buffer.allocUnsafe(length * 2)
      this.octets.copy(this.#room)
    }
    more.copy(this.#room, this.octets.length)
    this.octets = this.#room.subarray(0, length)
  }

  /** The first so many, which are held no more. */
  take(count: number): Buffer {
    const taken = this.octets.subarray(0, count)
    this.octets = count === this.octets.length ? none : this.octets.subarray(count)
    this.#room = undefined
    return taken
  }
}
