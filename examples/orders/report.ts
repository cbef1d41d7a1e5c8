/** The figures of a report: exact, for any number of orders. */
import type { Item } from 'diglot'
import type { orders, products, ReportOutput } from './contract.ts'
import { cents, money } from './money.ts'

type Product = Pick<Item<typeof products>, 'name' | 'price' | 'stock'>
type Currency = Item<typeof orders>['currency']
type Figures = Pick<ReportOutput, 'rows' | 'totals'>

/** The products in stock, at today's prices. */
export function countStock(products: ReadonlyMap<string, Product>): Figures {
  const count = new Count(products)
  for (const [id, { stock, price }] of products) count.add(id, 'EUR', BigInt(stock), price)
  return count.figures()
}

/** The sales: orders that are paid, shipped or delivered. */
export async function countSales(
  products: ReadonlyMap<string, Product>,
  all: AsyncIterable<Item<typeof orders>>,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Figures> {
  const count = new Count(products)
  for await (const { state, placedAt, lines, currency } of all) {
    const day = placedAt.slice(0, 10)
    if (!['paid', 'shipped', 'delivered'].includes(state) || day < from || day > to) continue
    for (const { product, quantity, price } of lines) count.add(product, currency, BigInt(quantity), price)
  }
  return count.figures()
}

/** Quantities and amounts by product and currency. */
class Count {
  readonly #products: ReadonlyMap<string, Product>
  readonly #rows = new Map<string, { product: string; currency: Currency; quantity: bigint; amount: bigint }>()
  readonly #totals = new Map<Currency, bigint>()

  constructor(products: ReadonlyMap<string, Product>) {
    this.#products = products
  }

  add(product: string, currency: Currency, quantity: bigint, price: string): void {
    const key = `${product} ${currency}`
    const row = this.#rows.get(key) ?? { product, currency, quantity: 0n, amount: 0n }
    const amount = quantity * cents(price)
    this.#rows.set(key, { ...row, quantity: row.quantity + quantity, amount: row.amount + amount })
    this.#totals.set(currency, (this.#totals.get(currency) ?? 0n) + amount)
  }

  figures(): Figures {
    const rows = [...this.#rows.values()].map(row => ({
      ...row,
      name: this.#products.get(row.product)?.name ?? row.product, // sold, then removed
      amount: money(row.amount),
    }))
    return { rows, totals: [...this.#totals].map(([currency, amount]) => ({ currency, amount: money(amount) })) }
  }
}
