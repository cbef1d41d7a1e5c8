/** Responses in RPC style: the accessor that `rpc:result` names (SOAP 1.2 Part 2 §4.2.2), and parts that are empty. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AnswerError } from '../../src/client/index.ts'
import { came, envelope, mediaType, ns, recordRequests } from './canned.ts'

const item = '<id>p-1</id><name>Tea</name><price>4.95</price><stock>3</stock><version>7</version>'
const product = `<product>${item}</product>`
const row = { id: 'p-1', name: 'Tea', price: '4.95', stock: 3, version: '7' }
const result = (name: string, scope = '') =>
  `<r:result xmlns:r="http://www.w3.org/2003/05/soap-rpc"${scope}>${name}</r:result>`

const rows: readonly (readonly [title: string, soap: '1.1' | '1.2', inside: string, detail?: RegExp])[] = [
  ['the name of a part, before it', '1.2', result('product') + product],
  ['… and behind it', '1.2', product + result('product')],
  ['a QName with white space around it', '1.2', result(' m:product ', ` xmlns:m="${ns}"`) + product],
  ['a response of a procedure without a return value', '1.2', product],
  [
    'a part that is not there',
    '1.2',
    result('version') + product,
    /result\[1\] names version, which the response does not have/,
  ],
  ['a part that is nowhere declared', '1.2', result('other') + product, /names other/],
  ['no QName', '1.2', result('a b') + product, /result\[1\] must be a QName/],
  ['an undeclared prefix', '1.2', result('q:product') + product, /must be a QName/],
  ['an element', '1.2', result('<x/>') + product, /must be a QName/],
  ['twice', '1.2', result('product') + result('product') + product, /result\[2\] is repeated/],
  [
    'SOAP 1.1, which knows none',
    '1.1',
    result('product') + product,
    /result\[1\] is not expected here: expected product/,
  ],
  [
    'another element of its namespace',
    '1.2',
    result('product').replaceAll('r:result', 'r:return') + product,
    /not expected/,
  ],
]
for (const style of ['rpc', 'encoded'] as const)
  describe(`SOAP 1.2 Part 2 §4.2.2 rpc:result, ${style}`, () => {
    for (const [title, soap, inside, detail] of rows)
      test(`${detail ? 'refused' : 'accepted'}: ${title}`, async () => {
        const body = `<m:GetProductResponse xmlns:m="${ns}">${inside}</m:GetProductResponse>`
        const { client } = recordRequests(came(200, mediaType[soap], envelope(soap, body)), { style, soap })
        const answer = client.GetProduct({ id: 'p-1' })
        if (!detail) return assert.deepEqual(await answer, { product: row })
        await assert.rejects(answer, thrown => thrown instanceof AnswerError && detail.test(thrown.message))
      })

    test('WS-I BP 1.1 R2211 an optional part that is empty or nil is absent', async () => {
      const xsi = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance"'
      const inside = `<products/><total/><next i:nil="true" ${xsi}/>`
      const body = `<m:ListProductsResponse xmlns:m="${ns}">${inside}</m:ListProductsResponse>`
      const { client } = recordRequests(came(200, mediaType['1.2'], envelope('1.2', body)), { style, soap: '1.2' })
      assert.deepEqual(await client.ListProducts({}), { products: [] })
    })
  })
