/** The context of a handler: the time, the caller, and other items, in the same transaction. */

import type { AfterOptions, Context } from '../contract/context.ts'
import { fillDefaults } from '../contract/default-values.ts'
import type { Fault } from '../contract/fault.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import { fieldsOfHeaders, headersOf, isOfResponse } from '../contract/header.ts'
import type { ProviderContext, Values } from '../contract/implement.ts'
import { checkValue } from '../contract/typed-value.ts'
import { addLateFacts, type ContextFacts, isOfContent, markStarted, reachOf, type StoreReach } from './handler-facts.ts'
import { createItems } from './handler-items.ts'
import { failByProblem, findLostReferences, nameProblem } from './item-changes.ts'
import { addJob, dueAtOnce, queuedJob } from './job-queue.ts'
import { failUnimplemented, refuse } from './refusal.ts'

export function createContext(about: ContextFacts, reach: StoreReach): Context {
  return addLateFacts(
    {
      caller: about.caller,
      now: new Date(about.now).toISOString(),
      id: about.id,
      items: createItems(about, reach, (inner, writer) => createContext(inner, reachOf(writer))),
      services: about.app.services,
      headers: about.headers?.given ?? {},
      setHeader: (name: string, value: unknown) => setAnswerHeader(about, name, value),
      after: (job: string, input: Values, options: AfterOptions = {}) =>
        markStarted(about, `ctx.after('${job}', …)`, startAfter(about, reach, job, input, options)),
      ...createEndings(about),
      unimplemented: () => failUnimplemented(about.operation),
    },
    about,
  ) as Context // `createItems` has the contract's types for the handler, and rows here
}

/** What a provider learns about the call that it serves. */
export const createProviderContext = (about: ContextFacts): ProviderContext => ({
  caller: about.caller,
  party: about.party,
  ...createEndings(about),
})

type Endings = Pick<ProviderContext, 'fail' | 'invalid' | 'conflict' | 'forbid'>
const createEndings = (about: ContextFacts): Endings => ({
  fail: (fault: Fault, detail?: unknown) => endByFault(about, fault, (detail ?? {}) as Values), // DetailOf<Fault>: the members of its detail
  invalid: (path, detail) => {
    if (!Array.isArray(path) || typeof detail !== 'string')
      throw new Error(`${about.operation}: ctx.invalid() needs a path and a text: ctx.invalid(['name'], 'is taken')`)
    return refuse({ kind: 'invalid', problems: [{ path, code: 'rule', detail }] })
  },
  conflict: detail => refuse({ kind: 'conflict', detail }),
  forbid: () => refuse({ kind: 'forbidden' }),
})

/** An undeclared fault, or a detail that breaks its declaration, is a bug in the handler. */
function endByFault(about: ContextFacts, fault: Fault, detail: Values): never {
  const { operation, faults } = about
  if (!faults.some(each => each.fault === fault.fault))
    throw new Error(
      `${operation} does not declare the fault ${fault.fault}: add it to the \`faults\` of its operation in the contract`,
    )
  const [first] = checkValue(fault.detail, detail)
  if (first) failByProblem(about, `detail of a handler: ${fault.fault}`, first)
  return refuse({ kind: 'declared', fault, detail })
}

/** An undeclared header, or a value that breaks its declaration, is a bug in the handler. */
function setAnswerHeader({ app, operation, headers }: ContextFacts, name: string, value: unknown): void {
  const declared = headersOf(app.contract).filter(each => each.name === name && isOfResponse(each))
  const [first] = declared.length === 0 ? [noHeader] : checkValue(fieldsOfHeaders(declared), { [name]: value })
  if (first) throw new Error(`${operation}: invalid header of a handler: ${name} ${first.detail}`)
  const text = headers?.write(name, value)
  if (text !== undefined) headers?.answer.set(name, text)
}
const noHeader = { detail: 'is not a declared header of answers' }

/** How many waiting jobs one party's handlers may have started. */
const afterJobsMax = 1000

/** Queues the job in the transaction of the call: no worker sees it before the commit. */
async function startAfter(
  about: ContextFacts,
  reach: StoreReach,
  name: string,
  input: Values,
  { delay = 0 }: AfterOptions,
): Promise<string> {
  const { operation, now, caller, party } = about
  const { jobs } = about.app.contract
  const declared = jobs.find(each => each.job === name)
  if (!declared) throw new Error(`${operation}: ${name} is not a job: name one of the contract`)
  if (!(delay >= 0)) throw new Error(`${operation}: invalid delay ${delay} of ${name}: use seconds, 0 or more`)
  const complete = fillDefaults(declared.input, input)
  endByInput(about, name, checkValue(declared.input, complete))
  const due = delay > 0 ? now + delay * 1000 : dueAtOnce
  const row = { ...queuedJob(about.id('j'), name, caller, complete, now), due, party }
  const queue = jobs.map(each => each.job)
  const { id } = await reach.write(async writer => {
    endByInput(about, name, await findLostReferences({ about, writer, right: 'service' }, declared.input, complete))
    return addJob(writer, queue, row, afterJobsMax)
  })
  about.queued?.()
  return id
}
function endByInput(about: ContextFacts, name: string, [first]: readonly FieldProblem[]): void {
  if (first && isOfContent(about)) refuse({ kind: 'invalid', problems: [nameProblem(name, first)] })
  if (first) failByProblem(about, `input of a handler: ${name}`, first)
}
