export function drive(call: () => Promise<string>): Promise<void>
export function meaning(order: {
  readonly id: string
  readonly customer: string
  readonly lines: readonly { readonly product: string; readonly quantity: number; readonly price: string }[]
  readonly total: string
  readonly version: string
}): string
