/**
 * Fields in JSON: parsed JSON → typed values, with every flaw and its place, and typed values →
 * JSON text. The checks are those of the XML readers; only the lexical forms differ. Readers and
 * writers are compiled once for the fields.
 */

import { memoizeByObject } from '../base/memo.ts'
import type { Json } from '../base/objects.ts'
import { ownMember } from '../base/objects.ts'
import { type AnyField, type Fields, mayBeLeftOut, type Scalar } from './field.ts'
import { describeLeast, Flaw } from './lexical/flaw.ts'
import { writeFloat } from './lexical/number.ts'
import { compileScalarCheck, compileScalarReader, compileScalarWriter } from './lexical/scalar.ts'
import { entryFields, foldScalar, foldShape, isScalar, type ScalarCases, type ShapeCases } from './shape.ts'

/** A flaw and where it is: member names and indices from the content's root. */
export interface FieldProblem {
  readonly path: readonly (string | number)[]
  readonly code: string
  readonly detail: string
}

/** One sentence of all problems, the same in every face. @param whole names what has no path */
export const describeProblems = (
  problems: readonly Pick<FieldProblem, 'path' | 'detail'>[],
  whole = 'the content',
): string => {
  const told = problems.map(({ path, detail }) => `${path.join('.') || whole} ${detail}`).join('; ')
  return problems.length < problemsMax ? told : `${told}; reading ended here, there may be more`
}

/**
 * Reading ends after so many problems: the content is refused anyway, and its sender has enough to
 * mend.
 */
const problemsMax = 100

/**
 * How content treats read-only fields: refused, or kept aside to be compared with their current
 * values.
 */
export interface ReadOptions {
  /** Members that are allowed and left out of the value, such as `_links`. */
  readonly ignored: ReadonlySet<string>
  /** Read-only fields found in content, by path, for comparison. */
  readonly server: { path: readonly (string | number)[]; value: unknown }[]
}
export const readOptions = (ignored: Iterable<string> = []): ReadOptions => ({ ignored: new Set(ignored), server: [] })

type FieldPath = FieldProblem['path']
const problemAt = (path: FieldPath, { code, detail }: Flaw): FieldProblem => ({ path, code, detail })
const isObject = (json: Json): json is { readonly [name: string]: Json } =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

/**
 * The members of an object, in the contract's order; problems go to `problems`, the first hundred.
 */
export function readFields(
  fields: Fields,
  json: Json,
  problems: FieldProblem[],
  how: ReadOptions = readOptions(),
  path: FieldPath = [],
): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  if (!isObject(json)) {
    problems.push(problemAt(path, new Flaw('type', 'must be an object')))
    return value
  }
  for (const name of Object.keys(json)) {
    if (problems.length >= problemsMax) return value
    if (!(Object.hasOwn(fields, name) && !fields[name]?.isInternal) && !(path.length === 0 && how.ignored.has(name)))
      problems.push(problemAt([...path, name], new Flaw('unknown', 'is not a known member')))
  }
  for (const member of jsonMembersOf(fields)) readMember(member, json, value, problems, how, path)
  return value
}

type MemberReader = (json: Json, problems: FieldProblem[], how: ReadOptions, path: FieldPath) => unknown
interface JsonMember {
  readonly name: string
  readonly field: AnyField
  readonly read: MemberReader
  readonly isDue: boolean
}
const jsonMembersOf = memoizeByObject((fields: Fields): readonly JsonMember[] =>
  Object.entries(fields)
    .filter(([, field]) => !field.isInternal)
    .map(([name, field]) => ({ name, field, read: compileJsonReader(field), isDue: !mayBeLeftOut(field) })),
)

function readMember(
  { name, field, read, isDue }: JsonMember,
  json: { readonly [name: string]: Json },
  value: Record<string, unknown>,
  problems: FieldProblem[],
  how: ReadOptions,
  path: FieldPath,
): void {
  const here = [...path, name]
  const given = Object.hasOwn(json, name) ? json[name] : undefined
  if (given === undefined) {
    if (isDue) problems.push(problemAt(here, new Flaw('required', 'is required')))
    return
  }
  const member = read(given, problems, how, here)
  if (field.isReadOnly) how.server.push({ path: here, value: member })
  else value[name] = member
}

function compileJsonReader({ shape, isNullable }: AnyField): MemberReader {
  const read = foldShape(shape, jsonReaders)
  return (json, problems, how, path) => {
    if (json !== null) return read(json, problems, how, path)
    if (!isNullable) problems.push(problemAt(path, new Flaw('type', 'must not be null')))
    return null
  }
}

const jsonReaders: ShapeCases<MemberReader> = {
  scalar: shape => {
    const read = foldScalar(shape, jsonScalarReaders)
    return (json, problems, _how, path) => {
      const value = read(json)
      if (value instanceof Flaw) problems.push(problemAt(path, value))
      return value
    }
  },
  list: shape => {
    const read = compileJsonReader(shape.item)
    return (json, problems, how, path) => {
      if (!Array.isArray(json)) {
        problems.push(problemAt(path, new Flaw('type', 'must be an array')))
        return undefined
      }
      const flaw = checkCount(shape, json.length)
      if (flaw) problems.push(problemAt(path, flaw))
      const items: unknown[] = []
      for (const [i, item] of json.entries()) {
        if (problems.length >= problemsMax) return undefined
        items.push(read(item, problems, how, [...path, i]))
      }
      return items
    }
  },
  map: shape => {
    const readValue = compileJsonReader(entryFields(shape).value)
    const checkKey = compileScalarCheck(entryFields(shape).key.shape as Scalar) // review has seen it
    return (json, problems, how, path) => {
      if (!isObject(json)) {
        problems.push(problemAt(path, new Flaw('type', 'must be an object: a value for each key')))
        return undefined
      }
      const given = Object.entries(json)
      const flaw = checkCount(shape.entries, given.length, 'entries')
      if (flaw) problems.push(problemAt(path, flaw))
      const entries: [string, unknown][] = []
      for (const [key, value] of given) {
        if (problems.length >= problemsMax) return undefined
        const checked = checkKey(key)
        if (checked instanceof Flaw) problems.push(problemAt([...path, key], describeKeyFlaw(checked)))
        entries.push([key, readValue(value, problems, how, [...path, key])])
      }
      return Object.fromEntries(entries)
    }
  },
  object:
    ({ fields }) =>
    (json, problems, how, path) =>
      readFields(fields, json, problems, how, path),
  union:
    ({ on, of }) =>
    (json, problems, how, path) => {
      const which = isObject(json) && Object.hasOwn(json, on) ? json[on] : undefined
      if (!isObject(json) || typeof which !== 'string' || !Object.hasOwn(of, which)) {
        problems.push(problemAt([...path, on], new Flaw('enum', `must be one of ${Object.keys(of).join(', ')}`)))
        return undefined
      }
      const { [on]: _told, ...members } = json
      return { [on]: which, ...readFields(of[which] ?? {}, members, problems, how, path) }
    },
}

type JsonScalarCheck = (json: Json) => unknown | Flaw
const jsonScalarReaders: ScalarCases<JsonScalarCheck> = {
  string: compileScalarCheck,
  boolean: compileScalarCheck,
  int: compileScalarCheck,
  long: compileScalarCheck,
  decimal: compileScalarCheck,
  double: shape => {
    const [check, read] = [compileScalarCheck(shape), compileScalarReader(shape)]
    // JSON has no number for these three: they are text.
    return json => (typeof json === 'string' && /^(-?INF|NaN)$/.test(json) ? read(json) : check(json))
  },
  date: compileScalarCheck,
  time: compileScalarCheck,
  dateTime: compileScalarCheck,
  duration: compileScalarCheck,
  bytes: shape => {
    const [check, read] = [compileScalarCheck(shape), compileScalarReader(shape)]
    return json => (typeof json === 'string' ? read(json) : check(undefined))
  },
  enum: compileScalarCheck,
  id: compileScalarCheck,
  ref: compileScalarCheck,
}

/** How many items a list may have, or entries a map, by its `min` and `max`. */
export function checkCount(
  shape: { readonly min?: number; readonly max?: number },
  count: number,
  what: 'items' | 'entries' = 'items',
): Flaw | undefined {
  if (shape.min !== undefined && count < shape.min) return new Flaw('minItems', describeLeast(shape.min, what))
  if (shape.max !== undefined && count > shape.max)
    return new Flaw('maxItems', `must have at most ${shape.max} ${what}`)
  return undefined
}

/** What is wrong with a key, at the place of its value. */
export const describeKeyFlaw = ({ code, detail }: Flaw): Flaw => new Flaw(code, `has a key that ${detail}`)

/** A typed value of some fields → the text of its JSON members, without braces. */
export type MembersWriter = (value: Readonly<Record<string, unknown>>) => string

/**
 * Members in the contract's order, without absent and internal ones. `only` selects fields (rule
 * A4.24).
 */
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

type JsonWriter = (value: unknown) => string
export function valueWriter({ shape, isNullable }: AnyField): JsonWriter {
  const write = foldShape(shape, jsonWriters)
  return isNullable ? value => (value === null ? 'null' : write(value)) : write
}

/** For values that the contract's checks have passed: the assertions below rest on that. */
const jsonWriters: ShapeCases<JsonWriter> = {
  scalar: shape => foldScalar(shape, jsonScalarWriters),
  list: ({ item }) => {
    const write = valueWriter(item)
    return value => `[${(value as readonly unknown[]).map(write).join(',')}]`
  },
  map: shape => {
    const write = valueWriter(entryFields(shape).value)
    return value =>
      `{${Object.entries(value as object)
        .map(([key, each]) => `${quoteJson(key)}:${write(each)}`)
        .join(',')}}`
  },
  object: ({ fields }) => {
    const members = membersWriter(fields)
    return value => `{${members(value as Record<string, unknown>)}}`
  },
  union: ({ on, of }) => {
    const cases = Object.fromEntries(Object.entries(of).map(([name, fields]) => [name, membersWriter(fields)]))
    return value => {
      const which = (value as Record<string, string>)[on] as string
      const rest = cases[which]?.(value as Record<string, unknown>) ?? ''
      return `{${JSON.stringify(on)}:${JSON.stringify(which)}${rest && `,${rest}`}}`
    }
  },
}

const simpleText = /^[ !#-[\]-~]*$/
/** A JSON string; text without characters to escape is quoted as it is. */
export const quoteJson = (text: string): string => (simpleText.test(text) ? `"${text}"` : JSON.stringify(text))

const bareWriter = (): JsonWriter => String
const quotedWriter = (): JsonWriter => value => quoteJson(value as string)
/** For text that never has a character to escape. */
function unescapedWriter(shape: Scalar): JsonWriter {
  const write = compileScalarWriter(shape)
  return value => `"${write(value)}"`
}
const jsonScalarWriters: ScalarCases<JsonWriter> = {
  string: quotedWriter,
  boolean: bareWriter,
  int: bareWriter,
  long: bareWriter,
  decimal: unescapedWriter,
  double: shape => {
    const [finite, quoted] = [shape.xsd === 'float' ? writeFloat : String, unescapedWriter(shape)]
    // `isFinite` is true of numbers alone.
    return value => (Number.isFinite(value) ? finite(value as number) : quoted(value))
  },
  date: unescapedWriter,
  time: unescapedWriter,
  dateTime: unescapedWriter,
  duration: unescapedWriter,
  bytes: unescapedWriter,
  enum: quotedWriter,
  id: unescapedWriter,
  ref: unescapedWriter,
}

/** RFC 6901. */
export const writeJsonPointer = (path: FieldPath): string =>
  path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Only scalars can be attributes, filter and sort. */
export const isScalarField = (field: AnyField): boolean => isScalar(field.shape)
