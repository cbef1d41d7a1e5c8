import type { Response } from '../http/message.ts'

/** What content is written to. */
export interface PipeSink {
  readonly destroyed: boolean
  /** Octets that have not left yet. */
  readonly writableLength: number
  /** False: wait for `drain` before the next. */
  write(octets: Uint8Array): boolean
  end(): void
  on(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
}

/**
 * Writes a stream of content at the speed of its reader. `before` hears of the octets that come
 * next, at first (when there may be none) to send the head: that goes out with the first piece, and
 * an empty one will do, so that a source that fails at once can still be answered 500. When the
 * client goes away the source is asked to return, and what it says then is not heard. Throws what
 * the source throws, and when it gives more or fewer octets than `length` announced.
 */
export async function pipeContent(
  source: AsyncIterable<Uint8Array>,
  sink: PipeSink,
  length: number | undefined,
  before: (octets: number, first: boolean) => void,
): Promise<void> {
  const pieces = source[Symbol.asyncIterator]()
  const gone = () => leave(source, pieces)
  sink.on('close', gone)
  let sent = 0
  try {
    for (let first = true; ; first = false) {
      const next = await pieces.next(sink.writableLength === 0)
      if (sink.destroyed) return
      const octets = next.done ? 0 : next.value.length
      sent += octets
      if (length !== undefined && sent > length) throw new Error(`content longer than the ${length} octets announced`)
      before(octets, first)
      if (next.done) break
      if (!sink.write(next.value)) await room(sink)
      if (sink.destroyed) return
    }
    if (length !== undefined && sent !== length) throw new Error(`content of ${sent} octets, ${length} announced`)
    sink.off('close', gone)
    sink.end()
  } catch (error) {
    gone()
    if (!sink.destroyed) throw error
  }
}

function room(sink: PipeSink): Promise<void> {
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

/** Nobody will read this response; whoever makes its content may stop. */
export function discardContent({ content }: Response): void {
  if (typeof content !== 'object' || content instanceof Uint8Array) return
  leave(content, content[Symbol.asyncIterator]())
}

/**
 * A generator returns when its piece is done; a stream of Node's is told itself, or it would keep
 * what it has open.
 */
function leave(source: AsyncIterable<Uint8Array>, pieces: AsyncIterator<Uint8Array>): void {
  if ('destroy' in source && typeof source.destroy === 'function') source.destroy()
  else void pieces.return?.().catch(() => {})
}
