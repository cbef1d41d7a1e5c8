/** The parameters of operations: queries, header fields, preconditions, preferences. */
import type { Scalar } from '../../contract/field.ts'
import { allowsComparison, type Comparison, type FilterField, findFilterField } from '../../contract/filter-field.ts'
import { headersOfOperation, isOfRequest } from '../../contract/header.ts'
import { isCreatedByPut, type Operation } from '../../contract/operation.ts'
import type { Resource } from '../../contract/resource.ts'
import { isScalar } from '../../contract/shape.ts'
import { componentName, doubleNumberSchema, type JsonSchema, scalarSchema } from '../json-schema.ts'
import { type PreferenceName, preferParameter, refTo } from './openapi-components.ts'
import { comparedFields } from './openapi-schemas.ts'
import {
  type Address,
  describedParameter,
  keepsAnswer,
  preferencesOf,
  takesWords,
  type VersionFacts,
} from './version-facts.ts'

export class OperationParameters {
  /** Those that several operations refer to, by name. */
  readonly components: Record<string, JsonSchema> = {}
  readonly #facts: VersionFacts

  constructor(facts: VersionFacts) {
    this.#facts = facts
  }

  parametersOf(address: Address, method: string, operation: Operation): readonly JsonSchema[] {
    const once = method === 'POST' && keepsAnswer(operation) ? ['idempotencyKey'] : []
    return [
      ...this.#queryParameters(address, operation),
      ...this.#headerParameters(operation),
      ...[...conditionsOf(operation), ...once].map(name => refTo('parameters', name)),
      ...this.#preferParameter(preferencesOf(operation, method)),
    ]
  }

  #preferParameter(names: readonly PreferenceName[]): readonly JsonSchema[] {
    if (names.length === 0) return []
    const known = ['prefer', ...names].join('.')
    this.components[known] = preferParameter(names)
    return [refTo('parameters', known)]
  }

  /** Headers of the contract that have an HTTP field, and the blocks of a port as JSON. */
  #headerParameters(operation: Operation): readonly JsonSchema[] {
    const { name } = operation
    if (operation.kind === 'exchange')
      return Object.entries(operation.exchange.requestHeaders).map(([block, root]) => ({
        name: `Soap-${block}`,
        in: 'header',
        content: { 'application/json': { schema: this.#facts.elements.element(root) } },
      }))
    return headersOfOperation(this.#facts.service, this.#facts.version, name)
      .filter(isOfRequest)
      .flatMap(({ field, content, isRequired }) =>
        field === undefined || content === 'xml' || !isScalar(content.shape)
          ? []
          : [
              {
                name: field,
                in: 'header',
                ...describedParameter(content),
                ...(isRequired && { required: true }),
                schema: scalarSchema(content.shape),
              },
            ],
      )
  }

  #queryParameters(address: Address, operation: Operation): readonly JsonSchema[] {
    if (operation.kind === 'bulk') return this.#filterParameters(operation.resource, operation.resource.given.filter)
    if (operation.kind === 'get') return [refTo('parameters', 'fields')]
    if (operation.kind !== 'list' && operation.kind !== 'search' && operation.kind !== 'getSearch') return []
    const paging = pageControls.map(name => refTo('parameters', name))
    if (operation.kind === 'list') {
      const words = takesWords(operation, this.#facts.service) ? [refTo('parameters', 'q')] : []
      return [...paging, ...words, ...this.#filterParameters(operation.resource, operation.resource.given.filter)]
    }
    if (operation.kind === 'getSearch' || address.template !== '/search') return paging
    return [...paging, refTo('parameters', 'q'), ...this.#equalityParameters(operation.resource)]
  }

  /**
   * A parameter for equality with a field, and one for each comparison: `total[gte]=10` (rule
   * A4.23).
   */
  #filterParameters(resource: Resource, names: readonly string[] = []): readonly JsonSchema[] {
    return comparedFields(resource, names).flatMap(([name, found]) => {
      const schema = parameterSchema(found.shape)
      const comparisons = comparisonsOf[found.shape.kind].filter(each => allowsComparison(found, each))
      return [
        this.#refToParameter(resource, name, '', schema),
        ...comparisons.map(each => this.#refToParameter(resource, name, each, schema)),
        this.#refToParameter(resource, name, 'in', { type: 'array', items: schema }, choicesParameter(found)),
        ...(allowsComparison(found, 'absent')
          ? [this.#refToParameter(resource, name, 'absent', { type: 'boolean' })]
          : []),
      ]
    })
  }
  #equalityParameters(resource: Resource): readonly JsonSchema[] {
    const by = comparedFields(resource, resource.given.searchBy ?? [])
    return by.map(([name, { shape }]) => this.#refToParameter(resource, name, '', parameterSchema(shape)))
  }
  #refToParameter(
    resource: Resource,
    name: string,
    comparison: string,
    schema: JsonSchema,
    more: JsonSchema = {},
  ): JsonSchema {
    const known = `${this.#facts.version}.${componentName(resource.name)}.${componentName(name)}${comparison && `.${comparison}`}`
    // `size` is the page size, `size[eq]` a field.
    const operator = comparison || (name === 'q' || pageControls.includes(name) ? 'eq' : '')
    const field = findFilterField(resource, name)?.field
    const about = field && describedParameter(field)
    this.components[known] = { name: operator ? `${name}[${operator}]` : name, in: 'query', ...about, schema, ...more }
    return refTo('parameters', known)
  }
}

/** PUT may create a single resource unless it exists. */
const isMadeOnce = (operation: Operation): boolean => operation.kind === 'create' && operation.resource.isSingle

/** The precondition parameters that are useful here (RFC 9110 §13.1, §14.2). */
function conditionsOf(operation: Operation): readonly string[] {
  const { kind } = operation
  const unchanged = ['ifMatch', 'ifUnmodifiedSince']
  if (operation.safe)
    return ['ifNoneMatch', 'ifModifiedSince', ...unchanged, ...(kind === 'getFile' ? ['range', 'ifRange'] : [])]
  if (isMadeOnce(operation)) return ['ifNoneMatch']
  const makes = kind === 'putFile' || (kind === 'replace' && isCreatedByPut(operation.resource))
  if (makes) return [...unchanged, 'ifNoneMatch']
  return kind === 'replace' || kind === 'patch' || kind === 'remove' || kind === 'act' ? unchanged : []
}

/** Values between commas; a text may have some (docs/rest.md, Lists). */
function choicesParameter({ field, shape }: FilterField): JsonSchema {
  if (shape.kind !== 'string') return { explode: false }
  const { description } = describedParameter(field)
  const escapes = 'In a value, `\\,` is a comma, and `\\\\` a backslash.'
  return { explode: false, description: description ? `${description} ${escapes}` : escapes }
}

const pageControls: readonly string[] = ['page', 'size', 'cursor', 'sort', 'fields']
const equalityComparisons: readonly Comparison[] = ['ne']
const orderComparisons: readonly Comparison[] = [...equalityComparisons, 'gt', 'gte', 'lt', 'lte']
/** Generated clients can write a number into a query, but no choice of it and the text INF. */
const parameterSchema = (shape: Scalar): JsonSchema =>
  shape.kind === 'double' ? doubleNumberSchema(shape) : scalarSchema(shape)
/** Useful comparisons for each kind, although the service accepts all of them for any kind. */
const comparisonsOf: Readonly<Record<Scalar['kind'], readonly Comparison[]>> = {
  string: equalityComparisons,
  boolean: equalityComparisons,
  int: orderComparisons,
  long: orderComparisons,
  decimal: orderComparisons,
  double: orderComparisons,
  date: orderComparisons,
  time: orderComparisons,
  dateTime: orderComparisons,
  duration: equalityComparisons,
  bytes: equalityComparisons,
  enum: equalityComparisons,
  id: equalityComparisons,
  ref: equalityComparisons,
}
