/** Types that no element declares, but that its `xsi:type` may name (XML Schema Part 1 §3.14.6). */
import type { Port } from '../contract/exchange.ts'
import { listPortElements, listUnionMembers } from '../contract/xml-derivation.ts'
import { listReachedTypes } from '../contract/xml-reach.ts'
import { basesOfBuiltIns, isSimpleType } from '../contract/xml-simple.ts'
import { type AnyMember, type AnyXmlType, builtInNames, cellTypeOf } from '../contract/xml-type.ts'
import { schemaNamespaces } from '../describe/reader/wsdl-elements.ts'
import { attributeOf, type SchemaComponents, schemaChild, splitClark, xsNs } from './schema/schema-components.ts'
import type { SchemaModel } from './schema/schema-model.ts'

/** The port with those simple types of its schemas that narrow its elements' types. */
export function addNarrowerTypes(port: Port, model: SchemaModel): Port {
  const { components } = model
  const literal = Object.entries(port.exchanges).filter(([, { style }]) => style !== 'encoded')
  const { types, elements } = listReachedTypes(listPortElements({ exchanges: Object.fromEntries(literal) }))
  const declared = new Set(
    [...types.flatMap(listElementTypes), ...elements.map(({ type }) => type())].flatMap(listTextNames),
  )
  const known = new Set(types.flatMap(({ definition }) => clarkNameOf(definition) ?? []))
  const narrower = components.names('simpleType').filter(name => {
    if (known.has(name) || components.find('simpleType', name)?.isRedefined) return false
    return listBases(components, name).some(each => declared.has(each))
  })
  return { ...port, types: narrower.map(name => model.typeOf(name, `port ${port.port}`)) }
}

/** The types of the elements in a type. */
function listElementTypes({ definition }: AnyXmlType): readonly AnyXmlType[] {
  const listOf = ({ particle }: AnyMember): readonly AnyXmlType[] => {
    if (particle.kind === 'choice' || particle.kind === 'sequence')
      return Object.values(particle.members).flatMap(listOf)
    return particle.kind === 'element' ? [particle.type()] : []
  }
  if (definition.kind === 'array') return [cellTypeOf(definition)]
  return definition.kind === 'complex' ? Object.values(definition.members).flatMap(listOf) : []
}
/** In James Clark's notation, including those of the members of a union. */
const listTextNames = (type: AnyXmlType): readonly string[] =>
  isSimpleType(type) ? [type, ...listUnionMembers(type)].flatMap(each => clarkNameOf(each.definition) ?? []) : []
function clarkNameOf(definition: AnyXmlType['definition']): string | undefined {
  if (definition.kind === 'builtIn') return `{${xsNs}}${definition.name}`
  return 'name' in definition && definition.name ? `{${definition.name.uri}}${definition.name.local}` : undefined
}

/** The named types that a type narrows, up to the type of all simple types. */
function listBases(components: SchemaComponents, name: string): readonly string[] {
  const bases: string[] = []
  for (let at = findBase(components, name); at !== undefined && !bases.includes(at); at = findBase(components, at))
    bases.push(at)
  return bases
}
function findBase(components: SchemaComponents, name: string): string | undefined {
  const anySimple = `{${xsNs}}anySimpleType`
  const { uri, local } = splitClark(name)
  if (schemaNamespaces.has(uri)) {
    const builtIn = builtInNames.find(each => each === local)
    const base = builtIn && basesOfBuiltIns[builtIn]
    return base === undefined ? (local === 'anySimpleType' ? undefined : anySimple) : `{${xsNs}}${base}`
  }
  const found = components.find('simpleType', name)
  let restriction = found && schemaChild(found.node, 'restriction')
  while (found && restriction) {
    const base = components.resolve(restriction, attributeOf(restriction, 'base'), found.form.uri)
    if (base !== undefined) return base
    const inside = schemaChild(restriction, 'simpleType')
    restriction = inside && schemaChild(inside, 'restriction')
  }
  return found && anySimple
}
