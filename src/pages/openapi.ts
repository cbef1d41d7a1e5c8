/** `/openapi.json`: the description of the HTTP face, at the address that was asked or the configured one. */

import type { Maybe } from '../base/maybe.ts'
import type { Implementation } from '../contract/implement.ts'
import type { Request, Response } from '../http/message.ts'
import { compileOffers, vendorType } from '../rest/media-types.ts'
import { compileRoutes } from '../rest/route.ts'
import { operationNameOf } from '../service/calls.ts'
import type { FaceContext } from '../service/face-context.ts'

const notAllowed: Response = { status: 405, fields: { allow: 'GET, HEAD, OPTIONS', 'cache-control': 'no-store' } }
const options: Response = { status: 204, fields: { allow: 'GET, HEAD, OPTIONS', 'cache-control': 'no-store' } }

/** OpenAPI of what is served, with every address and media type that it has. */
export async function describeService({ contract, handlers }: Implementation, address?: string): Promise<string> {
  const { describeOpenApi: openapi } = await import('../describe/openapi.ts')
  return openapi(contract, {
    ...(address !== undefined && { address }),
    addresses: seen => compileRoutes(seen).all,
    answers: (operation, version) =>
      compileOffers(operation, vendorType(contract.service, version), handlers[operationNameOf(operation)]).types,
  })
}

export function createOpenApiPage({ app, settings }: FaceContext): (request: Request) => Maybe<Response> | undefined {
  let text: Promise<string> | undefined
  return request => {
    if (request.target.split('?', 1)[0] !== '/openapi.json') return undefined
    if (request.method === 'OPTIONS') return options
    if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed
    text ??= describeService(app, settings.publicUrl)
    const fields = {
      'content-type': 'application/vnd.oai.openapi+json;version=3.1',
      'cache-control': 'public, max-age=60',
    }
    return text.then(content => ({ status: 200, fields, content }))
  }
}
