/**
 * What the canonical forms of one message may cost: they are written before its signature is known
 * to hold, and several references may cover the same octets.
 */
import {
  type CanonicalForm,
  canonicalizeOctets,
  canonicalOctetsMax,
  type Document,
  type Element,
} from '../../xml/index.ts'

export class CanonicalBudget {
  #left: number

  /** @param received octets of the message and its parts */
  constructor(received: number) {
    this.#left = canonicalOctetsMax(received)
  }

  /** @throws Malformed where there is no form, or not enough is left for it */
  canonicalize(node: Document | Element, form: CanonicalForm): Uint8Array {
    const octets = canonicalizeOctets(node, { ...form, octetsMax: this.#left })
    this.#left -= octets.length
    return octets
  }
}
