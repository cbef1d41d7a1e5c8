/**
 * Bounds the octets held of contents that are still arriving, for all peers together: slow senders
 * gain no room by opening more connections. Beyond the bound, the peer with the most octets loses
 * the content that it began first, so it takes no room from other peers.
 */

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
