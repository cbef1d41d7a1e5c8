/** The clock and the reports of a service. */
import { randomUUID } from 'node:crypto'
import type { RequestNotes } from '../service/face-context.ts'
import type { WorkOrigin, WriteLine } from '../service/handler-facts.ts'
import { type JobRow, Unavailable } from '../service/store.ts'
import { createLogger, describeErrors, errorFields } from './operations/log.ts'
import { OutageLog } from './operations/outage-log.ts'
import type { ServeOptions, ServiceOptions } from './options.ts'

export interface World {
  readonly clock: () => number
  readonly logger: NonNullable<ServeOptions['logger']>
  readonly report: NonNullable<ServeOptions['onError']>
  /** Reports a failure outside of requests: a bug, or a store that is out of reach for a while. */
  readonly failed: (thrown: unknown) => void
  /**
   * Reports another party that fails, or a changed file of settings that is invalid: neither is a
   * bug, and a stranger may cause it at will.
   */
  readonly unusable: (thrown: unknown) => void
  /** Writes the lines that were counted and not written. */
  readonly flush: () => void
  /** Writes the lines of handlers. */
  readonly line: WriteLine
}

export function createWorld(options: ServiceOptions): World {
  const logger = options.logger ?? createLogger()
  const report: World['report'] =
    options.onError ??
    ((incident, thrown, notes) =>
      logger.error({ incident, ...nameOf(notes), ...errorFields(thrown) }, 'internal error'))
  const line: WriteLine = (level, message, { request, ...notes }, fields) =>
    logger[level]({ request, ...nameOf(notes), ...(fields && { fields: describeErrors(fields) }) }, message)
  const waits = new OutageLog(logger, 'work waits for the store', workSilenceMs)
  const parties = new OutageLog(logger, 'another party or a file of settings cannot be used', workSilenceMs)
  const failed = (thrown: unknown): void =>
    thrown instanceof Unavailable ? waits.record(thrown, {}) : report(randomUUID(), thrown)
  const unusable = (thrown: unknown): void => parties.record(thrown, {})
  const flush = (): void => {
    waits.flush()
    parties.flush()
  }
  return { clock: options.clock ?? Date.now, logger, report, failed, unusable, flush, line }
}

/** Work and other parties are tried again every second, or every minute. */
const workSilenceMs = 60_000

export const reportJob =
  (report: World['report']) =>
  ({ id, job: operation, owner: subject }: JobRow, thrown: unknown): void =>
    report(id, thrown, { operation, subject })

export const nameOf = ({ operation, subject }: RequestNotes = {}): object => ({
  ...(operation !== undefined && { operation }),
  ...(subject !== undefined && { subject }),
})

export const warnOfSlowChange =
  (logger: World['logger']) =>
  ({ request, operation, subject }: WorkOrigin, by: 'call' | 'job', heldMs: number): void =>
    logger.warn({ request, ...nameOf({ operation, subject }), heldMs: Math.round(heldMs) }, slowChange[by])
const slowChange = {
  call: 'a change holds the store for more than a second: do slow work in a job',
  job: 'a change of a job holds the store for more than a second: do slow work before it, outside of ctx.once and derive',
}
