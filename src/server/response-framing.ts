/**
 * From a Response to what goes on the wire, for HTTP/1.1 and HTTP/2 alike. What always holds:
 *  (1) No octet of a field can end a line or begin another message: a name is a token, a value
 *      visible ASCII, SP and HTAB.
 *  (2) Framing and connection fields are the server's; those of a Response never reach the wire.
 *  (3) 204, 205, 304 and answers to HEAD carry no content; a Content-Length that is sent is the
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
  /** As HTTP/1.1 writes it, with its end. */
  readonly text: string
}
export const fieldLine = (name: string, value: string): FieldLine => ({ name, value, text: `${name}: ${value}\r\n` })

export interface FramedResponse {
  readonly status: number
  /** Without Content-Length and the fields of the connection. */
  readonly lines: FieldLine[]
  readonly content: string | Uint8Array | AsyncIterable<Uint8Array> | undefined
  /** What Content-Length says; undefined when it is not sent. */
  readonly length: number | undefined
  /** The response asks for the connection to end after it. */
  readonly close: boolean
}

/** A Response that cannot be sent as it is: a mistake of the application, answered 500. */
export class Unsendable extends Error {
  override readonly name = 'Unsendable'
}

// RFC 9110 §5.5. obs-text is left out: Node would send it as Latin-1 or UTF-8, depending on the
// content beside it.
const unsafe = /[^\t\x20-\x7e]/
const digits = /^\d+$/

/**
 * RFC 9110 §8.6, RFC 9112 §6. A `content-length` field counts where the content is not all here (a
 * stream, an answer to HEAD, 304); content that is here is counted. Throws `Unsendable`.
 */
export function frameResponse(response: Response, method: string): FramedResponse {
  const { status, fields, content } = response
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new Unsendable(`${status} is no final status`)
  // RFC 9110 §9.3.6: the client would take what follows for the tunnel.
  if (method === 'CONNECT' && status < 300) throw new Unsendable('CONNECT cannot succeed: there are no tunnels here')
  const lines: FieldLine[] = []
  let announced: number | undefined
  let close = false
  for (const name in fields) {
    const value = fields[name]
    if (value === undefined) continue
    const named = nameOf(name)
    switch (named.kind) {
      case 'none':
        throw new Unsendable(`no field can be called ${JSON.stringify(name)}`)
      case 'length':
        announced = lengthIn(value)
        break
      case 'connection':
        close = /(^|[\s,])close($|[\s,])/i.test(String(value))
        break
      case 'field':
        if (typeof value === 'string') push(lines, named, value)
        else for (const one of value) push(lines, named, one)
    }
  }
  const here = octets(content)
  if (method === 'HEAD') {
    return { status, lines, content: undefined, length: status === 204 ? undefined : (here ?? announced), close }
  }
  if (status === 204) return { status, lines, content: undefined, length: undefined, close }
  if (status === 304) return { status, lines, content: undefined, length: announced, close }
  if (content === undefined || status === 205) return { status, lines, content: undefined, length: 0, close }
  return { status, lines, content, length: here ?? announced, close }
}

interface NamedField {
  readonly name: string
  readonly kind: 'field' | 'length' | 'connection' | 'ours' | 'none'
  /** The last one that was found sound: most fields have the same value again. */
  line: FieldLine
}
const nameOf = memoizeByText((name: string): NamedField => ({ name, kind: kindOf(name), line: fieldLine(name, '') }))

/** (1), (2): what a name is, or that it is none. */
function kindOf(name: string): NamedField['kind'] {
  if (!isToken(name)) return 'none'
  switch (name.toLowerCase()) {
    case 'content-length':
      return 'length'
    case 'connection':
      return 'connection'
    case 'date': // RFC 9110 §6.6.1: when it was sent, by the clock of who sends it
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

/** The same, where a response that cannot be sent becomes a 500 of which `onError` hears. */
export function frameOrFail(response: Response, method: string, onError: (error: unknown) => void): FramedResponse {
  try {
    return frameResponse(response, method)
  } catch (error) {
    onError(error)
    discardContent(response)
    return frameResponse(respond(500), method)
  }
}

function push(lines: FieldLine[], named: NamedField, value: string): void {
  if (value !== named.line.value) {
    if (unsafe.test(value)) throw new Unsendable(`the value of ${named.name} has an octet that no field can carry`)
    named.line = fieldLine(named.name, value)
  }
  lines.push(named.line)
}

function lengthIn(value: string | readonly string[]): number {
  if (typeof value !== 'string' || !digits.test(value)) throw new Unsendable('content-length is no number')
  return Number(value)
}

function octets(content: Response['content']): number | undefined {
  if (typeof content === 'string') return Buffer.byteLength(content)
  return content instanceof Uint8Array ? content.length : undefined
}

/** A refusal as the octets of an HTTP/1.1 response after which the connection ends. */
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
