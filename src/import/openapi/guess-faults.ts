/** Declared faults from error responses that say more than their status. */

import { type Json, type JsonObject, objectEntries, objectOf, stringOf } from '../../base/objects.ts'
import { builtInFaults, type Fault, fault } from '../../contract/fault.ts'
import { refusalMembers } from '../../describe/openapi/openapi-components.ts'
import type { Losses } from '../loss.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import type { RestOperation } from './operations.ts'
import { contentSchema, propertiesOf, readSchemaFacts, squeezeText } from './schema-facts.ts'
import { type SchemaFields, toTypeName } from './schema-fields.ts'

/** Every problem has these (RFC 9457 §3.1). */
const problemMembers = new Set(['type', 'title', 'status', 'detail', 'instance'])
/** Other names for the same: these alone do not distinguish faults. */
const usualMembers = new Set(
  'errors code message error errorCode error_code timestamp path details trace requestId request_id documentation_url'.split(
    ' ',
  ),
)
/** Every service returns these in the same way. */
const usualStatuses = /^(?:[1-3]..|400|401|403|404|405|406|408|409|410|41[1-5]|417|422|428|429|5..|default|[45]XX)$/i
const genericName =
  /^(?:.*(?:Error|Errors|Problem|Problems|Response|Fault)(?:Model|Response|Body)?|BadRequest|NotFound|Conflict|Unprocessable\w*|Forbidden|Unauthorized)$/

export class FaultGuess {
  readonly #document: OpenApiDocument
  readonly #fields: SchemaFields
  readonly #losses: Losses
  readonly #known = new Map<string, Fault>()

  constructor(document: OpenApiDocument, fields: SchemaFields, losses: Losses) {
    this.#document = document
    this.#losses = losses
    this.#fields = fields
  }

  of(...operations: readonly (RestOperation | undefined)[]): readonly Fault[] {
    return [...new Set(operations.flatMap(each => (each?.responses ?? []).flatMap(found => this.#faults(...found))))]
  }

  #faults(status: string, given: Json): readonly Fault[] {
    if (!/^4\d\d$|^50[1-9]$/.test(status)) return []
    const { value, name } = this.#document.resolve(given)
    const title = squeezeText(stringOf(value['description'])) || status
    const cases = this.#listCases(contentSchema(this.#document, given))
    const telling = cases.filter(
      each => tellingMembers(each.schema).length > 0 || nameOfProblemType(each.schema) !== '',
    )
    if (telling.length === 0) this.#recordUsual(cases, title)
    if (telling.length === 0)
      return usualStatuses.test(status) ? [] : [this.#declare(name || title, { status, title, schema: {} })]
    return telling.map(each => {
      const ownName = [nameOfProblemType(each.schema), name, this.#nameOfTitle(title), each.name]
        .map(toTypeName)
        .find(wish => wish !== '' && !genericName.test(wish))
      return this.#declare(ownName ?? title, { status, title, schema: each.schema })
    })
  }
  #recordUsual(cases: readonly { readonly schema: JsonObject; readonly name: string }[], title: string): void {
    for (const { schema, name } of cases) {
      const others = ownMembers(schema)
      if (others.length > 0)
        this.#losses.add(
          `error ${name || title}`,
          `is a problem of HTTP here, without ${others.join(', ')}: declare a fault where callers need more`,
        )
    }
  }
  /** The name of the response component with this description, if there is only one. */
  #nameOfTitle(title: string): string {
    const responses = objectEntries(objectOf(this.#document.root['components'])['responses'])
    const names = responses
      .filter(([, each]) => squeezeText(stringOf(each['description'])) === title)
      .map(each => toTypeName(each[0]))
    const [only, ...others] = new Set(names)
    return only !== undefined && others.length === 0 ? only : ''
  }
  #listCases(given: Json | undefined): readonly { readonly schema: JsonObject; readonly name: string }[] {
    const facts = readSchemaFacts(this.#document, given)
    return facts.options.length === 0 ? [facts] : facts.options.map(each => readSchemaFacts(this.#document, each))
  }

  #declare(wish: string, { status, title, schema }: { status: string; title: string; schema: JsonObject }): Fault {
    const words = toTypeName(wish.split(' ').slice(0, 5).join(' ')) || `Status${status}`
    const name = builtInFaults.some(each => each.fault === words) ? `${words}${status}` : words
    const key = `${status} ${name}`
    const known = this.#known.get(key)
    if (known) return known
    const isTaken = [...this.#known.values()].some(each => each.fault === name)
    const free = isTaken ? `${name}${status}` : name
    const detail = this.#fields.fields(schema, free, problemMembers)
    const declared = fault(free, { status: Number(status), title: title.length > 80 ? free : title, detail })
    this.#known.set(key, declared)
    return declared
  }
}

/** The last segment of a problem's `type`: `OutOfStock` (RFC 9457 §3.1.1). */
export function nameOfProblemType(schema: JsonObject): string {
  const given = propertiesOf(schema).find(([name]) => name === 'type')?.[1]
  const { const: only, enum: values = only === undefined ? [] : [only] } = objectOf(given)
  const types = Array.isArray(values) ? values : []
  const [name, ...others] = new Set(types.map(each => /[^/:#]+$/.exec(stringOf(each))?.[0] ?? ''))
  return others.length === 0 ? (name ?? '') : ''
}

const ownMembers = (schema: JsonObject): readonly string[] =>
  propertiesOf(schema)
    .map(([name]) => name)
    .filter(name => !problemMembers.has(name))
const refusalNames = Object.keys(refusalMembers)
/** A description by Diglot has one schema for all problems that no contract declares. */
function tellingMembers(schema: JsonObject): readonly string[] {
  const names = ownMembers(schema)
  const isRefusal = refusalNames.every(name => names.includes(name))
  return names.filter(name => !usualMembers.has(name) && !(isRefusal && refusalNames.includes(name)))
}
