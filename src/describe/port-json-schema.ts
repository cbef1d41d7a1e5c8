/**
 * The types of ports as JSON Schema 2020-12: the content that `contract/xml-json.ts` reads and
 * writes. Where XML Schema says more than JSON Schema can (patterns with subtracted classes, bounds
 * of dates, which element an XML text is), the schema is wider than the check.
 */

import { type Json, omitUndefined } from '../base/objects.ts'
import { integerFormats } from '../contract/lexical/integer-format.ts'
import { allowsNil, countRequired, listMembers, listTaggedTypes, mayMemberBeNil } from '../contract/xml-members.ts'
import { isSimpleType } from '../contract/xml-simple.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  type AttachmentMark,
  type BuiltInName,
  type ComplexDefinition,
  hasOneMediaType,
  type NamespaceForm,
  type SchemaFacets,
  type TypeMembers,
} from '../contract/xml-type.ts'
import { componentName, type JsonSchema } from './json-schema.ts'

const plainForm: NamespaceForm = { uri: '', elements: 'qualified', attributes: 'unqualified' }

/** Named types, each once, since they may refer to themselves. */
export class PortJsonSchemas {
  readonly #definitions = new Map<string, JsonSchema>()
  readonly #names = new Map<AnyXmlType, string>()
  /** Unnamed types that are currently being written. */
  readonly #open = new Set<AnyXmlType>()
  readonly #prefix: string
  /** @param prefix precedes every name, also in references */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  get all(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.#definitions)
  }

  /** The content of a global element. */
  element({ type, marks }: AnyRootElement): JsonSchema {
    return orNull(addExpected(this.#type(type()), marks), allowsNil(marks))
  }

  /** An unnamed type gets the name of its element, since other elements may refer to it, too. */
  #referred({ name, type }: AnyRootElement): JsonSchema {
    const { definition } = type()
    if (definition.kind === 'complex' && !definition.name && !this.#names.has(type())) this.#reserve(type(), name.local)
    return this.#type(type())
  }
  #type(type: AnyXmlType): JsonSchema {
    const { definition } = type
    const name = definition.kind === 'builtIn' || definition.kind === 'derivable' ? undefined : definition.name
    const known = this.#names.get(type)
    if (known !== undefined) return { $ref: `#/components/schemas/${known}` }
    // An unnamed type that contains itself gets a name.
    if (name || this.#open.has(type))
      return { $ref: `#/components/schemas/${this.#reserve(type, name?.local ?? 'Part')}` }
    this.#open.add(type)
    const schema = this.#define(type)
    this.#open.delete(type)
    return schema
  }
  /** Reserves a free name before the schema is written, since the schema may refer to itself. */
  #reserve(type: AnyXmlType, local: string): string {
    const wished = this.#prefix + componentName(local)
    let name = wished
    for (let n = 2; this.#definitions.has(name); n++) name = `${wished}${n}`
    this.#names.set(type, name)
    this.#definitions.set(name, {})
    this.#definitions.set(name, this.#define(type))
    return name
  }

  #define(type: AnyXmlType): JsonSchema {
    const { definition } = type
    switch (definition.kind) {
      case 'complex':
        return this.#object(definition)
      case 'derivable':
        return {
          anyOf: [...this.#bases(definition.type), ...listTaggedTypes(definition).map(each => this.#tagged(each))],
        }
      case 'array':
        return { type: 'array', items: orNull(this.#type(definition.item()), true) }
      default:
        return isSimpleType(type) ? this.#simple(type) : xmlSchema
    }
  }
  #bases(type: AnyXmlType): readonly JsonSchema[] {
    const { definition } = type
    return definition.kind === 'complex' && definition.isAbstract ? [] : [this.#type(type)]
  }
  #tagged({ tag, type: { definition } }: { readonly tag: string; readonly type: AnyXmlType }): JsonSchema {
    return definition.kind === 'complex' ? this.#object(definition, { $type: { const: tag } }) : {}
  }

  #object(definition: ComplexDefinition, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
    const members = listMembers(definition, plainForm).map(({ key, member }) => [key, member] as const)
    return this.#members(members, more)
  }
  #members(members: readonly (readonly [string, AnyMember])[], more: Readonly<Record<string, JsonSchema>>): JsonSchema {
    const required = members.filter(([, { marks }]) => marks.min > 0 && marks.initial === undefined)
    const names = [...Object.keys(more), ...required.map(([key]) => key)]
    return {
      type: 'object',
      properties: { ...more, ...Object.fromEntries(members.map(([key, member]) => [key, this.#member(member)])) },
      ...(names.length > 0 && { required: names }),
      additionalProperties: false,
    }
  }

  #member(member: AnyMember): JsonSchema {
    const { max, isMany } = member.marks
    const min = countRequired(member.marks, 1)
    const single = this.#one(member)
    if (!isMany) return single
    return omitUndefined({
      type: 'array',
      items: single,
      minItems: min > 0 ? min : undefined,
      maxItems: Number.isFinite(max) ? max : undefined,
    })
  }
  #one(member: AnyMember): JsonSchema {
    const { particle, marks } = member
    switch (particle.kind) {
      case 'attribute':
      case 'text':
        return this.#type(particle.type)
      case 'element':
        return orNull(
          { ...addExpected(this.#type(particle.type()), marks), ...describeAttached(marks.attached) },
          mayMemberBeNil(member),
        )
      case 'reference':
        return orNull(addExpected(this.#referred(particle.to()), particle.to().marks), mayMemberBeNil(member))
      case 'sequence':
        return this.#members(Object.entries(particle.members), {})
      case 'choice':
        return this.#choice(particle.members)
      case 'any':
        return xmlSchema
      case 'anyAttribute':
        return { type: 'object', additionalProperties: { type: 'string' } }
    }
  }
  #choice(members: TypeMembers): JsonSchema {
    const branches = Object.entries(members).map(branch => this.#members([branch], {}))
    return branches.length === 0 ? { not: {} } : { oneOf: branches }
  }

  #simple(type: AnyXmlType): JsonSchema {
    const { definition } = type
    switch (definition.kind) {
      case 'builtIn':
        return builtInSchema(definition.name)
      case 'list':
        return { type: 'array', items: this.#type(definition.item) }
      case 'union':
        return { anyOf: definition.of.map(each => this.#type(each)) }
      case 'restriction': {
        const facets = facetsSchema(definition.of, definition.facets)
        const base = this.#type(definition.of)
        return Object.keys(facets).length === 0
          ? base
          : '$ref' in base
            ? { allOf: [base, facets] }
            : { ...base, ...facets }
      }
      default:
        return {}
    }
  }
}

/** JSON Schema Validation §8.4, for octets with one media type that is not a range. */
const addExpected = (schema: JsonSchema, { expects = '*' }: { readonly expects: string | undefined }): JsonSchema =>
  schema['type'] !== 'string' || /[*,;]/.test(expects) ? schema : { ...schema, contentMediaType: expects }
/** JSON Schema Validation §8.4. */
const describeAttached = (mark: AttachmentMark | undefined): JsonSchema =>
  mark && hasOneMediaType(mark) ? { contentMediaType: mark.mediaTypes[0] ?? '' } : {}

const orNull = (schema: JsonSchema, isNillable: boolean): JsonSchema =>
  isNillable ? { anyOf: [schema, { type: 'null' }] } : schema

/** The text of one complete element. */
const xmlSchema: JsonSchema = { type: 'string', contentMediaType: 'application/xml' }

const formats: Readonly<Partial<Record<BuiltInName, JsonSchema>>> = {
  boolean: { type: 'boolean' },
  decimal: { type: 'string', pattern: '^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)$' },
  float: { anyOf: [{ type: 'number' }, { enum: ['INF', '-INF', 'NaN'] }] },
  double: { anyOf: [{ type: 'number' }, { enum: ['INF', '-INF', 'NaN'] }] },
  hexBinary: { type: 'string', contentEncoding: 'base16' },
  base64Binary: { type: 'string', contentEncoding: 'base64' },
  swaRef: { type: 'string', contentEncoding: 'base64' },
}
/** A format implies its bounds; those of the other types are in XML Schema Part 2 §3.3. */
const integers: Readonly<Record<string, JsonSchema>> = {
  __proto__: null as never,
  ...Object.fromEntries(Object.entries(integerFormats).map(([name, format]) => [name, { format }])),
  integer: {},
  positiveInteger: { minimum: 1 },
  nonNegativeInteger: { minimum: 0 },
  negativeInteger: { maximum: -1 },
  nonPositiveInteger: { maximum: 0 },
}
const lists: ReadonlySet<string> = new Set(['IDREFS', 'ENTITIES', 'NMTOKENS'])
/** `x-xsd`: the type, which says what JSON Schema cannot, such as a date without a zone. */
function builtInSchema(name: BuiltInName): JsonSchema {
  if (lists.has(name)) return { type: 'array', items: { type: 'string' }, minItems: 1 }
  if (integers[name]) return { type: 'integer', ...integers[name], 'x-xsd': name }
  const known = formats[name] ?? { type: 'string' }
  return name === 'string' || name === 'boolean' ? known : { ...known, 'x-xsd': name }
}

/** The facets that JSON Schema has, for the JSON kind of the base's values. */
function facetsSchema(base: AnyXmlType, facets: SchemaFacets): JsonSchema {
  const kind = jsonKindOf(base)
  const { length, minLength = length, maxLength = length, minInclusive, maxInclusive, values } = facets
  if (kind === 'text') return omitUndefined<Json>({ enum: values, minLength, maxLength })
  if (kind === 'name') return omitUndefined<Json>({ enum: values })
  if (kind === 'list') return omitUndefined<Json>({ minItems: minLength, maxItems: maxLength })
  if (kind !== 'integer') return {}
  const whole = (text: string | undefined): Json | undefined => {
    if (text === undefined || !/^[+-]?[0-9]+$/.test(text)) return undefined
    const value = BigInt(text)
    const isSafe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    return isSafe ? Number(value) : value
  }
  const [least, most] = [whole(minInclusive), whole(maxInclusive)]
  const [above, below] = [whole(facets.minExclusive), whole(facets.maxExclusive)]
  const numbers = values?.flatMap(each => whole(each) ?? [])
  return omitUndefined<Json>({
    enum: numbers,
    minimum: least,
    maximum: most,
    exclusiveMinimum: above,
    exclusiveMaximum: below,
  })
}
/** Octets and decimals are text whose length is not that of their value; names have none. */
function jsonKindOf({ definition }: AnyXmlType): 'text' | 'name' | 'list' | 'integer' | 'other' {
  if (definition.kind === 'restriction') return jsonKindOf(definition.of)
  if (definition.kind === 'list') return 'list'
  if (definition.kind !== 'builtIn') return 'other'
  if (lists.has(definition.name)) return 'list'
  if (integers[definition.name]) return 'integer'
  if (definition.name === 'QName' || definition.name === 'NOTATION') return 'name'
  return definition.name in formats && definition.name !== 'anyURI' ? 'other' : 'text'
}
