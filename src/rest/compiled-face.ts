/**
 * What a REST face is made of once: the contract compiled in each of its versions, and what it is
 * given of the world.
 */
import type { Implementation } from '../contract/implement.ts'
import type { OctetTransform } from '../http/message.ts'
import type { FaceContext, Settings } from '../service/face-context.ts'
import { type ApiVersion, compileApiVersion } from './api-version.ts'
import { RestMemory } from './memory.ts'

export interface RestOptions {
  /**
   * Content codings by name, the preferred first: `{ br, zstd, gzip }`. None: content is sent as it
   * is.
   */
  readonly codings?: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>>
  /** The way in: undefined when the octets are not of this coding, or become more than `limit`. */
  readonly decodings?: Readonly<Record<string, (bytes: Uint8Array, limit: number) => Uint8Array | undefined>>
  /**
   * The same codings for what passes piece by piece. What is not of its coding ends with
   * `Undecodable`.
   */
  readonly streams?: Readonly<Record<'encode' | 'decode', Readonly<Record<string, OctetTransform>>>>
  /** Links that the entry page has besides its own: relation → path. */
  readonly links?: Readonly<Record<string, string>>
  /** Passes this many milliseconds: for `Prefer: wait`, which is not honoured without it. */
  readonly sleep?: (milliseconds: number) => Promise<void>
}

/** Values that never change while the face lives: rows that see nothing else may be remembered. */
export interface CompiledApi {
  readonly service: string
  readonly settings: Settings
  readonly versions: ReadonlyMap<string, ApiVersion>
  readonly newest: ApiVersion
  /** The path of the public address before ours. */
  readonly prefix: string
  /** Names of the codings on the way out and in, the preferred first. */
  readonly codings: readonly string[]
  readonly decodings: readonly string[]
  /**
   * Fields that could change any answer: those of negotiation, and those that may say who the
   * caller is (RFC 9110 §12.5.5).
   */
  readonly vary: string
}

export interface CompiledFace {
  readonly api: CompiledApi
  /** The clock, the caller's directory, the service. */
  readonly context: FaceContext
  readonly options: RestOptions
  readonly memory: RestMemory
}

export function compileFace(context: FaceContext, options: RestOptions): CompiledFace {
  return { api: compileApi(context, options), context, options, memory: new RestMemory() }
}

function compileApi(
  { app, settings, identities }: FaceContext,
  { codings = {}, decodings = {} }: RestOptions,
): CompiledApi {
  const prefix = settings.publicUrl === undefined ? '' : new URL(settings.publicUrl).pathname.replace(/\/+$/, '')
  const versions = new Map(versionsOf(app).map(version => [version, compileApiVersion(app, version, prefix)]))
  return {
    service: app.contract.service,
    settings,
    versions,
    newest: [...versions.values()].at(-1) ?? compileApiVersion(app, 'v1', prefix),
    prefix,
    // A proxy in front is trusted to compress for itself.
    codings: settings.trustProxy ? [] : Object.keys(codings),
    decodings: Object.keys(decodings),
    vary: varyOf(identities, settings.trustProxy ? 0 : Object.keys(codings).length),
  }
}
const versionsOf = (app: Implementation): readonly string[] => Object.keys(app.contract.versions)

const varyOf = ({ cookie, takesKeys }: FaceContext['identities'], codings: number): string =>
  `Accept${codings > 0 ? ', Accept-Encoding' : ''}, Authorization${cookie ? ', Cookie' : ''}${takesKeys ? ', Api-Key' : ''}`
