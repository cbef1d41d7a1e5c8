/**
 * WS-Addressing on the side of the client (Core §3.4, SOAP Binding §6). Guards: no reply is
 * accepted that relates to another message, is meant for another endpoint, or has the action of
 * another operation.
 */
import {
  type Addressing,
  type AddressingVersion,
  addressingVersions,
  propertyText,
} from '../soap/headers/addressing.ts'
import type { SoapVersion } from '../soap/version.ts'
import { type Element, escapeText, internName } from '../xml/index.ts'

/** The WS-Addressing blocks of a request. */
export interface AddressingOptions {
  /** Default 1.0; the submission of August 2004 is for services of its time. */
  readonly of?: '1.0' | '2004/08'
  /** The service's own address; default the one that messages are sent to. */
  readonly to?: string
  /** The service must understand WS-Addressing, and its replies must have it. */
  readonly demanded?: boolean
  /**
   * The service carries out a MessageID once, however often it comes: unsafe operations may be sent
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

/**
 * The blocks of a request. ReplyTo is written only in the dialect whose default is not the
 * response.
 */
export function requestBlocks(
  { dialect, to, demanded }: AddressingState,
  version: SoapVersion,
  { action, id }: { readonly action: string; readonly id: string },
): readonly string[] {
  const { uri, anonymous } = dialect
  const mandatory = demanded ? ` s:mustUnderstand="1" xmlns:s="${version.namespace}"` : ''
  const block = (local: string, content: string) =>
    `<wsa:${local} xmlns:wsa="${uri}"${mandatory}>${content}</wsa:${local}>`
  return [
    block('Action', escapeText(action)),
    block('MessageID', escapeText(id)),
    block('To', escapeText(to)),
    ...(dialect === addressingVersions[0]
      ? []
      : [block('ReplyTo', `<wsa:Address>${escapeText(anonymous)}</wsa:Address>`)]),
  ]
}

/** What a reply must relate to. */
export interface Correlation {
  readonly id: string
  /** Undefined: any; that of a fault is not compared. */
  readonly action: string | undefined
  readonly isFault: boolean
}

/** Why this is not the reply to the message; undefined when it is. */
export function findCorrelationError({ dialect, found }: Addressing, asked: Correlation): string | undefined {
  const replies = (found.get('RelatesTo') ?? []).filter(each => isReply(each, dialect)).map(each => each.text.trim())
  const { isFault } = asked
  // The fault of a node that could not read the message's id has nothing to relate to.
  const isUnrelated = isFault && replies.every(each => each === `${dialect.uri}/unspecified`)
  if (!isUnrelated && !replies.includes(asked.id))
    return replies.length === 0
      ? 'the reply does not name the message it relates to'
      : `it is the reply to ${replies.join(', ')}`
  const to = propertyText(found, 'To')
  if (to !== undefined && to !== dialect.anonymous) return `the reply is addressed to ${to}`
  const action = propertyText(found, 'Action')
  if (!isFault && asked.action !== undefined && action !== undefined && action !== asked.action)
    return `the reply has the action ${action}, not ${asked.action}`
  return undefined
}

function isReply(block: Element, { uri }: AddressingVersion): boolean {
  const type = block.attribute(internName('', 'RelationshipType'))?.trim()
  return type === undefined || type === `${uri}/reply` || /^[^:]+:Reply$/.test(type)
}
