/**
 * The octets that a signature over an attachment digests (SwA Profile 1.1 §5.3, §5.4): its content
 * in the canonical form of its media type, alone or after its fields.
 */
import type { PackedPart } from '../../soap/security-port.ts'
import { type CanonicalForm, canonicalizeOctets, type Document, Malformed, parseXml } from '../../xml/index.ts'
import { canonicalizeFields } from './attachment-fields.ts'

type Canonicalize = (node: Document, form: CanonicalForm) => Uint8Array

/** @throws Malformed if the media type is XML, but the octets are not, or have a DTD */
export function digestedOctets(
  part: PackedPart,
  withFields: boolean,
  canonicalize: Canonicalize = canonicalizeOctets,
): Uint8Array {
  const content = canonicalizeContent(part, canonicalize)
  return withFields ? Buffer.concat([canonicalizeFields(part.fields ?? {}), content]) : content
}

/** §5.4.2: XML in its exclusive form without comments, other text with the line ends of MIME. */
function canonicalizeContent({ type, bytes }: PackedPart, canonicalize: Canonicalize): Uint8Array {
  const [essence = ''] = type.toLowerCase().split(';', 1)
  if (isXmlType(essence.trim())) return canonicalizeXml(bytes, type, canonicalize)
  return essence.trim().startsWith('text/') ? canonicalizeLineEnds(bytes) : bytes
}

/** RFC 7303 §3, §4.2. */
const isXmlType = (essence: string): boolean => /^(?:text|application)\/xml$|\+xml$/.test(essence)

function canonicalizeXml(bytes: Uint8Array, type: string, canonicalize: Canonicalize): Uint8Array {
  const [, charset] = /;\s*charset="?([^\s";]+)/i.exec(type) ?? []
  const document = parseXml(bytes, charset === undefined ? {} : { charset })
  if (document instanceof Malformed) throw document
  return canonicalize(document, { exclusive: true, comments: false })
}

/** RFC 2046 §4.1.1: each line ends with CRLF. Returns the same octets where all lines do. */
function canonicalizeLineEnds(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  return /\r(?!\n)|(?<!\r)\n/.test(text) ? Buffer.from(text.replace(/\r\n?|\n/g, '\r\n'), 'latin1') : bytes
}
