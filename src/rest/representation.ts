/**
 * What is selected for this caller (RFC 9110 §3.2): a document, its media type, its coding, its validators. An item is
 * written once, whether the precondition or the answer needs it first.
 */
import { hash } from 'node:crypto'
import type { Maybe } from '../base/maybe.ts'
import type { Caller } from '../contract/policy.ts'
import { writeDate } from '../http/date.ts'
import type { Validators } from '../http/precondition.ts'
import type { Current } from '../service/outcome.ts'
import type { Snapshot } from '../service/store.ts'
import { type ApiVersion, offeredLinks, type ResourceView } from './api-version.ts'
import type { Exchange, SelectedItem } from './exchange.ts'
import type { DocumentContext, RepresentationDocument } from './formats/document.ts'
import { restLimits } from './limits.ts'

/** An item's document for who sees these links of it, and how that was last shown. */
interface Made {
  readonly edition: ApiVersion
  readonly base: string
  readonly mask: number
  readonly document: RepresentationDocument
  /** Who was last found to see these links. */
  caller: Caller
  shown: (SelectedItem & { readonly asked: Variant }) | undefined
}
/** What the text of a document depends on beside it. */
type Variant = Pick<Exchange, 'offer' | 'coding' | 'identityTaken'>

/** A store that finds an item unchanged gives the same snapshot again (`store/row-cache.ts`): so it has the same documents. */
const made = new WeakMap<Snapshot, Made[]>()
/** Of one snapshot: editions, addresses, and sets of links. */
const most = 8

/** An item of the resource that an exchange is about, or of another (a search's). */
export function buildItemDocument(x: Exchange, resource: string, item: Snapshot): Made {
  const view = x.edition.views.get(resource)
  if (!view) throw new Error(`${resource} is no resource of ${x.edition.version}`)
  const before = made.get(item) ?? []
  const same = view.steady ? before.find(each => isHere(each, x) && each.caller === x.caller) : undefined
  return same ?? seen(x, view, item, before)
}
const isHere = (each: Made, { edition, base }: Exchange): boolean => each.edition === edition && each.base === base

function seen(x: Exchange, view: ResourceView, item: Snapshot, before: Made[]): Made {
  const { edition, base, caller } = x
  const { links, mask } = offeredLinks(view, base, item, caller, x.serving.calls)
  const same = before.find(each => isHere(each, x) && each.mask === mask)
  if (same) {
    same.caller = caller
    return same
  }
  const { fields } = view.resource
  const document = { name: view.one, title: `${view.one} ${item.id}`, fields, value: item.value, links }
  const one: Made = { edition, base, mask, document, caller, shown: undefined }
  // What a change has seen may never come to stand.
  if (!x.safe) return one
  if (before.length >= most) before.length = 0
  if (before.length === 0) made.set(item, before)
  before.push(one)
  return one
}

/** All that a tag must tell apart beside the version of the state. */
export function variantKey(x: Exchange, mask: number | string, coding: string): string {
  const only = x.asked.only ? [...x.asked.only].join() : '*'
  return `${x.edition.version} ${x.base} ${x.offer?.type ?? ''} ${only} ${mask} ${coding}`
}

export const writingOf = (x: Exchange): DocumentContext => ({ namespace: x.edition.namespace, only: x.asked.only })

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
  representationTag(version, variantKey(x, '', x.identityTaken ? 'identity' : x.coding))

/** The item as it is sent. The precondition and the answer ask for the same; so does who asks again for what has not changed. */
export function selectItem(x: Exchange, resource: string, item: Snapshot): SelectedItem {
  if (x.shown?.of === item) return x.shown
  const one = buildItemDocument(x, resource, item)
  if (one.shown && !x.asked.only && isSame(one.shown.asked, x)) return (x.shown = one.shown)
  const { document, mask } = one
  const { content, coding } = written(x, document)
  const etag = representationTag(item.version, variantKey(x, mask, coding))
  const is = { of: item, document, etag, content, coding }
  // Texts that an application writes may depend on more than the item.
  if (x.offer?.steady && !x.asked.only) {
    const { offer, coding, identityTaken } = x
    one.shown = { ...is, asked: { offer, coding, identityTaken } }
  }
  return (x.shown = is)
}

const isSame = (a: Variant, b: Variant): boolean =>
  a.offer === b.offer && a.coding === b.coding && a.identityTaken === b.identityTaken

/** The text itself: written once, unless it is the application's to write. */
export function writeSelected(x: Exchange, is: SelectedItem): Maybe<string | Uint8Array> {
  if (is.content !== undefined) return is.content
  const content = x.offer?.write(is.document, writingOf(x)) ?? ''
  if (x.offer?.steady) is.content = content
  return content
}

/**
 * Whether the coding is used is known once the size is; without one that could be used nothing is written before it is sent.
 * A writer of the application that takes its time makes bytes that no coding makes smaller.
 */
function written(x: Exchange, document: RepresentationDocument): Pick<SelectedItem, 'content' | 'coding'> {
  if (!x.offer || x.coding === 'identity' || !(x.offer.coded || !x.identityTaken))
    return { content: undefined, coding: 'identity' }
  const content = x.offer.write(document, writingOf(x))
  if (!(content instanceof Promise)) return { content, coding: chooseCoding(x, content) }
  content.catch(() => {}) // whoever sends it awaits it; a 304 does not
  return { content, coding: x.identityTaken ? 'identity' : x.coding }
}

/** Over 1 KiB alone, unless the client takes nothing else (row 21). */
export function chooseCoding(x: Exchange, content: string | Uint8Array): string {
  if (x.coding === 'identity') return 'identity'
  return content.length > restLimits.coded || !x.identityTaken ? x.coding : 'identity'
}

/** A 304 says what the 200 would have said of its validators. */
export function validatorFields(x: Exchange, current: Current): Record<string, string> {
  const etag = x.shown?.of.version === current.version ? x.shown.etag : fileTag(x, current.version)
  return { etag, 'last-modified': writeDate(current.modified) }
}

const known = new Map<string, string>()
const variantsMax = 10_000

/** Hexadecimal, so without the hyphen that divides it from the version. */
export const shortDigest = (of: string | Uint8Array): string => shortenDigest(hash('sha256', of, 'hex'))
export const shortenDigest = (digest: string): string => digest.slice(0, 16)

function variant(of: string): string {
  const before = known.get(of)
  if (before !== undefined) return before
  if (known.size >= variantsMax) known.clear()
  const made = shortDigest(of).slice(0, 10)
  known.set(of, made)
  return made
}

/** @param version of the state: a number that is never used twice for its key, or a digest of what is shown */
export const representationTag = (version: number | string, of: string): string => `"${version}-${variant(of)}"`

/** The version alone, for a change to be tried again with: it is the tag of no representation. */
export const fileVersionTag = (version: number): string => `"${version}-v"`
