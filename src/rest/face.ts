/**
 * START HERE. A request in, a response out: plan, call, reply. The plan asks what can be asked of the message alone, the
 * service asks the rest inside its transaction, and the reply puts the outcome in words. Each "no" on the way is thrown once
 * and caught here once; anything else that is thrown is a bug of ours, and its answer says nothing but the incident.
 */

import { chain, type Maybe, settle } from '../base/maybe.ts'
import type { Request, Response } from '../http/message.ts'
import type { FaceContext } from '../service/face-context.ts'
import { Refused } from '../service/refusal.ts'
import { Unavailable } from '../service/store.ts'
import { addCommonFields } from './common-fields.ts'
import { decisionsPage, entryPage, htmlResponse, problemPage } from './entry-pages.ts'
import { errorResponse } from './error-response.ts'
import { compileFace, Exchange, type RestOptions } from './exchange.ts'
import { performOperation } from './perform.ts'
import { decide, decideAgain } from './plan.ts'
import { waitForJob } from './prefer-wait.ts'
import type { AnyRestRefusal } from './refusal.ts'
import { replyWith } from './reply.ts'

export function createRestFace(serving: FaceContext, options: RestOptions = {}): (request: Request) => Maybe<Response> {
  const site = compileFace(serving, options)
  return request => {
    const known = site.heads.find(request)
    const exchange = new Exchange(site, request, known)
    return settle(
      () => chain(answered(exchange, known !== undefined), answer => addCommonFields(exchange, answer)),
      thrown => said(exchange, refusalOf(exchange, thrown)),
    )
  }
}

/** A refusal that cannot be put in words, such as a fault whose detail is not as it was declared, is a bug too. */
function said(exchange: Exchange, refusal: AnyRestRefusal): Response {
  try {
    return addCommonFields(exchange, errorResponse(exchange, refusal), refusal)
  } catch (thrown) {
    const failed = incident(exchange, thrown)
    return addCommonFields(exchange, errorResponse(exchange, failed), failed)
  }
}

function refusalOf(exchange: Exchange, thrown: unknown): AnyRestRefusal {
  if (thrown instanceof Refused) return thrown.refusal as AnyRestRefusal // thrown by `no` and by the service alone
  if (thrown instanceof Unavailable) return { kind: 'unavailable', after: thrown.after }
  return incident(exchange, thrown)
}

function answered(exchange: Exchange, known: boolean): Maybe<Response> {
  return chain<Response | undefined, Response>(known ? decideAgain(exchange) : decide(exchange), early => {
    if (early) return early
    if (!known) exchange.site.heads.keep(exchange.request, exchange.said)
    return page(exchange) ?? performed(exchange)
  })
}

/** A job that is waited for takes its time; nothing else does once it is done. */
const performed = (exchange: Exchange): Maybe<Response> =>
  chain(performOperation(exchange), outcome =>
    outcome.kind === 'job'
      ? waitForJob(exchange, outcome).then(seen => replyWith(exchange, seen))
      : replyWith(exchange, outcome),
  )

function page(exchange: Exchange): Maybe<Response> | undefined {
  if (!exchange.page) return undefined
  exchange.row = 30
  switch (exchange.page) {
    case 'entry':
      return entryPage(exchange)
    case 'problem':
      return problemPage(exchange)
    case 'decisions':
      return htmlResponse(decisionsPage())
  }
}

function incident({ serving, id }: Exchange, thrown: unknown): AnyRestRefusal {
  serving.report(id, thrown)
  return { kind: 'failed', incident: id }
}
