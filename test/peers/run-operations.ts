/** Every operation of the reference service, in an order in which each succeeds, and every fault that it declares. */
import assert from 'node:assert/strict'
import type { Caller, Input, Said } from './soap-driver.ts'
import type { Style } from './soap-wire.ts'

export interface Walked {
  readonly call: (operation: string, input: Input, as?: Caller) => Promise<Said>
  readonly style: Style
  /** v1 has no notes. */
  readonly contract: 'v1' | 'v2'
  /** Ids of two customers, the second one there to be merged into the first. */
  readonly customers: readonly [string, string]
  /**
   * Operations that the peer cannot call, `fault Invalid` of one that it cannot read, `decimals` where it makes numbers of them, `astral` where it cannot write a character
   * beyond U+FFFF. Each has its reason beside the case.
   */
  readonly cannot?: readonly string[]
}

const notes = { bmp: 'Grüße & <tags> ]]> ', astral: '😀' }
const picture = Buffer.from([
  0x89,
  0x50,
  0x4e,
  0x47,
  0x0d,
  0x0a,
  0x1a,
  0x0a,
  ...Array.from({ length: 3000 }, (_, i) => i & 255),
])

export async function walk({ call, style, contract, customers: [kept, merged], cannot = [] }: Walked): Promise<void> {
  const does = (what: string): boolean => !cannot.includes(what)
  const money = (actual: string, expected: string): void =>
    does('decimals') ? assert.equal(actual, expected) : assert.equal(Number(actual), Number(expected))
  const note = notes.bmp + (does('astral') ? notes.astral : '')
  const called = new Set<string>()
  const well = async (operation: string, input: Input, as?: Caller): Promise<unknown> => {
    const said = await call(operation, input, as)
    assert.ok('output' in said, `${operation} succeeds: ${JSON.stringify(said)}`)
    called.add(operation)
    return said.output
  }
  const ill = async (fault: string, operation: string, input: Input, as?: Caller): Promise<string> => {
    if (!does(`fault ${fault}`)) return ''
    const said = await call(operation, input, as)
    assert.ok(said.fault, `${operation} draws ${fault}: ${JSON.stringify(said)}`)
    assert.match(said.fault.code ?? 'Sender', /Client|Sender/, `${operation}: ${fault}`)
    assert.ok(said.fault.reason, `${operation}: ${fault} has a reason`)
    const detail = String(said.fault.detail)
    assert.match(detail, new RegExp(fault), `${operation}: the detail is ${fault}`)
    return detail
  }
  const draft = (lines: readonly [product: string, quantity: number][], text = note) => {
    const line = lines.map(([product, quantity]) => ({ product, quantity }))
    return {
      customer: 'c-1',
      lines: style === 'encoded' ? line : { line },
      currency: 'EUR',
      ...(contract === 'v2' && { note: text }),
    }
  }

  // An order's whole life
  const made = await well('CreateOrder', { order: draft([['p-1', 2], ['p-2', 1]]) }) // biome-ignore format: a row
  const id = text(made, 'order', 'id')
  const total = text(made, 'order', 'total')
  assert.equal(text(made, 'order', 'state'), 'placed')
  if (contract === 'v2') assert.equal(text(made, 'order', 'note'), note)
  const got = await well('GetOrder', { id })
  assert.deepEqual(got, made, 'what was created is what is read')
  assert.equal(text(got, 'order', 'lines', 'line', 0, 'product'), 'p-1')
  assert.equal(text(got, 'order', 'lines', 'line', 1, 'quantity'), '1')
  const version = text(got, 'order', 'version')
  const replaced = await well('ReplaceOrder', { id, version, order: draft([['p-1', 1]]) })
  assert.notEqual(text(replaced, 'order', 'version'), version)
  assert.notEqual(text(replaced, 'order', 'total'), total)
  await ill('VersionConflict', 'ReplaceOrder', { id, version, order: draft([['p-1', 3]]) })
  await ill('Invalid', 'CreateOrder', { order: draft([['p-none', 1]]) })
  assert.match(await ill('PaymentDeclined', 'PayOrder', { id, method: 'card', amount: '0.01' }), /0\.01/)
  const amount = text(replaced, 'order', 'total')
  const payment = await well('PayOrder', { id, method: 'card', amount })
  money(text(payment, 'payment', 'amount'), amount)
  assert.ok(text(payment, 'payment', 'receipt'))
  assert.match(await ill('StateConflict', 'PayOrder', { id, method: 'card', amount }), /paid/)
  await ill('Forbidden', 'ShipOrder', { id, carrier: 'dhl' }, 'alice')
  assert.equal(text(await well('ShipOrder', { id, carrier: 'dhl' }, 'clara'), 'order', 'state'), 'shipped')
  const tracking = await well('TrackOrder', { id }, 'alice')
  assert.equal(text(tracking, 'tracking', 'carrier'), 'dhl')
  assert.ok(text(tracking, 'tracking', 'trackingNumber'))
  assert.equal(text(await well('DeliverOrder', { id }), 'order', 'state'), 'delivered')

  // One way
  const other = text(await well('CreateOrder', { order: draft([['p-3', 1]]) }), 'order', 'id')
  const due = text(await well('GetOrder', { id: other }), 'order', 'total')
  await well('PayOrder', { id: other, method: 'transfer', amount: due })
  await well('ShipOrder', { id: other, carrier: 'ups' })
  if (does('NotifyDelivery')) {
    await well('NotifyDelivery', { id: other })
    // Some clients send it in the background
    const state = async () => text(await well('GetOrder', { id: other }), 'order', 'state')
    for (let tries = 0; tries < 20 && (await state()) !== 'delivered'; tries++) await pause()
    assert.equal(await state(), 'delivered')
  }

  // Products, and more ordered than there is
  const product = await well('CreateProduct', { product: { name: 'Étagère', price: '12.50', stock: 1 } })
  const productId = text(product, 'product', 'id')
  money(text(product, 'product', 'price'), '12.50')
  assert.equal(text(await well('GetProduct', { id: productId }), 'product', 'name'), 'Étagère')
  if (does('ListProducts')) assert.equal(count(await well('ListProducts', { size: 3 }), 'products', 'product'), 3)
  const wanted = text(await well('CreateOrder', { order: draft([[productId, 5]]) }), 'order', 'id')
  await well('PayOrder', { id: wanted, method: 'card', amount: '62.50' })
  assert.match(await ill('OutOfStock', 'ShipOrder', { id: wanted, carrier: 'ups' }), new RegExp(productId))
  const cancelled = await well('CancelOrder', { id: wanted, reason: 'it takes too long' })
  assert.equal(text(cancelled, 'order', 'state'), 'cancelled')
  await well('DeleteOrder', { id: wanted })
  await ill('NotFound', 'GetOrder', { id: wanted })
  if (does('PutProductPicture')) {
    await well('PutProductPicture', { id: productId, picture: picture.toString('base64'), mediaType: 'image/png' })
    if (does('GetProductPicture')) {
      const shown = await well('GetProductPicture', { id: productId })
      assert.equal(text(shown, 'mediaType'), 'image/png')
      assert.deepEqual(Buffer.from(text(shown, 'picture'), 'base64'), picture)
    }
  }

  // Lists and searches
  if (does('ListOrders')) {
    const first = await well('ListOrders', { size: 2, state: 'delivered' })
    assert.equal(count(first, 'orders', 'order'), 2)
    const next = await well('ListOrders', { size: 2, cursor: text(first, 'next'), state: 'delivered' })
    assert.equal(count(next, 'orders', 'order'), 2)
    assert.notEqual(text(next, 'orders', 'order', 0, 'id'), text(first, 'orders', 'order', 0, 'id'))
  }
  if (does('SearchOrders')) {
    const word = `needle${id.replace(/\W/g, '')}`
    if (contract === 'v2') await well('CreateOrder', { order: draft([['p-1', 1]], `a ${word} here`) })
    const found = await well('SearchOrders', { q: contract === 'v2' ? word : 'lamp', size: 4 })
    assert.equal(count(found, 'orders', 'order'), contract === 'v2' ? 1 : 4)
  }

  // Customers
  assert.equal(text(await well('GetCustomer', { id: 'c-1' }), 'customer', 'id'), 'c-1')
  if (does('ListCustomers'))
    assert.ok(count(await well('ListCustomers', { tier: 'gold' }), 'customers', 'customer') > 0)
  assert.equal(text(await well('MergeCustomer', { id: merged, into: kept }), 'customer', 'id'), kept)

  // A report
  const job = text(await well('StartReport', { from: '2020-01-01', to: '2030-12-31', kind: 'stock' }), 'job', 'id')
  if (does('GetReportJob')) {
    let report: unknown
    for (let tries = 0; tries < 50; tries++) {
      report = await well('GetReportJob', { id: job })
      if (text(report, 'job', 'state') === 'completed') break
      await pause()
    }
    assert.equal(text(report, 'report', 'kind'), 'stock')
    assert.ok(count(report, 'report', 'rows', 'row') > 0)
  }

  const all = 22 - cannot.filter(each => /^[A-Z]/.test(each)).length
  assert.equal(called.size, all, `${all} operations were called, not ${[...called]}`)
}

const pause = () => new Promise(resolve => setTimeout(resolve, 100))

type Step = string | number

/** What is at a path; peers leave wrappers of one element out, and lists of one item. */
function at(value: unknown, path: readonly Step[]): unknown {
  return path.reduce<unknown>((here, step) => {
    if (typeof step === 'number') return Array.isArray(here) ? here[step] : here
    return here !== null && typeof here === 'object' && Object.hasOwn(here, step) ? Reflect.get(here, step) : here
  }, value)
}

function text(value: unknown, ...path: Step[]): string {
  const found = at(value, path)
  assert.ok(
    found !== undefined && found !== null && typeof found !== 'object',
    `${path.join('.')} in ${JSON.stringify(value)}`,
  )
  return String(found)
}

/** How many items a list has. */
function count(value: unknown, ...path: Step[]): number {
  const found = at(value, path)
  if (Array.isArray(found)) return found.length
  return found !== null && typeof found === 'object' && Object.keys(found).length > 0 ? 1 : 0
}
