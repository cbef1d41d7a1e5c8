/**
 * The kinds of values that members of declarations have. JavaScript, or TypeScript with its types
 * stripped, may pass another kind: it is refused at once, with what to write instead.
 */
import { isJsonObject, type Json } from '../base/objects.ts'

/** A kind, and the text that tells a developer what the member must be. */
export interface MemberKind {
  readonly isOfKind: (value: unknown) => boolean
  readonly cure: string
  /** Whether the member may be absent. Default: it may not. */
  readonly isOptional?: boolean
}
export type MemberKinds<T> = Readonly<Partial<Record<keyof T, MemberKind>>>

/** A record as in JSON, whatever its members are. */
export const isPlainRecord = (value: unknown): value is object => isJsonObject(value as Json | undefined)
/** Identified by a member, not by class: a contract may come from another copy of the package. */
export const isMadeWith = (member: string, value: unknown): boolean => isPlainRecord(value) && member in value
export const isRecordOf = (isOfKind: MemberKind['isOfKind'], value: unknown): boolean =>
  isPlainRecord(value) && Object.values(value).every(each => each === undefined || isOfKind(each))
const isFieldLike = (value: unknown): boolean => isMadeWith('shape', value)

export const fieldKind: MemberKind = { isOfKind: isFieldLike, cure: 'a field: write it as t.string(), t.int(), …' }
export const fieldsKind: MemberKind = {
  isOfKind: value => isRecordOf(isFieldLike, value),
  cure: 'named fields: write them as { name: t.string() }',
}

export const optionalKind = (kind: MemberKind): MemberKind => ({ ...kind, isOptional: true })

/** @throws TypeError that names each member of another kind */
export function requireMemberKinds<T extends object>(place: string, members: T, kinds: MemberKinds<T>): void {
  const lines = Object.entries<MemberKind | undefined>(kinds).flatMap(([name, kind]) => {
    const value = (members as Readonly<Record<string, unknown>>)[name]
    if (!kind || kind.isOfKind(value) || (value === undefined && kind.isOptional)) return []
    return [`${place}: ${name} must be ${kind.cure}`]
  })
  if (lines.length > 0) throw new TypeError(lines.join('\n'))
}

/** Every member of a type: a member added to the type is reported missing here at compile time. */
export type MembersOf<T> = Readonly<Record<keyof T, true>>

/** A line for each unknown member. */
export const findUnknownMembers = (place: string, members: object, known: object): string[] =>
  Object.keys(members)
    .filter(name => !Object.hasOwn(known, name))
    .map(name => `${place}: unknown member "${name}": use ${Object.keys(known).join(', ')}`)

/** @throws TypeError that names each unknown member */
export function requireKnownMembers(place: string, members: object, known: object): void {
  if (typeof members !== 'object' || members === null)
    throw new TypeError(`${place}: give an object with ${Object.keys(known).join(', ')}`)
  const lines = findUnknownMembers(place, members, known)
  if (lines.length > 0) throw new TypeError(lines.join('\n'))
}
