import { PassingOctets } from '../../base/passing-octets.ts'
import type { SentPart } from '../security-port.ts'

/** Octets to send outside the XML. */
export interface Attached {
  readonly id: string
  readonly mediaType: string
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>
}
/** Its octets do not come while it is sent. */
export const isHeldPart = (part: Attached): part is Attached & SentPart => part.bytes instanceof Uint8Array

/** What is sent of octets in a message, which may come while they are sent. */
export const sentOctets = (octets: Uint8Array | PassingOctets): Attached['bytes'] =>
  octets instanceof PassingOctets ? octets.read() : octets

/** Adds octets to which the XML refers by the `cid:` URI that this returns. */
export function attachReferred(attached: Attached[], bytes: Attached['bytes'], mediaType?: string): string {
  const id = `${attached.length + 1}@diglot`
  attached.push({ id, mediaType: mediaType ?? 'application/octet-stream', bytes })
  return `cid:${id}`
}

export interface Packing {
  readonly attached: readonly Attached[]
  /** The envelope may include parts (XOP); otherwise all are parts of their own. */
  readonly isXop: boolean
}

/**
 * The package of an envelope and the octets that it refers to (MTOM §3), or that travel next to it
 * (SOAP Messages with Attachments §3). `boundary` is unguessable, so that no content can contain
 * it.
 */
export function writePackage(
  mediaType: string,
  envelope: string | AsyncIterable<Uint8Array>,
  { attached, isXop }: Packing,
  boundary: string,
): { readonly type: string; readonly content: AsyncIterable<Uint8Array> } {
  const root = isXop ? 'application/xop+xml' : mediaType
  const info = isXop ? ` start-info="${mediaType}";` : ''
  const type = `multipart/related; type="${root}"; start="<root@diglot>";${info} boundary="${boundary}"`
  const head = (type: string, id: string) =>
    `--${boundary}\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <${id}>\r\n\r\n`
  async function* content() {
    const around = head(`${root}; charset=utf-8${isXop ? `; type="${mediaType}"` : ''}`, 'root@diglot')
    if (typeof envelope === 'string') yield Buffer.from(`${around}${envelope}\r\n`)
    else {
      yield Buffer.from(around)
      yield* envelope
      yield Buffer.from('\r\n')
    }
    for (const { id, mediaType, bytes } of attached) {
      yield Buffer.from(head(mediaType, id))
      if (bytes instanceof Uint8Array) yield bytes
      else yield* bytes
      yield Buffer.from('\r\n')
    }
    yield Buffer.from(`--${boundary}--\r\n`)
  }
  return { type, content: content() }
}
