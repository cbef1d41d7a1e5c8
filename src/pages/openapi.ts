/** `/openapi.json`: the description of the HTTP face. */
import type { Implementation } from '../contract/implement.ts'
import type { OpenApiVersion } from '../describe/openapi/openapi-releases.ts'
import type { Coding } from '../front/compression.ts'
import type { Mount } from '../front/entry.ts'
import { createPages } from '../front/page.ts'
import { replyWithText, type StaticText } from '../front/static-text.ts'
import { respond } from '../http/respond.ts'
import { compileOffers, vendorType } from '../rest/media-types.ts'
import { compileRoutes } from '../rest/route.ts'
import { operationNameOf } from '../service/calls.ts'
import type { FaceContext } from '../service/face-context.ts'

/**
 * The OpenAPI description, as JSON, with all addresses and media types; `address`: the public URL.
 */
export async function describeService(
  { contract, handlers, faultsBehind }: Implementation,
  address?: string,
  release: OpenApiVersion = '3.1',
): Promise<string> {
  const { writeOpenApi } = await import('../describe/openapi/openapi.ts')
  return writeOpenApi(contract, {
    ...(address !== undefined && { address }),
    ...(faultsBehind && { faultsBehind }),
    release,
    addresses: view => compileRoutes(view).all,
    answers: (operation, version) =>
      compileOffers(operation, vendorType(contract.service, version), handlers[operationNameOf(operation)]).types,
  })
}

export function createOpenApiPage(context: FaceContext, codings: Readonly<Record<string, Coding>>): Mount {
  const documents = new Map<OpenApiVersion, Promise<StaticText>>()
  const describe = async (release: OpenApiVersion): Promise<StaticText> => ({
    mediaType: `application/vnd.oai.openapi+json;version=${release}`,
    content: await describeService(context.app, context.settings.publicUrl ?? context.settings.prefix, release),
  })
  const find = (release: OpenApiVersion): Promise<StaticText> => {
    const text = documents.get(release) ?? describe(release)
    documents.set(release, text)
    return text
  }
  return createPages(context, {
    '/openapi.json': {
      GET: async entry => {
        const version = entry.pairs.find(([name]) => name === 'openapi')?.[1] ?? '3.1'
        if (version !== '3.1' && version !== '3.2')
          return respond(400, { detail: `openapi=${version} is not supported: use 3.1 or 3.2` })
        return replyWithText(entry, await find(version), codings)
      },
    },
  })
}
