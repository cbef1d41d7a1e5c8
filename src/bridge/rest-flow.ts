/**
 * A request whose content comes while it is sent. It is sent by node:http, which tells when a piece
 * has gone, so that its memory is freed then: `fetch` leaves some seventy megabytes to the garbage
 * collector. Content that fails ends the connection: what came of it is never taken for whole.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'

/** Content that its sender brings while it is sent. */
export class FlowingContent {
  readonly pieces: AsyncIterable<Uint8Array>
  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.pieces = pieces
  }
}

/** The time of a service: it stands still while others are waited for. */
export interface ServiceTime {
  readonly signal: AbortSignal
  start(): void
  stop(): void
}

/** The head of a response, and its content as it comes. */
export interface ArrivedHead {
  readonly status: number
  readonly headers: Headers
  readonly body: AsyncIterable<Uint8Array> | null
}

/** What is asked, with content that flows. */
export interface FlowingAsk {
  readonly address: string
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
  readonly content: FlowingContent
}

export class FlowingRequest {
  /** Why its sender did not bring all of it. */
  failure: { readonly reason: unknown } | undefined
  readonly #content: FlowingContent
  readonly #time: ServiceTime
  readonly #asked: ClientRequest
  readonly #response: Promise<IncomingMessage>
  readonly #closed: Promise<void>
  #isAnswered = false

  constructor({ address, method, fields, content }: FlowingAsk, time: ServiceTime) {
    const { signal } = time
    this.#content = content
    this.#time = time
    const module = address.startsWith('https:') ? 'node:https' : 'node:http'
    const headers = { ...fields, 'transfer-encoding': 'chunked' }
    this.#asked = process.getBuiltinModule(module).request(address, { method, headers, agent: false, signal })
    this.#response = new Promise((resolve, reject) => void this.#asked.on('response', resolve).on('error', reject))
    this.#closed = new Promise(resolve => void this.#asked.on('close', () => resolve()))
  }

  async send(): Promise<ArrivedHead> {
    void this.#pump()
    const response = await this.#response
    this.#isAnswered = true
    const headers = new Headers()
    for (let at = 0; at + 1 < response.rawHeaders.length; at += 2)
      headers.append(response.rawHeaders[at] ?? '', response.rawHeaders[at + 1] ?? '')
    return { status: response.statusCode ?? 0, headers, body: response }
  }

  /** It is over, whether all of it was sent or not. */
  end(): void {
    if (!this.#asked.writableFinished) this.#asked.destroy()
  }

  async #pump(): Promise<void> {
    const time = this.#time
    const pieces: AsyncIterator<Uint8Array, void, boolean> = this.#content.pieces[Symbol.asyncIterator]()
    try {
      for (let isDone = false; ; ) {
        time.stop()
        const next = await pieces.next(isDone)
        if (this.#asked.destroyed) break
        if (!this.#isAnswered) time.start()
        if (next.done) {
          this.#asked.end()
          return
        }
        isDone = next.value.length > 0 && (await this.#write(next.value))
        if (this.#asked.destroyed) break
      }
    } catch (reason) {
      this.failure = { reason }
      this.#asked.destroy(new Error('its content did not come'))
    }
    await pieces.return?.().catch(() => {})
  }

  /** Whether it has gone. */
  #write(piece: Uint8Array): Promise<boolean> {
    const gone = new Promise<boolean>(resolve => void this.#asked.write(piece, thrown => resolve(!thrown)))
    return Promise.race([gone, this.#closed.then(() => false)])
  }
}
