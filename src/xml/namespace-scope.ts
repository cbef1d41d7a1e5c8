/** What each prefix stands for at a place in what is being written. Leaving an element costs no more than entering it did. */
export class Scope {
  private readonly uris = new Map<string, string>()
  private readonly undo: { readonly prefix: string; readonly uri: string | undefined }[] = []

  /** The empty prefix stands for no namespace, the empty string, until it is set. */
  get(prefix: string): string | undefined {
    return this.uris.get(prefix) ?? (prefix === '' ? '' : undefined)
  }

  set(prefix: string, uri: string): void {
    this.undo.push({ prefix, uri: this.uris.get(prefix) })
    this.uris.set(prefix, uri)
  }

  /** A place to come back to. */
  mark(): number {
    return this.undo.length
  }

  /** As it was at the mark. */
  back(mark: number): void {
    while (this.undo.length > mark) {
      const { prefix, uri } = this.undo.pop()!
      if (uri === undefined) this.uris.delete(prefix)
      else this.uris.set(prefix, uri)
    }
  }
}
