/**
 * The values of parts that travel next to an envelope (WS-I Attachments Profile 1.0). What always
 * holds:
 *  (1) A part is the only one of its package whose Content-ID begins with its name and `=` (§3.8),
 *      and it has a media type that is declared.
 *  (2) Text is decoded by its charset, UTF-8 by default; octets that are not text in it are
 *      refused.
 *  (3) Undeclared parts are ignored, within the limits of a package.
 */
import { attempt } from '../../base/attempt.ts'
import type { AttachedPart } from '../../contract/attached-parts.ts'
import { hasOneMediaType } from '../../contract/xml-type.ts'
import { refusePackage } from '../mime/multipart.ts'
import { UnfitValue } from './schema-write.ts'
import type { LiteralReading, LiteralWriting, PartContent } from './values.ts'

type AttachedRow = Readonly<Record<string, unknown>>

/** Values by the keys of their members. */
export function readAttachedParts(parts: readonly AttachedPart[], { parts: source }: LiteralReading): AttachedRow {
  return Object.fromEntries(
    parts.flatMap(part => {
      const all = source ? source.named(part.name) : []
      if (all === 'unknown') return []
      const [found, another] = all
      if (another) refusePackage(`the part ${part.name} occurs twice: send one part ${describeId(part)}`)
      if (found) return [[part.key, readPartContent(part, found)] as const]
      return part.mayBeAbsent ? [] : refusePackage(`the part ${part.name} is missing: send a part ${describeId(part)}`)
    }),
  )
}
const describeId = ({ name }: AttachedPart): string => `whose Content-ID begins with ${encodeURIComponent(name)}=`

function readPartContent(part: AttachedPart, { type, bytes }: PartContent): unknown {
  const mediaType =
    findDeclaredType(part, type) ??
    refusePackage(
      `the part ${part.name} has ${type ? `the media type ${type}` : 'no media type'}: send ${part.mediaTypes.join(' or ')}`,
    )
  const octets = () => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  const value = part.isText ? decodePartText(part, type, bytes) : octets()
  return hasOneMediaType(part) ? value : { mediaType, value }
}

const withoutParameters = (mediaType: string): string => mediaType.replace(/;.*$/s, '').trim().toLowerCase()
/**
 * The declared media type, or any where the declaration leaves it open; undefined: the part has
 * another.
 */
function findDeclaredType({ mediaTypes }: AttachedPart, type: string): string | undefined {
  const essence = withoutParameters(type)
  const isIn = (range: string) => range.endsWith('*') && essence.startsWith(range.replace(/\*(?:\/\*)?$/, ''))
  const declared = mediaTypes.find(each => withoutParameters(each) === essence)
  const isOpen = mediaTypes.length === 0 || mediaTypes.some(each => isIn(withoutParameters(each)))
  return declared ?? (isOpen ? type : undefined)
}

function decodePartText({ name }: AttachedPart, type: string, bytes: Uint8Array): string {
  const [, charset = 'utf-8'] = /;\s*charset="?([^\s";]+)/i.exec(type) ?? []
  // RangeError: an unknown charset; TypeError: octets that are not text in it.
  const isExpected = (thrown: unknown) => thrown instanceof RangeError || thrown instanceof TypeError
  const text = attempt(() => new TextDecoder(charset, { fatal: true }).decode(bytes), isExpected)
  return text ?? refusePackage(`the part ${name} is not text in ${charset}`)
}

/** Attaches the parts and returns the rest of the value, for the Body. */
export function writeAttachedParts(
  parts: readonly AttachedPart[],
  message: string,
  value: unknown,
  { attachPart }: LiteralWriting,
): AttachedRow {
  const row = { ...(value as AttachedRow | undefined) } // the writer of the Body refuses anything but a row
  for (const part of parts) {
    const attached = row[part.key]
    delete row[part.key]
    if (attached === undefined && part.mayBeAbsent) continue
    const { mediaType, content } = toContent(part, message, attached)
    if (!attachPart) throw new Error(`the part ${part.name} needs a package: this message cannot have one`)
    attachPart(part.name, mediaType, content)
  }
  return row
}

function toContent(part: AttachedPart, message: string, content: unknown) {
  const fail = (key: readonly string[], detail: string): never => {
    throw new UnfitValue([message, part.key, ...key], detail)
  }
  const [only = ''] = part.mediaTypes
  const attachment = hasOneMediaType(part) ? { mediaType: only, value: content } : (content as AttachedRow | undefined)
  const { mediaType, value } = attachment ?? fail([], 'must have a mediaType and a value')
  if (typeof mediaType !== 'string' || !/^[^\s/;]+\/[^\s/;]+\s*(?:;[\x20-\x7e]*)?$/.test(mediaType))
    return fail(['mediaType'], 'must be a media type, such as image/png')
  if (findDeclaredType(part, mediaType) === undefined) fail(['mediaType'], `must be ${part.mediaTypes.join(' or ')}`)
  if (!part.isText) return { mediaType, content: value instanceof Uint8Array ? value : fail([], 'must be octets') }
  if (typeof value !== 'string') return fail([], 'must be text')
  const type = `${mediaType.replace(/;.*$/s, '').trim()}; charset=utf-8`
  return { mediaType: type, content: new TextEncoder().encode(value) }
}
