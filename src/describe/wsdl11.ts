/**
 * WSDL 1.1 of one version (rule B2.12). Invariants of every document:
 *  (1) It refers to no other document: it has no import, and no location of a schema.
 *  (2) A document with the port of one SOAP version does not mention the other, because some
 *      generators choose the version by that. Exception: the types of an encoded endpoint, see
 *      below.
 *  (3) The message of a fault and its element have different names: some generators make a class
 *      from each.
 *  (4) `wsam:Action` is present only if addressing is requested, because it makes some clients send
 *      addressing headers. Without it the action of a request is its soapAction (WS-Addressing 1.0
 *      Metadata §4.4.1), which is the same URI.
 */

import type { MessageStyle } from '../contract/endpoint-rule.ts'
import type { Fault } from '../contract/fault.ts'
import type { Fields } from '../contract/field.ts'
import { isOfRequest, isOfResponse, type NamedHeader } from '../contract/header.ts'
import { capitalize } from '../contract/lexical/text.ts'
import { describeFault, explainOperation } from '../contract/operation-texts.ts'
import { describeVersion, namespaceOf, type Service } from '../contract/service.ts'
import { formOfStyle, placeOfField, type TypeForm } from '../contract/type-names.ts'
import {
  compileMessages,
  faultAction,
  type Message,
  type MessagePart,
  replyAction,
  toXmlName,
} from '../contract/xml-message.ts'
import { type EndpointPolicy, type PolicyMarkup, writePolicyMarkup } from './endpoint-policy.ts'
import { declareHeaders, usedHeaders, writeHeaderSchemas } from './header-schema.ts'
import { writeDocument, writeDocumentation, writeTag } from './markup.ts'
import { faultElementTags, namedFaults, typesOfStyle, writeSchema, writeSchemaTag } from './xsd.ts'
import { type ArrayOf, annotationOf, type SchemaTypes } from './xsd-types.ts'

/** Facts that a WSDL 1.1 needs besides the contract. */
export interface Wsdl11Options {
  /** The address of the endpoint, for both versions of SOAP. */
  readonly address: string
  readonly soap?: '1.1' | '1.2' | 'both'
  readonly style?: MessageStyle
  readonly policy?: EndpointPolicy
}

/** All differences between the two bindings. */
interface Wsdl11Binding {
  readonly prefix: string
  /** The namespace of the binding's elements. */
  readonly namespace: string
  readonly encoding: string
  readonly suffix: string
}
const soap11Binding: Wsdl11Binding = {
  prefix: 'soap',
  namespace: 'http://schemas.xmlsoap.org/wsdl/soap/',
  encoding: 'http://schemas.xmlsoap.org/soap/encoding/',
  suffix: 'Soap11',
}
const soap12Binding: Wsdl11Binding = {
  prefix: 'soap12',
  namespace: 'http://schemas.xmlsoap.org/wsdl/soap12/',
  encoding: 'http://www.w3.org/2003/05/soap-encoding',
  suffix: 'Soap12',
}
/**
 * The types of arrays, in both versions of SOAP: WSDL 1.1 §2.2 describes them with SOAP 1.1's
 * attribute, and clients read only that. The binding says how a message is encoded.
 */
const arrayEncoding = soap11Binding.encoding
const arrayOf: ArrayOf = item => [writeTag('xs:attribute', { ref: 'soapenc:arrayType', 'wsdl:arrayType': `${item}[]` })]
const httpTransport = 'http://schemas.xmlsoap.org/soap/http'

/** The SOAP face of one version of a contract as WSDL 1.1. */
export function writeWsdl11(service: Service, version: string, options: Wsdl11Options): string {
  const versions = { '1.1': [soap11Binding], '1.2': [soap12Binding], both: [soap11Binding, soap12Binding] }[
    options.soap ?? 'both'
  ]
  const style = options.style ?? 'document'
  const namespace = namespaceOf(service, version)
  const all = compileMessages(service, version)
  const name = serviceName(service)
  const typed = style === 'document' ? documentTypes(service, version, all) : rpcTypes(all, style, namespace)
  const policy = writePolicyMarkup(name, options.policy)
  return writeDocument(
    writeTag(
      'wsdl:definitions',
      {
        name: `${name}Service`,
        targetNamespace: namespace,
        'xmlns:wsdl': 'http://schemas.xmlsoap.org/wsdl/',
        'xmlns:xs': 'http://www.w3.org/2001/XMLSchema',
        'xmlns:tns': namespace,
        ...Object.fromEntries(versions.map(each => [`xmlns:${each.prefix}`, each.namespace])),
        ...(policy.isAddressed && { 'xmlns:wsaw': 'http://www.w3.org/2006/05/addressing/wsdl' }),
        ...declareHeaders(all),
        ...policy.namespaces,
      },
      writeDocumentation(describeVersion(service, version)),
      policy.written,
      writeTag('wsdl:types', {}, typed.schema, writeHeaderSchemas(all)),
      typed.messages,
      headerMessageTags(all),
      portTypeTag(name, all, policy),
      versions.map(each => wsdl11BindingTag(name, all, each, style, namespace, policy)),
      writeTag(
        'wsdl:service',
        { name: `${name}Service` },
        versions.map(each =>
          writeTag(
            'wsdl:port',
            { name: `${name}${each.suffix}`, binding: `tns:${name}${each.suffix}` },
            writeTag(`${each.prefix}:address`, { location: options.address }),
          ),
        ),
      ),
    ),
  )
}

/** The name of the service, which begins the names in a WSDL. */
export function serviceName(service: Service): string {
  return toXmlName(capitalize(service.service))
}

interface MessageTypes {
  readonly schema: string
  /** The `wsdl:message` elements. */
  readonly messages: readonly string[]
}
const operationName = ({ operation }: Message): string => toXmlName(operation.name)
const inputName = (message: Message): string => `${operationName(message)}Input`
const outputName = (message: Message): string => `${operationName(message)}Output`
const faultName = (fault: Fault): string => `${toXmlName(fault.fault)}Fault`

function messageTags(all: readonly Message[], parts: (part: MessagePart) => readonly string[]): readonly string[] {
  return [
    ...all.flatMap(message => [
      writeTag('wsdl:message', { name: inputName(message) }, parts(message.request)),
      ...(message.response ? [writeTag('wsdl:message', { name: outputName(message) }, parts(message.response))] : []),
    ]),
    ...namedFaults(all).map(fault =>
      writeTag(
        'wsdl:message',
        { name: faultName(fault) },
        writeTag('wsdl:part', { name: 'fault', element: `tns:${toXmlName(fault.fault)}` }),
      ),
    ),
  ]
}

const documentTypes = (service: Service, version: string, all: readonly Message[]): MessageTypes => ({
  schema: writeSchema(service, version),
  messages: messageTags(all, part => [writeTag('wsdl:part', { name: 'parameters', element: `tns:${part.name}` })]),
})

/**
 * RPC: each child of the wrapper is a part with a type. WSDL cannot mark a part as optional: a
 * client omits its accessor, or sends it empty or with `xsi:nil`. Fault details are elements, as in
 * document style.
 */
function rpcTypes(all: readonly Message[], style: 'rpc' | 'encoded', namespace: string): MessageTypes {
  const types = typesOfStyle(all, style, arrayOf)
  const parts = ({ fields }: MessagePart) => partTags(types, fields, formOfStyle[style])
  const isEncoded = style === 'encoded'
  const imports = isEncoded ? [writeTag('xs:import', { namespace: arrayEncoding })] : []
  const declarations = { 'xmlns:soapenc': isEncoded ? arrayEncoding : undefined }
  return {
    messages: messageTags(all, parts),
    schema: writeSchemaTag(namespace, types, declarations, [
      ...imports,
      ...types.definitions,
      ...faultElementTags(types, all),
    ]),
  }
}
const partTags = (types: SchemaTypes, fields: Fields, form: TypeForm): string[] =>
  Object.entries(fields).map(([name, field]) =>
    writeTag(
      'wsdl:part',
      { name: toXmlName(name), type: types.typeOf(field.shape, placeOfField(name, form)) },
      writeDocumentation(annotationOf(field)),
    ),
  )

function portTypeTag(name: string, all: readonly Message[], { action }: PolicyMarkup): string {
  return writeTag(
    'wsdl:portType',
    { name: `${name}PortType` },
    all.map(message =>
      writeTag(
        'wsdl:operation',
        { name: operationName(message) },
        writeDocumentation(explainOperation(message.operation)),
        writeTag('wsdl:input', { message: `tns:${inputName(message)}`, ...action(message.action) }),
        message.response &&
          writeTag('wsdl:output', { message: `tns:${outputName(message)}`, ...action(replyAction(message)) }),
        message.faults.map(fault =>
          writeTag(
            'wsdl:fault',
            {
              name: toXmlName(fault.fault),
              message: `tns:${faultName(fault)}`,
              ...action(faultAction(message, fault.fault)),
            },
            writeDocumentation(describeFault(fault)),
          ),
        ),
      ),
    ),
  )
}

function wsdl11BindingTag(
  name: string,
  all: readonly Message[],
  soap: Wsdl11Binding,
  style: MessageStyle,
  namespace: string,
  policy: PolicyMarkup,
): string {
  const { prefix } = soap
  const body = writeTag(`${prefix}:body`, {
    use: style === 'encoded' ? 'encoded' : 'literal',
    namespace: style === 'document' ? undefined : namespace,
    encodingStyle: style === 'encoded' ? soap.encoding : undefined,
  })
  const { attach } = policy
  return writeTag(
    'wsdl:binding',
    { name: `${name}${soap.suffix}`, type: `tns:${name}PortType` },
    policy.reference,
    attach('endpoint'),
    policy.isAddressed && writeTag('wsaw:UsingAddressing', { 'wsdl:required': false }),
    writeTag(`${prefix}:binding`, { transport: httpTransport, style: style === 'document' ? 'document' : 'rpc' }),
    all.map(message =>
      writeTag(
        'wsdl:operation',
        { name: operationName(message) },
        attach('operation', message.request.name),
        writeTag(`${prefix}:operation`, {
          soapAction: message.action,
          style: style === 'document' ? 'document' : 'rpc',
        }),
        writeTag(
          'wsdl:input',
          {},
          attach('input', message.request.name),
          body,
          headerTags(prefix, message.headers.filter(isOfRequest)),
        ),
        message.response &&
          writeTag(
            'wsdl:output',
            {},
            attach('output', message.request.name),
            body,
            headerTags(prefix, message.headers.filter(isOfResponse)),
          ),
        message.faults.map(({ fault }) =>
          writeTag(
            'wsdl:fault',
            { name: toXmlName(fault) },
            attach('output', message.request.name),
            writeTag(`${prefix}:fault`, { name: toXmlName(fault), use: 'literal' }),
          ),
        ),
      ),
    ),
  )
}

const headerMessageName = ({ name }: NamedHeader): string => `${toXmlName(name)}Header`

/** A message for each header, since several operations share it (WSDL 1.1 §3.7). */
const headerMessageTags = (all: readonly Message[]): readonly string[] =>
  usedHeaders(all).map(({ header, element }) =>
    writeTag(
      'wsdl:message',
      { name: headerMessageName(header) },
      writeTag('wsdl:part', { name: toXmlName(header.name), element }),
    ),
  )

/** A header block is literal in every style. */
const headerTags = (prefix: string, headers: readonly NamedHeader[]): readonly string[] =>
  headers.map(header =>
    writeTag(`${prefix}:header`, {
      message: `tns:${headerMessageName(header)}`,
      part: toXmlName(header.name),
      use: 'literal',
    }),
  )
