/**
 * SOAP clients beside one another: the same GetOrder to the same server, which answers a constant; each binds the answer,
 * and each answer is looked at. The server is on the first core, the client that is measured on the second.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { shop } from '../examples/orders/contract.ts'
import type { Service } from '../src/contract/service.ts'
import { writeWsdl11 } from '../src/describe/wsdl11.ts'
import {
  cpu,
  has,
  inFolder,
  on,
  paired,
  peersInstalled,
  quick,
  type Row,
  row,
  skipped,
  start,
  stop,
} from './harness.ts'

const envelope = (body: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`
const line = (product: number): string =>
  `<line><product>p-${product}</product><quantity>${product}</quantity><price>4.5</price></line>`
const answer = envelope(
  `<GetOrderResponse xmlns="urn:diglot:orders:v2"><order><id>o-1</id><customer>c-1</customer><lines>${[1, 2, 3, 4, 5].map(line).join('')}</lines><currency>EUR</currency><total>67.5</total><note>gift wrap please</note><placedAt>2026-01-01T09:00:00.000Z</placedAt><state>placed</state><version>1</version></order></GetOrderResponse>`,
)
const question = envelope('<GetOrder xmlns="urn:diglot:orders:v2"><id>o-1</id></GetOrder>')
const expected = ['o-1 c-1', ...[1, 2, 3, 4, 5].map(each => `p-${each} ${each} 4.5`), '67.5 1'].join(' ')
const what = `SOAP client, GetOrder, answer of ${answer.length} octets`

interface Client {
  /** Microseconds of CPU a call: of all its threads, as the kernel counts them. */
  readonly cost: (count: number, inFlight: number) => Promise<number>
  readonly end: () => void
}

/** A client program of `bench/clients`, on the second core, that has got the right answer once. */
async function begin(words: readonly string[]): Promise<Client> {
  const [program = '', ...rest] = on(1, words)
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${words.join(' ')} has ended`)
    return value
  }
  assert.equal(await next(), JSON.stringify(expected))
  const target = { name: program, process: child, port: 0 }
  return {
    cost: async (count, inFlight) => {
      const before = await cpu(target)
      child.stdin.write(`${count} ${inFlight}\n`)
      assert.equal(await next(), 'done')
      return ((await cpu(target)) - before) / count
    },
    end: () => void child.kill(),
  }
}

const clients = join(import.meta.dirname, 'clients')
const node = [process.execPath, '--conditions=diglot-source']
const python = '/usr/bin/python3'

export const client = (): Promise<Row[]> =>
  inFolder(async folder => {
    peersInstalled()
    const wsdl = join(folder, 'orders.wsdl')
    writeFileSync(
      wsdl,
      writeWsdl11(shop as unknown as Service, 'v2', { address: 'http://127.0.0.1/soap/v2', soap: '1.1' }),
    )
    const server = await start('node:http', 'constant.js', [answer])
    const given = [`http://127.0.0.1:${server.port}/soap/v2`, expected, wsdl, question]
    const ours = await begin([...node, join(clients, 'diglot.ts'), ...given])
    try {
      return await beside(ours, given)
    } finally {
      ours.end()
      stop(server)
    }
  })

async function beside(ours: Client, given: readonly string[]): Promise<Row[]> {
  const npm = [...node, join(clients, 'npm-soap.js'), ...given]
  const agent = [...node, join(clients, 'agent.js'), ...given]
  const zeep = [python, join(clients, 'zeep_client.py'), ...given.slice(0, 3)]
  const hasZeep = has(python, ['-c', 'import zeep'])
  return [
    await against('npm soap 1.13, validates nothing', npm, 1, '≥ 3.6'),
    await against('npm soap 1.13, validates nothing', npm, 32, '≥ 5'),
    hasZeep ? await against('zeep', zeep, 1, '≥ 6') : skipped(what, 'zeep', 'zeep is not installed'),
    await against('http.Agent alone: a constant POST, the answer not read', agent, 1),
    await against('http.Agent alone: a constant POST, the answer not read', agent, 32),
  ]

  async function against(name: string, words: readonly string[], inFlight: number, goal?: string): Promise<Row> {
    const theirs = await begin(words)
    try {
      const many = [await warmed(ours, inFlight), await warmed(theirs, inFlight)] as const
      const found = await paired(
        quick ? 3 : 9,
        () => ours.cost(many[0], inFlight),
        () => theirs.cost(many[1], inFlight),
      )
      return row(`${what}, ${inFlight} in flight`, name, goal, found)
    } finally {
      theirs.end()
    }
  }
}

/** Microseconds of CPU that one measurement takes, about. */
const enough = 300_000

/** Called until it runs as it will run; answers how many calls a measurement needs. */
async function warmed(client: Client, inFlight: number): Promise<number> {
  const until = performance.now() + (quick ? 200 : 2000)
  let cost = 0
  while (performance.now() < until) cost = await client.cost(300, inFlight)
  return Math.max(100, Math.round(enough / cost))
}
