/** Rows 10, 12–14 and 18–21: asked of the target and the fields alone. Leaves answer; these refuse. */
import type { Operation } from '../contract/operation.ts'
import { answerPreflight, isPreflight } from '../front/cross-origin.ts'
import { writeAllow } from '../front/front-rows.ts'
import { parseMediaType } from '../http/media-type.ts'
import type { Request, Response } from '../http/message.ts'
import { acceptableEncodings, acceptableTypes } from '../http/negotiate.ts'
import { parsePrefer } from '../http/prefer.ts'
import { type ApiVersion, isVersionSegment } from './api-version.ts'
import type { CompiledApi } from './compiled-face.ts'
import { contentLimitOf } from './limits.ts'
import { acceptForContent, vendorVersion } from './media-types.ts'
import type { HeadDraft, TargetDraft } from './parsed-head.ts'
import { parseParameters } from './query-parameters.ts'
import { refuseRequest } from './refusal.ts'
import { acceptedTypes, acceptFields } from './request-content.ts'
import { matchRoute } from './route.ts'

const allowOfPages = writeAllow(['GET'])

export function findRoute(x: TargetDraft, api: CompiledApi): void {
  const { segments } = x.entry
  const [first, second] = segments
  x.allow = allowOfPages
  if (first === '' && segments.length === 1) return void (x.page = 'entry')
  if (first === 'problems' && segments.length === 2) return void (x.page = 'problem')
  if (first === 'decisions' && segments.length === 1) return void (x.page = 'decisions')
  if (first !== 'api') refuseRequest({ kind: 'not-found' })
  const named = second === undefined ? undefined : api.versions.get(second)
  if (!named && isVersionSegment(second)) return // row 11 is asked whether there is such a version
  x.edition = named ?? versionOfMediaTypes(x.entry.request, api) ?? api.newest
  x.base = named ? named.base : `${api.prefix}/api`
  const before = named ? 2 : 1
  if (segments.length === before) return void (x.page = 'entry')
  const found = matchRoute(x.edition.routes, segments, before) ?? refuseRequest({ kind: 'not-found' })
  x.route = found.route
  x.id = found.id
  x.allow = found.route.allow
}

/**
 * Rule A9.2: without a version in the address a media type names one: that of the answer, where it is what the client
 * prefers to all that the newest version offers, else that of the content.
 */
function versionOfMediaTypes({ fields }: Pick<Request, 'fields'>, api: CompiledApi): ApiVersion | undefined {
  const { accept, 'content-type': sent } = fields
  if (!accept?.includes('vnd.') && !sent?.includes('vnd.')) return undefined
  const vendors = [...api.versions.values()].map(version => version.vendor)
  const [best] = accept?.includes('vnd.')
    ? acceptableTypes(accept, [...api.newest.offers(undefined).types, ...vendors])
    : []
  for (const type of [best, parseMediaType(sent ?? '')?.essence]) {
    const version = vendorVersion(api.service, type ?? '')
    const found = version === undefined ? undefined : api.versions.get(version)
    if (found) return found
  }
  return undefined
}

export function preflightOf({ entry, allow }: TargetDraft, { settings }: CompiledApi): Response | undefined {
  return entry.request.method === 'OPTIONS' && isPreflight(entry.request)
    ? answerPreflight(entry.request, settings, allow)
    : undefined
}

export function findOperation(x: TargetDraft): void {
  const { method } = x.entry.request
  if (method === 'OPTIONS') return
  const asked = method === 'HEAD' ? 'GET' : method
  x.operation = x.route?.methods.get(asked)
  if (!x.operation && !(x.page && asked === 'GET')) refuseRequest({ kind: 'not-allowed', allow: x.allow })
  x.isSafe = x.operation?.safe ?? true
}

/** Operations whose query means something when it is empty: a first page, or a removal without a filter. */
const hasDefaults: ReadonlySet<Operation['kind']> = new Set(['list', 'search', 'getSearch', 'bulk'])

export function parseParametersOf(x: TargetDraft): void {
  const { request, pairs } = x.entry
  const isGiven = pairs.length > 0
  const isLenient = isGiven && request.method !== 'DELETE' && preferenceOf(request, 'handling') === 'lenient'
  if (isLenient) applyPreference(x, 'handling', 'lenient')
  if (x.operation && x.route) {
    if (isGiven || hasDefaults.has(x.operation.kind))
      x.parameters = parseParameters(x.operation, x.route, x.id, pairs, isLenient)
  } else if (x.page && isGiven && !isLenient)
    refuseRequest({ kind: 'bad-parameter', name: pairs[0]?.[0] ?? '', detail: 'is not a known query parameter here' })
}

/** What is honoured is said in Preference-Applied (RFC 7240 §3). */
export function applyPreference(x: Pick<TargetDraft, 'applied'>, name: string, value: string): void {
  x.applied ??= {}
  x.applied[name] = value
}

/** The value of one preference of Prefer; '' where it has none. */
export const preferenceOf = ({ fields }: Pick<Request, 'fields'>, name: string): string | undefined =>
  fields['prefer'] === undefined ? undefined : parsePrefer(fields['prefer'])[name]?.value

export function answerOptions(x: HeadDraft, { prefix }: CompiledApi): Response | undefined {
  if (x.entry.request.method !== 'OPTIONS') return undefined
  return {
    status: 204,
    fields: {
      allow: x.allow,
      ...acceptFields(x),
      link: `<${prefix}/openapi.json>; rel="service-desc"; type="application/vnd.oai.openapi+json"`,
    },
  }
}

export function checkLength(x: HeadDraft, { decodings }: CompiledApi): void {
  const { content, fields } = x.entry.request
  const limit = contentLimitOf(x.operation)
  // RFC 9110 §14.5: a PUT of a part, taken for the whole, would destroy the rest.
  if (fields['content-range'] !== undefined && !x.isSafe)
    refuseRequest({
      kind: 'bad-request',
      detail: 'partial content is not supported: send the whole representation, without Content-Range',
    })
  if ((content.length ?? 0) > limit) refuseRequest({ kind: 'too-large', limit })
  const coding = (fields['content-encoding'] ?? 'identity').toLowerCase()
  x.head.contentCoding = coding === 'x-gzip' ? 'gzip' : coding
  if (x.head.contentCoding !== 'identity' && !decodings.includes(x.head.contentCoding) && content.length !== 0)
    refuseRequest({
      kind: 'unsupported-media-type',
      take: { 'accept-encoding': [...decodings, 'identity'].join(', ') },
      detail: 'this content coding is not supported: Accept-Encoding lists those that are',
    })
}

/** Without any content there is no type to name: what may be empty is accepted so, anything else is asked for its type. */
export function checkMediaType(x: HeadDraft): void {
  const types = acceptedTypes(x)
  x.head.acceptsContent = types.length > 0
  if (types.length === 0) return
  const field = x.entry.request.fields['content-type']
  const refuseType: (detail: string) => never = detail =>
    refuseRequest({ kind: 'unsupported-media-type', take: acceptFields(x), detail })
  if (field === undefined) {
    if (!mayBeEmpty(x)) refuseType(`the content has no Content-Type: name one of ${types.join(', ')}`)
    return
  }
  const type = parseMediaType(field)
  if (!type || !types.includes(type.essence))
    refuseType(`content of this type is not supported here: send ${types.join(', ')}`)
  const charset = type.parameters['charset']?.toLowerCase()
  const isXml = type.suffix === 'xml' || type.subtype === 'xml'
  if (charset !== undefined && charset !== 'utf-8' && !(isXml && charset.startsWith('utf-16')))
    refuseType('this charset is not supported: send UTF-8')
  x.head.mediaType = type.essence
}

/** Chunked content is known to be empty only once it is read (row 26). */
function mayBeEmpty({ operation, entry }: HeadDraft): boolean {
  const { length } = entry.request.content
  if (length !== 0 && length !== undefined) return false
  if (operation?.kind === 'cancelJob') return true
  return operation?.kind === 'act' && Object.values(operation.action.input).every(field => field.isOptional)
}

export function chooseRepresentation(x: HeadDraft, api: CompiledApi): void {
  const { operation, edition, page, head } = x
  const { fields } = x.entry.request
  const stored = operation?.kind === 'getFile' ? operation.file.mediaTypes : undefined
  const types = stored ?? (page && page !== 'entry' ? [] : edition.offers(operation).types)
  if (types.length === 0) return
  // Which type stored octets have is known once they are found; that none could serve is known now.
  const { all, sent } = edition.offers(operation)
  const [type] = acceptableTypes(acceptForContent(fields['accept']), stored ?? sent)
  if (type === undefined) refuseRequest({ kind: 'not-acceptable', offers: types })
  head.offer = stored ? undefined : all.find(offer => offer.sent === type)
  const codings = [...api.codings, 'identity']
  const accepted = acceptableEncodings(fields['accept-encoding'], codings)
  const [best] = accepted
  if (best === undefined) refuseRequest({ kind: 'not-acceptable', offers: codings })
  head.coding = best
  head.identityTaken = accepted.includes('identity')
}
