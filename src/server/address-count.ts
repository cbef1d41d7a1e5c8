/** Connections that each address has open, so that one of them cannot have them all. */
import { addressBlock, isLoopbackAddress } from '../base/address.ts'

export class AddressCount {
  readonly #counts = new Map<string, number>()

  /**
   * @returns how many it has now; 0 for this machine's own and those of a Unix socket, which are
   * not counted
   */
  add(address: string): number {
    if (!isCounted(address)) return 0
    const block = addressBlock(address)
    const count = (this.#counts.get(block) ?? 0) + 1
    this.#counts.set(block, count)
    return count
  }

  remove(address: string): void {
    const block = addressBlock(address)
    const count = this.#counts.get(block)
    if (count === undefined) return
    if (count > 1) this.#counts.set(block, count - 1)
    else this.#counts.delete(block)
  }
}

const isCounted = (address: string): boolean => address !== '' && !isLoopbackAddress(address)
