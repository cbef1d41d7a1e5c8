/**
 * What may replace a type or an element: derived types, and the members of its substitution group,
 * unless `block` forbids it (XML Schema Part 1 §3.3.4, §3.3.6, §3.4.6).
 */
import type { Element } from '../../xml/index.ts'
import {
  attributeOf,
  firstHeadOf,
  type SchemaComponent,
  type SchemaComponents,
  schemaAround,
  schemaChild,
} from './schema-components.ts'

/** Methods of derivation, and `substitution`. */
export type BlockedMethods = ReadonlySet<string>
/** One step from a type to its base. */
export interface Derivation {
  readonly by: 'extension' | 'restriction'
  /** In James Clark's notation; undefined: a simple type without a name. */
  readonly base: string | undefined
}

const allMethods: BlockedMethods = new Set(['substitution', 'extension', 'restriction'])
/** For an element or a complex type: its own `block`, or else its schema's (§3.3.2, §3.4.2). */
export function blockOf(node: Element): BlockedMethods {
  const written = attributeOf(node, 'block') ?? attributeOf(schemaAround(node), 'blockDefault') ?? ''
  return written === '#all' ? allMethods : new Set(written.split(/\s+/).filter(Boolean))
}

/** Undefined: a type whose only base is the type of all types. */
export function readDerivation(components: SchemaComponents, { node, form }: SchemaComponent): Derivation | undefined {
  const content = schemaChild(node, 'complexContent', 'simpleContent') ?? node
  const derivation = schemaChild(content, 'extension', 'restriction')
  if (!derivation) return undefined
  const by = derivation.name.local === 'extension' ? 'extension' : 'restriction'
  return { by, base: components.resolve(derivation, attributeOf(derivation, 'base'), form.uri) }
}

/** A type under the name of its base. */
export interface DerivedType {
  readonly name: string
  readonly by: Derivation['by']
}

/** Complex types by the names of their bases, each with the types derived from it directly. */
export function listDerivedTypes(components: SchemaComponents): ReadonlyMap<string, readonly DerivedType[]> {
  const derived = components.names('complexType').flatMap(name => {
    const found = components.find('complexType', name)
    const { by, base } = (found && readDerivation(components, found)) ?? {}
    return by && base !== undefined ? [{ name, by, base }] : []
  })
  return Map.groupBy(derived, ({ base }) => base)
}

/** Whether a member of a substitution group may replace its head (§3.3.6). */
export function maySubstitute(components: SchemaComponents, member: string, head: string): boolean {
  const declared = components.find('element', head)
  if (!declared) return true
  const blocked = new Set(blockOf(declared.node))
  if (blocked.has('substitution')) return false
  const target = findElementType(components, head)
  if (target?.component) for (const each of blockOf(target.component.node)) blocked.add(each)
  const used = new Set<string>()
  const passed = new Set<Element>()
  let at = findElementType(components, member)
  for (let isFirst = true; at?.component && at.component.node !== target?.component?.node; isFirst = false) {
    const { component }: ElementType = at
    if (passed.has(component.node)) break
    passed.add(component.node)
    const step = readDerivation(components, component)
    used.add(step?.by ?? 'restriction')
    if (!isFirst) for (const each of blockOf(component.node)) blocked.add(each)
    at = step?.base === undefined ? undefined : findType(components, step.base)
  }
  if (at && !at.component && at.name !== target?.name) used.add('restriction') // of built-in types
  return blocked.isDisjointFrom(used)
}

/** A type; a built-in type has only a name. */
interface ElementType {
  readonly name?: string
  readonly component?: SchemaComponent
}

const findType = (components: SchemaComponents, name: string): ElementType => {
  const component = components.find('complexType', name) ?? components.find('simpleType', name)
  return { name, ...(component && { component }) }
}

/** Undefined: any type. */
function findElementType(
  components: SchemaComponents,
  element: string,
  seen = new Set<string>(),
): ElementType | undefined {
  const found = seen.has(element) ? undefined : components.find('element', element)
  if (!found) return undefined
  const { node, form } = found
  const named = components.resolve(node, attributeOf(node, 'type'), form.uri)
  if (named !== undefined) return findType(components, named)
  const inside = schemaChild(node, 'complexType', 'simpleType')
  if (inside) return { component: { ...found, node: inside } }
  const head = components.resolve(node, firstHeadOf(node), form.uri)
  return head === undefined ? undefined : findElementType(components, head, seen.add(element))
}
