/**
 * What a message carries of an item, at every depth. Types of the message need not be those of the
 * item: one whose members are all members of the item's is a draft of it, and what only the item
 * has there is up to the backend.
 */

import { isDeepStrictEqual } from 'node:util'
import { ownMember } from '../base/objects.ts'
import { type AnyField, Field, type Fields } from '../contract/field.ts'
import type { Values } from '../contract/implement.ts'
import { mapShape } from '../contract/shape.ts'
import type { AnyXmlType } from '../contract/xml-type.ts'
import { isNeeded, membersOfType, type TypeMember } from './exchange-members.ts'
import { contentOfMember } from './xml-fields.ts'

export interface CarriedMembers {
  /** The members of a type of the item that are sent. */
  readonly sent: readonly string[]
  /** The members without which the message is not valid. */
  readonly needed: readonly string[]
  /** The same for the types of these members, where they have members. */
  readonly within: ReadonlyMap<string, CarriedMembers>
}
export const carriedNothing: CarriedMembers = { sent: [], needed: [], within: new Map() }

/** The members that the item has, too. */
export function carryMembers(members: readonly TypeMember[], own: readonly TypeMember[]): CarriedMembers {
  const found = members.flatMap(each => {
    const within = matchMember(each, own)
    return within ? [{ ...each, within }] : []
  })
  return {
    sent: found.map(({ key }) => key),
    needed: found.filter(({ member }) => isNeeded(member)).map(({ key }) => key),
    within: new Map(found.flatMap(({ key, within }) => (within === 'whole' ? [] : [[key, within] as const]))),
  }
}

/**
 * The part of the item's member with the same name that a member carries; undefined: their types
 * differ.
 */
function matchMember(
  { key, member, form }: TypeMember,
  own: readonly TypeMember[],
): CarriedMembers | 'whole' | undefined {
  const other = own.find(each => each.key === key && each.member.marks.isMany === member.marks.isMany)
  const [a, b] = [contentOfMember(member), other && contentOfMember(other.member)]
  if (!other || !a || !b || (b.isNillable && !a.isNillable)) return undefined
  if (isSameSimple(a.type, b.type)) return 'whole'
  const [members, kept] = [membersOfType(a.type, form), membersOfType(b.type, other.form)]
  const carried = carryMembers(members, kept)
  const isAny = members.length > 0 || a.type === b.type
  return isAny && carried.sent.length === members.length ? carried : undefined
}

/** Types with the same values, whatever their names. */
function isSameSimple(one: AnyXmlType, other: AnyXmlType): boolean {
  const [a, b] = [one.definition, other.definition]
  if (a.kind === 'builtIn') return b.kind === 'builtIn' && a.name === b.name
  if (a.kind !== 'restriction' || b.kind !== 'restriction') return false
  return isSameSimple(a.of, b.of) && isDeepStrictEqual(a.facets, b.facets)
}

/** Whether one message lacks what another message for the same item needs. */
export const lacksNeeded = (one: CarriedMembers, other: CarriedMembers): boolean =>
  other.needed.some(name => !one.sent.includes(name)) ||
  [...other.within].some(([name, inner]) => lacksNeeded(one.within.get(name) ?? inner, inner))

/** An item without the members that are not sent. */
export const pickCarried = ({ sent, within }: CarriedMembers, item: Values): Values =>
  Object.fromEntries(
    sent.flatMap(name => {
      const value = ownMember(item, name)
      return value === undefined ? [] : [[name, pickWithin(within.get(name), value)]]
    }),
  )
function pickWithin(carried: CarriedMembers | undefined, value: unknown): unknown {
  if (!carried || value === null) return value
  return Array.isArray(value) ? value.map(each => pickWithin(carried, each)) : pickCarried(carried, value as Values) // of a type with members
}

/** The field of a member that is sent, with its unsent members made read-only. */
export function markUnsent(field: AnyField, name: string, create?: CarriedMembers, change?: CarriedMembers): AnyField {
  const [made, changed] = [create?.within.get(name), change?.within.get(name)]
  return made || changed ? markObjects(field, fields => markMembers(fields, made, changed)) : field
}
function markObjects(field: AnyField, mark: (fields: Fields) => Fields): AnyField {
  const shape = mapShape(field.shape, { item: each => markObjects(each, mark), fields: mark })
  return shape === field.shape ? field : new Field(shape, field)
}
function markMembers(fields: Fields, create: CarriedMembers | undefined, change: CarriedMembers | undefined): Fields {
  const isSent = (name: string) => [create, change].every(each => !each || each.sent.includes(name))
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      if (!isSent(name)) return [name, allowAbsence((field as Field<unknown>).readOnly())]
      const marked = markUnsent(field, name, create, change)
      return [name, create && !create.needed.includes(name) ? allowAbsence(marked) : marked]
    }),
  )
}

/** A field that a new item gets only from the service may be absent until then. */
export const allowAbsence = (field: AnyField): AnyField =>
  field.isOptional || field.defaultValue !== undefined ? field : (field as Field<unknown>).optional()
