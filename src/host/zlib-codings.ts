/** Content codings by node:zlib, at fast levels; loaded on first use. */

import type { Transform } from 'node:stream'
import type * as zlib from 'node:zlib'
import { errorCodeOf } from '../base/attempt.ts'
import type { OctetDecoder } from '../base/octets.ts'
import type { OctetTransform } from '../http/message.ts'
import { Undecodable } from '../rest/content-coding.ts'

/**
 * Loaded by `process.getBuiltinModule`, so the start does not load a module that few clients need.
 */
const loadZlib = (): typeof zlib => process.getBuiltinModule('node:zlib')

const loadStream = () => process.getBuiltinModule('node:stream')

export const codings: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  br: bytes => loadZlib().brotliCompressSync(bytes, { params: { [loadZlib().constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: bytes => loadZlib().zstdCompressSync(bytes),
  gzip: bytes => loadZlib().gzipSync(bytes, { level: 6 }),
}

/**
 * Node before 24.20, 25, and 26 before 26.6 accept a truncated zstd frame as complete, so zstd
 * content is not accepted there.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const detectsTruncatedZstd = (major === 24 && minor >= 20) || (major === 26 && minor >= 6) || major > 26

const decodeWithin =
  (decode: (octets: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array): OctetDecoder =>
  (octets, limit) => {
    try {
      return decode(octets, { maxOutputLength: limit })
    } catch (thrown) {
      if (!isZlibError(thrown)) throw thrown
      return errorCodeOf(thrown) === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : undefined
    }
  }

/** Decodes gzip. Octets after its end are invalid. */
export const gunzipWithin = decodeWithin((octets, options) => loadZlib().gunzipSync(octets, options))

/** Decoders by name. */
export const decodings: Readonly<Record<string, OctetDecoder>> = {
  gzip: gunzipWithin,
  br: decodeWithin((octets, options) => loadZlib().brotliDecompressSync(octets, options)),
  ...(detectsTruncatedZstd && {
    zstd: decodeWithin((octets, options) => loadZlib().zstdDecompressSync(octets, options)),
  }),
}

/** The same codings for streamed content. */
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
    ...(detectsTruncatedZstd && { zstd: octets => transformOctets(loadZlib().createZstdDecompress(), octets) }),
    gzip: octets => transformOctets(loadZlib().createGunzip(), octets),
  },
}

/** Throws what the source throws; any other error means invalid octets. */
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
  // Reading the coder throws the error.
  loadStream().pipeline(source(), coder, () => {})
  try {
    yield* coder
  } catch (thrown) {
    if (cause) throw cause.thrown
    throw isZlibError(thrown) ? new Undecodable() : thrown
  }
}

/** The octets do not match their coding, or decode to more than allowed. */
const isZlibError = (thrown: unknown): boolean =>
  /^(?:Z_|ZSTD_error_|ERR__ERROR_FORMAT_|ERR_BUFFER_TOO_LARGE$)/.test(errorCodeOf(thrown))
