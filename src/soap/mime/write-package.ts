/** Octets to send outside the XML. */
export interface Attached {
  readonly id: string
  readonly mediaType: string
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>
}

/**
 * MTOM §3: the package of an envelope and the octets that it refers to. `boundary` is unguessable,
 * so that no content can contain it.
 */
export function writePackage(
  mediaType: string,
  envelope: string | AsyncIterable<Uint8Array>,
  attached: readonly Attached[],
  boundary: string,
): { readonly type: string; readonly content: AsyncIterable<Uint8Array> } {
  const type = `multipart/related; type="application/xop+xml"; start="<root@diglot>"; start-info="${mediaType}"; boundary="${boundary}"`
  const head = (type: string, id: string) =>
    `--${boundary}\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <${id}>\r\n\r\n`
  async function* content() {
    const around = head(`application/xop+xml; charset=utf-8; type="${mediaType}"`, 'root@diglot')
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
