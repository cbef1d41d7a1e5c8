/** `/openapi.json`: the description of the HTTP face, at the address that was asked or the configured one. */
import { openapi } from '../describe/openapi.ts'
import type { Request, Response } from '../http/message.ts'
import { offersFor, vendorType } from '../rest/media.ts'
import { routesOf } from '../rest/route.ts'
import { nameOf } from '../service/calls.ts'
import type { Serving } from '../service/serving.ts'

const notAllowed: Response = { status: 405, fields: { allow: 'GET, HEAD, OPTIONS', 'cache-control': 'no-store' } }
const options: Response = { status: 204, fields: { allow: 'GET, HEAD, OPTIONS', 'cache-control': 'no-store' } }

export function documents({ app, settings }: Serving): (request: Request) => Response | undefined {
  const { contract } = app
  let text: string | undefined
  const write = (): string =>
    openapi(contract, {
      ...(settings.publicUrl !== undefined && { address: settings.publicUrl }),
      addresses: seen => routesOf(seen).all,
      answers: (operation, version) =>
        offersFor(operation, vendorType(contract.service, version), app.handlers[nameOf(operation)]).types,
    })
  return request => {
    if (request.target.split('?', 1)[0] !== '/openapi.json') return undefined
    if (request.method === 'OPTIONS') return options
    if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed
    text ??= write()
    const fields = {
      'content-type': 'application/vnd.oai.openapi+json;version=3.1',
      'cache-control': 'public, max-age=60',
    }
    return { status: 200, fields, content: text }
  }
}
