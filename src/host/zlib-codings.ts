/** Content codings by node:zlib, at cheap levels; loaded when first needed. */

import type { Transform } from 'node:stream'
import type * as zlib from 'node:zlib'
import type { OctetTransform } from '../http/message.ts'
import { Undecodable } from '../rest/content-coding.ts'

/** By `process.getBuiltinModule`, so that the start does not pay for what few clients need. */
const loadZlib = (): typeof zlib => process.getBuiltinModule('node:zlib')

const loadStream = () => process.getBuiltinModule('node:stream')

export const codings: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  br: bytes => loadZlib().brotliCompressSync(bytes, { params: { [loadZlib().constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: bytes => loadZlib().zstdCompressSync(bytes),
  gzip: bytes => loadZlib().gzipSync(bytes, { level: 6 }),
}

/**
 * Decodes gzip; undefined if it is invalid, has trailing octets, or decodes to over `limit` octets.
 */
export function gunzipWithin(bytes: Uint8Array, limit: number): Uint8Array | undefined {
  return decodeOrUndefined(() => loadZlib().gunzipSync(bytes, { maxOutputLength: limit }))
}

/**
 * Decoders for REST by name: undefined for octets that are invalid or decode to over `limit`
 * octets.
 */
export const decodings: Readonly<Record<string, (bytes: Uint8Array, limit: number) => Uint8Array | undefined>> = {
  gzip: gunzipWithin,
  br: (bytes, limit) => decodeOrUndefined(() => loadZlib().brotliDecompressSync(bytes, { maxOutputLength: limit })),
  zstd: (bytes, limit) => decodeOrUndefined(() => loadZlib().zstdDecompressSync(bytes, { maxOutputLength: limit })),
}

/** The same codings for content that is streamed. */
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
