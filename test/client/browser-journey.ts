/** What runs in the realm of `browser-realm.ts`: a journey with what a browser loads of the package. */
import { shop } from '../../examples/orders/contract.ts'
import { createRestClient } from '../../src/client/rest/index.ts'

export async function journey(address: string): Promise<string> {
  const api = createRestClient(shop, { address, credentials: { user: 'maria', password: 'maria-secret' } })
  const product = await api.products.get('p-4')
  const picture = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3)
  await api.products.picture.put(product, picture, { mediaType: 'image/png' })
  const { length } = await (await api.products.picture.get(product)).bytes()
  const order = await api.orders.get('o-1')
  if (order.state === 'placed') await api.orders.pay(order, { method: 'card', amount: order.total })
  return `${typeof Buffer} ${typeof process} ${length} ${(await api.orders.get(order)).state}`
}
