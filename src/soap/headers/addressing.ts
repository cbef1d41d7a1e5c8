/**
 * WS-Addressing 1.0 (Core, SOAP Binding) and the submission of August 2004. Guards: (1) nothing is
 * sent to an address that a message names unless it was allowed beforehand; (2) a reply says which
 * message it answers, a fault as early as possible;
 * (3) what a message asks to be echoed can't pose as a block of ours; (4) a message for another
 *     endpoint is not carried out.
 */
import { Element, escapeText, internName, type Name, writeElement } from '../../xml/index.ts'
import type { SoapFault } from '../fault.ts'
import { refuseMessage, type SoapRefusal } from '../refusal.ts'
import { securityName } from '../security-port.ts'
import { versions } from '../version.ts'

/** All in which the two differ. */
export interface AddressingVersion {
  readonly uri: string
  readonly anonymous: string
  /** 2004/08 has no such address. */
  readonly none: string | undefined
  /** What a fault relates to where the message has no id (SOAP Binding §6). */
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
const several: ReadonlySet<Property> = new Set(['RelatesTo'])

const findDialect = (
  uri: string,
  is: Omit<AddressingVersion, 'uri' | 'blocks' | 'subcodes'> & Record<'invalid' | 'missing', string>,
): AddressingVersion => ({
  uri,
  ...is,
  blocks: Object.fromEntries(properties.map(each => [each, internName(uri, each)])) as AddressingVersion['blocks'], // one for each
  subcodes: { invalid: internName(uri, is.invalid), required: internName(uri, is.missing) },
})
const uri10 = 'http://www.w3.org/2005/08/addressing'
const uri04 = 'http://schemas.xmlsoap.org/ws/2004/08/addressing'
export const addressingVersions: readonly AddressingVersion[] = [
  findDialect(uri10, {
    anonymous: `${uri10}/anonymous`,
    none: `${uri10}/none`,
    unspecified: `${uri10}/unspecified`,
    isReference: internName(uri10, 'IsReferenceParameter'),
    required: ['Action'],
    invalid: 'InvalidAddressingHeader',
    missing: 'MessageAddressingHeaderRequired',
    soapFault: `${uri10}/soap/fault`,
  }),
  findDialect(uri04, {
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

/**
 * What the blocks for this node say. Text is trimmed; nothing is believed of it yet: see
 * `agreeOnReplies`.
 */
export interface Addressing {
  readonly dialect: AddressingVersion
  readonly found: ReadonlyMap<Property, readonly Element[]>
  readonly messageId: string | undefined
}

/** Undefined when the message has no such block. */
export function readAddressing(blocks: readonly Element[]): Addressing | undefined {
  const dialect = addressingVersions.find(({ uri }) => blocks.some(each => each.name.uri === uri))
  if (!dialect) return undefined
  const found = new Map<Property, Element[]>()
  for (const property of properties) {
    const named = blocks.filter(each => each.name === dialect.blocks[property])
    if (named.length > 0) found.set(property, named)
  }
  const ids = found.get('MessageID')
  return { dialect, found, messageId: ids?.length === 1 ? ids[0]!.text.trim() || undefined : undefined }
}

/**
 * Whether this block is one of those that were read: a message that mixes both dialects speaks only
 * the newer here.
 */
export const isAddressingBlock = ({ dialect }: Addressing, block: Element): boolean =>
  properties.some(each => dialect.blocks[each] === block.name)

/** Where replies may go. Without it: back to whoever asked, or nowhere. */
export interface ReplyTargets {
  readonly allowed: (address: string) => boolean
  /** Takes the message over: it survives a crash from then on. */
  readonly send: (
    to: string,
    message: { readonly mediaType: string; readonly action: string; readonly content: string },
  ) => Promise<void>
}

/** Where something goes: back, nowhere, or to another address. */
export type Destination = { readonly to: 'back' | 'nowhere' } | { readonly to: 'address'; readonly address: string }
const back: Destination = { to: 'back' }

export interface AgreedAddressing {
  readonly reply: Destination
  readonly fault: Destination
}

/** The properties held against the rules, before anything runs. */
export function agreeOnReplies(
  { dialect, found }: Addressing,
  is: {
    readonly addresses: readonly string[]
    readonly answered: boolean
    readonly elsewhere: ReplyTargets | undefined
  },
): AgreedAddressing {
  for (const [property, blocks] of found)
    if (blocks.length > 1 && !several.has(property))
      refuseProperty(dialect, property, 'is there more than once', 'InvalidCardinality')
  const needed: readonly Property[] = is.answered ? [...dialect.required, 'MessageID'] : dialect.required
  for (const property of needed) if (!found.has(property)) refuseMissing(dialect, property)
  const id = propertyText(found, 'MessageID')
  if (id !== undefined && !/^[^\s<>"]{1,1024}$/.test(id))
    refuseProperty(dialect, 'MessageID', 'is no URI', 'InvalidAddress')
  const to = propertyText(found, 'To')
  if (to !== undefined && to !== dialect.anonymous && !is.addresses.some(each => sameEndpoint(each, to)))
    refuse(dialect, [internName(dialect.uri, 'DestinationUnreachable')], `${to} is not this endpoint`, {
      local: 'ProblemIRI',
      content: escapeText(to),
    })
  const reply = chooseDestination(dialect, found, 'ReplyTo', is) ?? back
  return { reply, fault: chooseDestination(dialect, found, 'FaultTo', is) ?? reply }
}

/** The action named by the blocks, held against that of the operation and of the transport. */
export function agreeOnAction({ dialect, found }: Addressing, expected: string, hint: string | undefined): void {
  const action = propertyText(found, 'Action')
  if (hint && action !== hint)
    refuseProperty(dialect, 'Action', `is ${action} and the transport says ${hint}`, 'ActionMismatch')
  if (action !== expected)
    refuse(
      dialect,
      [internName(dialect.uri, 'ActionNotSupported')],
      `the action ${action} is not that of what is in the Body`,
      { local: 'ProblemAction', content: `<wsa:Action>${escapeText(action ?? '')}</wsa:Action>` },
    )
}

export const propertyText = (found: Addressing['found'], property: Property): string | undefined =>
  found.get(property)?.[0]?.text.trim()

function chooseDestination(
  dialect: AddressingVersion,
  found: Addressing['found'],
  property: 'ReplyTo' | 'FaultTo',
  is: { readonly addresses: readonly string[]; readonly elsewhere: ReplyTargets | undefined },
): Destination | undefined {
  const reference = found.get(property)?.[0]
  if (!reference) return undefined
  const addresses = reference.elements(internName(dialect.uri, 'Address'))
  if (addresses.length !== 1) refuseProperty(dialect, property, 'must have one Address', 'MissingAddressInEPR')
  const address = addresses[0]!.text.trim()
  const flaw = findUnsafe(dialect, reference)
  if (flaw !== undefined) refuseProperty(dialect, property, flaw, 'InvalidEPR')
  if (address === dialect.anonymous) return back
  if (address === dialect.none) return { to: 'nowhere' }
  const ours = is.addresses.some(each => sameEndpoint(each, address))
  if (ours || !is.elsewhere?.allowed(address))
    refuseProperty(dialect, property, 'replies go back to whoever asked', 'OnlyAnonymousAddressSupported')
  return { to: 'address', address }
}

/** Host, port and path are the same; TLS may end before us. */
function sameEndpoint(one: string, other: string): boolean {
  if (one === other) return true
  const [a, b] = [urlOf(one), urlOf(other)]
  return (
    a !== undefined && b !== undefined && a.host === b.host && a.pathname === b.pathname && /^https?:$/.test(b.protocol)
  )
}
const urlOf = (text: string): URL | undefined => URL.parse(text) ?? undefined

// Refusing

type Below =
  | 'InvalidAddress'
  | 'InvalidEPR'
  | 'InvalidCardinality'
  | 'MissingAddressInEPR'
  | 'DuplicateMessageID'
  | 'ActionMismatch'
  | 'OnlyAnonymousAddressSupported'

/** SOAP Binding §6.4.1; 2004/08 has no codes below. */
function refuseProperty(dialect: AddressingVersion, property: Property, detail: string, below: Below): never {
  const subcodes = [dialect.subcodes.invalid, ...subcodes10(dialect, below)]
  return refuse(dialect, subcodes, `${property} ${detail}`, headerOf(property))
}
const subcodes10 = ({ uri }: AddressingVersion, code: Below): readonly Name[] =>
  uri === uri10 ? [internName(uri10, code)] : []

/** What to say of a MessageID that came with another message before. */
export const duplicateRefusal = ({ dialect }: Addressing): SoapRefusal =>
  refusalDetail(
    dialect,
    [dialect.subcodes.invalid, ...subcodes10(dialect, 'DuplicateMessageID')],
    'MessageID was used before',
    headerOf('MessageID'),
  )

/** SOAP Binding §6.4.2. */
const refuseMissing = (dialect: AddressingVersion, property: Property): never =>
  refuse(dialect, [dialect.subcodes.required], `${property} is missing`, headerOf(property))

/** What a fault tells of its cause (SOAP Binding §6.3): an element, and what is in it, written. */
interface Cause {
  readonly local: 'ProblemHeaderQName' | 'ProblemIRI' | 'ProblemAction'
  readonly content: string
}
const headerOf = (property: Property): Cause => ({ local: 'ProblemHeaderQName', content: `wsa:${property}` })

const refuse = (dialect: AddressingVersion, subcodes: readonly Name[], detail: string, cause: Cause): never =>
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

/** Blocks of a reply (Core §3.4; SOAP Binding §2). */
export function replyBlocks(addressing: Addressing, action: string, id: string, fault: boolean): readonly string[] {
  const { dialect, found, messageId } = addressing
  const reference = (fault ? found.get('FaultTo')?.[0] : undefined) ?? found.get('ReplyTo')?.[0]
  const to = reference?.elements(internName(dialect.uri, 'Address'))[0]?.text.trim() || dialect.anonymous
  const related = messageId ?? (fault ? dialect.unspecified : undefined)
  const block = (local: string, value: string) =>
    `<wsa:${local} xmlns:wsa="${dialect.uri}">${escapeText(value)}</wsa:${local}>`
  return [
    block('Action', action),
    block('MessageID', `urn:diglot:message:${id}`),
    block('To', to),
    ...(related === undefined ? [] : [block('RelatesTo', related)]),
    ...(reference && !findUnsafe(dialect, reference)
      ? parametersOf(dialect, reference).map(each => echo(dialect, each))
      : []),
  ]
}

/** Where a fault goes that comes before all has been agreed on. */
export function earlyFaultDestination({ dialect, found }: Addressing): Destination {
  const reference = found.get('FaultTo')?.[0] ?? found.get('ReplyTo')?.[0]
  const address = reference?.elements(internName(dialect.uri, 'Address'))[0]?.text.trim()
  return address !== undefined && address === dialect.none ? { to: 'nowhere' } : back
}

/**
 * The action of a fault: the operation's own where it is a declared one, else that of SOAP's or of
 * Addressing's faults.
 */
export function faultActionOf(
  { dialect }: Addressing,
  ofAddressing: boolean,
  own: ((fault: string) => string) | undefined,
  { subcodes, faultcode, detail }: SoapFault,
): string {
  if (ofAddressing) return `${dialect.uri}/fault`
  const declared = own && !faultcode && detail ? subcodes?.[0] : undefined
  return own && declared ? own(declared.local) : dialect.soapFault
}

/**
 * Reference parameters that one message may have echoed: a reply is not to be much larger than what
 * asked for it.
 */
const most = { count: 16, octets: 8 * 1024 }
/** Blocks that only we write. */
const ours: ReadonlySet<string> = new Set([uri10, uri04, securityName.uri, ...versions.map(each => each.namespace)])

/**
 * SOAP Binding §3.4: what is to be echoed must be of a size, and may not be taken for a block of
 * ours.
 */
function findUnsafe(dialect: AddressingVersion, reference: Element): string | undefined {
  const parameters = parametersOf(dialect, reference)
  if (parameters.length > most.count) return 'has too many reference parameters'
  if (parameters.reduce((sum, each) => sum + each.to - each.from, 0) > most.octets)
    return 'has too long reference parameters'
  const posing = parameters.find(each => each.name.uri === '' || ours.has(each.name.uri))
  return posing && `may not have ${posing.name.local} as a reference parameter`
}

function parametersOf(dialect: AddressingVersion, reference: Element): readonly Element[] {
  return ['ReferenceParameters', 'ReferenceProperties'].flatMap(local =>
    reference.elements(internName(dialect.uri, local)).flatMap(each => each.elements()),
  )
}

function echo({ uri, isReference }: AddressingVersion, parameter: Element): string {
  const unsaid = parameter.attributes.filter(each => !ours.has(each.name.uri))
  const marked = isReference ? [...unsaid, { name: isReference, prefix: 'wsa', value: 'true' }] : unsaid
  const copy = new Element(undefined, parameter.name, parameter.prefix, marked, scopeOf(parameter, uri, isReference))
  copy.append(parameter.children)
  return writeElement(copy)
}

/** The namespaces in scope where it stood: names in its content go on meaning the same. */
function scopeOf(element: Element, uri: string, isReference: Name | undefined): { prefix: string; uri: string }[] {
  const scope = new Map<string, string>()
  for (let at: Element | undefined = element; at; at = at.parent)
    for (const each of at.declarations) if (!scope.has(each.prefix)) scope.set(each.prefix, each.uri)
  if (isReference) scope.set('wsa', uri)
  return [...scope].map(([prefix, uri]) => ({ prefix, uri })).filter(each => each.prefix === '' || each.uri !== '')
}
