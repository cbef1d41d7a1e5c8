/** A job from its start to its end: each status as the service gives it, then the result. */
import { JobError } from './errors.ts'
import type { AwaitOptions, JobStatus, RequestOptions, StartedJob } from './surface-types.ts'
import type { Wait } from './timer.ts'

/** One look at a job. */
export interface JobLook {
  readonly status: JobStatus
  /** Milliseconds until another look may show a change; undefined: the service names no time. */
  readonly waitMs: number | undefined
}

export interface JobSource<O> {
  look(options: RequestOptions | undefined): Promise<JobLook>
  /** Of a completed job. */
  readResult(options: RequestOptions): Promise<O>
  /** Between two looks. */
  readonly wait: Wait
}

const usualWaitMs = 1000
/** The shortest pause between two requests, whatever the service says. */
const leastWaitMs = 100

export class WatchedJob<O> implements StartedJob<O> {
  readonly #operation: string
  readonly #source: JobSource<O>
  #look: JobLook

  /** @param operation for errors */
  constructor(operation: string, first: JobLook, source: JobSource<O>) {
    this.#operation = operation
    this.#look = first
    this.#source = source
  }

  get status(): JobStatus {
    return this.#look.status
  }

  async *statuses(options?: RequestOptions): AsyncGenerator<JobStatus, void, void> {
    yield this.status
    while (/^(?:queued|running)$/.test(this.status.state)) {
      await this.#source.wait(Math.max(this.#look.waitMs ?? usualWaitMs, leastWaitMs), options?.signal)
      this.#look = await this.#source.look(options)
      yield this.status
    }
  }

  async result({ signal, onProgress }: AwaitOptions = {}): Promise<O> {
    for await (const status of this.statuses({ signal })) onProgress?.(status)
    if (this.status.state !== 'completed') throw new JobError(this.#operation, this.status)
    return this.#source.readResult({ signal })
  }

  /** Keeps a status that another call has received. */
  protected keepLook(look: JobLook): JobStatus {
    this.#look = look
    return look.status
  }
}
