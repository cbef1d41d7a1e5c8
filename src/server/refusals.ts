/**
 * Requests that the server refuses before a face sees them: the status, what is wrong, and what to
 * do.
 */
import type { Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import type { ServerLimits } from './limits.ts'

export interface ServerRefusal {
  readonly status: number
  readonly detail: string
}
const refusal = (status: number, detail: string): ServerRefusal => ({ status, detail })

export const writeRefusal = ({ status, detail }: ServerRefusal): Response => respond(status, { detail })

export const refusals = {
  // The head of an HTTP/1.1 request
  notHttp: refusal(400, 'the first octets are not an HTTP request: an https address needs TLS, this one has none'),
  requestLine: refusal(
    400,
    'the request line is not a method, a target and a version, separated by single spaces (RFC 9112 §3)',
  ),
  method: refusal(400, 'the method is not a token (RFC 9110 §9.1)'),
  target: refusal(400, 'the target contains characters that a URI cannot have: percent-encode them (RFC 9112 §3.2)'),
  versionSyntax: refusal(400, 'the request line does not end with a version of HTTP (RFC 9112 §2.3)'),
  version: refusal(505, 'this version of HTTP is not supported: use HTTP/1.1 or HTTP/2'),
  lineEnd: refusal(400, 'a line does not end with CRLF (RFC 9112 §2.2)'),
  fieldOctets: refusal(400, 'a field contains a control character, or its line does not end with CRLF (RFC 9110 §5.5)'),
  fieldLine: refusal(
    400,
    'a field line is not a name, a colon and a value: white space before the colon and folding are invalid (RFC 9112 §5)',
  ),
  headIncomplete: refusal(400, 'the connection was closed before the head was complete (RFC 9112 §8)'),
  framing: refusal(
    400,
    'the end of the content is not certain: send one Content-Length, or only chunked content (RFC 9112 §6.3)',
  ),
  framing10: refusal(400, 'HTTP/1.0 has no transfer codings: send a Content-Length (RFC 9112 §6.1)'),
  coding: refusal(501, 'this transfer coding is not supported: send only chunked (RFC 9112 §6.1)'),

  // Content
  chunks: refusal(400, 'the chunked coding of the content is malformed (RFC 9112 §7.1)'),
  pieces: refusal(400, 'the content arrives in too many small pieces: send larger ones'),

  // HTTP/2
  fieldEnds: refusal(400, 'a field value begins or ends with white space (RFC 9113 §8.2.1)'),

  // Connections
  connections: refusal(503, 'the server has reached its limit of open connections: try again later'),
} as const satisfies Readonly<Record<string, ServerRefusal>>

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`

/** Those that name a limit. */
export const limitRefusals = {
  head: (octets: number) => refusal(431, `the head is larger than ${octets} octets: send fewer or shorter fields`),
  fields: ({ fields }: ServerLimits) =>
    refusal(431, `the fields take more than ${fields} octets: send fewer or shorter ones`),
  headTime: ({ head }: ServerLimits) => refusal(408, `the head was not complete within ${seconds(head)}`),
  contentTime: ({ pace, stall, request }: ServerLimits) =>
    refusal(
      408,
      `the content came too slowly: send at least ${pace} octets every ${seconds(stall)}, and all within ${seconds(request)}`,
    ),
  held: ({ held }: ServerLimits) =>
    refusal(503, `more than ${held} octets of request content are still arriving: send the request again, and faster`),
  ofAddress: ({ connectionsPerAddress }: ServerLimits) =>
    refusal(429, `this address has ${connectionsPerAddress} connections open: reuse them, or close some first`),
}
