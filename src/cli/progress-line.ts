/** The progress of a command during long work: on standard error, apart from its output. */

/** Milliseconds between two lines if there is no terminal. */
const lineEveryMs = 10_000

/** The part of a stream that is used. */
export interface ProgressStream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** On a terminal, one line that is rewritten; elsewhere, a line from time to time. */
export class ProgressLine {
  readonly #to: ProgressStream
  readonly #elapsed: () => number
  readonly #timer: NodeJS.Timeout
  #text = ''
  #writtenAt: number
  #isWritten = false

  /** @param elapsed milliseconds, which never decrease */
  constructor(to: ProgressStream = process.stderr, elapsed: () => number = () => performance.now()) {
    this.#to = to
    this.#elapsed = elapsed
    this.#writtenAt = elapsed()
    this.#timer = setInterval(() => this.#writeAgain(), lineEveryMs).unref()
  }

  show(text: string): void {
    this.#text = text
    if (this.#to.isTTY) this.#to.write(`\r\x1b[K${text}`)
    else if (this.#elapsed() - this.#writtenAt >= lineEveryMs) this.#writeLine()
  }

  #writeLine(): void {
    if (this.#to.isTTY || this.#text === '') return
    this.#to.write(`diglot: ${this.#text}\n`)
    this.#writtenAt = this.#elapsed()
    this.#isWritten = true
  }

  /** Writes the line again, unless one was written since the last time. */
  #writeAgain(): void {
    if (!this.#isWritten) this.#writeLine()
    this.#isWritten = false
  }

  /** Clears the line of a terminal, so that output begins with a line of its own. */
  clear(): void {
    if (this.#to.isTTY && this.#text !== '') this.#to.write('\r\x1b[K')
    this.#text = ''
  }

  end(): void {
    this.clear()
    clearInterval(this.#timer)
  }
}
