/**
 * Everything that a REST face remembers; created with the face. One invariant: *the same snapshot,
 * for the same caller, in the same variant, has the same octets*. So nothing here depends on the
 * clock, the store or the caller's rights; entries are found by identity of the snapshot or of the
 * fields, or by a text that names the variant. Bounds are in `limits.ts`; a full map drops its
 * oldest entry.
 */
import { hash } from 'node:crypto'
import type { Maybe } from '../base/maybe.ts'
import { Field } from '../contract/field.ts'
import type { Operation } from '../contract/operation.ts'
import type { Caller } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import type { LastingFields } from '../http/lasting-fields.ts'
import { type ItemPage, isShared, type Snapshot } from '../service/store.ts'
import type { ApiVersion } from './api-version.ts'
import type { RepresentationDocument } from './formats/document.ts'
import { restLimits } from './limits.ts'
import type { ParsedHead } from './parsed-head.ts'

/** What the text of a document depends on besides the document. */
export type Variant = Pick<ParsedHead, 'offer' | 'coding' | 'acceptsIdentity'>

/** An item as this caller would see it: kept from the precondition to the response. */
export interface SelectedItem {
  readonly of: Snapshot
  readonly document: RepresentationDocument
  readonly etag: string
  /** The mask of the links and fields that the caller sees. */
  readonly mask: number | string
  /** Undefined until it is written. */
  content: Maybe<string | Uint8Array> | undefined
  readonly coding: string
}

/** An item's document for callers that see these links, and its last representation. */
export interface ItemDocument {
  readonly edition: ApiVersion
  readonly base: string
  readonly mask: number | string
  readonly document: RepresentationDocument
  /** The last caller found to see these links and fields. */
  caller: Caller
  shown: (SelectedItem & { readonly variant: Variant }) | undefined
  /**
   * The one kept before it for the same item. Not an array: V8 would make its elements in the old
   * generation, because each array is kept, and then also all documents that are never kept.
   */
  earlier: ItemDocument | undefined
}

/** A page of a collection as this caller would see it. */
export interface SelectedPage {
  readonly document: RepresentationDocument
  /**
   * For its tag: a digest of the items' identifiers, versions and links in order, and its own
   * links.
   */
  readonly version: string
  /** Undefined until it is written. */
  text: string | Uint8Array | undefined
}

/** A page as it was shown, its rows and its caller. */
export interface RememberedPage {
  readonly of: ItemPage
  readonly to: Caller
  readonly page: SelectedPage
}

export class RestMemory {
  readonly #heads = new WeakMap<LastingFields, Map<Operation, ParsedHead>>()
  readonly #documents = new WeakMap<Snapshot, ItemDocument>()
  readonly #pages = new Map<string, RememberedPage>()
  readonly #variants = new Map<string, string>()
  readonly #coded = new Map<string, Uint8Array>()
  #codedOctets = 0
  readonly #appearance: string

  /**
   * @param appearance everything that decides how an item looks: after a change of it, no old tag
   *   is used again
   */
  constructor(appearance = '') {
    this.#appearance = appearance
  }

  /** Fields that a connection repeats are one object (`server/http1/request-head.ts`). */
  findHead(fields: LastingFields, operation: Operation): ParsedHead | undefined {
    return this.#heads.get(fields)?.get(operation)
  }
  /** Keeps at most one per operation. */
  keepHead(fields: LastingFields, operation: Operation, head: ParsedHead): void {
    const remembered = this.#heads.get(fields)
    if (remembered) remembered.set(operation, head)
    else this.#heads.set(fields, new Map([[operation, head]]))
  }

  /** A store gives the same snapshot for an unchanged item (`store/row-cache.ts`). */
  lastDocument(item: Snapshot): ItemDocument | undefined {
    return this.#documents.get(item)
  }
  keepDocument(item: Snapshot, document: ItemDocument): void {
    if (!isShared(item)) return
    document.earlier = this.#documents.get(item)
    this.#documents.set(item, document)
    let oldest: ItemDocument | undefined = document
    for (let kept = 1; oldest && kept < restLimits.documentsKept; kept++) oldest = oldest.earlier
    if (oldest) oldest.earlier = undefined
  }

  findPage(key: string): RememberedPage | undefined {
    return this.#pages.get(key)
  }
  /** Does not keep a page whose items will be different snapshots next time. */
  keepPage(key: string, page: RememberedPage): void {
    this.#pages.delete(key)
    if (page.of.octets > restLimits.keptPageOctets || !page.of.items.every(isShared)) return
    if (this.#pages.size >= restLimits.pagesKept) dropOldest(this.#pages)
    this.#pages.set(key, page)
  }

  /**
   * The part of a tag that distinguishes representations of a state: hexadecimal, without hyphens.
   */
  variantTag(variant: string): string {
    const remembered = this.#variants.get(variant)
    if (remembered !== undefined) return remembered
    const tag = hash('sha256', variant + this.#appearance, 'hex').slice(0, 10)
    if (this.#variants.size >= restLimits.variantsKept) dropOldest(this.#variants)
    this.#variants.set(variant, tag)
    return tag
  }

  /** @param key names a representation: its address and its tag */
  findCoded(key: string): Uint8Array | undefined {
    return this.#coded.get(key)
  }
  keepCoded(key: string, octets: Uint8Array): void {
    if (octets.length > restLimits.codedOctetsKept / 16) return
    while (this.#codedOctets + octets.length > restLimits.codedOctetsKept)
      this.#codedOctets -= dropOldest(this.#coded)?.length ?? this.#codedOctets
    this.#codedOctets += octets.length
    this.#coded.set(key, octets)
  }
}

function dropOldest<V>(entries: Map<string, V>): V | undefined {
  for (const [key, value] of entries) {
    entries.delete(key)
    return value
  }
  return undefined
}

/**
 * Everything in a contract that decides how a stored item looks: fields, links, and what versions
 * make of them. The same version of an item may look different after another release, for example
 * with the default of a new field, and then has other tags (RFC 9110 §8.8.1).
 */
export function writeAppearance({ resources, versions }: Service): string {
  const appearance = resources.map(({ name, fields, within, actions, files, given }) => {
    const links = Object.entries(actions).map(([action, { rel, from, to }]) => [action, rel, from, to])
    return [name, fields, within, links, Object.keys(files), given.relations]
  })
  const views = Object.values(versions).map(each => [each.without, each.renames, each.retypes, each.reshapes])
  return JSON.stringify([appearance, views], function (this: unknown, key, value: unknown) {
    if (this instanceof Field && hiddenMarks.has(key)) return undefined
    return typeof value === 'bigint' || typeof value === 'function' ? String(value) : value
  })
}
/**
 * Properties of a field that no representation shows; the mask of a tag says what a caller sees.
 */
const hiddenMarks: ReadonlySet<string> = new Set(['texts', 'access', 'formerName'])
