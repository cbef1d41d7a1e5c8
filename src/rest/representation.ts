/**
 * The selected representation (RFC 9110 §3.2): a document, its media type, its coding, its
 * validators. An item is written once, whether the precondition or the response needs it first.
 */
import { hash } from 'node:crypto'
import type { Maybe } from '../base/maybe.ts'
import { isWorthCoding } from '../front/compression.ts'
import { writeDate } from '../http/date.ts'
import type { Validators } from '../http/precondition.ts'
import type { Current } from '../service/outcome.ts'
import type { Snapshot } from '../service/store.ts'
import { finishSteps, type WorkSteps } from '../service/turns.ts'
import { type LinkBase, type OfferedLinks, offeredLinks, type ResourceView } from './api-version.ts'
import { writeBrowserPage } from './browse/browser-page.ts'
import { callsOf, type Exchange } from './exchange.ts'
import {
  type DocumentLink,
  documentContextOf,
  type RepresentationDocument,
  writeItemsInSteps,
} from './formats/document.ts'
import type { ItemDocument, SelectedItem, Variant } from './memory.ts'
import { fileVersionTag, representationTag } from './tags.ts'

/** The document of an item of the exchange's resource, or of the resource that it searches. */
export function buildItemDocument(exchange: Exchange, resource: string, item: Snapshot): ItemDocument {
  const view = exchange.edition.views.get(resource)
  if (!view) throw new Error(`${resource} is not a resource of ${exchange.edition.version}`)
  const last = exchange.face.memory.lastDocument(item)
  const { edition, place, caller } = exchange
  if (view.steady)
    for (let each = last; each; each = each.earlier)
      if (each.edition === edition && each.base === place && each.caller === caller) return each
  return composeDocument(exchange, view, item, place, last)
}

/** @param last the one remembered last for this item */
function composeDocument(
  exchange: Exchange,
  view: ResourceView,
  item: Snapshot,
  place: string,
  last: ItemDocument | undefined,
): ItemDocument {
  const { edition, base, caller } = exchange
  const viewer = { caller, now: exchange.entry.now }
  const offered = offeredLinks(view, item, viewer, callsOf(exchange))
  const { mask } = offered
  let same = last
  while (same && !(same.edition === edition && same.base === place && same.mask === mask)) same = same.earlier
  if (same) {
    same.caller = caller
    return same
  }
  const document = new ItemRepresentation(view, item, { base, place }, offered)
  const composed: ItemDocument = { edition, base: place, mask, document, caller, shown: undefined, earlier: undefined }
  // A change may still be rolled back.
  if (exchange.isSafe) exchange.face.memory.keepDocument(item, composed)
  return composed
}

/** Its links are made on demand: a 304 needs none. */
class ItemRepresentation implements RepresentationDocument {
  readonly name: string
  readonly fields: RepresentationDocument['fields']
  readonly value: RepresentationDocument['value']
  readonly #view: ResourceView
  readonly #item: Snapshot
  readonly #from: LinkBase
  readonly #offered: OfferedLinks
  #links: readonly DocumentLink[] | undefined

  constructor(view: ResourceView, item: Snapshot, from: LinkBase, offered: OfferedLinks) {
    this.name = view.one
    this.fields = view.resource.fields
    this.value = item.value
    this.#view = view
    this.#item = item
    this.#from = from
    this.#offered = offered
  }
  get title(): string {
    return this.#view.resource.isSingle ? this.name : `${this.name} ${this.#item.id}`
  }
  get links(): readonly DocumentLink[] {
    if (this.#links) return this.#links
    const links: DocumentLink[] = []
    const { linkers, open } = this.#offered
    const own = this.#view.addressOf(this.#from, this.#item.id)
    for (const { rel, href: to, form } of linkers) {
      const href = typeof to === 'string' ? own + to : to(this.#from, this.#item)
      if (!form) links.push({ rel, href })
      else links.push({ rel, href, form: form.fields === this.fields ? { ...form, fields: open } : form })
    }
    return (this.#links = links)
  }
}

/**
 * The text of a document in the chosen media type, step by step; '' for a response without content.
 */
export function* writeInSteps(
  exchange: Exchange,
  document: RepresentationDocument,
): WorkSteps<Maybe<string | Uint8Array>> {
  const { offer } = exchange.head
  if (offer?.write === 'page') return yield* writeBrowserPage(exchange, document)
  if (!offer) return ''
  const context = documentContextOf(exchange)
  return offer.write.write(document, context, yield* writeItemsInSteps(offer.write, document, context))
}
/** The same, all at once. */
export function writeRepresentation(exchange: Exchange, document: RepresentationDocument): Maybe<string | Uint8Array> {
  const { offer } = exchange.head
  if (offer === undefined || offer.write === 'page' || document.items)
    return finishSteps(writeInSteps(exchange, document))
  return offer.write.write(document, documentContextOf(exchange), noItems)
}
const noItems: readonly string[] = []

/** Row 23: the validators that the precondition is compared with. */
export function validatorsOf(exchange: Exchange, current: Snapshot): Validators {
  const { operation } = exchange
  const { version, modified: lastModified } = current
  switch (operation?.kind) {
    case 'get':
    case 'replace':
    case 'patch':
      return { etag: selectItem(exchange, operation.resource.name, current).etag, lastModified }
    case 'getFile':
      return { etag: fileTag(exchange, version), lastModified }
    default:
      return { etag: fileVersionTag(version), lastModified }
  }
}

/** The tag of stored octets, which are sent unchanged if the client accepts that (row 21). */
export const fileTag = (exchange: Exchange, version: number): string =>
  representationTag(exchange, version, '', exchange.head.acceptsIdentity ? 'identity' : exchange.head.coding)

/**
 * The item as it is sent: one object for the precondition, the response, and later requests for the
 * unchanged item.
 */
export function selectItem(exchange: Exchange, resource: string, item: Snapshot): SelectedItem {
  if (exchange.shown?.of === item) return exchange.shown
  const itemDocument = buildItemDocument(exchange, resource, item)
  if (itemDocument.shown && !exchange.parameters.only && isSameVariant(itemDocument.shown.variant, exchange.head))
    return (exchange.shown = itemDocument.shown)
  const { document, mask } = itemDocument
  const { content, coding } = writeForCoding(exchange, document)
  const etag = representationTag(exchange, item.version, mask, coding)
  const selected = { of: item, document, etag, mask, content, coding, variant: exchange.head }
  // A text that the application writes may depend on more than the item.
  if (exchange.head.offer?.steady && !exchange.parameters.only) itemDocument.shown = selected
  return (exchange.shown = selected)
}

const isSameVariant = (a: Variant, b: Variant): boolean =>
  a.offer === b.offer && a.coding === b.coding && a.acceptsIdentity === b.acceptsIdentity

/** The text: written once, unless the application writes it. */
export function writeSelected(exchange: Exchange, selected: SelectedItem): Maybe<string | Uint8Array> {
  if (selected.content !== undefined) return selected.content
  const content = writeRepresentation(exchange, selected.document)
  if (exchange.head.offer?.steady) selected.content = content
  return content
}

/**
 * The size decides whether the coding is used, so the text is written here, unless there is no
 * coding to use. Content that an application writes asynchronously is not compressed.
 */
function writeForCoding(
  exchange: Exchange,
  document: RepresentationDocument,
): Pick<SelectedItem, 'content' | 'coding'> {
  // A page is always long enough, and shows more than the item: it is written once all is known.
  if (exchange.head.offer?.write === 'page') return { content: undefined, coding: exchange.head.coding }
  if (
    !exchange.head.offer ||
    exchange.head.coding === 'identity' ||
    !(exchange.head.offer.coded || !exchange.head.acceptsIdentity)
  )
    return { content: undefined, coding: 'identity' }
  const content = writeRepresentation(exchange, document)
  if (!(content instanceof Promise)) return { content, coding: chooseCoding(exchange, content) }
  content.catch(() => {}) // a response awaits it; a 304 does not
  return { content, coding: exchange.head.acceptsIdentity ? 'identity' : exchange.head.coding }
}

/** A coding only for more than 1 KiB, unless the client accepts nothing else (row 21). */
export function chooseCoding(exchange: Exchange, content: string | Uint8Array): string {
  if (exchange.head.coding === 'identity') return 'identity'
  return !exchange.head.acceptsIdentity || isWorthCoding(content) ? exchange.head.coding : 'identity'
}

/** A 304 has the validators that the 200 would have had. */
export function validatorFields(exchange: Exchange, current: Current): Record<string, string> {
  const etag = exchange.shown?.of.version === current.version ? exchange.shown.etag : fileTag(exchange, current.version)
  if (Number.isNaN(current.modified)) return { etag }
  return { etag, 'last-modified': writeDate(current.modified, exchange.entry.now) }
}

/** Hexadecimal, so it contains no hyphen, which separates it from the version. */
export const shortDigest = (content: string | Uint8Array): string => shortenDigest(hash('sha256', content, 'hex'))
export const shortenDigest = (digest: string): string => digest.slice(0, 16)
