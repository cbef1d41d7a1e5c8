/**
 * Fields in JSON: parsed JSON → typed values, with every flaw and its place, and typed values →
 * JSON text. The checks are those of the XML readers; only the lexical forms differ. Readers and
 * writers are compiled once for the fields.
 */

import type { Json } from '../base/objects.ts'
import { ownMember } from '../base/objects.ts'
import { type AnyField, type Fields, mayBeLeftOut, type Scalar } from './field.ts'
import { createMembersReaders, type FieldProblem } from './given-fields.ts'
import { Flaw } from './lexical/flaw.ts'
import {
  compileBytesReader,
  compileDoubleReader,
  compileScalarCheck,
  compileScalarWriter,
  type ScalarCheck,
} from './lexical/scalar.ts'
import { entryFields, foldScalar, foldShape, isScalar, type ScalarCases, type ShapeCases } from './shape.ts'

/** All problems in one sentence, the same in every face. @param whole the name for an empty path */
export const describeProblems = (
  problems: readonly Pick<FieldProblem, 'path' | 'detail'>[],
  whole = 'the content',
): string => {
  const details = problems.map(({ path, detail }) => `${path.join('.') || whole} ${detail}`).join('; ')
  return problems.length < problemsMax ? details : `${details}; reading ended here, there may be more`
}

/**
 * Reading stops after this many problems: the content is refused anyway, and its sender has enough
 * to correct.
 */
export const problemsMax = 100

/**
 * How content treats read-only fields: refused, or kept aside to be compared with their current
 * values.
 */
export interface ReadOptions {
  /** Members that are allowed and left out of the value, such as `_links`. */
  readonly ignored?: ReadonlySet<string> | undefined
  /** Read-only fields found in content, by path, for comparison. */
  readonly server: { path: readonly (string | number)[]; value: unknown }[]
}
export const readOptions = (ignored?: ReadonlySet<string>): ReadOptions => ({ ignored, server: [] })

const jsonReaderOf = createMembersReaders({
  max: problemsMax,
  scalar: shape => foldScalar(shape, jsonScalarReaders),
  due: field => (field.isInternal ? undefined : !mayBeLeftOut(field)),
  unknown: new Flaw('unknown', 'is not a known member'),
})

/**
 * The members of an object, in the contract's order; problems go to `problems`, the first hundred.
 */
export const readFields = (
  fields: Fields,
  json: Json,
  problems: FieldProblem[],
  options = readOptions(),
): Record<string, unknown> => jsonReaderOf(fields)(json, { ...options, problems, path: [] })

/** For values in JSON, which has no number for some of them, and no octets. */
export const jsonScalarReaders: ScalarCases<ScalarCheck> = {
  string: compileScalarCheck,
  boolean: compileScalarCheck,
  int: compileScalarCheck,
  long: compileScalarCheck,
  decimal: compileScalarCheck,
  double: shape => {
    const [check, read] = [compileScalarCheck(shape), compileDoubleReader(shape)]
    // JSON has no number for these three: they are text.
    return json => (typeof json === 'string' && /^(-?INF|NaN)$/.test(json) ? read(json) : check(json))
  },
  date: compileScalarCheck,
  time: compileScalarCheck,
  dateTime: compileScalarCheck,
  duration: compileScalarCheck,
  bytes: shape => {
    const [check, read] = [compileScalarCheck(shape), compileBytesReader(shape)]
    return json => (typeof json === 'string' ? read(json) : check(undefined))
  },
  enum: compileScalarCheck,
  id: compileScalarCheck,
  ref: compileScalarCheck,
}

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

/** For values that have passed the contract's checks: the assertions below rely on that. */
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
    const write = compileScalarWriter(shape)
    // `isFinite` is true only of numbers. RFC 8259 §6 has minus zero.
    return value => (Number.isFinite(value) ? write(value) : `"${write(value)}"`)
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
export const writeJsonPointer = (path: FieldProblem['path']): string =>
  path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Only scalars can be attributes, filter and sort. */
export const isScalarField = (field: AnyField): boolean => isScalar(field.shape)
