/**
 * Bounds the octets held of contents that are still arriving, for all peers together: slow senders
 * gain no room by opening more connections. Beyond the bound, the peer with the most octets loses
 * the content that it began first, so it takes no room from other peers. The bound is at most a
 * quarter of the memory that the system allows this process: the rest is for the program, its
 * database, and what such contents become (a document takes several times its octets).
 */
import { totalmem } from 'node:os'
import { defaultLimits } from './limits.ts'

/** Content that is still arriving, and whose octets are held. */
export interface HeldContent {
  /** The address of its peer. */
  readonly from: string
  /** Ends this content, because there is no more room. */
  crowdOut(): void
}

interface HeldByPeer {
  /** The held octets of each content, in the order of their arrival. */
  readonly counts: Map<HeldContent, number>
  total: number
}

export class HeldOctets {
  readonly #max: number
  readonly #peers = new Map<string, HeldByPeer>()
  #total = 0

  constructor(max: number) {
    this.#max = max
  }

  get total(): number {
    return this.#total
  }

  add(content: HeldContent, octets: number): void {
    const peer = this.#peers.get(content.from) ?? { counts: new Map<HeldContent, number>(), total: 0 }
    this.#peers.set(content.from, peer)
    peer.counts.set(content, (peer.counts.get(content) ?? 0) + octets)
    peer.total += octets
    this.#total += octets
    while (this.#total > this.#max) this.#endOne()
  }

  #endOne(): void {
    let largest: HeldByPeer | undefined
    for (const peer of this.#peers.values()) if (!largest || peer.total > largest.total) largest = peer
    const [first] = largest?.counts.keys() ?? []
    if (!first) return
    this.remove(first)
    first.crowdOut()
  }

  /** To be called once the content is complete or has ended. */
  remove(content: HeldContent): void {
    const peer = this.#peers.get(content.from)
    const octets = peer?.counts.get(content)
    if (!peer || octets === undefined) return
    peer.counts.delete(content)
    peer.total -= octets
    this.#total -= octets
    if (peer.counts.size === 0) this.#peers.delete(content.from)
  }
}

/** @returns fewer octets than the default if there is little memory, else undefined */
export function boundHeldOctets(memory: number): number | undefined {
  const octets = Math.floor(memory / 4)
  return octets < defaultLimits.held ? octets : undefined
}

/**
 * What a container may use (cgroups(7)), or what the machine has.
 * @param allowed 0 without a limit
 */
export const readMemory = (allowed = process.constrainedMemory(), machine = totalmem()): number =>
  Math.min(allowed > 0 ? allowed : Infinity, machine)
