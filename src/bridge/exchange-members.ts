/** The names and messages of exchanges: their verbs and nouns, members, items and identifiers. */

import type { PortExchange } from '../contract/exchange.ts'
import { type AnyField, type Fields, singularName } from '../contract/field.ts'
import { listMembers } from '../contract/xml-members.ts'
import { isSimpleType } from '../contract/xml-simple.ts'
import type { AnyMember, AnyRootElement, AnyXmlType, NamespaceForm } from '../contract/xml-type.ts'
import { contentOfMember } from './xml-fields.ts'

/** What an exchange does with items, by the first word of its name. */
export type ExchangeVerb = 'read' | 'create' | 'change' | 'remove'
const verbWords: readonly (readonly [ExchangeVerb, RegExp])[] = [
  ['read', /^(?:get|list|find|search|query|read|lookup|look_?up)(?=$|[A-Z_0-9])/],
  ['create', /^(?:create|add|insert|register|new)(?=$|[A-Z_0-9])/],
  ['change', /^(?:update|change|modify|replace|edit)(?=$|[A-Z_0-9])/],
  ['remove', /^(?:delete|remove)(?=$|[A-Z_0-9])/],
]
const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

/** Only a separate word counts: `Getaway` reads nothing. */
export const verbOf = (name: string): ExchangeVerb | undefined =>
  verbWords.find(([, words]) => words.test(lowerFirst(name)))?.[0]

/** `GetOrder`, `getOrderById`: the noun in the singular, as words. */
export function nounOf(name: string): string {
  const words = verbWords.find(([, each]) => each.test(lowerFirst(name)))?.[1] ?? /^/
  return singularName(
    lowerFirst(name)
      .replace(words, '')
      .replace(/^_?all(?=[A-Z_])/i, '')
      .replace(/_?By(?=[A-Z_]).*$|_by_.*$|_?List$/, '')
      .replace(/^_+/, '')
      .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
      .replace(/_+/g, '-')
      .toLowerCase(),
  )
}

/** The members of a complex type. */
export const membersOfType = (type: AnyXmlType, form: NamespaceForm) =>
  type.definition.kind === 'complex' ? listMembers(type.definition, form) : []
export type TypeMember = ReturnType<typeof membersOfType>[number]

export const isNeeded = ({ marks }: AnyMember): boolean => marks.min > 0

/** The input of a message without content: an empty array for each repeating member. */
export const emptyInputOf = (input: PortExchange['input']): object | undefined =>
  typeof input !== 'object'
    ? undefined
    : Object.fromEntries(
        membersOfType(input.type(), input.form)
          .filter(({ member }) => member.marks.isMany)
          .map(({ key }) => [key, []]),
      )

/** Some tools declare every member optional: a single member counts as needed nevertheless. */
export function findOnlyNeeded(members: readonly TypeMember[]): TypeMember | undefined {
  const [only, ...others] = members.length === 1 ? members : members.filter(({ member }) => isNeeded(member))
  return only && others.length === 0 && !only.member.marks.isMany ? only : undefined
}

export interface FoundItem {
  readonly item: AnyXmlType
  readonly form: NamespaceForm
  /** The keys that lead to the item. */
  readonly path: readonly string[]
}

/** The element is the item, or contains it as its only member. */
export function findItemType(root: AnyRootElement): FoundItem | undefined {
  const type = root.type()
  const members = membersOfType(type, root.form)
  const [only] = members
  const inner = members.length === 1 && only && !only.member.marks.isMany ? contentOfMember(only.member) : undefined
  if (inner && only && inner.type.definition.kind === 'complex')
    return { item: inner.type, form: only.form, path: [only.key] }
  return members.length > 1 ? { item: type, form: root.form, path: [] } : undefined
}

/** The type of a member with a single simple value. */
export function simpleTypeOf(member: AnyMember): AnyXmlType | undefined {
  const content = member.marks.isMany ? undefined : contentOfMember(member)
  return content && isSimpleType(content.type) ? content.type : undefined
}

/** A name regardless of its spelling. */
export const unspacedName = (name: string): string => name.replace(/[_-]/g, '').toLowerCase()

/** The field that a member of a message names: for an order, `id` also means `orderId`. */
export function findKey(fields: Fields, member: string, noun: string): string | undefined {
  const singular = unspacedName(noun)
  const short = unspacedName(member).startsWith(singular)
    ? unspacedName(member).slice(singular.length)
    : unspacedName(member)
  const names = [unspacedName(member), short, `${singular}${short}`]
  const key = Object.keys(fields).find(name => names.includes(unspacedName(name)))
  return key !== undefined && isKeyField(fields[key]) ? key : undefined
}
const keyKinds = new Set(['string', 'int', 'long', 'enum'])
export const isKeyField = (field: AnyField | undefined): boolean =>
  field !== undefined && keyKinds.has(field.shape.kind)

/** Header blocks get their content from a request, which a provider does not see. */
export const takesBlocks = ({ requestHeaders }: PortExchange): boolean => Object.keys(requestHeaders).length > 0
