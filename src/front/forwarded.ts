/**
 * What a trusted proxy says about a request: its client, scheme and host (RFC 7239; or
 * X-Forwarded-For, -Proto and -Host, which mean the same). What it guards:
 *  (1) Only the last element is read, which the proxy in front wrote itself. Any client may have
 *      written the others.
 *  (2) A proxy that writes one kind of fields passes on the other kind as the client sent it, so
 *      the settings say which kind counts, and the other is ignored.
 * Deliberately absent: chains of proxies. The proxy in front is trusted, and its peer counts as the
 * client.
 */
import { addressBlock } from '../base/address.ts'
import { cursorOver, noParameters, type Parameters, readParameters, splitElements, trimSpace } from '../http/grammar.ts'
import type { HttpFields, Request } from '../http/message.ts'
import { parseHost } from '../http/uri.ts'
import type { ProxyFields, Settings } from '../service/face-context.ts'

interface ForwardedFacts {
  readonly from: string | undefined
  readonly scheme: string | undefined
  readonly host: string | undefined
}

/** Which kind of fields counts; undefined without a trusted proxy. */
export const proxyFieldsOf = ({ trustProxy }: Pick<Settings, 'trustProxy'>): ProxyFields | undefined =>
  trustProxy === true ? 'x-forwarded' : trustProxy || undefined

/** The request as the client sent it. Both share the content, which is read once. */
export function applyForwarded(received: Request, kind: ProxyFields): Request {
  const request = withoutScheme(received)
  const facts =
    kind === 'forwarded' ? parseForwardedField(request.fields['forwarded']) : parseXForwarded(request.fields)
  if (!facts) return request
  const { certificate, ...rest } = request // it proves the proxy, not the client
  const scheme = facts.scheme?.toLowerCase()
  return {
    ...rest,
    from: facts.from === undefined ? request.from : addressBlock(facts.from),
    scheme: scheme === 'https' || scheme === 'http' ? scheme : request.scheme,
    fields: facts.host && parseHost(facts.host) ? { ...request.fields, host: facts.host } : request.fields,
  }
}

/**
 * RFC 9110 §7.4: a trusted proxy may receive over TLS what it sends without, and HTTP/2 still
 * states the first scheme.
 */
const withoutScheme = (request: Request): Request =>
  request.version === '2' && !request.target.startsWith('/')
    ? { ...request, target: request.target.replace(/^https?:\/\/[^/]*(?=\/)/, '') }
    : request

/**
 * RFC 7239 §4: forwarded-element = [ forwarded-pair ] *( ";" [ forwarded-pair ] ): like parameters,
 * except for the first ";".
 */
function parseForwardedField(field: string | undefined): ForwardedFacts | undefined {
  if (field === undefined) return undefined
  const cursor = cursorOver(`;${splitElements(field).at(-1) ?? ''}`)
  const parameters: Parameters = readParameters(cursor) ?? noParameters
  return { from: parseNode(parameters['for']), scheme: parameters['proto'], host: parameters['host'] }
}

function parseXForwarded(fields: HttpFields): ForwardedFacts | undefined {
  const { 'x-forwarded-for': from, 'x-forwarded-proto': scheme, 'x-forwarded-host': host } = fields
  if (from === undefined && scheme === undefined && host === undefined) return undefined
  return { from: parseNode(lastElementOf(from)), scheme: lastElementOf(scheme), host: lastElementOf(host) }
}

/** (1) X-Forwarded-* has no quoted-strings, so a quote hides no comma. */
const lastElementOf = (field: string | undefined): string | undefined =>
  field && trimSpace(field.slice(field.lastIndexOf(',') + 1))

/** RFC 7239 §6 node: an address without its port, an obfuscated name, or `unknown`. */
function parseNode(text: string | undefined): string | undefined {
  const [, six, other] = /^(?:\[([0-9a-f:.]+)\](?::\d+)?|([^[\]:]+)(?::\d+)?)$/i.exec(text ?? '') ?? []
  const bare = /^[0-9a-f:.]+$/i.test(text ?? '') ? text : undefined // X-Forwarded-For has IPv6 without brackets
  return six ?? other ?? bare
}
