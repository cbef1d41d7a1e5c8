/** Example files: small, and of the media type that they are said to be. */
import { requireBase64 } from '../base/base64.ts'
import type { SeededFile } from '../contract/implement.ts'
import type { File } from '../contract/resource.ts'

/** Undefined: none has room in the file. */
export function makeFile(part: string, { mediaTypes, max }: File): SeededFile | undefined {
  return mediaTypes
    .map(mediaType => ({ mediaType, bytes: makeOctets(part, mediaType, max) }))
    .find(({ bytes }) => bytes.length <= max)
}

function makeOctets(part: string, mediaType: string, max: number): Uint8Array {
  const known = documents[mediaType]
  if (known) return known()
  const text = /[/+]json$/.test(mediaType) ? `{"example":"${part}"}` : /[/+]xml$/.test(mediaType) ? `<${part}/>` : part
  const octets = new TextEncoder().encode(text)
  // A word may be cut, a document may not.
  return octets.length > max && text === part ? octets.subarray(0, max) : octets
}

const picture = (text: string) => (): Uint8Array => requireBase64(text)
/** Pictures of one pixel, and an empty page. */
const documents: Readonly<Record<string, () => Uint8Array>> = {
  __proto__: null as never,
  'image/png': picture(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  ),
  'image/gif': picture('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'),
  'image/jpeg': picture(
    '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k=',
  ),
  'application/pdf': () => new TextEncoder().encode(emptyPage),
}
const emptyPage = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 144]>>endobj
trailer<</Root 1 0 R>>
%%EOF
`
