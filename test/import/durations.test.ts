/** `format: duration` of a document of others: RFC 3339 Appendix A has weeks, `xs:duration` has none. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { createDocumentFinder } from '../../src/import/document-files.ts'
import { readImportedService } from '../../src/import/openapi/imported-service.ts'
import { writeServiceTypescript } from '../../src/import/openapi/write-service.ts'
import { createMock } from '../../src/mock/create-mock.ts'
import { startTestService } from '../../src/testing/index.ts'

const parse = await loadAnyParser()
const importText = (text: string) => readImportedService(text, 'test.json', { find: createDocumentFinder([]), parse })

const schema = {
  type: 'object',
  required: ['lasts'],
  properties: { id: { type: 'string', readOnly: true }, lasts: { type: 'string', format: 'duration' } },
}
const content = { 'application/json': { schema } }
const answer = { description: 'It.', content }
const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Leases', version: '1' },
  paths: {
    '/api/v1/leases': { post: { requestBody: { content }, responses: { 201: answer } } },
    '/api/v1/leases/{id}': { get: { responses: { 200: answer } } },
    '/api/v1/estimate': { post: { operationId: 'estimate', requestBody: { content }, responses: { 200: answer } } },
  },
})

/** [duration, whether it is one] */
const durations: readonly (readonly [string, boolean])[] = [
  ['P3W', true],
  ['P1Y2M3DT4H5M6S', true],
  ['PT36H', true],
  ['P0D', true],
  ['-P1D', true], // of XML Schema alone, as the next two
  ['PT0.5S', true],
  ['P1Y2D', true],
  ['P3W1D', false],
  ['-P3W', false],
  ['P', false],
  ['P1DT', false],
  ['p3w', false],
  ['3 weeks', false],
]

describe('RFC 3339 Appendix A: a duration of an OpenAPI document may be in weeks', async () => {
  const { service } = importText(document)
  const served = await startTestService(service, createMock(service))
  after(() => served[Symbol.asyncDispose]())
  const roles = [...new Set(service.resources.flatMap(({ given }) => Object.values(given.allow).flat()))]
  const caller = { subject: 'ann', roles: roles.flatMap(each => each?.role ?? []) }
  const post = async (path: string, lasts: string) =>
    await served.fetchAs(caller)(`${served.address}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ lasts }),
    })
  for (const [lasts, isDuration] of durations)
    test(`${lasts}: ${isDuration ? 'a resource keeps the text as it came' : '422'}, and so does an exchange`, async () => {
      const made = await post('leases', lasts)
      const text = await made.text()
      assert.equal(made.status, isDuration ? 201 : 422, text)
      if (isDuration) assert.equal(JSON.parse(text).lasts, lasts)
      assert.equal((await post('Operations/Estimate', lasts)).status, isDuration ? 200 : 422)
    })
  test('the description of a duration is imported as the same type', async () => {
    const text = await (await served.fetchAs()(`${served.address}/openapi.json`)).text()
    const declared = (code: string) => /^ +lasts: .*/m.exec(code)?.[0]
    const before = declared(writeServiceTypescript(importText(document), 'test'))
    assert.match(before ?? '', /t\.string\(\{ pattern: '.*W\)'/)
    assert.equal(declared(writeServiceTypescript(importText(text), 'test')), before)
  })
})
