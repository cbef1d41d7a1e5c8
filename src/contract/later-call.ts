/**
 * Calls whose answers come later, as messages of their own: the words that the service, which keeps
 * such calls as jobs, shares with the bridge, which sends and receives their messages.
 */
import type { Caller } from './policy.ts'
import type { ExchangeContext, KeyedRequest } from './port-handlers.ts'

/** What the handler of an exchange returns for a call that goes on as a job. */
export class StartedCall {
  /** The identifier of the job. */
  readonly id: string
  constructor(id: string) {
    this.id = id
  }
}

/** A call that waits for its answer. */
export interface LaterCall {
  readonly id: string
  /** Of the port and the exchange: `laterJobName`. */
  readonly job: string
  readonly caller: Caller
  readonly party: string
  /** What its answer has to relate to, in the words of the party that sends and receives. */
  readonly asked: string
  /** Milliseconds since 1970, as `due`, after which no answer counts. */
  readonly created: number
  readonly due: number
  /** The request that asked for it has a key: at most one call is made of it. */
  readonly once?: KeyedRequest | undefined
}

/** How a call ended. */
export interface LaterEnd {
  readonly state: 'completed' | 'failed'
  /** The name of the fault that its result is. */
  readonly failure?: string | undefined
  /** All that its result is made of. */
  readonly answer: string
  /** What stays known of `asked`. */
  readonly asked: string
}

/** A call as it is kept, also after its end. */
export interface KeptLaterCall extends LaterCall {
  readonly state: 'waiting' | 'completed' | 'failed' | 'cancelled'
}

/** Where such calls are kept; each function is a transaction of its own. */
export interface LaterLedger {
  /** Keeps a call, or what is newly known of one that waits. */
  begin(call: LaterCall): Promise<void>
  find(id: string): Promise<KeptLaterCall | undefined>
  /** The call that was made of a request before. Refuses another request with its key. */
  findMade(job: string, caller: Caller, once: KeyedRequest): Promise<string | undefined>
  /** Ends a call that waits: false where it does not. */
  end(id: string, end: LaterEnd): Promise<boolean>
  /** Forgets a call that waits, and its key: nothing was carried out. */
  drop(call: LaterCall): Promise<void>
  listWaiting(): Promise<readonly LaterCall[]>
}

/** What receives answers, while the service is open. */
export interface LaterReceiver {
  /** The answer of a call has come to its address. */
  receive(id: string, secret: string, message: ArrivedMessage): Promise<MessageReceipt>
  /** Its caller does not want the answer any more. */
  forget(id: string): void
  /** Ends calls whose time is over. */
  expire(): Promise<void>
  close(): void
}

/** A POST as it came; its content is read where the address is that of a call. */
export interface ArrivedMessage {
  readonly fields: Readonly<Record<string, string>>
  /** Undefined: it is longer. */
  readonly read: (octetsMax: number) => Promise<Uint8Array | undefined>
}
/** An HTTP response. */
export interface MessageReceipt {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly content?: string
}

/** The part of an implementation that has such calls. */
export interface LaterCalls {
  readonly open: (
    ledger: LaterLedger,
    site: { readonly clock: () => number; readonly id: (prefix: string) => string },
  ) => Promise<LaterReceiver>
  /** Ends as the handler of the exchange does where it waits for the answer. */
  readonly answer: (job: string, kept: string, ends: Pick<ExchangeContext, 'setHeader' | 'fail'>) => unknown
}

/** The path below which answers are received: `/replies/<id>/<secret>`. */
export const repliesSegment = 'replies'

/** The name of the jobs that calls of an exchange are: the path of its operation. */
export const laterJobName = (port: string, exchange: string): string => `${port}/${exchange}`
/** No other job has a path as its name. */
export const isLaterJob = (job: string): boolean => job.includes('/')
