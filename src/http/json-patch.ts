/**
 * RFC 6902. Guards the document: what always holds, by number.
 * (1) All operations apply, or none (§5): the document given is never changed, containers are copied before they are written.
 * (2) A document that is no JSON Patch is `malformed`, whatever it would have met; one that doesn't fit the target is a `conflict`.
 * (3) The cost is bounded: the number of operations, and the sum of what `copy` repeats (doubling a value with each
 *     operation would else write 2^n of it).
 * (4) Only own members are reached: `/__proto__/x` leads nowhere.
 */
import { defineMember, type Json } from './json.ts'
import { arrayIndex, childOf, isRecord, parsePointer, valueAt, writePointer } from './json-pointer.ts'

export interface PatchLimits {
  readonly operations: number
  /** Of all that `copy` repeats: one for each value and each character of a text or name. */
  readonly copied: number
  /** Arrays and objects within each other in the result: `copy` and `move` can put a value deep inside another. */
  readonly depth: number
}

export const jsonPatchLimits: PatchLimits = { operations: 1000, copied: 250_000, depth: 64 }

export interface PatchFailure {
  /** malformed: no JSON Patch, or beyond the limits. conflict: a failing `test`, or a place that does not exist. */
  readonly kind: 'malformed' | 'conflict'
  readonly reason: string
  /** Index of the operation; undefined when the document is no array. */
  readonly operation?: number
}

export type PatchResult =
  | { readonly value: Json; readonly failure?: never }
  | { readonly failure: PatchFailure; readonly value?: never }

type Pointer = readonly string[]
type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: Pointer; readonly value: Json }
  | { readonly op: 'remove'; readonly path: Pointer }
  | { readonly op: 'move' | 'copy'; readonly path: Pointer; readonly from: Pointer }

export function applyJsonPatch(document: Json, patch: Json, limits: PatchLimits = jsonPatchLimits): PatchResult {
  if (!Array.isArray(patch)) return malformed('a JSON Patch is an array (RFC 6902 §3)')
  if (patch.length > limits.operations) return malformed(`more than ${limits.operations} operations`)
  const operations: PatchOperation[] = []
  for (const [index, given] of patch.entries()) {
    const operation = read(given)
    if (typeof operation === 'string') return malformed(operation, index)
    operations.push(operation)
  }
  return apply(document, operations, limits)
}

function malformed(reason: string, operation?: number): PatchResult {
  return { failure: { kind: 'malformed', reason, ...(operation !== undefined && { operation }) } }
}

/** §4: one operation, or the reason why it is none. Members that it does not define are ignored. */
function read(given: Json): PatchOperation | string {
  if (!isRecord(given)) return 'an operation is an object'
  const op = own(given, 'op')
  const path = pointer(own(given, 'path'))
  if (path === undefined) return '"path" is not a JSON Pointer'
  switch (op) {
    case 'add':
    case 'replace':
    case 'test': {
      const value = own(given, 'value')
      return value === undefined ? `"${op}" has no "value"` : { op, path, value }
    }
    case 'remove':
      return { op, path }
    case 'move':
    case 'copy': {
      const from = pointer(own(given, 'from'))
      if (from === undefined) return '"from" is not a JSON Pointer'
      if (op === 'move' && from.length < path.length && from.every((token, at) => token === path[at]))
        return 'a value cannot move into itself (RFC 6902 §4.4)'
      return { op, path, from }
    }
    default:
      return '"op" is none of add, remove, replace, move, copy, test'
  }
}

const own = (record: { readonly [name: string]: Json }, name: string): Json | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

const pointer = (text: Json | undefined) => (typeof text === 'string' ? parsePointer(text) : undefined)

function apply(document: Json, operations: readonly PatchOperation[], limits: PatchLimits): PatchResult {
  const draft = new CopyOnWrite(document)
  let copied = 0
  for (const [index, operation] of operations.entries()) {
    if (operation.op === 'copy') {
      copied += weight(valueAt(draft.document, operation.from), limits.depth)
      if (copied > limits.copied) return malformed(`it copies more than ${limits.copied}`, index)
    }
    const reason = perform(draft, operation)
    if (reason !== undefined) return { failure: { kind: 'conflict', reason, operation: index } }
  }
  if (weight(draft.document, limits.depth) === Infinity)
    return malformed(`its result is nested deeper than ${limits.depth}`)
  return { value: draft.document }
}

/** What writing a value would about cost; Infinity when it is nested deeper than allowed, which no recursion follows. */
function weight(value: Json | undefined, depth: number): number {
  if (typeof value === 'string') return 1 + value.length
  if (typeof value !== 'object' || value === null) return 1
  if (depth === 0) return Infinity
  let sum = 1
  if (Array.isArray(value)) for (const item of value) sum += weight(item, depth - 1)
  else for (const [name, item] of Object.entries(value)) sum += name.length + weight(item, depth - 1)
  return sum
}

/** The reason why an operation cannot be performed; undefined when it was. */
function perform(draft: CopyOnWrite, operation: PatchOperation): string | undefined {
  const { path } = operation
  switch (operation.op) {
    case 'add':
      return draft.add(path, operation.value)
    case 'remove':
      return draft.remove(path)
    case 'replace':
      return draft.replace(path, operation.value)
    case 'test': {
      const value = valueAt(draft.document, path)
      if (value === undefined) return missing(path)
      return equal(value, operation.value) ? undefined : `the value at "${writePointer(path)}" is another`
    }
    case 'move':
    case 'copy': {
      const value = valueAt(draft.document, operation.from)
      if (value === undefined) return missing(operation.from)
      if (operation.op === 'copy') return draft.add(path, clone(value))
      return draft.remove(operation.from) ?? draft.add(path, value)
    }
  }
}

const missing = (path: Pointer) => `nothing is at "${writePointer(path)}"`

/** A value that shares nothing with the first, so that writing to one leaves the other. */
function clone(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(clone)
  const copy: { [name: string]: Json } = {}
  for (const [name, member] of Object.entries(value)) defineMember(copy, name, clone(member))
  return copy
}

/** §4.6: numbers by value, objects whatever the order of their members. */
function equal(a: Json, b: Json): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return sameNumber(a, b)
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => equal(item, b[at]))
  const [left, right] = [a, b] as readonly { readonly [name: string]: Json }[] // neither primitives nor arrays
  const names = Object.keys(left!)
  return (
    names.length === Object.keys(right!).length &&
    names.every(name => Object.hasOwn(right!, name) && equal(left![name]!, right![name]!))
  )
}

/** By value, also where one is a bigint and the other is not: 100000000000000000000 and 1e20. */
const sameNumber = (a: Json, b: Json) => isNumber(a) && isNumber(b) && a <= b && a >= b

const isNumber = (value: Json) => typeof value === 'number' || typeof value === 'bigint'

/** A document that shares all it can with the one given, and copies a container the first time it writes to it. */
class CopyOnWrite {
  document: Json
  private readonly mine = new Set<Json>()

  constructor(document: Json) {
    this.document = document
  }

  add(path: Pointer, value: Json): string | undefined {
    if (path.length === 0) return this.root(value)
    const parent = this.parent(path)
    const token = path.at(-1)!
    if (Array.isArray(parent)) {
      const index = token === '-' ? parent.length : arrayIndex(token)
      if (index === undefined || index > parent.length) return `an array has no place "${token}"`
      parent.splice(index, 0, value)
      return undefined
    }
    if (parent === undefined) return missing(path.slice(0, -1))
    defineMember(parent, token, value)
    return undefined
  }

  replace(path: Pointer, value: Json): string | undefined {
    if (path.length === 0) return this.root(value)
    const parent = this.holder(path)
    if (parent === undefined) return missing(path)
    if (Array.isArray(parent)) parent[Number(path.at(-1))] = value
    else defineMember(parent, path.at(-1)!, value)
    return undefined
  }

  remove(path: Pointer): string | undefined {
    if (path.length === 0) return 'the whole document cannot be removed'
    const parent = this.holder(path)
    if (parent === undefined) return missing(path)
    if (Array.isArray(parent)) parent.splice(Number(path.at(-1)), 1)
    else delete parent[path.at(-1)!]
    return undefined
  }

  private root(value: Json): undefined {
    this.document = value
  }

  /** The container that holds a value which exists, ready to be written. */
  private holder(path: Pointer): Json[] | { [name: string]: Json } | undefined {
    return valueAt(this.document, path) === undefined ? undefined : this.parent(path)
  }

  /** The container a path's last token is of, with all above it our own copies; undefined when there is none. */
  private parent(path: Pointer): Json[] | { [name: string]: Json } | undefined {
    if (!isContainer(valueAt(this.document, path.slice(0, -1)))) return undefined
    let container = this.own(this.document)
    this.document = container
    for (const token of path.slice(0, -1)) {
      const inner = this.own(childOf(container, token)!)
      if (Array.isArray(container)) container[Number(token)] = inner
      else defineMember(container, token, inner)
      container = inner
    }
    return container
  }

  private own(container: Json): Json[] | { [name: string]: Json } {
    if (this.mine.has(container)) return container as Json[] // ours, and so not read-only
    const copy = Array.isArray(container) ? [...container] : { ...(container as { readonly [name: string]: Json }) }
    this.mine.add(copy)
    return copy
  }
}

const isContainer = (value: Json | undefined) => typeof value === 'object' && value !== null
