/** The port by which a run is given an earlier release to compare with. */
import type { Find } from '../describe/index.ts'
import type { Json } from './probe-content.ts'

/** A WSDL as it was read. */
export interface PublishedWsdl {
  readonly location: string
  readonly text: string
  readonly find: Find
}

/** An OpenAPI document as it was read; one that was given is parsed. */
export type PublishedOpenApi = { readonly text: string } | { readonly json: Json }

/** What breaks callers, a sentence for each change; else what a comparison would need. */
export type LostPromises =
  | { readonly breaks: readonly string[]; readonly remarks: readonly string[] }
  | { readonly needs: string }

/**
 * The descriptions of an earlier release. A function is undefined where it has none of that face.
 */
export interface EarlierRelease {
  readonly findRestBreaks: ((openapi: PublishedOpenApi) => Promise<LostPromises>) | undefined
  readonly findSoapBreaks: ((documents: readonly PublishedWsdl[]) => Promise<LostPromises>) | undefined
}
