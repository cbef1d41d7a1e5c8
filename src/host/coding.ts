/** Content codings by node:zlib, at levels that cost little; loaded when first asked for. */
import type * as zlib from 'node:zlib'

/** Named by `process.getBuiltinModule`, so that starting does not pay for what few clients ask. */
const lib = (): typeof zlib => process.getBuiltinModule('node:zlib')

export const codings: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  br: bytes => lib().brotliCompressSync(bytes, { params: { [lib().constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: bytes => lib().zstdCompressSync(bytes),
  gzip: bytes => lib().gzipSync(bytes, { level: 6 }),
}

/** The way in: gzip content, undefined when it is no gzip, has trailing octets, or is more than `limit` octets. */
export function inflate(bytes: Uint8Array, limit: number): Uint8Array | undefined {
  return attempt(() => lib().gunzipSync(bytes, { maxOutputLength: limit }))
}

/** The way in for REST, by name: undefined when the octets are not of this coding, or become more than `limit`. */
export const decodings: Readonly<Record<string, (bytes: Uint8Array, limit: number) => Uint8Array | undefined>> = {
  gzip: inflate,
  br: (bytes, limit) => attempt(() => lib().brotliDecompressSync(bytes, { maxOutputLength: limit })),
  zstd: (bytes, limit) => attempt(() => lib().zstdDecompressSync(bytes, { maxOutputLength: limit })),
}

function attempt(decode: () => Uint8Array): Uint8Array | undefined {
  try {
    return decode()
  } catch {
    return undefined
  }
}
