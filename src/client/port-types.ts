/** The types of the client of a port: what each of its exchanges takes and gives. */
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
  /** Empty but for a client with `lenient`: what was wrong with the answer. */
  readonly forgiven: readonly Forgiven[]
}

/** The faults whose detail is that of this one: a message may not tell which of them it is. */
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
  /** The address of a route of yours, of this call alone: its end cannot be guessed. */
  readonly replyTo: string
  /**
   * Gets the request as text, for `readLater`, before each try: nothing is sent before it has
   * resolved. The text has the key of an encrypted exchange.
   */
  readonly keep: (request: string) => void | Promise<void>
}
/** A message that came to a route, with the value of its field Content-Type. */
export interface LaterMessage {
  readonly contentType: string
  readonly content: Uint8Array
}

/** The port of a client whose types are given: of several it is named for these, too. */
export type NamedPort<N extends string, All = N> = N extends unknown
  ? [All] extends [N]
    ? N
    : 'name it for the types, too: createPortClient<typeof contract, "ShopPort">(…)'
  : never

/** None where an exchange names none: its type has any then. */
type BlockNames<H> = string extends keyof H ? never : keyof H & string
type BlockOf<H, K> = K extends BlockNames<H> ? HeaderBlocks<H>[K] : never
/** Header blocks that requests of a port have: each goes with operations that declare it. */
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
  /** The same, with the header blocks of the reply, and with what was forgiven. */
  callForHeaders(...given: GivenTo<E>): Promise<ReplyOf<E>>
  /**
   * Sends it, with addressing, for an answer that comes later to an address of yours: resolves with
   * `accepted` then, or with the reply of a service that has answered at once.
   */
  callLater(input: ExchangeInput<E>, options: ExchangeCallOptions<E> & LaterAnswer): Promise<ReplyOf<E> | 'accepted'>
  /**
   * Reads a message that came there, by the text that was kept of its request. It fails as a call
   * does: with a `FaultError`, or with an `AnswerError` for what is no answer to this request.
   */
  readLater(message: LaterMessage, request: string): Promise<ReplyOf<E>>
  /** What would be sent now: nothing is. It has the credentials too. */
  render(...given: GivenTo<E>): Promise<RenderedMessage>
  /**
   * Whether a call has ended with this declared fault, whose detail has its type then. It may be
   * each of several faults with one element, unless the [action] of its message names one.
   */
  isFault<N extends keyof E['faults'] & string>(
    thrown: unknown,
    name: N,
  ): thrown is CaughtFault<AlikeFaults<E['faults'], N>, BodyValue<E['faults'][N]>>
}

/** Each operation of a port by its name; an operation called `close` keeps its name. */
export type PortClient<E extends Exchanges> = { readonly [N in keyof E]: ExchangeCall<E[N]> } & Omit<
  {
    /** Closes the connections; calls under way fail. A process ends without it, too. */
    close(): void
  },
  keyof E
> &
  Disposable
