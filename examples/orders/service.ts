import { setTimeout } from 'node:timers/promises'
import { implement, type Progress } from 'diglot'
import { OutOfStock, PaymentDeclined, shop } from './contract.ts'
import { keepPrices, total } from './money.ts'
import { isPictureOf } from './picture.ts'
import { invoice, reportCsv, reportPdf } from './print.ts'
import { countSales, countStock } from './report.ts'
import { seed } from './seed.ts'

export default implement(
  shop,
  {
    orders: {
      derive: async (ctx, draft, current) => {
        const stood = keepPrices(draft.lines, current?.lines ?? [])
        const lines = []
        for (const [i, line] of draft.lines.entries()) {
          const price = stood[i] ?? (await ctx.items.get('products', line.product))?.price
          lines.push({ ...line, price: price ?? ctx.invalid(['lines', i, 'product'], 'is not for sale') })
        }
        return {
          lines,
          total: total(lines) ?? ctx.invalid(['lines'], 'come to a total of more than 12 digits: order less'),
          placedAt: current?.placedAt ?? ctx.now,
        }
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
        for await (const order of ctx.items.list('orders', { customer: customer.id }))
          await ctx.items.change('orders', order.id, { customer: input.into })
        return { to: input.into }
      },
    },
    products: {
      receiving: (ctx, _product, { mediaType, start }) => {
        if (!isPictureOf(mediaType, start))
          ctx.invalid([], `does not begin as ${mediaType} does: send it as the type that it has`)
      },
      // Only orders that are placed or paid still need the product; all others are history.
      removing: async (ctx, product) => {
        const needing = ctx.items.all.list('orders', { 'lines.product': product.id, state: { in: ['placed', 'paid'] } })
        const [order] = (await needing.first(1)).items // one is enough
        if (order)
          ctx.conflict(`order ${order.id} names this product and is ${order.state}: ship, change or cancel it first`)
      },
    },
    reports: {
      starting: (ctx, input) => {
        if (input.from > input.to) ctx.invalid(['from'], 'is after "to": give the earlier date first')
        if (input.kind === 'stock' && !ctx.caller.roles.some(role => ['clerk', 'manager'].includes(role))) ctx.forbid()
      },
      // A customer's report only contains what the customer may read.
      run: async (ctx, input, progress) => {
        await report(0.1, progress)
        const products = new Map<string, { name: string; price: string; stock: number }>()
        for await (const product of ctx.items.list('products')) products.set(product.id, product)
        await report(0.5, progress)
        const found =
          input.kind === 'stock' ? countStock(products) : await countSales(products, ctx.items.list('orders'), input)
        await report(0.9, progress)
        return { ...input, ...found }
      },
      formats: { 'text/csv': reportCsv, 'application/pdf': reportPdf },
    },
  },
  { seed },
)

/** Reports progress slowly enough to watch, as a real report would. */
async function report(part: number, progress: Progress): Promise<void> {
  await progress(part)
  await setTimeout(120, undefined, { signal: progress.signal })
}
