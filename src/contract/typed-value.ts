/** Checks of typed values: the last check of what handlers computed, before it is stored. */

import { memoizeByObject } from '../base/memo.ts'
import { ownMember } from '../base/objects.ts'
import type { Fields } from './field.ts'

import { createMembersReaders, type FieldProblem } from './given-fields.ts'
import type { Values } from './implement.ts'
import { Flaw } from './lexical/flaw.ts'
import { compileScalarCheck } from './lexical/scalar.ts'
import { entryFields, foldShape, type ShapeCases } from './shape.ts'

type ProblemPath = FieldProblem['path']

const checkerOf = createMembersReaders({
  max: Number.POSITIVE_INFINITY,
  scalar: compileScalarCheck,
  due: field => !field.isOptional,
  unknown: new Flaw('unknown', 'is not a known field'),
  isTyped: true,
})

/** All problems in a value. Members that are identical in `sound`, a checked value, have none. */
export function checkValue(fields: Fields, value: Values, sound?: Values): FieldProblem[] {
  const problems: FieldProblem[] = []
  checkerOf(fields)(value, { problems, path: [], sound })
  return problems
}

/** A reference in a value: the item must exist before the value may be stored. */
export interface FoundReference {
  readonly resource: string
  readonly id: string
  /** Whether the caller may name items that it may not read. */
  readonly isUnseen: boolean
  readonly path: ProblemPath
}
/** Every reference in a value, with its place. */
export function findReferences(fields: Fields, value: Values): FoundReference[] {
  const found: FoundReference[] = []
  memberCollectorOf(fields)(value, [], found)
  return found
}

/** Whether values of these fields may name items, which may not exist. */
export const hasReferences = (fields: Fields): boolean =>
  Object.values(fields).some(({ shape }) => foldShape(shape, refersCases))

/** Adds what is found in a value, which is neither absent nor null. */
type CollectReferences = (value: unknown, path: ProblemPath, found: FoundReference[]) => void
/** Of fields that are references, or have some in them. */
const memberCollectorOf = memoizeByObject((fields: Fields): CollectReferences => {
  const members = Object.entries(fields)
    .filter(([, { shape }]) => foldShape(shape, refersCases))
    .map(([name, { shape }]) => ({ name, collect: foldShape(shape, collectors) }))
  return (value, path, found) => {
    for (const { name, collect } of members) {
      const member = ownMember(value as Values, name)
      if (member !== undefined && member !== null) collect(member, [...path, name], found)
    }
  }
})

const refersCases: ShapeCases<boolean> = {
  scalar: ({ kind }) => kind === 'ref',
  list: ({ item }) => foldShape(item.shape, refersCases),
  map: shape => foldShape(entryFields(shape).value.shape, refersCases),
  object: ({ fields }) => hasReferences(fields),
  union: ({ of }) => Object.values(of).some(hasReferences),
}

/** For values that checks have passed: lists are arrays, and objects are objects. */
const collectors: ShapeCases<CollectReferences> = {
  scalar: shape =>
    shape.kind === 'ref'
      ? (value, path, found) => {
          found.push({ resource: shape.resource, id: String(value), isUnseen: shape.unseen === true, path })
        }
      : () => {},
  list: ({ item }) => {
    const collect = foldShape(item.shape, collectors)
    return (value, path, found) => {
      for (const [i, each] of (value as readonly unknown[]).entries())
        if (each !== undefined && each !== null) collect(each, [...path, i], found)
    }
  },
  map: shape => {
    const collect = foldShape(entryFields(shape).value.shape, collectors)
    return (value, path, found) => {
      for (const [key, each] of Object.entries(value as Values))
        if (each !== undefined && each !== null) collect(each, [...path, key], found)
    }
  },
  object: ({ fields }) => memberCollectorOf(fields),
  union:
    ({ on, of }) =>
    (value, path, found) => {
      const fields = of[String((value as Values)[on])]
      if (fields) memberCollectorOf(fields)(value, path, found)
    },
}
