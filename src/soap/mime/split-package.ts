/**
 * A package as a node sees it that forwards it: its root in memory, and every other octet as it
 * came. What it guards:
 *  (1) Octets before the root's content and after it are neither read as parts nor changed.
 *  (2) In memory is the root and what came with it, within a limit.
 */
import { refuseMessage } from '../refusal.ts'
import { refusePackage } from './multipart.ts'

export interface SplitPackage {
  /** Up to the first octet of the root's content. */
  readonly before: Uint8Array
  readonly root: Uint8Array
  /** The fields of the root part. */
  readonly type: string
  /** From the delimiter after the root to the end. */
  readonly rest: AsyncIterable<Uint8Array>
}

/** @param start the Content-ID of the root (RFC 2387 §3.2), which has to be the first part */
export async function splitPackage(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  start: string | undefined,
  limit: number,
): Promise<SplitPackage> {
  const source = chunks[Symbol.asyncIterator]()
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  // The first line is read as if it followed another one.
  let buffer: Buffer = Buffer.from('\r\n')
  const findFrom = async (octets: Buffer, from: number): Promise<number> => {
    for (let at = from; ; ) {
      const found = buffer.indexOf(octets, at)
      if (found >= 0) return found
      at = Math.max(from, buffer.length - octets.length)
      const next = await source.next()
      if (next.done) return refusePackage('the package ends before its root does')
      buffer = Buffer.concat([buffer, next.value])
      if (buffer.length > limit) refuseMessage({ kind: 'too-long', limit })
    }
  }
  const opened = (await findFrom(delimiter, 0)) + delimiter.length
  const headEnd = await findFrom(blankLine, opened)
  const fields = readPartFields(buffer.toString('latin1', opened, headEnd))
  const id = fields['content-id']?.replace(/^<(.*)>$/, '$1')
  if (start !== undefined && id !== start.replace(/^<(.*)>$/, '$1'))
    refusePackage('the root is not the first part, which a package that is forwarded must begin with')
  if (!/^(?:binary|8bit|7bit)$/i.test(fields['content-transfer-encoding'] ?? 'binary'))
    refusePackage('the root has a transfer encoding: send it as binary or 8bit')
  const contentAt = headEnd + blankLine.length
  const end = await findFrom(delimiter, contentAt - 2)
  const [before, root, left] = [buffer.subarray(2, contentAt), buffer.subarray(contentAt, end), buffer.subarray(end)]
  return { before, root, type: fields['content-type'] ?? '', rest: continueWith(left, source) }
}
const blankLine = Buffer.from('\r\n\r\n')

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

/** Of one part, by lower-case name; folded lines are joined (RFC 5322 §2.2.3). */
function readPartFields(text: string): Readonly<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null)
  for (const line of text.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const at = line.indexOf(':')
    if (at > 0) fields[line.slice(0, at).trim().toLowerCase()] = line.slice(at + 1).trim()
  }
  return fields
}
