/** Checks of typed values: the last look at what handlers computed, before it is stored. */

import { memoizeByObject } from '../base/memo.ts'
import { ownMember } from '../base/objects.ts'
import type { AnyField, Fields } from './field.ts'
import { checkCount, describeKeyFlaw, type FieldProblem } from './field-json.ts'
import type { Values } from './implement.ts'
import { Flaw } from './lexical/flaw.ts'
import { checkScalar, compileScalarCheck } from './lexical/scalar.ts'
import { entryFields, foldShape, type MapShape, type ShapeCases, type UnionShape } from './shape.ts'

type ProblemPath = FieldProblem['path']

/**
 * All problems of a value. Values that are the same in `sound`, a checked value, are not checked
 * again.
 */
export const checkValue = (fields: Fields, value: Values, sound?: Values): FieldProblem[] =>
  isSoundValue(fields, value, sound) ? [] : findProblems(fields, value, [])

/**
 * Nearly every value is sound: so this is asked first, without paths. Its slow twin is
 * `findProblems`.
 */
export function isSoundValue(fields: Fields, value: Values, sound?: Values): boolean {
  let present = 0
  for (const entry of checkedFieldsOf(fields)) {
    const member = memberOfField(value, entry)
    if (member !== undefined) present++
    const isKnown = sound !== undefined && member !== undefined && member === memberOfField(sound, entry)
    if (!isKnown && !entry.isSound(member)) return false
  }
  const names = Object.keys(value) // some may be present and undefined
  return present === names.length || names.every(name => Object.hasOwn(fields, name))
}

interface FieldEntry {
  readonly name: string
  /** Every object inherits something of this name. */
  readonly inherited: boolean
  readonly isSound: (value: unknown) => boolean
}
const checkedFieldsOf = memoizeByObject((fields: Fields): readonly FieldEntry[] =>
  Object.entries(fields).map(([name, field]) => ({
    name,
    inherited: name in Object.prototype,
    isSound: compileSoundness(field),
  })),
)
const memberOfField = (value: Values, { name, inherited }: FieldEntry): unknown =>
  inherited ? ownMember(value, name) : value[name]

function compileSoundness({ shape, isOptional, isNullable }: AnyField): (value: unknown) => boolean {
  const isSound = foldShape(shape, soundness)
  return value => (value === undefined ? isOptional : value === null ? isNullable : isSound(value))
}
const soundness: ShapeCases<(value: unknown) => boolean> = {
  scalar: shape => {
    const check = compileScalarCheck(shape)
    return value => !(check(value) instanceof Flaw)
  },
  list: shape => {
    const isSound = compileSoundness(shape.item)
    return value => Array.isArray(value) && !checkCount(shape, value.length) && value.every(each => isSound(each))
  },
  map: shape => {
    const [isSoundKey, isSound] = [compileSoundness(entryFields(shape).key), compileSoundness(entryFields(shape).value)]
    return value =>
      isValueRecord(value) &&
      !checkCount(shape.entries, Object.keys(value).length) &&
      Object.entries(value).every(([key, each]) => isSoundKey(key) && isSound(each))
  },
  object:
    ({ fields }) =>
    value =>
      typeof value === 'object' && isSoundValue(fields, value as Values), // an object, just asked
  union: shape => value => findUnionProblems(shape, value, []).length === 0,
}

export function findProblems(fields: Fields, value: Values, path: ProblemPath): FieldProblem[] {
  const unknown = Object.keys(value).filter(name => !Object.hasOwn(fields, name))
  return [
    ...unknown.flatMap(name => oneProblem([...path, name], new Flaw('unknown', 'is not a known field'))),
    ...Object.entries(fields).flatMap(([name, field]) =>
      findFieldProblems(field, ownMember(value, name), [...path, name]),
    ),
  ]
}

const oneProblem = (path: ProblemPath, { code, detail }: Flaw): FieldProblem[] => [{ path, code, detail }]

function findFieldProblems(field: AnyField, value: unknown, path: ProblemPath): FieldProblem[] {
  if (value === undefined) return field.isOptional ? [] : oneProblem(path, new Flaw('required', 'is required'))
  if (value === null) return field.isNullable ? [] : oneProblem(path, new Flaw('type', 'must not be null'))
  return foldShape(field.shape, problemCases, value, path)
}
const problemCases: ShapeCases<FieldProblem[], [value: unknown, path: ProblemPath]> = {
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
    typeof value === 'object'
      ? findProblems(fields, value as Values, path) // an object, just asked
      : oneProblem(path, new Flaw('type', 'must be an object')),
  union: findUnionProblems,
}

function findEntryProblems(shape: MapShape, key: string, value: unknown, path: ProblemPath): FieldProblem[] {
  const { key: keyField, value: valueField } = entryFields(shape)
  const [flaw] = findFieldProblems(keyField, key, path)
  return [
    ...(flaw ? oneProblem(path, describeKeyFlaw(new Flaw(flaw.code, flaw.detail))) : []),
    ...findFieldProblems(valueField, value, path),
  ]
}

const isValueRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)

function findUnionProblems({ on, of }: UnionShape, value: unknown, path: ProblemPath): FieldProblem[] {
  if (typeof value !== 'object') return oneProblem(path, new Flaw('type', 'must be an object'))
  const { [on]: which, ...rest } = value as Values // an object, just asked
  const fields = typeof which === 'string' && Object.hasOwn(of, which) ? of[which] : undefined
  if (!fields) return oneProblem(path, new Flaw('enum', `must be one of ${Object.keys(of).join(', ')}`))
  return findProblems(fields, rest, path)
}

/** A reference in a value: the item must exist before the value may be stored. */
export interface FoundReference {
  readonly resource: string
  readonly id: string
  /** The caller may name items that they may not read. */
  readonly isUnseen: boolean
  readonly path: ProblemPath
}
/** Every reference in a value, with its place. */
export const findReferences = (fields: Fields, value: Values, path: ProblemPath = []): FoundReference[] =>
  referringMembers(fields).flatMap(({ name, find }) => find(ownMember(value, name), [...path, name]))

/** Whether values of these fields may name items, which may not exist. */
export const hasReferences = (fields: Fields): boolean => referringMembers(fields).length > 0

type FindReferences = (value: unknown, path: ProblemPath) => FoundReference[]
/** Fields that are references, or have some in them. */
const referringMembers = memoizeByObject((fields: Fields): readonly { name: string; find: FindReferences }[] =>
  Object.entries(fields)
    .filter(([, { shape }]) => foldShape(shape, refersCases))
    .map(([name, field]) => ({ name, find: compileFinder(field) })),
)

const refersCases: ShapeCases<boolean> = {
  scalar: ({ kind }) => kind === 'ref',
  list: ({ item }) => foldShape(item.shape, refersCases),
  map: shape => foldShape(entryFields(shape).value.shape, refersCases),
  object: ({ fields }) => hasReferences(fields),
  union: ({ of }) => Object.values(of).some(hasReferences),
}

function compileFinder({ shape }: AnyField): FindReferences {
  const find = foldShape(shape, finders)
  return (value, path) => (value === undefined || value === null ? [] : find(value, path))
}
/** For values that checks have passed: lists are arrays, and objects are objects. */
const finders: ShapeCases<FindReferences> = {
  scalar: shape =>
    shape.kind === 'ref'
      ? (value, path) => [{ resource: shape.resource, id: String(value), isUnseen: shape.unseen === true, path }]
      : () => [],
  list: ({ item }) => {
    const find = compileFinder(item)
    return (value, path) => (value as readonly unknown[]).flatMap((each, i) => find(each, [...path, i]))
  },
  map: shape => {
    const find = compileFinder(entryFields(shape).value)
    return (value, path) => Object.entries(value as Values).flatMap(([key, each]) => find(each, [...path, key]))
  },
  object:
    ({ fields }) =>
    (value, path) =>
      findReferences(fields, value as Values, path),
  union:
    ({ on, of }) =>
    (value, path) => {
      const members = value as Values
      return findReferences(of[String(members[on])] ?? {}, members, path)
    },
}
