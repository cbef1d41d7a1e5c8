/**
 * Reads the REST face of a release from its OpenAPI document (3.0, 3.1 or 3.2). The names of path
 * parameters are not on the wire: `/orders/{id}` and `/orders/{order}` are the same path.
 */
import { isJsonObject, type Json, type JsonObject, jsonItems, objectOf, ownMember, stringOf } from '../base/objects.ts'
import { jsonPatchSchema } from '../describe/openapi/openapi-components.ts'
import { writeJson } from '../http/json.ts'
import { impliedType } from '../import/openapi/schema-facts.ts'
import {
  type DescribedInput,
  type DescribedOperation,
  type DescribedOutput,
  DiffImpossible,
  type ServiceDescription,
} from './service-description.ts'
import { anyType, type WireMember, type WireType } from './wire-type.ts'

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']

const withoutCredentials = 'anyone that has no credentials'

/** @param document parsed JSON or YAML */
export function readRestDescription(document: Json, source: string): ServiceDescription {
  const root = objectOf(document)
  if (!/^3\.[0-2]\./.test(stringOf(root['openapi'])))
    throw new DiffImpossible(
      `${source} is not an OpenAPI document of version 3.0 to 3.2: "openapi" is ${stringOf(root['openapi']) || 'missing'}`,
    )
  return new OpenApiReader(root).read(source)
}

const jsonPatchType = 'application/json-patch+json'

/**
 * The addresses of a service as texts of its description begin with them, whole and by path: a
 * document that a service serves has both, one from its contract has neither.
 */
const listOwnAddresses = (root: JsonObject): readonly string[] =>
  jsonItems(root['servers'])
    .map(server => stringOf(objectOf(server)['url']))
    .flatMap(url => [url, URL.parse(url)?.pathname ?? ''])
    .map(address => address.replace(/\/+$/, ''))

class OpenApiReader {
  readonly #root: JsonObject
  readonly #types = new Map<string, WireType>()
  readonly #addresses: readonly string[]

  constructor(root: JsonObject) {
    this.#root = root
    this.#addresses = listOwnAddresses(root)
  }

  read(source: string): ServiceDescription {
    const operations = new Map<string, DescribedOperation>()
    for (const [path, item] of Object.entries(objectOf(this.#root['paths']))) {
      const shared = this.#resolve(item)
      const more = Object.entries(objectOf(shared['additionalOperations']))
      const own = methods
        .filter(method => isJsonObject(shared[method]))
        .map(method => [method.toUpperCase(), shared[method]] as const)
      for (const [method, operation] of [...own, ...more])
        operations.set(`${method} ${path.replace(/\{[^}]*\}/g, '{}')}`, this.#operation(shared, objectOf(operation)))
    }
    return { face: 'rest', source, operations, types: this.#types }
  }

  #operation(shared: JsonObject, operation: JsonObject): DescribedOperation {
    const parameters = [...jsonItems(shared['parameters']), ...jsonItems(operation['parameters'])]
    return {
      inputs: new Map([
        ...parameters.flatMap(each => this.#parameter(each)),
        ...this.#content(operation['requestBody']),
      ]),
      outputs: new Map(
        Object.entries(objectOf(operation['responses'])).flatMap(([status, each]) => this.#outputs(status, each)),
      ),
      facts: new Map(),
      ways: new Map([['access', this.#access(operation)]]),
    }
  }

  #parameter(given: Json): readonly (readonly [string, DescribedInput])[] {
    const parameter = this.#resolve(given)
    const place = stringOf(parameter['in'])
    if (place === 'path') return []
    const name = place === 'header' ? stringOf(parameter['name']).toLowerCase() : stringOf(parameter['name'])
    const [content] = Object.values(objectOf(parameter['content']))
    const type = this.#schema(parameter['schema'] ?? objectOf(content)['schema'])
    return [[`${place} ${name}`, { type, isRequired: parameter['required'] === true, isAlternative: false }]]
  }

  #content(given: Json | undefined): readonly (readonly [string, DescribedInput])[] {
    const body = this.#resolve(given)
    // OpenAPI 3.1 by Diglot names JSON Patch in words; its schema is that of every service.
    const named = stringOf(body['description']).includes(jsonPatchType) && {
      [jsonPatchType]: { schema: jsonPatchSchema },
    }
    return Object.entries({ ...named, ...objectOf(body['content']) }).map(([mediaType, content]) => [
      `content ${mediaType.toLowerCase()}`,
      { type: this.#schema(objectOf(content)['schema']), isRequired: body['required'] === true, isAlternative: true },
    ])
  }

  #outputs(status: string, given: Json): readonly (readonly [string, DescribedOutput])[] {
    const response = this.#resolve(given)
    const kind = /^[1-3]/.test(status) ? 'content' : 'error'
    const contents = Object.entries(objectOf(response['content'])).map(([mediaType, content]) => {
      const { schema, itemSchema } = objectOf(content)
      return [
        `${status} ${mediaType.toLowerCase()}`,
        { type: this.#schema(schema ?? itemSchema), outcome: status, kind },
      ] as const
    })
    const bare = contents.length === 0 ? [[status, { type: anyType, outcome: status, kind }] as const] : []
    const fields = Object.entries(objectOf(response['headers'])).map(([name, field]) => {
      const type = this.#schema(this.#resolve(field)['schema'])
      return [`${status} field ${name.toLowerCase()}`, { type, outcome: status, kind: 'field' }] as const
    })
    return [...contents, ...bare, ...(kind === 'content' ? fields : [])]
  }

  #access(operation: JsonObject): readonly string[] {
    const requirements = operation['security'] ?? this.#root['security']
    if (requirements === undefined) return [withoutCredentials]
    const ways = jsonItems(requirements).map(
      each => Object.keys(objectOf(each)).sort().join(' and ') || withoutCredentials,
    )
    return ways.length === 0 ? [withoutCredentials] : ways
  }

  /** Resolves a reference within the document; any other reference means any value. */
  #resolve(given: Json | undefined): JsonObject {
    let current = objectOf(given)
    for (let steps = 0; typeof current['$ref'] === 'string' && steps < 32; steps++)
      current = objectOf(this.#at(current['$ref']))
    return current
  }
  #at(reference: string): Json | undefined {
    if (!reference.startsWith('#/')) return undefined
    let current: Json | undefined = this.#root
    for (const step of decodeURIComponent(reference.slice(2)).split('/'))
      current = isJsonObject(current) ? ownMember(current, step.replaceAll('~1', '/').replaceAll('~0', '~')) : undefined
    return current
  }

  #schema(given: Json | undefined): WireType {
    if (!isJsonObject(given)) return anyType
    const reference = given['$ref']
    if (typeof reference === 'string') return this.#named(reference)
    const [one, ...more] = jsonItems(given['allOf'])
    if (one !== undefined) return this.#schema(this.#mergeAll(given, [one, ...more]))
    const options = [...jsonItems(given['oneOf']), ...jsonItems(given['anyOf'])]
    if (options.length > 0) return this.#choice(given, options)
    return this.#plain(given)
  }

  #named(reference: string): WireType {
    const name = reference.replace(/^#\/components\/schemas\//, '')
    if (!this.#types.has(name)) {
      this.#types.set(name, anyType) // until the type is known: it may contain itself
      this.#types.set(name, this.#schema(this.#at(reference)))
    }
    return { kind: 'named', name }
  }

  /** JSON Schema §10.2.1.1: all apply; the members and requirements of objects are merged. */
  #mergeAll(given: JsonObject, parts: readonly Json[]): JsonObject {
    const { allOf: _, ...own } = given
    return mergeSchemas([...parts.map(part => this.#flatten(part)), own])
  }
  #flatten(part: Json): JsonObject {
    const schema = this.#resolve(part)
    const parts = jsonItems(schema['allOf'])
    return parts.length === 0 ? schema : this.#mergeAll(schema, parts)
  }

  #choice(given: JsonObject, options: readonly Json[]): WireType {
    const isNull = (option: Json): boolean => objectOf(option)['type'] === 'null'
    const real = options.filter(option => !isNull(option))
    const isNullable = real.length < options.length || given['nullable'] === true
    const [only, ...more] = real
    if (only === undefined) return anyType
    const { oneOf: _, anyOf: __, ...around } = given
    if (more.length === 0) return nullableType(this.#schema(around['type'] ? around : only), isNullable)
    return { kind: 'choice', isNullable, options: real.map(option => this.#schema(option)) }
  }

  #plain(given: JsonObject): WireType {
    const types = (Array.isArray(given['type']) ? given['type'] : [given['type']]).filter(
      each => typeof each === 'string',
    )
    const isNullable = given['nullable'] === true || types.includes('null')
    const real = types.filter(each => each !== 'null')
    if (real.length > 1)
      return { kind: 'choice', isNullable, options: real.map(type => this.#schema({ ...given, type })) }
    const type = stringOf(real[0]) || impliedType(given)
    if (type === 'object') return this.#object(given, isNullable)
    if (type === 'array')
      return { kind: 'list', isNullable, item: this.#schema(given['items']), facets: restrictionsOf(given, listFacets) }
    if (type === '') return anyType
    const values = given['const'] === undefined ? given['enum'] : [given['const']]
    return {
      kind: 'scalar',
      base: type,
      isNullable,
      ...(Array.isArray(values) && { values: this.#values(values.filter(each => each !== null)) }),
      facets: restrictionsOf(given, scalarFacets),
    }
  }

  /** Problem types are compared by their paths below the address of the service (RFC 9457 §3.1.1). */
  #values(values: readonly Json[]): readonly string[] {
    const texts = values.map(value => {
      const text = String(value)
      const own = this.#addresses.find(address => text.startsWith(`${address}/problems/`))
      return own === undefined ? text : text.slice(own.length)
    })
    return [...new Set(texts)]
  }

  /** JSON Schema Validation 2020-12 §9.2; OpenAPI 3.1 §4.8.24. */
  #initial(schema: Json): Pick<WireMember, 'initial'> {
    const initial = objectOf(schema)['default'] ?? this.#resolve(schema)['default']
    return initial === undefined ? {} : { initial: writeJson(initial) }
  }

  #object(given: JsonObject, isNullable: boolean): WireType {
    const required = new Set(jsonItems(given['required']))
    const members = Object.entries(objectOf(given['properties'])).map(([name, schema]): [string, WireMember] => [
      name,
      { type: this.#schema(schema), isRequired: required.has(name), ...this.#initial(schema) },
    ])
    const rest = given['additionalProperties'] ?? given['unevaluatedProperties']
    return {
      kind: 'object',
      isNullable,
      members: new Map(members),
      rest: rest === false ? 'none' : isJsonObject(rest) ? this.#schema(rest) : 'any',
      ...(isJsonObject(given['propertyNames']) && {
        names: this.#schema({ type: 'string', ...given['propertyNames'] }),
      }),
      isOrdered: false,
      facets: restrictionsOf(given, objectFacets),
    }
  }
}

function mergeSchemas(parts: readonly JsonObject[]): JsonObject {
  const properties = parts.flatMap(part => Object.entries(objectOf(part['properties'])))
  const required = parts.flatMap(part => jsonItems(part['required']))
  return {
    ...Object.fromEntries(parts.flatMap(part => Object.entries(part))),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
  }
}

const nullableType = (type: WireType, isNullable: boolean): WireType =>
  isNullable && type.kind !== 'any' ? { ...type, isNullable } : type

const scalarFacets =
  'minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf contentEncoding contentMediaType'.split(
    ' ',
  )
const listFacets = ['minItems', 'maxItems', 'uniqueItems']
const objectFacets = ['minProperties', 'maxProperties']
function restrictionsOf(given: JsonObject, names: readonly string[]): ReadonlyMap<string, string | number> {
  return new Map(
    names.flatMap(name => {
      const value = ownMember(given, name)
      if (value === undefined || value === false || (value === 'decimal' && isStatedByPattern(given))) return []
      return [[name, typeof value === 'number' || isBeyondDoubles(value) ? Number(value) : String(value)] as const]
    }),
  )
}

/** The pattern of a decimal text restricts it: our own descriptions once had this format, too. */
const isStatedByPattern = (given: JsonObject): boolean =>
  given['format'] === 'decimal' && typeof given['pattern'] === 'string'

/** RFC 8259 §6: parsers disagree on integers beyond 2^53, such as 64-bit bounds. */
const isBeyondDoubles = (value: Json): boolean =>
  typeof value !== 'string' && Number.isInteger(Number(value)) && !Number.isSafeInteger(Number(value))
