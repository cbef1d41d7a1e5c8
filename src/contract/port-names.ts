/**
 * The names that the WSDL of a port gives its operations and their messages, and the actions that
 * follow from these names (WS-Addressing 1.0 Metadata §4.4). The describer, the endpoint and the
 * caller of a port agree because they all use this file.
 */
import type { Port, PortExchange } from './exchange.ts'

/**
 * In RPC, an operation has the name of its element (WSDL 1.1 §3.5), otherwise that in the contract.
 */
export const describedName = (name: string, { style, input }: PortExchange): string =>
  style !== 'document' && typeof input === 'object' ? input.name.local : name

/** The `name` of an input and an output; undefined if the WSDL leaves it to §2.4.5. */
export interface MessageNames {
  readonly input: string | undefined
  readonly output: string | undefined
}

/** Names messages so that operations with the same name can be distinguished (WSDL 1.1 §2.4.5). */
export function createMessageNamer({ exchanges }: Pick<Port, 'exchanges'>): (name: string) => MessageNames {
  const named = Map.groupBy(Object.entries(exchanges), ([name, exchange]) => describedName(name, exchange))
  const overloaded = new Set(
    [...named.values()].filter(each => each.length > 1).flatMap(each => each.map(([key]) => key)),
  )
  return name =>
    overloaded.has(name) ? { input: `${name}Input`, output: `${name}Output` } : { input: undefined, output: undefined }
}

/** The [action] of each message of an exchange (Core §3.1). */
export interface MessageActions {
  readonly request: string
  readonly reply: string
  readonly fault: (name: string) => string
}

/** The beginning of the default actions of a port type, and the separator of its names (§4.4.4). */
export function describeActionPattern(
  namespace: string,
  portType: string,
): readonly [start: string, delimiter: string] {
  const delimiter = /^urn:/i.test(namespace) ? ':' : '/'
  return [`${namespace}${namespace.endsWith(delimiter) ? '' : delimiter}${portType}${delimiter}`, delimiter]
}

/**
 * Metadata §4.4.1: a declared action counts; otherwise that of a request is its soapAction, unless
 * it is empty. All others have the default pattern of §4.4.4: target namespace, port type, message
 * name.
 */
export function createActionNamer(port: Port): (name: string) => MessageActions {
  const [start, delimiter] = describeActionPattern(port.namespace, port.names.portType)
  const nameMessages = createMessageNamer(port)
  return name => {
    const exchange = port.exchanges[name]
    const operation = exchange ? describedName(name, exchange) : name
    // §2.4.5: an operation without an output has no suffix.
    const usual = exchange && exchange.output === undefined ? operation : `${operation}Request`
    const { input = usual, output = `${operation}Response` } = nameMessages(name)
    return {
      request: exchange?.addressedAs.request ?? (exchange?.action || start + input),
      reply: exchange?.addressedAs.reply ?? start + output,
      fault: fault => declaredFor(exchange, fault) ?? `${start}${operation}${delimiter}Fault${delimiter}${fault}`,
    }
  }
}

const declaredFor = (exchange: PortExchange | undefined, fault: string): string | undefined => {
  const faults = exchange?.addressedAs.faults
  return faults && Object.hasOwn(faults, fault) ? faults[fault] : undefined
}
