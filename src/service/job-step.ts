/**
 * Steps of a job that happen once, however often the job runs: a step's changes, its result and the
 * proof of the lease are one transaction. So a worker that dies, or has lost its lease, did either
 * the whole step or nothing.
 */
import type { Context, JobHandlerContext } from '../contract/context.ts'
import { createContext } from './handler-context.ts'
import { type ContextFacts, markStarted, reachOf, type StoreReach } from './handler-facts.ts'
import { createInnerWork } from './inner-work.ts'
import { runStarting, type StartedWork } from './started-work.ts'
import { packTyped, unpackTyped } from './typed-json.ts'

const space = 'step'
/** Longer than a job waits for its next try, even one that an operator starts. */
const keptMs = 30 * 86_400_000

/** @param reach one small transaction for each write, which checks the lease of the job */
export function createJobContext(about: ContextFacts, job: string, reach: StoreReach): JobHandlerContext {
  const step = createInnerWork(
    `${about.operation}: a step is running: read and change through the context that it receives`,
  )
  const runStep: JobHandlerContext['once'] = async (name, work) => {
    const key = JSON.stringify([job, name])
    return step.outside(() =>
      reach.write(async writer => {
        const memo = await writer.recall(space, key)
        if (memo && memo.expires > about.now) return resultOf<Awaited<ReturnType<typeof work>>>(memo.value)
        const started: StartedWork = {}
        const ctx = createContext({ ...about, started }, reachOf(writer))
        const result = await step.inside(() => runStarting(started, about.operation, () => work(ctx)))
        await writer.remember(space, key, { value: packTyped({ result }), expires: about.now + keptMs }, about.now)
        return result
      }),
    )
  }
  const ctx: Context = createContext(about, {
    read: work => step.outside(() => reach.read(work)),
    write: work => step.outside(() => reach.write(work)),
    beginPart: reach.beginPart,
  })
  return { ...ctx, once: (name, work) => markStarted(about, `ctx.once('${name}', …)`, runStep(name, work)) }
}

/** Written by a step of the same name. */
const resultOf = <T>(text: string): T => (unpackTyped(text) as { readonly result: T }).result
