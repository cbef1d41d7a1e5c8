/** A message and the parts of its package, in memory or as they arrive. */
import { decodePercent, decodeUtf8 } from '../../base/attempt.ts'
import { decodeBase64Loosely, removeBlanks } from '../../base/base64.ts'
import { removeComments } from '../../base/multipart-reader.ts'
import { beginReading, type Pieces, takeBounded, watchPieces } from '../../base/octets.ts'
import { defaultXmlLimits } from '../../xml/limits.ts'
import { type PartContent, type PartSource, StreamedPart } from '../codecs/values.ts'
import { refuseMessage } from '../refusal.ts'
import { type PackagePart, readParts, refusePackage } from './multipart.ts'

/** The part with the Envelope, and its Content-Type. */
export interface Root {
  readonly type: string
  readonly bytes: Uint8Array
}

/** A package that has arrived completely. */
export interface Package {
  readonly root: Root
  /** The other parts by Content-ID; empty: a part without one, to which nothing can refer. */
  readonly parts: ReadonlyMap<string, PartContent>
}

export interface Sizes {
  /** Octets of the Envelope. */
  readonly root: number
  /** Octets of all other parts together. */
  readonly rest: number
  /** Receives the number of octets that are kept while others arrive. */
  readonly keep?: ((octets: number) => void) | undefined
}

/** Reads a whole package; undefined if it exceeds a size. */
export async function readPackage(...args: Parameters<typeof openPackage>): Promise<Package | undefined> {
  const opened = await openPackage(...args)
  const all = await opened?.rest.all()
  return opened && all && { root: opened.root, parts: all }
}

/**
 * Reads a package up to the end of its root; undefined if it exceeds a size. `start` is the
 * Content-ID of the root (RFC 2387 §3.2). Default: the first part. Parts before it are kept in
 * memory.
 */
export async function openPackage(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  start: string | undefined,
  sizes: Sizes,
): Promise<{ readonly root: Root; readonly rest: RemainingParts } | undefined> {
  const rest = new RemainingParts(readParts(chunks, boundary), start ? parseContentId(start) : undefined, sizes)
  const root = await rest.root()
  return root && { root, rest }
}

/** Octets before the root: as many as a document outside a package may have. */
const aheadMax = defaultXmlLimits.bytes

/** All parts of a package except its root, arrived or not. */
export class RemainingParts implements PartSource {
  readonly #incoming: AsyncGenerator<PackagePart, void, undefined>
  readonly #wanted: string | undefined
  readonly #sizes: Sizes
  readonly #found = new Map<string, PartContent>()
  readonly #ids = new Set<string>()
  readonly #taken = new Set<string>()
  /** References to parts that have not arrived: as written, and as Content-IDs. */
  readonly #spelt = new Map<string, string>()
  readonly #looks = new Map<string, number>()
  /** Parts taken before they arrived, which `pass` has not begun to read. */
  readonly #awaited = new Set<string>()
  /** The awaited part that has begun to arrive. */
  #begun: { readonly part: PackagePart & { readonly id: string }; readonly octets: Pieces } | undefined
  #left: number
  #rooted = false
  #complete = false

  constructor(arriving: AsyncGenerator<PackagePart, void, undefined>, rootId: string | undefined, sizes: Sizes) {
    this.#incoming = arriving
    this.#wanted = rootId
    this.#sizes = sizes
    this.#left = sizes.rest
  }

  /**
   * The root: the first part or the one named by `start`; undefined if it or the parts before it
   * exceed a size.
   */
  async root(): Promise<Root | undefined> {
    for (let part = await this.#next(); part; part = await this.#next()) {
      if (part.isRoot) {
        const bytes = await takeBounded(this.#reportKept(decodePart(part)), this.#sizes.root)
        return bytes && { type: removeComments(part.fields['content-type'] ?? ''), bytes }
      }
      if (!(await this.#keep(part))) return undefined
    }
    return refusePackage('the root part of the package is missing')
  }

  /** The next part. The root may come once, and so may each Content-ID. */
  async #next(): Promise<(PackagePart & { readonly id: string; readonly isRoot: boolean }) | undefined> {
    const next = await this.#incoming.next()
    if (next.done) {
      this.#complete = true
      return undefined
    }
    const statedId = parseContentId(next.value.fields['content-id'] ?? '')
    const id = (this.#awaited.has(statedId) ? undefined : this.#spelt.get(statedId)) ?? statedId
    const isRoot = this.#wanted === undefined ? !this.#rooted : id === this.#wanted
    if (isRoot && this.#rooted) refusePackage('the package has two root parts')
    if (isRoot) this.#rooted = true
    else if (this.#ids.has(id)) refusePackage('two parts have the same Content-ID')
    else if (id !== '') this.#ids.add(id)
    return { ...next.value, id, isRoot }
  }

  async #keep(part: PackagePart & { readonly id: string }, octets = decodePart(part)): Promise<boolean> {
    const bytes = await takeBounded(this.#reportKept(octets), this.#room())
    if (!bytes) return false
    this.#left -= bytes.length
    const { fields } = part
    this.#found.set(part.id, { type: removeComments(fields['content-type'] ?? ''), bytes, fields })
    return true
  }

  #reportKept(octets: Pieces): AsyncIterable<Uint8Array> {
    const { keep } = this.#sizes
    return keep ? watchPieces(octets, piece => keep(piece.length)) : octets
  }

  /** Before the root, the purpose and the sender of a part are unknown. */
  #room(): number {
    return this.#rooted ? this.#left : Math.min(this.#left, aheadMax - (this.#sizes.rest - this.#left))
  }

  /** All parts, in memory; undefined if they exceed their limit. */
  async all(): Promise<Package['parts'] | undefined> {
    if (!this.#complete)
      for (let part = await this.#next(); part; part = await this.#next())
        if (!(await this.#keep(part))) return undefined
    return this.#found
  }

  /**
   * Reads all parts into memory; refuses if they exceed a size. Synchronous once all have arrived.
   * @param longest the limit of the operation in octets
   */
  collect(longest = this.#sizes.rest): Promise<void> | undefined {
    if (this.#complete) return undefined
    this.#left = Math.min(this.#left, longest)
    return this.all().then(found => (found ? undefined : this.#tooLong(longest)))
  }

  #tooLong(rest = this.#sizes.rest): never {
    return refuseMessage({ kind: 'too-long', limit: this.#sizes.root + rest })
  }

  /**
   * The octets of a part as they arrive; other parts are skipped. The stream ends with the package,
   * so that an incomplete package is never mistaken for a complete one.
   */
  async *octets({ id }: StreamedPart): Pieces {
    let isFound = false
    for (let part = await this.#next(); part; part = await this.#next()) {
      if (part.id !== id) {
        for await (const piece of part.content) this.#count(piece.length)
        continue
      }
      isFound = true
      yield* watchPieces(decodePart(part), piece => this.#count(piece.length))
    }
    if (!isFound) refuseMissingPart()
  }

  /**
   * The octets of one taken part as they arrive; each part is read once, in any order. Taken parts
   * that arrive before it are held, within the limit; the last part read ends with the package.
   */
  async *pass({ id }: StreamedPart): Pieces {
    const held = this.#found.get(id)
    if (held) {
      this.#found.delete(id)
      this.#awaited.delete(id)
      this.#left += held.bytes.length
      yield held.bytes
    } else yield* await this.#findPart(id)
    if (this.#awaited.size === 0) await this.skipRest()
  }
  async #findPart(id: string): Promise<Pieces> {
    for (let begun = await this.#begin(); begun; begun = await this.#begin()) {
      this.#begun = undefined
      if (begun.part.id === id) {
        this.#awaited.delete(id)
        return begun.octets
      }
      if (!(await this.#keep(begun.part, begun.octets))) this.#tooLong()
    }
    return refuseMissingPart()
  }

  /**
   * The Content-ID of the taken part that arrives next, once those before it have been read and its
   * first octets are there. Undefined: all have arrived.
   */
  async arriving(): Promise<string | undefined> {
    const held = [...this.#awaited].find(id => this.#found.has(id))
    if (held !== undefined || this.#awaited.size === 0) return held
    return (await this.#begin())?.part.id ?? refuseMissingPart()
  }

  async #begin() {
    for (let part = this.#begun ? undefined : await this.#next(); part; part = await this.#next()) {
      if (this.#awaited.has(part.id)) {
        this.#begun = { part, octets: await beginReading(decodePart(part)) }
        break
      }
      for await (const piece of part.content) this.#count(piece.length)
    }
    return this.#begun
  }

  #count(length: number): void {
    this.#left -= length
    if (this.#left < 0) this.#tooLong()
  }

  /** Reads to the end and drops the remaining parts. */
  skipRest(): Promise<void> | undefined {
    return this.#complete ? undefined : this.#pass()
  }
  async #pass(): Promise<void> {
    for (let part = await this.#next(); part; part = await this.#next())
      for await (const piece of part.content) this.#count(piece.length)
  }

  /** Reads all parts into memory, as `collect` does. */
  async hold(): Promise<Package['parts']> {
    await this.collect()
    return this.#found
  }
  /** Replaces all parts that arrived by the proven ones. */
  replace(proven: Package['parts']): void {
    const all = [...proven]
    this.#found.clear()
    for (const [id, part] of all) this.#found.set(id, part)
  }
  look(href: string): Uint8Array | undefined {
    return lookForPart(this.#found, this.#looks, href)
  }
  named(part: string): readonly PartContent[] {
    return listPartsNamed(this.#found, part)
  }
  take(href: string): Uint8Array | StreamedPart {
    const ids = requireContentIds(href)
    const id = ids.find(each => this.#found.has(each)) ?? ids[0]
    claimPart(id, this.#taken)
    const part = this.#found.get(id)
    if (part) return part.bytes
    if (this.#complete) refuseMissingPart()
    this.#awaited.add(id)
    for (const other of ids) if (other !== id) this.#spelt.set(other, id)
    return new StreamedPart(id)
  }
}

const refuseMissingPart = (): never => refusePackage('a referenced part is missing')

/** XOP §2.1: one Include for each part. */
function claimPart(id: string, claimed: Set<string>): void {
  if (claimed.has(id)) refusePackage('a part is referenced twice')
  claimed.add(id)
}

/**
 * RFC 2045 §7: in angle brackets, with comments around them; some senders omit the brackets. RFC
 * 6532 §3.2: in UTF-8.
 */
function parseContentId(field: string): string {
  const id = field.trim().replace(/^(?:\([^()]*\)\s*)?<(.*)>(?:\s*\([^()]*\))?$/s, '$1')
  return decodeUtf8(Buffer.from(id, 'latin1')) ?? id
}

/** The octets of a part as they arrive, with its transfer encoding undone. */
function decodePart({ fields, content }: PackagePart): Pieces {
  switch (removeComments(fields['content-transfer-encoding'] ?? 'binary').toLowerCase()) {
    case 'binary':
    case '8bit':
    case '7bit':
      return content
    case 'base64':
      return decodeBase64Part(content)
    case 'quoted-printable':
      return decodeQuotedPart(content)
    default:
      return refusePackage(
        'this transfer encoding is not supported: use binary, 8bit, 7bit, base64 or quoted-printable',
      )
  }
}

const latin1Of = (piece: Uint8Array): string =>
  Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1')

/** Quads of characters as they arrive (RFC 2045 §6.8); a padded quad is the last one. */
async function* decodeBase64Part(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let rest = ''
  let ended = false
  for await (const piece of content) {
    const text = rest + removeBlanks(latin1Of(piece))
    const length = text.length - (text.length % 4)
    if (ended && text !== '') refuseBase64()
    if (length > 0) yield decodeBase64Loosely(text.slice(0, length)) ?? refuseBase64()
    ended ||= text.slice(0, length).endsWith('=')
    rest = text.slice(length)
  }
  if (rest !== '') yield decodeBase64Loosely(rest) ?? refuseBase64()
}
const refuseBase64 = (): never => refusePackage('a part is not valid base64')

/** Octets of a line: RFC 2045 §6.7 (5) allows 76, mail itself 998. */
const quotedLineMax = 998
const lineEnd = Buffer.from('\r\n')
/** Lines as they arrive (RFC 2045 §6.7). */
async function* decodeQuotedPart(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of content) {
    const all = Buffer.concat([rest, piece])
    const end = all.lastIndexOf(lineEnd)
    const lineLength = end < 0 ? 0 : end + lineEnd.length
    rest = Buffer.from(all.subarray(lineLength))
    if (rest.length > quotedLineMax + 1) refuseQuoted() // the line end may be cut, too
    if (lineLength > 0) yield decodeQuotedLines(all.subarray(0, lineLength))
  }
  yield decodeQuotedLines(rest)
}

/**
 * Blanks at the end of a line were added in transit; after `=` the line continues. Each octet is
 * looked at once, whatever surrounds it.
 */
function decodeQuotedLines(octets: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(octets.length)
  let to = 0
  /** The length of the result without trailing blanks. */
  let kept = 0
  let lineFrom = 0
  let isOpen = false
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at]
    if (octet === 0x0d && octets[at + 1] === 0x0a) {
      if (at - lineFrom > quotedLineMax) refuseQuoted()
      to = kept
      if (!isOpen) to = decoded.writeUInt16BE(0x0d0a, to)
      kept = to
      isOpen = false
      lineFrom = ++at + 1
    } else if (octet === 0x20 || octet === 0x09) {
      if (!isOpen) decoded[to++] = octet
    } else {
      const value = octet === 0x3d ? readEscape(octets, at + 1) : octet
      if (isOpen) refuseQuoted()
      isOpen = value === undefined
      if (value !== undefined) decoded[to++] = value
      if (octet === 0x3d && !isOpen) at += 2
      kept = to
    }
  }
  if (octets.length - lineFrom > quotedLineMax) refuseQuoted()
  return decoded.subarray(0, kept)
}
/** The value of two hexadecimal digits; undefined: other characters. */
function readEscape(octets: Buffer, at: number): number | undefined {
  const value = ((digits[octets[at] ?? 0] ?? 0) << 4) | (digits[octets[at + 1] ?? 0] ?? 0)
  return value > 0xff ? undefined : value
}
/** The value of an octet that is a digit; 0x1000 for any other. */
const digits = Uint16Array.from({ length: 256 }, (_, octet) => {
  const text = String.fromCharCode(octet)
  return /[0-9A-Fa-f]/.test(text) ? Number.parseInt(text, 16) : 0x1000
})
const refuseQuoted = (): never => refusePackage('a part is not valid quoted-printable')

/** The parts of a package in memory; each may be taken once and looked at several times. */
export function collectParts(parts: Package['parts']): PartSource {
  const claimed = new Set<string>()
  const looks = new Map<string, number>()
  return {
    take: href => {
      const id = requireContentIds(href).find(each => parts.has(each)) ?? refuseMissingPart()
      claimPart(id, claimed)
      return parts.get(id)?.bytes ?? refuseMissingPart()
    },
    look: href => lookForPart(parts, looks, href),
    named: part => listPartsNamed(parts, part),
  }
}

/** Without this limit, a message of references could stand for a thousand times its octets. */
const looksMax = 16
/** @param looks how often this message has looked at each part */
function lookForPart(parts: Package['parts'], looks: Map<string, number>, href: string): Uint8Array | undefined {
  const id = contentIdsOf(href).find(each => parts.has(each))
  const part = id === undefined ? undefined : parts.get(id)
  if (id === undefined || !part) return undefined
  const times = (looks.get(id) ?? 0) + 1
  looks.set(id, times)
  return times > looksMax ? refusePackage(`a part is referred to more than ${looksMax} times`) : part.bytes
}

/** WS-I Attachments Profile 1.0 R2933: `<name=globally-unique@domain>`, the name as in a URI. */
const listPartsNamed = (parts: Package['parts'], name: string): readonly PartContent[] =>
  [...parts].flatMap(([id, part]) => (decodePercent(id.split('=')[0] ?? '') === name && id.includes('=') ? [part] : []))
export const writePartId = (name: string, unique: string): string => `${encodeURIComponent(name)}=${unique}@diglot`

/**
 * RFC 2392: the Content-ID of a cid: URI, first unescaped, then as written, since some senders do
 * not escape it.
 */
function contentIdsOf(href: string): readonly string[] {
  const [, id] = /^[\t\n\r ]*cid:(\S+?)[\t\n\r ]*$/i.exec(href) ?? []
  if (id === undefined) return []
  const decoded = decodePercent(id)
  return decoded === undefined || decoded === id ? [id] : [decoded, id]
}
function requireContentIds(href: string): readonly [string, ...string[]] {
  const [first, ...others] = contentIdsOf(href)
  if (first !== undefined) return [first, ...others]
  return refusePackage('a message may refer only to parts of its own package, by cid:')
}
