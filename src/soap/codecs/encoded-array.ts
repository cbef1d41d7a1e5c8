/**
 * Arrays of SOAP's encoding in any number of dimensions (SOAP 1.1 §5.4.2, SOAP 1.2 Part 2 §3.1.6).
 * The items of a message are in row-major order, the last index runs fastest. SOAP 1.1 may leave
 * items out: those before and after the part that begins at `offset`, and those that no `position`
 * names. They are null here.
 */
import type { Element } from '../../xml/index.ts'
import { arrayOffset, type Graph, hasText, itemPosition, listArrayItems, refuseElement } from './encoded-read.ts'

/** Rows of rows of cells, as deep as the array has dimensions. */
export type ArrayRows<T> = readonly (T | ArrayRows<T>)[]

/** The elements of an array, each in its place; undefined: left out of the message. */
export function readCells(graph: Graph, at: Element, dimensions: number): ArrayRows<Element | undefined> {
  const isPart = at.attribute(arrayOffset) !== undefined || at.elements().some(each => each.attribute(itemPosition))
  if (dimensions === 1 && !isPart) return listArrayItems(graph, at)
  if (hasText(at)) refuseElement(at, 'has text where items are expected')
  const items = at.elements()
  const placed = isPart ? placeItems(graph, at, items, dimensions) : undefined
  const sizes = placed?.sizes ?? announcedSizes(graph, at, items.length, dimensions)
  countCells(graph, at, sizes, items.length)
  const total = sizes.reduce((product, size) => product * size, 1)
  if (!placed && total !== items.length)
    refuseElement(at, `announces ${sizes.join(' by ')} items and has ${items.length}`)
  const flat = Array.from({ length: total }, (_, index) => (placed ? placed.byIndex.get(index) : items[index]))
  return foldRows(flat, sizes)
}

/** Omitted items and rows count too, so no announced size creates too many cells. */
function countCells(graph: Graph, at: Element, sizes: readonly number[], itemCount: number): void {
  let rows = 1
  for (const size of sizes) {
    rows *= Math.max(1, size)
    graph.elements -= Math.max(0, rows - itemCount)
    if (graph.elements < 0) refuseElement(at, 'has sizes that lead to more elements than a message may have')
  }
}

function foldRows<T>(flat: readonly T[], [size = 0, ...inner]: readonly number[]): ArrayRows<T> {
  if (inner.length === 0) return flat
  const width = size === 0 ? 0 : flat.length / size
  return Array.from({ length: size }, (_, row) => foldRows(flat.slice(row * width, (row + 1) * width), inner))
}

/** `2,3` of SOAP 1.1; `2 3` or `* 3` of SOAP 1.2, where the asterisk follows from the items. */
function announcedSizes({ encoding }: Graph, at: Element, count: number, dimensions: number): readonly number[] {
  const announced = encoding.sizes(at)?.split(/[\s,]+/) ?? []
  if (count === 0 && announced.every(each => each === '' || each === '*')) return Array<number>(dimensions).fill(0)
  if (announced.length !== dimensions)
    refuseElement(at, `must state the sizes of its ${dimensions} dimensions, as in [2,3]`)
  const [first = '', ...inner] = announced
  const others = inner.map(each => parseSize(at, each))
  const width = others.reduce((product, size) => product * size, 1)
  return [first === '*' ? Math.ceil(count / Math.max(1, width)) : parseSize(at, first), ...others]
}
const parseSize = (at: Element, written: string): number =>
  /^\d{1,10}$/.test(written) ? Number(written) : refuseElement(at, `must not have the size ${written}`)

interface PlacedItems {
  readonly sizes: readonly number[]
  readonly byIndex: ReadonlyMap<number, Element>
}
/** An item without a position follows the one before it; the first is at the offset. */
function placeItems(graph: Graph, at: Element, items: readonly Element[], dimensions: number): PlacedItems {
  const sizes = partSizes(graph, at, items, dimensions)
  const indexOf = (place: readonly number[]): number =>
    place.reduce((index, each, dimension) => index * (sizes[dimension] ?? 0) + each, 0)
  const total = sizes.reduce((product, size) => product * size, 1)
  const begin = at.attribute(arrayOffset)
  let next = begin === undefined ? 0 : indexOf(parsePlace(at, begin, sizes))
  const byIndex = new Map<number, Element>()
  for (const each of items) {
    const place = each.attribute(itemPosition)
    const index = place === undefined ? next : indexOf(parsePlace(each, place, sizes))
    if (index >= total) refuseElement(each, `is after the end of an array of ${sizes.join(' by ')}`)
    if (byIndex.has(index)) refuseElement(each, 'has the place of another item')
    byIndex.set(index, each)
    next = index + 1
  }
  return { sizes, byIndex }
}

/** The sizes of a partial array: in one dimension, the positions may imply the size. */
function partSizes(graph: Graph, at: Element, items: readonly Element[], dimensions: number): readonly number[] {
  const written = graph.encoding.sizes(at) ?? ''
  if (dimensions > 1 || written !== '') return announcedSizes(graph, at, items.length, dimensions)
  const open = [Number.POSITIVE_INFINITY]
  const begin = at.attribute(arrayOffset)
  let next = begin === undefined ? 0 : (parsePlace(at, begin, open)[0] ?? 0)
  let size = 0
  for (const each of items) {
    const place = each.attribute(itemPosition)
    if (place !== undefined) next = parsePlace(each, place, open)[0] ?? 0
    size = Math.max(size, ++next)
  }
  return [size]
}

/** `[2]` or `[1,0]`: an index for each dimension, below its size. */
function parsePlace(at: Element, written: string, sizes: readonly number[]): readonly number[] {
  const [, inside] = /^\s*\[\s*(\d{1,10}(?:\s*,\s*\d{1,10})*)\s*\]\s*$/.exec(written) ?? []
  const place = inside?.split(',').map(Number) ?? []
  const isWithin = place.length === sizes.length && place.every((each, dimension) => each < (sizes[dimension] ?? 0))
  return isWithin ? place : refuseElement(at, `must not have the place ${written}`)
}

/** The cells of a value in row-major order, with the size of each dimension. */
export function listCells(
  value: unknown,
  dimensions: number,
  fail: (detail: string) => never,
): { readonly sizes: readonly number[]; readonly cells: readonly unknown[] } {
  let cells: readonly unknown[] = Array.isArray(value) ? value : fail('must be a list')
  const sizes = [cells.length]
  while (sizes.length < dimensions) {
    const [first] = cells
    const size: number = Array.isArray(first) ? first.length : 0
    const rows = cells.map(row =>
      Array.isArray(row) && row.length === size ? row : fail('must be a list of rows that have one length'),
    )
    sizes.push(size)
    cells = rows.flat()
  }
  return { sizes, cells }
}
