/** The types of the client of a port: the input and the output of each exchange. */
import type { BodyValue, DescribedPorts, Exchanges, HeaderBlocks, Port, PortExchange } from '../contract/exchange.ts'
import type { Forgiven } from '../soap/codecs/mended-element.ts'
import type { RenderedMessage } from './dressed-message.ts'
import type { FaultError } from './errors.ts'
import type { CallOptions } from './options.ts'

/** The names of the ports of a contract, or of a WSDL. */
export type PortNames<S extends DescribedPorts> = S['ports'][number]['port']
/** The exchanges of one of them. */
export type ExchangesOf<S extends DescribedPorts, N extends string> =
  Extract<S['ports'][number], { readonly port: N }> extends Port<string, infer E> ? E : Exchanges

/** The reply, and its tolerated deviations. */
export interface ExchangeReply<O, P> {
  readonly output: O
  /** The declared header blocks of the reply. */
  readonly headers: P
  /** Empty except for a client with `lenient`: the tolerated flaws of the answer. */
  readonly forgiven: readonly Forgiven[]
}

/** The faults with the same detail as this one: a message may not say which of them it is. */
type AlikeFaults<F, N extends keyof F> = {
  [K in keyof F & string]: [F[K], F[N]] extends [F[N], F[K]] ? K : never
}[keyof F & string]
/** A declared fault of an exchange, as it was caught. */
export type CaughtFault<N extends string, D> = Omit<FaultError, 'fault' | 'detail'> & {
  readonly fault: N
  readonly detail: D
}

/** The address of a later answer, which comes as a message of its own. */
export interface LaterAnswer {
  /** The address of one of your routes, for this call alone: its last segment cannot be guessed. */
  readonly replyTo: string
  /**
   * Receives the request as text, for `readLater`, before each attempt: nothing is sent before it
   * has resolved. The text contains the key of an encrypted exchange.
   */
  readonly keep: (request: string) => void | Promise<void>
}
/** A message that arrived at a route, with the value of its Content-Type field. */
export interface LaterMessage {
  readonly contentType: string
  readonly content: Uint8Array
}

/** The port of a typed client: if there are several, the option names it for the types, too. */
export type NamedPort<N extends string, All = N> = N extends unknown
  ? [All] extends [N]
    ? N
    : 'name it for the types, too: createPortClient<typeof contract, "ShopPort">(…)'
  : never

/** None if no exchange declares one: the type then allows any. */
type BlockNames<H> = string extends keyof H ? never : keyof H & string
type BlockOf<H, K> = K extends BlockNames<H> ? HeaderBlocks<H>[K] : never
/** Header blocks for requests of a port: each is sent with the operations that declare it. */
export type SharedBlocks<E extends Exchanges> = {
  readonly [K in { [N in keyof E]: BlockNames<E[N]['requestHeaders']> }[keyof E]]?: {
    [N in keyof E]: BlockOf<E[N]['requestHeaders'], K>
  }[keyof E]
}

type ExchangeInput<E extends PortExchange> = BodyValue<E['input']>
type ExchangeCallOptions<E extends PortExchange> = CallOptions<HeaderBlocks<E['requestHeaders']>>
type ReplyOf<E extends PortExchange> = ExchangeReply<BodyValue<E['output']>, HeaderBlocks<E['replyHeaders']>>
type GivenTo<E extends PortExchange> =
  undefined extends ExchangeInput<E>
    ? [input?: ExchangeInput<E>, options?: ExchangeCallOptions<E>]
    : [input: ExchangeInput<E>, options?: ExchangeCallOptions<E>]

/** One operation of a port. */
export interface ExchangeCall<E extends PortExchange> {
  /** Sends it, and resolves with the content of the reply; undefined for one without content. */
  (...given: GivenTo<E>): Promise<BodyValue<E['output']>>
  /** The same, with the header blocks of the reply and its tolerated flaws. */
  callForHeaders(...given: GivenTo<E>): Promise<ReplyOf<E>>
  /**
   * Sends it with addressing, for an answer that comes later to one of your addresses: resolves
   * with `accepted`, or with the reply of a service that answers at once.
   */
  callLater(input: ExchangeInput<E>, options: ExchangeCallOptions<E> & LaterAnswer): Promise<ReplyOf<E> | 'accepted'>
  /**
   * Reads a message that arrived there, with the text that was kept of its request. It fails as a
   * call does: with a `FaultError`, or with an `AnswerError` if the message is not an answer to
   * this request.
   */
  readLater(message: LaterMessage, request: string): Promise<ReplyOf<E>>
  /** What would be sent now, credentials included; nothing is sent. */
  render(...given: GivenTo<E>): Promise<RenderedMessage>
  /**
   * Whether a call ended with this declared fault, whose type `detail` then has. Of several faults
   * with the same element it may be any, unless the [action] of its message names one.
   */
  isFault<N extends keyof E['faults'] & string>(
    thrown: unknown,
    name: N,
  ): thrown is CaughtFault<AlikeFaults<E['faults'], N>, BodyValue<E['faults'][N]>>
}

/** Each operation of a port by its name; an operation called `close` keeps its name. */
export type PortClient<E extends Exchanges> = { readonly [N in keyof E]: ExchangeCall<E[N]> } & Omit<
  {
    /** Closes the connections; calls in progress fail. A process can also end without it. */
    close(): void
  },
  keyof E
> &
  Disposable
