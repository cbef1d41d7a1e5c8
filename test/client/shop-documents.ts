/** Documents as the shop of examples/orders sends them by REST, for servers that a test writes itself. */

export const entry = {
  service: 'orders',
  version: 'v2',
  _links: {
    orders: { href: '/a' },
    order: { href: '/a/{id}', templated: true },
    customers: { href: '/c' },
    reports: { href: '/r' },
    product: { href: '/p/{id}', templated: true },
  },
}

/** An order, with these links besides those to itself. */
export const orderWith = (links: Readonly<Record<string, { readonly href: string }>>) => ({
  id: 'o-1',
  customer: 'c-1',
  lines: [{ product: 'p-1', quantity: 1, price: '4.95' }],
  currency: 'EUR',
  total: '4.95',
  placedAt: '2026-01-01T09:00:00.000Z',
  state: 'placed',
  _links: { self: { href: '/a/o-1' }, edit: { href: '/a/o-1' }, ...links },
})
