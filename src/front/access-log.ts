/**
 * What happens to each request before and after it is answered, whichever face it is for: it gets a name, its answer the fields that
 * guard who reads it, it is counted, and leaves a line in the log where one is wanted. What it guards:
 *  (1) A name is taken from the request only where a proxy in front is trusted, and only in characters that no log or field
 *      can mistake; else it is made up here, unguessable.
 *  (2) The name is in the answer, in the audit, in the log, and it is the incident of a 500.
 */

import type { Maybe } from '../base/maybe.ts'
import type { Request, Response } from '../http/message.ts'
import { addSecurityFields } from './security-fields.ts'

/** One request that was answered. */
export interface AccessLogEntry {
  readonly id: string
  readonly face: FaceName
  readonly method: string
  /** Path alone: a query may hold what is private. */
  readonly path: string
  readonly status: number
  /** Until the head of the answer was known, in milliseconds. */
  readonly took: number
  readonly from: string
  readonly version: Request['version']
}
export type FaceName = 'rest' | 'soap' | 'operations'

/** How much is under way: counted here, judged elsewhere. */
export interface InFlight {
  inFlight: number
}

export interface AccessLogOptions {
  readonly load: InFlight
  /** A proxy in front is trusted. */
  readonly trusted: boolean
  readonly id: () => string
  readonly answered: (face: FaceName, status: number, took: number) => void
  /** A line for each request; absent: none. */
  readonly log?: ((arrival: AccessLogEntry) => void) | undefined
}

export function withAccessLog(serve: (request: Request) => Maybe<Response>, desk: AccessLogOptions) {
  const { load } = desk
  return (came: Request): Maybe<Response> => {
    const id = nameOf(came, desk)
    const request = { ...came, id }
    const began = performance.now()
    const leave = (answer: Response): Response => {
      const response = addSecurityFields(request, answer)
      const took = performance.now() - began
      const face = faceOf(request.target)
      load.inFlight--
      desk.answered(face, response.status, took)
      desk.log?.(arrival(request, id, face, response.status, took))
      return response.fields['request-id'] === id
        ? response
        : { ...response, fields: { ...response.fields, 'request-id': id } }
    }
    const failed = (thrown: unknown): never => {
      load.inFlight--
      throw thrown
    }
    load.inFlight++
    try {
      const answer = serve(request)
      return answer instanceof Promise ? answer.then(leave, failed) : leave(answer)
    } catch (thrown) {
      return failed(thrown)
    }
  }
}

function arrival(request: Request, id: string, face: FaceName, status: number, took: number): AccessLogEntry {
  const { method, target, from, version } = request
  const path = target.split('?', 1)[0]?.slice(0, longest) ?? ''
  return { id, face, method, path, status, took: Math.round(took * 1000) / 1000, from, version }
}
/** Characters of a path in a line. */
const longest = 1000

const faceOf = (target: string): FaceName =>
  target.startsWith('/soap/')
    ? 'soap'
    : target.startsWith('/health/') || target.startsWith('/metrics')
      ? 'operations'
      : 'rest'

/** (1) W3C Trace Context §3.2: the trace's identifier is the second part. */
function nameOf({ fields }: Request, { trusted, id }: AccessLogOptions): string {
  if (!trusted) return id()
  const given = fields['x-request-id'] ?? fields['request-id']
  if (given !== undefined && /^[\w.:+=@-]{8,128}$/.test(given)) return given
  return /^00-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(fields['traceparent'] ?? '')?.[1] ?? id()
}
