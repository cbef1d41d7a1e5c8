/**
 * The deviations that a lenient reader forgives: elements and attributes that their type does not
 * allow are renamed, moved or left out, and each step is reported. The strict reader then reads the
 * result: it stays the judge, so a value that it accepts has the declared type.
 *
 * The checks follow the order of XML Schema: names, then occurrence, then order. A step is taken
 * only where the declared names leave no doubt.
 */

import { isTrueText, trimXmlSpace } from '../../contract/lexical/text.ts'
import { isBase64Type } from '../../contract/octet-types.ts'
import { allowsNil } from '../../contract/xml-members.ts'
import { type Attribute, Element, internName, type Name, type Node } from '../../xml/index.ts'
import type { AnyPlan, AttributePlan, ComplexPlan, ElementPlan, ParticlePlan, TypePlan } from './schema-plan.ts'
import { contentTypeNames, isGeneralAttribute, xsiNil, xsiType } from './values.ts'

/** The deviations that a tolerated response may have. */
export type Leniency =
  /** Another media type, or the other version of SOAP. */
  | 'envelope'
  /** An element or attribute with a declared local name has a foreign namespace, or none. */
  | 'namespace'
  /** The elements of a sequence are out of order. */
  | 'order'
  /** Undeclared elements, attributes and types are left out. */
  | 'unknown'
  /** An element that is nil but must not be is left out, as is an xsi:nil that says `false`. */
  | 'nil'
  /** A required element may be absent: its member is undefined, whatever the type says. */
  | 'missing'
  /** Values outside enumeration, pattern, length or bounds are read as the built-in type. */
  | 'facets'

/** One deviation of a response. */
export interface Forgiven {
  readonly kind: Leniency
  /** The path of the element, from the child of Body on. */
  readonly path: string
  readonly detail: string
}

/** The state of mending one message. */
export class MessageMending {
  readonly forgiven: Forgiven[] = []
  readonly #allowed: ReadonlySet<Leniency>
  constructor(allowed: ReadonlySet<Leniency>) {
    this.#allowed = allowed
  }

  /** Whether this flaw is forgiven; if so, it is recorded. */
  readonly forgive = (kind: Leniency, path: string, detail: string): boolean => {
    const isAllowed = this.#allowed.has(kind)
    if (isAllowed) this.forgiven.push({ kind, path, detail })
    return isAllowed
  }
}

/** The element and its content, mended to fit its plan. */
export const mendElement = (plan: ElementPlan, source: Element, mending: MessageMending): Element =>
  mendTyped(plan, plan.type(), { source, parent: source.parent, name: source.name, path: '' }, mending)

/** The same element with its children mended to fit these particles. */
export function mendChildren(
  { content, isUnordered }: Pick<ComplexPlan, 'content' | 'isUnordered'>,
  source: Element,
  mending: MessageMending,
): Element {
  const mended = new Element(source.parent, source.name, source.prefix, source.attributes, source.declarations)
  mended.append(mendContent(content, isUnordered, { source, parent: mended, name: source.name, path: '' }, mending))
  return mended
}

/** An element while it is mended: its new place, its new name, and where it was. */
interface Mended {
  readonly source: Element
  readonly parent: Element | undefined
  readonly name: Name
  readonly path: string
}

function mendTyped(plan: ElementPlan, type: TypePlan, at: Mended, mending: MessageMending): Element {
  switch (type.kind) {
    case 'derivable': {
      const derived = type.byName.get(readTypeName(at.source) ?? plan.name)
      return mendTyped(plan, derived?.plan ?? type.base, at, mending)
    }
    case 'complex': {
      const mendKnown = mendAttributes(type.attributes, type.anyAttribute?.matches, name => name === type.name)
      const mended = createMended(at, mendKnown(at, mending))
      const { content, isUnordered, text } = type
      mended.append(
        text ? copyNodes(at.source, mended) : mendContent(content, isUnordered, { ...at, parent: mended }, mending),
      )
      return mended
    }
    case 'simple': {
      const mayName = (name: Name) => type.names.has(name) || type.findNarrower(name) !== undefined
      const isTypeOfContent = ({ local, uri }: Name) =>
        isBase64Type(type.type) && contentTypeNames.has(internName(uri, local))
      const mended = createMended(at, mendAttributes([], undefined, mayName, isTypeOfContent)(at, mending))
      mended.append(copyNodes(at.source, mended))
      return mended
    }
    default: {
      const mended = createMended(at, at.source.attributes)
      mended.append(copyNodes(at.source, mended))
      return mended
    }
  }
}
const createMended = ({ source, parent, name }: Mended, attributes: readonly Attribute[]): Element =>
  new Element(parent, name, source.prefix, attributes, source.declarations)
const copyNodes = (source: Element, parent: Element): readonly Node[] =>
  source.children.map(node => (node.kind === 'element' ? copyElement(node, parent) : node))
function copyElement(source: Element, parent: Element): Element {
  const copy = new Element(parent, source.name, source.prefix, source.attributes, source.declarations)
  copy.append(copyNodes(source, copy))
  return copy
}

// Attributes

function readTypeName(element: Element): Name | undefined {
  const [, prefix = '', local] = /^(?:([^:]+):)?([^:]+)$/.exec(trimXmlSpace(element.attribute(xsiType) ?? '')) ?? []
  const uri = local === undefined ? undefined : element.namespace(prefix)
  return uri === undefined || local === undefined ? undefined : internName(uri, local)
}

/** @param mayName whether xsi:type may be present */
const mendAttributes =
  (
    declared: readonly AttributePlan[],
    matches: ((uri: string) => boolean) | undefined,
    mayName: (name: Name) => boolean,
    isKnown: (name: Name) => boolean = () => false,
  ) =>
  ({ source, path }: Mended, mending: MessageMending): readonly Attribute[] =>
    source.attributes.flatMap((attribute): readonly Attribute[] => {
      const { name } = attribute
      if (name === xsiType) {
        const isNamed = mayName(readTypeName(source) ?? xsiType)
        return isNamed || !mending.forgive('unknown', path, `has the xsi:type ${attribute.value}`) ? [attribute] : []
      }
      if (isGeneralAttribute(name) || isKnown(name) || declared.some(each => each.name === name)) return [attribute]
      const intended = declared.find(each => each.name.local === name.local)?.name
      if (
        intended &&
        source.attribute(intended) === undefined &&
        mending.forgive('namespace', path, describeSpaces(name, intended))
      )
        return [{ ...attribute, name: intended }]
      if (matches?.(name.uri)) return [attribute]
      return mending.forgive('unknown', path, `has the attribute ${name.local}`) ? [] : [attribute]
    })

const describeSpaces = (found: Name, intended: Name): string =>
  `has ${found.local} in ${describeUri(found.uri)} in place of ${describeUri(intended.uri)}`
const describeUri = (uri: string): string => (uri === '' ? 'no namespace' : `the namespace ${uri}`)

// Elements

/** An element or wildcard of a content model, and its place in the order. */
interface Leaf {
  readonly plan: ElementPlan | AnyPlan
  readonly rank: number
}

/** A group that repeats is one place: only the order shows which elements belong together. */
function listLeaves(particles: readonly ParticlePlan[], leaves: Leaf[] = [], rank?: number): readonly Leaf[] {
  for (const each of particles) {
    const place = rank ?? (leaves.at(-1)?.rank ?? -1) + 1
    if (each.kind === 'element' || each.kind === 'any') leaves.push({ plan: each, rank: place })
    else listLeaves(each.parts, leaves, each.max > 1 ? place : rank)
  }
  return leaves
}

function mendContent(
  particles: readonly ParticlePlan[],
  isUnordered: boolean,
  { source, parent, path }: Mended,
  mending: MessageMending,
): readonly Node[] {
  const leaves = listLeaves(particles)
  const counts = new Map<Name, number>()
  const texts: Node[] = []
  const children: { readonly element: Element; readonly rank: number }[] = []
  for (const node of source.children) {
    if (node.kind === 'text') texts.push(node)
    if (node.kind !== 'element') continue
    const count = (counts.get(node.name) ?? 0) + 1
    counts.set(node.name, count)
    const at = { source: node, parent, name: node.name, path: `${path}/${node.name.local}[${count}]` }
    const found = mendChild(leaves, at, mending)
    if (found) children.push(found)
  }
  const ordered = isUnordered ? children : orderChildren(leaves, children, path, mending)
  const isBlank = leaves.length === 0 && texts.length > 0 && texts.every(isBlankNode)
  const isLeftOut =
    isBlank && (counts.size > 0 || mending.forgive('unknown', path, 'has white space where no text is allowed'))
  return [...(isLeftOut ? [] : texts), ...ordered.map(({ element }) => element)]
}
const isBlankNode = (node: Node): boolean => node.kind === 'text' && trimXmlSpace(node.value) === ''

/** Undefined: the child is left out. */
function mendChild(
  leaves: readonly Leaf[],
  at: Mended,
  mending: MessageMending,
): { readonly element: Element; readonly rank: number } | undefined {
  const { source, parent, path } = at
  const leaf = findLeaf(leaves, source.name) ?? findRenamedLeaf(leaves, at, mending)
  if (!leaf && mending.forgive('unknown', path, 'is not declared')) return undefined
  const rank = leaf?.rank ?? Number.POSITIVE_INFINITY
  if (leaf?.plan.kind !== 'element') return { element: copyElement(source, parent as Element), rank }
  const nil = source.attribute(xsiNil)
  const isNil = isTrueText(nil)
  if (isNil && !allowsNil(leaf.plan) && mending.forgive('nil', path, 'is nil')) return undefined
  const isUnfit = nil !== undefined && !isNil && !leaf.plan.isNillable
  const isWithout = isUnfit && mending.forgive('nil', path, 'has xsi:nil')
  const place = { ...at, source: isWithout ? leaveOutNil(source) : source, name: leaf.plan.name }
  return { element: mendTyped(leaf.plan, leaf.plan.type(), place, mending), rank }
}
function leaveOutNil({ parent, name, prefix, attributes, declarations, children }: Element): Element {
  const kept = attributes.filter(each => each.name !== xsiNil)
  const element = new Element(parent, name, prefix, kept, declarations)
  element.append(children)
  return element
}

/** A declared name takes precedence over a wildcard. */
const findLeaf = (leaves: readonly Leaf[], name: Name): Leaf | undefined =>
  leaves.find(({ plan }) => plan.kind === 'element' && plan.name === name) ??
  leaves.find(({ plan }) => plan.kind === 'any' && plan.matches(name.uri))
function findRenamedLeaf(
  leaves: readonly Leaf[],
  { source: { name }, path }: Mended,
  mending: MessageMending,
): Leaf | undefined {
  const candidates = leaves.filter(({ plan }) => plan.kind === 'element' && plan.name.local === name.local)
  const [leaf] = candidates
  const isClear = leaf?.plan.kind === 'element' && candidates.length === 1
  return isClear && mending.forgive('namespace', path, describeSpaces(name, leaf.plan.name)) ? leaf : undefined
}

/** Where a name has two places, only the order shows which is meant, so nothing is moved. */
function orderChildren<T extends { readonly element: Element; readonly rank: number }>(
  leaves: readonly Leaf[],
  children: readonly T[],
  path: string,
  mending: MessageMending,
): readonly T[] {
  const names = leaves.flatMap(({ plan }) => (plan.kind === 'element' ? [plan.name] : []))
  const isClear = new Set(names).size === names.length && leaves.length - names.length <= 1
  const sorted = children.toSorted((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
  const moved = sorted.findIndex((each, index) => each !== children[index])
  if (!isClear || moved < 0) return children
  const detail = `has ${children[moved]?.element.name.local} before ${sorted[moved]?.element.name.local}`
  return mending.forgive('order', path, detail) ? sorted : children
}
