/** The responses of operations that fail, and 304: problems by status. */
import type { Fault } from '../../contract/fault.ts'
import { demandsPrecondition, faultsWithWords, type Operation, type OperationOf } from '../../contract/operation.ts'
import { joinSentences } from '../../contract/texts.ts'
import type { JsonSchema } from '../json-schema.ts'
import { type Members, problemResponse, refTo, statusOfError } from './openapi-components.ts'
import { type Address, keepsAnswer, takesWords, type VersionFacts } from './version-facts.ts'

interface FailureFacts {
  /** Anyone may call it. */
  readonly open: boolean
  /** Its request has content. */
  readonly sends: boolean
}

export class FailureResponses {
  readonly #facts: VersionFacts

  constructor(facts: VersionFacts) {
    this.#facts = facts
  }

  responsesOf({ template }: Address, method: string, operation: Operation, { open, sends }: FailureFacts): Members {
    const isNamed = template.includes('{')
    const item = isNamed || ('resource' in operation && operation.resource.isSingle)
    const isPlaced = isNamed && 'resource' in operation && operation.kind !== 'getSearch'
    const once = method === 'POST' && keepsAnswer(operation)
    const names = [
      ...(isPlaced ? [operation.safe ? 'Moved' : 'MovedAsAsked'] : []),
      'BadRequest',
      'Unauthorized', // even where anyone may call: for invalid credentials
      ...(open && operation.safe ? [] : ['Forbidden']),
      ...(item ? ['NotFound'] : []),
      ...(this.#facts.options.answers(operation, this.#facts.version).length > 0 || operation.kind === 'getFile'
        ? ['NotAcceptable']
        : []),
      ...(operation.safe ? [] : ['Conflict']),
      ...(isNamed ? ['Gone'] : []),
      'PreconditionFailed', // RFC 9110 §13.2.1: for any method
      ...(operation.kind === 'getFile' ? ['RangeNotSatisfiable'] : []),
      ...(sends ? ['ContentTooLarge', 'UnsupportedMediaType'] : []),
      ...(sends || once ? ['Unprocessable'] : []),
      ...(demandsPrecondition(operation) ? ['PreconditionRequired'] : []),
      'TooManyRequests',
      'InternalError',
      'Unavailable',
    ]
    const shared = Object.fromEntries(names.map(name => [statusOfError[name] ?? 500, refTo('responses', name)]))
    const unchanged = operation.kind === 'getJob' ? 'JobNotModified' : 'NotModified'
    const conditional = operation.safe && { 304: refTo('responses', unchanged) }
    const behind = this.#facts.options.faultsBehind?.filter(({ status }) => !Object.hasOwn(shared, status)) ?? []
    return { ...conditional, ...shared, ...this.#problemResponses(behind), ...this.#declaredResponses(operation) }
  }

  /** Declared faults by status; other problems may have the same status. */
  #declaredResponses(operation: Operation): Members {
    return operation.kind === 'exchange' || operation.kind === 'getAnswer'
      ? this.#portFaults(operation)
      : this.#problemResponses(
          takesWords(operation, this.#facts.service) ? faultsWithWords(operation) : operation.faults,
        )
  }
  #problemResponses(faults: readonly Fault[]): Members {
    return Object.fromEntries(
      [...Map.groupBy(faults, fault => fault.status)].map(([status, those]) => [
        status,
        problemResponse(joinTitles(those), this.#problemSchema(those)),
      ]),
    )
  }
  #problemSchema(faults: readonly Fault[]): JsonSchema {
    const own = faults.map(fault => {
      const types = listProblemTypes(this.#facts.options.address, fault)
      return { types, schema: this.#facts.schemas.problem(fault, types) }
    })
    const mapping = Object.fromEntries(
      own.flatMap(({ types, schema }) => types.map(type => [type, String(schema['$ref'])])),
    )
    return {
      anyOf: [...own.map(({ schema }) => schema), refTo('schemas', 'Problem')],
      ...this.#facts.release.problemDiscriminator(mapping),
    }
  }

  /**
   * The element of a fault is the member `fault` of its problem. It is optional, so any other
   * problem with that status matches, too, and clients can look for it in each.
   */
  #portFaults(operation: OperationOf<'exchange' | 'getAnswer'>): Members {
    const { faults, exchange } = operation
    return Object.fromEntries(
      [...Map.groupBy(faults, fault => fault.status)].map(([status, those]) => {
        const own = those.flatMap(({ fault }) => {
          const root = exchange.faults[fault]
          const properties = root && { fault: this.#facts.elements.element(root) }
          return properties
            ? [{ fault, schema: { allOf: [refTo('schemas', 'Problem'), { type: 'object', properties }] } }]
            : []
        })
        const [only, ...others] = own
        const schema =
          others.length > 0
            ? { anyOf: own.map(each => ({ title: each.fault, ...each.schema })) }
            : (only?.schema ?? refTo('schemas', 'Problem'))
        return [status, problemResponse(those.map(({ title }) => title).join('; '), schema)]
      }),
    )
  }
}

/** With its public address, and with the path alone, as used without one (RFC 9457 §3.1.1). */
function listProblemTypes(address = '', { fault }: Fault): readonly string[] {
  const path = (URL.canParse(address) ? new URL(address).pathname : address).replace(/\/+$/, '')
  const bases = new Set([address.replace(/\/+$/, ''), path])
  return [...bases].map(base => `${base}/problems/${fault}`)
}

const joinTitles = (faults: readonly Fault[]): string =>
  faults.map(({ title, description }) => joinSentences(title, description)).join('; ')
