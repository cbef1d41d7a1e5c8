/**
 * Rows 10, 12–14 and 18–21, which depend only on target and fields. Helpers return undefined; rows
 * refuse.
 */
import { memoizeByObject, memoizeByText } from '../base/memo.ts'
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
import { explainUnknownParameter, type ParsedQuery, parseParameters } from './query-parameters.ts'
import { refuseRequest } from './refusal.ts'
import { acceptedTypes, acceptFields, mayBeEmpty } from './request-content.ts'
import { fillTemplate, matchRoute } from './route.ts'

const allowOfPages = writeAllow(['GET'])

export function findRoute(draft: TargetDraft, api: CompiledApi): void {
  const { segments } = draft.entry
  const [first, second] = segments
  draft.allow = allowOfPages
  if (first === '' && segments.length === 1) return void (draft.page = 'entry')
  if (first === 'problems' && segments.length === 2) return void (draft.page = 'problem')
  if (first === 'decisions' && segments.length === 1) return void (draft.page = 'decisions')
  if (first !== 'api') refuseRequest({ kind: 'not-found' })
  const named = second === undefined ? undefined : api.versions.get(second)
  if (!named && isVersionSegment(second)) return // row 11 decides whether the version is known
  draft.edition = named ?? versionOfMediaTypes(draft.entry.request, api) ?? api.newest
  draft.base = named ? named.base : `${api.prefix}/api`
  draft.place = draft.base
  const before = named ? 2 : 1
  if (segments.length === before) return void (draft.page = 'entry')
  const found = matchRoute(draft.edition.routes, segments, before) ?? refuseRequest({ kind: 'not-found' })
  draft.route = found.route
  draft.id = found.id
  draft.parents = found.parents
  if (found.parents.length > 0) draft.place += fillTemplate(found.route.place, found.parents)
  draft.allow = found.route.allow
}

/**
 * Rule A9.2: without a version in the address, a media type names one: the type that the client
 * prefers to all those of the newest version, otherwise the type of its content.
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

export function findOperation(draft: TargetDraft): void {
  const { method } = draft.entry.request
  if (method === 'OPTIONS') return
  const effectiveMethod = method === 'HEAD' ? 'GET' : method
  draft.operation = draft.route?.methods.get(effectiveMethod)
  if (!draft.operation && !(draft.page && effectiveMethod === 'GET'))
    refuseRequest({ kind: 'not-allowed', allow: draft.allow })
  draft.isSafe = draft.operation?.safe ?? true
}

/**
 * Operations for which an empty query has a meaning: a first page, or a removal without a filter.
 */
const hasDefaults: ReadonlySet<Operation['kind']> = new Set(['list', 'search', 'getSearch', 'bulk'])

export function parseParametersOf(draft: TargetDraft): void {
  const { request, pairs } = draft.entry
  const isGiven = pairs.length > 0
  const isLenient = isGiven && request.method !== 'DELETE' && preferenceOf(request, 'handling') === 'lenient'
  if (isLenient) applyPreference(draft, 'handling', 'lenient')
  if (draft.operation && draft.route) {
    if (isGiven || hasDefaults.has(draft.operation.kind))
      draft.parameters = countExactly(draft, parseParameters(draft.operation, draft.route, draft.id, pairs, isLenient))
  } else if (draft.page && isGiven && !isLenient)
    refuseRequest({ kind: 'bad-parameter', name: pairs[0]?.[0] ?? '', detail: explainUnknownParameter([]) })
}

/** `Prefer: count=exact`: `total` on a first page, however many items there are. */
function countExactly(draft: TargetDraft, parameters: ParsedQuery): ParsedQuery {
  const { query } = parameters
  if (!query?.counted || preferenceOf(draft.entry.request, 'count') !== 'exact') return parameters
  applyPreference(draft, 'count', 'exact')
  return { ...parameters, query: { ...query, counted: 'exact' } }
}

/** Names a preference that was honoured, for Preference-Applied (RFC 7240 §3). */
export function applyPreference(draft: Pick<TargetDraft, 'applied'>, name: string, value: string): void {
  draft.applied ??= {}
  draft.applied[name] = value
}

/** The value of one preference of Prefer; '' for one without a value. */
export const preferenceOf = ({ fields }: Pick<Request, 'fields'>, name: string): string | undefined =>
  fields['prefer'] === undefined ? undefined : parsePrefer(fields['prefer'])[name]?.value

export function answerOptions(draft: HeadDraft, { prefix }: CompiledApi): Response | undefined {
  if (draft.entry.request.method !== 'OPTIONS') return undefined
  return {
    status: 204,
    fields: {
      allow: draft.allow,
      ...acceptFields(draft),
      ...(draft.edition.service.hasRest && {
        link: `<${prefix}/openapi.json>; rel="service-desc"; type="application/vnd.oai.openapi+json"`,
      }),
    },
  }
}

export function checkLength(draft: HeadDraft, { decodings }: CompiledApi): void {
  const { content, fields } = draft.entry.request
  const limit = contentLimitOf(draft.operation, fields['content-type'])
  // RFC 9110 §14.5: a partial PUT mistaken for a complete one would destroy the rest.
  if (fields['content-range'] !== undefined && !draft.isSafe)
    refuseRequest({
      kind: 'bad-request',
      detail: 'partial content is not supported: send the whole representation, without Content-Range',
    })
  if ((content.length ?? 0) > limit) refuseRequest({ kind: 'too-large', limit })
  const coding = (fields['content-encoding'] ?? 'identity').toLowerCase()
  draft.head.contentCoding = coding === 'x-gzip' ? 'gzip' : coding
  if (draft.head.contentCoding !== 'identity' && !decodings.includes(draft.head.contentCoding) && content.length !== 0)
    refuseRequest({
      kind: 'unsupported-media-type',
      acceptFields: { 'accept-encoding': [...decodings, 'identity'].join(', ') },
      detail: 'this content coding is not supported: Accept-Encoding lists those that are',
    })
}

/**
 * Empty content counts as no content if the operation allows that, whatever type it names, since
 * many clients always name one. Any other content must name its type.
 */
export function checkMediaType(draft: HeadDraft): void {
  const types = acceptedTypes(draft)
  draft.head.acceptsContent = types.length > 0
  if (types.length === 0) return
  if (draft.entry.request.content.length === 0 && mayBeEmpty(draft.operation)) return
  const field = draft.entry.request.fields['content-type']
  const refuseType: (detail: string) => never = detail =>
    refuseRequest({ kind: 'unsupported-media-type', acceptFields: acceptFields(draft), detail })
  if (field === undefined) {
    if (draft.entry.request.content.length !== undefined || !mayBeEmpty(draft.operation))
      refuseType(`the content has no Content-Type: name one of ${types.join(', ')}`)
    return
  }
  const type = parseMediaType(field)
  if (!type || !types.includes(type.essence))
    refuseType(`content of this type is not supported here: send ${types.join(', ')}`)
  const charset = type.parameters['charset']?.toLowerCase()
  const isXml = type.suffix === 'xml' || type.subtype === 'xml'
  if (charset !== undefined && charset !== 'utf-8' && !(isXml && charset.startsWith('utf-16')))
    refuseType('this charset is not supported: send UTF-8')
  draft.head.mediaType = type.essence
  draft.head.charset = charset
}

export function chooseRepresentation(draft: HeadDraft, api: CompiledApi): void {
  const { operation, edition, page, head } = draft
  const { fields } = draft.entry.request
  const stored = operation?.kind === 'getFile' ? operation.file.mediaTypes : undefined
  const types = stored ?? (page && page !== 'entry' ? [] : edition.offers(operation).types)
  if (types.length === 0) return
  // The type of stored octets is known once they are found; a request that accepts none of the
  // possible types is refused now.
  const { all, sent } = edition.offers(operation)
  const type = preferredTypeOf(stored ?? sent)(fields['accept'] ?? '')
  if (type === undefined) refuseRequest({ kind: 'not-acceptable', offers: types })
  head.offer = stored ? undefined : all.find(offer => offer.sent === type)
  const accepted = acceptedCodingsOf(api.codings)(fields['accept-encoding'] ?? '')
  const [best] = accepted
  if (best === undefined) refuseRequest({ kind: 'not-acceptable', offers: [...api.codings, identity] })
  head.coding = best
  head.acceptsIdentity = accepted.includes(identity)
}

const identity = 'identity'
/** Keyed by the lists that were compiled at start, then by text, which many clients share. */
const preferredTypeOf = memoizeByObject((offers: readonly string[]) =>
  memoizeByText(accept => acceptableTypes(acceptForContent(accept), offers)[0]),
)
const acceptedCodingsOf = memoizeByObject((codings: readonly string[]) =>
  memoizeByText(field => acceptableEncodings(field, [...codings, identity])),
)
