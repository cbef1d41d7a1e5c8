/** Jobs: a POST starts one, its address shows its status, and a link leads to its result. */
import type { Values } from '../../contract/implement.ts'
import type { Job } from '../../contract/job.ts'
import { toDraftFields, toReplyFields } from '../field-views.ts'
import type { AwaitOptions, JobStatus, RequestOptions, StoppableJob } from '../surface-types.ts'
import { type JobLook, WatchedJob } from '../watched-job.ts'
import type { HalLinks } from './hal-links.ts'
import { writeInput } from './input-writer.ts'
import { readDocument, readMembers } from './representation-reader.ts'
import { jsonType } from './resource-methods.ts'
import type { RestReply } from './rest-reply.ts'
import { type RestSession, requireLink } from './rest-session.ts'
import { retryDelay } from './rest-wire.ts'

export interface JobMethods {
  start(input: Values, options?: RequestOptions): Promise<StoppableJob<Values>>
  run(input: Values, options?: AwaitOptions): Promise<Values>
}

export function createJobMethods(session: RestSession, job: Job): JobMethods {
  const operation = `${job.job}.start`
  const start = async (input: Values, options?: RequestOptions) => {
    const content = writeInput(operation, toDraftFields(job.input), input)
    const target = await session.findEntryLink(operation, job.job, options)
    const reply = await session.wire.ask({ operation, method: 'POST', target, fields: jsonType, content, options })
    return new RestJob(session, job, reply)
  }
  return {
    start,
    run: async (input, options) => (await start(input, { signal: options?.signal })).result(options),
  }
}

class RestJob extends WatchedJob<Values> implements StoppableJob<Values> {
  readonly #session: RestSession
  readonly #job: Job
  #links: HalLinks

  constructor(session: RestSession, job: Job, reply: RestReply) {
    const { look, links } = readJob(job, reply)
    super(`${job.job}.result`, look, {
      look: options => this.#look(options),
      readResult: options => this.#readResult(options),
      wait: session.wire.wait,
    })
    this.#session = session
    this.#job = job
    this.#links = links
  }

  async cancel(options?: RequestOptions): Promise<JobStatus> {
    const operation = `${this.#job.job}.cancel`
    const target = requireLink(operation, this.#links, 'cancel')
    return this.keepLook(this.#take(await this.#session.wire.ask({ operation, method: 'POST', target, options })))
  }

  async #look(options: RequestOptions | undefined): Promise<JobLook> {
    const operation = `${this.#job.job}.status`
    const target = requireLink(operation, this.#links, 'self')
    return this.#take(await this.#session.wire.read({ operation, target, options }))
  }

  async #readResult(options: RequestOptions): Promise<Values> {
    const operation = `${this.#job.job}.result`
    const target = requireLink(operation, this.#links, 'related')
    const reply = await this.#session.wire.read({ operation, target, options })
    return readMembers(operation, reply, toReplyFields(this.#job.output), readDocument(operation, reply).members)
  }

  #take(reply: RestReply): JobLook {
    const { look, links } = readJob(this.#job, reply)
    this.#links = links
    return look
  }
}

function readJob({ job }: Job, reply: RestReply): { readonly look: JobLook; readonly links: HalLinks } {
  const { members, links } = readDocument(job, reply)
  const status = members as unknown as JobStatus // as the service writes it
  return { look: { status, waitMs: retryDelay(reply.fields) }, links }
}
