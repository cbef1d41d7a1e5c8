/**
 * One POST, which is sent again if the first one cannot have had an effect, or a second one has no
 * further effect. The clients of contracts and ports and the bridge all send through it.
 */
import type { Caller } from '../contract/policy.ts'
import type { MessageSender, SignedExchange, WrittenMessage } from './dressed-message.ts'
import { TransportFailure } from './errors.ts'
import type { SentRequest } from './opened-answer.ts'
import { type Wait, waitFor } from './timer.ts'
import type { PassingResponses } from './transport.ts'

/** How long a call may take, and what ends it. */
export interface CallTiming {
  /** Milliseconds of all attempts together. */
  readonly timeLimit: number
  readonly signal?: AbortSignal | undefined
  /** The caller, for credentials and assertions that are made for each one. */
  readonly onBehalfOf?: Caller | undefined
  /** Further attempts after the first. */
  readonly retries: number
  readonly wait: Wait
}
export interface PostPatience extends CallTiming {
  readonly passing?: PassingResponses | undefined
  /** Receives what a later answer must relate to, before each attempt. */
  readonly keep?: ((request: SentRequest) => Promise<void>) | undefined
  readonly mayRepeat: (failure: TransportFailure) => boolean
}

/** From the options of a client and those of one call. */
export const timingOf = (
  { timeLimit = 30_000, retries = 1, wait = waitFor }: Partial<CallTiming>,
  call: { readonly timeLimit?: number | undefined; readonly signal?: AbortSignal | undefined },
): CallTiming => ({ timeLimit: call.timeLimit ?? timeLimit, signal: call.signal, retries, wait })

/**
 * Nothing was sent; or no octet came back, and a second message has no further effect.
 */
export const isRepeatable = ({ why, begun }: TransportFailure, hasOneEffect: boolean): boolean =>
  why === 'unreachable' || (why === 'lost' && !begun && hasOneEffect)

/** Rejects with the failure of the last attempt, or the reason of the signal. */
export async function postWithRetries(
  sender: MessageSender,
  written: WrittenMessage,
  { timeLimit, signal, retries, wait: pause, mayRepeat, passing, onBehalfOf, keep }: PostPatience,
): Promise<SignedExchange> {
  const until = Date.now() + timeLimit
  for (let tries = 0; ; tries++) {
    try {
      return await sender.post(written, { signal, timeLimit: until - Date.now(), passing, onBehalfOf, keep })
    } catch (thrown) {
      if (!(thrown instanceof TransportFailure)) throw thrown
      const wait = thrown.why === 'unreachable' ? 100 * 2 ** tries : 0
      if (tries >= retries || !mayRepeat(thrown) || Date.now() + wait >= until) throw thrown
      if (wait > 0) await pause(wait, signal)
    }
  }
}
