/**
 * A message of a port as a form (RFC 7578): its content in JSON, and octets in parts of their own,
 * each named after its member. What always holds:
 *  (1) Parts are read in order, and held within this face's content limit.
 *  (2) A part that does not fit, and all parts after it, are left to whatever sends the message on,
 *      if the exchange allows it (`passing-form.ts`).
 */
import { encodeBase64 } from '../base/base64.ts'
import { type MultipartPart, type PartLimits, readMultipart } from '../base/multipart-reader.ts'
import type { Json } from '../base/objects.ts'
import { joinOctets, type Pieces } from '../base/octets.ts'
import type { PassingOctets } from '../base/passing-octets.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { XmlJsonCodec } from '../contract/xml-json.ts'
import { applyJsonPatch } from '../http/json-patch.ts'
import { arrayIndex, parsePointer, valueAt, writePointer } from '../http/json-pointer.ts'
import { isJsonType, parseMediaType } from '../http/media-type.ts'
import { refuse } from '../service/refusal.ts'
import type { Exchange } from './exchange.ts'
import { decodeContent, limitOctets } from './file-transfer.ts'
import { contentLimitOf, restLimits } from './limits.ts'
import {
  type FormMessageReader,
  type FormReading,
  findExpectedParts,
  PassingForm,
  standInText,
} from './passing-form.ts'
import { refuseRequest } from './refusal.ts'
import { parseContent } from './request-content.ts'

const partLimits: PartLimits = { parts: 64, fields: 32, fieldOctets: 8 * 1024 }
const refuseUnfitForm = (detail: string): never =>
  refuseRequest({ kind: 'malformed', detail: `the form is not valid: ${detail}` })
const refusePart = (path: FieldProblem['path'], detail: string): never =>
  refuse({ kind: 'invalid', problems: [{ path, code: 'type', detail }] })

/** Row 26 for a form. */
export async function readFormMessage(exchange: Exchange, codec: XmlJsonCodec): Promise<unknown> {
  const field = exchange.entry.request.fields['content-type'] ?? ''
  const { boundary = refuseUnfitForm('its media type has no boundary') } = parseMediaType(field)?.parameters ?? {}
  const limit = contentLimitOf(exchange.operation, exchange.head.mediaType)
  const parts = readMultipart(limitOctets(openForm(exchange, limit), limit), boundary, partLimits, refuseUnfitForm)
  const form = await readFormParts(parts, limit)
  const { begun } = form
  if (!begun) return readFormValue(codec, form.json, form.held)
  const read: FormMessageReader = (json, problems) => codec.read(json, problems)
  const places = new Set([...form.held, begun.path].map(writePointer))
  const { json, members } = findExpectedParts(form.json, read, places, partLimits.parts)
  const value = readFormValue(codec, json, [...form.held, begun.path])
  const key = writePointer(begun.path)
  const passing = new PassingForm({ key, content: readFromStart(begun) }, places, parts, members, formReading)
  return [key, ...members.keys()].reduce((all, each) => putPassing(all, each, passing.octetsOf(each)), value)
}

function readFormValue(codec: XmlJsonCodec, json: Json, paths: readonly (readonly string[])[]): unknown {
  const problems: FieldProblem[] = []
  const value = codec.read(json, problems)
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
  for (const path of paths) requireOctets(value, path)
  return value
}

const formReading: FormReading = {
  pointerOf: ({ fields }) => writePointer(readPartPath(fields)),
  refuse: (pointer, reason) => {
    const path = parsePointer(pointer) ?? []
    if (reason === 'twice') return refuseTwice(path)
    if (reason === 'missing') return refusePart(path, 'is required, and no part of the form has it')
    return refuseUnfitForm(
      `the part ${path.join('/')} follows a part that is too long to be held, and the message has no member for it: ` +
        'send it as the first part, or put "" in its place in the message',
    )
  },
}

const openForm = (exchange: Exchange, limit: number): AsyncIterable<Uint8Array> =>
  exchange.head.contentCoding === 'identity' ? exchange.entry.request.content.chunks() : decodeContent(exchange, limit)

interface FormParts {
  /** With the octets of the parts in place. */
  readonly json: Json
  /** The members that came as parts and are held. */
  readonly held: readonly (readonly string[])[]
  /** The part that is not held: the JSON has a stand-in for it. */
  readonly begun: BegunPart | undefined
}
interface BegunPart {
  readonly path: readonly string[]
  readonly start: Uint8Array
  readonly content: Pieces
}

async function readFormParts(parts: AsyncGenerator<MultipartPart, void, undefined>, limit: number): Promise<FormParts> {
  let remaining: number = Math.min(limit, restLimits.contentOctets)
  let json: Json = {}
  const all: (readonly string[])[] = []
  for (let count = 0; ; count++) {
    const next = await parts.next()
    if (next.done) return { json, held: all, begun: undefined }
    const { fields, content } = next.value
    const isMessage = count === 0 && isJsonType(fields['content-type'] ?? '')
    const path = isMessage ? [] : readPartPath(fields)
    if (all.some(each => writePointer(each) === writePointer(path) && !isAtIndex(path))) refuseTwice(path)
    const { octets, isAll } = await holdPieces(content, remaining)
    if (isMessage && !isAll) refuseRequest({ kind: 'too-large', limit: remaining })
    remaining -= octets.length
    if (isMessage) json = parseContent(octets)
    else json = putMember(json, path, isAll ? encodeBase64(octets) : standInText)
    if (!isAll) return { json, held: all, begun: { path, start: octets, content } }
    if (!isMessage) all.push(path)
  }
}

/** RFC 7578 §4.2: the part's name; a JSON Pointer (RFC 6901) if its member is nested. */
function readPartPath(fields: MultipartPart['fields']): readonly string[] {
  const [, quoted, token] = partName.exec(fields['content-disposition'] ?? '') ?? []
  const name = quoted?.replaceAll(/\\(.)/gs, '$1') ?? token ?? refuseUnfitForm('a part has no name')
  return (
    parsePointer(name.startsWith('/') ? name : `/${name}`) ??
    refuseUnfitForm(`${name} is not the name of a part: use that of a member, or a JSON Pointer`)
  )
}
/** Of a parameter, and of nothing that another parameter has between its quotes (RFC 2183 §2). */
const partName =
  /^form-data\b(?:[^";]|"(?:[^"\\]|\\.)*"|;(?![ \t]*name=))*;[ \t]*name=(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))/is

const isAtIndex = (path: readonly string[]): boolean => arrayIndex(path.at(-1) ?? '') !== undefined
const refuseTwice = (path: readonly string[]): never => refusePart(path, 'is given twice')

async function holdPieces(content: Pieces, max: number): Promise<{ octets: Uint8Array; isAll: boolean }> {
  const pieces: Uint8Array[] = []
  let length = 0
  for (let next = await content.next(); !next.done; next = await content.next(false)) {
    pieces.push(next.value)
    length += next.value.length
    if (length > max) return { octets: joinOctets(pieces), isAll: false }
  }
  return { octets: joinOctets(pieces), isAll: true }
}

async function* readFromStart({ start, content }: BegunPart): Pieces {
  yield start
  for (let next = await content.next(false); !next.done; ) next = await content.next(yield next.value)
}

/** Puts text where the message has nothing, or a member without octets. */
function putMember(json: Json, path: readonly string[], text: string): Json {
  const current = valueAt(json, path)
  if (current !== undefined && current !== '' && !isAtIndex(path)) refuseTwice(path)
  const op = current === '' ? 'replace' : 'add'
  const { value, failure } = applyJsonPatch(json, [{ op, path: writePointer(path), value: text }])
  return failure ? refusePart(path, `has no place in the message: ${failure.reason}`) : value
}

const memberWithin = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? value[key as keyof typeof value]
    : undefined

function requireOctets(value: unknown, path: readonly string[]): void {
  if (!(path.reduce(memberWithin, value) instanceof Uint8Array))
    refusePart(path, 'is not a member for octets: send it in the first part, which is the message in JSON')
}

/** The value was read just now, and nothing else has it. */
function putPassing(value: unknown, pointer: string, octets: PassingOctets): unknown {
  const path = parsePointer(pointer) ?? []
  const around = path.slice(0, -1).reduce(memberWithin, value) as Record<string, unknown> // the path leads to octets
  around[path.at(-1) ?? ''] = octets
  return value
}
