/**
 * What a trusted proxy says of the request that it passes on: who asked, by which scheme, which
 * host (RFC 7239; or X-Forwarded-For, -Proto and -Host, which say the same). What it guards:
 *  (1) Only the last element is read, which the proxy in front wrote itself. All before it is
 *      anybody's word.
 *  (2) A proxy that writes one kind passes on the other as a client made it up: where both are
 *      there and name different clients, neither is believed.
 * Deliberately absent: chains of proxies. The one in front is trusted, and whoever spoke to it is
 * the client.
 */
import { cursorOver, noParameters, type Parameters, readParameters, splitElements, trimSpace } from '../http/grammar.ts'
import type { HttpFields, Request } from '../http/message.ts'
import { parseHost } from '../http/uri.ts'

interface ForwardedFacts {
  readonly from: string | undefined
  readonly scheme: string | undefined
  readonly host: string | undefined
}

/** The request as the client made it. Its content is the same, and is read once. */
export function applyForwarded(request: Request): Request {
  const said = factsOf(request.fields)
  if (!said) return request
  const { certificate, ...rest } = request // it proves who the proxy is, not who the client is
  const scheme = said.scheme?.toLowerCase()
  return {
    ...rest,
    from: said.from ?? request.from,
    scheme: scheme === 'https' || scheme === 'http' ? scheme : request.scheme,
    fields: said.host && parseHost(said.host) ? { ...request.fields, host: said.host } : request.fields,
  }
}

function factsOf(fields: HttpFields): ForwardedFacts | undefined {
  const standard = parseForwardedField(fields['forwarded'])
  const usual = parseXForwarded(fields)
  if (standard && usual) return standard.from === usual.from ? { ...usual, ...standard } : undefined // (2)
  return standard ?? usual
}

/**
 * RFC 7239 §4: forwarded-element = [ forwarded-pair ] *( ";" [ forwarded-pair ] ), parameters in
 * all but the first ";".
 */
function parseForwardedField(field: string | undefined): ForwardedFacts | undefined {
  if (field === undefined) return undefined
  const cursor = cursorOver(`;${splitElements(field).at(-1) ?? ''}`)
  const said: Parameters = readParameters(cursor) ?? noParameters
  return { from: parseNode(said['for']), scheme: said['proto'], host: said['host'] }
}

function parseXForwarded(fields: HttpFields): ForwardedFacts | undefined {
  const { 'x-forwarded-for': from, 'x-forwarded-proto': scheme, 'x-forwarded-host': host } = fields
  if (from === undefined && scheme === undefined && host === undefined) return undefined
  return { from: parseNode(lastElementOf(from)), scheme: lastElementOf(scheme), host: lastElementOf(host) }
}

/** (1) of X-Forwarded-*: it has no quoted-strings, so that a quote hides no comma. */
const lastElementOf = (field: string | undefined): string | undefined =>
  field && trimSpace(field.slice(field.lastIndexOf(',') + 1))

/**
 * §6 node: an address without its port, an obfuscated name, or unknown, which is nobody in
 * particular.
 */
function parseNode(said: string | undefined): string | undefined {
  const [, six, other] = /^(?:\[([0-9a-f:.]+)\](?::\d+)?|([^[\]:]+)(?::\d+)?)$/i.exec(said ?? '') ?? []
  const bare = /^[0-9a-f:.]+$/i.test(said ?? '') ? said : undefined // X-Forwarded-For has IPv6 without its brackets
  return six ?? other ?? bare
}
