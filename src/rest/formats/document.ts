/**
 * The content of a representation before it has a media type: members in the contract's order, then
 * links.
 */
import type { Maybe } from '../../base/maybe.ts'
import type { Fields } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import type { WorkSteps } from '../../service/turns.ts'

export interface DocumentLink {
  readonly rel: string
  /** A path of this service, percent-encoded; with `templated` an RFC 6570 template. */
  readonly href: string
  readonly templated?: boolean
  /** The request that following the link sends; a link without a form is for GET. */
  readonly form?: DocumentForm
  /** The media type that it leads to, if there is only one. */
  readonly type?: string
  /** The text for people, in place of the relation. */
  readonly label?: string
}

export interface DocumentForm {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET'
  readonly title: string
  readonly fields: Fields
}

export interface RepresentationDocument {
  /** The name of its element in XML: `order`. */
  readonly name: string
  readonly title: string
  readonly fields: Fields
  readonly value: Values
  readonly links: readonly DocumentLink[]
  /** For a collection; then `fields` and `value` are its own members. */
  readonly items?: readonly RepresentationDocument[]
  /** Fields of the items, for a table that has none. */
  readonly columns?: Fields
}

/** What a writer needs to know besides the document. */
export interface DocumentContext {
  /** The path of the version, which each page links back to and references begin with. */
  readonly base: string
  /** The XML namespace of the version. */
  readonly namespace: string
  /** The requested members (rule A4.24), of the document or of its items; absent: all. */
  readonly only: ReadonlySet<string> | undefined
}

/** Writes documents in one media type. */
export interface DocumentWriter {
  /** @param items the items of a collection, each written by `writeItem` */
  write(
    document: RepresentationDocument,
    context: DocumentContext,
    items: readonly string[],
  ): Maybe<string | Uint8Array>
  /** One item of a collection; only for media types that collections have. */
  writeItem?(item: RepresentationDocument, context: DocumentContext, collection: RepresentationDocument): string
}

/** A long document is written in steps, so that others get their turns between its items. */
export function* writeItemsInSteps(
  { writeItem }: DocumentWriter,
  collection: RepresentationDocument,
  context: DocumentContext,
): WorkSteps<readonly string[]> {
  const { items = [] } = collection
  const texts: string[] = []
  for (const item of items) {
    texts.push(writeItem?.(item, context, collection) ?? '')
    yield
  }
  return texts
}

export const documentContextOf = ({
  base,
  edition,
  parameters,
}: {
  readonly base: string
  readonly edition: { readonly namespace: string }
  readonly parameters: Pick<DocumentContext, 'only'>
}): DocumentContext => ({ base, namespace: edition.namespace, only: parameters.only })
