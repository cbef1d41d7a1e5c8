/** What discovery has found: the targets of probes. */
import type { Find, WsdlDocument, WsdlPort } from '../describe/index.ts'
import type { FoundLink, Json, ProbedRecord } from './probe-content.ts'
import type { ProbeExchange, ProbeFields } from './probe-message.ts'
import type { SoapWords } from './soap-message.ts'

/** A person or program on whose behalf probes are sent. */
export interface CheckCaller {
  readonly name: string
  readonly fields: ProbeFields
  /** For UsernameToken. */
  readonly password?: string
}

export interface DiscoveredService {
  readonly basePath: string
  readonly entry: ProbeExchange
  readonly links: readonly FoundLink[]
  readonly openapi: Json | undefined
  /** Paths in the description of the version to which the entry links. */
  readonly paths: readonly ApiPath[]
  readonly collections: readonly CollectionTarget[]
  /** POST creates a job, or starts a search. */
  readonly jobs: readonly ApiPath[]
  readonly searches: readonly ApiPath[]
  /** GET is a search. */
  readonly searchPages: readonly ApiPath[]
  readonly soap: readonly SoapTarget[]
}

export interface ApiPath {
  readonly path: string
  /** By method in capital letters. */
  readonly operations: Readonly<Record<string, ProbedRecord>>
}

export interface CollectionTarget {
  readonly path: string
  readonly operations: Readonly<Record<string, ProbedRecord>>
  readonly itemPath: ApiPath | undefined
  /** Paths below an item. */
  readonly parts: readonly ApiPath[]
  /** Undefined: anonymous. */
  readonly reader: CheckCaller | undefined
  readonly list: ProbeExchange
  readonly items: readonly { readonly path: string; readonly value: Json }[]
}

export interface SoapTarget {
  readonly location: string
  readonly described: ProbeExchange
  /** The documents that it imports. */
  readonly find: Find
  /** Undefined: it cannot be read. */
  readonly document: WsdlDocument | undefined
  readonly endpoints: readonly SoapEndpointTarget[]
}

/** One port: an address that speaks one version. */
export interface SoapEndpointTarget {
  readonly path: string
  readonly words: SoapWords
  readonly port: WsdlPort
  readonly document: WsdlDocument
}

// Paths as frameworks write them: some end with a slash.

/** `/notes/7` of `/notes`; of `/notes/`, as some frameworks write addresses, `/notes/7/`. */
export const pathBelow = (path: string, segment: string): string =>
  path.endsWith('/') ? `${path}${segment}/` : `${path}/${segment}`

export const lastSegmentOf = (path: string): string => path.replace(/\/$/, '').split('/').at(-1) ?? ''

export const isBelowPath = (path: string, above: string): boolean =>
  path !== above && path.startsWith(above.endsWith('/') ? above : `${above}/`)
