/**
 * A package as a forwarding node sees it: its root in memory, and every other octet as it arrived.
 * What it guards:
 *  (1) Octets before and after the root's content are neither read as parts nor changed.
 *  (2) The root and what arrived with it are in memory, within a limit; they cost time in
 *      proportion to their length, however the octets are split.
 *  (3) The next node finds the same root, however leniently it reads: a line that another reader,
 *      but not this one, could take for a boundary or a field is refused.
 */
import { parsePartFields, requireBoundary } from '../../base/multipart-reader.ts'
import { refuseMessage } from '../refusal.ts'
import { refusePackage } from './multipart.ts'

export interface SplitPackage {
  /** The octets up to the first one of the root's content. */
  readonly before: Uint8Array
  readonly root: Uint8Array
  /** The fields of the root part. */
  readonly type: string
  /** From the delimiter after the root to the end. */
  readonly rest: AsyncIterable<Uint8Array>
}

/**
 * @param start the Content-ID of the root (RFC 2387 §3.2), which has to be the first part
 * @param keep receives the number of octets that are kept while others arrive
 */
export async function splitPackage(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  start: string | undefined,
  limit: number,
  keep?: (octets: number) => void,
): Promise<SplitPackage> {
  requireBoundary(boundary, refusePackage)
  const source = chunks[Symbol.asyncIterator]()
  const held = new HeldStart(source, limit, keep)
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const opened = (await held.findFrom(delimiter, 0)) + delimiter.length
  const headEnd = await held.findFrom(blankLine, opened)
  const contentAt = headEnd + blankLine.length
  const end = await held.findFrom(delimiter, contentAt - 2)
  await held.requireLineEnd(end + delimiter.length)
  const { octets } = held
  if (findLikeBoundary(octets.subarray(0, end), delimiter.subarray(2), opened)) refuseUnclearLine()
  const fields = readRootFields(octets.toString('latin1', opened, headEnd))
  const id = fields['content-id']?.replace(/^<(.*)>$/, '$1')
  if (start !== undefined && id !== start.replace(/^<(.*)>$/, '$1'))
    refusePackage('the root is not the first part: a package that is forwarded must begin with it')
  if (!/^(?:binary|8bit|7bit)$/i.test(fields['content-transfer-encoding'] ?? 'binary'))
    refusePackage('the root has a transfer encoding: send it as binary or 8bit')
  const [before, root, left] = [octets.subarray(2, contentAt), octets.subarray(contentAt, end), octets.subarray(end)]
  return { before, root, type: fields['content-type'] ?? '', rest: continueWith(Buffer.from(left), source) }
}
const blankLine = Buffer.from('\r\n\r\n')
const refuseUnclearLine = (): never => refusePackage('a line of a package that is forwarded begins like the boundary')

/**
 * The octets that have arrived, in memory that doubles: each piece costs only its own octets,
 * however many are held.
 */
class HeldStart {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #limit: number
  readonly #keep: ((octets: number) => void) | undefined
  #room = Buffer.alloc(4096)
  #length = 0

  constructor(source: AsyncIterator<Uint8Array>, limit: number, keep?: (octets: number) => void) {
    this.#source = source
    this.#limit = limit
    this.#keep = keep
    this.#add(Buffer.from('\r\n')) // the first line is read as if another one preceded it
  }

  get octets(): Buffer {
    return this.#room.subarray(0, this.#length)
  }

  #add(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#limit) refuseMessage({ kind: 'too-long', limit: this.#limit })
    if (length > this.#room.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(2 * length, Math.max(this.#limit, length)))
      this.octets.copy(grown)
      this.#room = grown
    }
    this.#room.set(piece, this.#length)
    this.#length = length
  }

  async #receiveMore(): Promise<boolean> {
    const next = await this.#source.next()
    if (!next.done) {
      this.#keep?.(next.value.length)
      this.#add(next.value)
    }
    return !next.done
  }

  async findFrom(sought: Buffer, from: number): Promise<number> {
    for (let at = from; ; ) {
      const found = this.octets.indexOf(sought, at)
      if (found >= 0) return found
      at = Math.max(from, this.#length - sought.length + 1)
      if (!(await this.#receiveMore())) return refusePackage('the package ends before its root does')
    }
  }

  /** (3) After a delimiter, the line or the package ends. */
  async requireLineEnd(from: number): Promise<void> {
    for (;;) {
      const line = this.octets.toString('latin1', from, from + 4)
      if (line.startsWith('\r\n') || line === '--\r\n') return
      if (!'--\r\n'.startsWith(line) && line !== '\r') refuseUnclearLine()
      if (await this.#receiveMore()) continue
      if (line !== '--' && line !== '--\r') refusePackage('the package ends before its root does')
      return
    }
  }
}

/** (3) The boundary after half a line break, or in the fields. */
function findLikeBoundary(octets: Buffer, boundary: Buffer, opened: number): boolean {
  for (let at = octets.indexOf(boundary); at >= 0; at = octets.indexOf(boundary, at + 1)) {
    const before = octets[at - 1]
    if (at + boundary.length !== opened && (before === 0x0a || before === 0x0d)) return true
  }
  return false
}

/** From the end of the delimiter on; folded lines are joined (RFC 5322 §2.2.3). */
function readRootFields(text: string): Readonly<Record<string, string>> {
  const [rest, ...lines] = text.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  if (rest !== '') refuseUnclearLine()
  return parsePartFields(lines, refusePackage)
}

async function* continueWith(
  first: Uint8Array,
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield first
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
  } finally {
    await source.return?.()
  }
}
