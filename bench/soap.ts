/**
 * SOAP beside other stacks. The first rows: one message of 1 KB, document/literal in SOAP 1.1, the same octets to each
 * server; each parses and binds it (Diglot and Spyne validate too) and answers with the order, which is compared.
 */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import app from '../examples/orders/service.ts'
import { writeWsdl11 } from '../src/describe/wsdl11.ts'
import { signToken } from '../src/identity/bearer-token.ts'
import { openLocalKey } from '../src/identity/local-key.ts'
import { fromXml } from '../test/peers/soap-xml.ts'
import {
  type Ask,
  answerTo,
  compare,
  inFolder,
  peersInstalled,
  type Row,
  row,
  skipped,
  start,
  stayOff,
  stop,
} from './harness.ts'
import { orderXml, shop } from './servers/shop.ts'
import { type Peer, peers } from './soap-peers.ts'

/** A message whose names have a prefix, which may be another each time. */
const envelope = (body: string, prefix = 'soap'): string =>
  `<?xml version="1.0" encoding="UTF-8"?><${prefix}:Envelope xmlns:${prefix}="http://schemas.xmlsoap.org/soap/envelope/"><${prefix}:Body>${body}</${prefix}:Body></${prefix}:Envelope>`

export function post(path: string, action: string, body: string, fields = '', prefix?: string): string {
  const content = envelope(body, prefix)
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: "${action}"\r\n${fields}Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`
}

const order = orderXml(5)
export const call: Ask = {
  request: post('/soap/v1', 'urn:diglot:shop:v1/CreateOrder', order),
  contains: 'product-1005',
  status: 200,
}
const what = `SOAP call of ${envelope(order).length} octets, validated`

export const soap = (): Promise<Row[]> =>
  inFolder(async folder => {
    peersInstalled()
    stayOff()
    return [...(await calls(folder)), ...(await orders(folder))]
  })

async function calls(folder: string): Promise<Row[]> {
  const rows: Row[] = []
  const diglot = await start('diglot', 'echo.ts')
  try {
    assert.deepEqual(meaning(await answerTo(diglot.port, call)), expected)
    for (const [i, peer] of peers.entries()) rows.push(await beside(peer, join(folder, String(i))))
    const floor = await start('node:http', 'constant.js', [await contentOf(diglot.port)])
    const found = await compare({ target: diglot, ask: call }, { target: floor, ask: call }).finally(() => stop(floor))
    rows.push(row(what, 'node:http, the POST read, a constant answer', '≤ 1.5', found))
  } finally {
    stop(diglot)
  }
  return rows

  async function beside({ name, goal, missing, warm, start: begin }: Peer, place: string): Promise<Row> {
    const why = missing()
    if (why) return skipped(what, name, why)
    mkdirSync(place)
    wsdlFor(place)
    const target = await begin(place)
    try {
      assert.deepEqual(meaning(await firstAnswer(target.port)), expected, `${name} gives another answer`)
      const theirs = { target, ask: call, ...(warm && { warm }) }
      return row(what, name, goal, await compare({ target: diglot, ask: call }, theirs))
    } finally {
      stop(target)
    }
  }
}

/** A server may take connections before it serves: JAX-WS has answered 500 then. */
async function firstAnswer(port: number): Promise<string> {
  for (let left = 20; ; left--) {
    const answer = await answerTo(port, call)
    if (answer.startsWith('HTTP/1.1 200') || left === 0) return answer
    await pause(100)
  }
}

/** The order as it was sent, with what the service gives it. */
const [, sent] = /<order>(.*)<\/order>/s.exec(order) ?? []
const expected = meaning(
  envelope(`<CreateOrderResponse><order><id>o-1</id>${sent}<version>1</version></order></CreateOrderResponse>`),
)

/** The file of the WSDL that Diglot serves for it. */
export function wsdlFor(folder: string): string {
  const file = join(folder, 'orders.wsdl')
  writeFileSync(file, writeWsdl11(shop, 'v1', { address: 'http://127.0.0.1/soap/v1', soap: '1.1' }))
  return file
}

type Meaning = ReturnType<typeof fromXml>

/** What an answer says, whatever its prefixes, and how a stack writes a number. */
function meaning(answer: string): Meaning {
  const xml = answer.slice(answer.indexOf('<'), answer.lastIndexOf('>') + 1)
  return JSON.parse(JSON.stringify(fromXml(xml)), (key, value) => (key === 'price' ? String(Number(value)) : value))
}

const contentOf = async (port: number): Promise<string> => (await answerTo(port, call)).split('\r\n\r\n')[1] ?? ''

/** The whole service: a caller with a token, policy, one row of SQLite. */
async function orders(folder: string): Promise<Row[]> {
  const data = join(folder, 'orders.sqlite')
  const wsdl = join(folder, 'orders.wsdl')
  writeFileSync(wsdl, writeWsdl11(app.contract, 'v2', { address: 'http://127.0.0.1/soap/v2', soap: '1.1' }))
  const diglot = await start('diglot', 'diglot.ts', [data])
  const npm = await start('npm soap', 'soap.js', [wsdl, '/soap/v2'])
  try {
    const clara = { subject: 'clara', roles: ['clerk'], expires: 3600 }
    const token = await signToken(openLocalKey(`${data}.key`), 'orders', clara, Date.now())
    const body = '<GetOrder xmlns="urn:diglot:orders:v2"><id>o-1</id></GetOrder>'
    const fields = `Authorization: Bearer ${token}\r\n`
    const request = post('/soap/v2', 'urn:diglot:orders:v2/GetOrder', body, fields)
    const ask: Ask = { request, contains: '>o-1</', status: 200 }
    const found = await compare({ target: diglot, ask }, { target: npm, ask })
    return [row('SOAP GetOrder, policy and SQLite read', 'npm soap 1.13, no database', '≥ 3', found)]
  } finally {
    for (const each of [diglot, npm]) stop(each)
  }
}
