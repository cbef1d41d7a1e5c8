/** Every rule that can be observed holds for the first service of the tutorial, its callers by API keys too. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import tickets from '../../examples/tickets/service.ts'
import { performCheck } from '../../src/check/command.ts'
import { openSocketTransport, parseCaller, runCheck } from '../../src/check/index.ts'
import { startHosted } from '../host/hosted-service.ts'

it('the help desk keeps every rule that can be observed', async () => {
  const { server } = await startHosted({}, tickets)
  const transport = await openSocketTransport(server.url)
  const report = await runCheck(transport, {
    callers: [parseCaller('ann:ann-secret')],
    profile: { wsdl: ['/soap/v1?wsdl'], samples: { 'POST /api/v1/tickets': { question: 'Why?' } } },
    allowChanges: true,
    rate: 100_000,
  })
  transport.close()
  assert.deepEqual(
    report.verdicts.filter(({ status }) => status === 'fail').map(({ rule, reason }) => `${rule.id} ${reason}`),
    [],
  )
  assert.ok(report.verdicts.filter(({ status }) => status === 'pass').length > 60)
})

it('--key names a caller by an API key, with its field or without', async () => {
  const seen = new Set<string>()
  const server = createServer((request, response) => {
    for (const name of ['api-key', 'x-api-key']) seen.add(`${name}: ${request.headers[name]}`)
    response.writeHead(request.headers['x-api-key'] === 'two' ? 200 : 401, { 'content-type': 'application/json' })
    response.end('[{"id":"1"}]')
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/notes`
  const flags = {
    caller: [],
    token: [],
    key: ['one', 'X-Api-Key: two'],
    wsdl: [],
    rule: ['A1.3'],
    rate: 1000,
    time: 60,
  }
  await performCheck(address, flags)
  server.close()
  assert.ok(seen.has('api-key: one') && seen.has('x-api-key: two'), [...seen].join())
})
