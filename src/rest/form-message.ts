/**
 * A message of a port as a form (RFC 7578): its content in JSON, and octets of it as parts of their
 * own, each named after its member. What always holds:
 *  (1) Parts are read in their order, and held within the limit of content of this face.
 *  (2) One that does not fit is left to the sender of the message, where the exchange allows that;
 *      it is the last one, since the message is complete without what follows it.
 *  (3) All of the form is read before its octets have come to their end, or they fail: a form that
 *      is cut short never passes for whole.
 */
import { encodeBase64 } from '../base/base64.ts'
import { type MultipartPart, type PartLimits, readMultipart } from '../base/multipart-reader.ts'
import type { Json } from '../base/objects.ts'
import { joinOctets, type Pieces } from '../base/octets.ts'
import { PassingOctets, standInOctets } from '../base/passing-octets.ts'
import type { FieldProblem } from '../contract/field-json.ts'
import type { XmlJsonCodec } from '../contract/xml-json.ts'
import { applyJsonPatch } from '../http/json-patch.ts'
import { arrayIndex, parsePointer, valueAt } from '../http/json-pointer.ts'
import { isJsonType, parseMediaType } from '../http/media-type.ts'
import { refuse } from '../service/refusal.ts'
import type { Exchange } from './exchange.ts'
import { decodeContent, limitOctets } from './file-transfer.ts'
import { contentLimitOf, restLimits } from './limits.ts'
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
  const problems: FieldProblem[] = []
  const value = codec.read(form.json, problems)
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
  for (const path of form.paths) requireOctets(value, path)
  return form.passing ? putPassing(value, form.passing) : value
}

const openForm = (exchange: Exchange, limit: number): AsyncIterable<Uint8Array> =>
  exchange.head.contentCoding === 'identity' ? exchange.entry.request.content.chunks() : decodeContent(exchange, limit)

interface FormParts {
  /** With the octets of the parts in their places. */
  readonly json: Json
  /** Of the members that came as parts. */
  readonly paths: readonly (readonly string[])[]
  /** The last part, where it is not held: something stands in for it in the JSON. */
  readonly passing: { readonly path: readonly string[]; readonly octets: PassingOctets } | undefined
}

async function readFormParts(parts: AsyncGenerator<MultipartPart, void, undefined>, limit: number): Promise<FormParts> {
  let left: number = Math.min(limit, restLimits.contentOctets)
  let json: Json = {}
  const paths: (readonly string[])[] = []
  for (let count = 0; ; count++) {
    const next = await parts.next()
    if (next.done) return { json, paths, passing: undefined }
    const { fields, content } = next.value
    const isMessage = count === 0 && isJsonType(fields['content-type'] ?? '')
    const path = isMessage ? [] : readPartPath(fields)
    const { held, isAll } = await holdPieces(content, left)
    if (isMessage && !isAll) refuseRequest({ kind: 'too-large', limit: left })
    left -= held.length
    if (isMessage) json = parseContent(held)
    else {
      json = putMember(json, path, isAll ? held : new Uint8Array(standInOctets))
      paths.push(path)
    }
    if (!isAll) return { json, paths, passing: { path, octets: passPart(held, content, parts, path) } }
  }
}

/** RFC 7578 §4.2: its name; a JSON Pointer (RFC 6901) where its member is further inside. */
function readPartPath(fields: MultipartPart['fields']): readonly string[] {
  const [, quoted, token] = partName.exec(fields['content-disposition'] ?? '') ?? []
  const name = quoted?.replaceAll(/\\(.)/gs, '$1') ?? token ?? refuseUnfitForm('a part has no name')
  return parsePointer(name.startsWith('/') ? name : `/${name}`) ?? refuseUnfitForm(`a part has the name ${name}`)
}
const partName = /^form-data\b.*?;[ \t]*name=(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))/is

async function holdPieces(content: Pieces, max: number): Promise<{ held: Uint8Array; isAll: boolean }> {
  const held: Uint8Array[] = []
  let length = 0
  for (let next = await content.next(); !next.done; next = await content.next(false)) {
    held.push(next.value)
    length += next.value.length
    if (length > max) return { held: joinOctets(held), isAll: false }
  }
  return { held: joinOctets(held), isAll: true }
}

/** (2), (3) */
function passPart(
  held: Uint8Array,
  content: Pieces,
  parts: AsyncGenerator<MultipartPart, void, undefined>,
  path: readonly string[],
): PassingOctets {
  async function* read(): Pieces {
    yield held
    for (let next = await content.next(false); !next.done; ) next = await content.next(yield next.value)
    if (!(await parts.next()).done)
      refuseUnfitForm(
        `the part ${path.join('/')} is too long to be held, and another follows it: send it as the last one`,
      )
  }
  return new PassingOctets(read, () => {})
}

function putMember(json: Json, path: readonly string[], octets: Uint8Array): Json {
  if (valueAt(json, path) !== undefined && arrayIndex(path.at(-1) ?? '') === undefined)
    refusePart(path, 'is there twice')
  const pointer = path.map(token => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  const { value, failure } = applyJsonPatch(json, [{ op: 'add', path: pointer, value: encodeBase64(octets) }])
  return failure ? refusePart(path, `has no place in the message: ${failure.reason}`) : value
}

const memberWithin = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? value[key as keyof typeof value]
    : undefined

function requireOctets(value: unknown, path: readonly string[]): void {
  if (!(path.reduce(memberWithin, value) instanceof Uint8Array))
    refusePart(path, 'has no octets: send it in the first part, which is the message in JSON')
}

/** The value was read a moment ago: nothing else has it. */
function putPassing(value: unknown, { path, octets }: NonNullable<FormParts['passing']>): unknown {
  const around = path.slice(0, -1).reduce(memberWithin, value) as Record<string, unknown> // it has octets: `requireOctets`
  around[path.at(-1) ?? ''] = octets
  return value
}
