/**
 * JSON rules of fields: parsed JSON → typed values with every flaw and its JSON Pointer, and typed values → JSON text.
 * What is checked is what the XML decoder checks; only the lexical form differs.
 */

import type { Json } from '../base/objects.ts'
import { ownMember } from '../base/objects.ts'
import type { AnyField, Fields } from './field.ts'
import { Flaw } from './lexical/flaw.ts'
import { writeFloat } from './lexical/number.ts'
import { checkScalar, isScalar, readScalar, writeScalar } from './lexical/scalar.ts'

/** A flaw and where it is: member names and indices from the content's root. */
export interface FieldProblem {
  readonly path: readonly (string | number)[]
  readonly code: string
  readonly detail: string
}

/** With so many, reading ends: what is refused need not be read further, and who sent it has enough to mend. */
const mostProblems = 100

/** How content treats the server's own fields: refused, or kept aside to be compared with what stands. */
export interface ReadOptions {
  /** Members that are allowed and left out of the value, such as `_links`. */
  readonly ignored: ReadonlySet<string>
  /** Server fields found in content, by pointer path, for comparison. */
  readonly server: { path: readonly (string | number)[]; value: unknown }[]
}
export const readOptions = (ignored: Iterable<string> = []): ReadOptions => ({ ignored: new Set(ignored), server: [] })

type FieldPath = readonly (string | number)[]
const at = (path: FieldPath, flaw: Flaw): FieldProblem => ({ path, code: flaw.code, detail: flaw.detail })
const isObject = (json: Json): json is { readonly [name: string]: Json } =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

/** The members of an object, in the contract's order; problems go to `problems`, the first hundred. */
export function readFields(
  fields: Fields,
  json: Json,
  problems: FieldProblem[],
  how: ReadOptions = readOptions(),
  path: FieldPath = [],
): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  if (!isObject(json)) {
    problems.push(at(path, new Flaw('type', 'must be an object')))
    return value
  }
  for (const name of Object.keys(json)) {
    if (problems.length >= mostProblems) return value
    if (!(Object.hasOwn(fields, name) && !fields[name]?.isInternal) && !(path.length === 0 && how.ignored.has(name)))
      problems.push(at([...path, name], new Flaw('unknown', 'is not a member of this')))
  }
  for (const [name, field] of Object.entries(fields)) readMember(name, field, json, value, problems, how, path)
  return value
}

function readMember(
  name: string,
  field: AnyField,
  json: { readonly [name: string]: Json },
  value: Record<string, unknown>,
  problems: FieldProblem[],
  how: ReadOptions,
  path: FieldPath,
): void {
  if (field.isInternal) return
  const here = [...path, name]
  if (!Object.hasOwn(json, name)) {
    if (!field.isOptional && !field.isReadOnly) problems.push(at(here, new Flaw('required', 'is required')))
    return
  }
  const member = readValue(field, json[name] as Json, problems, how, here) // hasOwn: it is there
  if (field.isReadOnly) how.server.push({ path: here, value: member })
  else value[name] = member
}

function readValue(field: AnyField, json: Json, problems: FieldProblem[], how: ReadOptions, path: FieldPath): unknown {
  if (json === null) {
    if (!field.isNullable) problems.push(at(path, new Flaw('type', 'must not be null')))
    return null
  }
  const shape = field.shape
  if (shape.kind === 'list') return readList(field, json, problems, how, path)
  if (shape.kind === 'object') return readFields(shape.fields, json, problems, how, path)
  if (shape.kind === 'union') return readUnion(shape, json, problems, how, path)
  const value = readJsonScalar(shape, json)
  if (value instanceof Flaw) problems.push(at(path, value))
  return value
}

function readJsonScalar(shape: Parameters<typeof checkScalar>[0], json: Json): unknown | Flaw {
  if (shape.kind === 'bytes') return typeof json === 'string' ? readScalar(shape, json) : checkScalar(shape, undefined)
  if (shape.kind === 'double' && typeof json === 'string')
    return checkScalar(shape, /^(-?INF|NaN)$/.test(json) ? readScalar(shape, json) : json) // they have no JSON number
  return checkScalar(shape, json)
}

function readList(field: AnyField, json: Json, problems: FieldProblem[], how: ReadOptions, path: FieldPath): unknown {
  const shape = field.shape
  if (shape.kind !== 'list') return undefined
  if (!Array.isArray(json)) {
    problems.push(at(path, new Flaw('type', 'must be an array')))
    return undefined
  }
  const flaw = checkCount(shape, json.length)
  if (flaw) problems.push(at(path, flaw))
  const items: unknown[] = []
  for (const [i, item] of json.entries()) {
    if (problems.length >= mostProblems) return undefined
    items.push(readValue(shape.item, item, problems, how, [...path, i]))
  }
  return items
}

/** How many items a list may have, by its `min` and `max`. */
export function checkCount(shape: { readonly min?: number; readonly max?: number }, count: number): Flaw | undefined {
  if (shape.min !== undefined && count < shape.min) return new Flaw('minItems', `must have at least ${shape.min} items`)
  if (shape.max !== undefined && count > shape.max) return new Flaw('maxItems', `must have at most ${shape.max} items`)
  return undefined
}

function readUnion(
  shape: Extract<AnyField['shape'], { kind: 'union' }>,
  json: Json,
  problems: FieldProblem[],
  how: ReadOptions,
  path: FieldPath,
): unknown {
  const which = isObject(json) && Object.hasOwn(json, shape.on) ? json[shape.on] : undefined
  if (!isObject(json) || typeof which !== 'string' || !Object.hasOwn(shape.of, which)) {
    problems.push(at([...path, shape.on], new Flaw('enum', `must be one of ${Object.keys(shape.of).join(', ')}`)))
    return undefined
  }
  const { [shape.on]: _told, ...members } = json
  return { [shape.on]: which, ...readFields(shape.of[which] ?? {}, members, problems, how, path) }
}

/** A compiled writer: a typed value of these fields → the text of its JSON members, without braces. */
export type MembersWriter = (value: Readonly<Record<string, unknown>>) => string

/** Members in the contract's order; absent and internal ones are left out. `only` selects fields (rule A4.24). */
export function membersWriter(fields: Fields, only?: ReadonlySet<string>): MembersWriter {
  const parts = Object.entries(fields)
    .filter(([name, field]) => !field.isInternal && (!only || only.has(name)))
    .map(([name, field]) => ({
      name,
      inherited: name in Object.prototype,
      lead: `${JSON.stringify(name)}:`,
      write: valueWriter(field),
    }))
  return value => {
    let text = ''
    for (const part of parts) {
      const member = part.inherited ? ownMember(value, part.name) : value[part.name]
      if (member === undefined) continue
      text += text === '' ? part.lead : `,${part.lead}`
      text += part.write(member)
    }
    return text
  }
}

export function valueWriter(field: AnyField): (value: unknown) => string {
  const write = shapeWriter(field)
  return field.isNullable ? value => (value === null ? 'null' : write(value)) : write
}

/** Each takes a value that the contract's checks have passed: the assertions below rest on that. */
function shapeWriter({ shape }: AnyField): (value: unknown) => string {
  if (shape.kind === 'list') {
    const item = valueWriter(shape.item)
    return value => `[${(value as readonly unknown[]).map(item).join(',')}]`
  }
  if (shape.kind === 'object') {
    const members = membersWriter(shape.fields)
    return value => `{${members(value as Record<string, unknown>)}}`
  }
  if (shape.kind === 'union') {
    const of = Object.fromEntries(Object.entries(shape.of).map(([name, fields]) => [name, membersWriter(fields)]))
    return value => {
      const which = (value as Record<string, string>)[shape.on] as string
      const rest = of[which]?.(value as Record<string, unknown>) ?? ''
      return `{${JSON.stringify(shape.on)}:${JSON.stringify(which)}${rest && `,${rest}`}}`
    }
  }
  return scalarWriter(shape)
}

const plainText = /^[ !#-[\]-~]*$/
/** A JSON string; text without anything to escape is quoted as it is. */
export const quoteJson = (text: string): string => (plainText.test(text) ? `"${text}"` : JSON.stringify(text))

function scalarWriter(shape: Parameters<typeof checkScalar>[0]): (value: unknown) => string {
  if (shape.kind === 'boolean' || shape.kind === 'int' || shape.kind === 'long') return String
  if (shape.kind === 'double') {
    const plain = shape.xsd === 'float' ? writeFloat : String
    return value => (Number.isFinite(value) ? plain(value as number) : `"${writeScalar(shape, value)}"`) // `isFinite` of numbers alone
  }
  if (shape.kind === 'string' || shape.kind === 'enum') return value => quoteJson(value as string)
  return value => `"${writeScalar(shape, value)}"` // dates, decimals, identifiers and base64 need no escape
}

/** RFC 6901. */
export const writeJsonPointer = (path: FieldPath): string =>
  path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Whether all of it is a scalar, for filters and sorting. */
export const isScalarField = (field: AnyField): boolean => isScalar(field.shape)
