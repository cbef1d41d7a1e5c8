/** An earlier release of a service, with which its current descriptions are compared. */
import type { Json } from '../base/objects.ts'
import type { Find } from './reader/wsdl-document.ts'

/** A WSDL as read, in the encoding that it declares. */
export interface PublishedWsdl {
  readonly location: string
  readonly octets: Uint8Array
  readonly find: Find
}

/** An OpenAPI document: text as read, or JSON that was parsed already. */
export type PublishedOpenApi = { readonly text: string } | { readonly json: Json }

/** The changes that break callers, a sentence each; otherwise what a comparison would need. */
export type LostPromises =
  | { readonly breaks: readonly string[]; readonly remarks: readonly string[] }
  | { readonly needs: string }

/**
 * The descriptions of an earlier release. A function is undefined if the release has no description
 * of that face.
 */
export interface EarlierRelease {
  readonly findRestBreaks: ((openapi: PublishedOpenApi) => Promise<LostPromises>) | undefined
  readonly findSoapBreaks: ((documents: readonly PublishedWsdl[]) => Promise<LostPromises>) | undefined
}
