/**
 * What is selected for this caller (RFC 9110 §3.2): a document, its media type, its coding, its validators. An item is
 * written once, whether the precondition or the answer needs it first.
 */
import { writeDate } from '../http/date.ts'
import type { Validators } from '../http/precondition.ts'
import type { Current } from '../service/refusal.ts'
import type { Snapshot } from '../service/store.ts'
import type { Document, Writing } from './document.ts'
import { linksOf } from './edition.ts'
import type { Exchange, Shown } from './exchange.ts'
import { limits } from './limits.ts'
import { entityTag, versionTag } from './validator.ts'

/** An item of the resource that an exchange is about, or of another (a search's). */
export function itemOf(x: Exchange, resource: string, item: Snapshot): { document: Document; mask: number } {
  const view = x.edition.views.get(resource)
  if (!view) throw new Error(`${resource} is no resource of ${x.edition.version}`)
  const { links, mask } = linksOf(view, x.base, item, x.caller, x.serving.calls)
  const { fields } = view.resource
  return { document: { name: view.one, title: `${view.one} ${item.id}`, fields, value: item.value, links }, mask }
}

/** All that a tag must tell apart beside the version of the state. */
export function variantOf(x: Exchange, mask: number | string, coding: string): string {
  const only = x.asked.only ? [...x.asked.only].join() : '*'
  return `${x.edition.version} ${x.base} ${x.offer?.type ?? ''} ${only} ${mask} ${coding}`
}

export const writingOf = (x: Exchange): Writing => ({ namespace: x.edition.namespace, only: x.asked.only })

/** Row 23: what the precondition is compared with. */
export function validatorsOf(x: Exchange, current: Snapshot): Validators {
  return { etag: tagOf(x, current), lastModified: current.modified }
}

function tagOf(x: Exchange, current: Snapshot): string {
  switch (x.operation?.kind) {
    case 'get':
    case 'replace':
    case 'patch':
      return shown(x, x.operation.resource.name, current).etag
    case 'getFile':
      return fileTag(x, current.version)
    default:
      return versionTag(current.version)
  }
}

/** Of stored bytes, which are sent as they are wherever the client takes that (row 21). */
export const fileTag = (x: Exchange, version: number): string =>
  entityTag(version, variantOf(x, '', x.identityTaken ? 'identity' : x.coding))

/** The item as it is sent: remembered, since the precondition and the answer ask for the same. */
export function shown(x: Exchange, resource: string, item: Snapshot): Shown {
  if (x.shown?.of === item) return x.shown
  const { document, mask } = itemOf(x, resource, item)
  if (x.coding === 'identity' && x.offer?.coded) return (x.shown = remembered(x, resource, item, document, mask))
  const { content, coding } = written(x, document)
  const etag = entityTag(item.version, variantOf(x, mask, coding))
  return (x.shown = { of: item, document, etag, content, coding })
}

const mostTexts = 4096
/** Characters of the longest text that is kept. */
const longest = 8192

/**
 * A tag names one text and no other, so a text is written once for it: the version is never used twice for its key, and the
 * variant tells apart all else that it is made of. Texts that an application writes may depend on more, and are not kept; nor
 * is what a change has seen: that may be of a transaction that is undone, and its version is then another's.
 */
function remembered(x: Exchange, resource: string, of: Snapshot, document: Document, mask: number): Shown {
  const variant = variantOf(x, mask, 'identity')
  const etag = entityTag(of.version, variant)
  if (!x.offer?.steady) return { of, document, etag, content: undefined, coding: 'identity' }
  const key = `${resource} ${of.id} ${of.version} ${variant}`
  const { texts } = x.site
  const known = texts.get(key)
  if (known !== undefined) return { of, document, etag, content: known, coding: 'identity' }
  const content = x.offer.write(document, writingOf(x))
  if (x.safe && typeof content === 'string' && content.length <= longest) {
    if (texts.size >= mostTexts) texts.delete(texts.keys().next().value ?? '')
    texts.set(key, content)
  }
  return { of, document, etag, content, coding: 'identity' }
}

/**
 * Whether the coding is used is known once the size is; without one that could be used nothing is written before it is sent.
 * A writer of the application that takes its time makes bytes that no coding makes smaller.
 */
function written(x: Exchange, document: Document): Pick<Shown, 'content' | 'coding'> {
  if (!x.offer || x.coding === 'identity' || !(x.offer.coded || !x.identityTaken))
    return { content: undefined, coding: 'identity' }
  const content = x.offer.write(document, writingOf(x))
  if (!(content instanceof Promise)) return { content, coding: codingFor(x, content) }
  content.catch(() => {}) // whoever sends it awaits it; a 304 does not
  return { content, coding: x.identityTaken ? 'identity' : x.coding }
}

/** Over 1 KiB alone, unless the client takes nothing else (row 21). */
export function codingFor(x: Exchange, content: string | Uint8Array): string {
  if (x.coding === 'identity') return 'identity'
  return content.length > limits.coded || !x.identityTaken ? x.coding : 'identity'
}

/** A 304 says what the 200 would have said of its validators. */
export function validatorFields(x: Exchange, current: Current): Record<string, string> {
  const etag = x.shown?.of.version === current.version ? x.shown.etag : fileTag(x, current.version)
  return { etag, 'last-modified': writeDate(current.modified) }
}
