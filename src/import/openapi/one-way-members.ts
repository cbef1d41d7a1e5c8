/** Members of schemas that travel only one way (OpenAPI §4.8.24): `readOnly`, `writeOnly`. */
import { isJsonObject, type Json, type JsonObject, objectOf } from '../../base/objects.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { readSchemaFacts } from './schema-facts.ts'
import { listInnerSchemas } from './unchecked-keywords.ts'

export class OneWayMembers {
  readonly #document: OpenApiDocument
  /** Schemas that were searched and have none. */
  readonly #without = new Set<JsonObject>()

  constructor(document: OpenApiDocument) {
    this.#document = document
  }

  has(member: Json, way: 'readOnly' | 'writeOnly'): boolean {
    return readSchemaFacts(this.#document, member).schema[way] === true
  }

  /** Whether the schema has such members, at any depth. */
  areIn(schema: JsonObject): boolean {
    const seen = new Set<JsonObject>()
    const pending: (Json | undefined)[] = [schema]
    for (let next = pending.pop(); pending.length > 0 || next !== undefined; next = pending.pop()) {
      if (!isJsonObject(next)) continue
      const { value } = this.#document.resolve(next)
      if (seen.has(value) || this.#without.has(value)) continue
      seen.add(value)
      const members = Object.values(objectOf(value['properties']))
      if (members.some(each => this.has(each, 'readOnly') || this.has(each, 'writeOnly'))) return true
      pending.push(...listInnerSchemas(value))
    }
    for (const each of seen) this.#without.add(each)
    return false
  }
}
