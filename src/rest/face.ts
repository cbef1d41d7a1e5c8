/**
 * START HERE. An entry in, a response out: plan, call, reply. The plan decides everything that
 * depends only on the message, the service decides the rest inside its transaction, and the reply
 * expresses the outcome. Each "no" is thrown once and caught once, here; anything else that is
 * thrown is a bug of ours, and its response shows only the incident.
 */
import { chain, type Maybe, settle, settleFor } from '../base/maybe.ts'
import { isPaged } from '../contract/operation.ts'
import type { Entry, Mount } from '../front/entry.ts'
import { createFront, type FrontOptions } from '../front/front.ts'
import type { FrontRefusal } from '../front/refusal.ts'
import type { Request, Response } from '../http/message.ts'
import type { FaceContext } from '../service/face-context.ts'
import { Refused, Unimplemented } from '../service/refusal.ts'
import { Unavailable, unavailableRefusal } from '../service/store.ts'
import type { WorkSteps } from '../service/turns.ts'
import { answerRedraw, answerRefusedForm, redirectAfterForm } from './browse/form-answer.ts'
import { type PageForm, type PageFormReading, readPageForm } from './browse/page-form.ts'
import { addRestFields } from './common-fields.ts'
import { type CompiledFace, compileFace, type RestOptions } from './compiled-face.ts'
import { decisionsPage, entryPage, problemPage } from './entry-pages.ts'
import { errorResponse } from './error-response.ts'
import { Exchange } from './exchange.ts'
import type { FacePage } from './parsed-head.ts'
import { performInTurns, performOperation } from './perform.ts'
import { followPlan, rowOfRefusal } from './plan.ts'
import { answerKeptCall, answerPortCall } from './port-call.ts'
import { waitForJob } from './prefer-wait.ts'
import type { AnyRestRefusal } from './refusal.ts'
import { replyInSteps, replyWith } from './reply.ts'

/** REST as a mount of the front door. It also handles paths without a mount. */
export function createRestMount(context: FaceContext, options: RestOptions = {}): Mount {
  const face = compileFace(context, options)
  return {
    name: 'rest',
    segments: ['', 'api', 'problems', 'decisions'],
    serve: entry => {
      const form = entry.query === '' ? undefined : readPageForm(entry)
      return form
        ? servePageForm(face, entry, form)
        : settleFor(new Exchange(face, entry), answerExchange, addRestFields, respondToThrown)
    },
    refuse: (entry, refusal) => respondWithRefusal(new Exchange(face, entry), refusal),
  }
}

/** The REST face on its own, behind a front door with one mount. */
export function createRestFace(
  context: FaceContext,
  options: RestOptions & Pick<FrontOptions, 'gate'> = {},
): (request: Request) => Maybe<Response> {
  return createFront(context, [createRestMount(context, options)], options)
}

const servePageForm = (face: CompiledFace, entry: Entry, form: PageFormReading): Maybe<Response> =>
  'form' in form
    ? serveForm(face, form.entry, form.form)
    : redirectTo(`${face.api.prefix}${entry.path}${form.redirect}`)

const respondToThrown = (exchange: Exchange, thrown: unknown): Response =>
  respondWithRefusal(exchange, toRefusal(exchange, thrown))

const redirectTo = (location: string): Response => ({ status: 303, fields: { 'cache-control': 'no-store', location } })

/** The request that a form represents, and the page that the person sees next. */
function serveForm(face: CompiledFace, entry: Entry, form: PageForm): Maybe<Response> {
  const exchange = new Exchange(face, entry)
  exchange.form = form
  return settle(
    () => chain(answerExchange(exchange), response => addRestFields(exchange, redirectAfterForm(exchange, response))),
    thrown => refuseForm(exchange, toRefusal(exchange, thrown)),
  )
}

function refuseForm(exchange: Exchange, refusal: AnyRestRefusal): Maybe<Response> {
  exchange.endedAt = rowOfRefusal(refusal.kind, exchange.row)
  return settle(
    () => chain(answerRefusedForm(exchange, refusal), response => addRestFields(exchange, response, refusal)),
    thrown => respondWithRefusal(exchange, toRefusal(exchange, thrown)),
  )
}

/** A refusal that cannot be written, such as a fault with an undeclared detail, is a bug too. */
function respondWithRefusal(exchange: Exchange, refusal: AnyRestRefusal | FrontRefusal): Response {
  exchange.endedAt = rowOfRefusal(refusal.kind, exchange.row)
  if (refusal.kind === 'unavailable') exchange.entry.notes.cause = refusal.cause
  try {
    return addRestFields(exchange, errorResponse(exchange, refusal), refusal)
  } catch (thrown) {
    const failed = reportIncident(exchange, thrown)
    return addRestFields(exchange, errorResponse(exchange, failed), failed)
  }
}

function toRefusal(exchange: Exchange, thrown: unknown): AnyRestRefusal {
  if (thrown instanceof Refused) return thrown.refusal as AnyRestRefusal // from `refuseRequest` or the service
  if (thrown instanceof Unavailable) return unavailableRefusal(thrown)
  const failed = reportIncident(exchange, thrown)
  return thrown instanceof Unimplemented ? { kind: 'unimplemented', operation: thrown.operation } : failed
}

const answerExchange = (exchange: Exchange): Maybe<Response> =>
  chain(followPlan(exchange), early => {
    if (early) return early
    if (exchange.page) return answerPage(exchange, exchange.page)
    if (exchange.form?.redraw) return answerRedraw(exchange)
    if (exchange.operation?.kind === 'exchange') return answerPortCall(exchange, exchange.operation)
    if (exchange.operation?.kind === 'getAnswer') return answerKeptCall(exchange, exchange.operation)
    if (exchange.operation && isPaged(exchange.operation)) return performInTurns(exchange, answerInSteps(exchange))
    // Only a job can be waited for; any other outcome is final.
    return chain(performOperation(exchange), outcome =>
      outcome.kind === 'job'
        ? waitForJob(exchange, outcome).then(settled => replyWith(exchange, settled))
        : replyWith(exchange, outcome),
    )
  })

/**
 * A page may be long work, from reading it to its last octet. No step may end with a promise that
 * is not awaited: if a refusal rejected it in the meantime, the process would end.
 */
function* answerInSteps(exchange: Exchange): WorkSteps<Maybe<Response>> {
  const outcome = performOperation(exchange)
  if (outcome instanceof Promise)
    return outcome.then(settled => performInTurns(exchange, replyInSteps(exchange, settled)))
  yield
  return yield* replyInSteps(exchange, outcome)
}

function answerPage(exchange: Exchange, page: FacePage): Maybe<Response> {
  exchange.row = 30
  switch (page) {
    case 'entry':
      return entryPage(exchange)
    case 'problem':
      return problemPage(exchange)
    case 'decisions':
      return decisionsPage(exchange)
  }
}

function reportIncident({ face, entry }: Exchange, thrown: unknown): AnyRestRefusal {
  face.context.report(entry.id, thrown, entry.notes)
  return { kind: 'failed', incident: entry.id }
}
