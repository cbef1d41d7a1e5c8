/**
 * Finds the addresses that are collections: `/orders` with `/orders/{id}`, also below an item; and
 * single items: `/settings`, which is read and changed.
 */
import { singularName } from '../../contract/field.ts'
import { isReservedCollection } from '../../contract/reserved-names.ts'
import { findFreeName } from '../constant-names.ts'
import { addressOf, type PathSegment, type RestOperation } from './operations.ts'

export interface Collection {
  /** The name of the resource: the last word of its path. */
  readonly name: string
  /** `/customers/{}/orders`. */
  readonly address: string
  /** The parameter of an item: `id`. */
  readonly parameter: string
  /** The path before it: parameters, each with the word before it. */
  readonly within: readonly { readonly parameter: string; readonly word: string }[]
  /** By method: operations of the collection, and of one item. */
  readonly many: ReadonlyMap<string, RestOperation>
  readonly one: ReadonlyMap<string, RestOperation>
  /** Below an item: the word of the path, and the operations there. */
  readonly parts: ReadonlyMap<string, ReadonlyMap<string, RestOperation>>
  /** It has one item, at its own address. */
  readonly isSingle: boolean
}

export type Addresses = ReadonlyMap<string, ReadonlyMap<string, RestOperation>>
export function groupByAddress(operations: readonly RestOperation[]): Addresses {
  const all = new Map<string, Map<string, RestOperation>>()
  for (const each of operations) {
    const address = addressOf(each.segments)
    const known = all.get(address) ?? new Map<string, RestOperation>()
    if (!known.has(each.method)) known.set(each.method, each)
    all.set(address, known)
  }
  return all
}

/** Collections with shorter paths first, so that they get the plain names. */
export function findCollections(addresses: Addresses): readonly Collection[] {
  const partsOf = groupParts(addresses)
  const names = new Set<string>()
  const many = [...addresses]
    .flatMap(([address, one]) => {
      const [first] = one.values()
      return first && isItemPath(first.segments) ? [{ address, one, segments: first.segments }] : []
    })
    .sort((a, b) => a.segments.length - b.segments.length)
    .map(({ address, one, segments }) => {
      const above = address.slice(0, -'/{}'.length)
      return {
        name: claimName(segments.slice(0, -1), names),
        address: above,
        parameter: segments.at(-1)?.text ?? '',
        within: listParents(segments.slice(0, -2)),
        many: addresses.get(above) ?? new Map(),
        one,
        parts: partsOf.get(address) ?? new Map(),
        isSingle: false,
      }
    })
  return [...many, ...findSingles(addresses, names)]
}

/** @param taken names that the operations of collections have */
function findSingles(addresses: Addresses, taken: Set<string>): readonly Collection[] {
  return [...addresses].flatMap(([address, one]) => {
    const name = toSegmentName(address.slice(1))
    const isChanged = one.has('PUT') || one.has('PATCH')
    if (!/^\/[^/{}]+$/.test(address) || addresses.has(`${address}/{}`) || !one.has('GET') || !isChanged) return []
    if (isReservedCollection(name) || taken.has(name)) return []
    taken.add(name)
    const parts = [...addresses].flatMap(([at, operations]) => {
      const word = at.startsWith(`${address}/`) ? at.slice(address.length + 1) : ''
      return /^[^/{}]+$/.test(word) && !addresses.has(`${at}/{}`) ? [[word, operations] as const] : []
    })
    return [{ name, address, parameter: '', within: [], many: new Map(), one, parts: new Map(parts), isSingle: true }]
  })
}

/** It ends with a word and a parameter, and each parameter follows a separate word. */
const isItemPath = (segments: readonly PathSegment[]): boolean =>
  segments.length >= 2 && segments.at(-1)?.isParameter === true && segments.at(-2)?.isParameter === false

function groupParts(addresses: Addresses): ReadonlyMap<string, Map<string, ReadonlyMap<string, RestOperation>>> {
  const all = new Map<string, Map<string, ReadonlyMap<string, RestOperation>>>()
  for (const [address, operations] of addresses) {
    const [, item, word] = /^(.*\/\{\})\/([^/{}]+)$/.exec(address) ?? []
    if (item === undefined || word === undefined || addresses.has(`${address}/{}`)) continue
    const known = all.get(item) ?? new Map<string, ReadonlyMap<string, RestOperation>>()
    known.set(word, operations)
    all.set(item, known)
  }
  return all
}

const listParents = (segments: readonly PathSegment[]): Collection['within'] =>
  segments.flatMap(({ text, isParameter }, i) => {
    const before = segments[i - 1]
    return isParameter ? [{ parameter: text, word: before && !before.isParameter ? before.text : '' }] : []
  })

/** `line_items` → `line-items`; if that is taken, with the words before it, or numbered. */
function claimName(segments: readonly PathSegment[], taken: Set<string>): string {
  const words = segments.filter(each => !each.isParameter).map(each => toSegmentName(each.text))
  // Operations of one item have the singular in their names.
  const isFree = (name: string): boolean => !taken.has(name) && !taken.has(singularName(name))
  const claim = (name: string): string => {
    taken.add(name).add(singularName(name))
    return name
  }
  for (let count = 1; count <= words.length; count++) {
    const [last = 'items', ...before] = words.slice(-count).reverse()
    const name = [...before.reverse().map(singularName), last].join('-')
    if (!isReservedCollection(name) && isFree(name)) return claim(name)
  }
  return claim(findFreeName(`other-${words.at(-1) ?? 'items'}`, each => !isFree(each)))
}
/** A path segment as a contract writes it: beginning with a lower-case letter. */
export function toSegmentName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9]+/g, '-').replace(/^[^A-Za-z]+|-+$/g, '')
  return name === '' ? 'items' : name.charAt(0).toLowerCase() + name.slice(1)
}
/** The singular of a name as a field: `line-items` → `lineItem`. */
export const toSingularField = (name: string): string =>
  singularName(name).replace(/-+(.)?/g, (_, next: string = '') => next.toUpperCase())
