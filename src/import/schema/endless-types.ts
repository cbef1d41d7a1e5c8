/**
 * Types without an end: their required elements lead back to themselves, so no finite value is
 * valid. Authors of linked lists in SOAP's encoding declare them, and end a list with nil.
 */
import {
  attributeOf,
  hasTrue,
  type SchemaComponent,
  type SchemaComponents,
  schemaChildren,
} from './schema-components.ts'

/** Complex types whose required elements lead back to them without one that may be nil. */
export function findEndlessTypes(components: SchemaComponents): ReadonlySet<string> {
  const leadsTo = new Map<string, readonly string[]>()
  for (const name of components.names('complexType')) {
    const found = components.find('complexType', name)
    if (found) leadsTo.set(name, listRequiredTypes(components, found))
  }
  return keepCircles(leadsTo)
}

/** The types of elements that every value has: not those in a choice, a group or a base. */
function listRequiredTypes(components: SchemaComponents, { node, form }: SchemaComponent): readonly string[] {
  return schemaChildren(node).flatMap(child => {
    if (attributeOf(child, 'minOccurs') === '0') return []
    if (child.name.local === 'sequence' || child.name.local === 'all')
      return listRequiredTypes(components, { node: child, form, location: '' })
    if (child.name.local !== 'element' || hasTrue(child, 'nillable')) return []
    return components.resolve(child, attributeOf(child, 'type'), form.uri) ?? []
  })
}

/**
 * Named groups that lead to themselves through elements whose types have no name. Written in place,
 * such a type would never end, so it needs a name.
 */
export function findRecursiveGroups(components: SchemaComponents): ReadonlySet<string> {
  const leadsTo = new Map<string, readonly string[]>()
  for (const name of components.names('group')) {
    const found = components.find('group', name)
    if (found) leadsTo.set(name, listReferredGroups(components, found.node, found.form.uri))
  }
  return keepCircles(leadsTo)
}

const listReferredGroups = (components: SchemaComponents, node: SchemaComponent['node'], uri: string): string[] =>
  schemaChildren(node).flatMap(child =>
    child.name.local === 'group'
      ? (components.resolve(child, attributeOf(child, 'ref'), uri) ?? [])
      : listReferredGroups(components, child, uri),
  )

/** Keeps what is in a circle, or between two: the rest leads nowhere, or is not reached. */
function keepCircles(leadsTo: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const inner = new Map([...leadsTo].map(([name, to]) => [name, to.filter(each => leadsTo.has(each))]))
  const reverse = new Map<string, string[]>([...inner.keys()].map(name => [name, []]))
  for (const [name, to] of inner) for (const each of to) reverse.get(each)?.push(name)
  const names = new Set(inner.keys())
  dropEnds(names, inner, reverse)
  dropEnds(names, reverse, inner)
  return names
}
type Edges = ReadonlyMap<string, readonly string[]>
/** Repeatedly drops nodes without an outgoing edge. */
function dropEnds(names: Set<string>, out: Edges, into: Edges): void {
  const counts = new Map([...names].map(name => [name, (out.get(name) ?? []).filter(each => names.has(each)).length]))
  const ends = [...names].filter(name => counts.get(name) === 0)
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    names.delete(end)
    for (const each of into.get(end) ?? []) {
      if (!names.has(each)) continue
      const count = (counts.get(each) ?? 0) - 1
      counts.set(each, count)
      if (count === 0) ends.push(each)
    }
  }
}
