/** Rules A9.1, B9.3; RFC 8594, RFC 9745: one decision, on both faces, on when a version ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from '../../examples/orders/service.ts'
import type { Implementation } from '../../src/contract/implement.ts'
import type { VersionRule } from '../../src/contract/service.ts'
import { bearer, startHosted } from '../host/hosted-service.ts'

const withRule = (rule: VersionRule): Implementation => {
  const versions = { v1: { ...app.contract.versions['v1'], ...rule }, v2: {} }
  return { ...app, contract: { ...app.contract, versions } }
}
const envelope = (version: string) =>
  `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><GetProduct xmlns="urn:diglot:orders:${version}"><id>p-1</id></GetProduct></e:Body></e:Envelope>`
const soap = { 'content-type': 'application/soap+xml' }
const sunset = '2026-12-01T00:00:00Z'
const endpoints = ['/soap/v1', '/soap/v1/rpc', '/soap/v1/encoded', '/soap/v1/secure']

test('RFC 9745, RFC 8594 before its end every response of a version says so, in REST and in SOAP', async () => {
  const rule = { deprecated: '2026-01-01', sunset }
  const { ask } = await startHosted({ clock: () => Date.parse(sunset) - 1 }, withRule(rule))
  const rows = [
    ['GET', '/api/v1/products/p-1', '/api/v2/products/p-1'],
    ['GET', '/api/v1/products/none', '/api/v2/products/none'],
    ['POST', '/soap/v1', '/soap/v2'],
    ['POST', '/soap/v1/rpc', '/soap/v2/rpc'],
    ['GET', '/soap/v1/GetProduct?id=p-1', '/soap/v2'],
    ['GET', '/soap/v1?wsdl', '/soap/v2'],
    ['PUT', '/soap/v1', '/soap/v2'],
  ] as const
  for (const [method, at, successor] of rows) {
    const answer = await ask(method, at, soap, method === 'POST' ? envelope('v1') : undefined)
    assert.notEqual(answer.status, 410)
    assert.equal(answer.fields['deprecation'], `@${Date.UTC(2026, 0, 1) / 1000}`, at)
    assert.equal(answer.fields['sunset'], 'Tue, 01 Dec 2026 00:00:00 GMT', at)
    assert.ok(String(answer.fields['link']).includes(`<${successor}>; rel="successor-version"`), at)
  }
  const newest = await ask('POST', '/soap/v2', soap, envelope('v2'))
  assert.deepEqual([newest.status, newest.fields['deprecation'], newest.fields['sunset']], [200, undefined, undefined])
})

for (const [title, rule] of [
  ['past its sunset', { sunset }],
  ['retired', { retired: true }],
] as const)
  test(`A9.1 a version ${title} is served by neither face: 410, and a fault if the message speaks SOAP`, async () => {
    const { ask, server } = await startHosted({ clock: () => Date.parse(sunset) }, withRule(rule))
    const clerk = bearer(await server.token('clara', ['clerk']))
    assert.equal((await ask('GET', '/api/v1/products/p-1')).status, 410)
    const pay = { ...clerk, accept: 'application/vnd.diglot.orders.v1+json' }
    assert.equal((await ask('GET', '/api/orders/o-1', pay)).status, 410)
    for (const at of endpoints) {
      const fault = await ask('POST', at, { ...soap, ...clerk }, envelope('v1'))
      assert.deepEqual([fault.status, fault.fields['content-type']], [500, 'application/soap+xml; charset=utf-8'], at)
      assert.match(fault.text, /:Sender<.*no longer served.*\/soap\/v2/s)
      const old = await ask('POST', at, { 'content-type': 'text/xml' }, 'not even XML')
      assert.match(old.text, /Client<.*no longer served/s, 'the fault of 1.1')
      for (const [method, path] of [
        ['GET', `${at}?wsdl`],
        ['GET', at],
        ['OPTIONS', at],
        ['POST', at],
      ] as const) {
        const bare = await ask(method, path)
        assert.equal(bare.status, 410, `${method} ${path}`)
        assert.match(String(bare.fields['link']), /<\/soap\/v2[a-z/]*>; rel="successor-version"/)
      }
    }
    assert.equal((await ask('POST', '/soap/v2', soap, envelope('v2'))).status, 200)
    const links = JSON.parse((await ask('GET', '/')).text)._links
    assert.deepEqual([links.v1, links.v2.href], [undefined, '/api/v2'])
  })
