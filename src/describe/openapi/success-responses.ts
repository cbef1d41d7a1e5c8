/** The responses of operations that succeed. */
import { headersOfOperation, isOfResponse } from '../../contract/header.ts'
import { isCreatedByPut, type Operation, type OperationOf } from '../../contract/operation.ts'
import { isScalar } from '../../contract/shape.ts'
import { joinSentences } from '../../contract/texts.ts'
import { type JsonSchema, scalarSchema } from '../json-schema.ts'
import { type Members, octetsContent, refHeaders, removalSchema, textSchema } from './openapi-components.ts'
import { describedParameter, preferencesOf, type VersionFacts } from './version-facts.ts'

type WriteResponse = (status: number, description: string, schema: JsonSchema, names: readonly string[]) => Members

export class SuccessResponses {
  readonly #facts: VersionFacts

  constructor(facts: VersionFacts) {
    this.#facts = facts
  }

  #answerHeaders({ name }: Operation): Members {
    const headers = headersOfOperation(this.#facts.service, this.#facts.version, name).filter(isOfResponse)
    return Object.fromEntries(
      headers.flatMap(({ field, content }) =>
        field === undefined || content === 'xml' || !isScalar(content.shape)
          ? []
          : [[field, { ...describedParameter(content), schema: scalarSchema(content.shape) }]],
      ),
    )
  }

  responsesOf(operation: Operation, method: string, links: Members): Members {
    const preferences = preferencesOf(operation, method)
    const applied = preferences.length > 0 ? ['Preference-Applied'] : []
    const allHeaders = (names: readonly string[]): Members => ({
      ...refHeaders([...names, ...applied]),
      ...this.#answerHeaders(operation),
    })
    const response: WriteResponse = (status, description, schema, names) => ({
      [status]: {
        description: joinSentences(description, this.#otherTypes(operation)),
        headers: allHeaders(names),
        content: this.#contentByType(operation, schema),
        ...links,
      },
      // RFC 7240 §4.2: then 201 and 202 have no content
      ...(status === 200 &&
        preferences.includes('return') && {
          204: { description: 'Done; by `return=minimal`.', headers: allHeaders(minimalHeaders(operation, names)) },
        }),
    })
    const itemHeaders = ['ETag', 'Last-Modified', 'Cache-Control', 'Vary']
    switch (operation.kind) {
      case 'get':
      case 'replace':
      case 'patch':
        return {
          ...response(200, 'The item.', this.#facts.schemas.item(operation.resource), itemHeaders),
          ...(operation.kind === 'replace' &&
            isCreatedByPut(operation.resource) &&
            response(201, 'Created.', this.#facts.schemas.item(operation.resource), [...itemHeaders, 'Location'])),
        }
      case 'create':
        return response(201, 'Created.', this.#facts.schemas.item(operation.resource), [...itemHeaders, 'Location'])
      case 'list':
      case 'search':
        return response(200, 'A page of items.', this.#facts.schemas.page(operation.resource), [
          ...itemHeaders,
          ...(method === 'QUERY' ? ['Location'] : []),
        ])
      case 'createSearch':
        return response(
          201,
          'The search; its results are at Location.',
          this.#facts.schemas.search(operation.resource),
          ['Location'],
        )
      case 'getSearch':
        return response(200, 'A page of results.', this.#facts.schemas.resultsPage(operation.resource), itemHeaders)
      case 'remove':
        return { 204: { description: 'Removed.' } }
      case 'bulk':
        return response(200, 'How many were removed, and how many were not.', removalSchema, [])
      case 'act':
      case 'look':
      case 'kept':
        return this.#actionResponse(operation, response)
      case 'getFile':
        return this.#fileResponses(operation, allHeaders)
      case 'putFile':
        return {
          201: { description: 'Created.', headers: allHeaders(['ETag', 'Last-Modified', 'Location']) },
          204: { description: 'Replaced.', headers: allHeaders(['ETag', 'Last-Modified']) },
        }
      case 'startJob':
        return response(202, 'The job has been accepted.', this.#facts.schemas.job(), ['Location', 'Retry-After'])
      case 'getJob':
      case 'cancelJob':
        return response(200, 'The job.', this.#facts.schemas.job(), [
          ...(operation.safe ? itemHeaders : []),
          'Retry-After',
        ])
      case 'getResult':
        return response(
          200,
          'The result.',
          this.#facts.schemas.linked(operation.job.one, operation.job.output),
          itemHeaders,
        )
      case 'exchange':
        if (operation.exchange.later)
          return response(202, 'The call has been made; the answer comes later.', this.#facts.schemas.job(), [
            'Location',
            'Retry-After',
          ])
        return this.#portResponse(operation, response, operation.safe ? ['ETag'] : [])
      case 'getAnswer':
        return this.#portResponse(operation, response, ['ETag', 'Last-Modified'])
    }
  }

  /** RFC 9110 §14, §15.3.7: several ranges are sent as `multipart/byteranges`. */
  #fileResponses({ file }: OperationOf<'getFile'>, allHeaders: (names: readonly string[]) => Members): Members {
    const validators = ['ETag', 'Last-Modified', 'Cache-Control', 'Vary', 'Accept-Ranges']
    const content = octetsContent(file.mediaTypes)
    return {
      200: { description: 'The octets.', headers: allHeaders(validators), content },
      206: {
        description: 'The ranges.',
        headers: allHeaders([...validators, 'Content-Range']),
        content: { ...content, ...octetsContent(['multipart/byteranges']) },
      },
    }
  }

  #portResponse(
    { exchange: { output } }: OperationOf<'exchange' | 'getAnswer'>,
    response: WriteResponse,
    names: readonly string[],
  ): Members {
    if (typeof output !== 'object') return { 204: { description: 'Done.' } }
    return response(200, 'The answer.', this.#facts.elements.element(output), names)
  }

  #actionResponse(
    { kind, action, resource }: Extract<Operation, { readonly action: unknown }>,
    response: WriteResponse,
  ): Members {
    const schema = action.output
      ? this.#facts.schemas.linked(action.rel, action.output)
      : this.#facts.schemas.item(resource)
    if (kind === 'act' && action.kept) return response(201, `The ${action.rel}.`, schema, ['Location'])
    const names = kind === 'act' && action.output ? [] : ['ETag', 'Last-Modified']
    return response(200, action.output ? `The ${action.rel}.` : 'The item.', schema, names)
  }

  #contentByType(operation: Operation, schema: JsonSchema): Members {
    const described = this.#typesOf(operation).filter(type => this.#describes(operation, type))
    return Object.fromEntries(described.map(type => [type, contentOf(operation, type, schema)]))
  }
  /** In words, where this OpenAPI version has no schema for them. */
  #otherTypes(operation: Operation): string {
    const others = this.#typesOf(operation).filter(type => !this.#describes(operation, type))
    return others.length === 0 ? '' : `Also as ${others.join(', ')}.`
  }
  readonly #typesOf = (operation: Operation): readonly string[] =>
    this.#facts.options.answers(operation, this.#facts.version)
  readonly #describes = (operation: Operation, type: string): boolean =>
    this.#facts.release.describesContent(type, isOfPort(operation))
}

/** Whether its responses are messages of a port. */
const isOfPort = (operation: Operation): boolean =>
  operation.kind === 'getAnswer' || (operation.kind === 'exchange' && !operation.exchange.later)
/** XML follows `xml` of the schema; a port's XML is described by its WSDL, octets by nothing. */
function contentOf(operation: Operation, type: string, schema: JsonSchema): Members {
  if (/[/+]json$/.test(type)) return { schema }
  if (/[/+]xml$/.test(type)) return { schema: isOfPort(operation) ? textSchema : schema }
  return type.startsWith('text/') ? { schema: textSchema } : {}
}

/** For a response without content: a PUT that is stored in another form has no validator. */
const minimalHeaders = ({ kind }: Operation, names: readonly string[]): readonly string[] =>
  names.filter(name => name !== 'Last-Modified' && (name !== 'ETag' || kind !== 'replace'))
