/** Streams outgoing content at the speed of its reader. */
import type { Response } from '../http/message.ts'

/** Where content is written to. */
export interface PipeSink {
  readonly destroyed: boolean
  /** Octets that have not been sent yet. */
  readonly writableLength: number
  /** False: wait for `drain` before the next piece. */
  write(octets: Uint8Array): boolean
  end(): void
  on(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
}

/**
 * Writes a stream of content at the speed of its reader. `beforePiece` is called with the number of
 * octets that come next; its first call (possibly with 0) sends the head, which goes with the first
 * piece, even an empty one, so that a source that fails at once still becomes a 500. When the
 * client leaves, the source is asked to return, and an error that it then throws is ignored. Throws
 * the errors of the source, and if it yields more or fewer octets than `length` announced.
 */
export async function pipeContent(
  source: AsyncIterable<Uint8Array>,
  sink: PipeSink,
  length: number | undefined,
  beforePiece: (octets: number, first: boolean) => void,
): Promise<void> {
  const pieces = source[Symbol.asyncIterator]()
  const endOnClose = () => endSource(source, pieces)
  sink.on('close', endOnClose)
  let sent = 0
  try {
    for (let first = true; ; first = false) {
      const next = await pieces.next(sink.writableLength === 0)
      if (sink.destroyed) return
      const octets = next.done ? 0 : next.value.length
      sent += octets
      if (length !== undefined && sent > length) throw new Error(`content longer than the ${length} octets announced`)
      beforePiece(octets, first)
      if (next.done) break
      if (!sink.write(next.value)) await waitForRoom(sink)
      if (sink.destroyed) return
    }
    if (length !== undefined && sent !== length) throw new Error(`content of ${sent} octets, ${length} announced`)
    sink.off('close', endOnClose)
    sink.end()
  } catch (error) {
    endOnClose()
    if (!sink.destroyed) throw error
  }
}

function waitForRoom(sink: PipeSink): Promise<void> {
  return new Promise(resolve => {
    const go = () => {
      sink.off('drain', go)
      sink.off('close', go)
      resolve()
    }
    sink.on('drain', go)
    sink.on('close', go)
  })
}

/** The response no longer has a reader, so the source of its content may stop. */
export function discardContent({ content }: Response): void {
  if (typeof content !== 'object' || content instanceof Uint8Array) return
  endSource(content, content[Symbol.asyncIterator]())
}

/**
 * A generator returns after its piece; a Node stream is destroyed, or it would keep its file open.
 */
export function endSource(source: AsyncIterable<Uint8Array>, pieces: AsyncIterator<Uint8Array>): void {
  if ('destroy' in source && typeof source.destroy === 'function') source.destroy()
  else void pieces.return?.().catch(() => {})
}
