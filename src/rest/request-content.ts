/**
 * The content of a request as the input of a call. Guards the service against content that is read
 * two ways:
 *  (1) It is read once, by the media type it names, and only when the service asks for it: nobody
 *      who is refused is parsed for.
 *  (2) What it says of the server's own fields is handed on beside the value, to be compared and
 *      never written.
 *  (3) A patch applies to the representation that stands in this version, `_links` left out, or not
 *      at all.
 */

import type { Json } from '../base/objects.ts'
import type { Fields } from '../contract/field.ts'
import { type FieldProblem, type ReadOptions, readFields, readOptions } from '../contract/field-json.ts'
import { type Operation, type OperationOf, singularOf } from '../contract/operation.ts'
import { parseJson } from '../http/json.ts'
import { applyJsonPatch } from '../http/json-patch.ts'
import { parsePointer } from '../http/json-pointer.ts'
import { applyMergePatch } from '../http/merge-patch.ts'
import { parseQuery } from '../http/uri.ts'
import type { Input } from '../service/call.ts'
import { refuse } from '../service/refusal.ts'
import type { Snapshot } from '../service/store.ts'
import { type ApiVersion, searchFields } from './api-version.ts'
import type { Exchange } from './exchange.ts'
import { writePlainJson } from './formats/hal.ts'
import { readFormValues } from './formats/untyped-text.ts'
import { readXmlContent } from './formats/xml.ts'
import type { HeadDraft } from './parsed-head.ts'
import { refuseRequest } from './refusal.ts'

const mergeType = 'application/merge-patch+json'
const patchType = 'application/json-patch+json'
const xmlTypes = ['application/xml', 'text/xml']
const formType = 'application/x-www-form-urlencoded'

/** The media types that a method takes here; none where it takes no content. */
function contentTypes(operation: Operation | undefined, { vendor }: ApiVersion): readonly string[] {
  switch (operation?.kind) {
    case 'patch':
      return [mergeType, patchType]
    case 'putFile':
      return operation.file.mediaTypes
    case 'replace':
      return ['application/json', 'application/hal+json', vendor, ...xmlTypes]
    case 'search':
    case 'create':
    case 'act':
    case 'createSearch':
    case 'startJob':
    case 'cancelJob':
      return ['application/json', 'application/hal+json', vendor, ...xmlTypes, formType]
    default:
      return []
  }
}

/**
 * What this request may send: GET has no content, also where QUERY of the same operation has (RFC
 * 9110 §9.3.1).
 */
export const acceptedTypes = ({ operation, edition, entry }: HeadDraft): readonly string[] =>
  entry.request.method === 'GET' || entry.request.method === 'HEAD' ? [] : contentTypes(operation, edition)

const field: Readonly<Record<string, string>> = {
  POST: 'accept-post',
  PATCH: 'accept-patch',
  QUERY: 'accept-query',
  PUT: 'accept',
}

/**
 * What would be taken, said with 415 and by OPTIONS (RFC 5789 §3.1, RFC 10008 §3, RFC 9110
 * §15.5.16).
 */
export function acceptFields(draft: HeadDraft): Record<string, string> {
  const asked = draft.entry.request.method
  const methods = draft.route ? [...draft.route.methods] : []
  return Object.fromEntries(
    methods.flatMap(([method, operation]) => {
      const name = asked === method || asked === 'OPTIONS' ? field[method] : undefined
      const types = contentTypes(operation, draft.edition)
      return name && types.length > 0 && !(asked === 'OPTIONS' && name === 'accept') ? [[name, types.join(', ')]] : []
    }),
  )
}

interface ContentShape {
  /** The root element in XML. */
  readonly name: string
  readonly fields: Fields
}

function shapeOf({ operation }: Exchange): ContentShape {
  switch (operation?.kind) {
    case 'act':
      return { name: operation.action.rel, fields: operation.action.input }
    case 'search':
    case 'createSearch':
      return { name: 'search', fields: searchFields(operation.resource) }
    case 'startJob':
      return { name: operation.job.one, fields: operation.job.input }
    case 'create':
    case 'replace':
    case 'patch':
      return { name: singularOf(operation.resource), fields: operation.resource.fields }
    default:
      return { name: 'cancellation', fields: {} }
  }
}

/** Rows 26 and 27, on demand (1). */
export function readInput(exchange: Exchange, bytes: Uint8Array): (current: Snapshot | undefined) => Input {
  const { operation } = exchange
  return current => {
    if (operation?.kind === 'patch' && current) return applyPatch(exchange, operation, bytes, current)
    const shape = shapeOf(exchange)
    const how = readOptions(['_links'])
    const problems: FieldProblem[] = []
    const value = readFields(shape.fields, jsonOf(exchange, shape, bytes), problems, how)
    return requireNoProblems(
      value,
      how,
      operation?.kind === 'create' ? problems.filter(isNotOwned(operation)) : problems,
    )
  }
}

function requireNoProblems(value: Input['value'], how: ReadOptions, problems: readonly FieldProblem[]): Input {
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
  return { value, server: how.server }
}

/** What a grant binds to a claim may be left out: the service fills it in, or misses it. */
function isNotOwned({ grants }: OperationOf<'create'>): (problem: FieldProblem) => boolean {
  const owned = new Set(grants.flatMap(grant => Object.keys(grant.where)))
  return ({ code, path }) => !(code === 'required' && path.length === 1 && owned.has(String(path[0])))
}

function jsonOf(exchange: Exchange, { name, fields }: ContentShape, bytes: Uint8Array): Json {
  if (exchange.head.mediaType === '') return bytes.length === 0 ? {} : refuseUntyped(exchange)
  if (exchange.head.mediaType === formType) return formOf(bytes, fields)
  if (!xmlTypes.includes(exchange.head.mediaType)) return parseContent(bytes)
  const read = readXmlContent(bytes, name, exchange.edition.namespace, fields)
  return 'json' in read ? read.json : refuse({ kind: 'malformed', detail: read.problem })
}

const refuseUntyped = (exchange: Exchange): never =>
  refuseRequest({ kind: 'unsupported-media-type', take: acceptFields(exchange), detail: 'there is no Content-Type' })

function formOf(bytes: Uint8Array, fields: Fields): Json {
  const text = decodeUtf8(bytes)
  const pairs = text === undefined ? undefined : parseQuery(text)
  const json = pairs && readFormValues(pairs, fields)
  return json ?? refuse({ kind: 'malformed', detail: 'the form cannot be decoded, or a name comes twice' })
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function parseContent(bytes: Uint8Array): Json {
  const { value, failure } = parseJson(bytes)
  if (!failure) return value
  const path = parsePointer(failure.pointer)
  return refuse({ kind: 'malformed', detail: `${failure.reason}, at ${failure.at}`, ...(path && { path }) })
}

/** (3) RFC 7396, RFC 6902. */
function applyPatch(
  exchange: Exchange,
  { resource }: OperationOf<'patch'>,
  bytes: Uint8Array,
  current: Snapshot,
): Input {
  const patch = parseContent(bytes)
  const stands = parseContent(
    new TextEncoder().encode(writePlainJson({ fields: resource.fields, value: current.value })),
  )
  const json = exchange.head.mediaType === mergeType ? applyMergePatch(stands, patch) : applyOperations(stands, patch)
  const how = readOptions()
  const problems: FieldProblem[] = []
  const value = readFields(resource.fields, json, problems, how)
  return requireNoProblems(value, how, [...problems, ...findRemovedReadOnly(resource.fields, stands, json)])
}

function applyOperations(stands: Json, patch: Json): Json {
  const { value, failure } = applyJsonPatch(stands, patch)
  if (!failure) return value
  const detail = failure.operation === undefined ? failure.reason : `operation ${failure.operation}: ${failure.reason}`
  return failure.kind === 'conflict' ? refuse({ kind: 'conflict', detail }) : refuse({ kind: 'malformed', detail })
}

/**
 * A member of the server's that stood and does not any more: as much a change of it as another
 * value.
 */
function findRemovedReadOnly(fields: Fields, before: Json, after: Json): FieldProblem[] {
  const had = Object(before) as object // both are JSON; Object.hasOwn of a scalar finds nothing
  const has = Object(after) as object
  return Object.entries(fields)
    .filter(([name, field]) => field.isReadOnly && Object.hasOwn(had, name) && !Object.hasOwn(has, name))
    .map(([name]) => ({ path: [name], code: 'readOnly', detail: 'is the server’s to remove' }))
}
