/** A port whose responses have files, and packages by hand in place of its responses. */
import { exchange, port } from '../../src/contract/exchange.ts'
import { anyone } from '../../src/contract/policy.ts'
import { x } from '../../src/contract/xml-type.ts'

const archive = x.namespace('urn:archive')
const Ask = archive.element('Ask', x.object({ name: x.element(x.string) }))
const Files = archive.element(
  'Files',
  x.object({ title: x.element(x.string), one: x.element(x.base64Binary), two: x.element(x.base64Binary).optional() }),
)
const Scan = archive.element(
  'Scan',
  x.object({ octets: x.element(x.simple(x.base64Binary, { maxLength: 1_000_000 })) }),
)
const octets = x.element(x.base64Binary)
const scan = x.element(x.simple(x.base64Binary, { maxLength: 1_000_000 })).optional()
const Keep = archive.element(
  'Keep',
  x.object({
    title: x.element(x.string).optional(),
    one: octets.optional(),
    scan,
    list: x.element(x.object({ octets })).many(0),
  }),
)
const sized = (facets: Parameters<typeof x.simple>[1]) => x.element(x.simple(x.base64Binary, facets))
const KeepPair = archive.element(
  'KeepPair',
  x.object({ first: x.element(x.base64Binary), note: x.element(x.string), second: sized({ minLength: 2 }) }),
)
const TooMuch = archive.element('TooMuch', x.string)
const Kept = archive.element('Kept', x.object({ name: x.element(x.string) }))
export const archivePort = port('Archive', {
  namespace: 'urn:archive:wsdl',
  soap: '1.1',
  allow: [anyone],
  exchanges: {
    Fetch: exchange({ action: 'urn:Fetch', input: Ask, output: Files }),
    GetFiles: exchange({ action: 'urn:GetFiles', input: Ask, output: Files, safe: true }),
    Keep: exchange({ action: 'urn:Keep', input: Keep, output: Kept, faults: { TooMuch } }),
    KeepPair: exchange({ action: 'urn:KeepPair', input: KeepPair, output: Kept }),
    ListFiles: exchange({ action: 'urn:ListFiles', input: 'empty', output: Files, safe: true }),
    FetchScan: exchange({ action: 'urn:FetchScan', input: Ask, output: Scan }),
  },
})

export const packageType =
  'multipart/related; type="application/xop+xml"; start="<root>"; start-info="text/xml"; boundary=b'
export const envelopeOf = (content: string): string =>
  `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${content}</e:Body></e:Envelope>`
export const include = (id: string): string =>
  `<i:Include xmlns:i="http://www.w3.org/2004/08/xop/include" href="cid:${id}"/>`
export const partHead = (id: string, fields = ''): string => `--b\r\nContent-ID: <${id}>\r\n${fields}\r\n`
export const rootPart = (content: string): string =>
  `${partHead('root', 'Content-Type: application/xop+xml; type="text/xml"\r\n')}${envelopeOf(content)}\r\n`

/** Octets that no text has, which are others for another seed. */
export const octetsOf = (length: number, seed: number): Buffer =>
  Buffer.alloc(length, Buffer.from([seed, 1, 2, 3, 254, 13, 10]))
export const joined = (...parts: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat(parts.map(each => (typeof each === 'string' ? Buffer.from(each, 'latin1') : each)))
