/** Content codings by node:zlib, at levels that cost little; loaded when first asked for. */

import type { Transform } from 'node:stream'
import type * as zlib from 'node:zlib'
import type { OctetTransform } from '../http/message.ts'
import { Undecodable } from '../rest/content-coding.ts'

/** Named by `process.getBuiltinModule`, so that starting does not pay for what few clients ask. */
const loadZlib = (): typeof zlib => process.getBuiltinModule('node:zlib')

const stream = () => process.getBuiltinModule('node:stream')

export const codings: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  br: bytes => loadZlib().brotliCompressSync(bytes, { params: { [loadZlib().constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: bytes => loadZlib().zstdCompressSync(bytes),
  gzip: bytes => loadZlib().gzipSync(bytes, { level: 6 }),
}

/**
 * The way in: gzip content, undefined when it is no gzip, has trailing octets, or is more than
 * `limit` octets.
 */
export function gunzipWithin(bytes: Uint8Array, limit: number): Uint8Array | undefined {
  return decodeOrUndefined(() => loadZlib().gunzipSync(bytes, { maxOutputLength: limit }))
}

/**
 * The way in for REST, by name: undefined when the octets are not of this coding, or become more
 * than `limit`.
 */
export const decodings: Readonly<Record<string, (bytes: Uint8Array, limit: number) => Uint8Array | undefined>> = {
  gzip: gunzipWithin,
  br: (bytes, limit) => decodeOrUndefined(() => loadZlib().brotliDecompressSync(bytes, { maxOutputLength: limit })),
  zstd: (bytes, limit) => decodeOrUndefined(() => loadZlib().zstdDecompressSync(bytes, { maxOutputLength: limit })),
}

/** The same, for what passes piece by piece. */
export const codingStreams: Readonly<Record<'encode' | 'decode', Readonly<Record<string, OctetTransform>>>> = {
  encode: {
    br: octets =>
      transformOctets(
        loadZlib().createBrotliCompress({ params: { [loadZlib().constants.BROTLI_PARAM_QUALITY]: 4 } }),
        octets,
      ),
    zstd: octets => transformOctets(loadZlib().createZstdCompress(), octets),
    gzip: octets => transformOctets(loadZlib().createGzip({ level: 6 }), octets),
  },
  decode: {
    br: octets => transformOctets(loadZlib().createBrotliDecompress(), octets),
    zstd: octets => transformOctets(loadZlib().createZstdDecompress(), octets),
    gzip: octets => transformOctets(loadZlib().createGunzip(), octets),
  },
}

/** What the source throws comes through as it is; anything else is said of its octets. */
async function* transformOctets(coder: Transform, octets: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let cause: { readonly thrown: unknown } | undefined
  async function* source() {
    try {
      yield* octets
    } catch (thrown) {
      cause = { thrown }
      throw thrown
    }
  }
  // The error is seen where the coder is read.
  stream().pipeline(source(), coder, () => {})
  try {
    yield* coder
  } catch {
    throw cause ? cause.thrown : new Undecodable()
  }
}

function decodeOrUndefined(decode: () => Uint8Array): Uint8Array | undefined {
  try {
    return decode()
  } catch {
    return undefined
  }
}
