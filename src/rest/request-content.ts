/**
 * The content of a request as the input of a call. It guards the service against content that can
 * be read in two ways:
 *  (1) It is read once, by its media type, and only when the service asks for it: the content of a
 *      refused request is not parsed.
 *  (2) Values for read-only fields are passed on next to the value, to be compared and never
 *      written.
 *  (3) A patch applies to the current representation in this version, without `_links`, or not at
 *      all.
 */
import { decodeUtf8 } from '../base/attempt.ts'
import { memoizeByObject } from '../base/memo.ts'
import type { Json } from '../base/objects.ts'
import type { PortExchange } from '../contract/exchange.ts'
import { type Fields, mayBeLeftOut } from '../contract/field.ts'
import { type ReadOptions, readFields, readOptions } from '../contract/field-json.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import { type Operation, type OperationOf, singularOf } from '../contract/operation.ts'
import { parseTextTree, type TextMembers } from '../html/text-tree.ts'
import { parseJson } from '../http/json.ts'
import { applyJsonPatch, applyMergePatch } from '../http/json-patch.ts'
import { parsePointer } from '../http/json-pointer.ts'
import { parseQuery } from '../http/uri.ts'
import type { Input } from '../service/call.ts'
import { readOnlyNames } from '../service/nested-read-only.ts'
import { refuse } from '../service/refusal.ts'
import type { Snapshot } from '../service/store.ts'
import { type ApiVersion, searchFields } from './api-version.ts'
import { makeAllOptional } from './browse/forms.ts'
import type { Exchange } from './exchange.ts'
import { writePlainJson } from './formats/hal.ts'
import { readFormValues } from './formats/untyped-text.ts'
import { readXmlContent } from './formats/xml.ts'
import type { HeadDraft } from './parsed-head.ts'
import { refuseRequest } from './refusal.ts'

const mergeType = 'application/merge-patch+json'
const patchType = 'application/json-patch+json'
export const xmlTypes = ['application/xml', 'text/xml']
export const multipartType = 'multipart/form-data'
const formType = 'application/x-www-form-urlencoded'

/** The media types that an operation accepts; empty for one without content. */
function contentTypes(operation: Operation | undefined, { vendor }: ApiVersion): readonly string[] {
  switch (operation?.kind) {
    case 'patch':
      return [mergeType, patchType]
    case 'putFile':
      return operation.file.mediaTypes
    case 'exchange':
      return exchangeTypes(operation.exchange, vendor)
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

function exchangeTypes({ input, passingMax }: PortExchange, vendor: string): readonly string[] {
  if (input === 'empty') return []
  return ['application/json', vendor, ...xmlTypes, ...(passingMax === undefined ? [] : [multipartType])]
}

/**
 * Types that this request may send: GET has no content, even if QUERY of the operation has (RFC
 * 9110 §9.3.1).
 */
export function acceptedTypes({ operation, edition, entry, form }: HeadDraft): readonly string[] {
  if (entry.request.method === 'GET' || entry.request.method === 'HEAD') return []
  const types = contentTypes(operation, edition)
  const isFormOnly = form && (operation?.kind === 'replace' || operation?.kind === 'patch')
  return isFormOnly ? [...types, formType] : types
}

const acceptFieldOf: Readonly<Record<string, string>> = {
  POST: 'accept-post',
  PATCH: 'accept-patch',
  QUERY: 'accept-query',
  PUT: 'accept',
}

/**
 * The supported types, with 415 and for OPTIONS (RFC 5789 §3.1, RFC 10008 §3, RFC 9110 §15.5.16).
 */
export function acceptFields(draft: HeadDraft): Record<string, string> {
  const requestMethod = draft.entry.request.method
  const methods = draft.route ? [...draft.route.methods] : []
  return Object.fromEntries(
    methods.flatMap(([method, operation]) => {
      const name = requestMethod === method || requestMethod === 'OPTIONS' ? acceptFieldOf[method] : undefined
      const types = contentTypes(operation, draft.edition)
      return name && types.length > 0 && !(requestMethod === 'OPTIONS' && name === 'accept')
        ? [[name, types.join(', ')]]
        : []
    }),
  )
}

/**
 * Whether nothing in the content is mandatory. Content without a length is only known to be empty
 * once it is read (row 26).
 */
export function mayBeEmpty(operation: Operation | undefined): boolean {
  switch (operation?.kind) {
    case 'cancelJob':
      return true
    case 'act':
      return Object.values(operation.action.input).every(mayBeLeftOut)
    case 'startJob':
      return Object.values(operation.job.input).every(mayBeLeftOut)
    default:
      return false
  }
}

interface ContentShape {
  /** The root element in XML. */
  readonly name: string
  readonly fields: Fields
}

const contentShapeOf = memoizeByObject((operation: Operation): ContentShape => {
  switch (operation.kind) {
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
      return noMembers
  }
})
const noMembers: ContentShape = { name: 'cancellation', fields: {} }

/** Rows 26 and 27, on demand (1). */
export function readInput(exchange: Exchange, bytes: Uint8Array): (current: Snapshot | undefined) => Input {
  const { operation } = exchange
  return current => {
    if (operation?.kind === 'patch' && current) return applyPatch(exchange, operation, bytes, current)
    const shape = operation ? contentShapeOf(operation) : noMembers
    const options: ReadOptions = { ignored: ignoredMembers, server: [] }
    const problems: FieldProblem[] = []
    const value = readFields(shape.fields, readJson(exchange, shape, bytes), problems, options)
    if (problems.length > 0)
      refuseInvalid(operation?.kind === 'create' ? problems.filter(isNotOwned(operation)) : problems)
    return { value, server: options.server }
  }
}
const ignoredMembers: ReadonlySet<string> = new Set(['_links'])

function refuseInvalid(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
}

/** A field that a grant binds to a claim may be left out: the service fills it in or refuses. */
function isNotOwned({ grants }: OperationOf<'create'>): (problem: FieldProblem) => boolean {
  const owned = new Set(grants.flatMap(grant => Object.keys(grant.where)))
  return ({ code, path }) => !(code === 'required' && path.length === 1 && owned.has(String(path[0])))
}

function readJson(exchange: Exchange, { name, fields }: ContentShape, bytes: Uint8Array): Json {
  if (bytes.length === 0 && mayBeEmpty(exchange.operation)) return {}
  if (exchange.head.mediaType === '') return refuseUntyped(exchange)
  if (exchange.head.mediaType === formType) return readFormContent(bytes, fields)
  if (!xmlTypes.includes(exchange.head.mediaType)) return parseContent(bytes)
  const read = readXmlContent(bytes, exchange.head.charset, name, exchange.edition.namespace, fields)
  return 'json' in read ? read.json : refuse({ kind: 'malformed', detail: read.problem })
}

const refuseUntyped = (exchange: Exchange): never =>
  refuseRequest({
    kind: 'unsupported-media-type',
    acceptFields: acceptFields(exchange),
    detail: 'the content has no Content-Type: name its media type',
  })

function readFormContent(bytes: Uint8Array, fields: Fields): Json {
  const text = decodeUtf8(bytes)?.replace(/^\ufeff/, '')
  const pairs = text === undefined ? undefined : parseQuery(text)
  const json = pairs && readFormValues(pairs, fields)
  return json ?? refuse({ kind: 'malformed', detail: 'the form cannot be decoded, or repeats a name' })
}

export function parseContent(content: Uint8Array | string): Json {
  const { value, failure } = parseJson(content)
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
  const isForm = exchange.head.mediaType === formType
  const patch = isForm ? readFormContent(bytes, makeAllOptional(resource.fields)) : parseContent(bytes)
  const before = parseContent(writePlainJson({ fields: resource.fields, value: current.value }))
  const json =
    isForm || exchange.head.mediaType === mergeType ? applyMergePatch(before, patch) : applyOperations(before, patch)
  const options = readOptions()
  const problems: FieldProblem[] = []
  const value = readFields(resource.fields, json, problems, options)
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json) // `readFields` reports the rest
  refuseInvalid(isObject ? [...problems, ...findRemovedReadOnly(resource.fields, before, json)] : problems)
  return { value, server: options.server }
}

function applyOperations(current: Json, patch: Json): Json {
  const { value, failure } = applyJsonPatch(current, patch)
  if (!failure) return value
  const detail = failure.operation === undefined ? failure.reason : `operation ${failure.operation}: ${failure.reason}`
  return failure.kind === 'conflict' ? refuse({ kind: 'conflict', detail }) : refuse({ kind: 'malformed', detail })
}

/** Removing a read-only member changes it as much as setting another value does. */
function findRemovedReadOnly(fields: Fields, before: Json, after: Json): FieldProblem[] {
  const had = Object(before) as object // both are JSON; Object.hasOwn of a scalar finds nothing
  const has = Object(after) as object
  return readOnlyNames(fields)
    .filter(name => Object.hasOwn(had, name) && !Object.hasOwn(has, name))
    .map(name => ({ path: [name], code: 'readOnly', detail: 'is read-only and cannot be removed' }))
}

/** The names and texts of a form's content; undefined if they cannot be read. */
export function parseTyped(bytes: Uint8Array): TextMembers | undefined {
  const text = decodeUtf8(bytes)
  const pairs = text === undefined ? undefined : parseQuery(text)
  return pairs && parseTextTree(pairs)
}
