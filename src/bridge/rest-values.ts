/**
 * Converts between the JSON of a REST service and that of a message's members
 * (`contract/xml-json.ts`), following the types of its description. Members that the description
 * does not know are left out of a response, since services grow.
 */

import { isJsonObject, type Json, type JsonObject, stringOf } from '../base/objects.ts'
import { createXmlJsonCodec } from '../contract/xml-json.ts'
import { type AnyMember, type AnyXmlType, type TypeMembers, x } from '../contract/xml-type.ts'
import { parseJson, writeJson } from '../http/json.ts'
import type { JsonDifferences } from '../import/openapi/exchange-types.ts'

export class RestValues {
  readonly #differences: JsonDifferences
  constructor(differences: JsonDifferences) {
    this.#differences = differences
  }

  nameOf(key: string, member: AnyMember): string {
    return this.#differences.names.get(member) ?? key
  }

  // To the service

  /** The value of a member as the service expects it. */
  writeMember(member: AnyMember, json: Json): Json {
    const type = typeOf(member)
    if (!member.marks.isMany || !Array.isArray(json)) return this.#write(type, json)
    return json.map((each: Json) => this.#write(type, each))
  }
  #write(type: AnyXmlType, json: Json): Json {
    if (this.#differences.texts.has(type)) return parseAny(json)
    const members = typeMembersOf(type)
    if (!members || !isJsonObject(json)) return json
    const written = this.writeMembers(members, json)
    if (this.#differences.arrays.has(type)) return Object.values(written)[0] ?? []
    if (this.#differences.maps.has(type)) return objectOfEntries(written)
    const [choice] = this.#choiceOf(members)
    return choice === undefined ? written : (written[choice] ?? {})
  }
  writeMembers(members: TypeMembers, json: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(json).flatMap(([key, value]) => {
        const member = members[key]
        if (!member || value === undefined || this.#isLeftOut(member, value)) return []
        if (this.#differences.choices.has(member)) return [[key, this.#writeBranch(member, value)]]
        return [[this.nameOf(key, member), this.writeMember(member, value)]]
      }),
    )
  }
  /** XML does not distinguish an empty list from no list. */
  #isLeftOut(member: AnyMember, value: Json): boolean {
    return Array.isArray(value) && value.length === 0 && !this.#differences.requiredLists.has(member)
  }
  #writeBranch(choice: AnyMember, json: Json): Json {
    const [branch] = isJsonObject(json) ? Object.entries(json) : []
    const member = branch && branchesOf(choice)[branch[0]]
    return member ? this.writeMember(member, branch[1]) : json
  }

  // From the service

  /** The value that the service sent for a member; undefined: it is absent. */
  readMember(member: AnyMember, json: Json): Json | undefined {
    const { isMany, isNillable } = member.marks
    if (json === null && (isMany || !isNillable)) return undefined
    if (!isMany || !Array.isArray(json)) return this.#readElement(member, json)
    return json.map((each: Json) => this.#readElement(member, each))
  }
  /** Null of a nillable element is null, whatever its type; in any JSON it is a text like others. */
  #readElement(member: AnyMember, json: Json): Json {
    const type = typeOf(member)
    return json === null && member.marks.isNillable && !this.#differences.texts.has(type)
      ? null
      : this.#read(type, json)
  }
  #read(type: AnyXmlType, json: Json): Json {
    if (this.#differences.texts.has(type)) return typeof json === 'string' ? json : writeJson(json)
    const members = typeMembersOf(type)
    if (!members) return readPlainValue(type, json)
    const [choice, member] = this.#choiceOf(members)
    if (choice !== undefined && member) return { [choice]: this.#readBranch(member, json) }
    const [only] = Object.entries(members)
    if (this.#differences.arrays.has(type) && only) return { [only[0]]: this.readMember(only[1], json) ?? [] }
    if (this.#differences.maps.has(type) && isJsonObject(json))
      return this.readMembers(members, { entry: Object.entries(json).map(([key, value]) => ({ key, value })) })
    return isJsonObject(json) ? this.readMembers(members, json) : json
  }
  /**
   * The same for an HTTP field (OpenAPI §4.8.12.3, `simple`), with commas between several values.
   */
  readFieldText(member: AnyMember, text: string): Json | undefined {
    const type = typeOf(member)
    if (!member.marks.isMany) return this.readMember(member, readLiteral(type, text))
    const values = text.split(',').map(each => each.trim())
    return this.readMember(
      member,
      values.filter(each => each !== '').map(each => readLiteral(type, each)),
    )
  }
  readMembers(members: TypeMembers, json: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(members).flatMap(([key, member]) => {
        const name = this.nameOf(key, member)
        const value = Object.hasOwn(json, name) ? this.readMember(member, json[name] ?? null) : undefined
        return value === undefined ? [] : [[key, value]]
      }),
    )
  }
  /** The branch that the value names, or else the one that is closest to it of those that it fits. */
  #readBranch(choice: AnyMember, json: Json): Json {
    const { property = '', branches: said } = this.#differences.discriminators.get(choice) ?? {}
    const known = isJsonObject(json) ? said?.get(stringOf(json[property])) : undefined
    const member = known === undefined ? undefined : branchesOf(choice)[known]
    if (known !== undefined && member) return { [known]: this.readMember(member, json) ?? null }
    const codec = createXmlJsonCodec(probes.element('probe', x.object({ choice })), () => undefined)
    const readings = Object.entries(branchesOf(choice)).map(([key, member]) => ({
      type: member.marks.isMany ? x.string : typeOf(member),
      value: { [key]: this.readMember(member, json) ?? null },
    }))
    const fitting = readings.filter(({ value }) => {
      const problems: Parameters<typeof codec.read>[1] = []
      codec.read({ choice: value }, problems)
      return problems.length === 0
    })
    return (this.closest(fitting, json) ?? readings[0])?.value ?? {}
  }
  /**
   * The first of several readings, unless a later one is closer: members that a type does not know
   * are left out, so that a value may fit several types.
   */
  closest<Reading extends { readonly type: AnyXmlType }>(fitting: readonly Reading[], json: Json): Reading | undefined {
    if (!isJsonObject(json)) return fitting[0]
    const [first, ...others] = fitting.map(reading => ({ reading, ...this.#measure(reading.type, json) }))
    return others.reduce((best, each) => (best && isCloser(each, best) ? each : best), first)?.reading
  }
  #measure(type: AnyXmlType, json: JsonObject): Measure {
    const members = typeMembersOf(type) ?? {}
    const named = Object.entries(members).map(([key, member]) => ({ member, name: this.nameOf(key, member) }))
    const [known, absent] = [true, false].map(has => named.filter(({ name }) => Object.hasOwn(json, name) === has))
    const knowsAll = this.#differences.maps.has(type) || this.#choiceOf(members).length > 0
    return {
      known: new Set(knowsAll ? Object.keys(json) : known?.map(({ name }) => name)),
      isNamed: known?.some(({ member }) => isConstant(typeOf(member))) === true,
      isWhole: !absent?.some(({ member }) => this.#differences.requiredLists.has(member)),
    }
  }

  #choiceOf(members: TypeMembers): readonly [key: string, member: AnyMember] | readonly [] {
    return Object.entries(members).find(([, member]) => this.#differences.choices.has(member)) ?? []
  }
}
const probes = x.namespace('urn:probe')

/** What a type reads of an object. */
interface Measure {
  readonly known: ReadonlySet<string>
  /** A member of it has only the value that it has. */
  readonly isNamed: boolean
  /** No required list is absent. */
  readonly isWhole: boolean
}
function isCloser(one: Measure, other: Measure): boolean {
  if (one.isNamed !== other.isNamed) return one.isNamed
  if (one.isWhole !== other.isWhole) return one.isWhole
  return one.known.size > other.known.size && other.known.isSubsetOf(one.known)
}
const isConstant = ({ definition }: AnyXmlType): boolean =>
  definition.kind === 'restriction' && definition.facets.values?.length === 1

const typeOf = ({ particle }: AnyMember): AnyXmlType => (particle.kind === 'element' ? particle.type() : x.string)
const branchesOf = ({ particle }: AnyMember): TypeMembers => (particle.kind === 'choice' ? particle.members : {})
export function typeMembersOf({ definition }: AnyXmlType): TypeMembers | undefined {
  if (definition.kind === 'derivable') return typeMembersOf(definition.type)
  return definition.kind === 'complex' ? definition.members : undefined
}

/** If a key occurs twice, its last value counts. */
const objectOfEntries = ({ entry }: JsonObject): JsonObject =>
  Object.fromEntries(
    (Array.isArray(entry) ? (entry as readonly Json[]) : []).flatMap(each =>
      isJsonObject(each) ? [[String(each['key']), each['value'] ?? null]] : [],
    ),
  )

/** A text that is JSON stands for that value; any other text stands for itself. */
function parseAny(json: Json): Json {
  if (typeof json !== 'string') return json
  const { value } = parseJson(json)
  return value === undefined ? json : value
}

/** A number or a boolean where the type allows it; any other text stays a text. */
function readLiteral(type: AnyXmlType, text: string): Json {
  if (!isLiteralType(type)) return text
  const { value } = parseJson(text)
  return typeof value === 'object' || value === undefined ? text : value
}
const literalNames = new Set(
  ['boolean', 'double', 'integer', 'long', 'int', 'short', 'byte'].concat(
    ['Long', 'Int', 'Short', 'Byte'].map(each => `unsigned${each}`),
  ),
)
const isLiteralType = ({ definition }: AnyXmlType): boolean =>
  definition.kind === 'restriction'
    ? isLiteralType(definition.of)
    : definition.kind === 'builtIn' && literalNames.has(definition.name)

/** A service may write a number where its description has a text. */
function readPlainValue(type: AnyXmlType, json: Json): Json {
  return isTextType(type) && (typeof json === 'number' || typeof json === 'boolean' || typeof json === 'bigint')
    ? String(json)
    : json
}
const isTextType = ({ definition }: AnyXmlType): boolean =>
  definition.kind === 'restriction'
    ? isTextType(definition.of)
    : definition.kind === 'builtIn' && definition.name === 'string'
