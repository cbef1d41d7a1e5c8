/**
 * Reports the parts of an OpenAPI document that no exchange or resource keeps: one line for each
 * operation and kind.
 */
import { type Json, jsonItems, objectOf, stringOf } from '../../base/objects.ts'
import type { Losses } from '../loss.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { findSuccess, type RestOperation, serverAddressOf } from './operations.ts'
import {
  contentSchema,
  findFormContent,
  findJsonContent,
  mediaTypesOf,
  plainTypes,
  readSchemaFacts,
} from './schema-facts.ts'
import { recordUncheckedKeywords } from './unchecked-keywords.ts'

/** Fields of HTTP responses that servers and clients know without a description. */
const fieldsOfHttp =
  /^(?:content-.*|date|retry-after|www-authenticate|location|etag|last-modified|preference-applied|cache-control|vary|allow|accept-.*|deprecation|sunset)$/i

/**
 * For any operation: callbacks, links, response fields, keywords of schemas.
 * @param carriedFields the fields of the operation that are kept
 */
export function recordOmissions(
  document: OpenApiDocument,
  operations: readonly RestOperation[],
  losses: Losses,
  carriedFields: (operation: RestOperation) => readonly string[] = () => [],
): void {
  recordUncheckedKeywords(document, operations, losses)
  for (const operation of operations) {
    const { place, responses, callbacks } = operation
    const carried = carriedFields(operation)
    const parts = responses.map(([, response]) => document.resolve(response).value)
    const namesOf = (member: string): readonly string[] => [
      ...new Set(parts.flatMap(each => Object.keys(objectOf(each[member])))),
    ]
    recordNames(
      losses,
      place,
      'response field',
      namesOf('headers').filter(each => !fieldsOfHttp.test(each) && !carried.includes(each)),
    )
    recordNames(losses, place, 'request media type', listOtherTypes(document, operation.request))
    recordNames(losses, place, 'link', namesOf('links'))
    recordNames(losses, place, 'callback', callbacks)
    // OpenAPI 3.2 §4.12.1
    const whole = operation.allParameters.filter(each => each['in'] === 'querystring')
    recordNames(
      losses,
      place,
      'query string',
      whole.map(each => stringOf(each['name'])),
    )
    if (operation.isElsewhere) losses.add(place, 'has its own servers: requests go to those of the document')
  }
  for (const name of Object.keys(objectOf(document.root['webhooks'])))
    losses.add(`webhook ${name}`, 'is left out: the service sends this request, and does not receive it')
}
/** OpenAPI §4.8.25.1: an item of a resource has the fields of the schema that others extend. */
export function recordExtensions(document: OpenApiDocument, item: Json, losses: Losses): void {
  const { key, name, options } = readSchemaFacts(document, item)
  const extensions = key['discriminator'] === undefined || options.length > 0 ? [] : document.extensionsOf(key)
  const names = extensions.map(each => readSchemaFacts(document, each).name)
  if (names.length > 0) losses.add(name, `may be ${names.join(', ')}: what these add is left out`)
}
/** Other types than JSON, XML and pages, which the faces have; all types, for octets. */
function listOtherTypes(document: OpenApiDocument, given: Json | undefined): readonly string[] {
  const read = findJsonContent(document, given) ?? findFormContent(document, given)
  if (!read) return []
  return mediaTypesOf(document, given).filter(each => each !== read.mediaType && !plainTypes.test(each))
}

function recordNames(losses: Losses, place: string, noun: string, names: readonly string[]): void {
  if (names.length > 0)
    losses.add(
      place,
      `the ${noun}${names.length > 1 ? 's' : ''} ${names.join(', ')} ${names.length > 1 ? 'are' : 'is'} left out`,
    )
}

/** OpenAPI §4.8.5, §4.8.6: a client has one address, which its user may set. */
export function recordServers({ root }: OpenApiDocument, losses: Losses): void {
  const [first, ...others] = jsonItems(root['servers']).map(objectOf)
  const variables = Object.keys(objectOf(first?.['variables']))
  const address = serverAddressOf(root)
  if (variables.length > 0)
    losses.add('servers', `the defaults of ${variables.join(', ')} apply: requests go to ${address}`)
  const urls = others.map(each => stringOf(each['url']))
  if (urls.length > 0) losses.add('servers', `requests go to the first, ${address}, and not to ${urls.join(', ')}`)
}

/** An exchange has one response: that of the first success. */
export function recordOtherAnswers(document: OpenApiDocument, operation: RestOperation, losses: Losses): void {
  const [first, response] = findSuccess(operation) ?? []
  recordNames(losses, operation.place, 'response media type', listOtherTypes(document, response))
  const keyOf = (given: typeof response) => readSchemaFacts(document, contentSchema(document, given)).key
  for (const [status, other] of operation.responses)
    if (
      /^2/.test(status) &&
      status !== first &&
      contentSchema(document, other) !== undefined &&
      keyOf(other) !== keyOf(response)
    )
      losses.add(operation.place, `the content of ${status} is left out: an answer is that of ${first}`)
}

/** A form becomes the members of an exchange, which is sent as JSON or XML. */
export function recordForm(document: OpenApiDocument, { place, request }: RestOperation, losses: Losses): void {
  const form = findJsonContent(document, request) ? undefined : findFormContent(document, request)
  if (form) losses.add(place, `accepts its members as JSON or XML, with octets in base64, and not as ${form.mediaType}`)
}

/** Cookies of operations that become part of a resource. */
export function recordCookies(operations: Iterable<RestOperation>, losses: Losses): void {
  for (const { place, cookies } of operations)
    recordNames(
      losses,
      place,
      'cookie',
      cookies.map(each => stringOf(each['name'])),
    )
}
