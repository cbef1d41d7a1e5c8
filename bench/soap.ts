/** SOAP beside npm soap with the same WSDL, and beside node:http that answers a constant. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import app from '../examples/orders/service.ts'
import { wsdl11 } from '../src/describe/wsdl11.ts'
import { localKey } from '../src/host/key.ts'
import { sign } from '../src/host/token.ts'
import { type Ask, compare, peersInstalled, type Row, start, stayOff, stop } from './harness.ts'

const envelope = (body: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`

const post = (action: string, content: string, fields: string): string =>
  `POST /soap/v2 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: "urn:diglot:orders:v2/${action}"\r\n${fields}Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`

export async function soap(): Promise<Row[]> {
  peersInstalled()
  stayOff()
  const folder = mkdtempSync(join(tmpdir(), 'diglot-bench-'))
  const data = join(folder, 'orders.sqlite')
  const wsdl = join(folder, 'orders.wsdl')
  writeFileSync(wsdl, wsdl11(app.contract, 'v2', { address: 'http://127.0.0.1/soap/v2', soap: '1.1' }))
  const diglot = await start('diglot', 'diglot.ts', [data])
  const npm = await start('npm soap', 'soap.js', [wsdl])
  const answer = envelope(
    '<GetOrderResponse xmlns="urn:diglot:orders:v2"><order><id>o-1</id></order></GetOrderResponse>',
  )
  const floor = await start('node:http', 'constant.js', [answer])
  try {
    const token = await sign(
      localKey(`${data}.key`),
      'orders',
      { subject: 'clara', roles: ['clerk'], expires: 3600 },
      Date.now(),
    )
    const content = envelope('<GetOrder xmlns="urn:diglot:orders:v2"><id>o-1</id></GetOrder>')
    const request = post('GetOrder', content, `Authorization: Bearer ${token}\r\n`)
    const ask: Ask = { request, contains: '>o-1</', status: 200 }
    const beside = await compare({ target: diglot, ask }, { target: npm, ask }, { count: 2000 })
    const above = await compare({ target: diglot, ask }, { target: floor, ask }, { count: 2000 })
    return [
      {
        what: 'SOAP GetOrder, policy and SQLite read',
        against: 'npm soap 1.13, no database',
        ratio: beside.ratio,
        goal: '≥ 3',
        note: `${beside.ours.toFixed(0)} µs, ${beside.theirs.toFixed(0)} µs`,
      },
      {
        what: 'the same (cost as a multiple)',
        against: 'node:http answering a constant',
        ratio: 1 / above.ratio,
        note: `${above.ours.toFixed(0)} µs, ${above.theirs.toFixed(0)} µs`,
      },
    ]
  } finally {
    for (const each of [diglot, npm, floor]) stop(each)
    rmSync(folder, { recursive: true, force: true })
  }
}
