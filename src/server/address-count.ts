/** The number of open connections of each peer address, so that no address can take them all. */
import { isLoopbackAddress } from '../base/address.ts'

export class AddressCount {
  readonly #counts = new Map<string, number>()

  /**
   * @returns the connections that the address now has; 0 for loopback addresses and Unix sockets,
   *   which are not counted
   */
  add(address: string): number {
    if (!isCounted(address)) return 0
    const count = (this.#counts.get(address) ?? 0) + 1
    this.#counts.set(address, count)
    return count
  }

  remove(address: string): void {
    const count = this.#counts.get(address)
    if (count === undefined) return
    if (count > 1) this.#counts.set(address, count - 1)
    else this.#counts.delete(address)
  }
}

const isCounted = (address: string): boolean => address !== '' && !isLoopbackAddress(address)
