/**
 * START HERE. An entry in, a response out: plan, call, reply. The plan asks what can be asked of
 * the message alone, the service asks the rest inside its transaction, and the reply puts the
 * outcome in words. Each "no" on the way is thrown once and caught here once; anything else that is
 * thrown is a bug of ours, and its answer says nothing but the incident.
 */
import { chain, type Maybe, settle } from '../base/maybe.ts'
import type { Entry, Mount } from '../front/entry.ts'
import { createFront, type FrontOptions } from '../front/front.ts'
import type { FrontRefusal } from '../front/refusal.ts'
import type { Request, Response } from '../http/message.ts'
import type { FaceContext } from '../service/face-context.ts'
import { Refused } from '../service/refusal.ts'
import { Unavailable } from '../service/store.ts'
import { addRestFields } from './common-fields.ts'
import { type CompiledFace, compileFace, type RestOptions } from './compiled-face.ts'
import { decisionsPage, entryPage, htmlResponse, problemPage } from './entry-pages.ts'
import { errorResponse } from './error-response.ts'
import { Exchange } from './exchange.ts'
import { performOperation } from './perform.ts'
import { decide } from './plan.ts'
import { waitForJob } from './prefer-wait.ts'
import type { AnyRestRefusal } from './refusal.ts'
import { replyWith } from './reply.ts'

/** REST as a mount of the front door. It answers for paths that no mount has, too. */
export function createRestMount(context: FaceContext, options: RestOptions = {}): Mount {
  const face = compileFace(context, options)
  return {
    name: 'rest',
    segments: ['', 'api', 'problems', 'decisions'],
    serve: entry => serve(face, entry),
    refuse: (entry, refusal) => refuse(new Exchange(face, entry), refusal),
  }
}

/** The same on its own, behind a front door of one mount. */
export function createRestFace(
  context: FaceContext,
  options: RestOptions & Pick<FrontOptions, 'gate'> = {},
): (request: Request) => Maybe<Response> {
  return createFront(context, [createRestMount(context, options)], options)
}

function serve(face: CompiledFace, entry: Entry): Maybe<Response> {
  const exchange = new Exchange(face, entry)
  return settle(
    () => chain(answer(exchange), response => addRestFields(exchange, response)),
    thrown => refuse(exchange, refusalOf(exchange, thrown)),
  )
}

/**
 * A refusal that cannot be put in words, such as a fault whose detail is not as it was declared, is
 * a bug too.
 */
function refuse(exchange: Exchange, refusal: AnyRestRefusal | FrontRefusal): Response {
  try {
    return addRestFields(exchange, errorResponse(exchange, refusal), refusal)
  } catch (thrown) {
    const failed = reportIncident(exchange, thrown)
    return addRestFields(exchange, errorResponse(exchange, failed), failed)
  }
}

function refusalOf(exchange: Exchange, thrown: unknown): AnyRestRefusal {
  if (thrown instanceof Refused) return thrown.refusal as AnyRestRefusal // thrown by `refuseRequest` and by the service alone
  if (thrown instanceof Unavailable) return { kind: 'unavailable', after: thrown.after }
  return reportIncident(exchange, thrown)
}

const answer = (exchange: Exchange): Maybe<Response> =>
  chain<Response | undefined, Response>(
    decide(exchange),
    early => early ?? answerPage(exchange) ?? answerOperation(exchange),
  )

/** A job that is waited for takes its time; nothing else does once it is done. */
const answerOperation = (exchange: Exchange): Maybe<Response> =>
  chain(performOperation(exchange), outcome =>
    outcome.kind === 'job'
      ? waitForJob(exchange, outcome).then(seen => replyWith(exchange, seen))
      : replyWith(exchange, outcome),
  )

function answerPage(exchange: Exchange): Maybe<Response> | undefined {
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

function reportIncident({ face, entry }: Exchange, thrown: unknown): AnyRestRefusal {
  face.context.report(entry.id, thrown)
  return { kind: 'failed', incident: entry.id }
}
