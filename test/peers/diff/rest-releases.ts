/**
 * All rows of the table as one document for each release, and both releases behind one server. What
 * is written is judged by our mock of the document; what is read is given as it stands.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type Json, jsonItems, objectOf, stringOf } from '../../../src/base/objects.ts'
import { contentOf } from '../../../src/http/message.ts'
import { loadAnyParser } from '../../../src/import/description-text.ts'
import { Losses } from '../../../src/import/loss.ts'
import { OpenApiDocument } from '../../../src/import/openapi/openapi-document.ts'
import { createOpenApiMock } from '../../../src/mock/openapi-mock.ts'
import { atEnd } from '../peer.ts'

/**
 * A schema for each row, which is taken and given at the path of the row, and the one operation of
 * each document.
 */
export function mergeRows(schemas: readonly Json[], documents: readonly Json[]): Json {
  const names = schemas.map((_, row) => `Thing${row}`)
  const operations = names.map((name, row) => {
    const content = { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } }
    const take = {
      operationId: `take${row}`,
      requestBody: { required: true, content },
      responses: { '204': { description: 'taken' } },
    }
    const give = { operationId: `give${row}`, responses: { '200': { description: 'given', content } } }
    return [`/${row}`, { put: take, get: give }] as const
  })
  return {
    openapi: '3.1.0',
    info: { title: 'released', version: '1' },
    paths: Object.fromEntries([...operations, ...documents.map(placeOperation)]),
    components: {
      schemas: {
        ...Object.fromEntries(names.map((name, row) => [name, schemas[row] ?? {}])),
        ...objectOf(objectOf(objectOf(documents[0])['components'])['schemas']),
      },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' }, basic: { type: 'http', scheme: 'basic' } },
    },
  }
}
/** Generators want descriptions of answers, and schemas of contents. */
function placeOperation(document: Json, row: number): readonly [path: string, item: Json] {
  const [item] = Object.values(objectOf(objectOf(document)['paths']))
  const operation = objectOf(objectOf(item)['put'])
  const content = mapMembers(objectOf(operation['requestBody'])['content'], media => ({
    schema: { type: 'string' },
    ...objectOf(media),
  }))
  const put = {
    ...operation,
    operationId: `operate${row}`,
    requestBody: { required: true, content },
    responses: mapMembers(operation['responses'], each => ({ description: 'told', ...objectOf(each) })),
  }
  return [`/operate${row}`, { put }]
}
const mapMembers = (given: Json | undefined, change: (member: Json) => Json): Json =>
  Object.fromEntries(Object.entries(objectOf(given)).map(([name, member]) => [name, change(member)]))

export interface RestReleases {
  readonly addresses: { readonly old: string; readonly new: string }
  /** By release and mark: what was taken. */
  readonly taken: ReadonlyMap<string, Json>
  /** By mark: what is to be given. */
  readonly given: Map<string, Json>
  /** By mark: the status that is to be answered with; a success by the new release alone. */
  readonly statuses: Map<string, number>
}

export async function serveReleases(old: Json, now: Json): Promise<RestReleases> {
  const parse = await loadAnyParser()
  const open = (document: Json) =>
    createOpenApiMock(
      new OpenApiDocument(JSON.stringify(document), 'api.json', {
        find: () => undefined,
        parse,
        losses: new Losses(),
      }),
    )
  const mocks: Readonly<Record<string, ReturnType<typeof open>>> = { old: open(old), new: open(now) }
  const documents: Readonly<Record<string, Json>> = { old, new: now }
  const [taken, given, statuses] = [new Map<string, Json>(), new Map<string, Json>(), new Map<string, number>()]

  async function answer(request: IncomingMessage): Promise<{ status: number; text: string; fields?: object }> {
    const [, release = '', place = ''] = (request.url ?? '').split('/')
    const mark = String(request.headers['x-mark'])
    if (request.method === 'GET') return { status: 200, text: JSON.stringify(given.get(mark)) }
    const octets = await buffer(request)
    const { status, content } = await mocks[release]!({
      ...{ scheme: 'http', version: '1.1', from: '127.0.0.1', method: 'PUT', target: `/${place}` },
      fields: Object.fromEntries(Object.entries(request.headers).map(([name, each]) => [name, String(each)])),
      content: contentOf(octets),
    })
    const text =
      content === undefined ? '' : typeof content === 'string' ? content : Buffer.from(content as Uint8Array).toString()
    if (status >= 300) return { status, text }
    const [path = '', query = ''] = place.split('?')
    const { put } = objectOf(objectOf(objectOf(documents[release])['paths'])[`/${path}`])
    if (!path.startsWith('operate')) {
      taken.set(`${release} ${mark}`, JSON.parse(octets.toString('utf8')) as Json)
      return { status, text }
    }
    taken.set(`${release} ${mark}`, readDeclared(objectOf(put), query))
    const declared = objectOf(objectOf(objectOf(objectOf(put)['responses'])['200'])['headers'])
    const wanted = statuses.get(mark) ?? status
    return {
      status: release === 'new' || wanted >= 400 ? wanted : status,
      text,
      fields: declared['ETag'] === undefined ? {} : { etag: '"1"' },
    }
  }
  const server = createServer(async (request, response) => {
    const { status, text, fields } = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json', ...fields }).end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => server.close())
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  return { addresses: { old: `${origin}/old`, new: `${origin}/new` }, taken, given, statuses }
}

/** What a service reads of a query: the parameters that its description has. */
function readDeclared(operation: Readonly<Record<string, Json>>, query: string): Json {
  const names = new Set(jsonItems(operation['parameters']).map(each => stringOf(objectOf(each)['name'])))
  return Object.fromEntries([...new URLSearchParams(query)].filter(([name]) => names.has(name)))
}
