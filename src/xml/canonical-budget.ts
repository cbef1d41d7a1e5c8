/**
 * The total cost that one message may cause in texts and canonical forms: they are written before
 * its signature is verified or its sender admitted, and several may cover the same octets.
 */
import { type CanonicalForm, canonicalizeOctets, canonicalOctetsMax } from './canonical.ts'
import type { Document, Element } from './tree.ts'

export class CanonicalBudget {
  #left: number

  /** @param received octets of the message and its parts, or of what is written from it */
  constructor(received: number) {
    this.#left = canonicalOctetsMax(received)
  }

  /** @throws Malformed where there is no form, or the budget does not suffice for it */
  canonicalize(node: Document | Element, form: CanonicalForm): Uint8Array {
    const octets = canonicalizeOctets(node, { ...form, octetsMax: this.#left })
    this.#left -= octets.length
    return octets
  }

  canonicalizeText(node: Document | Element, form: CanonicalForm): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.canonicalize(node, form))
  }

  /** Whether the budget suffices for this length, for text written without a canonical form. */
  allows(length: number): boolean {
    this.#left -= length
    return this.#left >= 0
  }
}
