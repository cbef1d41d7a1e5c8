/**
 * WS-Addressing for clients (Core §3.4, SOAP Binding §6). Guards: a reply is refused if it relates
 * to another message, is addressed to another endpoint, or has the action of another operation.
 */
import {
  type Addressing,
  type AddressingVersion,
  addressingVersions,
  findRepeatedProperty,
  propertyText,
} from '../soap/headers/addressing.ts'
import type { SoapVersion } from '../soap/version.ts'
import { type Element, escapeText, internName } from '../xml/index.ts'

/** The WS-Addressing blocks of a request. */
export interface AddressingOptions {
  /** Default 1.0; the submission of August 2004 is for services from that time. */
  readonly of?: '1.0' | '2004/08'
  /** The service's own address; by default, the address that messages are sent to. */
  readonly to?: string
  /** The service must understand WS-Addressing, and its replies must have its blocks. */
  readonly demanded?: boolean
  /**
   * The service performs a MessageID once, however often it arrives: unsafe operations may be sent
   * again.
   */
  readonly once?: boolean
}

export interface AddressingState extends AddressingOptions {
  readonly dialect: AddressingVersion
  readonly to: string
}

export const createAddressingState = (
  given: boolean | AddressingOptions | undefined,
  address: string,
): AddressingState | undefined => {
  if (!given) return undefined
  const options = given === true ? {} : given
  return { to: address, ...options, dialect: addressingVersions[options.of === '2004/08' ? 1 : 0]! } // there are two
}

/** The content of the blocks of one request. */
export interface RequestProperties {
  readonly action: string
  readonly id: string
  /** Where its answer and its faults go; undefined: back in the response. */
  readonly replyTo?: string | undefined
}

/**
 * The blocks of a request. The default ReplyTo is written only in the dialect whose own default is
 * not the response.
 */
export function requestBlocks(
  { dialect, to, demanded }: AddressingState,
  version: SoapVersion,
  { action, id, replyTo }: RequestProperties,
): readonly string[] {
  const { uri, anonymous } = dialect
  const mandatory = demanded ? ` s:mustUnderstand="1" xmlns:s="${version.namespace}"` : ''
  const block = (local: string, content: string) =>
    `<wsa:${local} xmlns:wsa="${uri}"${mandatory}>${content}</wsa:${local}>`
  const reference = (local: string, address: string) =>
    block(local, `<wsa:Address>${escapeText(address)}</wsa:Address>`)
  const answers = dialect === addressingVersions[0] ? [] : [reference('ReplyTo', anonymous)]
  return [
    block('Action', escapeText(action)),
    block('MessageID', escapeText(id)),
    block('To', escapeText(to)),
    ...(replyTo === undefined ? answers : [reference('ReplyTo', replyTo), reference('FaultTo', replyTo)]),
  ]
}

/** What a reply must relate to. */
export interface Correlation {
  readonly id: string
  /** Undefined: any; that of a fault is not compared. */
  readonly action: string | undefined
  readonly isFault: boolean
  /** Nothing else ties the answer to the message, so a fault must relate to it, too. */
  readonly mustRelate: boolean
  /** The address that the request named for it. */
  readonly replyTo?: string | undefined
  /**
   * For an answer that arrived at an address of its own: the end of this address, which may be its
   * [to].
   */
  readonly cameTo?: string | undefined
}

/** Why this is not the reply to the message; undefined when it is. */
export function findCorrelationError(
  { dialect, byProperty }: Addressing,
  correlation: Correlation,
): string | undefined {
  const replies = (byProperty.get('RelatesTo') ?? [])
    .filter(each => isReply(each, dialect))
    .map(each => each.text.trim())
  const { isFault, mustRelate, cameTo, replyTo } = correlation
  const repeated = isFault ? undefined : findRepeatedProperty(byProperty)
  if (repeated !== undefined) return `the reply has more than one ${repeated}`
  // The fault of a node that could not read the id of the message relates to nothing.
  const isUnrelated = isFault && !mustRelate && replies.every(each => each === `${dialect.uri}/unspecified`)
  if (!isUnrelated && !replies.includes(correlation.id))
    return replies.length === 0
      ? 'the reply does not name the message it relates to'
      : `it is the reply to ${replies.join(', ')}`
  const to = propertyText(byProperty, 'To')
  // Core §3.4: the [destination] is the address that the request named, even of an answer in the
  // response.
  const isHere = [undefined, dialect.anonymous, replyTo].includes(to) || (cameTo !== undefined && to?.endsWith(cameTo))
  if (!isHere) return `the reply is addressed to ${to}`
  const action = propertyText(byProperty, 'Action')
  if (!isFault && correlation.action !== undefined && action !== undefined && action !== correlation.action)
    return `the reply has the action ${action}, not ${correlation.action}`
  return undefined
}

function isReply(block: Element, { uri }: AddressingVersion): boolean {
  const type = block.attribute(internName('', 'RelationshipType'))?.trim()
  return type === undefined || type === `${uri}/reply` || /^[^:]+:Reply$/.test(type)
}
