/** gSOAP: what wsdl2h and soapcpp2 make of the WSDL, with MTOM, WS-Addressing and a block that must be understood. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { missing } from './peer.ts'
import { build } from './soap-build.ts'
import { type Case, soapPeer } from './soap-peer.ts'
import type { Seen } from './soap-wire.ts'

const addressed = (seen: readonly Seen[]) => assert.ok(seen.every(each => each.addressed))
/** gSOAP sends a package where there are octets to pack, and the answer to a package is one. */
const packaged = (seen: readonly Seen[]) => {
  const put = seen.find(each => each.operation === 'PutProductPicture')
  assert.deepEqual(put?.packaged, { request: true, response: true })
}

/**
 * In SOAP 1.2 the NotUnderstood blocks of the answer hide the fault from a gSOAP client: it takes the first header that it does
 * not know for the end of the message. So this is of 1.1 alone.
 */
const mandatory: NonNullable<Case['instead']> = [
  'a block that must be understood and is not: a fault, and nothing is done (rules B2.4, B7.2)',
  async (call, url) => {
    const said = await call('CreateProduct', { product: { name: 'Never', price: '1.00', stock: 1 } })
    assert.match(said.fault?.code ?? JSON.stringify(said), /MustUnderstand$/)
    const found = await fetch(`${url}/api/v2/products?name=Never`)
    const { items } = (await found.json()) as { items: unknown } // as the contract says
    assert.deepEqual(items, [])
  },
]

soapPeer({
  name: 'gSOAP',
  skip: missing('gSOAP', 'sh', ['-c', 'command -v wsdl2h soapcpp2 g++']),
  command: async ({ version }, wsdl) => [join((await build('gsoap', wsdl, version)).place, 'orders')],
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.1', style: 'document', contract: 'v2', words: ['mtom'], shows: packaged },
    { version: '1.1', style: 'document', contract: 'v2', words: ['addressing'], shows: addressed },
    { version: '1.1', style: 'document', contract: 'v2', words: ['mandatory'], instead: mandatory },
    { version: '1.2', style: 'document', contract: 'v1' },
    { version: '1.2', style: 'document', contract: 'v1', words: ['mtom', 'addressing'], shows: packaged },
  ],
})
