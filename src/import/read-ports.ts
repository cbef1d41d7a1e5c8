/** The ports of a WSDL as a contract declares them, whether or not a service has them. */
import { exchange, type Port, type PortExchange, port } from '../contract/exchange.ts'
import { type AnyMember, type AnyRootElement, Member, x } from '../contract/xml-type.ts'
import type { WsdlBinding, WsdlDocument, WsdlMessage, WsdlOperation, WsdlPart } from '../describe/read-wsdl.ts'
import { isNcName } from '../xml/character.ts'
import type { Losses } from './loss.ts'
import { splitClark } from './schema-components.ts'
import { memoizeOnce, type SchemaModel } from './schema-model.ts'

interface BoundPort {
  readonly name: string
  readonly service: string
  readonly binding: WsdlBinding
}

/** What both versions of WSDL have. */
type BoundServices = Pick<WsdlDocument, 'targetNamespace' | 'services' | 'bindings'>

export function readPorts(document: BoundServices, model: SchemaModel, losses: Losses): readonly Port[] {
  const bound: BoundPort[] = document.services.flatMap(({ name, ports }) =>
    ports.map(each => ({ name: each.name, service: name, binding: each })),
  )
  const used = new Set(bound.flatMap(({ binding }) => binding.operations))
  for (const binding of document.bindings) {
    // A port has what its binding has: the very same operations.
    if (binding.operations.length > 0 && binding.operations.every(each => used.has(each))) continue
    if (bound.some(({ binding: known }) => known.operations === binding.operations && known.soap === binding.soap))
      continue
    const { local } = splitClark(binding.name)
    bound.push({ name: local, service: `${local}Service`, binding })
  }
  const ports: Port[] = []
  for (const each of bound) {
    if (each.binding.soap === undefined)
      losses.add(
        `port ${each.name}`,
        `is a binding of ${nameBinding(each.binding)}, not of SOAP: it is left out`,
        'transport',
      )
    else addPort(ports, readPort(each, document.targetNamespace, model, losses))
  }
  return ports
}

const knownBindings: Readonly<Record<string, string>> = {
  'http://schemas.xmlsoap.org/wsdl/http/': 'HTTP',
  'http://www.w3.org/ns/wsdl/http': 'HTTP',
}
const nameBinding = ({ other }: WsdlBinding): string =>
  other === undefined ? 'no protocol' : (knownBindings[other] ?? other)

/** Two ports that differ in nothing but the version of SOAP are one. */
function addPort(ports: Port[], found: Port): void {
  const twin = ports.findIndex(
    each => each.names.service === found.names.service && each.soap !== found.soap && haveSameExchanges(each, found),
  )
  const known = ports[twin]
  if (known) ports[twin] = { ...known, soap: 'both' }
  else ports.push({ ...found, port: freePortName(found.port, ports) })
}
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
        a.style === b.style &&
        isSameBody(a, b, 'input') &&
        isSameBody(a, b, 'output')
      )
    })
  )
}
function isSameBody(one: PortExchange, other: PortExchange, which: 'input' | 'output'): boolean {
  const [a, b] = [one[which], other[which]]
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  return one.style === 'document' ? a === b : a.name.uri === b.name.uri && a.name.local === b.name.local
}

function readPort({ name, service, binding }: BoundPort, namespace: string, model: SchemaModel, losses: Losses): Port {
  const exchanges: Record<string, PortExchange> = {}
  const calls = new Map<string, string>()
  for (const operation of binding.operations) {
    const place = `operation ${operation.name}`
    const made = readExchange(operation, namespace, model, losses)
    if (!made) continue
    const key = Object.hasOwn(exchanges, operation.name)
      ? freeExchangeName(`${operation.name}`, exchanges)
      : operation.name
    // Where operations share an element, their actions tell them apart.
    const element = typeof made.input === 'object' ? `{${made.input.name.uri}}${made.input.name.local}` : ''
    const call = `${element} ${made.action}`
    const first = calls.get(call)
    if (first !== undefined) {
      losses.add(place, `has the same element of Body as ${first}, and the same action: it is left out`)
      continue
    }
    calls.set(call, operation.name)
    exchanges[key] = made
  }
  const place = `port ${name}`
  const portName = nameInXml(name, 'port', place, losses)
  return port(portName, {
    namespace,
    service: nameInXml(service, 'service', place, losses),
    portType: nameInXml(portTypeOf(binding, portName), 'portType', place, losses),
    soap: binding.soap ?? 'both',
    exchanges,
  })
}
/** An NCName (WSDL 1.1 §2.1): any other name makes the served WSDL unreadable. */
function nameInXml(name: string, otherwise: string, place: string, losses: Losses): string {
  if (isNcName(name)) return name
  const mended = name.replace(/[^\p{L}\p{N}_.-]/gu, '_').replace(/^(?![\p{L}_])/u, '_')
  const legal = name !== '' && isNcName(mended) ? mended : otherwise
  losses.add(place, `"${name}" is not a name in XML: it is ${legal} here`, 'document')
  return legal
}
const portTypeOf = (binding: WsdlBinding, name: string): string =>
  binding.portType === undefined ? `${name}PortType` : splitClark(binding.portType).local
function freeExchangeName(name: string, used: object): string {
  let number = 2
  while (Object.hasOwn(used, `${name}${number}`)) number++
  return `${name}${number}`
}

function readExchange(
  operation: WsdlOperation,
  namespace: string,
  model: SchemaModel,
  losses: Losses,
): PortExchange | undefined {
  const { name, input, output, style } = operation
  const place = `operation ${name}`
  if (operation.isNotification || !input) {
    if (operation.isNotification) losses.add(place, 'the service speaks first: a notification is left out')
    else losses.add(place, 'its input is not declared: it is left out', 'document')
    return undefined
  }
  const isEncoded = input.use === 'encoded' || output?.use === 'encoded'
  const body = (message: WsdlMessage, local: string) =>
    style === 'rpc'
      ? readCall(message, local, namespace, isEncoded, model, losses)
      : readDocumentBody(message, `${place}, ${local}`, model, losses)
  const asked = body(input, name)
  const answered = output && body(output, `${name}Response`)
  if (asked === undefined || (output && answered === undefined)) return undefined
  const faults = operation.faults.flatMap(({ fault, namespace: uri, parts }) => {
    const [part] = parts
    const element = part && readPartElement({ namespace: uri, ...part }, place, model)
    if (!part) losses.add(place, `the fault ${fault || 'without a name'} has no part: it is left out`, 'document')
    return element ? [[fault, element] as const] : []
  })
  return exchange({
    style: style === 'document' ? 'document' : isEncoded ? 'encoded' : 'rpc',
    action: operation.action,
    input: asked,
    ...(answered !== undefined && { output: answered }),
    faults: Object.fromEntries(faults),
    requestHeaders: readHeaderParts(input, place, model, losses),
    replyHeaders: output ? readHeaderParts(output, place, model, losses) : {},
    safe: operation.isSafe === true,
  })
}

function readHeaderParts(
  { headers }: WsdlMessage,
  place: string,
  model: SchemaModel,
  losses: Losses,
): Record<string, AnyRootElement> {
  const blocks: Record<string, AnyRootElement> = {}
  for (const header of headers) {
    const found = readPartElement(header, place, model)
    if (!found) losses.add(place, `the header block ${header.name} is not declared: it is left out`, 'document')
    else blocks[Object.hasOwn(blocks, header.name) ? freeExchangeName(header.name, blocks) : header.name] = found
  }
  return blocks
}

/** Either the element of the part, or one of its name with its type (WSDL 1.1 §3.6, §3.7). */
function readPartElement(
  { name, element, type, namespace = '' }: WsdlPart & { readonly namespace?: string },
  place: string,
  model: SchemaModel,
): AnyRootElement | undefined {
  if (element !== undefined) return model.element(element, place)
  return type === undefined ? undefined : model.partElement(namespace, name, type, place)
}

/** One element, or an empty Body (WS-I Basic Profile 1.1 R2201). */
function readDocumentBody(
  { parts }: WsdlMessage,
  place: string,
  model: SchemaModel,
  losses: Losses,
): AnyRootElement | 'empty' | undefined {
  const [part] = parts
  if (!part) return 'empty'
  if (part.content !== undefined) {
    losses.add(place, `its content is ${part.content}: the operation is left out`)
    return undefined
  }
  if (parts.length > 1) losses.add(place, 'a Body of several elements: the operation is left out (R2201)')
  if (part.element === undefined)
    losses.add(
      place,
      `the part ${part.name} has no element: the operation is left out (R2204)`,
      part.type === undefined ? 'document' : 'contract',
    )
  return parts.length > 1 || part.element === undefined ? undefined : model.element(part.element, place)
}

/** SOAP 1.1 §7.1: an element around an accessor for each part. */
function readCall(
  { namespace, parts }: WsdlMessage,
  local: string,
  target: string,
  isEncoded: boolean,
  model: SchemaModel,
  losses: Losses,
): AnyRootElement {
  const members = Object.fromEntries(
    parts.map(part => {
      const member = readPartMember(part, local, model, losses)
      // SOAP 1.1 §5.1: nil stands for no value, and a list without one is empty.
      const isList = isEncoded && part.type !== undefined && model.isLinked(part.type)
      return [part.name, isList ? member.nillable() : member]
    }),
  )
  const call = x.call(namespace || target, local, members)
  return call
}
function readPartMember(part: WsdlPart, local: string, model: SchemaModel, losses: Losses): AnyMember {
  const place = `${local}, part ${part.name}`
  if (part.element !== undefined) {
    losses.add(place, 'an RPC part with an element has its type here (R2203)', 'document')
    const element = model.element(part.element, place)
    return element ? new Member({ kind: 'element', type: element.type }) : x.element(x.anyType)
  }
  return new Member({ kind: 'element', type: memoizeOnce(() => model.typeOfElement(part.type ?? '', place)) })
}
