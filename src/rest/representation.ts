/**
 * What is selected for this caller (RFC 9110 §3.2): a document, its media type, its coding, its
 * validators. An item is written once, whether the precondition or the answer needs it first.
 */
import { hash } from 'node:crypto'
import type { Maybe } from '../base/maybe.ts'
import { writeDate } from '../http/date.ts'
import type { Validators } from '../http/precondition.ts'
import type { Current } from '../service/outcome.ts'
import type { Snapshot } from '../service/store.ts'
import { offeredLinks, type ResourceView } from './api-version.ts'
import type { Exchange } from './exchange.ts'
import type { DocumentContext, RepresentationDocument } from './formats/document.ts'
import { restLimits } from './limits.ts'
import type { ItemDocument, SelectedItem, Variant } from './memory.ts'

/** An item of the resource that an exchange is about, or of another (a search's). */
export function buildItemDocument(exchange: Exchange, resource: string, item: Snapshot): ItemDocument {
  const view = exchange.edition.views.get(resource)
  if (!view) throw new Error(`${resource} is not a resource of ${exchange.edition.version}`)
  const known = exchange.face.memory.documentsOf(item)
  const same = view.steady
    ? known.find(each => isOfAddress(each, exchange) && each.caller === exchange.caller)
    : undefined
  return same ?? composeDocument(exchange, view, item, known)
}
const isOfAddress = (each: ItemDocument, { edition, base }: Exchange): boolean =>
  each.edition === edition && each.base === base

function composeDocument(
  exchange: Exchange,
  view: ResourceView,
  item: Snapshot,
  known: readonly ItemDocument[],
): ItemDocument {
  const { edition, base, caller } = exchange
  const { links, mask } = offeredLinks(view, base, item, caller, exchange.face.context.calls)
  const same = known.find(each => isOfAddress(each, exchange) && each.mask === mask)
  if (same) {
    same.caller = caller
    return same
  }
  const { fields } = view.resource
  const document = { name: view.one, title: `${view.one} ${item.id}`, fields, value: item.value, links }
  const composed: ItemDocument = { edition, base, mask, document, caller, shown: undefined }
  // What a change has seen may yet be undone.
  if (exchange.isSafe) exchange.face.memory.keepDocument(item, composed)
  return composed
}

/** All that a tag must tell apart besides the version of the state. */
export function variantKey(exchange: Exchange, mask: number | string, coding: string): string {
  const only = exchange.parameters.only ? [...exchange.parameters.only].join() : '*'
  return `${exchange.edition.version} ${exchange.base} ${exchange.head.offer?.type ?? ''} ${only} ${mask} ${coding}`
}

export const writingOf = (exchange: Exchange): DocumentContext => ({
  namespace: exchange.edition.namespace,
  only: exchange.parameters.only,
})

/** Row 23: what the precondition is compared with. */
export function validatorsOf(exchange: Exchange, current: Snapshot): Validators {
  return { etag: tagOf(exchange, current), lastModified: current.modified }
}

function tagOf(exchange: Exchange, current: Snapshot): string {
  switch (exchange.operation?.kind) {
    case 'get':
    case 'replace':
    case 'patch':
      return selectItem(exchange, exchange.operation.resource.name, current).etag
    case 'getFile':
      return fileTag(exchange, current.version)
    default:
      return fileVersionTag(current.version)
  }
}

/** Of stored bytes, which are sent as they are wherever the client takes that (row 21). */
export const fileTag = (exchange: Exchange, version: number): string =>
  representationTag(exchange, version, '', exchange.head.identityTaken ? 'identity' : exchange.head.coding)

/**
 * The item as it is sent. The precondition and the answer ask for the same; so does who asks again
 * for what has not changed.
 */
export function selectItem(exchange: Exchange, resource: string, item: Snapshot): SelectedItem {
  if (exchange.shown?.of === item) return exchange.shown
  const one = buildItemDocument(exchange, resource, item)
  if (one.shown && !exchange.parameters.only && isSame(one.shown.variant, exchange.head))
    return (exchange.shown = one.shown)
  const { document, mask } = one
  const { content, coding } = writeForCoding(exchange, document)
  const etag = representationTag(exchange, item.version, mask, coding)
  const is = { of: item, document, etag, content, coding }
  // Texts that an application writes may depend on more than the item.
  if (exchange.head.offer?.steady && !exchange.parameters.only) {
    const { offer, coding, identityTaken } = exchange.head
    one.shown = { ...is, variant: { offer, coding, identityTaken } }
  }
  return (exchange.shown = is)
}

const isSame = (a: Variant, b: Variant): boolean =>
  a.offer === b.offer && a.coding === b.coding && a.identityTaken === b.identityTaken

/** The text itself: written once, unless it is the application's to write. */
export function writeSelected(exchange: Exchange, is: SelectedItem): Maybe<string | Uint8Array> {
  if (is.content !== undefined) return is.content
  const content = exchange.head.offer?.write(is.document, writingOf(exchange)) ?? ''
  if (exchange.head.offer?.steady) is.content = content
  return content
}

/**
 * Whether the coding is used is known once the size is; without one that could be used nothing is
 * written before it is sent. A writer of the application that takes its time makes bytes that no
 * coding makes smaller.
 */
function writeForCoding(
  exchange: Exchange,
  document: RepresentationDocument,
): Pick<SelectedItem, 'content' | 'coding'> {
  if (
    !exchange.head.offer ||
    exchange.head.coding === 'identity' ||
    !(exchange.head.offer.coded || !exchange.head.identityTaken)
  )
    return { content: undefined, coding: 'identity' }
  const content = exchange.head.offer.write(document, writingOf(exchange))
  if (!(content instanceof Promise)) return { content, coding: chooseCoding(exchange, content) }
  content.catch(() => {}) // whoever sends it awaits it; a 304 does not
  return { content, coding: exchange.head.identityTaken ? 'identity' : exchange.head.coding }
}

/** Over 1 KiB alone, unless the client takes nothing else (row 21). */
export function chooseCoding(exchange: Exchange, content: string | Uint8Array): string {
  if (exchange.head.coding === 'identity') return 'identity'
  return content.length > restLimits.codedFromOctets || !exchange.head.identityTaken ? exchange.head.coding : 'identity'
}

/** A 304 says what the 200 would have said of its validators. */
export function validatorFields(exchange: Exchange, current: Current): Record<string, string> {
  const etag = exchange.shown?.of.version === current.version ? exchange.shown.etag : fileTag(exchange, current.version)
  return { etag, 'last-modified': writeDate(current.modified) }
}

/** Hexadecimal, so without the hyphen that divides it from the version. */
export const shortDigest = (of: string | Uint8Array): string => shortenDigest(hash('sha256', of, 'hex'))
export const shortenDigest = (digest: string): string => digest.slice(0, 16)

/**
 * Entity tags: `"<version>-<h>"`, strong. h tells media type, selected fields, content coding, the
 * links this caller sees and the version of the contract apart, so that no two representations of
 * one state share a tag (RFC 9110 §8.8.3.3).
 * @param version of the state: a number that is never used twice for its key, or a digest of what
 * is shown
 */
export const representationTag = (
  exchange: Exchange,
  version: number | string,
  mask: number | string,
  coding: string,
): string => `"${version}-${exchange.face.memory.variantTag(variantKey(exchange, mask, coding))}"`

/** The version alone, for a change to be tried again with: it is the tag of no representation. */
export const fileVersionTag = (version: number): string => `"${version}-v"`
