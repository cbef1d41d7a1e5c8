/**
 * The plain twins of `contract/given-fields.ts`: the values of JSON read by one walk, and typed
 * values checked by another, each with the whole path in hand.
 */

import type { Json } from '../../src/base/objects.ts'
import { ownMember } from '../../src/base/objects.ts'
import { type AnyField, type Fields, mayBeLeftOut, type Scalar } from '../../src/contract/field.ts'
import { jsonScalarReaders, type ReadOptions, readOptions } from '../../src/contract/field-json.ts'
import { checkCount, type FieldProblem } from '../../src/contract/given-fields.ts'
import type { Values } from '../../src/contract/implement.ts'
import { Flaw } from '../../src/contract/lexical/flaw.ts'
import { checkScalar, compileScalarCheck } from '../../src/contract/lexical/scalar.ts'
import {
  entryFields,
  foldScalar,
  foldShape,
  type MapShape,
  type ShapeCases,
  type UnionShape,
} from '../../src/contract/shape.ts'

const problemsMax = 100

type FieldPath = FieldProblem['path']
const problemAt = (path: FieldPath, { code, detail }: Flaw): FieldProblem => ({ path, code, detail })
const isObject = (json: Json): json is { readonly [name: string]: Json } =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

/**
 * The members of an object, in the contract's order; problems go to `problems`, the first hundred.
 */
export function readPlainly(
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
    if (!(Object.hasOwn(fields, name) && !fields[name]?.isInternal) && !(path.length === 0 && how.ignored?.has(name)))
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
const jsonMembersOf = (fields: Fields): readonly JsonMember[] =>
  Object.entries(fields)
    .filter(([, field]) => !field.isInternal)
    .map(([name, field]) => ({ name, field, read: compileJsonReader(field), isDue: !mayBeLeftOut(field) }))

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
      readPlainly(fields, json, problems, how, path),
  union:
    ({ on, of }) =>
    (json, problems, how, path) => {
      const which = isObject(json) && Object.hasOwn(json, on) ? json[on] : undefined
      if (!isObject(json) || typeof which !== 'string' || !Object.hasOwn(of, which)) {
        problems.push(problemAt([...path, on], new Flaw('enum', `must be one of ${Object.keys(of).join(', ')}`)))
        return undefined
      }
      const { [on]: _told, ...members } = json
      return { [on]: which, ...readPlainly(of[which] ?? {}, members, problems, how, path) }
    },
}

/** What is wrong with a key, at the place of its value. */
const describeKeyFlaw = ({ code, detail }: Flaw): Flaw => new Flaw(code, `has a key that ${detail}`)

export function checkPlainly(fields: Fields, value: Values, path: FieldPath): FieldProblem[] {
  const unknown = Object.keys(value).filter(name => !Object.hasOwn(fields, name))
  return [
    ...unknown.flatMap(name => oneProblem([...path, name], new Flaw('unknown', 'is not a known field'))),
    ...Object.entries(fields).flatMap(([name, field]) =>
      findFieldProblems(field, ownMember(value, name), [...path, name]),
    ),
  ]
}

const oneProblem = (path: FieldPath, { code, detail }: Flaw): FieldProblem[] => [{ path, code, detail }]

function findFieldProblems(field: AnyField, value: unknown, path: FieldPath): FieldProblem[] {
  if (value === undefined) return field.isOptional ? [] : oneProblem(path, new Flaw('required', 'is required'))
  if (value === null) return field.isNullable ? [] : oneProblem(path, new Flaw('type', 'must not be null'))
  return foldShape(field.shape, problemCases, value, path)
}
const problemCases: ShapeCases<FieldProblem[], [value: unknown, path: FieldPath]> = {
  scalar: (shape, value, path) => {
    const checked = checkScalar(shape, value)
    return checked instanceof Flaw ? oneProblem(path, checked) : []
  },
  list: (shape, value, path) => {
    if (!Array.isArray(value)) return oneProblem(path, new Flaw('type', 'must be an array'))
    const count = checkCount(shape, value.length)
    return [
      ...(count ? oneProblem(path, count) : []),
      ...value.flatMap((item, i) => findFieldProblems(shape.item, item, [...path, i])),
    ]
  },
  map: (shape, value, path) => {
    if (!isValueRecord(value)) return oneProblem(path, new Flaw('type', 'must be an object: a value for each key'))
    const count = checkCount(shape.entries, Object.keys(value).length, 'entries')
    return [
      ...(count ? oneProblem(path, count) : []),
      ...Object.entries(value).flatMap(([key, each]) => findEntryProblems(shape, key, each, [...path, key])),
    ]
  },
  object: ({ fields }, value, path) =>
    isValueRecord(value)
      ? checkPlainly(fields, value as Values, path) // an object, just asked
      : oneProblem(path, new Flaw('type', 'must be an object')),
  union: findUnionProblems,
}

function findEntryProblems(shape: MapShape, key: string, value: unknown, path: FieldPath): FieldProblem[] {
  const { key: keyField, value: valueField } = entryFields(shape)
  const [flaw] = findFieldProblems(keyField, key, path)
  return [
    ...(flaw ? oneProblem(path, describeKeyFlaw(new Flaw(flaw.code, flaw.detail))) : []),
    ...findFieldProblems(valueField, value, path),
  ]
}

const isValueRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)

function findUnionProblems({ on, of }: UnionShape, value: unknown, path: FieldPath): FieldProblem[] {
  if (!isValueRecord(value)) return oneProblem(path, new Flaw('type', 'must be an object'))
  const { [on]: which, ...rest } = value as Values // an object, just asked
  const fields = typeof which === 'string' && Object.hasOwn(of, which) ? of[which] : undefined
  if (!fields) return oneProblem(path, new Flaw('enum', `must be one of ${Object.keys(of).join(', ')}`))
  return checkPlainly(fields, rest, path)
}
