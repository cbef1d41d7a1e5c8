/**
 * The WSDL 1.1 of a port with messages designed by another party. Its operations, elements, types
 * and actions have the contract's names, namespaces and order, so a client generated from that
 * party's document understands the messages of this one.
 */

import { type AttachedPart, splitBody } from '../contract/attached-parts.ts'
import { type ExchangeBody, isHeaderFault, type Port, type PortExchange } from '../contract/exchange.ts'
import { createMessageNamer, describedName, type MessageNames } from '../contract/port-names.ts'
import { firstNameOf } from '../contract/port-security.ts'
import { type AnyRootElement, type AnyXmlType, BodyContent, type QualifiedName, x } from '../contract/xml-type.ts'
import { type AttachedPolicies, policyReferenceTag } from './endpoint-policy.ts'
import { type Attributes, type MarkupContent, writeDocument, writeDocumentation, writeTag } from './markup.ts'
import { DocumentPrefixes, PortSchemas } from './port-schema.ts'

/** All differences between the two bindings. */
const soapBindings = {
  '1.1': {
    prefix: 'soap',
    namespace: 'http://schemas.xmlsoap.org/wsdl/soap/',
    encoding: 'http://schemas.xmlsoap.org/soap/encoding/',
  },
  '1.2': {
    prefix: 'soap12',
    namespace: 'http://schemas.xmlsoap.org/wsdl/soap12/',
    encoding: 'http://www.w3.org/2003/05/soap-encoding',
  },
} as const
type PortBinding = (typeof soapBindings)[keyof typeof soapBindings]

/** @param policies the policies of messages that need proof, and where they are attached */
export function writePortWsdl(port: Port, address: string, policies?: AttachedPolicies): string {
  const bindings: readonly PortBinding[] =
    port.soap === 'both' ? [soapBindings['1.1'], soapBindings['1.2']] : [soapBindings[port.soap]]
  const prefixes = new DocumentPrefixes()
  const exchanges = Object.entries(port.exchanges)
  const types = [...exchanges.flatMap(listPartTypes), ...port.types]
  const schemas = new PortSchemas(exchanges.flatMap(listElements), types, prefixes)
  const messages = exchanges.flatMap(([name, exchange]) =>
    exchangeMessageTags(name, exchange, port.namespace, schemas, prefixes),
  )
  const body = [
    messages,
    exchangesTag(port),
    bindings.map((binding, at) => bindingTag(port, binding, at, policies)),
    writeTag(
      'wsdl:service',
      { name: port.names.service },
      bindings.map((binding, at) =>
        writeTag(
          'wsdl:port',
          { name: bindingName(port, at), binding: `${ownPrefix(port)}${bindingName(port, at)}` },
          writeTag(`${binding.prefix}:address`, { location: address }),
        ),
      ),
    ),
  ]
  return writeDocument(
    writeTag(
      'wsdl:definitions',
      {
        name: port.names.service,
        targetNamespace: port.namespace || undefined,
        'xmlns:wsdl': 'http://schemas.xmlsoap.org/wsdl/',
        'xmlns:tns': port.namespace || undefined,
        'xmlns:wsam': Object.values(port.exchanges).some(
          ({ addressedAs: { request, reply, faults } }) => (request ?? reply ?? faults) !== undefined,
        )
          ? 'http://www.w3.org/2007/05/addressing/metadata'
          : undefined,
        ...Object.fromEntries(bindings.map(each => [`xmlns:${each.prefix}`, each.namespace])),
        ...prefixes.declarations(),
      },
      policies?.written,
      writeTag('wsdl:types', {}, schemas.write()),
      body,
    ),
  )
}

/** The prefix of the document's own names; a document without a namespace has no prefix. */
const ownPrefix = ({ namespace }: Port): string => (namespace === '' ? '' : 'tns:')
/** The binding of the second version has its own name. */
const bindingName = ({ port }: Port, at: number): string => (at === 0 ? port : `${port}12`)

/** Elements that are described as elements: those of RPC are parts with types. */
function listElements([, exchange]: readonly [string, PortExchange]): AnyRootElement[] {
  const { input, output, faults, requestHeaders, replyHeaders, style } = exchange
  const bodies = style === 'document' ? listBodies(input, output).flatMap(listBodyElements) : []
  const others = [faults, requestHeaders, replyHeaders].flatMap(each => Object.values(each))
  return [...bodies, ...others.filter(({ isPart }) => !isPart)]
}
const listBodies = (...bodies: readonly (ExchangeBody | undefined)[]): readonly ExchangeBody[] =>
  bodies.flatMap(each => (each === undefined ? [] : [splitBody(each).inBody]))
type AnyBodyContent = BodyContent<unknown>

/** The elements of the parts in a Body; none where its content is described by a type. */
const listBodyElements = (body: ExchangeBody): readonly AnyRootElement[] =>
  typeof body !== 'object' ? [] : body instanceof BodyContent ? Object.values(listParts(body) ?? {}) : [body]

/** The parts that form the content of a Body; undefined: only a type describes it. */
function listParts(body: AnyBodyContent): Readonly<Record<string, AnyRootElement>> | undefined {
  const { definition } = body.type()
  if (definition.kind !== 'complex' || definition.name || definition.isUnordered) return undefined
  const parts = Object.entries(definition.members).flatMap(([key, { particle, marks }]) =>
    particle.kind === 'reference' && marks.min === 1 && !marks.isMany ? [[key, particle.to()] as const] : [],
  )
  return parts.length === Object.keys(definition.members).length ? Object.fromEntries(parts) : undefined
}

function listPartTypes([, exchange]: readonly [string, PortExchange]) {
  const { input, output, faults, requestHeaders, replyHeaders, style } = exchange
  const calls = listBodies(input, output).flatMap(body =>
    style === 'document' ? listContentTypes(body) : partsOf(body).map(([, type]) => type),
  )
  const others = [faults, requestHeaders, replyHeaders].flatMap(each => Object.values(each))
  return [...calls, ...others.filter(({ isPart }) => isPart).map(({ type }) => type())]
}

/** Any elements at all, which only the type of everything describes. */
function isAnyContent(body: AnyBodyContent): boolean {
  const { definition } = body.type()
  if (definition.kind !== 'complex' || definition.name) return false
  const [only, another] = Object.values(definition.members)
  const isAny = only?.particle.kind === 'any' && only.particle.namespaces === 'any'
  return !another && isAny && only.marks.min === 0 && only.marks.max === Number.POSITIVE_INFINITY
}

const listContentTypes = (body: ExchangeBody): readonly AnyXmlType[] =>
  body instanceof BodyContent && !listParts(body) ? [body.type()] : []

function partsOf(body: ExchangeBody) {
  if (typeof body !== 'object') return []
  const { definition } = body.type()
  if (definition.kind !== 'complex') return []
  return Object.entries(definition.members).flatMap(([key, { particle, marks }]) =>
    particle.kind === 'element' ? [[marks.name ?? key, particle.type()] as const] : [],
  )
}

function exchangeMessageTags(
  name: string,
  exchange: PortExchange,
  namespace: string,
  schemas: PortSchemas,
  prefixes: DocumentPrefixes,
): string[] {
  const element = (part: string, root: AnyRootElement) =>
    root.isPart
      ? writeTag('wsdl:part', { name: root.name.local, type: schemas.nameForPart(root.type(), root.name) })
      : writeTag('wsdl:part', { name: part, element: prefixes.qname(root.name) })
  const contentParts = (body: AnyBodyContent, suffix: string) => {
    const parts = listParts(body)
    if (parts) return Object.entries(parts).map(([part, root]) => element(part, root))
    const wish: QualifiedName = { uri: namespace, local: `${name}${suffix}Body` }
    const type = isAnyContent(body) ? schemas.nameForPart(x.anyType, wish) : schemas.nameForPart(body.type(), wish)
    return [writeTag('wsdl:part', { name: 'parameters', type })]
  }
  const messageParts = (whole: ExchangeBody, suffix: string) => {
    const { inBody, attached } = splitBody(whole)
    const next = attached.map(({ name, isText }) =>
      writeTag('wsdl:part', { name, type: isText ? 'xs:string' : 'xs:base64Binary' }),
    )
    return [...bodyParts(inBody, suffix), ...next]
  }
  const bodyParts = (body: ExchangeBody, suffix: string) => {
    if (body === 'empty') return []
    if (body instanceof BodyContent) return contentParts(body, suffix)
    if (exchange.style === 'document') return [element('parameters', body)]
    return partsOf(body).map(([part, type]) => {
      const wish: QualifiedName = { uri: body.name.uri, local: `${body.name.local}_${part}` }
      return writeTag('wsdl:part', { name: part, type: schemas.nameForPart(type, wish) })
    })
  }
  const single = (suffix: string, roots: Readonly<Record<string, AnyRootElement>>) =>
    Object.entries(roots).map(([key, root]) =>
      writeTag('wsdl:message', { name: `${name}_${key}${suffix}` }, element(key, root)),
    )
  return [
    writeTag('wsdl:message', { name: `${name}Input` }, messageParts(exchange.input, '')),
    ...(exchange.output === undefined
      ? []
      : [writeTag('wsdl:message', { name: `${name}Output` }, messageParts(exchange.output, 'Response'))]),
    ...single('Fault', exchange.faults),
    ...Array.from(listHeaderMessages(name, exchange), ([message, { key, root }]) =>
      writeTag('wsdl:message', { name: message }, element(key, root)),
    ),
  ]
}

/** The parts of a message that are in its Body. */
function namesInBody(body: ExchangeBody, style: PortExchange['style']): readonly string[] {
  if (style !== 'document') return partsOf(body).map(([part]) => part)
  return body instanceof BodyContent ? Object.keys(listParts(body) ?? { parameters: body }) : []
}

/** §5.11, WS-I Attachments Profile 1.0 R2905: header blocks are declared with the Body. */
const writeMultipart = (envelope: MarkupContent, attached: readonly AttachedPart[]): string =>
  writeTag(
    'mime:multipartRelated',
    { 'xmlns:mime': 'http://schemas.xmlsoap.org/wsdl/mime/' },
    writeTag('mime:part', {}, envelope),
    attached.map(({ name, mediaTypes }) =>
      writeTag(
        'mime:part',
        {},
        (mediaTypes.length > 0 ? mediaTypes : [undefined]).map(type => writeTag('mime:content', { part: name, type })),
      ),
    ),
  )

type HeaderSide = 'requestHeaders' | 'replyHeaders'
/** Blocks of a request and of its reply may share a name but have different elements. */
function nameHeaderMessage(name: string, exchange: PortExchange, direction: HeaderSide, key: string): string {
  const inRequest = exchange.requestHeaders[key]
  const isOther = direction === 'replyHeaders' && inRequest !== undefined && inRequest !== exchange.replyHeaders[key]
  return `${name}_${key}${isOther ? 'Reply' : ''}Header`
}
function listHeaderMessages(
  name: string,
  exchange: PortExchange,
): ReadonlyMap<string, { readonly key: string; readonly root: AnyRootElement }> {
  const directions: readonly HeaderSide[] = ['requestHeaders', 'replyHeaders']
  return new Map(
    directions.flatMap(direction =>
      Object.entries(exchange[direction]).map(([key, root]) => [
        nameHeaderMessage(name, exchange, direction, key),
        { key, root },
      ]),
    ),
  )
}

/** Faults about header blocks are only in the binding, with the blocks (§3.7). */
const listDetailFaults = (exchange: PortExchange): readonly (readonly [string, AnyRootElement])[] =>
  Object.entries(exchange.faults).filter(([fault]) => !isHeaderFault(exchange, fault))

function exchangesTag(port: Port): string {
  const { names, exchanges, description } = port
  const nameMessages = createMessageNamer(port)
  const operations = Object.entries(exchanges).map(([name, exchange]) =>
    writeTag(
      'wsdl:operation',
      { name: describedName(name, exchange) },
      writeDocumentation(exchange.description),
      writeTag('wsdl:input', {
        name: nameMessages(name).input,
        message: `${ownPrefix(port)}${name}Input`,
        'wsam:Action': exchange.addressedAs.request,
      }),
      exchange.output !== undefined &&
        writeTag('wsdl:output', {
          name: nameMessages(name).output,
          message: `${ownPrefix(port)}${name}Output`,
          'wsam:Action': exchange.addressedAs.reply,
        }),
      listDetailFaults(exchange).map(([fault]) =>
        writeTag('wsdl:fault', {
          name: fault,
          message: `${ownPrefix(port)}${name}_${fault}Fault`,
          'wsam:Action': exchange.addressedAs.faults?.[fault],
        }),
      ),
    ),
  )
  return writeTag('wsdl:portType', { name: names.portType }, writeDocumentation(description), operations)
}

function bindingTag(port: Port, binding: PortBinding, at: number, policies: AttachedPolicies | undefined): string {
  const { prefix } = binding
  const all = Object.entries(port.exchanges)
  const isRpc = all[0]?.[1].style !== 'document'
  const nameMessages = createMessageNamer(port)
  return writeTag(
    'wsdl:binding',
    { name: bindingName(port, at), type: `${ownPrefix(port)}${port.names.portType}` },
    policyReferenceTag(policies, 'endpoint'),
    writeTag(`${prefix}:binding`, {
      transport: 'http://schemas.xmlsoap.org/soap/http',
      style: all.length > 0 && isRpc ? 'rpc' : 'document',
    }),
    all.map(([name, exchange]) => boundOperationTag(port, name, exchange, binding, nameMessages(name), policies)),
  )
}

function boundOperationTag(
  port: Port,
  name: string,
  exchange: PortExchange,
  { prefix, encoding }: PortBinding,
  messages: MessageNames,
  policies: AttachedPolicies | undefined,
): string {
  const { style, action, input, output, faults, headerFaults, requestHeaders } = exchange
  const use: Attributes = style === 'encoded' ? { use: 'encoded', encodingStyle: encoding } : { use: 'literal' }
  /** Next to attachments: the parts that are in the Body. */
  const body = (of: ExchangeBody, parts?: string) =>
    writeTag(`${prefix}:body`, {
      parts,
      ...use,
      namespace: style !== 'document' && of !== 'empty' ? of.name.uri : undefined,
    })
  const message = (whole: ExchangeBody, direction: HeaderSide) => {
    const { inBody, attached } = splitBody(whole)
    const blocks = headers(direction)
    if (attached.length === 0) return [blocks, body(whole)]
    return writeMultipart([blocks, body(inBody, namesInBody(inBody, style).join(' '))], attached)
  }
  // A part is encoded if its exchange is; an element of a schema is literal.
  const usual = (root: AnyRootElement): Attributes =>
    root.isPart ? { ...use, namespace: root.name.uri || undefined } : { use: 'literal' }
  const placeBlock = (message: string, key: string, root: AnyRootElement): Attributes => ({
    message: `${ownPrefix(port)}${message}`,
    part: root.isPart ? root.name.local : key,
    ...usual(root),
  })
  /** For a block in both messages, the faults of the request. */
  const faultsAbout = (direction: HeaderSide, key: string) =>
    direction === 'replyHeaders' && Object.hasOwn(requestHeaders, key) ? [] : (headerFaults[key] ?? [])
  const headers = (direction: HeaderSide) =>
    Object.entries(exchange[direction]).map(([key, root]) =>
      writeTag(
        `${prefix}:header`,
        placeBlock(nameHeaderMessage(name, exchange, direction, key), key, root),
        faultsAbout(direction, key).map(fault => {
          const about = faults[fault]
          return about && writeTag(`${prefix}:headerfault`, placeBlock(`${name}_${fault}Fault`, fault, about))
        }),
      ),
    )
  const attach = (subject: 'operation' | 'input' | 'output') =>
    policyReferenceTag(policies, subject, firstNameOf(exchange))
  return writeTag(
    'wsdl:operation',
    { name: describedName(name, exchange) },
    attach('operation'),
    writeTag(`${prefix}:operation`, { soapAction: action, style: style === 'document' ? 'document' : 'rpc' }),
    writeTag('wsdl:input', { name: messages.input }, attach('input'), message(input, 'requestHeaders')),
    output !== undefined &&
      writeTag('wsdl:output', { name: messages.output }, attach('output'), message(output, 'replyHeaders')),
    listDetailFaults(exchange).map(([fault, root]) =>
      writeTag('wsdl:fault', { name: fault }, writeTag(`${prefix}:fault`, { name: fault, ...usual(root) })),
    ),
  )
}
