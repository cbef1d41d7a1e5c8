/** Rows 11, 15 and 16, which depend on the moment and so are asked for each request. */
import { chain, type Maybe } from '../base/maybe.ts'
import { newestVersion } from '../contract/service.ts'
import { authenticate } from '../front/authenticate.ts'
import { isCrossOrigin } from '../front/cross-origin.ts'
import { isVersionSegment } from './api-version.ts'
import { callsOf, type Exchange } from './exchange.ts'
import { refuseRequest } from './refusal.ts'

export function requireServed(exchange: Exchange): void {
  if (exchange.entry.segments[0] !== 'api') return
  if (!exchange.route && !exchange.page) refuseRequest({ kind: 'not-found' })
  if (exchange.entry.now >= exchange.edition.endsAt)
    refuseRequest({ kind: 'retired', successor: successorPath(exchange) })
}

/** The request's address in the newest version. */
export const successorPath = ({ face, entry: { segments } }: Exchange): string =>
  `${face.api.prefix}/api/${newestVersion(face.context.app.contract)}${segments
    .slice(isVersionSegment(segments[1]) ? 2 : 1)
    .map(segment => `/${encodeURIComponent(segment)}`)
    .join('')}`

export function identifyCaller(exchange: Exchange): Maybe<void> {
  const { entry, face, operation } = exchange
  entry.notes.operation = operation?.name
  return chain(authenticate(entry.request, face.context, face.api.service), caller => {
    exchange.caller = caller
    entry.notes.subject = caller.subject
  })
}

/** Rows 15 to 17 for an operation: the service alone decides which callers may. */
export function admitCaller(exchange: Exchange): Maybe<void> {
  if (!exchange.operation) return
  const { settings } = exchange.face.context
  if (!exchange.operation.safe && isCrossOrigin(exchange.entry, settings)) refuseRequest({ kind: 'forbidden' })
  const admitted = callsOf(exchange).admit(exchange.operation, exchange.caller, exchange.entry.request.from, 'rest')
  if (admitted instanceof Promise) return admitted.then(proof => void (exchange.admitted = proof))
  exchange.admitted = admitted
}
