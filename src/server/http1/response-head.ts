/**
 * The head of an HTTP/1.1 response as one text. `response-framing.ts` has checked every name and
 * value.
 */
import { writeDate } from '../../http/date.ts'
import { reasonPhrases } from '../../http/status.ts'
import type { FramedResponse } from '../response-framing.ts'

/** RFC 9112 §4: the phrase may be empty, but its space is required. */
const writeStatusLine = (status: number): string => `HTTP/1.1 ${status} ${reasonPhrases[status] ?? ''}\r\n`
const statusLines: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(reasonPhrases).map(status => [status, writeStatusLine(Number(status))]),
)

const closeLine = 'Connection: close\r\n'

/** RFC 9110 §15.2.1 */
export const continueResponse = 'HTTP/1.1 100 Continue\r\n\r\n'

export class ResponseHeadWriter {
  readonly #keepAliveLines: string

  /** @param idleSeconds how long a connection is kept for the next request */
  constructor(idleSeconds: number) {
    this.#keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${idleSeconds}\r\n`
  }

  /** @param stays whether the connection is kept for the next request */
  write({ status, lines, length }: FramedResponse, stays: boolean): string {
    let head = statusLines[status] ?? writeStatusLine(status)
    for (const { text } of lines) head += text
    if (length !== undefined) head += `content-length: ${length}\r\n`
    return `${head}Date: ${writeDate(Date.now())}\r\n${stays ? this.#keepAliveLines : closeLine}\r\n`
  }
}
