/** B4.12: packages as responses (XOP 1.0 §4.1, MTOM §3.2, RFC 2387 §3). */
import { parseMediaType } from '../../http/media-type.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { readSoapMessage } from '../soap-message.ts'

const xopType = 'application/xop+xml'
const includePattern = /<(?:[\w-]+:)?Include\b[^>]*?\bhref=["']cid:([^"']*)["']/g
const identifierPattern = /^content-id:\s*<?([^>\r\n]*)>?/gim

/** The flaw of an MTOM package; undefined for a sound one, and for other content. */
export function findPackageFlaw(exchange: ProbeExchange): string | undefined {
  const given = parseMediaType(exchange.fields['content-type'] ?? '')
  const message = readSoapMessage(exchange)
  if (!given || !message || given.parameters['type']?.toLowerCase() !== xopType) return undefined
  const { start, 'start-info': info = '' } = given.parameters
  const { mediaType, number } = message.words
  if (!info.toLowerCase().startsWith(mediaType)) return `start-info of SOAP ${number} is ${mediaType}, not "${info}"`
  const { text } = exchange
  const parts = new Set(Array.from(text.matchAll(identifierPattern), ([, identifier = '']) => identifier.trim()))
  const root = start?.replace(/^<|>$/g, '')
  if (root !== undefined && !parts.has(root)) return `start names "${root}", which the package does not have`
  const included = Array.from(text.matchAll(includePattern), ([, identifier = '']) => decodeLoosely(identifier))
  const lost = included.find(each => !parts.has(each))
  return lost === undefined ? undefined : `an Include names "${lost}", which the package does not have`
}

/** RFC 2392 §2: the identifier as in Content-ID, percent-decoded. */
function decodeLoosely(text: string): string {
  return URL.canParse(`cid:${text}`) && !/%(?![0-9A-Fa-f]{2})/.test(text) ? decodeURIComponent(text) : text
}
