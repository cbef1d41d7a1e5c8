/** `/openapi.json`: the description of the HTTP face. */
import type { Implementation } from '../contract/implement.ts'
import type { Coding } from '../front/compression.ts'
import type { Mount } from '../front/entry.ts'
import { createPages } from '../front/page.ts'
import { replyWithText, type StaticText } from '../front/static-text.ts'
import { compileOffers, vendorType } from '../rest/media-types.ts'
import { compileRoutes } from '../rest/route.ts'
import { operationNameOf } from '../service/calls.ts'
import type { FaceContext } from '../service/face-context.ts'

/**
 * The OpenAPI description, as JSON, with all addresses and media types; `address`: the public URL.
 */
export async function describeService({ contract, handlers }: Implementation, address?: string): Promise<string> {
  const { writeOpenApi } = await import('../describe/openapi.ts')
  return writeOpenApi(contract, {
    ...(address !== undefined && { address }),
    addresses: view => compileRoutes(view).all,
    answers: (operation, version) =>
      compileOffers(operation, vendorType(contract.service, version), handlers[operationNameOf(operation)]).types,
  })
}

const mediaType = 'application/vnd.oai.openapi+json;version=3.1'

export function createOpenApiPage(context: FaceContext, codings: Readonly<Record<string, Coding>>): Mount {
  let text: Promise<StaticText> | undefined
  const write = async (): Promise<StaticText> => ({
    mediaType,
    content: await describeService(context.app, context.settings.publicUrl ?? context.settings.prefix),
  })
  return createPages(context, {
    '/openapi.json': {
      GET: async entry => replyWithText(entry, await (text ??= write()), codings),
    },
  })
}
