/**
 * What the texts and canonical forms that are made of one message may cost together: they are
 * written before its signature is known to hold, or its sender to be admitted, and several may be
 * of the same octets.
 */
import { type CanonicalForm, canonicalizeOctets, canonicalOctetsMax } from './canonical.ts'
import type { Document, Element } from './tree.ts'

export class CanonicalBudget {
  #left: number

  /** @param received octets of the message and its parts, or of what is written again of it */
  constructor(received: number) {
    this.#left = canonicalOctetsMax(received)
  }

  /** @throws Malformed where there is no form, or not enough is left for it */
  canonicalize(node: Document | Element, form: CanonicalForm): Uint8Array {
    const octets = canonicalizeOctets(node, { ...form, octetsMax: this.#left })
    this.#left -= octets.length
    return octets
  }

  canonicalizeText(node: Document | Element, form: CanonicalForm): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.canonicalize(node, form))
  }

  /** Whether so much was left, for what is written without a canonical form. */
  allows(length: number): boolean {
    this.#left -= length
    return this.#left >= 0
  }
}
