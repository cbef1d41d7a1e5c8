/**
 * What is selected for this caller (RFC 9110 §3.2): a document, its media type, its coding, its validators. An item is
 * written once, whether the precondition or the answer needs it first.
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
export function buildItemDocument(x: Exchange, resource: string, item: Snapshot): ItemDocument {
  const view = x.edition.views.get(resource)
  if (!view) throw new Error(`${resource} is not a resource of ${x.edition.version}`)
  const known = x.face.memory.documentsOf(item)
  const same = view.steady ? known.find(each => isOfAddress(each, x) && each.caller === x.caller) : undefined
  return same ?? composeDocument(x, view, item, known)
}
const isOfAddress = (each: ItemDocument, { edition, base }: Exchange): boolean =>
  each.edition === edition && each.base === base

function composeDocument(
  x: Exchange,
  view: ResourceView,
  item: Snapshot,
  known: readonly ItemDocument[],
): ItemDocument {
  const { edition, base, caller } = x
  const { links, mask } = offeredLinks(view, base, item, caller, x.face.context.calls)
  const same = known.find(each => isOfAddress(each, x) && each.mask === mask)
  if (same) {
    same.caller = caller
    return same
  }
  const { fields } = view.resource
  const document = { name: view.one, title: `${view.one} ${item.id}`, fields, value: item.value, links }
  const composed: ItemDocument = { edition, base, mask, document, caller, shown: undefined }
  // What a change has seen may yet be undone.
  if (x.isSafe) x.face.memory.keepDocument(item, composed)
  return composed
}

/** All that a tag must tell apart besides the version of the state. */
export function variantKey(x: Exchange, mask: number | string, coding: string): string {
  const only = x.parameters.only ? [...x.parameters.only].join() : '*'
  return `${x.edition.version} ${x.base} ${x.head.offer?.type ?? ''} ${only} ${mask} ${coding}`
}

export const writingOf = (x: Exchange): DocumentContext => ({ namespace: x.edition.namespace, only: x.parameters.only })

/** Row 23: what the precondition is compared with. */
export function validatorsOf(x: Exchange, current: Snapshot): Validators {
  return { etag: tagOf(x, current), lastModified: current.modified }
}

function tagOf(x: Exchange, current: Snapshot): string {
  switch (x.operation?.kind) {
    case 'get':
    case 'replace':
    case 'patch':
      return selectItem(x, x.operation.resource.name, current).etag
    case 'getFile':
      return fileTag(x, current.version)
    default:
      return fileVersionTag(current.version)
  }
}

/** Of stored bytes, which are sent as they are wherever the client takes that (row 21). */
export const fileTag = (x: Exchange, version: number): string =>
  representationTag(x, version, '', x.head.identityTaken ? 'identity' : x.head.coding)

/** The item as it is sent. The precondition and the answer ask for the same; so does who asks again for what has not changed. */
export function selectItem(x: Exchange, resource: string, item: Snapshot): SelectedItem {
  if (x.shown?.of === item) return x.shown
  const one = buildItemDocument(x, resource, item)
  if (one.shown && !x.parameters.only && isSame(one.shown.variant, x.head)) return (x.shown = one.shown)
  const { document, mask } = one
  const { content, coding } = writeForCoding(x, document)
  const etag = representationTag(x, item.version, mask, coding)
  const is = { of: item, document, etag, content, coding }
  // Texts that an application writes may depend on more than the item.
  if (x.head.offer?.steady && !x.parameters.only) {
    const { offer, coding, identityTaken } = x.head
    one.shown = { ...is, variant: { offer, coding, identityTaken } }
  }
  return (x.shown = is)
}

const isSame = (a: Variant, b: Variant): boolean =>
  a.offer === b.offer && a.coding === b.coding && a.identityTaken === b.identityTaken

/** The text itself: written once, unless it is the application's to write. */
export function writeSelected(x: Exchange, is: SelectedItem): Maybe<string | Uint8Array> {
  if (is.content !== undefined) return is.content
  const content = x.head.offer?.write(is.document, writingOf(x)) ?? ''
  if (x.head.offer?.steady) is.content = content
  return content
}

/**
 * Whether the coding is used is known once the size is; without one that could be used nothing is written before it is sent.
 * A writer of the application that takes its time makes bytes that no coding makes smaller.
 */
function writeForCoding(x: Exchange, document: RepresentationDocument): Pick<SelectedItem, 'content' | 'coding'> {
  if (!x.head.offer || x.head.coding === 'identity' || !(x.head.offer.coded || !x.head.identityTaken))
    return { content: undefined, coding: 'identity' }
  const content = x.head.offer.write(document, writingOf(x))
  if (!(content instanceof Promise)) return { content, coding: chooseCoding(x, content) }
  content.catch(() => {}) // whoever sends it awaits it; a 304 does not
  return { content, coding: x.head.identityTaken ? 'identity' : x.head.coding }
}

/** Over 1 KiB alone, unless the client takes nothing else (row 21). */
export function chooseCoding(x: Exchange, content: string | Uint8Array): string {
  if (x.head.coding === 'identity') return 'identity'
  return content.length > restLimits.codedFromOctets || !x.head.identityTaken ? x.head.coding : 'identity'
}

/** A 304 says what the 200 would have said of its validators. */
export function validatorFields(x: Exchange, current: Current): Record<string, string> {
  const etag = x.shown?.of.version === current.version ? x.shown.etag : fileTag(x, current.version)
  return { etag, 'last-modified': writeDate(current.modified) }
}

/** Hexadecimal, so without the hyphen that divides it from the version. */
export const shortDigest = (of: string | Uint8Array): string => shortenDigest(hash('sha256', of, 'hex'))
export const shortenDigest = (digest: string): string => digest.slice(0, 16)

/**
 * Entity tags: `"<version>-<h>"`, strong. h tells media type, selected fields, content coding, the links this caller sees and
 * the version of the contract apart, so that no two representations of one state share a tag (RFC 9110 §8.8.3.3).
 * @param version of the state: a number that is never used twice for its key, or a digest of what is shown
 */
export const representationTag = (
  x: Exchange,
  version: number | string,
  mask: number | string,
  coding: string,
): string => `"${version}-${x.face.memory.variantTag(variantKey(x, mask, coding))}"`

/** The version alone, for a change to be tried again with: it is the tag of no representation. */
export const fileVersionTag = (version: number): string => `"${version}-v"`
