/**
 * START HERE. A request in, a response out: plan, call, reply. The plan asks what can be asked of the message alone, the
 * service asks the rest inside its transaction, and the reply puts the outcome in words. Each "no" on the way is thrown once
 * and caught here once; anything else that is thrown is a bug of ours, and its answer says nothing but the incident.
 */

import { type Maybe, settled, then } from '../base/maybe.ts'
import type { Request, Response } from '../http/message.ts'
import type { Serving } from '../service/face-context.ts'
import { Refused } from '../service/refusal.ts'
import { Unavailable } from '../service/store.ts'
import { finished } from './common-fields.ts'
import { decisionsPage, entryReply, htmlPage, problemReply } from './entry-pages.ts'
import { refused } from './error-response.ts'
import { Exchange, type Options, siteOf } from './exchange.ts'
import { perform } from './perform.ts'
import { plan, planAgain } from './plan.ts'
import { waited } from './prefer-wait.ts'
import type { AnyRefusal } from './refusal.ts'
import { reply } from './reply.ts'

export function restFace(serving: Serving, options: Options = {}): (request: Request) => Maybe<Response> {
  const site = siteOf(serving, options)
  return request => {
    const known = site.heads.find(request)
    const exchange = new Exchange(site, request, known)
    return settled(
      () => then(answered(exchange, known !== undefined), answer => finished(exchange, answer)),
      thrown => said(exchange, refusalOf(exchange, thrown)),
    )
  }
}

/** A refusal that cannot be put in words, such as a fault whose detail is not as it was declared, is a bug too. */
function said(exchange: Exchange, refusal: AnyRefusal): Response {
  try {
    return finished(exchange, refused(exchange, refusal), refusal)
  } catch (thrown) {
    const failed = incident(exchange, thrown)
    return finished(exchange, refused(exchange, failed), failed)
  }
}

function refusalOf(exchange: Exchange, thrown: unknown): AnyRefusal {
  if (thrown instanceof Refused) return thrown.refusal as AnyRefusal // thrown by `no` and by the service alone
  if (thrown instanceof Unavailable) return { kind: 'unavailable', after: thrown.after }
  return incident(exchange, thrown)
}

function answered(exchange: Exchange, known: boolean): Maybe<Response> {
  return then<Response | undefined, Response>(known ? planAgain(exchange) : plan(exchange), early => {
    if (early) return early
    if (!known) exchange.site.heads.keep(exchange.request, exchange.said)
    return page(exchange) ?? performed(exchange)
  })
}

/** A job that is waited for takes its time; nothing else does once it is done. */
const performed = (exchange: Exchange): Maybe<Response> =>
  then(perform(exchange), outcome =>
    outcome.kind === 'job' ? waited(exchange, outcome).then(seen => reply(exchange, seen)) : reply(exchange, outcome),
  )

function page(exchange: Exchange): Maybe<Response> | undefined {
  if (!exchange.page) return undefined
  exchange.row = 30
  switch (exchange.page) {
    case 'entry':
      return entryReply(exchange)
    case 'problem':
      return problemReply(exchange)
    case 'decisions':
      return htmlPage(decisionsPage())
  }
}

function incident({ serving, id }: Exchange, thrown: unknown): AnyRefusal {
  serving.report(id, thrown)
  return { kind: 'failed', incident: id }
}
