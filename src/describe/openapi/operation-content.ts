/** The content of requests, by media type. */

import type { Json } from '../../base/objects.ts'
import { type Fields, mayBeLeftOut } from '../../contract/field.ts'
import type { Operation } from '../../contract/operation.ts'
import type { JsonSchema } from '../json-schema.ts'
import { formContent, jsonPatchSchema, type Members, octetsContent, textSchema } from './openapi-components.ts'
import type { VersionFacts } from './version-facts.ts'

interface MediaContent {
  readonly description?: string
  readonly required: boolean
  /** Media type → its schema. */
  readonly content: Members
  readonly [member: string]: Json
}

export class OperationContents {
  readonly #facts: VersionFacts

  constructor(facts: VersionFacts) {
    this.#facts = facts
  }

  /** Undefined: the request has none. */
  contentOf(operation: Operation, method: string): MediaContent | undefined {
    switch (operation.kind) {
      case 'create':
      case 'replace':
        return this.#documentContent(this.#facts.schemas.draft(operation))
      case 'patch':
        return this.#sentContent(
          { 'application/merge-patch+json': { schema: this.#facts.schemas.patch(operation.resource) } },
          { 'application/json-patch+json': { schema: jsonPatchSchema } },
        )
      case 'act':
        return this.#inputContent(operation, operation.action.input, operation.action.rel)
      case 'createSearch':
        return this.#documentContent(this.#facts.schemas.criteria(operation.resource))
      case 'search': // RFC 10008: the content of QUERY is the criteria
        return method === 'QUERY' ? this.#documentContent(this.#facts.schemas.criteria(operation.resource)) : undefined
      case 'startJob':
        return this.#inputContent(operation, operation.job.input, operation.job.one)
      case 'exchange': {
        const { input, passingMax } = operation.exchange
        if (input === 'empty' || method === 'GET') return undefined
        const { content, ...others } = this.#documentContent(this.#facts.elements.element(input), true, textSchema)
        return { ...others, content: { ...content, ...(passingMax !== undefined && formContent) } }
      }
      case 'putFile':
        return { content: octetsContent(operation.file.mediaTypes), required: true }
      default:
        return undefined
    }
  }
  /** The same content in JSON and in XML. */
  #documentContent(schema: JsonSchema, required = true, xml: JsonSchema = schema): MediaContent {
    return this.#sentContent({ 'application/json': { schema } }, { 'application/xml': { schema: xml } }, required)
  }
  #sentContent(preferred: Members, others: Members, required = true): MediaContent {
    return this.#facts.release.describesOtherRequests
      ? { required, content: { ...preferred, ...others } }
      : { description: `Also as ${Object.keys(others).join(', ')}.`, required, content: preferred }
  }
  #inputContent({ name }: Operation, fields: Fields, element: string): MediaContent | undefined {
    if (Object.keys(fields).length === 0) return undefined
    const isRequired = Object.values(fields).some(field => !mayBeLeftOut(field))
    return this.#documentContent(this.#facts.schemas.input(fields, name, element), isRequired)
  }
}
