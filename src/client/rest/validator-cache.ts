/**
 * Representations and their entity tags (RFC 9111 §4.3): each is reused only when the service has
 * responded to its tag with 304. Bounded in number and size; the least recently used one is removed
 * first.
 */
import type { HttpFields } from '../../http/message.ts'

export interface KeptRepresentation {
  readonly etag: string
  readonly fields: HttpFields
  readonly text: string
}

export interface CacheBounds {
  readonly entries?: number
  /** UTF-16 code units of all texts together. */
  readonly characters?: number
}

export class ValidatorCache {
  readonly #kept = new Map<string, KeptRepresentation>()
  readonly #entriesMax: number
  readonly #charactersMax: number
  #characters = 0

  constructor({ entries = 200, characters = 4 * 1024 * 1024 }: CacheBounds = {}) {
    this.#entriesMax = entries
    this.#charactersMax = characters
  }

  find(target: string): KeptRepresentation | undefined {
    const found = this.#kept.get(target)
    if (found) {
      this.#kept.delete(target)
      this.#kept.set(target, found)
    }
    return found
  }

  keep(target: string, { etag, fields, text }: KeptRepresentation): void {
    this.forget(target)
    this.#kept.set(target, { etag, fields, text })
    this.#characters += text.length
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#entriesMax && this.#characters <= this.#charactersMax) return
      this.forget(oldest)
    }
  }

  forget(target: string): void {
    this.#characters -= this.#kept.get(target)?.text.length ?? 0
    this.#kept.delete(target)
  }
}
