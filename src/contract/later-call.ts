/**
 * Calls whose answers come later, as separate messages: the types that the service, which stores
 * such calls as jobs, shares with the bridge, which sends and receives their messages.
 */
import type { Caller } from './policy.ts'
import type { ExchangeContext, KeyedRequest } from './port-handlers.ts'

/** What the handler of an exchange returns for a call that continues as a job. */
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
  /** The job of the port and the exchange: `laterJobName`. */
  readonly job: string
  readonly caller: Caller
  readonly party: string
  /** The data to check its answer against, written by the bridge (`bridge/later-proof.ts`). */
  readonly proof: string
  /** Milliseconds since 1970, as `due`, after which no answer counts. */
  readonly created: number
  readonly due: number
  /** Present if the request for it has a key: then at most one call is made for it. */
  readonly once?: KeyedRequest | undefined
}

/** How a call ended. */
export interface LaterEnd {
  readonly state: 'completed' | 'failed'
  /** The name of the fault, if the result is one. */
  readonly failure?: string | undefined
  /** All data that its result is made from. */
  readonly answer: string
  /** Replaces the `proof` of the call: without its keys, and with the digest of its answer. */
  readonly proof: string
}

/** A call as it is stored, also after its end. */
export interface KeptLaterCall extends LaterCall {
  readonly state: 'waiting' | 'completed' | 'failed' | 'cancelled'
}

/** Where such calls are stored; each function is a transaction of its own. */
export interface LaterLedger {
  /** Stores a call, or new facts about one that waits. */
  begin(call: LaterCall): Promise<void>
  find(id: string): Promise<KeptLaterCall | undefined>
  /** The call already made for a request. Refuses another request with its key. */
  findMade(job: string, caller: Caller, once: KeyedRequest): Promise<string | undefined>
  /** Ends a call that waits; false if it does not wait. */
  end(id: string, end: LaterEnd): Promise<boolean>
  /** Forgets a call that waits, and its key: nothing was carried out. */
  drop(call: LaterCall): Promise<void>
  listWaiting(): Promise<readonly LaterCall[]>
}

/** Receives the answers to such calls while the service is open. */
export interface LaterReceiver {
  /** The answer of a call has come to its address. */
  receive(id: string, secret: string, message: ArrivedMessage): Promise<MessageReceipt>
  /** Its caller no longer wants the answer. */
  forget(id: string): void
  /** Ends calls whose time is over. */
  expire(): Promise<void>
  close(): void
}

/** A POST as it came; its content is read only if the address is that of a call. */
export interface ArrivedMessage {
  readonly fields: Readonly<Record<string, string>>
  /** Undefined if it is longer. */
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
  /** Ends like the handler of the exchange does when it waits for the answer. */
  readonly answer: (job: string, kept: string, ends: Pick<ExchangeContext, 'setHeader' | 'fail'>) => unknown
}

/** The path below which answers are received: `/replies/<id>/<secret>`. */
export const repliesSegment = 'replies'

/** The name of an exchange's job: the path of its operation. */
export const laterJobName = (port: string, exchange: string): string => `${port}/${exchange}`
/** No other job has a path as its name. */
export const isLaterJob = (job: string): boolean => job.includes('/')
