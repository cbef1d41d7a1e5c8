import { showControls } from '../base/markup.ts'

/** Parts of the document that the imported contract does not express, each with its place. */
export interface Loss {
  readonly place: string
  readonly detail: string
  /**
   * `contract`: a contract cannot express it; `document`: the document is wrong or incomplete;
   * `transport`: it is not SOAP over HTTP, or more than that.
   */
  readonly cause: 'contract' | 'document' | 'transport'
}

export class Losses {
  readonly #all = new Map<string, Loss>()

  add(place: string, detail: string, cause: Loss['cause'] = 'contract'): void {
    this.#all.set(`${place} ${detail}`, { place: showOnOneLine(place), detail: showOnOneLine(detail), cause })
  }

  get all(): readonly Loss[] {
    return [...this.#all.values()]
  }
}

/** Names and addresses of the document are printed, and written into a comment. */
const showOnOneLine = (text: string): string => showControls(text).replaceAll('\n', ' ')
