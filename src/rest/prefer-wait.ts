/**
 * `Prefer: wait` (RFC 7240 §4.3): the response shows a job when it has ended, or as it is once the
 * time is over.
 */
import type { Outcome } from '../service/outcome.ts'
import type { Exchange } from './exchange.ts'
import { applyPreference, preferenceOf } from './head-rows.ts'
import { restLimits } from './limits.ts'

/** Interval between two reads of the job. */
const readEveryMs = 50

export async function waitForJob(exchange: Exchange, outcome: Outcome): Promise<Outcome> {
  const { sleep } = exchange.face.options
  const preference = /^\d{1,5}$/.exec(preferenceOf(exchange.entry.request, 'wait') ?? '')
  const operation = exchange.edition.routes.all
    .find(each => outcome.kind === 'job' && each.template === `/${outcome.job.job}/jobs/{id}`)
    ?.methods.get('GET')
  if (!sleep || !preference || outcome.kind !== 'job' || !operation || !exchange.admitted) return outcome
  const seconds = Math.min(Number(preference[0]), restLimits.waitSeconds)
  applyPreference(exchange, 'wait', String(seconds))
  const call = {
    admitted: { ...exchange.admitted, operation },
    id: outcome.job.id,
    face: 'rest',
    request: exchange.entry.id,
  } as const
  let { job } = outcome
  for (
    let remaining = seconds * 1000;
    remaining > 0 && (job.state === 'queued' || job.state === 'running');
    remaining -= readEveryMs
  ) {
    await sleep(readEveryMs)
    const polled = await exchange.face.context.calls.perform(call)
    if (polled.kind === 'job') job = polled.job
  }
  return { ...outcome, job }
}
