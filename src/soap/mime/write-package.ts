import { type ArrivalPlace, PassingOctets } from '../../base/passing-octets.ts'
import type { SentPart } from '../security-port.ts'

/** Octets to send outside the XML. */
export interface Attached {
  readonly id: string
  readonly mediaType: string
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>
  /**
   * The place of octets that arrive while the package is sent: the parts of a package may have any
   * order, since `start` names the root (RFC 2387 §3.2).
   */
  readonly arrival?: ArrivalPlace | undefined
}
/** Whether its octets are all there before the package is sent. */
export const isHeldPart = (part: Attached): part is Attached & SentPart => part.bytes instanceof Uint8Array

/** Adds octets and returns the `cid:` URI by which the XML refers to them. */
export function attachReferred(
  attached: Attached[],
  octets: Attached['bytes'] | PassingOctets,
  mediaType = 'application/octet-stream',
): string {
  const id = `${attached.length + 1}@diglot`
  const content =
    octets instanceof PassingOctets ? { bytes: octets.read(), arrival: octets.arrival } : { bytes: octets }
  attached.push({ id, mediaType, ...content })
  return `cid:${id}`
}

/** Held parts come first, then the others as they arrive. */
export async function* listInOrder<T extends Pick<Attached, 'arrival'>>(
  attached: readonly T[],
): AsyncGenerator<T, void, undefined> {
  yield* attached.filter(each => !each.arrival)
  const waiting = new Map(attached.flatMap(each => (each.arrival ? [[each.arrival.key, each] as const] : [])))
  const order = [...waiting.values()][0]?.arrival?.order
  for (let key = await order?.next(); key !== undefined; key = await order?.next()) {
    const next = waiting.get(key)
    if (next) yield next
  }
}

export interface Packing {
  readonly attached: readonly Attached[]
  /** The envelope may include parts (XOP); otherwise parts only travel next to it. */
  readonly isXop: boolean
}

/**
 * The package of an envelope and the octets that it refers to (MTOM §3), or of an envelope and its
 * attachments (SOAP Messages with Attachments §3). `boundary` cannot be guessed, so no content can
 * contain it.
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
    for await (const { id, mediaType, bytes } of listInOrder(attached)) {
      yield Buffer.from(head(mediaType, id))
      if (bytes instanceof Uint8Array) yield bytes
      else yield* bytes
      yield Buffer.from('\r\n')
    }
    yield Buffer.from(`--${boundary}--\r\n`)
  }
  return { type, content: content() }
}
