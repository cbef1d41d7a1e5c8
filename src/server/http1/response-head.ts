/** The head of an HTTP/1.1 response as one text. `framing.ts` has seen every name and value. */
import { writeDate } from '../../http/date.ts'
import { reasonPhrases } from '../../http/status.ts'
import { type FieldLine, fieldLine } from '../response-framing.ts'

const statusLines = new Map<number, string>()
function statusLine(status: number): string {
  let text = statusLines.get(status)
  if (text === undefined) statusLines.set(status, (text = `HTTP/1.1 ${status} ${reasonPhrases[status] ?? ''}\r\n`))
  return text
}

let date = fieldLine('Date', '')
function dateLine(): string {
  const value = writeDate(Date.now())
  if (value !== date.value) date = fieldLine('Date', value)
  return date.text
}

/** @param connection what the connection's own fields say: `keepAliveLine`, `closeLine` */
export function writeResponseHead(status: number, lines: readonly FieldLine[], connection: string): string {
  let head = statusLine(status)
  for (const { text } of lines) head += text
  return `${head}${dateLine()}${connection}\r\n`
}

/** @param idle seconds that the connection is kept for a next request */
export const keepAliveLine = (idle: number): string => `Connection: keep-alive\r\nKeep-Alive: timeout=${idle}\r\n`
export const closeLine = 'Connection: close\r\n'

/** RFC 9110 §15.2.1 */
export const continueResponse = 'HTTP/1.1 100 Continue\r\n\r\n'
