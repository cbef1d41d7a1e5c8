/** A REST face, compiled once: the contract in each of its versions, and the face's context. */
import type { Maybe } from '../base/maybe.ts'
import type { OctetDecoder } from '../base/octets.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import { headersOf, isOfRequest } from '../contract/header.ts'
import type { Implementation } from '../contract/implement.ts'
import type { Operation } from '../contract/operation.ts'
import type { AnyRootElement } from '../contract/xml-type.ts'
import { prefixOf } from '../front/entry.ts'
import type { OctetTransform } from '../http/message.ts'
import { writeFormulas } from '../service/computed-values.ts'
import type { FaceContext, Settings } from '../service/face-context.ts'
import type { Outcome } from '../service/outcome.ts'
import type { Query } from '../service/store.ts'
import { type ApiVersion, compileApiVersion } from './api-version.ts'
import type { DocumentLink } from './formats/document.ts'
import { RestMemory, writeAppearance } from './memory.ts'

export interface RestOptions {
  /** Content codings by name, in order of preference: `{ br, zstd, gzip }`. Default: none. */
  readonly codings?: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>>
  /** Decoders by name. */
  readonly decodings?: Readonly<Record<string, OctetDecoder>>
  /** The same codings for streamed content. Invalid octets end the stream with `Undecodable`. */
  readonly streams?: Readonly<Record<'encode' | 'decode', Readonly<Record<string, OctetTransform>>>>
  /** Further links on the entry of a version. */
  readonly links?: (version: string) => readonly DocumentLink[]
  /** The same call and its outcome as messages, for pages; undefined if there are none. */
  readonly messages?: (
    version: string,
    operation: Operation,
    asked: AskedMessage,
    outcome: Outcome,
  ) => Maybe<MessagePair | undefined>
  /** Elements of ports in XML; without it, ports accept and return only JSON. */
  readonly elements?: () => Maybe<ElementTexts>
  /** Resolves after these milliseconds; without it, `Prefer: wait` is not honoured. */
  readonly sleep?: (milliseconds: number) => Promise<void>
}

/** The content of the elements of ports, as XML. */
export interface ElementTexts {
  /** The value of a document with this root, or why it has none. */
  readonly read: (root: AnyRootElement, octets: Uint8Array, charset: string | undefined) => ReadElement
  /** Throws if the declared type does not allow the value. */
  readonly write: (root: AnyRootElement, value: unknown) => string
}
export type ReadElement =
  | { readonly value: unknown }
  | { readonly malformed: string }
  /** Paths are those of elements. */
  | { readonly problems: readonly FieldProblem[] }

/** The target of a call, for its message. */
export interface AskedMessage {
  readonly id: string | undefined
  readonly query: Omit<Query, 'within'> | undefined
  /** Only this many characters of a message are shown; the rest may be missing. */
  readonly shownCharacters: number
}

/** A call and its answer as messages. */
export interface MessagePair {
  readonly address: string
  readonly action: string
  readonly request: string
  readonly response: string
}

/** Constants of the face: a finding that depends only on these may be remembered. */
export interface CompiledApi {
  readonly service: string
  readonly settings: Settings
  readonly versions: ReadonlyMap<string, ApiVersion>
  readonly newest: ApiVersion
  /** The path of the public URL, before `/api`; '' at a root. */
  readonly prefix: string
  /** Names of the response and request codings, in order of preference. */
  readonly codings: readonly string[]
  readonly decodings: readonly string[]
  /**
   * Fields that can change any response: those of negotiation, and credentials (RFC 9110 §12.5.5).
   */
  readonly vary: string
}

export interface CompiledFace {
  readonly api: CompiledApi
  /** The clock, the identities, the service. */
  readonly context: FaceContext
  readonly options: RestOptions
  readonly memory: RestMemory
}

export function compileFace(context: FaceContext, options: RestOptions): CompiledFace {
  const appearance = `${writeFormulas(context.app)}\n${writeAppearance(context.app.contract)}`
  return { api: compileApi(context, options), context, options, memory: new RestMemory(appearance) }
}

function compileApi(
  { app, settings, identities }: FaceContext,
  { codings = {}, decodings = {} }: RestOptions,
): CompiledApi {
  const prefix = prefixOf(settings)
  const versions = new Map(versionsOf(app).map(version => [version, compileApiVersion(app, version, prefix)]))
  return {
    service: app.contract.service,
    settings,
    versions,
    newest: [...versions.values()].at(-1) ?? compileApiVersion(app, 'v1', prefix),
    prefix,
    // A trusted proxy in front does the compression.
    codings: settings.trustProxy ? [] : Object.keys(codings),
    decodings: Object.keys(decodings),
    vary: [
      varyOf(identities, settings.trustProxy ? 0 : Object.keys(codings).length),
      ...headersOf(app.contract).flatMap(each => (isOfRequest(each) && each.field) || []),
    ].join(', '),
  }
}
const versionsOf = (app: Implementation): readonly string[] => Object.keys(app.contract.versions)

const varyOf = ({ cookie, takesKeys }: FaceContext['identities'], codings: number): string =>
  `Accept${codings > 0 ? ', Accept-Encoding' : ''}, Authorization${cookie ? ', Cookie' : ''}${takesKeys ? ', Api-Key' : ''}`
