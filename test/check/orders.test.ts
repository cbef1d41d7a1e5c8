/** Every rule that can be observed holds for the orders service, over a socket and in memory. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import orders from '../../examples/orders/service.ts'
import { type CheckReport, createMemoryTransport, openSocketTransport, runCheck } from '../../src/check/index.ts'
import { describeService } from '../../src/pages/openapi.ts'
import { startHosted } from '../host/hosted-service.ts'
import { measureSlowness } from '../support/cost.ts'
import { earlier, ordersOptions, serveOrdersInMemory } from './orders-in-memory.ts'

const options = { ...ordersOptions, earlier }
const idsOf = ({ verdicts }: CheckReport, status: string): readonly string[] =>
  verdicts.filter(each => each.status === status).map(({ rule }) => rule.id)
const failuresOf = ({ verdicts }: CheckReport): readonly string[] =>
  verdicts.filter(({ status }) => status === 'fail').map(({ rule, reason }) => `${rule.id} ${reason}`)

/** What a run on this machine cannot see; the report says what each would need. */
const unseen = ['A1.5', 'A5.4', 'A7.5', 'A7.16', 'B2.5', 'B2.14', 'B4.9', 'B5.3', 'B5.4', 'C6.1']

describe('the orders service keeps every rule that can be observed', async () => {
  it('over a socket, in less than 30 s at the usual rate, and leaves the service as it was', async () => {
    const { server } = await startHosted()
    const transport = await openSocketTransport(server.url)
    const { rate: _, ...given } = options
    const report = await runCheck(transport, given)
    transport.close()
    assert.deepEqual(failuresOf(report), [])
    assert.deepEqual(idsOf(report, 'not observable'), unseen)
    assert.deepEqual(idsOf(report, 'not applicable'), ['A1.1'])
    const [flood, ...others] = report.leftBehind
    assert.match(flood ?? '', /^what up to 40 requests POST \/api\/v2\/searches have made$/)
    const [search, job] = ['/api/v2/searches/s', '/api/v2/reports/jobs/j']
    const kinds = others.map(each => each.replace(/-\w+$/, ''))
    assert.deepEqual(kinds, [search, search, job], 'all items are removed')
    assert.ok(report.tookMs < 30_000 * measureSlowness(), `${report.tookMs} ms`)
  })

  it('in memory, where HTTP/2 is observed too', async () => {
    const report = await runCheck(createMemoryTransport(await serveOrdersInMemory()), options)
    assert.deepEqual(failuresOf(report), [])
    assert.deepEqual(idsOf(report, 'not observable'), unseen)
    assert.deepEqual(idsOf(report, 'not applicable'), [])
  })

  it('while a name is locked, only the rules that fail because of it are not observed', async () => {
    const serve = await serveOrdersInMemory()
    let left = 150
    const transport = createMemoryTransport(async request => {
      const isNamed = request.fields['authorization'] !== undefined
      if (!isNamed || --left > 0) return serve(request)
      return serve({ ...request, fields: { ...request.fields, authorization: 'Basic bm9ib2R5Ondyb25n' } })
    })
    const report = await runCheck(transport, { ...ordersOptions, lockLimitMs: 0 })
    assert.deepEqual(failuresOf(report), [])
    const locked = report.verdicts.filter(({ reason }) => /wrong passwords may have locked the name/.test(reason))
    assert.ok(locked.length > 5, `${locked.length}`)
    assert.ok(locked.every(({ status, findings }) => status === 'not observable' && findings.length > 0))
  })

  it('a run waits for a name that is locked for a while, and tries the failed rule again', async () => {
    const serve = await serveOrdersInMemory()
    let [named, lockedUntilMs] = [0, 0]
    const transport = createMemoryTransport(async request => {
      if (request.fields['authorization'] === undefined) return serve(request)
      if (++named === 150) lockedUntilMs = performance.now() + 4000
      if (performance.now() > lockedUntilMs) return serve(request)
      return serve({ ...request, fields: { ...request.fields, authorization: 'Basic bm9ib2R5Ondyb25n' } })
    })
    const report = await runCheck(transport, options)
    assert.deepEqual(failuresOf(report), [])
    assert.deepEqual(idsOf(report, 'not observable'), unseen)
    assert.ok(report.remarks.some(each => /was refused for a while: the run waited/.test(each)))
  })

  it('without --allow-changes only safe methods and reads of SOAP are sent', async () => {
    const methods = new Set<string>()
    const changed: string[] = []
    const serve = await serveOrdersInMemory()
    const transport = createMemoryTransport(async request => {
      methods.add(request.method)
      const text = new TextDecoder().decode((await request.content.bytes(1e7)) ?? new Uint8Array(0))
      const named = [text, request.fields['soapaction'] ?? '', request.fields['content-type'] ?? '']
      const change = /[:/](?:Create|Replace|Delete|Pay|Cancel|Ship|Deliver|Notify|Merge|Put|Start)\w+/
      if (request.method === 'POST') changed.push(...named.filter(each => change.test(each)))
      return serve(request)
    })
    const report = await runCheck(transport, { ...ordersOptions, allowChanges: false })
    assert.deepEqual(failuresOf(report), [])
    assert.deepEqual([...methods].sort(), ['BREW', 'GET', 'HEAD', 'OPTIONS', 'POST', 'TRACE'])
    assert.deepEqual(changed, [])
    assert.ok(idsOf(report, 'pass').length > 50)
  })

  it('without --allow-changes no message has the action of an unsafe operation', async () => {
    const actions = new Set<string>()
    const serve = await serveOrdersInMemory()
    const transport = createMemoryTransport(request => {
      const { soapaction = '', 'content-type': type = '' } = request.fields
      for (const [, name = ''] of `${soapaction} ${type}`.matchAll(/urn:[\w:.-]*[/:]([\w-]+)(?=["; ]|$)/g))
        actions.add(name)
      return serve(request)
    })
    const profile = { ...ordersOptions.profile, safeOperations: ['ListOrders'] }
    await runCheck(transport, { ...ordersOptions, allowChanges: false, profile })
    assert.deepEqual([...actions].sort(), ['ListOrders', 'another-action'])
  })

  it('as many as before if its OpenAPI document is given as a file, and not served', async () => {
    const openapi = JSON.parse(await describeService(orders))
    const serve = await serveOrdersInMemory()
    const transport = createMemoryTransport(async request => {
      return request.target === '/openapi.json' ? { status: 404, fields: {} } : serve(request)
    })
    const report = await runCheck(transport, { ...options, openapi })
    assert.deepEqual(failuresOf(report), ['A1.4 the link to /openapi.json leads to a resource'])
    assert.deepEqual(idsOf(report, 'not observable'), unseen)
  })

  it('no rule fails for a caller that may create items and not change them', async () => {
    const callers = (ordersOptions.callers ?? []).slice(0, 1)
    const transport = createMemoryTransport(await serveOrdersInMemory())
    const report = await runCheck(transport, { ...ordersOptions, callers })
    assert.deepEqual(failuresOf(report), [])
    const needed = report.verdicts.find(({ rule }) => rule.id === 'A4.4')?.reason ?? ''
    assert.match(needed, /^a caller that may PUT \/api\/v2\/orders\/.*: --caller$/)
  })

  it('a given document’s paths are relative to the address, not to its servers', async () => {
    const described = JSON.parse(await describeService(orders))
    const paths = Object.entries(described.paths).map(([path, item]) => [path.replace(/^\/api\/v2/, ''), item])
    const openapi = {
      ...described,
      servers: [{ url: 'https://elsewhere.example/x' }],
      paths: Object.fromEntries(paths),
    }
    const transport = createMemoryTransport(await serveOrdersInMemory())
    const report = await runCheck(transport, { ...ordersOptions, openapi, basePath: '/api/v2' })
    assert.ok(idsOf(report, 'pass').includes('A4.6'), idsOf(report, 'pass').join())
  })
})
