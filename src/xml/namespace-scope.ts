/**
 * The meaning of each prefix at a place in a document being written. Leaving an element costs no
 * more than entering it.
 */
export class Scope {
  readonly #uris = new Map<string, string>()
  readonly #undo: { readonly prefix: string; readonly uri: string | undefined }[] = []

  /** Until it is set, the empty prefix means no namespace: the empty string. */
  get(prefix: string): string | undefined {
    return this.#uris.get(prefix) ?? (prefix === '' ? '' : undefined)
  }

  set(prefix: string, uri: string): void {
    this.#undo.push({ prefix, uri: this.#uris.get(prefix) })
    this.#uris.set(prefix, uri)
  }

  /** A state to restore. */
  mark(): number {
    return this.#undo.length
  }

  /** Undoes everything set since the mark. */
  restore(mark: number): void {
    while (this.#undo.length > mark) {
      const { prefix, uri } = this.#undo.pop()!
      if (uri === undefined) this.#uris.delete(prefix)
      else this.#uris.set(prefix, uri)
    }
  }
}
