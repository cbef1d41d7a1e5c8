/**
 * WS-Addressing 1.0 (Core, SOAP Binding) and the submission of August 2004. What it guards:
 *  (1) Nothing is sent to an address that a message names unless the configuration allows it.
 *  (2) A reply names its request, and so does a fault as soon as the MessageID is known.
 *  (3) Echoed reference parameters cannot pass for a block of ours.
 *  (4) A message for another endpoint is not carried out.
 */

import type { Maybe } from '../../base/maybe.ts'
import { Element, escapeText, internName, type Name, writeElement } from '../../xml/index.ts'
import type { SoapFault } from '../fault.ts'
import { refuseMessage, type SoapRefusal } from '../refusal.ts'
import { securityName } from '../security-port.ts'
import { versions } from '../version.ts'

/** All differences between the two versions. */
export interface AddressingVersion {
  readonly uri: string
  readonly anonymous: string
  /** The address for no reply; 2004/08 has none. */
  readonly none: string | undefined
  /** The relation of a fault to a message without an id (SOAP Binding §6). */
  readonly unspecified: string | undefined
  readonly blocks: Readonly<Record<Property, Name>>
  readonly isReference: Name | undefined
  readonly required: readonly Property[]
  readonly subcodes: { readonly invalid: Name; readonly required: Name }
  /** The action of a fault that SOAP itself defines. */
  readonly soapFault: string
}
type Property = 'MessageID' | 'To' | 'Action' | 'From' | 'ReplyTo' | 'FaultTo' | 'RelatesTo'
const properties: readonly Property[] = ['MessageID', 'To', 'Action', 'From', 'ReplyTo', 'FaultTo', 'RelatesTo']
const repeatable: ReadonlySet<Property> = new Set(['RelatesTo'])

const createDialect = (
  uri: string,
  facts: Omit<AddressingVersion, 'uri' | 'blocks' | 'subcodes'> & Record<'invalid' | 'missing', string>,
): AddressingVersion => ({
  uri,
  ...facts,
  blocks: Object.fromEntries(properties.map(each => [each, internName(uri, each)])) as AddressingVersion['blocks'], // one for each property
  subcodes: { invalid: internName(uri, facts.invalid), required: internName(uri, facts.missing) },
})
const uri10 = 'http://www.w3.org/2005/08/addressing'
const uri04 = 'http://schemas.xmlsoap.org/ws/2004/08/addressing'
export const addressingVersions: readonly AddressingVersion[] = [
  createDialect(uri10, {
    anonymous: `${uri10}/anonymous`,
    none: `${uri10}/none`,
    unspecified: `${uri10}/unspecified`,
    isReference: internName(uri10, 'IsReferenceParameter'),
    required: ['Action'],
    invalid: 'InvalidAddressingHeader',
    missing: 'MessageAddressingHeaderRequired',
    soapFault: `${uri10}/soap/fault`,
  }),
  createDialect(uri04, {
    anonymous: `${uri04}/role/anonymous`,
    none: undefined,
    unspecified: undefined,
    isReference: undefined,
    required: ['Action', 'To'],
    invalid: 'InvalidMessageInformationHeader',
    missing: 'MessageInformationHeaderRequired',
    soapFault: `${uri04}/fault`,
  }),
]

/** The block of a message without addressing that WCF may write: it repeats HTTP's action. */
export const unaddressedAction = internName('http://schemas.microsoft.com/ws/2005/05/addressing/none', 'Action')

/** Whether a name of this namespace is one of WS-Addressing. */
export const isAddressingUri = (uri: string): boolean => addressingVersions.some(each => each.uri === uri)

/** Whether a block of WS-Addressing came to light when the message was decrypted. */
export const isRevealedAddressing = (block: Element, before: readonly Element[]): boolean =>
  isAddressingUri(block.name.uri) && !before.includes(block)

/**
 * The addressing blocks for this node. Texts are trimmed but not yet checked: see `agreeOnReplies`.
 */
export interface Addressing {
  readonly dialect: AddressingVersion
  readonly byProperty: ReadonlyMap<Property, readonly Element[]>
  readonly messageId: string | undefined
}

/** Undefined for a message without addressing blocks. */
export function readAddressing(blocks: readonly Element[]): Addressing | undefined {
  const dialect = addressingVersions.find(({ uri }) => blocks.some(each => each.name.uri === uri))
  if (!dialect) return undefined
  const byProperty = new Map<Property, Element[]>()
  for (const property of properties) {
    const named = blocks.filter(each => each.name === dialect.blocks[property])
    if (named.length > 0) byProperty.set(property, named)
  }
  const ids = byProperty.get('MessageID')
  return { dialect, byProperty, messageId: ids?.length === 1 ? ids[0]!.text.trim() || undefined : undefined }
}

/** Whether a block is of the message's dialect: if a message mixes both, the newer one counts. */
export const isAddressingBlock = ({ dialect }: Addressing, block: Element): boolean =>
  properties.some(each => dialect.blocks[each] === block.name)

/** Other allowed addresses for replies. Without them a reply goes to the sender, or nowhere. */
export interface ReplyTargets {
  readonly allowed: (address: string) => boolean
  /** Refuses where too many messages already wait for this address. Default: no limit. */
  readonly requireRoom?: (address: string) => Maybe<void>
  /** Resolves once the message is stored and survives a crash. */
  readonly send: (
    to: string,
    message: { readonly mediaType: string; readonly action: string; readonly content: string },
  ) => Promise<void>
}

/** Where a reply goes: back to the sender, nowhere, or to another address. */
export type Destination = { readonly to: 'back' | 'nowhere' } | { readonly to: 'address'; readonly address: string }
const back: Destination = { to: 'back' }

export interface AgreedAddressing {
  readonly reply: Destination
  readonly fault: Destination
}

/** Checks the properties before anything is carried out. */
export function agreeOnReplies(
  { dialect, byProperty }: Addressing,
  facts: {
    readonly addresses: readonly string[]
    readonly answered: boolean
    readonly elsewhere: ReplyTargets | undefined
  },
): AgreedAddressing {
  const repeated = findRepeatedProperty(byProperty)
  if (repeated) refuseProperty(dialect, repeated, 'is repeated', 'InvalidCardinality')
  const needed: readonly Property[] = facts.answered ? [...dialect.required, 'MessageID'] : dialect.required
  for (const property of needed) if (!byProperty.has(property)) refuseMissing(dialect, property)
  const id = propertyText(byProperty, 'MessageID')
  if (id !== undefined && !/^[^\s<>"]{1,1024}$/.test(id))
    refuseProperty(dialect, 'MessageID', 'is not a valid URI', 'InvalidAddress')
  const to = propertyText(byProperty, 'To')
  if (to !== undefined && !isAbsoluteIri(to)) refuseProperty(dialect, 'To', 'is not an absolute IRI', 'InvalidAddress')
  if (to !== undefined && to !== dialect.anonymous && !facts.addresses.some(each => sameEndpoint(each, to)))
    refuseAddressing(dialect, [internName(dialect.uri, 'DestinationUnreachable')], `${to} is not this endpoint`, {
      local: 'ProblemIRI',
      content: escapeText(to),
    })
  const [from] = byProperty.get('From') ?? []
  if (from) requireAddressOf(dialect, 'From', from)
  const reply = chooseDestination(dialect, byProperty, 'ReplyTo', facts) ?? back
  return { reply, fault: chooseDestination(dialect, byProperty, 'FaultTo', facts) ?? reply }
}

/** SOAP Binding §3.2: a property that a message repeats but must not. */
export const findRepeatedProperty = (byProperty: Addressing['byProperty']): Property | undefined =>
  [...byProperty].find(([property, blocks]) => blocks.length > 1 && !repeatable.has(property))?.[0]

/** The action that the blocks state, if they state one. */
export const statedAction = ({ byProperty }: Addressing): string | undefined => propertyText(byProperty, 'Action')

/** Compares the action of the blocks with that of the operation and that of the transport. */
export function agreeOnAction({ dialect, byProperty }: Addressing, expected: string, hint: string | undefined): void {
  const action = propertyText(byProperty, 'Action')
  if (hint && action !== hint)
    refuseProperty(dialect, 'Action', `is ${action}, but the action of the transport is ${hint}`, 'ActionMismatch')
  if (action !== expected)
    refuseAddressing(
      dialect,
      [internName(dialect.uri, 'ActionNotSupported')],
      `the action ${action} does not match the Body: expected ${expected}`,
      { local: 'ProblemAction', content: `<wsa:Action>${escapeText(action ?? '')}</wsa:Action>` },
    )
}

export const propertyText = (byProperty: Addressing['byProperty'], property: Property): string | undefined =>
  byProperty.get(property)?.[0]?.text.trim()

function chooseDestination(
  dialect: AddressingVersion,
  byProperty: Addressing['byProperty'],
  property: 'ReplyTo' | 'FaultTo',
  facts: { readonly addresses: readonly string[]; readonly elsewhere: ReplyTargets | undefined },
): Destination | undefined {
  const reference = byProperty.get(property)?.[0]
  if (!reference) return undefined
  const address = requireAddressOf(dialect, property, reference)
  const flaw = findUnsafe(dialect, reference)
  if (flaw !== undefined) refuseProperty(dialect, property, flaw, 'InvalidEPR')
  if (address === dialect.anonymous) return back
  if (address === dialect.none) return { to: 'nowhere' }
  const isOwn = facts.addresses.some(each => sameEndpoint(each, address))
  if (isOwn || !facts.elsewhere?.allowed(address))
    refuseProperty(
      dialect,
      property,
      'must be anonymous: replies to this address are not allowed',
      'OnlyAnonymousAddressSupported',
    )
  return { to: 'address', address }
}

/** Core §2.1, §2.2: an endpoint reference has one address, an absolute IRI. */
function requireAddressOf(dialect: AddressingVersion, property: Property, reference: Element): string {
  const addresses = reference.elements(internName(dialect.uri, 'Address'))
  if (addresses.length !== 1) refuseProperty(dialect, property, 'must have one Address', 'MissingAddressInEPR')
  const address = addresses[0]!.text.trim()
  if (!isAbsoluteIri(address))
    refuseProperty(dialect, property, 'has an Address that is not an absolute IRI', 'InvalidAddress')
  return address
}
const isAbsoluteIri = (iri: string): boolean => /^[a-z][a-z\d+.-]*:[^\s<>"]+$/i.test(iri)

/** Host, port and path are equal; a proxy may have terminated TLS. */
function sameEndpoint(left: string, right: string): boolean {
  if (left === right) return true
  const [a, b] = [parseUrl(left), parseUrl(right)]
  return (
    a !== undefined && b !== undefined && a.host === b.host && a.pathname === b.pathname && /^https?:$/.test(b.protocol)
  )
}
const parseUrl = (text: string): URL | undefined => URL.parse(text) ?? undefined

// Refusing

type InvalidCode =
  | 'InvalidAddress'
  | 'InvalidEPR'
  | 'InvalidCardinality'
  | 'MissingAddressInEPR'
  | 'DuplicateMessageID'
  | 'ActionMismatch'
  | 'OnlyAnonymousAddressSupported'

/** SOAP Binding §6.4.1; 2004/08 has no subcodes of the code. */
function refuseProperty(dialect: AddressingVersion, property: Property, detail: string, below: InvalidCode): never {
  const subcodes = [dialect.subcodes.invalid, ...subcodes10(dialect, below)]
  return refuseAddressing(dialect, subcodes, `${property} ${detail}`, headerOf(property))
}
const subcodes10 = ({ uri }: AddressingVersion, code: InvalidCode): readonly Name[] =>
  uri === uri10 ? [internName(uri10, code)] : []

/** The refusal of a MessageID that belongs to another message. */
export const duplicateRefusal = ({ dialect }: Addressing): SoapRefusal =>
  refusalDetail(
    dialect,
    [dialect.subcodes.invalid, ...subcodes10(dialect, 'DuplicateMessageID')],
    'MessageID was used before: use a new one',
    headerOf('MessageID'),
  )

/** SOAP Binding §6.4.2. */
const refuseMissing = (dialect: AddressingVersion, property: Property): never =>
  refuseAddressing(dialect, [dialect.subcodes.required], `${property} is missing`, headerOf(property))

/** The cause of a fault (SOAP Binding §6.3): an element and its content, as XML. */
interface Cause {
  readonly local: 'ProblemHeaderQName' | 'ProblemIRI' | 'ProblemAction'
  readonly content: string
}
const headerOf = (property: Property): Cause => ({ local: 'ProblemHeaderQName', content: `wsa:${property}` })

const refuseAddressing = (dialect: AddressingVersion, subcodes: readonly Name[], detail: string, cause: Cause): never =>
  refuseMessage(refusalDetail(dialect, subcodes, detail, cause))

function refusalDetail(
  { uri }: AddressingVersion,
  subcodes: readonly Name[],
  detail: string,
  { local, content }: Cause,
): SoapRefusal {
  return { kind: 'addressing', subcodes, detail, about: `<wsa:${local} xmlns:wsa="${uri}">${content}</wsa:${local}>` }
}

// Replying

/** The properties in the blocks of a reply, and its destination. */
interface ReplyProperties {
  readonly action: string
  readonly id: string
  readonly isFault: boolean
  readonly destination: Destination
}

/**
 * Blocks of a reply (Core §3.4; SOAP Binding §2). A reply that goes back in the response although
 * the request names another address does not carry that address.
 */
export function replyBlocks(
  { dialect, byProperty, messageId }: Addressing,
  { action, id, isFault, destination }: ReplyProperties,
): readonly string[] {
  const to = destination.to === 'address' ? destination.address : dialect.anonymous
  const reply = (isFault ? byProperty.get('FaultTo')?.[0] : undefined) ?? byProperty.get('ReplyTo')?.[0]
  const reference = reply && findAddress(dialect, reply) === to ? reply : undefined
  const relatesTo = messageId ?? (isFault ? dialect.unspecified : undefined)
  const block = (local: string, value: string) =>
    `<wsa:${local} xmlns:wsa="${dialect.uri}">${escapeText(value)}</wsa:${local}>`
  return [
    block('Action', action),
    block('MessageID', `urn:diglot:message:${id}`),
    block('To', to),
    ...(relatesTo === undefined ? [] : [block('RelatesTo', relatesTo)]),
    ...(reference && !findUnsafe(dialect, reference)
      ? parametersOf(dialect, reference).map(each => echoParameter(dialect, each))
      : []),
  ]
}

/** The destination of a fault before `agreeOnReplies` has ended. */
export function earlyFaultDestination({ dialect, byProperty }: Addressing): Destination {
  const reference = byProperty.get('FaultTo')?.[0] ?? byProperty.get('ReplyTo')?.[0]
  const address = reference && findAddress(dialect, reference)
  return address !== undefined && address === dialect.none ? { to: 'nowhere' } : back
}

const findAddress = ({ uri }: AddressingVersion, reference: Element): string | undefined =>
  reference.elements(internName(uri, 'Address'))[0]?.text.trim()

/**
 * The action of a fault: the operation's for a declared fault, else that of SOAP's or
 * WS-Addressing's own faults.
 */
export function faultActionOf(
  { dialect }: Addressing,
  ofAddressing: boolean,
  ownAction: ((fault: string) => string) | undefined,
  { subcodes, faultcode, detail, declaredAs }: SoapFault,
): string {
  if (ofAddressing) return `${dialect.uri}/fault`
  const name = declaredAs ?? (!faultcode && detail ? subcodes?.[0]?.local : undefined)
  return ownAction && name !== undefined ? ownAction(name) : dialect.soapFault
}

/** For the reference parameters of a message: a reply must not be much larger than its request. */
const echoLimits = { count: 16, octets: 8 * 1024, namespaces: 64 * 1024 }
/** Namespaces of blocks that only we write. */
const ownNamespaces: ReadonlySet<string> = new Set([
  uri10,
  uri04,
  securityName.uri,
  ...versions.map(each => each.namespace),
])

/** SOAP Binding §3.4: echoed parameters are limited, and must not pass for our own blocks. */
function findUnsafe(dialect: AddressingVersion, reference: Element): string | undefined {
  const parameters = parametersOf(dialect, reference)
  if (parameters.length > echoLimits.count) return `has more than ${echoLimits.count} reference parameters`
  if (parameters.reduce((sum, each) => sum + each.to - each.from, 0) > echoLimits.octets)
    return `has reference parameters of more than ${echoLimits.octets} octets`
  if (parameters.reduce((sum, each) => sum + measureScope(each), 0) > echoLimits.namespaces)
    return `has reference parameters in namespaces of more than ${echoLimits.namespaces} characters`
  const posing = parameters.find(each => each.name.uri === '' || ownNamespaces.has(each.name.uri))
  return posing && `must not have ${posing.name.local} as a reference parameter`
}

/** The characters of the namespaces in scope, all of which a parameter carries along. */
const measureScope = (element: Element): number =>
  [...element.declarationsInScope()].reduce((sum, { prefix, uri }) => sum + prefix.length + uri.length, 0)

function parametersOf(dialect: AddressingVersion, reference: Element): readonly Element[] {
  return ['ReferenceParameters', 'ReferenceProperties'].flatMap(local =>
    reference.elements(internName(dialect.uri, local)).flatMap(each => each.elements()),
  )
}

function echoParameter({ uri, isReference }: AddressingVersion, parameter: Element): string {
  const unsaid = parameter.attributes.filter(each => !ownNamespaces.has(each.name.uri))
  const attributes = isReference ? [...unsaid, { name: isReference, prefix: 'wsa', value: 'true' }] : unsaid
  const copy = new Element(
    undefined,
    parameter.name,
    parameter.prefix,
    attributes,
    namespacesInScope(parameter, uri, isReference),
  )
  copy.append(parameter.children)
  return writeElement(copy)
}

/** The namespaces in scope of the element, which keep the names in its content meaningful. */
function namespacesInScope(
  element: Element,
  uri: string,
  isReference: Name | undefined,
): { prefix: string; uri: string }[] {
  const scope = new Map<string, string>()
  for (let at: Element | undefined = element; at; at = at.parent)
    for (const each of at.declarations) if (!scope.has(each.prefix)) scope.set(each.prefix, each.uri)
  if (isReference && !scope.has('wsa')) scope.set('wsa', uri) // without it, another prefix is written
  return [...scope].map(([prefix, uri]) => ({ prefix, uri })).filter(each => each.prefix === '' || each.uri !== '')
}
