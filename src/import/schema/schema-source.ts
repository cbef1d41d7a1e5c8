/** What the parts of a schema ask the model that they belong to, and where they are. */
import type { AnyRootElement, AnyXmlType, NamespaceForm } from '../../contract/xml-type.ts'
import { isNcName } from '../../xml/character.ts'
import type { Element } from '../../xml/index.ts'
import type { Losses } from '../loss.ts'
import type { BlockedMethods } from './derivations.ts'
import { attributeOf, type SchemaComponents } from './schema-components.ts'

/** The place of a schema node: its schema, and a place for messages. */
export interface SchemaPlace {
  readonly form: NamespaceForm
  readonly place: string
}

export interface SchemaSource {
  readonly components: SchemaComponents
  readonly losses: Losses
  /** Comments of types, members and elements. */
  readonly comments: Map<object, string>
  typeOf(name: string, place: string): AnyXmlType
  typeOfElement(name: string, place: string, blocked?: BlockedMethods): AnyXmlType
  typeOfNode(node: Element, around: SchemaPlace): AnyXmlType
  element(name: string, place: string): AnyRootElement | undefined
  /** Keeps the documentation of a node as the comment of what is made of it. */
  comment(of: object, node: Element): void
}

/** XML Schema Part 1 §3.3.2: an NCName, since a document can contain no other. */
export function localNameOf(node: Element, { place }: SchemaPlace, losses: Losses): string | undefined {
  const name = attributeOf(node, 'name')
  if (name === undefined || isNcName(name)) return name
  losses.add(place, `"${name}" is not the name of an ${node.name.local}: it is left out`, 'document')
  return undefined
}

/** Part 1 §3.2.2, §3.3.2; XML Schema 1.1 lets a declaration name its namespace. */
export const uriOfLocal = (node: Element, usual: string, { form }: SchemaPlace): string =>
  attributeOf(node, 'targetNamespace') ?? ((attributeOf(node, 'form') ?? usual) === 'qualified' ? form.uri : '')

export function findAncestor(node: Element, isMeant: (element: Element) => boolean): Element | undefined {
  let at = node.parent
  while (at && !isMeant(at)) at = at.parent
  return at
}
