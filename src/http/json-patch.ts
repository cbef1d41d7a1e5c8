/**
 * Patches JSON documents, by RFC 6902 and RFC 7396. What always holds, by number:
 *  (1) All operations apply, or none (§5): the given document is never changed, since containers
 *      are copied before they are written.
 *  (2) A document that is not a JSON Patch is `malformed`, whatever the target; one that does not
 *      fit the target is a `conflict`.
 *  (3) The cost is bounded: the number of operations, and the sum of what `copy` repeats
 *      (otherwise, doubling a value with each operation would write 2^n of it).
 *  (4) Only own members are reached: `/__proto__/x` leads nowhere.
 */
import { defineMember, type Json } from './json.ts'
import { arrayIndex, childOf, isRecord, parsePointer, valueAt, writePointer } from './json-pointer.ts'

/** Bounds for one JSON Patch; a patch beyond them is malformed. */
export interface PatchLimits {
  readonly operations: number
  /**
   * For everything that `copy` repeats: one for each value and each character of a text or name.
   */
  readonly copied: number
  /**
   * Nesting of arrays and objects in the result: `copy` and `move` can put a value deep inside
   * another.
   */
  readonly depth: number
}

/**
 * The limits of patches that are sent to a service: 1,000 operations, 250,000 copied values and
 * characters, 64 levels.
 */
export const jsonPatchLimits: PatchLimits = { operations: 1000, copied: 250_000, depth: 64 }

/** Why a JSON Patch (RFC 6902) was not applied; the document is as it was. */
export interface PatchFailure {
  /**
   * malformed: not a JSON Patch, or beyond the limits. conflict: a failing `test`, or a place that
   * does not exist.
   */
  readonly kind: 'malformed' | 'conflict'
  readonly reason: string
  /** Index of the operation; undefined if the document is not an array. */
  readonly operation?: number
}

/** The document after a JSON Patch, or why it was not applied. */
export type PatchResult =
  | { readonly value: Json; readonly failure?: never }
  | { readonly failure: PatchFailure; readonly value?: never }

type PatchPointer = readonly string[]
type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: PatchPointer; readonly value: Json }
  | { readonly op: 'remove'; readonly path: PatchPointer }
  | { readonly op: 'move' | 'copy'; readonly path: PatchPointer; readonly from: PatchPointer }

/**
 * The document after all operations of a JSON Patch (RFC 6902), or a failure: then no operation is
 * applied (§5). The given document is not changed.
 */
export function applyJsonPatch(document: Json, patch: Json, limits: PatchLimits = jsonPatchLimits): PatchResult {
  if (!Array.isArray(patch)) return malformedPatch('a JSON Patch must be an array (RFC 6902 §3)')
  if (patch.length > limits.operations) return malformedPatch(`more than ${limits.operations} operations`)
  const operations: PatchOperation[] = []
  for (const [index, given] of patch.entries()) {
    const operation = readPatchOperation(given)
    if (typeof operation === 'string') return malformedPatch(operation, index)
    operations.push(operation)
  }
  return applyPatchOperations(document, operations, limits)
}

function malformedPatch(reason: string, operation?: number): PatchResult {
  return { failure: { kind: 'malformed', reason, ...(operation !== undefined && { operation }) } }
}

/**
 * §4: one operation, or the reason why the value is not one. Members that the RFC does not define
 * are ignored.
 */
function readPatchOperation(operation: Json): PatchOperation | string {
  if (!isRecord(operation)) return 'an operation must be an object'
  const op = findOwn(operation, 'op')
  const path = readPointer(findOwn(operation, 'path'))
  if (path === undefined) return '"path" is not a JSON Pointer'
  switch (op) {
    case 'add':
    case 'replace':
    case 'test': {
      const value = findOwn(operation, 'value')
      return value === undefined ? `"${op}" has no "value"` : { op, path, value }
    }
    case 'remove':
      return { op, path }
    case 'move':
    case 'copy': {
      const from = readPointer(findOwn(operation, 'from'))
      if (from === undefined) return '"from" is not a JSON Pointer'
      if (op === 'move' && from.length < path.length && from.every((token, at) => token === path[at]))
        return 'a value cannot move into itself (RFC 6902 §4.4)'
      return { op, path, from }
    }
    default:
      return '"op" must be one of add, remove, replace, move, copy, test'
  }
}

const findOwn = (record: { readonly [name: string]: Json }, name: string): Json | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

const readPointer = (text: Json | undefined) => (typeof text === 'string' ? parsePointer(text) : undefined)

function applyPatchOperations(document: Json, operations: readonly PatchOperation[], limits: PatchLimits): PatchResult {
  const draft = new CopyOnWrite(document)
  let copied = 0
  for (const [index, operation] of operations.entries()) {
    if (operation.op === 'copy') {
      copied += weigh(valueAt(draft.document, operation.from), limits.depth)
      if (copied > limits.copied) return malformedPatch(`the patch copies more than ${limits.copied}`, index)
    }
    const reason = applyOperation(draft, operation)
    if (reason !== undefined) return { failure: { kind: 'conflict', reason, operation: index } }
  }
  if (weigh(draft.document, limits.depth) === Infinity)
    return malformedPatch(`the result is nested deeper than ${limits.depth}`)
  return { value: draft.document }
}

/**
 * Roughly what writing a value costs; Infinity when it is nested deeper than allowed, where the
 * recursion ends.
 */
function weigh(value: Json | undefined, depth: number): number {
  if (typeof value === 'string') return 1 + value.length
  if (typeof value !== 'object' || value === null) return 1
  if (depth === 0) return Infinity
  let sum = 1
  if (Array.isArray(value)) for (const item of value) sum += weigh(item, depth - 1)
  else for (const [name, item] of Object.entries(value)) sum += name.length + weigh(item, depth - 1)
  return sum
}

/** Why an operation cannot be performed; undefined if it was performed. */
function applyOperation(draft: CopyOnWrite, operation: PatchOperation): string | undefined {
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
      if (value === undefined) return explainMissing(path)
      return isEqualJson(value, operation.value) ? undefined : `the value at "${writePointer(path)}" differs`
    }
    case 'move':
    case 'copy': {
      const value = valueAt(draft.document, operation.from)
      if (value === undefined) return explainMissing(operation.from)
      if (operation.op === 'copy') return draft.add(path, cloneJson(value))
      return draft.remove(operation.from) ?? draft.add(path, value)
    }
  }
}

const explainMissing = (path: PatchPointer) => `"${writePointer(path)}" does not exist`

/**
 * A value that shares nothing with the original, so that writing to one does not change the other.
 */
function cloneJson(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cloneJson)
  const copy: { [name: string]: Json } = {}
  for (const [name, member] of Object.entries(value)) defineMember(copy, name, cloneJson(member))
  return copy
}

/** §4.6: numbers by value, objects regardless of the order of their members. */
function isEqualJson(a: Json, b: Json): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return isEqualNumber(a, b)
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => isEqualJson(item, b[at]))
    )
  const [left, right] = [a, b] as readonly { readonly [name: string]: Json }[] // neither primitives nor arrays
  const names = Object.keys(left!)
  return (
    names.length === Object.keys(right!).length &&
    names.every(name => Object.hasOwn(right!, name) && isEqualJson(left![name]!, right![name]!))
  )
}

/** By value, even where one is a bigint and the other is not: 100000000000000000000 and 1e20. */
const isEqualNumber = (a: Json, b: Json) => isNumber(a) && isNumber(b) && a <= b && a >= b

const isNumber = (value: Json) => typeof value === 'number' || typeof value === 'bigint'

/**
 * A document that shares as much as possible with the given one, and copies a container when it
 * first writes to it.
 */
class CopyOnWrite {
  document: Json
  readonly #copies = new Set<Json>()

  constructor(document: Json) {
    this.document = document
  }

  add(path: PatchPointer, value: Json): string | undefined {
    if (path.length === 0) return this.#replaceRoot(value)
    const parent = this.#openParent(path)
    const token = path.at(-1)!
    if (Array.isArray(parent)) {
      const index = token === '-' ? parent.length : arrayIndex(token)
      if (index === undefined || index > parent.length) return `the array has no index "${token}"`
      parent.splice(index, 0, value)
      return undefined
    }
    if (parent === undefined) return explainMissing(path.slice(0, -1))
    defineMember(parent, token, value)
    return undefined
  }

  replace(path: PatchPointer, value: Json): string | undefined {
    if (path.length === 0) return this.#replaceRoot(value)
    const parent = this.#findHolder(path)
    if (parent === undefined) return explainMissing(path)
    if (Array.isArray(parent)) parent[Number(path.at(-1))] = value
    else defineMember(parent, path.at(-1)!, value)
    return undefined
  }

  remove(path: PatchPointer): string | undefined {
    if (path.length === 0) return 'the whole document cannot be removed'
    const parent = this.#findHolder(path)
    if (parent === undefined) return explainMissing(path)
    if (Array.isArray(parent)) parent.splice(Number(path.at(-1)), 1)
    else delete parent[path.at(-1)!]
    return undefined
  }

  #replaceRoot(value: Json): undefined {
    this.document = value
  }

  /** The container of an existing value, ready to be written. */
  #findHolder(path: PatchPointer): Json[] | { [name: string]: Json } | undefined {
    return valueAt(this.document, path) === undefined ? undefined : this.#openParent(path)
  }

  /**
   * The container of a path's last token, a copy like everything above it; undefined when there is
   * none.
   */
  #openParent(path: PatchPointer): Json[] | { [name: string]: Json } | undefined {
    if (!isContainer(valueAt(this.document, path.slice(0, -1)))) return undefined
    let container = this.#copyOnce(this.document)
    this.document = container
    for (const token of path.slice(0, -1)) {
      const inner = this.#copyOnce(childOf(container, token)!)
      if (Array.isArray(container)) container[Number(token)] = inner
      else defineMember(container, token, inner)
      container = inner
    }
    return container
  }

  #copyOnce(container: Json): Json[] | { [name: string]: Json } {
    if (this.#copies.has(container)) return container as Json[] // ours, and so not read-only
    const copy = Array.isArray(container) ? [...container] : { ...(container as { readonly [name: string]: Json }) }
    this.#copies.add(copy)
    return copy
  }
}

const isContainer = (value: Json | undefined) => typeof value === 'object' && value !== null

/**
 * RFC 7396 §2 MergePatch(Target, Patch). Neither argument is changed; the result shares unchanged
 * parts. Both arguments came through parseJson, whose limit of depth bounds the recursion.
 */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (!isRecord(patch)) return patch
  const result: { [name: string]: Json } = isRecord(target) ? { ...target } : {}
  for (const name of Object.keys(patch)) {
    const value = patch[name]!
    if (value === null) delete result[name]
    else defineMember(result, name, applyMergePatch(Object.hasOwn(result, name) ? result[name]! : null, value))
  }
  return result
}
