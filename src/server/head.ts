/**
 * The head of an HTTP/1.1 response as one text. `framing.ts` has seen every name and value; node:http would look at each
 * again and sort them, which costs 4 µs where a bare answer of ten fields takes 17 (CPU, Node 26, pairs in one run). So the
 * text is put where node:http would put its own; where a version of Node keeps it elsewhere, `writeHead` does it.
 */
import type { ServerResponse } from 'node:http'
import { writeDate } from '../http/date.ts'
import { reasonPhrases } from '../http/status.ts'

/** The member in which node:http keeps the head that it has not sent yet. */
interface Headed {
  _header?: string | null
}

/** By node:http itself: for connections that end, streams of unknown length, HTTP/1.0. */
export function announce(reply: ServerResponse, status: number, lines: readonly string[], stays: boolean): void {
  reply.writeHead(status, reasonPhrases[status], stays ? [...lines] : [...lines, 'connection', 'close'])
}

/** @param idle seconds that the connection is kept for a next request */
export function writeHead(reply: ServerResponse, status: number, lines: readonly string[], idle: number): void {
  const headed = reply as Headed // whether it really is one, the next line asks
  if (headed._header !== null || !reply.shouldKeepAlive) {
    announce(reply, status, lines, true)
    return
  }
  let head = `HTTP/1.1 ${status} ${reasonPhrases[status] ?? ''}\r\n`
  for (let at = 0; at + 1 < lines.length; at += 2) head += `${lines[at]}: ${lines[at + 1]}\r\n`
  headed._header = `${head}Date: ${writeDate(Date.now())}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${idle}\r\n\r\n`
}
