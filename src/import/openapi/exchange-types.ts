/** Converts JSON Schemas to XML types, and the JSON of an operation to a message. */

import { type Json, type JsonObject, jsonItems, objectEntries, objectOf, stringOf } from '../../base/objects.ts'
import { integersByFormat } from '../../contract/lexical/integer-format.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  builtInNames,
  type TypeMembers,
  type XmlNamespace,
  XmlType,
  x,
} from '../../contract/xml-type.ts'
import { anyDurationPattern } from '../../describe/temporal-pattern.ts'
import { findFreeName } from '../constant-names.ts'
import type { Losses } from '../loss.ts'
import { OneWayMembers } from './one-way-members.ts'
import { nameOfComponent, type OpenApiDocument } from './openapi-document.ts'
import { findSuccess, hasOwnFeed, type RestOperation } from './operations.ts'
import { type ParameterStyle, readParameterStyle } from './parameter-style.ts'
import {
  readBooleanBounds,
  readIntegerBounds,
  readNumberBounds,
  readTextBounds,
  type SchemaBounds,
  wholeNumberOf,
} from './schema-bounds.ts'
import {
  describeSchema,
  findFormContent,
  findJsonContent,
  isOpenByIntent,
  listedTexts,
  type MapFacts,
  mediaTypesOf,
  namesMembers,
  propertiesOf,
  readMapFacts,
  readSchemaFacts,
  readTypedFacts,
  requiredNamesOf,
  type SchemaFacts,
} from './schema-facts.ts'
import { membersLeftOut, toTypeName } from './schema-fields.ts'

/** A member of a message, and its name outside XML. */
export interface NamedPart {
  readonly key: string
  readonly name: string
}
export interface ParameterPart extends NamedPart {
  readonly how: ParameterStyle
}
/** What a document says about a member of a form (OpenAPI §4.8.15). */
export interface MemberEncoding {
  /** The media type of its part in `multipart/form-data`; undefined: that of its value. */
  readonly mediaType: string | undefined
  /** In `application/x-www-form-urlencoded`; undefined: a list is repeated, an object is JSON. */
  readonly how: ParameterStyle | undefined
}
/** Content as several members of a message, or as one. */
export interface ContentPart {
  readonly mediaType: string
  readonly as: { readonly keys: readonly string[] } | { readonly key: string }
  /** The encodings of a form's members, by name. */
  readonly encodings?: ReadonlyMap<string, MemberEncoding>
}

/** The two messages of an operation, and where their members are in HTTP. */
export interface RestMessages {
  readonly input: AnyRootElement
  readonly output: AnyRootElement
  readonly path: readonly ParameterPart[]
  readonly query: readonly ParameterPart[]
  readonly headers: readonly ParameterPart[]
  readonly cookies: readonly ParameterPart[]
  readonly content: ContentPart | undefined
  readonly answer: ContentPart | undefined
  /** Fields of the response; a service may leave out any of them. */
  readonly answerFields: readonly NamedPart[]
}

/** OpenAPI §4.8.25 */
export interface Discriminator {
  readonly property: string
  /** Its values, including those for schemas by name. */
  readonly branches: ReadonlyMap<string, string>
}

/** Where the JSON of a type differs from that of its members (`contract/xml-json.ts`). */
export interface JsonDifferences {
  /** For members whose name is not a name in XML. */
  readonly names: ReadonlyMap<AnyMember, string>
  /** Members that stand for the value of their only branch. */
  readonly choices: ReadonlySet<AnyMember>
  /** For choices whose values have a member that names the branch. */
  readonly discriminators: ReadonlyMap<AnyMember, Discriminator>
  /** Types with one member, which stand for the array in that member. */
  readonly arrays: ReadonlySet<AnyXmlType>
  /** Types of members `entry`, each a key and a value, which stand for an object with any names. */
  readonly maps: ReadonlySet<AnyXmlType>
  /** Texts that stand for any JSON. */
  readonly texts: ReadonlySet<AnyXmlType>
  /** Lists that are present even when they are empty. */
  readonly requiredLists: ReadonlySet<AnyMember>
}

/**
 * JSON Schemas as types of XML, which may contain themselves. A request has no `readOnly` members,
 * a response no `writeOnly` ones (OpenAPI §4.8.24), so a type with such members becomes two.
 */
export class ExchangeTypes implements JsonDifferences {
  readonly names: Map<AnyMember, string>
  readonly choices: Set<AnyMember>
  readonly discriminators: Map<AnyMember, Discriminator>
  readonly arrays: Set<AnyXmlType>
  readonly maps: Set<AnyXmlType>
  readonly texts: Set<AnyXmlType>
  readonly requiredLists: Set<AnyMember>
  readonly #document: OpenApiDocument
  readonly #namespace: XmlNamespace
  readonly #losses: Losses
  readonly #comments: Map<object, string>
  readonly #made = new Map<JsonObject, AnyXmlType>()
  readonly #typeNames: Set<string>
  readonly #oneWay: OneWayMembers
  /** The types of requests; undefined: these are they. */
  readonly #sent: ExchangeTypes | undefined
  readonly #answered: ExchangeTypes | undefined

  /** @param answered if these are the types of requests: those of responses */
  constructor(
    document: OpenApiDocument,
    namespace: XmlNamespace,
    losses: Losses,
    comments: Map<object, string>,
    answered?: ExchangeTypes,
  ) {
    this.names = answered?.names ?? new Map()
    this.choices = answered?.choices ?? new Set()
    this.discriminators = answered?.discriminators ?? new Map()
    this.arrays = answered?.arrays ?? new Set()
    this.maps = answered?.maps ?? new Set()
    this.texts = answered?.texts ?? new Set()
    this.requiredLists = answered?.requiredLists ?? new Set()
    this.#typeNames = answered ? answered.#typeNames : new Set()
    this.#oneWay = answered ? answered.#oneWay : new OneWayMembers(document)
    this.#answered = answered
    this.#sent = answered ? undefined : new ExchangeTypes(document, namespace, losses, comments, this)
    this.#document = document
    this.#namespace = namespace
    this.#losses = losses
    this.#comments = comments
  }

  /** @param fieldsOf the fields of a response that are members of the answer */
  messages(name: string, operation: RestOperation, fieldsOf = listAnswerFields): RestMessages {
    const { input, ...sent } = (this.#sent ?? this).#request(name, operation)
    const output: Record<string, AnyMember> = {}
    const success = findSuccess(operation)?.[1]
    const answer = this.#content(success, `${name}Response`, output)
    const answerFields = fieldsOf(this.#document, success).map(([field, given]) =>
      this.#parameter({ ...given, name: field, required: false }, `${name}Response`, output),
    )
    const pair = { input: this.root(name, input), output: this.root(`${name}Response`, output) }
    if (operation.comment !== '') this.#comments.set(pair.input, operation.comment)
    return { ...pair, ...sent, answer, answerFields }
  }
  #request(name: string, operation: RestOperation) {
    const input: Record<string, AnyMember> = {}
    const path = operation.parameters.map(each => {
      const parameter = operation.allParameters.find(({ name: known, in: place }) => known === each && place === 'path')
      return this.#segment(parameter ?? { in: 'path', name: each }, name, input)
    })
    const query = operation.query.map(each => this.#parameter(each, name, input))
    const headers = operation.headers
      .filter(each => !isOfHttp.test(stringOf(each['name'])))
      .map(each => this.#parameter(each, name, input))
    const cookies = operation.cookies.map(each => this.#parameter(each, name, input))
    const isRequired = this.#document.resolve(operation.request).value['required'] === true
    const content = this.#content(operation.request, name, input, isRequired)
    return { input, path, query, headers, cookies, content }
  }
  root(name: string, members: TypeMembers): AnyRootElement {
    return this.#namespace.element(name, x.object(members))
  }
  /** The members of an object; undefined for any other schema. */
  objectMembers(schema: Json | undefined, place: string, taken: TypeMembers = {}): TypeMembers | undefined {
    const facts = readSchemaFacts(this.#document, schema)
    const isObject = facts.type === 'object' && facts.options.length === 0 && namesMembers(facts.schema)
    return isObject ? this.#members(facts.schema, place, taken) : undefined
  }

  /** A text, if its schema does not state a type. */
  #segment(parameter: JsonObject, place: string, into: Record<string, AnyMember>): ParameterPart {
    const { type, options } = readSchemaFacts(this.#document, this.#schemaOf(parameter))
    if (options.length === 0 && type !== '') return this.#parameter({ ...parameter, required: true }, place, into)
    const key = toMemberName(stringOf(parameter['name']), into)
    into[key] = x.element(x.string)
    return { key, name: stringOf(parameter['name']), how: readParameterStyle(parameter) }
  }
  #parameter(parameter: JsonObject, place: string, into: Record<string, AnyMember>): ParameterPart {
    const name = stringOf(parameter['name'])
    const key = toMemberName(name, into)
    into[key] = this.#member(this.#schemaOf(parameter), `${place}.${name}`, parameter['required'] === true)
    const how = readParameterStyle(parameter)
    this.#recordStyle(parameter, `${place}.${name}`, how)
    return { key, name, how }
  }
  /** OpenAPI §4.8.12.3 defines a style for scalars, and for lists and objects of these. */
  #recordStyle(parameter: JsonObject, place: string, { isJson }: ParameterStyle): void {
    const { schema, type, options } = readSchemaFacts(this.#document, this.#schemaOf(parameter))
    const parts = type === 'object' ? propertiesOf(schema).map(([, part]) => part) : [schema['items']]
    const isNested = parts.some(part => /^(array|object)\b/.test(readSchemaFacts(this.#document, part).type))
    if (isNested && !isJson && options.length === 0)
      this.#losses.add(place, 'has lists or objects in it, which no style writes: they are sent as JSON')
    if (parameter['allowEmptyValue'] === true && type !== 'string')
      this.#losses.add(place, 'may be empty in an address: it is left out, or has a value')
  }
  #schemaOf(parameter: JsonObject): Json | undefined {
    return parameter['schema'] ?? findJsonContent(this.#document, parameter)?.schema
  }
  /**
   * JSON and forms by their schema, text unchanged, anything else as octets.
   * @param isRequired OpenAPI §4.8.13: the content may not be absent
   */
  #content(
    media: Json | undefined,
    place: string,
    into: Record<string, AnyMember>,
    isRequired = false,
  ): ContentPart | undefined {
    const structured = findJsonContent(this.#document, media) ?? findFormContent(this.#document, media)
    if (structured?.schema !== undefined)
      return {
        mediaType: structured.mediaType,
        as: this.#structured(structured.schema, place, into, isRequired),
        encodings: this.#encodings(objectEntries(structured.encoding), place),
      }
    const [mediaType] = structured ? [structured.mediaType] : mediaTypesOf(this.#document, media)
    if (mediaType === undefined) return undefined
    const isText = structured !== undefined || /^text\//i.test(mediaType)
    const key = toMemberName('content', into)
    const member = x.element(isText ? (x.string as AnyXmlType) : x.base64Binary)
    into[key] = isRequired ? member : member.optional()
    return { mediaType, as: { key } }
  }
  #encodings(given: readonly (readonly [string, JsonObject])[], place: string): ReadonlyMap<string, MemberEncoding> {
    return new Map(
      given.map(([name, each]) => {
        const fields = Object.keys(objectOf(each['headers']))
        if (fields.length > 0) this.#losses.add(`${place}.${name}`, `its part is sent without ${fields.join(', ')}`)
        const encoding = readEncoding(each)
        if (encoding.how === undefined && encoding.mediaType === undefined)
          this.#losses.add(
            `${place}.${name}`,
            `may be ${stringOf(each['contentType'])}: it is sent as its value has it`,
          )
        return [name, encoding]
      }),
    )
  }
  #structured(schema: Json, place: string, into: Record<string, AnyMember>, isRequired: boolean): ContentPart['as'] {
    const isChoice = readTypedFacts(this.#document, schema).options.length > 0
    const members = isChoice ? undefined : this.objectMembers(schema, place, into)
    if (members) {
      Object.assign(into, members)
      return { keys: Object.keys(members) }
    }
    const isArray = readSchemaFacts(this.#document, schema).type === 'array'
    const key = toMemberName(isArray ? 'item' : 'value', into)
    into[key] = this.#member(schema, `${place}.${key}`, isRequired)
    return { key }
  }

  #members(schema: JsonObject, place: string, taken: TypeMembers = {}): TypeMembers {
    const required = requiredNamesOf(schema)
    const members: Record<string, AnyMember> = {}
    const branchesOf = this.#findBranches(schema, taken)
    for (const [name, given] of propertiesOf(schema)) {
      if (this.#isOwnLinks(name) || this.#oneWay.has(given, this.#answered ? 'readOnly' : 'writeOnly')) continue
      const key = toMemberName(name, { ...taken, ...members })
      if (key !== name) this.#losses.add(`${place}.${name}`, `is called ${key}: ${whyRenamed(name)}`)
      const member = this.#member(given, `${place}.${key}`, required.has(name), branchesOf.get(name))
      if (key !== name) this.names.set(member, name)
      if (member.marks.isMany && required.has(name)) this.requiredLists.add(member)
      members[key] = member
    }
    if (isOpenByIntent(schema)) this.#losses.add(place, membersLeftOut)
    return members
  }
  /** The links of a service of ours are for its REST callers; those of others are content. */
  #isOwnLinks(name: string): boolean {
    return name === '_links' && hasOwnFeed(this.#document.root)
  }
  /**
   * Members that form a choice: objects with one member each, whose names must be free in XML,
   * where a choice has no element of its own.
   */
  #findBranches(schema: JsonObject, taken: TypeMembers): ReadonlyMap<string, JsonObject> {
    const names = new Set([...Object.keys(taken), ...propertiesOf(schema).map(([name]) => name)])
    const byName = new Map<string, JsonObject>()
    for (const [name, given] of propertiesOf(schema)) {
      const branches = readBranches(given) ?? readBranches(objectOf(given)['items'])
      if (branches === undefined || Object.keys(branches).some(each => names.has(each))) continue
      for (const each of Object.keys(branches)) names.add(each)
      byName.set(name, branches)
    }
    return byName
  }
  #member(given: Json | undefined, place: string, isRequired: boolean, branches?: JsonObject): AnyMember {
    const facts = readSchemaFacts(this.#document, given)
    const { schema, type, options } = facts
    const isList = type === 'array' && options.length === 0
    const { isNullable } = isList ? readSchemaFacts(this.#document, schema['items']) : facts
    // An array item that is a component has a name, too, since it may contain that array.
    const itemName = facts.name === '' ? '' : `${facts.name} item`
    const single: AnyMember =
      branches === undefined
        ? x.element(() => (isList ? this.#lazily(schema['items'], place, itemName) : this.#lazily(given, place)))
        : x.choice(this.#members({ properties: branches, required: Object.keys(branches) }, place))
    const base: AnyMember = isNullable ? single.nillable() : single
    const member: AnyMember = isList ? this.#many(base, schema, place, isRequired) : isRequired ? base : base.optional()
    // The description of a component is placed at its type.
    const comment = describeSchema(facts.name === '' ? { ...schema, ...objectOf(given) } : objectOf(given))
    if (comment !== undefined) this.#comments.set(member, comment)
    return member
  }
  /** A list that may be absent is then empty. */
  #many(one: AnyMember, schema: JsonObject, place: string, isRequired: boolean): AnyMember {
    if (schema['uniqueItems'] === true) this.#losses.add(place, 'uniqueItems is not checked')
    const [least = 0, max] = [wholeNumberOf(schema['minItems']), wholeNumberOf(schema['maxItems'])]
    return isRequired || least === 0 ? one.many(least, max) : one.manyOrNone(least, max)
  }
  readonly #lazy = new Map<string, AnyXmlType>()
  #lazily(given: Json | undefined, place: string, name = ''): AnyXmlType {
    const existing = this.#lazy.get(place)
    if (existing) return existing
    const facts = readTypedFacts(this.#document, given)
    const type = this.#type({ ...facts, name: facts.name || name }, place)
    this.#lazy.set(place, type)
    return type
  }

  #type(facts: SchemaFacts, from: string): AnyXmlType {
    const { schema, type, options } = facts
    if (this.#answered && !this.#oneWay.areIn(schema)) return this.#answered.#type(facts, from)
    const name = this.#answered && facts.name !== '' ? `${facts.name} draft` : facts.name
    const place = name === '' ? from : toTypeName(name) // a type is the same wherever it is
    if (options.length > 0) return this.#once(facts, place, () => this.#choiceMembers(facts, place))
    if (type === 'object' && namesMembers(schema)) return this.#once(facts, place, () => this.#members(schema, place))
    if (type === 'array') return this.#array(facts, place)
    const map = type === 'object' ? readMapFacts(this.#document, schema) : undefined
    if (map) return this.#map(facts, map, place)
    const values = listedTexts(schema)
    const named = type === 'string' ? findNamedText(schema) : undefined
    if (values) return x.simple(named ?? x.string, { values })
    const scalar = named ?? formatTypes[type]?.[stringOf(schema['format'])] ?? scalarTypes[type]
    if (scalar) return this.#scalar(scalar, schema, type, place)
    this.#losses.add(place, 'may be any JSON: it is a text here')
    const text = new XmlType<string>(x.string.definition)
    this.texts.add(text)
    return text
  }
  #scalar(wide: AnyXmlType, schema: JsonObject, type: string, place: string): AnyXmlType {
    const { facets, unchecked } = (boundsOfTypes[type] ?? noBounds)(schema, wide)
    for (const each of unchecked) this.#losses.add(place, each)
    return Object.keys(facets).length === 0 ? wide : x.simple(wide, facets)
  }
  #array(facts: SchemaFacts, place: string): AnyXmlType {
    const arrayType = this.#once(facts, place, () => ({ item: this.#member(facts.schema, `${place}.item`, true) }))
    this.arrays.add(arrayType)
    return arrayType
  }
  #map(facts: SchemaFacts, { value, names }: MapFacts, place: string): AnyXmlType {
    const mapType = this.#once(facts, place, () => {
      const key = x.element(this.#type({ ...facts, schema: names, type: 'string', name: '' }, `${place}.key`))
      const entry = x.object({ key, value: this.#member(value, `${place}.value`, true) })
      const [min, max] = [wholeNumberOf(facts.schema['minProperties']), wholeNumberOf(facts.schema['maxProperties'])]
      return { entry: x.element(entry).many(min, max) }
    })
    this.maps.add(mapType)
    return mapType
  }
  /** Its members are filled in after it is known, since it may contain itself. */
  #once({ key, name }: SchemaFacts, place: string, make: () => TypeMembers): AnyXmlType {
    const existing = this.#made.get(key)
    if (existing) return existing
    const members: Record<string, AnyMember> = {}
    const wish = name !== '' || isComposed(key) ? place || 'Type' : ''
    const type =
      wish === '' ? x.object(members) : this.#namespace.type(this.#claimName(toTypeName(wish) || 'Type'), members)
    this.#made.set(key, type)
    Object.assign(members, make())
    return type
  }
  #claimName(wish: string): string {
    const name = findFreeName(wish, each => this.#typeNames.has(each))
    this.#typeNames.add(name)
    return name
  }
  #choiceMembers({ schema, options }: SchemaFacts, place: string): TypeMembers {
    const cases: Record<string, AnyMember> = {}
    const keys = new Map<string, string>()
    for (const option of options) {
      const { name, type } = readSchemaFacts(this.#document, option)
      const wish = toTypeName(name || type || 'value')
      const key = toMemberName(wish.charAt(0).toLowerCase() + wish.slice(1), cases)
      cases[key] = this.#member(option, `${place}.${key}`, true)
      if (name !== '') keys.set(nameOfComponent(name), key)
    }
    this.#losses.add(
      place,
      `has one of several schemas: its value is { oneOf: … } with one of ${Object.keys(cases).join(', ')}`,
    )
    const oneOf = x.choice(cases)
    this.choices.add(oneOf)
    const discriminator = objectOf(schema['discriminator'])
    const mapping = Object.entries(objectOf(discriminator['mapping'])).flatMap(([value, target]) => {
      const key = keys.get(stringOf(target).replace(/^.*\//s, ''))
      return key === undefined ? [] : [[value, key] as const]
    })
    const property = stringOf(discriminator['propertyName'])
    if (property !== '') this.discriminators.set(oneOf, { property, branches: new Map([...keys, ...mapping]) })
    return { oneOf }
  }
}

/** OpenAPI §4.8.15.1; if there are several media types, none is chosen. */
function readEncoding(given: JsonObject): MemberEncoding {
  const isStyled = ['style', 'explode', 'allowReserved'].some(each => given[each] !== undefined)
  const mediaType = stringOf(given['contentType']).replace(/\s+/g, '')
  return {
    mediaType: /^[^,*]+$/.test(mediaType) ? mediaType : undefined,
    how: isStyled ? readParameterStyle({ ...given, in: 'query' }) : undefined,
  }
}

/** Each of its schemas allows one object with exactly one member: the members by name. */
function readBranches(given: Json | undefined): JsonObject | undefined {
  const { oneOf, ...others } = objectOf(given)
  const options = jsonItems(oneOf).map(objectOf)
  const branches = options.flatMap(each => propertiesOf(each))
  const isChoice =
    options.length > 1 &&
    Object.keys(others).every(each => each === 'description') &&
    options.every(isBranch) &&
    branches.every(([name, each]) => xmlName.test(name) && readBranches(each) === undefined)
  const named = Object.fromEntries(branches)
  return isChoice && Object.keys(named).length === options.length ? named : undefined
}
const isBranch = (option: JsonObject): boolean =>
  option['additionalProperties'] === false &&
  propertiesOf(option).length === 1 &&
  requiredNamesOf(option).size === 1 &&
  Object.keys(option).every(each => ['type', 'properties', 'required', 'additionalProperties'].includes(each))

/**
 * Whether it includes the members of others, through which it may contain itself: only a name ends
 * that.
 */
const isComposed = (schema: JsonObject): boolean =>
  jsonItems(schema['allOf']).some(part => objectOf(part)['$ref'] !== undefined)

/** OpenAPI §4.8.12.1: the first three are ignored; the others belong to the connection. */
const isOfHttp =
  /^(accept|content-type|authorization|connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i

/** Fields of a representation, a connection, or credentials, which tell callers nothing. */
const isOfExchange =
  /^(accept-.*|age|allow|authentication-info|cache-control|connection|content-.*|date|expires|keep-alive|retry-after|server|set-cookie|strict-transport-security|trailer|transfer-encoding|upgrade|vary|www-authenticate)$/i
/** The fields of a response that are members of the answer (OpenAPI §4.8.17, `headers`). */
export const listAnswerFields = (
  document: OpenApiDocument,
  response: Json | undefined,
): readonly (readonly [name: string, header: JsonObject])[] =>
  Object.entries(objectOf(document.resolve(response).value['headers'])).flatMap(([name, header]) =>
    isOfExchange.test(name) ? [] : [[name, document.resolve(header).value]],
  )

/** An integer has no bounds of its own (JSON Schema Validation §6.1.1; OpenAPI format registry). */
const scalarTypes: Readonly<Record<string, AnyXmlType>> = {
  __proto__: null as never,
  boolean: x.boolean,
  integer: x.integer,
  number: x.double,
  string: x.string,
}
/** Dates have no bounds in JSON Schema, and lengths of octets count their text. */
const noBounds = (): SchemaBounds => ({ facets: {}, unchecked: [] })
const boundsOfTypes: Readonly<Record<string, (schema: JsonObject, wide: AnyXmlType) => SchemaBounds>> = {
  __proto__: null as never,
  integer: readIntegerBounds,
  number: readNumberBounds,
  boolean: readBooleanBounds,
  string: (schema, wide) => (measuredTypes.has(wide) ? readTextBounds(schema) : noBounds()),
}
const integerTypes: Readonly<Record<string, AnyXmlType>> = {
  __proto__: null as never,
  ...Object.fromEntries([...integersByFormat].map(([format, name]) => [format, x[name]])),
}
const textTypes: Readonly<Record<string, AnyXmlType>> = {
  __proto__: null as never,
  date: x.date,
  time: x.time,
  'date-time': x.dateTime,
  duration: x.simple(x.string, { patterns: [anyDurationPattern] }), // as text: XML has no weeks
  uri: x.anyURI,
  byte: x.base64Binary,
  binary: x.base64Binary,
}

/** JSON Schema Validation §8.3: texts of octets. */
const encodedTypes: Readonly<Record<string, AnyXmlType>> = {
  __proto__: null as never,
  base64: x.base64Binary,
  base16: x.hexBinary,
}
/** A type by its name in our own descriptions; a pattern says more, except for decimals. */
function findNamedText({ contentEncoding, pattern, 'x-xsd': given }: JsonObject): AnyXmlType | undefined {
  const name = builtInNames.find(each => each === given)
  const isWhole = pattern === undefined || name === 'decimal'
  return encodedTypes[stringOf(contentEncoding)] ?? (name !== undefined && isWhole ? x[name] : undefined)
}
/** Texts whose length is that of their value. */
const measuredTypes: ReadonlySet<AnyXmlType> = new Set<AnyXmlType>([
  ...[x.string, x.anyURI, x.normalizedString, x.token, x.language],
  ...[x.Name, x.NCName, x.NMTOKEN, x.ID, x.IDREF, x.ENTITY],
])
const formatTypes: Readonly<Record<string, Readonly<Record<string, AnyXmlType>>>> = {
  __proto__: null as never,
  integer: integerTypes,
  string: textTypes,
}

const xmlName = /^[A-Za-z_][A-Za-z0-9_.-]*$/
const whyRenamed = (name: string): string => (xmlName.test(name) ? 'a parameter has that name' : 'XML has no such name')

/** A free name that is valid in XML and TypeScript. */
function toMemberName(wish: string, taken: Readonly<Record<string, unknown>>): string {
  const text = wish.replace(/[^A-Za-z0-9_.-]+/g, '_')
  const name = /^[A-Za-z_]/.test(text) ? text : `_${text}`
  return findFreeName(name, each => Object.hasOwn(taken, each))
}
