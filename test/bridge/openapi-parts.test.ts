/** Cookies, parts of a form and integers of any size, as a service of others gets them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createOpenApiClient, InputError, readOpenApi } from '../../src/bridge/openapi-client.ts'

const text = { type: 'string' }
const octets = { type: 'string', format: 'binary' }
const cookie = (name: string, schema: object) => ({ in: 'cookie', name, schema })
const demanding = (operationId: string, mediaType: string, schema: object, required = true) => ({
  post: { operationId, requestBody: { required, content: { [mediaType]: { schema } } }, responses: { 204: {} } },
})
const part = { type: 'object', properties: { title: text, tags: { type: 'array', items: text }, place: { type: 'object', properties: { city: text } }, image: octets, pages: { type: 'array', items: octets }, count: { type: 'integer' } } } // biome-ignore format: one line
const document = {
  openapi: '3.1.0',
  info: { title: 'Parts', version: '1' },
  paths: {
    '/cookies': { get: { operationId: 'eat', parameters: [cookie('session', text), cookie('sizes', { type: 'array', items: { type: 'integer' } })], responses: { 204: {} } } },
    '/wrong': { get: { operationId: 'choke', parameters: [cookie('a b', text)], responses: { 204: {} } } },
    '/forms': { post: { operationId: 'send', requestBody: { content: { 'multipart/form-data': { schema: part } } }, responses: { 204: {} } } },
    '/numbers': { post: { operationId: 'count', requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { any: { type: 'integer' }, long: { type: 'integer', format: 'int64' }, int: { type: 'integer', format: 'int32' }, byte: { type: 'integer', format: 'uint8' } } } } } }, responses: { 204: {} } } },
    '/note': demanding('note', 'text/plain', text),
    '/file': demanding('file', 'application/octet-stream', octets),
    '/word': demanding('word', 'application/json', text),
    '/either': demanding('either', 'application/json', { oneOf: [text, { type: 'integer' }] }),
    '/list': demanding('list', 'application/json', { type: 'array', items: text }),
    '/some': demanding('some', 'application/json', { type: 'array', items: text, minItems: 1 }),
    '/maybe': demanding('maybe', 'application/json', { type: 'array', items: text, minItems: 1 }, false),
  },
} // biome-ignore format: a table

interface SeenRequest {
  readonly fields: http.IncomingHttpHeaders
  readonly content: Buffer
}
const seen: SeenRequest[] = []
const server = http.createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', each => pieces.push(each))
  request.on('end', () => {
    seen.push({ fields: request.headers, content: Buffer.concat(pieces) })
    response.writeHead(204).end()
  })
})
const folder = mkdtempSync(join(tmpdir(), 'diglot-parts-'))
const file = join(folder, 'parts.json')
before(async () => {
  writeFileSync(file, JSON.stringify(document))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
after(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})
async function callParts(operation: string, input: object, options: object = {}): Promise<SeenRequest> {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createOpenApiClient(await readOpenApi(file), { address, ...options }) as Record<string, (input: object) => Promise<unknown>> // biome-ignore format: one line
  await client[operation]?.(input)
  return seen.at(-1) ?? assert.fail('nothing has arrived')
}

const cookies: readonly (readonly [input: object, fields: Record<string, string>, sent: string | undefined])[] = [
  [{ session: 'a1', sizes: [] }, {}, 'session=a1'],
  [{ session: 'a;b ü', sizes: [1n, 2n] }, {}, 'session=a%3Bb%20%C3%BC; sizes=1,2'],
  [{ session: 'a1', sizes: [] }, { Cookie: 'theme=dark' }, 'theme=dark; session=a1'],
  [{ sizes: [] }, {}, undefined],
] // biome-ignore format: a table
for (const [input, fields, sent] of cookies)
  test(`OpenAPI §4.8.12 the cookies ${sent ?? '(none)'}`, async () => {
    assert.equal((await callParts('Eat', input, { fields })).fields.cookie, sent)
  })
test('RFC 6265 §4.1.1 a name that no cookie can have is not sent', async () => {
  await assert.rejects(callParts('Choke', { a_b: 'x' }), InputError)
})

/** What is sent of a message without content; undefined: it is refused. */
const empty: readonly (readonly [operation: string, sent: string | undefined])[] = [
  ['Note', undefined],
  ['File', undefined],
  ['Word', undefined],
  ['Either', undefined],
  ['List', '[]'],
  ['Some', undefined],
  ['Maybe', ''],
]
for (const [operation, sent] of empty)
  test(`OpenAPI §4.8.13 ${operation} without content is ${sent === undefined ? 'refused' : `sent as "${sent}"`}`, async () => {
    if (sent === undefined) await assert.rejects(callParts(operation, {}), InputError)
    else assert.equal((await callParts(operation, {})).content.toString(), sent)
  })

test('OpenAPI §4.8.14.5 the parts of a form: texts, octets, several of a name, JSON', async () => {
  const image = Uint8Array.of(0, 255, 13, 10)
  const input = { title: 'tea & "cake"', tags: ['a', 'b'], place: { city: 'Köln' }, image, pages: [image, Uint8Array.of(1)], count: 7n }
  const { fields, content } = await callParts('Send', input)
  const form = await new Response(content as Uint8Array<ArrayBuffer>, { headers: { 'content-type': fields['content-type'] ?? '' } }).formData()
  const octetsOf = async (each: unknown) => [...new Uint8Array(await (each as File).arrayBuffer())]
  assert.equal(form.get('title'), 'tea & "cake"')
  assert.deepEqual(form.getAll('tags'), ['a', 'b'])
  assert.equal(form.get('count'), '7')
  const place = form.get('place') as unknown as File
  assert.deepEqual([place.type, await place.text()], ['application/json', '{"city":"Köln"}'])
  assert.deepEqual(await octetsOf(form.get('image') ?? assert.fail('no image')), [0, 255, 13, 10])
  assert.deepEqual(await Promise.all(form.getAll('pages').map(octetsOf)), [[0, 255, 13, 10], [1]])
}) // biome-ignore format: long lines
test('a part that is left out is not sent', async () => {
  const { content } = await callParts('Send', { title: 'x', tags: [], pages: [] })
  assert.equal(content.toString().match(/name="/g)?.length, 1)
})

const largest = 2n ** 63n
const numbers: readonly (readonly [input: object, sent: string | undefined])[] = [
  [{ any: largest * 10n }, `{"any":${largest * 10n}}`],
  [{ any: -largest * 10n, long: largest - 1n, int: -2147483648, byte: 255 }, `{"any":${-largest * 10n},"long":${largest - 1n},"int":-2147483648,"byte":255}`],
  [{ long: largest }, undefined],
  [{ int: 2147483648 }, undefined],
  [{ byte: 256 }, undefined],
  [{ byte: -1 }, undefined],
] // biome-ignore format: a table
for (const [input, sent] of numbers)
  test(`OpenAPI format registry: ${Object.entries(input).join(' ')} is ${sent === undefined ? 'refused' : 'sent'}`, async () => {
    if (sent === undefined) await assert.rejects(callParts('Count', input), InputError)
    else assert.equal((await callParts('Count', input)).content.toString(), sent)
  })
