/** The ports of a WSDL as a contract declares them, whether or not a service has them. */

import { explainWeakness, isWeakSuite, type PortPolicy } from '../contract/endpoint-rule.ts'
import {
  type DeclaredActions,
  type ExchangeBody,
  exchange,
  type MandatoryHeaders,
  type Port,
  type PortAddresses,
  type PortExchange,
  port,
} from '../contract/exchange.ts'
import { createActionNamer } from '../contract/port-names.ts'
import { compileUriContent } from '../contract/uri-content.ts'
import type { AnyRootElement } from '../contract/xml-type.ts'
import type {
  WsdlBinding,
  WsdlBlock,
  WsdlDocument,
  WsdlMessage,
  WsdlOperation,
} from '../describe/reader/wsdl-document.ts'
import { compileAddressTemplate } from '../http/address-template.ts'
import { isNcName } from '../xml/character.ts'
import { findFreeName } from './constant-names.ts'
import type { Losses } from './loss.ts'
import { BodyReader, digestParts } from './read-body.ts'
import { listTransportDemands, listUnknownDemands, readPortPolicy } from './read-policies.ts'
import { splitClark } from './schema/schema-components.ts'
import type { SchemaModel } from './schema/schema-model.ts'

interface BoundPort {
  readonly name: string
  readonly service: string
  readonly binding: WsdlBinding
  readonly address: string | undefined
  readonly description: string | undefined
}

/** What a WSDL says about each port besides its messages, by the port's name. */
export interface PortFacts {
  readonly policies: Map<string, PortPolicy>
  readonly addresses: Map<string, PortAddresses>
}

/** What both versions of WSDL have. */
type BoundServices = Pick<WsdlDocument, 'targetNamespace' | 'services' | 'bindings'>

/** @param facts receives what is said about each port */
export function readPorts(
  document: BoundServices,
  model: SchemaModel,
  losses: Losses,
  { policies, addresses }: PortFacts,
): readonly Port[] {
  const bound: BoundPort[] = document.services.flatMap(({ name, documentation, ports }) =>
    ports.map(each => ({
      name: each.name,
      service: name,
      binding: each,
      address: each.address,
      description: each.documentation ?? documentation,
    })),
  )
  const used = new Set(bound.flatMap(({ binding }) => binding.operations))
  for (const binding of document.bindings) {
    // A port has the same operations as its binding.
    if (binding.operations.length > 0 && binding.operations.every(each => used.has(each))) continue
    if (bound.some(({ binding: known }) => known.operations === binding.operations && known.soap === binding.soap))
      continue
    const { local } = splitClark(binding.name)
    const { documentation: description } = binding
    bound.push({ name: local, service: `${local}Service`, binding, address: undefined, description })
  }
  const ports: Port[] = []
  const bodies = new BodyReader(model, losses)
  for (const each of bound) {
    if (each.binding.soap === undefined)
      losses.add(`port ${each.name}`, `${describeUnbound(each.binding)}: it is left out`, 'transport')
    else {
      const { transport } = each.binding
      if (transport !== undefined && transport !== '' && !httpTransports.has(transport))
        losses.add(`port ${each.name}`, `is bound to SOAP over ${transport}: it is served over HTTP`, 'transport')
      const { port: found, operations } = readPort(each, document.targetNamespace, bodies, model, losses)
      const policy = readPortPolicy(each.binding, operations)
      const { name, isNew } = addPort(ports, found, twin => haveSamePolicy(policies.get(twin), policy))
      if (isNew) policies.set(name, policy)
      for (const demand of listUnknownDemands(each.binding, operations))
        losses.add(`port ${name}`, `its policy demands ${demand}: messages are sent and read without it`, 'transport')
      for (const demand of listTransportDemands(each.binding, operations))
        losses.add(`port ${name}`, `its policy demands ${demand}`, 'transport')
      const weak = [...policy.security.values()].find(({ suite }) => isWeakSuite(suite))
      if (weak) losses.add(`port ${name}`, `its policy demands ${explainWeakness(weak.suite)}`, 'transport')
      if (each.address !== undefined)
        addresses.set(name, { [each.binding.soap]: each.address.trim(), ...addresses.get(name) })
    }
  }
  return ports
}

/** SOAP 1.1 and WSDL 1.1 §3.3; SOAP 1.2 Part 2 §7.2. */
const httpTransports: ReadonlySet<string> = new Set([
  'http://schemas.xmlsoap.org/soap/http',
  'http://schemas.xmlsoap.org/soap/http/',
  'http://www.w3.org/2003/05/soap/bindings/HTTP/',
  'http://www.w3.org/2006/01/soap11/bindings/HTTP/',
])
const knownBindings: Readonly<Record<string, string>> = {
  'http://schemas.xmlsoap.org/wsdl/http/': 'HTTP',
  'http://www.w3.org/ns/wsdl/http': 'HTTP',
}
const describeUnbound = ({ other }: WsdlBinding): string =>
  other === undefined
    ? 'has no binding in this document that names a protocol'
    : `is a binding of ${knownBindings[other] ?? other}, not of SOAP`

/**
 * Two ports that differ only in the version of SOAP are merged.
 * @param demandsSame whether a port demands the same of messages
 */
function addPort(
  ports: Port[],
  found: Port,
  demandsSame: (port: string) => boolean,
): { readonly name: string; readonly isNew: boolean } {
  const twin = ports.findIndex(
    each =>
      each.names.service === found.names.service &&
      each.soap !== found.soap &&
      haveSameExchanges(each, found) &&
      demandsSame(each.port),
  )
  const known = ports[twin]
  if (known) {
    ports[twin] = { ...known, soap: 'both' }
    return { name: known.port, isNew: false }
  }
  const name = freePortName(found.port, ports)
  ports.push({ ...found, port: name })
  return { name, isNew: true }
}
const haveSamePolicy = (one: PortPolicy | undefined, other: PortPolicy): boolean =>
  one !== undefined && sayPolicy(one) === sayPolicy(other)
const sayPolicy = ({ security, unmet, later = new Set(), ...others }: PortPolicy): string =>
  JSON.stringify([...security, ...unmet, ...later, others])
const freePortName = (name: string, ports: readonly Port[]): string =>
  ports.some(each => each.port === name) ? freePortName(`${name}2`, ports) : name
function haveSameExchanges(one: Port, other: Port): boolean {
  const names = Object.keys(one.exchanges)
  return (
    names.length === Object.keys(other.exchanges).length &&
    names.every(name => {
      const [a, b] = [one.exchanges[name], other.exchanges[name]]
      return (
        a &&
        b &&
        a.action === b.action &&
        isSameAction(a.addressedAs, b.addressedAs) &&
        a.style === b.style &&
        a.location === b.location &&
        isSameBody(a, b, 'input') &&
        isSameBody(a, b, 'output')
      )
    })
  )
}
function isSameAction(one: DeclaredActions, other: DeclaredActions): boolean {
  const [a, b] = [one.faults ?? {}, other.faults ?? {}]
  return (
    one.request === other.request &&
    one.reply === other.reply &&
    [...Object.keys(a), ...Object.keys(b)].every(name => a[name] === b[name])
  )
}
function isSameBody(one: PortExchange, other: PortExchange, which: 'input' | 'output'): boolean {
  const [a, b] = [one[which], other[which]]
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  return one.style === 'document' ? a === b : a.name.uri === b.name.uri && a.name.local === b.name.local
}

/** A port, and the operations of its binding by the names of their exchanges. */
interface ReadPort {
  readonly port: Port
  readonly operations: ReadonlyMap<string, WsdlOperation>
}

function readPort(
  { name, service, binding, description }: BoundPort,
  namespace: string,
  bodies: BodyReader,
  model: SchemaModel,
  losses: Losses,
): ReadPort {
  const exchanges: Record<string, PortExchange> = {}
  const operations = new Map<string, WsdlOperation>()
  const calls = new Map<string, string>()
  for (const operation of binding.operations) {
    const place = `operation ${operation.name}`
    const made = readExchange(operation, namespace, bodies, model, losses)
    if (!made || !operation.input) continue
    const key = findFreeKey(operation.name, exchanges)
    // Operations that share an element are distinguished by their actions, or by its content.
    const element = typeof made.input === 'object' ? `{${made.input.name.uri}}${made.input.name.local}` : ''
    const call = [element, made.action, digestParts(operation.input, operation.style)].join('\n')
    const first = calls.get(call)
    if (first !== undefined) {
      const detail = `has the same content of Body as ${first}, and the same action: it is left out (R2710)`
      losses.add(place, detail, 'document')
      continue
    }
    calls.set(call, operation.name)
    exchanges[key] = made
    operations.set(key, operation)
  }
  const place = `port ${name}`
  const portName = nameInXml(name, 'port', place, losses)
  const made = port(portName, {
    namespace,
    service: nameInXml(service, 'service', place, losses),
    portType: nameInXml(portTypeOf(binding, portName), 'portType', place, losses),
    soap: binding.soap ?? 'both',
    description,
    exchanges,
  })
  return { port: declareActions(made, operations), operations }
}

/** States the WS-Addressing actions that a reader of the contract could not derive. */
function declareActions(found: Port, operations: ReadonlyMap<string, WsdlOperation>): Port {
  const nameActions = createActionNamer(found)
  const exchanges = Object.entries(found.exchanges).map(([key, exchange]): [string, PortExchange] => {
    const { request, reply, fault } = nameActions(key)
    const declared = operations.get(key)?.addressedAs
    if (!declared) return [key, exchange]
    const faults = Object.entries(declared.faults).filter(
      ([name, action]) => Object.hasOwn(exchange.faults, name) && action !== fault(name),
    )
    const addressedAs = {
      ...(declared.request !== request && { request: declared.request }),
      ...(exchange.output !== undefined && declared.reply !== reply && { reply: declared.reply }),
      ...(faults.length > 0 && { faults: Object.fromEntries(faults) }),
    }
    return [key, { ...exchange, addressedAs }]
  })
  return { ...found, exchanges: Object.fromEntries(exchanges) }
}
/** An NCName (WSDL 1.1 §2.1): with any other name, the served WSDL would be unreadable. */
function nameInXml(name: string, otherwise: string, place: string, losses: Losses): string {
  if (isNcName(name)) return name
  const mended = name.replace(/[^\p{L}\p{N}_.-]/gu, '_').replace(/^(?![\p{L}_])/u, '_')
  const legal = name !== '' && isNcName(mended) ? mended : otherwise
  losses.add(place, `"${name}" is not a name in XML: it is ${legal} here`, 'document')
  return legal
}
const portTypeOf = (binding: WsdlBinding, name: string): string =>
  binding.portType === undefined ? `${name}PortType` : splitClark(binding.portType).local
const findFreeKey = (name: string, used: object): string => findFreeName(name, each => Object.hasOwn(used, each))

function readExchange(
  operation: WsdlOperation,
  namespace: string,
  bodies: BodyReader,
  model: SchemaModel,
  losses: Losses,
): PortExchange | undefined {
  const { name, input, output, style } = operation
  const place = `operation ${name}`
  if (operation.unasked !== undefined || !input) {
    if (operation.unasked !== undefined) losses.add(place, operation.unasked)
    else losses.add(place, 'its input is not declared: it is left out', 'document')
    return undefined
  }
  const isEncoded = input.use === 'encoded' || output?.use === 'encoded'
  if (isEncoded && style === 'document')
    losses.add(place, 'is document/encoded: its messages are literal, without references or stated types (R2706)')
  const body = (message: WsdlMessage, local: string) =>
    style === 'rpc'
      ? bodies.readCall(message, local, namespace, isEncoded)
      : bodies.readDocument(message, `${place}, ${local}`)
  const request = body(input, name)
  const answered = output && body(output, `${name}Response`)
  if (request === undefined || (output && answered === undefined)) return undefined
  const requestHeaders = readHeaderParts(input, place, model, losses)
  const replyHeaders = output ? readHeaderParts(output, place, model, losses) : []
  const read = (part: WsdlBlock) => readHeaderBlock(part, place, model, losses)
  return exchange({
    style: style === 'document' ? 'document' : isEncoded ? 'encoded' : 'rpc',
    action: operation.action,
    input: request,
    ...(answered !== undefined && { output: answered }),
    ...joinHeaderFaults(readFaults(operation, place, model, losses), [...requestHeaders, ...replyHeaders], read),
    requestHeaders: listBlocks(requestHeaders),
    replyHeaders: listBlocks(replyHeaders),
    mandatoryHeaders: { ...listMandatory('request', requestHeaders), ...listMandatory('reply', replyHeaders) },
    safe: operation.isSafe === true,
    ...(operation.documentation !== undefined && { description: operation.documentation }),
    ...readLocation(operation.location, request, place, losses),
  })
}

/** WSDL 2.0 Part 2 §5.10.4.2: a GET carries what an address can express of its input. */
function readLocation(
  location: string | undefined,
  input: ExchangeBody,
  place: string,
  losses: Losses,
): { readonly location?: string } {
  if (location === undefined) return {}
  const byPost = 'is bound to a GET, and served by POST'
  if (input !== 'empty' && !compileUriContent(input))
    losses.add(place, `${byPost}: an address cannot have the content of its input (§4.2)`, 'document')
  else if (!compileAddressTemplate(location))
    losses.add(place, `${byPost}: the address ${location} leads away from that of its endpoint`)
  else return { location }
  return {}
}

interface ReadHeader {
  readonly key: string
  readonly root: AnyRootElement
  readonly faults: readonly WsdlBlock[]
  readonly isMandatory: boolean
}
function listMandatory(side: keyof MandatoryHeaders, headers: readonly ReadHeader[]): MandatoryHeaders {
  const names = headers.flatMap(({ key, isMandatory }) => (isMandatory ? [key] : []))
  return names.length > 0 ? { [side]: names } : {}
}
const listBlocks = (headers: readonly ReadHeader[]): Record<string, AnyRootElement> =>
  Object.fromEntries(headers.map(({ key, root }) => [key, root]))

function readHeaderParts(
  { headers }: WsdlMessage,
  place: string,
  model: SchemaModel,
  losses: Losses,
): readonly ReadHeader[] {
  const read = new Map<string, ReadHeader>()
  for (const header of headers) {
    const root = readHeaderBlock(header, place, model, losses)
    const key = findFreeName(header.name, each => read.has(each))
    if (root) read.set(key, { key, root, faults: header.faults ?? [], isMandatory: header.isMandatory === true })
  }
  return [...read.values()]
}

/** A header block has a namespace (SOAP 1.1 §4.2, SOAP 1.2 §5.2.1). */
function readHeaderBlock(
  header: WsdlBlock,
  place: string,
  model: SchemaModel,
  losses: Losses,
): AnyRootElement | undefined {
  const root = readPartElement(header, place, model)
  if (root && root.name.uri !== '') return root
  const why = root ? 'has no namespace, which SOAP forbids' : 'is not declared'
  losses.add(place, `the header block ${header.name} ${why}: it is left out`, 'document')
  return undefined
}

interface ReadFault {
  readonly fault: string
  readonly root: AnyRootElement
  readonly isBound: boolean
}
const readFaults = (
  { faults }: WsdlOperation,
  place: string,
  model: SchemaModel,
  losses: Losses,
): readonly ReadFault[] => {
  const taken = new Set<string>()
  return faults.flatMap(({ fault, namespace: uri, parts, isBound, documentation }) => {
    const [part, ...others] = parts
    const root = part && readPartElement({ namespace: uri, ...part }, place, model)
    const named = `the fault ${fault || 'without a name'}`
    if (!part) losses.add(place, `${named} has no part: it is left out`, 'document')
    else if (others.length > 0)
      losses.add(
        place,
        `${named} has its first part alone: ${others.map(each => each.name).join(', ')} left out`,
        'document',
      )
    if (!part || !root) return []
    model.addComment(root, documentation)
    const name = findFreeName(fault || part.name, each => taken.has(each))
    taken.add(name)
    return [{ fault: name, root, isBound }]
  })
}

/** A fault of a portType that its binding has only as a header block is that block (§3.7). */
function joinHeaderFaults(
  faults: readonly ReadFault[],
  headers: readonly ReadHeader[],
  readHeaderBlock: (part: WsdlBlock) => AnyRootElement | undefined,
): Pick<PortExchange, 'faults' | 'headerFaults'> {
  const all = Object.fromEntries(faults.map(({ fault, root }) => [fault, root]))
  const named = new Map(faults.flatMap(({ fault, root, isBound }) => (isBound ? [] : [[root, fault] as const])))
  const about = new Map<string, Set<string>>()
  for (const { key, faults: parts } of headers)
    for (const part of parts) {
      const root = readHeaderBlock(part)
      if (!root) continue
      const name = named.get(root) ?? findFreeKey(part.name, all)
      named.set(root, name)
      all[name] = root
      about.set(key, (about.get(key) ?? new Set()).add(name))
    }
  return { faults: all, headerFaults: Object.fromEntries([...about].map(([key, names]) => [key, [...names]])) }
}

/** Either the element of the part, or an element with its name and type (WSDL 1.1 §3.6, §3.7). */
function readPartElement(
  { name, element, type, namespace = '', documentation }: WsdlBlock,
  place: string,
  model: SchemaModel,
): AnyRootElement | undefined {
  const byType = () => (type === undefined ? undefined : model.partElement(namespace, name, type, place))
  const root = element === undefined ? byType() : model.element(element, place)
  if (root) model.addComment(root, documentation)
  return root
}
