/** What a client is made with, and a call. */
import type { MessageStyle } from '../contract/xml-message.ts'
import type { HttpFields } from '../http/message.ts'
import type { Protection } from '../security/protect/protect.ts'
import type { Block } from '../soap/headers/block.ts'
import type { SoapVersion } from '../soap/version.ts'
import type { ClientCredentials } from './credentials.ts'
import type { HttpOptions } from './http-transport.ts'
import type { AddressingOptions } from './request-addressing.ts'
import type { ClientTransport } from './transport.ts'

export interface SoapClientOptions<V extends string = string> extends HttpOptions {
  /** Of the endpoint: `https://shop.example/soap/v2`. */
  readonly address: string
  /** Of the contract; the newest by default. */
  readonly version?: V
  /** Of SOAP; default 1.2. */
  readonly soap?: SoapVersion['number']
  /** How the endpoint's messages put a request into the Body; default document/literal. */
  readonly style?: MessageStyle
  readonly credentials?: ClientCredentials
  /** A Security block in each message, of what it says: tokens, a Timestamp, a signature, encryption. */
  readonly security?: Protection
  /** WS-Addressing: each message says which one it is, and an answer has to say that it answers that one. Default: none. */
  readonly addressing?: boolean | AddressingOptions
  /** MTOM: octets travel outside the XML, in requests and, where the service can, in answers. Packages are always read. */
  readonly mtom?: boolean
  /** Header blocks of answers that are understood here, beside those of WS-Addressing. */
  readonly blocks?: readonly Block[]
  /** Fields of each request: a trace, a tenant. */
  readonly fields?: HttpFields
  /** Milliseconds for a call, tries and waiting for a connection included; default 30,000. */
  readonly timeLimit?: number
  /**
   * How often a message is sent again after a connection failed before an octet of an answer had come; default 1. Only where
   * it can have no second effect: nothing had been sent, the operation is safe, or `addressing` says `once`.
   */
  readonly retries?: number
  /** In place of connections of its own. */
  readonly transport?: ClientTransport
}

export interface CallOptions {
  /** Ends the call with its reason; whether the service has carried it out is not known then. */
  readonly signal?: AbortSignal | undefined
  readonly timeLimit?: number | undefined
  /** Header blocks of this message, as `blockWriter` writes them. */
  readonly blocks?: readonly string[]
  /** With addressing: the message's id in place of one that is made up; the same again is the same message. */
  readonly messageId?: string
}
