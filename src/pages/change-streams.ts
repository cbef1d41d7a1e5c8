/**
 * The open streams of the change feed: how many, whose, and what each of them does. `changes.ts`
 * says what they guard.
 */
import type { Caller } from '../contract/policy.ts'
import { type FeedPlace, writeFeedPlace } from '../service/change-feed.ts'
import { Unavailable } from '../service/store.ts'
import type { ChangeNotifier } from './change-notifier.ts'
import type { SharedLooks } from './shared-looks.ts'

const streamsMax = 1000
/** Streams of one caller; anonymous callers count as one for each address. */
const callerStreamsMax = 16
/** After this time a stream ends, so that credentials are proven again. */
const streamMs = 15 * 60_000

export interface StreamReader {
  readonly caller: Caller
  /** The subject, or the address of an anonymous caller. */
  readonly name: string
  /** Aborted when the reader has left. */
  readonly gone: AbortSignal | undefined
}

/** One look at the feed, as events. */
export interface StreamLook {
  /** Where the next look begins. */
  readonly next: FeedPlace
  readonly more: boolean
  readonly octets: Uint8Array
}

export class ChangeStreams {
  count = 0
  readonly #ofReader = new Map<string, number>()
  readonly #notifier: ChangeNotifier
  readonly #looks: SharedLooks<StreamLook>

  constructor(notifier: ChangeNotifier, looks: SharedLooks<StreamLook>) {
    this.#notifier = notifier
    this.#looks = looks
  }

  get isFull(): boolean {
    return this.count >= streamsMax
  }
  hasRoomFor({ name }: StreamReader): boolean {
    return (this.#ofReader.get(name) ?? 0) < callerStreamsMax
  }

  /** Counted from its first piece on, since a stream whose reader left earlier never begins. */
  async *open(reader: StreamReader, from: FeedPlace | undefined): AsyncGenerator<Uint8Array> {
    if (!this.hasRoomFor(reader)) return // others of this caller have begun meanwhile
    this.#add(reader, 1)
    try {
      yield encodeText('retry: 1000\n\n')
      yield* this.#follow(reader, from)
    } catch (thrown) {
      if (!(thrown instanceof Unavailable)) throw thrown // the reader reconnects
    } finally {
      this.#add(reader, -1)
    }
  }

  async *#follow({ caller, gone }: StreamReader, from: FeedPlace | undefined): AsyncGenerator<Uint8Array> {
    const until = performance.now() + streamMs
    let after = from
    while (performance.now() < until && !this.#notifier.isStopped && !gone?.aborted) {
      const mark = this.#notifier.mark()
      const found = await this.#looks.find(mark, caller, after)
      after = found.next
      if (found.octets.length > 0) yield found.octets
      if (found.more) continue
      await this.#notifier.waitForChange(mark, after.sequence, gone)
      yield encodeText(`id: ${writeFeedPlace(after)}\n:\n\n`) // where to continue after changes that were not reported
    }
  }

  #add({ name }: StreamReader, by: 1 | -1): void {
    this.count += by
    const count = (this.#ofReader.get(name) ?? 0) + by
    if (count > 0) this.#ofReader.set(name, count)
    else this.#ofReader.delete(name)
  }
}

const encoder = new TextEncoder()
const encodeText = (text: string): Uint8Array => encoder.encode(text)
