/**
 * What a connection offers to the message whose turn it is. The connection imports the exchange,
 * the inflow and the outflow; they import this file, so no imports form a circle.
 */
import type { Socket } from 'node:net'
import type { ContentOwner } from '../incoming-content.ts'
import type { ServerContext } from '../server-context.ts'
import type { ReceiveBuffer } from './receive-buffer.ts'

export interface Turn {
  readonly context: ServerContext
  readonly socket: Socket
  /** The address of the peer. */
  readonly from: string
  readonly scheme: 'http' | 'https'
  /** DER of the certificate that the peer proved to own. */
  readonly certificate: Uint8Array | undefined
  /** Octets that have arrived and have not been read yet. */
  readonly received: ReceiveBuffer
  /** Aborted when the connection ends before the response to the current request. */
  readonly gone: () => AbortSignal
  /** The client has closed its side: nothing more arrives. */
  readonly isClosed: boolean
  /** The exchange whose response has not been sent completely. */
  readonly exchange: ContentOwner | undefined
  /** Continues with the received octets: content for its reader, or else the next request. */
  read(): void
  /** Reads and drops the rest of a request's content after its response. */
  dropContent(): void
  /** The response has been sent: the next request may begin, or the connection ends. */
  finish(stays: boolean): void
  /** Closes our side, and drains the client's side for a while. */
  linger(): void
}
