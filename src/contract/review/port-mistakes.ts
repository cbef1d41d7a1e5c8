/** Mistakes in ports, and in the handlers of their exchanges. */

import { splitBody } from '../attached-parts.ts'
import type { Port, PortExchange } from '../exchange.ts'
import type { Implementation } from '../implement.ts'
import { findUnknownMembers } from '../member-kinds.ts'
import { findPortSecurityMistakes } from '../port-security.ts'
import { hasElementsAlone } from '../xml-members.ts'
import { listReachedTypes } from '../xml-reach.ts'
import { type AnyMember, type AnyXmlType, BodyContent, type TypeMembers } from '../xml-type.ts'
import { securityMembers } from './face-mistakes.ts'

export const findPortMistakes = (app: Implementation, port: Port): readonly string[] => [
  ...exchangeMistakes(app, port),
  ...portSecurityMistakes(port),
]

/** A port answers every exchange of its WSDL. */
function exchangeMistakes({ ports = {} }: Implementation, { port, exchanges }: Port): string[] {
  const handlers = ports[port] ?? {}
  return [
    ...Object.entries(exchanges).flatMap(([name, exchange]) => [
      ...contentMistakes(`${port}.${name}`, exchange),
      ...headerFaultMistakes(`${port}.${name}`, exchange),
      ...attachmentMistakes(`${port}.${name}`, exchange),
    ]),
    ...Object.keys(exchanges)
      .filter(name => !Object.hasOwn(handlers, name))
      .map(name => `${port}.${name} has no handler: give implement() one, or remove the exchange from the port`),
    ...Object.keys(handlers)
      .filter(name => !Object.hasOwn(exchanges, name))
      .map(name => `implement() has a handler ${port}.${name}, which is not an exchange of the port: remove it`),
  ]
}

function portSecurityMistakes(port: Port): readonly string[] {
  const { port: name, security } = port
  const rule = security === 'settings' ? {} : (security ?? {})
  return [...findUnknownMembers(`the port ${name}: security`, rule, securityMembers), ...findPortSecurityMistakes(port)]
}

/**
 * Only an input or an output of document style can be an `x.body(…)`, and it consists of elements.
 */
function contentMistakes(name: string, { style, input, output, ...others }: PortExchange): string[] {
  const { faults, requestHeaders, replyHeaders } = others
  const contents = [input, output].filter(each => each instanceof BodyContent)
  const misplaced = [faults, requestHeaders, replyHeaders]
    .flatMap(Object.values)
    .some(each => each instanceof BodyContent)
  return [
    ...(misplaced ? [`${name} has an x.body(…) as a fault or a header: declare an element of a namespace for it`] : []),
    ...(contents.length > 0 && style !== 'document'
      ? [`${name} has an x.body(…) in the style ${style}: use x.call(…), or leave the style out`]
      : []),
    ...(contents.every(each => hasElementsAlone(each.type()))
      ? []
      : [`${name} has an x.body(…) of a type with text or attributes: a Body has only elements`]),
  ]
}

/** An attachment is one part of a message: nothing in the XML refers to it. */
function attachmentMistakes(name: string, { input, output, style, ...others }: PortExchange): string[] {
  const { faults, requestHeaders, replyHeaders } = others
  const bodies = [input, output].filter(each => typeof each === 'object')
  const roots = [...bodies, ...[faults, requestHeaders, replyHeaders].flatMap(each => Object.values(each))]
  const inPlace = bodies
    .filter(body => style !== 'document' || body instanceof BodyContent)
    .flatMap(body => splitBody(body).attached.map(({ member }) => member))
    .filter(({ marks }) => !marks.isMany)
  return listReachedTypes(roots)
    .types.flatMap(listAttachedMembers)
    .every(each => inPlace.includes(each))
    ? []
    : [`${name} has an x.attachment(…) in an element or a list: make it a member of x.body(…) or x.call(…)`]
}
const listAttachedMembers = ({ definition }: AnyXmlType): readonly AnyMember[] =>
  definition.kind === 'complex' ? listAttached(definition.members) : []
const listAttached = (members: TypeMembers): readonly AnyMember[] =>
  Object.values(members).flatMap(member => {
    const { particle, marks } = member
    if (particle.kind === 'choice' || particle.kind === 'sequence') return listAttached(particle.members)
    return marks.attached ? [member] : []
  })

function headerFaultMistakes(name: string, exchange: PortExchange): string[] {
  const { faults, headerFaults, requestHeaders, replyHeaders, mandatoryHeaders } = exchange
  const undeclared = (place: string, header: string, ...declared: readonly object[]): string[] =>
    declared.some(each => Object.hasOwn(each, header))
      ? []
      : [`${name}.${place} names the header block "${header}", which it does not declare: add it to its headers`]
  const { request = [], reply = [] } = mandatoryHeaders
  const marked = [
    ...request.flatMap(header => undeclared('mandatoryHeaders.request', header, requestHeaders)),
    ...reply.flatMap(header => undeclared('mandatoryHeaders.reply', header, replyHeaders)),
  ]
  const about = Object.entries(headerFaults).flatMap(([header, about]) => [
    ...undeclared('headerFaults', header, requestHeaders, replyHeaders),
    ...about
      .filter(fault => !Object.hasOwn(faults, fault))
      .map(fault => `${name}.headerFaults names the fault "${fault}", which it does not declare: add it to its faults`),
  ])
  return [...marked, ...about]
}
