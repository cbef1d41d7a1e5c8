/** Simple types that replace others by `xsi:type` (XML Schema Part 1 §3.3.4, §3.14.6). */
import type { Port } from './exchange.ts'
import { Flaw } from './lexical/flaw.ts'
import { listReachedTypes } from './xml-reach.ts'
import { basesOfBuiltIns, isSimpleType, type SimpleCodec, simpleCodecOf } from './xml-simple.ts'
import { type AnyXmlType, type QualifiedName, x } from './xml-type.ts'

/** A simple type that the schemas of some ports give a name. */
export interface NamedSimpleType {
  readonly name: QualifiedName
  readonly type: AnyXmlType
}
export const listNamedSimpleTypes = (ports: Iterable<Port>): readonly NamedSimpleType[] =>
  Array.from(ports).flatMap(port =>
    listReachedTypes(listPortElements(port), port.types).types.flatMap(type => {
      const { definition } = type
      const name = 'name' in definition && typeof definition.name === 'object' ? definition.name : undefined
      return name && isSimpleType(type) ? [{ name, type }] : []
    }),
  )

/** The elements of the messages of a port, and of its faults and header blocks. */
export const listPortElements = ({ exchanges }: Pick<Port, 'exchanges'>) =>
  Object.values(exchanges).flatMap(({ input, output, faults, requestHeaders, replyHeaders }) => {
    const bodies = [input, output].filter(each => typeof each === 'object')
    return [...bodies, ...[faults, requestHeaders, replyHeaders].flatMap(each => Object.values(each))]
  })

/**
 * Reads text of a narrower type where another one is declared: its values are some of the declared
 * type's. Undefined: the type is not derived from the declared one.
 */
export function findNarrowedCodec(declared: AnyXmlType, narrower: AnyXmlType): SimpleCodec | undefined {
  const { definition } = declared
  // Type Derivation OK (Simple), 2.2.4. The facets of a narrowed union hold for its members, too.
  if (definition.kind === 'union')
    for (const member of definition.of) {
      const found = member === narrower ? simpleCodecOf(member) : findNarrowedCodec(member, narrower)
      if (found) return found
    }
  const isDerived =
    declared === x.anySimpleType
      ? isSimpleType(narrower)
      : derivesFrom(narrower, declared) || listUnionMembers(declared).some(each => derivesFrom(narrower, each))
  return isDerived ? narrowCodec(simpleCodecOf(declared), simpleCodecOf(narrower)) : undefined
}

function derivesFrom(type: AnyXmlType, base: AnyXmlType): boolean {
  let at: AnyXmlType | undefined = type
  while (at && at !== base) at = baseOf(at)
  return at !== undefined
}
function baseOf({ definition }: AnyXmlType): AnyXmlType | undefined {
  if (definition.kind === 'restriction') return definition.of
  const base = definition.kind === 'builtIn' ? basesOfBuiltIns[definition.name] : undefined
  return base && x[base]
}
/** The members of a union, or of a narrowed union. */
export function listUnionMembers({ definition }: AnyXmlType): readonly AnyXmlType[] {
  if (definition.kind === 'restriction') return listUnionMembers(definition.of)
  return definition.kind === 'union' ? definition.of.flatMap(each => [each, ...listUnionMembers(each)]) : []
}

const narrowCodec = (codec: SimpleCodec, narrower: SimpleCodec): SimpleCodec => ({
  ...codec,
  read: (text, around) => {
    const narrow = narrower.read(text, around)
    return narrow instanceof Flaw ? narrow : codec.read(text, around)
  },
  unrestricted: codec.unrestricted ?? (narrower.unrestricted && codec),
})
