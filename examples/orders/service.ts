import { setTimeout } from 'node:timers/promises'
import { type Item, implement, type Progress } from 'diglot'
import { OutOfStock, type orders, PaymentDeclined, type products, shop } from './contract.ts'
import { invoice, reportCsv, reportPdf } from './print.ts'
import { seed } from './seed.ts'

export default implement(
  shop,
  {
    orders: {
      derive: async (ctx, draft, current) => {
        const lines = []
        for (const line of draft.lines) {
          const product = await ctx.items.get('products', line.product)
          lines.push({ ...line, price: product?.price ?? '0.00' }) // what a reference names was found before this
        }
        const total = sum(lines.map(line => cents(line.price) * BigInt(line.quantity)))
        return { lines, total, placedAt: current?.placedAt ?? ctx.now }
      },
      pay: async (ctx, order, input) => {
        if (input.amount !== order.total)
          ctx.fail(PaymentDeclined, { reason: `${input.amount} was offered for ${order.total}` })
        return {
          set: { paidAt: ctx.now },
          output: { id: ctx.id('pay'), amount: input.amount, receipt: `${order.id} paid by ${input.method}` },
        }
      },
      cancel: () => {},
      ship: async (ctx, order, input) => {
        for (const line of order.lines) {
          const product = await ctx.items.get('products', line.product)
          const stock = product?.stock ?? 0
          if (stock < line.quantity) ctx.fail(OutOfStock, { product: line.product, stock })
          await ctx.items.change('products', line.product, { stock: stock - line.quantity })
        }
        return { set: { carrier: input.carrier, trackingNumber: `${input.carrier.toUpperCase()}-${order.id}` } }
      },
      track: (_ctx, order) => ({
        carrier: order.carrier ?? 'dhl',
        trackingNumber: order.trackingNumber ?? '',
        position: order.state === 'delivered' ? 'delivered' : 'on its way',
      }),
      deliver: () => {},
      formats: { 'application/pdf': invoice },
    },
    customers: {
      merge: async (ctx, customer, input) => {
        for (const order of await ctx.items.list('orders', { customer: customer.id }))
          await ctx.items.change('orders', order.id, { customer: input.into })
        return { to: input.into }
      },
    },
    reports: {
      run: async (ctx, input, progress) => {
        await report(0.1, progress)
        const orders = await ctx.items.list('orders', {}, 10_000)
        const sold = orders.filter(order => order.state !== 'cancelled' && within(order.placedAt, input))
        await report(0.5, progress)
        const products = await ctx.items.list('products', {}, 10_000)
        const rows = products.map(product => row(product, input.kind, sold))
        await report(0.9, progress)
        return { ...input, rows, total: sum(rows.map(each => cents(each.amount))) }
      },
      formats: { 'text/csv': reportCsv, 'application/pdf': reportPdf },
    },
  },
  seed,
)

/** A step that can be watched: a real report takes its time. */
async function report(part: number, progress: Progress): Promise<void> {
  await progress(part)
  await setTimeout(120, undefined, { signal: progress.signal })
}

const within = (at: string, span: { from: string; to: string }): boolean =>
  at.slice(0, 10) >= span.from && at.slice(0, 10) <= span.to

function row(product: Item<typeof products>, kind: 'sales' | 'stock', sold: readonly Item<typeof orders>[]) {
  const lines = sold.flatMap(order => order.lines.filter(line => line.product === product.id))
  const quantity = kind === 'stock' ? product.stock : lines.reduce((count, line) => count + line.quantity, 0)
  const amount =
    kind === 'stock'
      ? sum([cents(product.price) * BigInt(product.stock)])
      : sum(lines.map(line => cents(line.price) * BigInt(line.quantity)))
  return { product: product.id, name: product.name, quantity, amount }
}

const cents = (money: string): bigint => BigInt(money.replace('.', ''))
const sum = (parts: readonly bigint[]): string => {
  const units = String(parts.reduce((a, b) => a + b, 0n)).padStart(3, '0')
  return `${units.slice(0, -2)}.${units.slice(-2)}`
}
