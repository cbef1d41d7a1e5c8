/**
 * What a probe sends and receives, as plain records, and the port that carries them: a socket
 * (`socket-transport.ts`) or a face in memory (`memory-transport.ts`).
 */
import { type Json, parseLooseJson } from './probe-content.ts'

export type ProbeFields = Readonly<Record<string, string>>

/** A request of a probe, which may violate HTTP. */
export interface ProbeRequest {
  readonly method: string
  /** The request-target as sent. */
  readonly target: string
  readonly fields: ProbeFields
  readonly content?: Uint8Array
  /**
   * Announces this many octets of content with `Expect: 100-continue` and sends none of it, so a
   * limit shows without its weight.
   */
  readonly announcedOctets?: number
  /** Default: 1.1. */
  readonly version?: ProbeVersion
  /** Uses a separate connection, closed afterwards. Default: the persistent one. */
  readonly ownConnection?: boolean
}

export type ProbeVersion = '1.1' | '2'

/** A response as received, octet by octet, for rules about details that libraries hide. */
export interface ProbeReply {
  readonly status: number
  /** As received, one entry for each line. */
  readonly lines: readonly (readonly [name: string, value: string])[]
  readonly content: Uint8Array
  /** Whether it ends where its head says, without unannounced octets. */
  readonly isWhole: boolean
  readonly tookMs: number
}

/** The way to the service under check: sockets, or a service in memory. */
export interface ProbeTransport {
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string
  readonly versions: readonly ProbeVersion[]
  /** Rejects with `Unreachable` if no response arrives. */
  send(request: ProbeRequest, limitMs: number): Promise<ProbeReply>
  /** Sends these octets on a separate connection. Undefined: this transport has no connections. */
  readonly sendOctets?: (octets: Uint8Array, limitMs: number) => Promise<ProbeReply>
  /** Writes pieces on a connection of their own, and collects what arrives until it ends. */
  readonly converse?: (pieces: readonly OctetPiece[], limits: ConversationLimits) => Promise<Conversation>
  close(): void
}

/** A part of what is written on a connection. */
export interface OctetPiece {
  readonly octets: Uint8Array
  /** How long to wait before it is written. Default: 0. */
  readonly afterMs?: number
}

/** How long a conversation lasts, in milliseconds. */
export interface ConversationLimits {
  /** From the start. */
  readonly limitMs: number
  /** Without an octet from the peer, after the first one. */
  readonly quietMs: number
}

/** The outcome of a connection. */
export interface Conversation {
  /** The first response; undefined if none came. */
  readonly reply: ProbeReply | undefined
  readonly replies: number
  /** Whether the peer ended the connection within the limits. */
  readonly isClosed: boolean
}

/** No response arrived: the peer refused, went silent or sent something else than HTTP. */
export class Unreachable extends Error {}

/** For a request where silence is a finding. Throws any other error on. */
export function requireUnreachable(thrown: unknown): Unreachable {
  if (thrown instanceof Unreachable) return thrown
  throw thrown
}

/** One request with its response: the evidence of a verdict. */
export class ProbeExchange {
  readonly request: ProbeRequest
  readonly reply: ProbeReply
  /** By lower-case name, with lines of the same name joined (RFC 9110 §5.3). */
  readonly fields: ProbeFields
  #text: string | undefined = undefined
  #json: { readonly value: Json | undefined } | undefined = undefined

  constructor(request: ProbeRequest, reply: ProbeReply) {
    this.request = request
    this.reply = reply
    const fields: Record<string, string> = Object.create(null)
    for (const [name, value] of reply.lines) {
      const key = name.toLowerCase()
      fields[key] = fields[key] === undefined ? value : `${fields[key]}, ${value}`
    }
    this.fields = fields
  }

  get status(): number {
    return this.reply.status
  }
  get isSuccess(): boolean {
    return this.status >= 200 && this.status < 300
  }
  get text(): string {
    this.#text ??= new TextDecoder().decode(this.reply.content)
    return this.#text
  }
  /** The media type of the content, without parameters, in lower case. */
  get mediaType(): string {
    return (this.fields['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  }
  /** The content as JSON; undefined if it is not. */
  get json(): Json | undefined {
    this.#json ??= { value: parseLooseJson(this.text) }
    return this.#json.value
  }
}
