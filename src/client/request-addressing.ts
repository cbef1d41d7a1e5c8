/**
 * WS-Addressing of the asking side (Core §3.4, SOAP Binding §6). Guards: no answer is taken that says it answers another
 * message, was meant for another endpoint, or is of another kind than the operation's.
 */
import {
  type Addressing,
  type AddressingVersion,
  addressingVersions,
  propertyText,
} from '../soap/headers/addressing.ts'
import type { SoapVersion } from '../soap/version.ts'
import { type Element, escapeText, internName } from '../xml/index.ts'

export interface AddressingOptions {
  /** 1.0 by default; the submission of August 2004 for services of its time. */
  readonly of?: '1.0' | '2004/08'
  /** The service as it knows itself; default the address that is asked. */
  readonly to?: string
  /** The service must know WS-Addressing, and its answers must have it. */
  readonly demanded?: boolean
  /** The service carries out what has one MessageID once, however often it comes: unsafe operations may be sent again. */
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
  return { to: address, ...options, dialect: addressingVersions[options.of === '2004/08' ? 1 : 0]! } // the two that there are
}

/** The blocks of a request. Replies go back: ReplyTo is said where the dialect does not take that for granted. */
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

/** What an answer must be of. `action` is undefined for a fault, which may have any. */
export interface Correlation {
  readonly id: string
  readonly action: string | undefined
}

/** Why an answer is not one to this message; undefined when it is. */
export function findCorrelationError({ dialect, found }: Addressing, asked: Correlation): string | undefined {
  const replies = (found.get('RelatesTo') ?? []).filter(each => isReply(each, dialect)).map(each => each.text.trim())
  const isFault = asked.action === undefined
  // A fault of who could not read the message's id has none to relate to.
  const isUnrelated = isFault && replies.every(each => each === `${dialect.uri}/unspecified`)
  if (!isUnrelated && !replies.includes(asked.id))
    return replies.length === 0 ? 'it does not say which message it answers' : `it answers ${replies.join(', ')}`
  const to = propertyText(found, 'To')
  if (to !== undefined && to !== dialect.anonymous) return `it is for ${to}`
  const action = propertyText(found, 'Action')
  if (!isFault && action !== undefined && action !== asked.action) return `its action is ${action}`
  return undefined
}

function isReply(block: Element, { uri }: AddressingVersion): boolean {
  const type = block.attribute(internName('', 'RelationshipType'))?.trim()
  return type === undefined || type === `${uri}/reply` || /^[^:]+:Reply$/.test(type)
}
