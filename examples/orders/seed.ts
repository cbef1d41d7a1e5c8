import { cents, money } from './money.ts'

/** For the first start: three people, three customers, twenty products, a hundred orders. */
const customers = [
  { id: 'c-1', name: 'Alice Archer', email: 'alice@example.org', tier: 'gold' },
  { id: 'c-2', name: 'Bruno Baker', email: 'bruno@example.org', tier: 'basic' },
  { id: 'c-3', name: 'Chiara Carpenter', email: 'chiara@example.org', tier: 'basic' },
] as const

const people = [
  { subject: 'alice', password: 'alice-secret', roles: ['customer'], claims: { customer: 'c-1' } },
  { subject: 'clara', password: 'clara-secret', roles: ['clerk'] },
  { subject: 'maria', password: 'maria-secret', roles: ['manager'] },
] as const

const wares = ['lamp', 'desk', 'chair', 'shelf', 'clock', 'mirror', 'carpet', 'kettle', 'teapot', 'vase']
const makes = ['Oak', 'Brass']

const products = Array.from({ length: 20 }, (_, i) => ({
  id: `p-${i + 1}`,
  name: `${makes[i % 2]} ${wares[Math.floor(i / 2)]}`,
  price: money(BigInt(495 + i * 350)),
  stock: 1000 - i,
  ...(i % 3 === 0 && { description: `A ${wares[Math.floor(i / 2)]} made to last.` }),
}))

const states = ['placed', 'paid', 'shipped', 'delivered', 'cancelled'] as const
const currencies = ['EUR', 'USD', 'GBP'] as const
const notes = ['gift wrap please', 'leave at the door', 'call before delivery', 'fragile']
const first = Date.UTC(2026, 0, 1, 9)

const orders = Array.from({ length: 100 }, (_, i) => {
  const state = states[i % states.length] ?? 'placed'
  const lines = [line(i), ...(i % 2 ? [line(i + 7)] : [])]
  const placed = first + i * 6 * 3_600_000
  const carrier = i % 2 ? ('dhl' as const) : ('ups' as const)
  const id = `o-${i + 1}`
  return {
    id,
    customer: customers[i % customers.length]?.id ?? 'c-1',
    lines,
    currency: currencies[i % currencies.length] ?? 'EUR',
    total: money(lines.reduce((sum, each) => sum + cents(each.price) * BigInt(each.quantity), 0n)),
    ...(i % 4 === 0 && { note: notes[(i / 4) % notes.length] ?? '' }),
    placedAt: new Date(placed).toISOString(),
    state,
    ...(['paid', 'shipped', 'delivered'].includes(state) && { paidAt: new Date(placed + 3_600_000).toISOString() }),
    ...(['shipped', 'delivered'].includes(state) && { carrier, trackingNumber: `${carrier.toUpperCase()}-${id}` }),
  }
})

function line(i: number) {
  const product = products[i % products.length]
  return { product: product?.id ?? 'p-1', quantity: (i % 3) + 1, price: product?.price ?? '0.00' }
}

export const seed = () => ({ people, items: { customers, products, orders } })
