/**
 * Content codings for responses without an entity tag (rule A4.18). A face encodes responses that
 * have one, since each coding is a representation with its own tag (RFC 9110 §8.8.3.3).
 */
import { countUtf8 } from '../base/octets.ts'
import { writeVary } from '../http/cache.ts'
import type { Response } from '../http/message.ts'
import { acceptableEncodings } from '../http/negotiate.ts'
import type { Entry } from './entry.ts'

export type Coding = (octets: Uint8Array) => Uint8Array

/** Up to this size a coding costs more than it saves, since the content fits one packet. */
const codedFromOctets = 1024

/** Whether there are enough octets: a text has up to three for each unit of its length. */
export const isWorthCoding = (content: string | Uint8Array): boolean =>
  content.length > codedFromOctets ||
  (typeof content === 'string' && 3 * content.length > codedFromOctets && countUtf8(content) > codedFromOctets)

const isText = /^(?:text\/(?!event-stream)|application\/(?:[a-z.+-]*[+/])?(?:json|xml|javascript)\b|image\/svg\+xml)/i

export function compressResponse(
  entry: Entry,
  response: Response,
  codings: Readonly<Record<string, Coding>>,
): Response {
  const { content, fields } = response
  if (content === undefined || (typeof content !== 'string' && !(content instanceof Uint8Array))) return response
  if (fields['etag'] !== undefined || fields['content-encoding'] !== undefined || !isWorthCoding(content))
    return response
  const names = Object.keys(codings)
  if (names.length === 0 || !isText.test(String(fields['content-type'] ?? ''))) return response
  const varying = { ...fields, vary: writeVary(joinField(fields['vary']), 'Accept-Encoding') }
  const [best = 'identity'] = acceptableEncodings(entry.request.fields['accept-encoding'], [...names, 'identity'])
  const encode = codings[best]
  if (!encode) return { ...response, fields: varying }
  const octets = encode(typeof content === 'string' ? new TextEncoder().encode(content) : content)
  return { ...response, fields: { ...varying, 'content-encoding': best }, content: octets }
}

const joinField = (field: Response['fields'][string] | undefined): string | undefined =>
  field === undefined || typeof field === 'string' ? field : field.join(', ')
