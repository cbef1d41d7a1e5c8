/**
 * The content of an element as parameters of an address: its children by their local names, if they
 * have simple types (WSDL 2.0 Part 2 §4.2, §6.8.2).
 */
import { boundFlaw, Flaw } from './lexical/flaw.ts'
import { allowsNil, countRequired } from './xml-members.ts'
import { equalsText, isSimpleType, simpleCodecOf } from './xml-simple.ts'
import type { AnyMember, AnyRootElement, AnyXmlType, BuiltInName } from './xml-type.ts'

export type UriPairs = readonly (readonly [name: string, text: string])[]
/** The flaw in the parameter with this name. */
export interface UriFlaw {
  readonly name: string
  readonly flaw: Flaw
}
export interface UriContent {
  /** The names of its parameters, and of the required ones. */
  readonly names: ReadonlySet<string>
  readonly required: ReadonlySet<string>
  readonly read: (pairs: UriPairs) => { readonly value: object } | UriFlaw
}

interface UriMember {
  readonly key: string
  readonly name: string
  readonly type: AnyXmlType
  readonly marks: AnyMember['marks']
}

/** Undefined if an address cannot have such content. */
export function compileUriContent(root: AnyRootElement): UriContent | undefined {
  const { definition } = root.type()
  if (definition.kind !== 'complex' || definition.base) return undefined
  const members: UriMember[] = []
  for (const [key, { particle, marks }] of Object.entries(definition.members)) {
    const type = particle.kind === 'element' ? particle.type() : undefined
    if (!type || !isSimpleType(type) || isOfNames(type)) return undefined
    members.push({ key, name: marks.name ?? key, type, marks })
  }
  return {
    names: new Set(members.map(each => each.name)),
    required: new Set(members.filter(({ marks }) => marks.min > 0 && !marks.isNillable).map(each => each.name)),
    read: pairs => readUriMembers(members, pairs),
  }
}

/** §4.2.1: the prefix of a name has no meaning in an address, and octets cannot be part of one. */
const unfitNames: ReadonlySet<BuiltInName> = new Set(['QName', 'NOTATION', 'hexBinary', 'base64Binary', 'swaRef'])
function isOfNames({ definition }: AnyXmlType): boolean {
  switch (definition.kind) {
    case 'builtIn':
      return unfitNames.has(definition.name)
    case 'restriction':
      return isOfNames(definition.of)
    case 'list':
      return isOfNames(definition.item)
    case 'union':
      return definition.of.some(isOfNames)
    default:
      return true
  }
}

function readUriMembers(members: readonly UriMember[], pairs: UriPairs): { readonly value: object } | UriFlaw {
  const stray = pairs.find(([name]) => !members.some(each => each.name === name))
  if (stray) return { name: stray[0], flaw: new Flaw('unknown', 'is not a known parameter') }
  const value: Record<string, unknown> = {}
  for (const member of members) {
    const texts = pairs.filter(([name]) => name === member.name).map(([, text]) => text)
    const found = readUriMember(member, texts)
    if (found instanceof Flaw) return { name: member.name, flaw: found }
    if (found !== undefined) value[member.key] = found
  }
  return { value }
}

function readUriMember({ type, marks }: UriMember, texts: readonly string[]): unknown {
  if (texts.length === 0 && allowsNil(marks) && !marks.isMany && marks.min > 0) return null
  if (texts.length < marks.min) return new Flaw('required', 'is required')
  const least = countRequired(marks, texts.length)
  if (texts.length < least) return boundFlaw('minItems', `must be given at least ${least} times`)
  if (texts.length > marks.max) return boundFlaw('maxItems', `must be given at most ${marks.max} times`)
  const values = texts.map(text => (text === '' && allowsNil(marks) ? null : readUriText(type, marks, text)))
  return values.find(each => each instanceof Flaw) ?? (marks.isMany ? values : values[0])
}
function readUriText(type: AnyXmlType, { initial, isFixed }: AnyMember['marks'], text: string): unknown {
  const codec = simpleCodecOf(type)
  const around = { qname: () => undefined }
  const value = codec.read(text === '' && initial !== undefined ? initial : text, around)
  if (value instanceof Flaw || !isFixed || initial === undefined) return value
  return equalsText(codec, value, initial, around) ? value : new Flaw('const', `must be ${initial}`)
}
