/**
 * Reads that may take long, away from the event loop: threads with connections of their own. What
 * always holds, by number:
 *  (1) A read sees one snapshot that begins after the read was requested: it contains everything
 *      its caller was told before.
 *  (2) A read takes at most its time; then it is `Unavailable`, and the cause names it. A thread
 *      that does not stop within twice the time is replaced by a new one.
 *  (3) A caller has one read under way at a time, and a bounded number that wait; callers take
 *      turns.
 *  (4) Overlapping reads do not let SQLite's log grow without end (log-pause.ts).
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { Unavailable } from '../service/store.ts'
import { WaitingLines } from '../service/waiting-lines.ts'
import type { Cells, StatementRunner } from './connection.ts'
import type { Cell } from './dialect.ts'
import { LogPause } from './log-pause.ts'
import type { ThreadReply, ThreadRequest } from './read-thread-port.ts'
import { boundParameters, type Statement } from './statement.ts'

export interface ReadThreadOptions {
  readonly file: string
  /** Milliseconds for which one read may run. */
  readonly timeMs: number
  /** Milliseconds for which a statement waits for another process. */
  readonly lockWaitMs: number
  /** The length of the log of the file now. */
  readonly logOctets: () => number
  /** Converts an error of SQLite's to the one that the store throws. */
  readonly toStoreError: (thrown: unknown) => unknown
}

/** Two threads: one caller's long read leaves the other thread to everyone else. */
const lineBounds = { running: 2, runningOfCaller: 1, waiting: 256, waitingOfCaller: 16 }
const retrySeconds = 5
/** A commit comes within this time, if any comes. */
const commitMs = 500

/** The same file has another name once it is compiled. */
export const threadProgram = new URL(
  import.meta.url.endsWith('.ts') ? './read-thread-main.ts' : './read-thread-main.js',
  import.meta.url,
)

/**
 * A bundler leaves this file behind, and the first long read would be refused.
 * @throws Error with the cure, at the start
 */
export function requireThreadProgram(program: URL = threadProgram): void {
  if (!existsSync(program))
    throw new Error(
      `${fileURLToPath(program)}, which runs long reads, is missing: leave diglot out of the bundle of the service (external: ['diglot'])`,
    )
}

export class ReadThreads {
  readonly #options: ReadThreadOptions
  readonly #free: ReadThread[] = []
  readonly #all = new Set<ReadThread>()
  readonly #line = new WaitingLines(lineBounds, 'too many long reads are waiting')
  readonly #logPause: LogPause
  #closed = false

  constructor(options: ReadThreadOptions) {
    requireThreadProgram()
    this.#options = options
    this.#logPause = new LogPause({ octets: options.logOctets, timeMs: options.timeMs + commitMs })
  }

  /**
   * Does the work when its turn comes, in one snapshot.
   * @param describe says what is read, for an operator
   */
  read<T>(party: string, describe: () => string, work: (on: StatementRunner) => Promise<T>): Promise<T> {
    return this.#line.take(party, async () => {
      await this.#logPause.wait()
      return this.#run(describe, work)
    })
  }

  async #run<T>(describe: () => string, work: (on: StatementRunner) => Promise<T>): Promise<T> {
    if (this.#closed) throw new Unavailable(1, 'the store is closed')
    const thread = this.#free.pop() ?? this.#start()
    const over = (): Unavailable =>
      new Unavailable(
        retrySeconds,
        `${describe()} took longer than ${this.#options.timeMs} ms: declare the index that the start names, or unserved: 'refuse'`,
      )
    try {
      return await thread.run(work, over)
    } finally {
      if (thread.isLost || this.#closed) this.#drop(thread)
      else this.#free.push(thread)
    }
  }

  #start(): ReadThread {
    const thread = new ReadThread(this.#options)
    this.#all.add(thread)
    return thread
  }

  #drop(thread: ReadThread): Promise<unknown> {
    this.#all.delete(thread)
    return thread.end()
  }

  /** Ends the reads under way. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#all].map(each => this.#drop(each)))
  }
}

/** One thread. It keeps the process alive only while it reads. */
class ReadThread {
  readonly #worker: Worker
  readonly #options: ReadThreadOptions
  /** The reply to the request under way. */
  #waiting: PromiseWithResolvers<ThreadReply> | undefined
  #isLost = false

  constructor(options: ReadThreadOptions) {
    this.#options = options
    const { file, lockWaitMs: timeout } = options
    this.#worker = new Worker(threadProgram, { workerData: { file, timeout } })
    this.#worker.unref()
    this.#worker.on('message', (reply: ThreadReply) => this.#waiting?.resolve(reply))
    this.#worker.on('error', thrown => this.#lose(new Unavailable(1, thrown)))
    this.#worker.on('exit', () => this.#lose(new Unavailable(1, 'a thread that reads has ended')))
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** @param over why a read fails when its time is over */
  async run<T>(work: (on: StatementRunner) => Promise<T>, over: () => Unavailable): Promise<T> {
    const { timeMs } = this.#options
    this.#worker.ref()
    const watch = setTimeout(() => this.#lose(over()), 2 * timeMs)
    const rows = async (of: Statement, values: readonly Cell[], octets = Infinity): Promise<readonly Cells[]> => {
      const reply = await this.#ask({ kind: 'rows', text: of.text, values: boundParameters(of, values), octets })
      return this.#rowsOf(reply, over)
    }
    try {
      this.#rowsOf(await this.#ask({ kind: 'begin', timeMs }), over)
      return await work({
        rows,
        first: async (of, values) => (await rows(of, values))[0],
        run: () => {
          throw new Error('a thread that reads was asked to write')
        },
      })
    } finally {
      clearTimeout(watch)
      if (!this.#isLost) await this.#ask({ kind: 'end' }).catch(() => {})
      this.#worker.unref()
    }
  }

  #ask(request: ThreadRequest): Promise<ThreadReply> {
    if (this.#isLost) return Promise.reject(new Unavailable(1, 'a thread that reads has ended'))
    this.#waiting = Promise.withResolvers<ThreadReply>()
    this.#worker.postMessage(request)
    return this.#waiting.promise
  }

  #rowsOf(reply: ThreadReply, over: () => Unavailable): readonly Cells[] {
    if ('rows' in reply) return reply.rows
    if ('isOver' in reply) throw over()
    throw this.#options.toStoreError(Object.assign(new Error(reply.error), { errcode: reply.errcode }))
  }

  #lose(why: Unavailable): void {
    this.#isLost = true
    this.#waiting?.reject(why)
    this.#waiting = undefined
  }

  end(): Promise<unknown> {
    this.#lose(new Unavailable(1, 'the store is closed'))
    return this.#worker.terminate()
  }
}
