/** The head of an HTTP/1.1 response as one text. `framing.ts` has seen every name and value. */
import { writeDate } from '../http/date.ts'
import { reasonPhrases } from '../http/status.ts'

/**
 * @param lines name, value, name, value, …
 * @param connection what the connection's own fields say: `kept`, `lastOf`
 */
export function writeHead(status: number, lines: readonly string[], connection: string): string {
  let head = `HTTP/1.1 ${status} ${reasonPhrases[status] ?? ''}\r\n`
  for (let at = 0; at + 1 < lines.length; at += 2) head += `${lines[at]}: ${lines[at + 1]}\r\n`
  return `${head}Date: ${writeDate(Date.now())}\r\n${connection}\r\n`
}

/** @param idle seconds that the connection is kept for a next request */
export const kept = (idle: number): string => `Connection: keep-alive\r\nKeep-Alive: timeout=${idle}\r\n`
export const last = 'Connection: close\r\n'

/** RFC 9110 §15.2.1 */
export const proceed = 'HTTP/1.1 100 Continue\r\n\r\n'
