/**
 * `/metrics`: figures of the service, in the Prometheus exposition format. Only for this machine,
 * or for a caller with credentials: the load of a service is its owner's business.
 */
import { chain, type Maybe } from '../base/maybe.ts'
import { authenticate, isFromThisMachine } from '../front/authenticate.ts'
import type { Entry, Mount } from '../front/entry.ts'
import { createPages } from '../front/page.ts'
import type { Response } from '../http/message.ts'
import type { FaceContext } from '../service/face-context.ts'
import { refuse } from '../service/refusal.ts'

export interface MetricsText {
  readonly mediaType: string
  readonly write: () => Promise<string>
}

export function createMetricsPage(context: FaceContext, text: MetricsText): Mount {
  const read = async (): Promise<Response> => ({
    status: 200,
    fields: { 'content-type': text.mediaType, 'cache-control': 'no-store' },
    content: await text.write(),
  })
  const page = { GET: (entry: Entry) => chain(requireReader(entry, context), read) }
  return createPages(context, { '/metrics': page }, { name: 'operations', exempt: 'load' })
}

function requireReader({ request }: Entry, context: FaceContext): Maybe<void> {
  if (isFromThisMachine(request, context.settings)) return undefined
  return chain(authenticate(request, context), caller => {
    if (caller.subject === undefined) refuse({ kind: 'unauthenticated' })
  })
}
