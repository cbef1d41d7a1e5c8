/** Content codings by node:zlib, at levels that cost little; loaded when first asked for. */

import type { Transform } from 'node:stream'
import type * as zlib from 'node:zlib'
import type { OctetTransform } from '../http/message.ts'
import { Undecodable } from '../rest/content-coding.ts'

/** Named by `process.getBuiltinModule`, so that starting does not pay for what few clients ask. */
const lib = (): typeof zlib => process.getBuiltinModule('node:zlib')

const stream = () => process.getBuiltinModule('node:stream')

export const codings: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  br: bytes => lib().brotliCompressSync(bytes, { params: { [lib().constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: bytes => lib().zstdCompressSync(bytes),
  gzip: bytes => lib().gzipSync(bytes, { level: 6 }),
}

/** The way in: gzip content, undefined when it is no gzip, has trailing octets, or is more than `limit` octets. */
export function gunzipWithin(bytes: Uint8Array, limit: number): Uint8Array | undefined {
  return attempt(() => lib().gunzipSync(bytes, { maxOutputLength: limit }))
}

/** The way in for REST, by name: undefined when the octets are not of this coding, or become more than `limit`. */
export const decodings: Readonly<Record<string, (bytes: Uint8Array, limit: number) => Uint8Array | undefined>> = {
  gzip: gunzipWithin,
  br: (bytes, limit) => attempt(() => lib().brotliDecompressSync(bytes, { maxOutputLength: limit })),
  zstd: (bytes, limit) => attempt(() => lib().zstdDecompressSync(bytes, { maxOutputLength: limit })),
}

/** The same, for what passes piece by piece. */
export const codingStreams: Readonly<Record<'encode' | 'decode', Readonly<Record<string, OctetTransform>>>> = {
  encode: {
    br: octets =>
      through(lib().createBrotliCompress({ params: { [lib().constants.BROTLI_PARAM_QUALITY]: 4 } }), octets),
    zstd: octets => through(lib().createZstdCompress(), octets),
    gzip: octets => through(lib().createGzip({ level: 6 }), octets),
  },
  decode: {
    br: octets => through(lib().createBrotliDecompress(), octets),
    zstd: octets => through(lib().createZstdDecompress(), octets),
    gzip: octets => through(lib().createGunzip(), octets),
  },
}

/** What the source throws comes through as it is; anything else is said of its octets. */
async function* through(coder: Transform, octets: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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

function attempt(decode: () => Uint8Array): Uint8Array | undefined {
  try {
    return decode()
  } catch {
    return undefined
  }
}
