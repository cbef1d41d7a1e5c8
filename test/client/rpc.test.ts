/** Responses in RPC style: parts that are empty (WS-I BP 1.1 R2211). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { came, envelope, mediaType, ns, recordRequests } from './canned.ts'

for (const style of ['rpc', 'encoded'] as const)
  test(`WS-I BP 1.1 R2211 an optional part that is empty or nil is absent, ${style}`, async () => {
    const xsi = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance"'
    const inside = `<products/><total/><next i:nil="true" ${xsi}/>`
    const body = `<m:ListProductsResponse xmlns:m="${ns}">${inside}</m:ListProductsResponse>`
    const { client } = recordRequests(came(200, mediaType['1.2'], envelope('1.2', body)), { style, soap: '1.2' })
    assert.deepEqual(await client.ListProducts({}), { products: [] })
  })
