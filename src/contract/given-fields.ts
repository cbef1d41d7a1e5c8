/**
 * Values of fields as they are given, read and checked in one pass: the content of a request, or
 * what a handler computed. A form describes how these two differ. Readers are compiled once for the
 * fields; a path is only written out for a problem.
 */

import { memoizeByObject } from '../base/memo.ts'
import { ownMember } from '../base/objects.ts'
import type { AnyField, Fields, Scalar } from './field.ts'
import { boundFlaw, describeLeast, Flaw, typeFlaw } from './lexical/flaw.ts'
import { compileScalarCheck, type ScalarCheck } from './lexical/scalar.ts'
import { entryFields, foldShape, type ShapeCases } from './shape.ts'

/** A flaw and where it is: member names and indices from the content's root. */
export interface FieldProblem {
  readonly path: readonly (string | number)[]
  readonly code: string
  readonly detail: string
}

type GivenMembers = Readonly<Record<string, unknown>>

/** How values are given. */
export interface GivenForm {
  /** Reading stops after this many problems. */
  readonly max: number
  readonly scalar: (shape: Scalar) => ScalarCheck
  /** Whether the field is required; undefined: this form does not have it. */
  readonly due: (field: AnyField) => boolean | undefined
  readonly unknown: Flaw
  /**
   * Undefined members and items are absent; and a union is identified by its value, not by its tag.
   */
  readonly isTyped?: boolean
}

/** One pass, and what it has found so far. */
export interface Reading {
  readonly problems: FieldProblem[]
  /** The path of the value that is being read. */
  readonly path: (string | number)[]
  /** Names that the whole may have besides its fields. */
  readonly ignored?: ReadonlySet<string> | undefined
  /** Where read-only fields go; if absent, they are values like others. */
  readonly server?: { path: FieldProblem['path']; value: unknown }[]
  /** A checked value: members that are identical in it are skipped. */
  readonly sound?: GivenMembers | undefined
}

/** The value; undefined or flawed if there are problems. */
type ValueReader = (given: unknown, reading: Reading) => unknown
/** The members of an object, in the contract's order. */
export type MembersReader = (given: unknown, reading: Reading) => Record<string, unknown>

interface CompiledForm extends GivenForm {
  readonly readerOf: (fields: Fields) => MembersReader
}

/** The readers of all fields in this form, each compiled on first use. */
export function createMembersReaders(form: GivenForm): (fields: Fields) => MembersReader {
  const readerOf = memoizeByObject((fields: Fields): MembersReader => compileMembers(fields, { ...form, readerOf }))
  return readerOf
}

/** A record, not a list or octets. */
const isObject = (given: unknown): given is GivenMembers =>
  typeof given === 'object' && given !== null && !Array.isArray(given) && !ArrayBuffer.isView(given)

function addProblem({ problems, path }: Reading, flaw: Flaw | undefined, ...at: string[]): void {
  if (flaw) problems.push({ path: [...path, ...at], code: flaw.code, detail: flaw.detail })
}

/** Reads a part of a value: a member, an item or an entry. */
function readInner(name: string | number, given: unknown, read: ValueReader, reading: Reading): unknown {
  reading.path.push(name)
  const value = read(given, reading)
  reading.path.pop()
  return value
}

function compileMembers(fields: Fields, form: CompiledForm): MembersReader {
  const { unknown, max } = form
  const members = new Map(
    Object.entries(fields).flatMap(([name, field]) => {
      const isDue = form.due(field)
      return isDue === undefined ? [] : [[name, { field, read: compileReader(field, form), isDue }] as const]
    }),
  )
  return (given, reading) => {
    const value: Record<string, unknown> = {}
    if (!isObject(given)) {
      addProblem(reading, notObject)
      return value
    }
    const { problems, path, ignored, sound, server } = reading
    const isWhole = path.length === 0
    for (const name of Object.keys(given)) {
      if (problems.length >= max) return value
      if (!members.has(name) && !(isWhole && ignored?.has(name))) addProblem(reading, unknown, name)
    }
    for (const [name, { field, read, isDue }] of members) {
      const member = Object.hasOwn(given, name) ? given[name] : undefined
      if (member === undefined) {
        if (isDue) addProblem(reading, required, name)
        continue
      }
      if (isWhole && sound && ownMember(sound, name) === member) continue
      const found = readInner(name, member, read, reading)
      if (field.isReadOnly && server) server.push({ path: [...path, name], value: found })
      else value[name] = found
    }
    return value
  }
}
const notObject = typeFlaw('an object')
const notArray = typeFlaw('an array')
const notMap = typeFlaw('an object: a value for each key')
const notNull = new Flaw('type', 'must not be null')
const required = new Flaw('required', 'is required')

function compileReader({ shape, isNullable, isOptional }: AnyField, form: CompiledForm): ValueReader {
  const read = foldShape(shape, readers, form)
  const { isTyped } = form
  return (given, reading) => {
    if (given === null) {
      if (!isNullable) addProblem(reading, notNull)
      return null
    }
    if (given !== undefined || !isTyped) return read(given, reading)
    if (!isOptional) addProblem(reading, required)
    return undefined
  }
}

const readers: ShapeCases<ValueReader, [form: CompiledForm]> = {
  scalar: (shape, form) => {
    const read = form.scalar(shape)
    return (given, reading) => {
      const value = read(given)
      if (value instanceof Flaw) addProblem(reading, value)
      return value
    }
  },
  list: (shape, form) => {
    const read = compileReader(shape.item, form)
    return (given, reading) => {
      if (!Array.isArray(given)) return addProblem(reading, notArray)
      addProblem(reading, checkCount(shape, given.length))
      const items: unknown[] = []
      for (const [i, item] of given.entries()) {
        if (reading.problems.length >= form.max) return undefined
        items.push(readInner(i, item, read, reading))
      }
      return items
    }
  },
  map: (shape, form) => {
    const { key, value } = entryFields(shape)
    const checkKey = compileScalarCheck(key.shape as Scalar) // review has checked it
    const read = compileReader(value, form)
    return (given, reading) => {
      if (!isObject(given)) return addProblem(reading, notMap)
      const members = Object.entries(given)
      addProblem(reading, checkCount(shape.entries, members.length, 'entries'))
      const entries: [string, unknown][] = []
      for (const [name, member] of members) {
        if (reading.problems.length >= form.max) return undefined
        const checked = checkKey(name)
        if (checked instanceof Flaw)
          addProblem(reading, new Flaw(checked.code, `has a key that ${checked.detail}`), name)
        entries.push([name, readInner(name, member, read, reading)])
      }
      return Object.fromEntries(entries)
    }
  },
  object: ({ fields }, { readerOf }) => readerOf(fields),
  union: ({ on, of }, { isTyped, readerOf }) => {
    const unknownCase = new Flaw('enum', `must be one of ${Object.keys(of).join(', ')}`)
    const cases = new Map(Object.entries(of).map(([name, fields]) => [name, readerOf(fields)]))
    return (given, reading) => {
      const { [on]: which, ...members } = isObject(given) ? given : {}
      const read = typeof which === 'string' ? cases.get(which) : undefined
      if (read) return { [on]: which, ...read(members, reading) }
      if (!isTyped) return addProblem(reading, unknownCase, on)
      return addProblem(reading, isObject(given) ? unknownCase : notObject)
    }
  },
}

/** How many items a list may have, or entries a map, by its `min` and `max`. */
export function checkCount(
  shape: { readonly min?: number; readonly max?: number },
  count: number,
  what: 'items' | 'entries' = 'items',
): Flaw | undefined {
  if (shape.min !== undefined && count < shape.min) return boundFlaw('minItems', describeLeast(shape.min, what))
  if (shape.max !== undefined && count > shape.max)
    return boundFlaw('maxItems', `must have at most ${shape.max} ${what}`)
  return undefined
}
