/**
 * What a probe sends and what comes back, as plain records, and the port that carries them: a
 * socket (`socket-transport.ts`) or a face in memory (`memory-transport.ts`).
 */
import { type Json, parseLooseJson } from './probe-content.ts'

export type ProbeFields = Readonly<Record<string, string>>

/** A request of a probe, which may break rules of HTTP. */
export interface ProbeRequest {
  readonly method: string
  /** The request-target as it is sent. */
  readonly target: string
  readonly fields: ProbeFields
  readonly content?: Uint8Array
  /**
   * Announces content of so many octets with `Expect: 100-continue` and sends none of it: a limit
   * is seen without its weight.
   */
  readonly announcedOctets?: number
  /** Default: 1.1. */
  readonly version?: ProbeVersion
  /** A connection of its own, closed afterwards. Default: the one that is kept. */
  readonly ownConnection?: boolean
}

export type ProbeVersion = '1.1' | '2'

/** A response as it came, octet by octet, for rules that libraries would hide. */
export interface ProbeReply {
  readonly status: number
  /** As received, one entry for each line. */
  readonly lines: readonly (readonly [name: string, value: string])[]
  readonly content: Uint8Array
  /** Whether it ends where its head says it does, without octets that nothing announced. */
  readonly isWhole: boolean
  readonly tookMs: number
}

/** The way to the service that is checked: sockets, or a service in memory. */
export interface ProbeTransport {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string
  readonly versions: readonly ProbeVersion[]
  /** Rejects with `Unreachable` if no response came. */
  send(request: ProbeRequest, limitMs: number): Promise<ProbeReply>
  /** Sends these octets on a connection of their own. Undefined: there is no connection here. */
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
  /** Without an octet from the peer, once one has come. */
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

/** No response came: the peer refused, went silent or sent what is not HTTP. */
export class Unreachable extends Error {}

/** For a request whose silence is a finding. Throws what is thrown for any other reason. */
export function requireUnreachable(thrown: unknown): Unreachable {
  if (thrown instanceof Unreachable) return thrown
  throw thrown
}

/** One request with its response: the evidence of a verdict. */
export class ProbeExchange {
  readonly request: ProbeRequest
  readonly reply: ProbeReply
  /** By lower-case name, lines of one name joined (RFC 9110 §5.3). */
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
