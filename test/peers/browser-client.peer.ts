/** docs/client.md, "In a browser": the REST client on a page, as a browser loads and runs it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { it } from 'node:test'
import { openBrowser, skipBrowser } from './browser.ts'
import { root, service } from './peer.ts'

/** Modules as a bundler would find them by the condition `browser`, without their types. */
function moduleAt(path: string): string {
  const file = path === 'orders.ts' ? join(root, 'examples', 'orders', 'contract.ts') : join(root, 'src', path)
  const code = stripTypeScriptTypes(readFileSync(file, 'utf8'))
  return code.replaceAll(/from 'diglot'/g, "from '/modules/contract/index.ts'")
}

/** What a page does with the client; it ends with what it has found. */
const journey = `(async () => {
  const { createRestClient } = await import('/modules/client/rest/index.ts')
  const { shop } = await import('/modules/orders.ts')
  const api = createRestClient(shop, { address: location.origin + '/api', credentials: { user: 'clara', password: 'clara-secret' } })
  const made = await api.orders.create({ customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR' })
  await api.orders.pay(made, { method: 'card', amount: made.total })
  const paid = await api.orders.get(made.id)
  const late = await api.orders.cancel(made, {}).then(() => 'done', failed => failed.constructor.name)
  const listed = []
  for await (const order of api.orders.list({ where: { state: 'paid' } })) listed.push(order.id)
  return { total: made.total, state: paid.state, late, isListed: listed.includes(made.id), count: listed.length }
})()`

it('the REST client places, pays and finds an order from a page, under the policy of our pages', {
  skip: skipBrowser,
}, async () => {
  const { url } = await service()
  const browser = await openBrowser(url)
  const page = await browser.newPage()
  await page.route('**/modules/**', route =>
    route.fulfill({
      contentType: 'text/javascript',
      body: moduleAt(new URL(route.request().url()).pathname.slice('/modules/'.length)),
    }),
  )
  await page.goto('/api/v2')
  const found = await page.evaluate(journey)
  assert.deepEqual(found, { total: '9.90', state: 'paid', late: 'FaultError', isListed: true, count: 21 })
})
