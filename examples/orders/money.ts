/** Exact money: calculated in whole cents, shown as text with two decimal places. */
import type { DraftItem, Item } from 'diglot'
import type { orders } from './contract.ts'

type Line = Item<typeof orders>['lines'][number]
type DraftLine = DraftItem<typeof orders>['lines'][number]

export const cents = (text: string): bigint => BigInt(text.replace('.', ''))

export function money(amount: bigint): string {
  const digits = String(amount).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Undefined if the total of an order would have more than twelve digits. */
export function total(lines: readonly Line[]): string | undefined {
  const amount = lines.reduce((sum, line) => sum + cents(line.price) * BigInt(line.quantity), 0n)
  return amount < 10n ** 12n ? money(amount) : undefined
}

/** A line keeps its price from the time of the order; a new line or product has none yet. */
export function keepPrices(lines: readonly DraftLine[], stood: readonly Line[]): readonly (string | undefined)[] {
  const left = [...stood]
  const take = (fits: (line: Line) => boolean): string | undefined => {
    const at = left.findIndex(fits)
    return at < 0 ? undefined : left.splice(at, 1)[0]?.price
  }
  const same = lines.map(({ product, quantity }) => take(old => old.product === product && old.quantity === quantity))
  return lines.map(({ product }, i) => same[i] ?? take(old => old.product === product))
}
