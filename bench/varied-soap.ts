/**
 * SOAP as it is asked in use: GetOrder of another order each time, and orders of which each differs in all its values, its
 * prefix and its size. Every answer must have the last product of its own message.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import app from '../examples/orders/service.ts'
import { writeWsdl11 } from '../src/describe/wsdl11.ts'
import { drawBelow } from './growth-data.ts'
import { type Ask, compare, quick, type Row, row, type Side, skipped, start, stop, type Target } from './harness.ts'
import { post, wsdlFor } from './soap.ts'
import { type Peer, peers } from './soap-peers.ts'

export interface SoapOrders {
  readonly data: string
  readonly diglot: Target
  /** A field line with a token. */
  readonly clerk: string
  readonly draw: () => number
}

export const variedSoap = async (folder: string, orders: SoapOrders): Promise<Row[]> => [
  await readOrders(folder, orders),
  ...(await makeOrders(folder)),
]

async function readOrders(folder: string, { data, diglot, clerk, draw }: SoapOrders): Promise<Row> {
  const wsdl = join(folder, 'orders.wsdl')
  writeFileSync(wsdl, writeWsdl11(app.contract, 'v2', { address: 'http://127.0.0.1/soap/v2', soap: '1.1' }))
  const npm = await start('npm soap', 'soap.js', [wsdl, '/soap/v2', data])
  const make = () => getOrder(`o-g${draw()}`, clerk)
  const side = (target: Target): Side => ({ target, ask: { ...make(), status: 200, vary: make } })
  const found = await compare(side(diglot), side(npm)).finally(() => stop(npm))
  return row('SOAP GetOrder, uniform, messages differ', 'npm soap 1.13, same SELECT', '≥ 3.5', found)
}
function getOrder(id: string, clerk: string): Pick<Ask, 'request' | 'contains'> {
  const body = `<GetOrder xmlns="urn:diglot:orders:v2"><id>${id}</id></GetOrder>`
  const request = post('/soap/v2', 'urn:diglot:orders:v2/GetOrder', body, `${clerk}\r\n`, `p${id.length}`)
  return { request, contains: `>${id}</` }
}

// Orders that are made

interface SizeRow {
  readonly what: string
  /** Lines of one order, of which each has some 110 octets. */
  readonly lines: (turn: number) => number
  readonly goals: { readonly npm: string; readonly gsoap: string }
}
const sizeRows: readonly SizeRow[] = [
  {
    what: 'SOAP call of 1.2 KB, everything differs, validated',
    lines: turn => 6 + drawBelow(3, turn, 'lines'),
    goals: { npm: '≥ 5.5', gsoap: '≥ 1.2' },
  },
  {
    what: 'SOAP calls of 0.5 to 20 KB, everything differs, validated',
    // As many short ones as long ones by powers of two: 1 to 180 lines.
    lines: turn => Math.round(180 ** (drawBelow(10_000, turn, 'lines') / 10_000)),
    goals: { npm: '≥ 7.5', gsoap: '≥ 1.2' },
  },
]

async function makeOrders(folder: string): Promise<Row[]> {
  const diglot = await start('diglot', 'echo.ts')
  try {
    const [npm, gsoap] = peers as readonly [Peer, Peer]
    return [
      ...(await beside(diglot, npm, join(folder, 'npm'), ({ goals }) => goals.npm)),
      ...(await beside(diglot, gsoap, join(folder, 'gsoap'), ({ goals }) => goals.gsoap)),
    ]
  } finally {
    stop(diglot)
  }
}

async function beside(diglot: Target, peer: Peer, place: string, goalOf: (size: SizeRow) => string): Promise<Row[]> {
  const why = peer.missing()
  if (why) return sizeRows.map(({ what }) => skipped(what, peer.name, why))
  mkdirSync(place)
  wsdlFor(place)
  const target = await peer.start(place)
  try {
    const rows: Row[] = []
    for (const size of sizeRows) {
      const [ours, theirs] = [createOrders(size), createOrders(size)]
      const found = await compare({ target: diglot, ask: ours }, { target, ask: theirs })
      rows.push(row(size.what, peer.name, goalOf(size), found))
    }
    return rows
  } finally {
    stop(target)
  }
}

/** Made before anything is counted: to write one takes the load longer than to send it. */
function createOrders({ lines }: SizeRow): Ask {
  const messages = Array.from({ length: quick ? 200 : 5000 }, (_, turn) => makeOrder(turn, lines(turn)))
  const [first = makeOrder(0, 1)] = messages
  let turn = 0
  return { ...first, status: 200, vary: () => messages[turn++ % messages.length] ?? first }
}

const currencies = ['EUR', 'USD', 'GBP']
const words = 'leave it with the neighbours on second floor if nobody is at home or call before you come please'.split(
  ' ',
)
function makeOrder(turn: number, lines: number): Pick<Ask, 'request' | 'contains'> {
  const draw = (limit: number, ...of: readonly (string | number)[]) => drawBelow(limit, turn, ...of)
  const product = (n: number) => `product-${draw(1e6, 'product', n)}-${turn}-${n}`
  const written = Array.from({ length: lines }, (_, n) => {
    const price = `${draw(2000, 'price', n)}.${10 + draw(90, 'cents', n)}`
    return `<line><product>${product(n)}</product><quantity>${1 + draw(99, 'quantity', n)}</quantity><price>${price}</price></line>`
  }).join('')
  const note = Array.from({ length: draw(20, 'note') }, (_, n) => words[draw(words.length, 'word', n)]).join(' ')
  const date = `20${26 + draw(9, 'year')}-0${1 + draw(9, 'month')}-${10 + draw(18, 'day')}`
  const body = `<CreateOrder xmlns="urn:diglot:shop:v1"><order><customer>c-${draw(1e6, 'customer')}</customer><currency>${currencies[draw(3, 'currency')]}</currency><delivery>${date}</delivery><express>${draw(2, 'express') === 1}</express><lines>${written}</lines><note>${note}</note></order></CreateOrder>`
  const request = post('/soap/v1', 'urn:diglot:shop:v1/CreateOrder', body, '', `s${draw(50, 'prefix')}`)
  return { request, contains: product(lines - 1) }
}
