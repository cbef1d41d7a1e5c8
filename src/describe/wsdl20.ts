/**
 * WSDL 2.0 of one version (rule B2.13): one interface, and a binding and an endpoint for each
 * version of SOAP. It refers to no other document.
 */

import { isOfRequest, isOfResponse, type NamedHeader } from '../contract/header.ts'
import { describeFault, explainOperation } from '../contract/operation-texts.ts'
import { describeVersion, namespaceOf, type Service } from '../contract/service.ts'
import { compileMessages, faultAction, type Message, replyAction, toXmlName } from '../contract/xml-message.ts'
import { type EndpointPolicy, type PolicyMarkup, writePolicyMarkup } from './endpoint-policy.ts'
import { declareHeaders, type UsedHeader, usedHeaders, writeHeaderSchemas } from './header-schema.ts'
import { writeDocument, writeDocumentation, writeTag } from './markup.ts'
import { serviceName } from './wsdl11.ts'
import { namedFaults, writeSchema } from './xsd.ts'

/** Facts that a WSDL 2.0 needs besides the contract. */
export interface Wsdl20Options {
  /** The address of the endpoint, for both versions of SOAP. */
  readonly address: string
  readonly soap?: '1.1' | '1.2' | 'both'
  readonly policy?: EndpointPolicy
}

/** All differences between the two bindings (WSDL 2.0 Part 2 §5; WSDL 2.0 SOAP 1.1 Binding). */
interface Wsdl20Binding {
  readonly suffix: string
  readonly version: string
  readonly protocol: string
  /** The message exchange pattern of all operations; SOAP 1.1 has only one. */
  readonly mep: string | undefined
  readonly prefix: string
  readonly envelope: string
  readonly sender: string
  readonly receiver: string
}
const allBindings: readonly Wsdl20Binding[] = [
  {
    suffix: 'Soap12',
    version: '1.2',
    protocol: 'http://www.w3.org/2003/05/soap/bindings/HTTP/',
    mep: 'http://www.w3.org/2003/05/soap/mep/request-response/',
    prefix: 'soap12',
    envelope: 'http://www.w3.org/2003/05/soap-envelope',
    sender: 'Sender',
    receiver: 'Receiver',
  },
  {
    suffix: 'Soap11',
    version: '1.1',
    protocol: 'http://www.w3.org/2006/01/soap11/bindings/HTTP/',
    mep: undefined,
    prefix: 'soap11',
    envelope: 'http://schemas.xmlsoap.org/soap/envelope/',
    sender: 'Client',
    receiver: 'Server',
  },
]

/** The SOAP face of one version of a contract as WSDL 2.0. */
export function writeWsdl20(service: Service, version: string, options: Wsdl20Options): string {
  const namespace = namespaceOf(service, version)
  const name = serviceName(service)
  const all = compileMessages(service, version)
  const { soap = 'both' } = options
  const policy = writePolicyMarkup(name, options.policy)
  const bindings = allBindings.filter(each => soap === 'both' || each.version === soap)
  return writeDocument(
    writeTag(
      'wsdl:description',
      {
        targetNamespace: namespace,
        'xmlns:wsdl': 'http://www.w3.org/ns/wsdl',
        'xmlns:wsoap': 'http://www.w3.org/ns/wsdl/soap',
        'xmlns:wsdlx': 'http://www.w3.org/ns/wsdl-extensions',
        'xmlns:xs': 'http://www.w3.org/2001/XMLSchema',
        'xmlns:tns': namespace,
        ...declareHeaders(all),
        ...policy.namespaces,
        ...Object.fromEntries(bindings.map(({ prefix, envelope }) => [`xmlns:${prefix}`, envelope])),
      },
      writeDocumentation(describeVersion(service, version)),
      policy.written,
      writeTag('wsdl:types', {}, writeSchema(service, version), writeHeaderSchemas(all)),
      interfaceTag(name, all, policy),
      bindings.map(each => wsdl20BindingTag(name, all, each, policy)),
      writeTag(
        'wsdl:service',
        { name: `${name}Service`, interface: `tns:${name}Interface` },
        bindings.map(({ suffix }) =>
          writeTag('wsdl:endpoint', {
            name: `${name}${suffix}`,
            binding: `tns:${name}${suffix}`,
            address: options.address,
          }),
        ),
      ),
    ),
  )
}

const patternUri = (kind: 'in-out' | 'in-only'): string => `http://www.w3.org/ns/wsdl/${kind}`

function interfaceTag(name: string, all: readonly Message[], policy: PolicyMarkup): string {
  return writeTag(
    'wsdl:interface',
    { name: `${name}Interface` },
    namedFaults(all).map(fault =>
      writeTag(
        'wsdl:fault',
        { name: toXmlName(fault.fault), element: `tns:${toXmlName(fault.fault)}` },
        writeDocumentation(describeFault(fault)),
      ),
    ),
    all.map(message => {
      const { operation, request, response, faults } = message
      return writeTag(
        'wsdl:operation',
        {
          name: toXmlName(operation.name),
          pattern: patternUri(response ? 'in-out' : 'in-only'),
          'wsdlx:safe': operation.safe || undefined,
        },
        writeDocumentation(explainOperation(operation)),
        writeTag('wsdl:input', {
          messageLabel: 'In',
          element: `tns:${request.name}`,
          ...policy.action(message.action),
        }),
        response &&
          writeTag('wsdl:output', {
            messageLabel: 'Out',
            element: `tns:${response.name}`,
            ...policy.action(replyAction(message)),
          }),
        faults.map(({ fault }) =>
          writeTag('wsdl:outfault', {
            ref: `tns:${toXmlName(fault)}`,
            messageLabel: 'Out',
            ...policy.action(faultAction(message, fault)),
          }),
        ),
      )
    }),
  )
}

function wsdl20BindingTag(name: string, all: readonly Message[], soap: Wsdl20Binding, policy: PolicyMarkup): string {
  const { attach } = policy
  const used = usedHeaders(all)
  return writeTag(
    'wsdl:binding',
    {
      name: `${name}${soap.suffix}`,
      interface: `tns:${name}Interface`,
      type: 'http://www.w3.org/ns/wsdl/soap',
      'wsoap:version': soap.version,
      'wsoap:protocol': soap.protocol,
      'wsoap:mepDefault': soap.mep,
    },
    policy.reference,
    attach('endpoint'),
    namedFaults(all).map(({ fault, status }) =>
      writeTag('wsdl:fault', {
        ref: `tns:${toXmlName(fault)}`,
        'wsoap:code': `${soap.prefix}:${status < 500 ? soap.sender : soap.receiver}`,
      }),
    ),
    all.map(({ operation, action, request, response, headers }) =>
      writeTag(
        'wsdl:operation',
        { ref: `tns:${toXmlName(operation.name)}`, 'wsoap:action': action },
        attach('operation', request.name),
        messageTag('input', 'In', attach('input', request.name), headers.filter(isOfRequest), used),
        response && messageTag('output', 'Out', attach('output', request.name), headers.filter(isOfResponse), used),
      ),
    ),
  )
}

/** WSDL 2.0 Part 2 §5.9. */
function messageTag(
  direction: 'input' | 'output',
  label: 'In' | 'Out',
  policy: string | undefined,
  headers: readonly NamedHeader[],
  used: readonly UsedHeader[],
): string | undefined {
  if (headers.length === 0 && policy === undefined) return undefined
  const tags = headers.map(({ name, isMandatory, isRequired }) =>
    writeTag('wsoap:header', {
      element: used.find(({ header }) => header.name === name)?.element,
      mustUnderstand: isMandatory || undefined,
      required: (isRequired && direction === 'input') || undefined,
    }),
  )
  return writeTag(`wsdl:${direction}`, { messageLabel: label }, policy, tags)
}
