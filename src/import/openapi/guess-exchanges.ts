/** Operations that are no part of a resource, as exchanges: a message in, a message out. */
import { type JsonObject, objectOf, stringOf } from '../../base/json-members.ts'
import type { Json } from '../../base/objects.ts'
import { exchange, type Port, type PortExchange, port } from '../../contract/exchange.ts'
import { capitalize } from '../../contract/lexical/text.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  type TypeMembers,
  type XmlNamespace,
  x,
} from '../../contract/xml-type.ts'
import type { Losses } from '../loss.ts'
import { answerSchema, type GuessRoom } from './guess-room.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import type { RestOperation } from './operations.ts'
import {
  contentSchema,
  describeSchema,
  listedTexts,
  propertiesOf,
  readSchemaFacts,
  requiredNamesOf,
  type SchemaFacts,
} from './schema-facts.ts'
import { toTypeName } from './schema-fields.ts'

export function guessPort(room: GuessRoom, namespace: string, operations: readonly RestOperation[]): Port | undefined {
  if (operations.length === 0) return undefined
  const types = new ExchangeTypes(room.document, x.namespace(namespace), room.losses, room.fields.comments)
  const exchanges: Record<string, PortExchange> = {}
  for (const operation of operations) {
    const name = nameExchange(operation, exchanges)
    const { input, output } = types.messages(name, operation)
    exchanges[name] = exchange({
      action: `${namespace}/${name}`,
      input,
      output,
      allow: room.grants.of(operation),
      safe: operation.method === 'GET' || operation.method === 'QUERY',
    })
    room.losses.add(operation.place, `belongs to no resource: it is the exchange ${name}`)
  }
  return port('Operations', { namespace, exchanges })
}

/** `GET /store/inventory` → `GetStoreInventory`, unless it has an operationId. */
function nameExchange({ id, method, segments }: RestOperation, taken: Readonly<Record<string, unknown>>): string {
  const words = segments.map(({ text, isParameter }) => (isParameter ? `By ${text}` : text)).join(' ')
  const wish = toTypeName(id || `${capitalize(method.toLowerCase())} ${words}`) || 'Operation'
  let name = wish
  for (let number = 2; Object.hasOwn(taken, name); number++) name = `${wish}${number}`
  return name
}

/** JSON Schemas as types of XML, which may contain themselves. */
class ExchangeTypes {
  readonly #document: OpenApiDocument
  readonly #namespace: XmlNamespace
  readonly #losses: Losses
  readonly #comments: Map<object, string>
  readonly #made = new Map<JsonObject, AnyXmlType>()
  readonly #names = new Set<string>()

  constructor(document: OpenApiDocument, namespace: XmlNamespace, losses: Losses, comments: Map<object, string>) {
    this.#document = document
    this.#namespace = namespace
    this.#losses = losses
    this.#comments = comments
  }

  messages(
    name: string,
    operation: RestOperation,
  ): { readonly input: AnyRootElement; readonly output: AnyRootElement } {
    const { request, query, segments } = operation
    const input: Record<string, AnyMember> = {}
    for (const { text, isParameter } of segments)
      if (isParameter) input[toMemberName(text, input)] = x.element(x.string)
    for (const each of query) {
      const given = each['schema'] ?? contentSchema(this.#document, each)
      input[toMemberName(stringOf(each['name']), input)] = this.#member(
        given,
        `${name}.${stringOf(each['name'])}`,
        each['required'] === true,
      )
    }
    Object.assign(input, this.#body(contentSchema(this.#document, request), name, input))
    const output = this.#body(answerSchema(this.#document, operation), `${name}Response`, {})
    const made = { input: this.#root(name, input), output: this.#root(`${name}Response`, output) }
    if (operation.comment !== '') this.#comments.set(made.input, operation.comment)
    return made
  }
  #root(name: string, members: TypeMembers): AnyRootElement {
    return this.#namespace.element(name, x.object(members))
  }
  /** The members of an object, or one member for anything else. */
  #body(given: Json | undefined, place: string, taken: TypeMembers): TypeMembers {
    if (given === undefined) return {}
    const facts = readSchemaFacts(this.#document, given)
    if (facts.type === 'object' && facts.options.length === 0 && propertiesOf(facts.schema).length > 0)
      return this.#members(facts.schema, place, taken)
    const name = toMemberName(facts.type === 'array' ? 'item' : 'value', taken)
    return { [name]: this.#member(given, `${place}.${name}`, false) }
  }

  #members(schema: JsonObject, place: string, taken: TypeMembers = {}): TypeMembers {
    const required = requiredNamesOf(schema)
    const members: Record<string, AnyMember> = {}
    for (const [name, given] of propertiesOf(schema)) {
      if (name === '_links') continue
      const key = toMemberName(name, { ...taken, ...members })
      if (key !== name) this.#losses.add(`${place}.${name}`, `is called ${key}: XML has no such name`)
      members[key] = this.#member(given, `${place}.${key}`, required.has(name))
    }
    return members
  }
  #member(given: Json | undefined, place: string, isRequired: boolean): AnyMember {
    const facts = readSchemaFacts(this.#document, given)
    const { schema, type, isNullable, options } = facts
    const isList = type === 'array' && options.length === 0
    const one = x.element(() => this.#lazily(isList ? schema['items'] : given, place))
    const base: AnyMember = isNullable && !isList ? one.nillable() : one
    const member: AnyMember = isList ? base.many() : isRequired ? base : base.optional()
    const comment = describeSchema({ ...schema, ...objectOf(given) })
    if (comment !== undefined && facts.name === '') this.#comments.set(member, comment)
    return member
  }
  readonly #lazy = new Map<string, AnyXmlType>()
  #lazily(given: Json | undefined, place: string): AnyXmlType {
    const known = this.#lazy.get(place)
    if (known) return known
    const made = this.#type(readSchemaFacts(this.#document, given), place)
    this.#lazy.set(place, made)
    return made
  }

  #type(facts: SchemaFacts, from: string): AnyXmlType {
    const { key, schema, type, options, name } = facts
    const place = name === '' ? from : toTypeName(name) // a type is the same wherever it is
    if (options.length > 0) return this.#once(facts, () => this.#choiceMembers(options, place))
    if (type === 'object' && propertiesOf(schema).length > 0)
      return this.#once(facts, () => this.#members(schema, place))
    if (type === 'array')
      return this.#once({ ...facts, key }, () => ({ item: this.#member(schema, `${place}.item`, false) }))
    const values = listedTexts(schema)
    if (values) return x.simple(x.string, { values })
    const scalar = type === 'string' ? (textTypes[stringOf(schema['format'])] ?? x.string) : scalarTypes[type]
    if (scalar) return type === 'integer' && schema['format'] === 'int32' ? x.int : scalar
    this.#losses.add(place, 'may be any JSON: it is a text here')
    return x.string
  }
  /** Its members are filled in after it is known, since it may contain itself. */
  #once({ key, name }: SchemaFacts, make: () => TypeMembers): AnyXmlType {
    const known = this.#made.get(key)
    if (known) return known
    const members: Record<string, AnyMember> = {}
    const type =
      name === '' ? x.object(members) : this.#namespace.type(this.#claimName(toTypeName(name) || 'Type'), members)
    this.#made.set(key, type)
    Object.assign(members, make())
    return type
  }
  #claimName(wish: string): string {
    let name = wish
    for (let number = 2; this.#names.has(name); number++) name = `${wish}${number}`
    this.#names.add(name)
    return name
  }
  #choiceMembers(options: readonly Json[], place: string): TypeMembers {
    const cases: Record<string, AnyMember> = {}
    for (const option of options) {
      const { name, type } = readSchemaFacts(this.#document, option)
      const wish = toTypeName(name || type || 'value')
      const key = toMemberName(wish.charAt(0).toLowerCase() + wish.slice(1), cases)
      cases[key] = this.#member(option, `${place}.${key}`, true)
    }
    this.#losses.add(place, `is one of several: one of ${Object.keys(cases).join(', ')} here`)
    return { oneOf: x.choice(cases) }
  }
}

const scalarTypes: Readonly<Record<string, AnyXmlType>> = {
  __proto__: null as never,
  boolean: x.boolean,
  integer: x.long,
  number: x.double,
}
const textTypes: Readonly<Record<string, AnyXmlType>> = {
  __proto__: null as never,
  date: x.date,
  time: x.time,
  'date-time': x.dateTime,
  duration: x.duration,
  uri: x.anyURI,
  byte: x.base64Binary,
  binary: x.base64Binary,
}

/** A name that XML and TypeScript have, and that is not taken. */
function toMemberName(wish: string, taken: Readonly<Record<string, unknown>>): string {
  const text = wish.replace(/[^A-Za-z0-9_.-]+/g, '_')
  const name = /^[A-Za-z_]/.test(text) ? text : `_${text}`
  let free = name
  for (let number = 2; Object.hasOwn(taken, free); number++) free = `${name}${number}`
  return free
}
