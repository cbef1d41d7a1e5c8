/**
 * What a connection offers to the message whose turn it is. The connection knows the exchange, the
 * inflow and the outflow; they know this, so that no file imports in a circle.
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
  /** Octets that have arrived and are not read yet. */
  readonly received: ReceiveBuffer
  /** Aborted when the connection has ended before the response to the request under way. */
  readonly gone: () => AbortSignal
  /** The client has closed its side: nothing more arrives. */
  readonly isClosed: boolean
  /** The exchange whose response has not left yet. */
  readonly exchange: ContentOwner | undefined
  /** Goes on with what is received: content for its reader, else the next request. */
  read(): void
  /** Reads and drops what is left of the content of a request that has its response. */
  dropContent(): void
  /** The response has left: the next request may begin, or the connection ends. */
  finish(stays: boolean): void
  /** Closes our side and drains the client's for a while. */
  linger(): void
}
