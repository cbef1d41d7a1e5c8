/**
 * Octets that are kept of contents which are still arriving, of all peers together: slow senders
 * have no more of them kept, on however many connections. Beyond the bound, the content that began
 * first ends, of the peer with the most octets: its connections take no room from other peers.
 */

/** A content of which octets are kept. */
export interface HeldContent {
  /** The address of its peer. */
  readonly from: string
  /** Ends it: there is no room any more. */
  crowdOut(): void
}

interface HeldByPeer {
  /** In the order in which they came. */
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
    let most: HeldByPeer | undefined
    for (const peer of this.#peers.values()) if (!most || peer.total > most.total) most = peer
    const [first] = most?.counts.keys() ?? []
    if (!first) return
    this.remove(first)
    first.crowdOut()
  }

  /** It has come whole, or has ended. */
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
