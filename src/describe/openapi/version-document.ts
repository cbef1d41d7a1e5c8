/** The part of an OpenAPI document that describes one version: its paths and their components. */
import { omitUndefined } from '../../base/objects.ts'
import { capitalize } from '../../contract/lexical/text.ts'
import { listAncestors } from '../../contract/nesting.ts'
import { type Operation, singularOf } from '../../contract/operation.ts'
import { summaryOf, textsOfOperation } from '../../contract/operation-texts.ts'
import { isPublic } from '../../contract/policy.ts'
import { namespaceOf, type Service } from '../../contract/service.ts'
import { componentName } from '../json-schema.ts'
import { PortJsonSchemas } from '../port-json-schema.ts'
import { FailureResponses } from './failure-responses.ts'
import { type Members, parentParameter, refTo } from './openapi-components.ts'
import { openApiReleases } from './openapi-releases.ts'
import { VersionSchemas } from './openapi-schemas.ts'
import { OperationContents } from './operation-content.ts'
import { OperationParameters } from './operation-parameters.ts'
import { SuccessResponses } from './success-responses.ts'
import type { Address, OpenApiOptions, VersionFacts } from './version-facts.ts'

export const credentialSchemes: Members = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  basic: { type: 'http', scheme: 'basic', description: 'Over TLS, and on loopback.' },
  key: { type: 'apiKey', in: 'header', name: 'Api-Key', description: 'A key that the service has issued.' },
}
/** One of them is enough. */
const requiredCredentials = Object.keys(credentialSchemes).map(name => ({ [name]: [] }))

export class VersionDocument {
  readonly #facts: VersionFacts
  readonly #parameters: OperationParameters
  readonly #contents: OperationContents
  readonly #successes: SuccessResponses
  readonly #failures: FailureResponses

  constructor(service: Service, version: string, options: OpenApiOptions) {
    this.#facts = {
      service,
      version,
      options,
      addresses: options.addresses(service),
      release: openApiReleases[options.release ?? '3.1'],
      schemas: new VersionSchemas(`${version}.`, namespaceOf(service, version), service.resources),
      elements: new PortJsonSchemas(`${version}.xml.`),
    }
    this.#parameters = new OperationParameters(this.#facts)
    this.#contents = new OperationContents(this.#facts)
    this.#successes = new SuccessResponses(this.#facts)
    this.#failures = new FailureResponses(this.#facts)
  }

  /** Complete once the paths are described. */
  components(): { readonly schemas: Members; readonly parameters: Members } {
    const { schemas, elements } = this.#facts
    return { schemas: { ...schemas.all, ...elements.all }, parameters: this.#parameters.components }
  }

  paths(): Members {
    return Object.fromEntries(
      this.#facts.addresses.map(address => [
        `/api/${this.#facts.version}${address.template}`,
        {
          ...this.#pathParameters(address),
          ...Object.fromEntries(
            [...address.methods]
              .filter(([method]) => method in this.#facts.release.methods)
              .map(([method, operation]) => [
                method.toLowerCase(),
                this.#describeOperation(address, method, operation),
              ]),
          ),
        },
      ]),
    )
  }

  /** The identifiers of parents, then that of the item. */
  #pathParameters({ template }: Address): Members {
    const names = [...template.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
    const parameters = names.map(name => (name === 'id' ? refTo('parameters', 'id') : parentParameter(name)))
    return parameters.length === 0 ? {} : { parameters }
  }

  #describeOperation(address: Address, method: string, operation: Operation): Members {
    const open = isPublic(operation.grants)
    const rule = this.#facts.service.versions[this.#facts.version]
    const body = this.#contents.contentOf(operation, method)
    return {
      operationId: this.#operationId(address, operation, method),
      ...omitUndefined(summaryMembers(operation)),
      tags: [tagOf(operation)],
      ...((rule?.deprecated ?? rule?.sunset) !== undefined && { deprecated: true }),
      security: open ? [{}, ...requiredCredentials] : requiredCredentials,
      parameters: this.#parameters.parametersOf(address, method, operation),
      ...(body && { requestBody: body }),
      responses: {
        ...this.#successes.responsesOf(operation, method, this.#links(operation)),
        ...this.#failures.responsesOf(address, method, operation, { open, sends: body !== undefined }),
      },
    }
  }

  /**
   * Unique in the document: the version, the name of the operation, its address, and the method
   * where an exchange is called by one other than POST.
   */
  #operationId({ template, within }: Address, operation: Operation, method = 'POST'): string {
    const first = this.#facts.addresses.find(({ methods }) => [...methods.values()].includes(operation))
    const place = within ? `Of${capitalize(singularOf(within.of))}` : first?.template === template ? '' : 'Here'
    const way = operation.kind === 'exchange' && method !== 'POST' ? `By${capitalize(method.toLowerCase())}` : ''
    return `${this.#facts.version}_${operation.name}${place}${way}`
  }

  /** Links from an item to its transitions, by its id (OpenAPI 3.1 §4.8.20). */
  #links(operation: Operation): Members {
    if (operation.kind !== 'create' && operation.kind !== 'get') return {}
    const { resource } = operation
    const parents = listAncestors(resource, this.#facts.service.resources).map(({ by }) => [by, `$request.path.${by}`])
    const target = resource.isSingle
      ? {}
      : { parameters: { ...Object.fromEntries(parents.toReversed()), id: '$response.body#/id' } }
    const found = this.#facts.addresses.flatMap(address =>
      [...address.methods.values()].flatMap(each =>
        (each.kind === 'act' || each.kind === 'look' || (each.kind === 'get' && operation.kind === 'create')) &&
        each.resource === resource
          ? [
              [
                each.kind === 'get' ? 'self' : componentName(each.action.link),
                { operationId: this.#operationId(address, each), ...target },
              ] as const,
            ]
          : [],
      ),
    )
    return found.length > 0 ? { links: Object.fromEntries(found) } : {}
  }
}

/** A resource, a job or a port. */
function tagOf(operation: Operation): string {
  if ('resource' in operation) return operation.resource.name
  return 'job' in operation ? (operation.port?.port ?? operation.job.job) : operation.port.port
}

function summaryMembers(operation: Operation) {
  const { title, description } = textsOfOperation(operation)
  return { summary: title ?? summaryOf(operation), description }
}
