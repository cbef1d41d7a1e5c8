/** Rule A1.6 for ports: each status of an exchange is in OpenAPI. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { startHosted } from './hosted-service.ts'

const s = x.namespace('urn:s')
const Ask = s.element('Ask', x.object({ year: x.element(x.int) }))
const Answer = s.element('Answer', x.string)
const TooOld = s.element('TooOld', x.object({ since: x.element(x.int) }))
const asked = { input: Ask, output: Answer }
const Desk = port('Desk', {
  namespace: 'urn:desk',
  allow: [anyone],
  exchanges: {
    tell: exchange({ action: 'urn:tell', ...asked, faults: { TooOld }, statuses: { TooOld: 409 } }),
    look: exchange({ action: 'urn:look', ...asked, safe: true }),
    now: exchange({ action: 'urn:now', input: 'empty', output: Answer, safe: true }),
    done: exchange({ action: 'urn:done', input: Ask }),
  },
})
const contract = service('desk', { namespace: 'urn:desk:service', resources: [], ports: [Desk] })
const tellYear = (year: number, fail: (fault: 'TooOld', detail: { since: number }) => never) =>
  year < 1900 ? fail('TooOld', { since: 1900 }) : year > 9000 ? assert.fail('a bug') : `${year}`
const app = implement(contract, {
  Desk: {
    tell: ({ year }, ctx) => tellYear(year, ctx.fail),
    look: ({ year }) => `${year}`,
    now: () => 'now',
    done: () => undefined,
  },
})
const hosted = startHosted({}, app)

const json = { 'content-type': 'application/json' }
const year = '{"year":2026}'
type Row = readonly [status: number, method: string, path: string, fields: Record<string, string>, content?: string]
const rows: readonly Row[] = [
  [200, 'POST', '/Desk/tell', json, year],
  [400, 'POST', '/Desk/tell', json, '{"year":'],
  [400, 'POST', '/Desk/tell', { ...json, 'idempotency-key': '"a"' }, year],
  [406, 'POST', '/Desk/tell', { ...json, accept: 'image/png' }, year],
  [409, 'POST', '/Desk/tell', json, '{"year":1}'],
  [412, 'POST', '/Desk/tell', { ...json, 'if-match': '"a"' }, year],
  [412, 'POST', '/Desk/tell', { ...json, 'if-none-match': '*' }, year],
  [413, 'POST', '/Desk/tell', json, `{"year":${' '.repeat(2 ** 20)}1}`],
  [415, 'POST', '/Desk/tell', { 'content-type': 'image/png' }, year],
  [422, 'POST', '/Desk/tell', json, '{"year":"soon"}'],
  [500, 'POST', '/Desk/tell', json, '{"year":9999}'],
  [204, 'POST', '/Desk/done', json, year],
  [412, 'POST', '/Desk/done', { ...json, 'if-match': '"a"' }, year],
  [200, 'QUERY', '/Desk/look', json, year],
  [304, 'QUERY', '/Desk/look', { ...json, 'if-none-match': '*' }, year],
  [412, 'QUERY', '/Desk/look', { ...json, 'if-match': '"a"' }, year],
  [422, 'QUERY', '/Desk/look', json, '{}'],
  [200, 'GET', '/Desk/now', {}],
  [200, 'GET', '/Desk/now', { range: 'bytes=0-1' }],
  [304, 'GET', '/Desk/now', { 'if-none-match': '*' }],
  [406, 'GET', '/Desk/now', { accept: 'image/png' }],
  [412, 'GET', '/Desk/now', { 'if-match': '"a"' }],
]
for (const [status, method, path, fields, content] of rows)
  test(`A1.6 ${method} ${path} ${JSON.stringify(fields)} ${content?.slice(0, 20) ?? ''}: ${status}, as described`, async () => {
    const http = await hosted
    const answer = await http.ask(method, `/api/v1${path}`, fields, content)
    assert.equal(answer.status, status, answer.text)
    const { paths } = JSON.parse((await http.ask('GET', '/openapi.json?openapi=3.2')).text)
    const described = Object.keys(paths[`/api/v1${path}`][method.toLowerCase()].responses)
    assert.ok(described.includes(String(status)), described.join())
  })
