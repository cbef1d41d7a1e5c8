/** Rows 11, 15 and 16: asked of this moment, and so of each request anew. */
import { chain, type Maybe } from '../base/maybe.ts'
import { newestVersion } from '../contract/service.ts'
import { authenticate } from '../front/authenticate.ts'
import { isCrossOrigin } from '../front/cross-origin.ts'
import { isVersionSegment } from './api-version.ts'
import type { Exchange } from './exchange.ts'
import { refuseRequest } from './refusal.ts'

export function requireServed(x: Exchange): void {
  if (x.entry.segments[0] !== 'api') return
  if (!x.route && !x.page) refuseRequest({ kind: 'not-found' })
  const { retired, sunset } = x.edition.rule
  if (retired || (sunset !== undefined && Date.parse(sunset) <= x.entry.now))
    refuseRequest({ kind: 'retired', successor: successorPath(x) })
}

/** The address of the same in the newest version. */
export const successorPath = ({ face, entry: { segments } }: Exchange): string =>
  `${face.api.prefix}/api/${newestVersion(face.context.app.contract)}${segments
    .slice(isVersionSegment(segments[1]) ? 2 : 1)
    .map(segment => `/${encodeURIComponent(segment)}`)
    .join('')}`

export function identifyCaller(x: Exchange): Maybe<void> {
  return chain(authenticate(x.entry.request, x.face.context, x.face.api.service), caller => void (x.caller = caller))
}

/** Rows 15 to 17 where an operation asks for them: the service alone says who may. */
export function admitCaller(x: Exchange): Maybe<void> {
  if (!x.operation) return
  const { calls, settings } = x.face.context
  if (!x.operation.safe && isCrossOrigin(x.entry, settings)) refuseRequest({ kind: 'forbidden' })
  return chain(
    calls.admit(x.operation, x.caller, x.entry.request.from, 'rest'),
    admitted => void (x.admitted = admitted),
  )
}
