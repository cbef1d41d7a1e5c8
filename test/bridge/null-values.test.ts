/** null in the JSON of a REST service (OpenAPI 3.0 `nullable`, 3.1 type `null`): of items, choices and lists. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createOpenApiClient, readOpenApi } from '../../src/bridge/openapi-client.ts'

const text = { type: 'string' }
const of = (name: string) => ({
  type: 'object',
  properties: { [name]: text },
  required: [name],
  additionalProperties: false,
})
const list = (items: object) => ({ type: 'array', items })
const content = {
  type: 'object',
  properties: {
    names: list({ type: ['string', 'null'] }),
    older: list({ ...text, nullable: true }),
    boxes: list({ anyOf: [of('width'), { type: 'null' }] }),
    rows: list({ type: ['array', 'null'], items: { type: 'integer', format: 'int32' } }),
    pet: { oneOf: [of('cat'), of('dog'), { type: 'null' }] },
    pets: list({ oneOf: [of('cat'), of('dog'), { type: 'null' }] }),
    tags: { ...list(text), nullable: true },
    plain: list(text),
  },
} // biome-ignore format: a table
const both = { content: { 'application/json': { schema: content } } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Nulls', version: '1' },
  paths: { '/echo': { post: { operationId: 'echo', requestBody: both, responses: { 200: { description: 'ok', ...both } } } } },
} // biome-ignore format: a table

let sent: unknown
let answer = ''
const server = http.createServer((request, response) => {
  let received = ''
  request.on('data', each => (received += each))
  request.on('end', () => {
    sent = JSON.parse(received || 'null')
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  })
})
const folder = mkdtempSync(join(tmpdir(), 'diglot-nulls-'))
const file = join(folder, 'nulls.json')
before(async () => {
  writeFileSync(file, JSON.stringify(document))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
after(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** JSON of the service, and the member of the message that it is. */
const cases: readonly (readonly [json: object, member: unknown])[] = [
  [{ names: ['a', null] }, ['a', null]],
  [{ older: [null] }, [null]],
  [{ boxes: [{ width: 'w' }, null] }, [{ width: 'w' }, null]],
  [{ rows: [[1], null, []] }, [{ item: [1] }, null, { item: [] }]],
  [{ pet: null }, null],
  [{ pet: { dog: 'd' } }, { oneOf: { object2: { dog: 'd' } } }],
  [{ pets: [null, { cat: 'c' }] }, [null, { oneOf: { object: { cat: 'c' } } }]],
]
for (const [json, member] of cases)
  test(`OpenAPI 3.1 §4.8.24 ${JSON.stringify(json)} is read and written`, async () => {
    answer = JSON.stringify(json)
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = createOpenApiClient(await readOpenApi(file), { address }) as Record<string, (input: object) => Promise<object>>
    const output = (await client['Echo']?.({})) as Record<string, unknown>
    const [key = ''] = Object.keys(json)
    assert.deepEqual(output[key], member)
    await client['Echo']?.({ [key]: member })
    assert.deepEqual(sent, json)
  }) // biome-ignore format: long lines

test('null instead of a list is a list without items, whether or not the description allows it', async () => {
  answer = JSON.stringify({ tags: null, plain: null })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createOpenApiClient(await readOpenApi(file), { address }) as Record<string, (input: object) => Promise<object>>
  const output = (await client['Echo']?.({})) as Record<string, unknown>
  assert.deepEqual([output['tags'], output['plain']], [[], []])
}) // biome-ignore format: long lines
