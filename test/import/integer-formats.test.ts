/** Formats of whole numbers: kept from a document of others to what is served of it by both faces. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { fieldsOfType } from '../../src/bridge/xml-fields.ts'
import { implement } from '../../src/contract/implement.ts'
import { type AnyXmlType, x } from '../../src/contract/xml-type.ts'
import { writeJson } from '../../src/http/json.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { createDocumentFinder } from '../../src/import/document-files.ts'
import { readImportedService } from '../../src/import/openapi/imported-service.ts'
import { writeServiceTypescript } from '../../src/import/openapi/write-service.ts'
import { startTestService } from '../../src/testing/index.ts'

const parse = await loadAnyParser()
const importText = (text: string) => readImportedService(text, 'test.json', { find: createDocumentFinder([]), parse })

/** [format, its type of XML Schema, the least, the most] */
const formats: readonly (readonly [string, string, bigint, bigint])[] = [
  ['int8', 'byte', -128n, 127n],
  ['int16', 'short', -32768n, 32767n],
  ['int32', 'int', -(2n ** 31n), 2n ** 31n - 1n],
  ['int64', 'long', -(2n ** 63n), 2n ** 63n - 1n],
  ['uint8', 'unsignedByte', 0n, 255n],
  ['uint16', 'unsignedShort', 0n, 65535n],
  ['uint32', 'unsignedInt', 0n, 2n ** 32n - 1n],
  ['uint64', 'unsignedLong', 0n, 2n ** 64n - 1n],
]
const thing = {
  type: 'object',
  required: formats.map(([format]) => format),
  properties: {
    id: { type: 'string', readOnly: true },
    ...Object.fromEntries(formats.map(([format]) => [format, { type: 'integer', format }])),
  },
}
const content = { 'application/json': { schema: thing } }
const answer = { description: 'It.', content }
const document = writeJson({
  openapi: '3.1.0',
  info: { title: 'Formats', version: '1' },
  paths: {
    '/api/v1/things': { post: { requestBody: { content }, responses: { 201: answer } } },
    '/api/v1/things/{id}': { get: { responses: { 200: answer } } },
  },
})

describe('OpenAPI format registry: a resource keeps the formats of its members', async () => {
  const { service } = importText(document)
  const served = await startTestService(service, implement(service, {} as never))
  after(() => served[Symbol.asyncDispose]())
  const roles = [...new Set(service.resources.flatMap(({ given }) => Object.values(given.allow).flat()))]
  const caller = { subject: 'ann', roles: roles.flatMap(each => each?.role ?? []) }
  const ask = served.fetchAs(caller)
  const create = async (values: object) =>
    await ask(`${served.address}/api/v1/things`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: writeJson({ ...values } as never),
    })
  const least = Object.fromEntries(formats.map(([format, , value]) => [format, value]))
  const most = Object.fromEntries(formats.map(([format, , , value]) => [format, value]))
  /** Numbers of up to 32 bits are `number`, others `bigint`. */
  const forClients = (values: Readonly<Record<string, bigint>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, each]) => [name, /64|uint32/.test(name) ? each : Number(each)]),
    )
  const api = served.soap(caller) as unknown as {
    readonly things: Record<'create' | 'get', (given: unknown) => Promise<Record<string, unknown>>>
  }

  test('both faces accept the least and the greatest value of each format, and the store keeps them', async () => {
    for (const values of [least, most]) {
      const made = await create(values)
      const text = await made.text()
      assert.equal(made.status, 201, text)
      for (const [name, value] of Object.entries(values)) assert.match(text, new RegExp(`"${name}":\\s*${value}\\b`))
      const { id: _, version: __, ...read } = await api.things.get(JSON.parse(text).id)
      assert.deepEqual(read, forClients(values))
    }
  })
  for (const [format, xsd, lowest, highest] of formats) {
    test(`${format}: both faces refuse the value below and the value above`, async () => {
      for (const beyond of [lowest - 1n, highest + 1n]) {
        assert.equal((await create({ ...least, [format]: beyond })).status, 422, String(beyond))
        await assert.rejects(api.things.create({ ...forClients(least), ...forClients({ [format]: beyond }) }))
      }
    })
    test(`${format}: OpenAPI has it, the WSDL has ${xsd}, and a second import writes the same TypeScript`, async () => {
      const text = await (await served.fetchAs()(`${served.address}/openapi.json`)).text()
      assert.match(text, new RegExp(`"${format}":\\s*\\{\\s*"type":\\s*"integer",\\s*"format":\\s*"${format}"`))
      const wsdl = await (await served.fetchAs()(`${served.address}/soap/v1?wsdl`)).text()
      assert.match(wsdl, new RegExp(`name="${format}" type="xsd?:${xsd}"`))
      const declared = (code: string) => new RegExp(`^ +${format}: .*`, 'm').exec(code)?.[0]
      const before = declared(writeServiceTypescript(importText(document), 'test'))
      assert.ok(before)
      assert.equal(declared(writeServiceTypescript(importText(text), 'test')), before)
    })
  }
})

const form = { uri: '', elements: 'qualified', attributes: 'unqualified' } as const
/** [what, the type, the shape of its field] */
const types: readonly (readonly [string, AnyXmlType, object])[] = [
  ['short', x.short, { kind: 'int', xsd: 'short' }],
  ['unsignedByte', x.unsignedByte, { kind: 'int', xsd: 'unsignedByte' }],
  ['unsignedInt', x.unsignedInt, { kind: 'long', xsd: 'unsignedInt' }],
  ['bounds', x.simple(x.int, { minInclusive: '-5', maxInclusive: '+010' }), { kind: 'int', xsd: 'int', min: -5, max: 10 }],
  ['bounds that are excluded', x.simple(x.integer, { minExclusive: '0', maxExclusive: '10' }), { kind: 'long', xsd: 'integer', min: 1n, max: 9n }],
  ['a bound of a type that narrows another', x.simple(x.simple(x.long, { minInclusive: '1', maxInclusive: '9' }), { maxInclusive: '5' }), { kind: 'long', xsd: 'long', min: 1n, max: 5n }],
  ['digits', x.simple(x.int, { totalDigits: 3 }), { kind: 'int', xsd: 'int' }],
] // biome-ignore format: a table
for (const [what, type, shape] of types)
  test(`XML Schema Part 2 §4.3 a resource keeps these bounds of an integer: ${what}`, () =>
    assert.deepEqual(fieldsOfType(x.object({ a: x.element(type) }), form)?.['a']?.shape, shape))
