/** The changes of orders that `varied-writes.ts` requests, by what they differ in. */
import { drawBelow } from './growth-data.ts'

/** Each content of a new order that occurs: what it has decides where its entries are in the indexes. */
export const newOrders: readonly string[] = [1, 2, 3].flatMap(customer =>
  Array.from({ length: 20 }, (_, i) => i + 1).flatMap(product =>
    [1, 2, 3].map(quantity =>
      JSON.stringify({
        customer: `c-${customer}`,
        lines: [{ product: `p-${product}`, quantity }],
        currency: 'EUR',
      }),
    ),
  ),
)
export const newCurrencies: readonly string[] = ['USD', 'GBP'].map(currency => JSON.stringify({ currency }))

/** @param what is drawn, so that different draws are independent */
export const drawOne = (all: readonly string[], turn: number, what: string): string =>
  all[drawBelow(all.length, turn, what)] as string
