/** One request on its way: each row of the plan writes down what it has established, and the rows after it rest on that. */

import type { Maybe } from '../base/maybe.ts'
import type { Implementation } from '../contract/implement.ts'
import type { Operation } from '../contract/operation.ts'
import { anonymous, type Caller } from '../contract/policy.ts'
import type { OctetTransform, Request } from '../http/message.ts'
import { type Preferences, parsePrefer } from '../http/prefer.ts'
import type { Pairs } from '../http/uri.ts'
import type { Admitted } from '../service/call.ts'
import type { FaceContext } from '../service/face-context.ts'
import type { ItemPage as Rows, Snapshot } from '../service/store.ts'
import { type ApiVersion, compileApiVersion } from './api-version.ts'
import type { RepresentationDocument } from './formats/document.ts'
import type { Offer } from './media-types.ts'
import { HeadMemory } from './memory.ts'
import { emptyQuery, type ParsedQuery } from './query-parameters.ts'
import type { Route } from './route.ts'

export interface RestOptions {
  /** Row 3: whether the service is ending, or has more to do than it can. */
  readonly draining?: () => boolean
  /** Row 5: seconds to wait for an address that sends too many; undefined for all others. */
  readonly flood?: (request: Request) => number | undefined
  /** Content codings by name, the preferred first: `{ br, zstd, gzip }`. None: content is sent as it is. */
  readonly codings?: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>>
  /** The way in: undefined when the octets are not of this coding, or become more than `limit`. */
  readonly decodings?: Readonly<Record<string, (bytes: Uint8Array, limit: number) => Uint8Array | undefined>>
  /** The same codings for what passes piece by piece. What is not of its coding ends with `Undecodable`. */
  readonly streams?: Readonly<Record<'encode' | 'decode', Readonly<Record<string, OctetTransform>>>>
  /** Links that the entry page has beside its own: relation → path. */
  readonly links?: Readonly<Record<string, string>>
  /** Passes this many milliseconds: for `Prefer: wait`, which is not honoured without it. */
  readonly sleep?: (milliseconds: number) => Promise<void>
}

/** What a face is made of once: the contract compiled in each of its versions. */
export interface CompiledFace {
  readonly serving: FaceContext
  readonly options: RestOptions
  readonly editions: ReadonlyMap<string, ApiVersion>
  readonly newest: ApiVersion
  /** The path of the public address before ours. */
  readonly prefix: string
  readonly codings: readonly string[]
  readonly heads: HeadMemory<ParsedHead>
  /** Pages by the head that asked for them. */
  readonly pages: Map<ParsedHead, RememberedPage>
}

export function compileFace(serving: FaceContext, options: RestOptions): CompiledFace {
  const { app, settings } = serving
  const editions = new Map(versionsOf(app).map(version => [version, compileApiVersion(app, version)]))
  const newest = [...editions.values()].at(-1) ?? compileApiVersion(app, 'v1')
  const prefix = settings.publicUrl === undefined ? '' : new URL(settings.publicUrl).pathname.replace(/\/+$/, '')
  const codings = settings.trustProxy ? [] : Object.keys(options.codings ?? {})
  return { serving, options, editions, newest, prefix, codings, heads: new HeadMemory(), pages: new Map() }
}
const versionsOf = (app: Implementation): readonly string[] => Object.keys(app.contract.versions)

/** An item as it would be shown to this caller: kept from the precondition to the answer. */
export interface SelectedItem {
  readonly of: Snapshot
  readonly document: RepresentationDocument
  readonly etag: string
  /** Once it is written. */
  content: Maybe<string | Uint8Array> | undefined
  readonly coding: string
}

/** A page of a collection as it would be shown. */
export interface SelectedPage {
  readonly document: RepresentationDocument
  /** What its tag is made of: a digest of identifiers, versions and links of what is shown, in order, and of its own links. */
  readonly version: string
  /** Once it is written. */
  text: string | Uint8Array | undefined
}

/** A page that was shown, and of what. */
export interface RememberedPage {
  readonly of: Rows
  readonly to: Caller
  readonly collection: SelectedPage
}
/** The face's own pages: the entry, the explanations of problems, and of the plan. */
export type OwnPage = 'entry' | 'problem' | 'decisions'

/** What the head of a request says (rows 2 to 14 and 19 to 21): the same head says the same again. */
export interface ParsedHead {
  path: string
  query: string
  segments: readonly string[]
  pairs: Pairs
  edition: ApiVersion
  /** Of the addresses that were asked: `/api/v1` or `/api`. */
  base: string
  page: OwnPage | undefined
  route: Route | undefined
  target: string | undefined
  allow: string
  operation: Operation | undefined
  asked: ParsedQuery
  prefer: Preferences | undefined
  /** A preference that decided how the query was read. */
  lenient: boolean
  offer: Offer | undefined
  coding: string
  identityTaken: boolean
  /** The media type of the request's content. */
  mediaType: string
  contentCoding: string
}

const nothingSaid = ({ newest, prefix }: CompiledFace): ParsedHead => ({
  path: '',
  query: '',
  segments: [],
  pairs: [],
  edition: newest,
  base: `${prefix}/api/${newest.version}`,
  page: undefined,
  route: undefined,
  target: undefined,
  allow: '',
  operation: undefined,
  asked: emptyQuery,
  prefer: undefined,
  lenient: false,
  offer: undefined,
  coding: 'identity',
  identityTaken: true,
  mediaType: '',
  contentCoding: 'identity',
})

export class Exchange {
  readonly site: CompiledFace
  readonly request: Request
  readonly id: string
  readonly now: number
  /** The row that is being asked. */
  row = 1
  /** Written by the rows of the plan alone. */
  readonly said: ParsedHead
  caller: Caller = anonymous
  admitted: Admitted | undefined = undefined
  /** A search that came as content, as the parameters that ask for the same. */
  criteria: Pairs = []
  shown: SelectedItem | undefined = undefined
  /** What of Prefer was honoured. */
  readonly applied: Record<string, string> = {}

  constructor(site: CompiledFace, request: Request, said = nothingSaid(site)) {
    this.site = site
    this.request = request
    this.id = request.id ?? site.serving.id()
    this.now = site.serving.clock()
    this.said = said
    if (said.lenient) this.applied['handling'] = 'lenient'
  }

  get serving(): FaceContext {
    return this.site.serving
  }
  get prefer(): Preferences {
    return (this.said.prefer ??= parsePrefer(this.request.fields['prefer'] ?? ''))
  }
  /** Safe methods ask for a representation; HEAD for all but its content. */
  get safe(): boolean {
    return this.said.operation?.safe ?? true
  }
  get segments(): readonly string[] {
    return this.said.segments
  }
  get pairs(): Pairs {
    return this.said.pairs
  }
  get edition(): ApiVersion {
    return this.said.edition
  }
  get base(): string {
    return this.said.base
  }
  get page(): OwnPage | undefined {
    return this.said.page
  }
  get route(): Route | undefined {
    return this.said.route
  }
  get target(): string | undefined {
    return this.said.target
  }
  get allow(): string {
    return this.said.allow
  }
  get operation(): Operation | undefined {
    return this.said.operation
  }
  get asked(): ParsedQuery {
    return this.said.asked
  }
  get offer(): Offer | undefined {
    return this.said.offer
  }
  get coding(): string {
    return this.said.coding
  }
  get identityTaken(): boolean {
    return this.said.identityTaken
  }
  get mediaType(): string {
    return this.said.mediaType
  }
  get contentCoding(): string {
    return this.said.contentCoding
  }
}
