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
  const asked = /^\d{1,5}$/.exec(preferenceOf(exchange.entry.request, 'wait') ?? '')
  const operation = exchange.edition.routes.all
    .find(each => outcome.kind === 'job' && each.template === `/${outcome.job.job}/jobs/{id}`)
    ?.methods.get('GET')
  if (!sleep || !asked || outcome.kind !== 'job' || !operation || !exchange.admitted) return outcome
  const seconds = Math.min(Number(asked[0]), restLimits.waitSeconds)
  applyPreference(exchange, 'wait', String(seconds))
  const call = {
    admitted: { ...exchange.admitted, operation },
    id: outcome.job.id,
    face: 'rest',
    request: exchange.entry.id,
  } as const
  let { job } = outcome
  for (
    let left = seconds * 1000;
    left > 0 && (job.state === 'queued' || job.state === 'running');
    left -= readEveryMs
  ) {
    await sleep(readEveryMs)
    const seen = await exchange.face.context.calls.perform(call)
    if (seen.kind === 'job') job = seen.job
  }
  return { ...outcome, job }
}
