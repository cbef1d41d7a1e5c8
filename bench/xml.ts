/**
 * XML, measured against peers: `node bench/xml.ts`. CPU time, both sides in turn in one process, the median of the pairs.
 * Each side does the same for its user: namespace-aware events with names, attribute values and texts as strings; a tree; a
 * record with typed values.
 */
import { XmlDocument } from 'libxml2-wasm'
import { SaxesParser } from 'saxes'
import type { Cursor } from '../src/xml/cursor.ts'
import { name } from '../src/xml/name.ts'
import { scan } from '../src/xml/scanner.ts'
import { parse } from '../src/xml/tree.ts'

export interface Row {
  readonly what: string
  /** Microseconds of CPU for one document. */
  readonly ours: number
  readonly theirs: number
  readonly peer: string
  /** The peer's time over ours: the median of the pairs. */
  readonly ratio: number
}

const soap = 'http://www.w3.org/2003/05/soap-envelope'
const orders = 'urn:example:orders'
const line = (n: number) => `
        <o:line><o:product>product-${n}</o:product><o:quantity unit="piece">${n % 9}</o:quantity><o:price>${n}.50</o:price></o:line>`

function message(lines: number): Uint8Array {
  return new TextEncoder().encode(`<?xml version="1.0" encoding="UTF-8"?>
<soap:Envelope xmlns:soap="${soap}" xmlns:wsa="http://www.w3.org/2005/08/addressing">
  <soap:Header>
    <wsa:Action soap:mustUnderstand="true">urn:example:orders/CreateOrder</wsa:Action>
    <wsa:MessageID>urn:uuid:6b29fc40-ca47-1067-b31d-00dd010662da</wsa:MessageID>
  </soap:Header>
  <soap:Body>
    <o:CreateOrder xmlns:o="${orders}">
      <o:customer>c-1024</o:customer>
      <o:currency>EUR</o:currency>
      <o:lines>${Array.from({ length: lines }, (_, n) => line(n + 1)).join('')}
      </o:lines>
    </o:CreateOrder>
  </soap:Body>
</soap:Envelope>
`)
}

/** Every event of the document, with all its strings. */
function events(bytes: Uint8Array): number {
  const cursor = scan(bytes)
  let seen = 0
  for (let event = cursor.next(); event !== 'after'; event = cursor.next()) {
    if (event === 'start') {
      seen += cursor.name.local.length
      for (let index = 0; index < cursor.attributes; index++) seen += cursor.attributeValue(index).length
    } else if (event === 'text') seen += cursor.value.length
    else seen++
  }
  return seen
}

function saxesEvents(text: string): number {
  const parser = new SaxesParser({ xmlns: true })
  let seen = 0
  parser.on('opentag', tag => {
    seen += tag.local.length
    for (const key in tag.attributes) seen += tag.attributes[key]!.value.length
  })
  parser.on('closetag', () => {
    seen++
  })
  parser.on('text', value => {
    seen += value.length
  })
  parser.write(text).close()
  return seen
}

const names = {
  envelope: name(soap, 'Envelope'),
  header: name(soap, 'Header'),
  body: name(soap, 'Body'),
  mustUnderstand: name(soap, 'mustUnderstand'),
  action: name('http://www.w3.org/2005/08/addressing', 'Action'),
  messageId: name('http://www.w3.org/2005/08/addressing', 'MessageID'),
  createOrder: name(orders, 'CreateOrder'),
  customer: name(orders, 'customer'),
  currency: name(orders, 'currency'),
  lines: name(orders, 'lines'),
  line: name(orders, 'line'),
  product: name(orders, 'product'),
  quantity: name(orders, 'quantity'),
  price: name(orders, 'price'),
}

interface Line {
  product: string
  quantity: number
  price: string
}

/** What a decoder compiled from a contract does: it expects names in an order and reads values. */
function decode(bytes: Uint8Array): { action: string; id: string; customer: string; currency: string; lines: Line[] } {
  const cursor = scan(bytes, { instructions: 'refuse' })
  start(cursor, names.envelope)
  start(cursor, names.header)
  start(cursor, names.action)
  if (cursor.attribute(names.mustUnderstand) !== 'true') throw new Error('mustUnderstand')
  const action = content(cursor)
  const id = value(cursor, names.messageId)
  end(cursor)
  start(cursor, names.body)
  start(cursor, names.createOrder)
  const customer = value(cursor, names.customer)
  const currency = value(cursor, names.currency)
  start(cursor, names.lines)
  const lines: Line[] = []
  while (cursor.child() === 'start') {
    if (cursor.name !== names.line) throw new Error('line')
    const product = value(cursor, names.product)
    const quantity = Number(value(cursor, names.quantity))
    const price = value(cursor, names.price)
    end(cursor)
    lines.push({ product, quantity, price })
  }
  end(cursor)
  end(cursor)
  end(cursor)
  cursor.finish()
  return { action, id, customer, currency, lines }
}

function start(cursor: Cursor, name: typeof names.line): void {
  if (cursor.child() !== 'start' || cursor.name !== name) throw new Error(`expected ${name.local}`)
}

function end(cursor: Cursor): void {
  if (cursor.child() !== 'end') throw new Error('expected the end')
}

function content(cursor: Cursor): string {
  return cursor.text() ?? end(cursor) ?? ''
}

function value(cursor: Cursor, name: typeof names.line): string {
  start(cursor, name)
  return content(cursor)
}

/** Microseconds of CPU for one call, over enough calls to be measured. */
function time(work: () => unknown, calls: number): number {
  const before = process.cpuUsage()
  for (let call = 0; call < calls; call++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

function pair(what: string, peer: string, ours: () => unknown, theirs: () => unknown, calls: number): Row {
  const pairs = Array.from({ length: 15 }, () => ({ ours: time(ours, calls), theirs: time(theirs, calls) })).slice(4)
  return {
    what,
    peer,
    ours: median(pairs.map(pair => pair.ours)),
    theirs: median(pairs.map(pair => pair.theirs)),
    ratio: median(pairs.map(pair => pair.theirs / pair.ours)),
  }
}

function libxml2(bytes: Uint8Array): void {
  using _document = XmlDocument.fromBuffer(bytes)
}

export async function run(): Promise<Row[]> {
  const small = message(3)
  const large = message(78)
  const text = { small: new TextDecoder().decode(small), large: new TextDecoder().decode(large) }
  return [
    pair(
      `events of ${large.length} octets`,
      'saxes',
      () => events(large),
      () => saxesEvents(text.large),
      500,
    ),
    pair(
      `events of ${small.length} octets`,
      'saxes',
      () => events(small),
      () => saxesEvents(text.small),
      4000,
    ),
    pair(
      `a record from ${small.length} octets; the peer only parses`,
      'libxml2-wasm',
      () => decode(small),
      () => libxml2(small),
      4000,
    ),
    pair(
      `a tree of ${large.length} octets`,
      'libxml2-wasm',
      () => parse(large),
      () => libxml2(large),
      500,
    ),
  ]
}

if (import.meta.main) {
  for (const { what, peer, ours, theirs, ratio } of await run()) {
    console.log(`${what}: ${ours.toFixed(2)} µs; ${peer} ${theirs.toFixed(2)} µs; ×${ratio.toFixed(2)}`)
  }
}
