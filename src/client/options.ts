/** Options of a client and of a call. */

import type { MessageStyle } from '../contract/endpoint-rule.ts'
import type { Values } from '../contract/implement.ts'
import type { HttpFields } from '../http/message.ts'
import type { ProtectionOptions } from '../security/protect/protection-options.ts'
import type { Block } from '../soap/headers/block.ts'
import type { SoapVersion } from '../soap/version.ts'
import type { HttpOptions } from './connection-pool.ts'
import type { ClientCredentials } from './credentials.ts'
import type { ClientKeys } from './message-keys.ts'
import type { AddressingOptions } from './request-addressing.ts'
import type { Wait } from './timer.ts'
import type { ClientTransport } from './transport.ts'

/** The options of `createSoapClient`. */
export interface SoapClientOptions<V extends string = string, H = Values> extends HttpOptions {
  /** The address of the endpoint, such as `https://shop.example/soap/v2`. */
  readonly address: string
  /**
   * The path of the endpoint in the contract, such as `/soap/v2/secure`, if a gateway serves it
   * under another one. Default: the endpoint whose path ends the address.
   */
  readonly endpoint?: string
  /** A version of the contract; default the newest. */
  readonly version?: V
  /** The version of SOAP; default 1.2. */
  readonly soap?: SoapVersion['number']
  /** How messages place a request in the Body; default document/literal. */
  readonly style?: MessageStyle
  readonly credentials?: ClientCredentials
  /**
   * Keys for an endpoint whose `security` the contract declares: it says what is signed, encrypted
   * and verified.
   */
  readonly keys?: ClientKeys
  /**
   * A Security block in each message, if the contract declares none: tokens, a Timestamp, a
   * signature, encryption. Answers need no proof.
   */
  readonly security?: ProtectionOptions
  /** WS-Addressing: each message has an id, to which its reply must relate. Default: none. */
  readonly addressing?: boolean | AddressingOptions
  /**
   * MTOM: octets travel outside the XML, in requests and, if the service supports it, in replies.
   * Packages are always read.
   */
  readonly mtom?: boolean
  /**
   * Header blocks of replies that the client understands, in addition to those of WS-Addressing.
   */
  readonly blocks?: readonly Block[]
  /** Header blocks that the contract declares, for every operation that has them. */
  readonly headers?: H
  /** Fields of each request, such as a trace or a tenant. */
  readonly fields?: HttpFields
  /**
   * Milliseconds for a call, including all attempts and the wait for a connection; default 30,000.
   */
  readonly timeLimit?: number
  /**
   * How often a message is sent again after its connection failed before an octet of a response had
   * arrived; default 1. Only if it cannot have a second effect: nothing had been sent, the
   * operation is safe, or `addressing` has `once`.
   */
  readonly retries?: number
  /**
   * Waits before another attempt, and between two requests for the status of a job; by default,
   * uses a timer. For tests with their own clock.
   */
  readonly wait?: Wait
  /** Replaces the client's own connections. */
  readonly transport?: ClientTransport
}

/** The options of one call by SOAP. */
export interface CallOptions<Q = Values> {
  /**
   * Ends the call with the reason of the signal; it is then unknown whether the service has
   * performed it.
   */
  readonly signal?: AbortSignal | undefined
  readonly timeLimit?: number | undefined
  /** Header blocks that the contract declares for this request. */
  readonly headers?: Q
  /** Other header blocks of this message, as `compileBlockWriter` writes them. */
  readonly blocks?: readonly string[]
  /**
   * With addressing: the message's id, otherwise a random one; a repeated id means the same
   * message.
   */
  readonly messageId?: string
}
