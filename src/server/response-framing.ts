/**
 * Converts a Response to the status, field lines and content to send, for HTTP/1.1 and HTTP/2
 * alike. What always holds:
 *  (1) No octet of a field can end a line or begin another message: a name is a token, a value
 *      visible ASCII, SP and HTAB.
 *  (2) The server sets the fields of framing and of the connection; those of a Response are never
 *      sent.
 *  (3) 204, 205, 304 and responses to HEAD have no content; a Content-Length that is sent is the
 *      number of octets sent, or the number that GET would have sent.
 */

import { memoizeByText } from '../base/memo.ts'
import { isToken } from '../http/grammar.ts'
import type { Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { reasonPhrases } from '../http/status.ts'
import { discardContent } from './pipe.ts'

/** One field line. */
export interface FieldLine {
  readonly name: string
  readonly value: string
  /** As HTTP/1.1 writes it, with its line end. */
  readonly text: string
}
export const fieldLine = (name: string, value: string): FieldLine => ({ name, value, text: `${name}: ${value}\r\n` })

export interface FramedResponse {
  readonly status: number
  /** Without Content-Length and the fields of the connection. */
  readonly lines: FieldLine[]
  readonly content: string | Uint8Array | AsyncIterable<Uint8Array> | undefined
  /** The Content-Length; undefined if it is not sent. */
  readonly length: number | undefined
  /** The application wants the connection to end after the response. */
  readonly close: boolean
}

/** A Response that cannot be sent: an application's bug, which becomes a 500. */
export class Unsendable extends Error {
  override readonly name = 'Unsendable'
}

// RFC 9110 §5.5, without obs-text: Node would send it as Latin-1 or UTF-8, depending on the
// content.
const unsafeCharacter = /[^\t\x20-\x7e]/
const onlyDigits = /^\d+$/

/**
 * RFC 9110 §8.6, RFC 9112 §6. A `content-length` field is used if the content is not at hand (a
 * stream, a response to HEAD, 304); content at hand is counted. Throws `Unsendable`.
 */
export function frameResponse(response: Response, method: string): FramedResponse {
  const { status, fields } = response
  const original = response.content
  const content = typeof original === 'string' && original.length > longText ? Buffer.from(original) : original
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new Unsendable(`${status} is not a final status: use 200 to 599`)
  // RFC 9110 §9.3.6: the client would read what follows as the tunnel.
  if (method === 'CONNECT' && status < 300)
    throw new Unsendable('CONNECT is not supported: respond to it with a status of 300 or above')
  const lines: FieldLine[] = []
  let announced: number | undefined
  let close = false
  for (const name in fields) {
    const value = fields[name]
    if (value === undefined) continue
    const named = fieldOfName(name)
    switch (named.kind) {
      case 'none':
        throw new Unsendable(`${JSON.stringify(name)} is not a field name: use a token (RFC 9110 §5.1)`)
      case 'length':
        announced = readLength(value)
        break
      case 'connection':
        close = /(^|[\s,])close($|[\s,])/i.test(String(value))
        break
      case 'field':
        if (typeof value !== 'string') for (const one of value) lines.push(lineOf(named, one))
        else lines.push(named.line.value === value ? named.line : lineOf(named, value))
    }
  }
  const measured = content === undefined ? undefined : countOctets(content)
  if (method === 'HEAD') {
    return { status, lines, content: undefined, length: status === 204 ? undefined : (measured ?? announced), close }
  }
  if (status === 204) return { status, lines, content: undefined, length: undefined, close }
  if (status === 304) return { status, lines, content: undefined, length: announced, close }
  if (content === undefined || status === 205) return { status, lines, content: undefined, length: 0, close }
  return { status, lines, content, length: measured ?? announced, close }
}

interface NamedField {
  readonly name: string
  /** How its line begins. */
  readonly lead: string
  readonly kind: 'field' | 'length' | 'connection' | 'ours' | 'none'
  /** The last valid line: most fields repeat their value. */
  line: FieldLine
}
const fieldOfName = memoizeByText(
  (name: string): NamedField => ({
    name,
    lead: `${name}: `,
    kind: fieldKindOf(name),
    line: fieldLine(name, ''),
  }),
)

/** (1), (2): the kind of a field by its name; `none` if it is not a name. */
function fieldKindOf(name: string): NamedField['kind'] {
  if (!isToken(name)) return 'none'
  switch (name.toLowerCase()) {
    case 'content-length':
      return 'length'
    case 'connection':
      return 'connection'
    case 'date': // RFC 9110 §6.6.1: when it was sent, by the sender's clock
    case 'keep-alive':
    case 'proxy-connection':
    case 'trailer':
    case 'transfer-encoding':
    case 'upgrade':
      return 'ours'
    default:
      return 'field'
  }
}

/**
 * The same, but a response that cannot be sent becomes a 500, and `onError` receives the reason.
 */
export function frameOrFail(response: Response, method: string, onError: (error: unknown) => void): FramedResponse {
  try {
    return frameResponse(response, method)
  } catch (error) {
    onError(error)
    discardContent(response)
    return frameResponse(respond(500), method)
  }
}

function lineOf(named: NamedField, value: string): FieldLine {
  if (unsafeCharacter.test(value))
    throw new Unsendable(`the value of ${named.name} has a character that fields cannot have: use visible ASCII`)
  return (named.line = { name: named.name, value, text: `${named.lead}${value}\r\n` })
}

function readLength(value: string | readonly string[]): number {
  if (typeof value !== 'string' || !onlyDigits.test(value))
    throw new Unsendable('content-length must be a whole number')
  return Number(value)
}

/** From this length on, a text is encoded at once, instead of first counted and then encoded. */
const longText = 64 * 1024

function countOctets(content: NonNullable<Response['content']>): number | undefined {
  if (typeof content === 'string') return Buffer.byteLength(content)
  return content instanceof Uint8Array ? content.length : undefined
}

/** A refusal as the octets of an HTTP/1.1 response, after which the connection ends. */
export function writeFinalResponse(refusal: Response): string {
  const { status, lines, content, length } = frameResponse(refusal, 'GET')
  lines.push(
    fieldLine('date', new Date().toUTCString()),
    fieldLine('connection', 'close'),
    fieldLine('content-length', String(length)),
  )
  const fields = lines.map(each => each.text).join('')
  return `HTTP/1.1 ${status} ${reasonPhrases[status] ?? 'Error'}\r\n${fields}\r\n${String(content)}`
}
