/**
 * Answers that come later and have to be proven (docs/bridge.md): the orders service answers signed
 * and encrypted to where messages say, and an attacker stands between it and the bridge.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import app from '../../examples/orders/service.ts'
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { markLater } from '../../src/bridge/later-limits.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import { createPortDress } from '../../src/client/port-dress.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import type { Port } from '../../src/contract/exchange.ts'
import { anyone } from '../../src/contract/policy.ts'
import { readImportedContract } from '../../src/import/imported-contract.ts'
import { Malformed } from '../../src/xml/index.ts'
import { startHosted } from '../host/hosted-service.ts'
import { issueBank, issuePartner, partnerRoot, writeKeyFiles } from '../host/partner-keys.ts'
import { waitUntil } from './archive-bridge.ts'

const rules = {
  '/soap/signed': { callers: ['x509'], answers: 'signed' },
  '/soap/encrypted': { callers: ['x509'], encrypted: true, answers: 'encrypted' },
  '/soap/derived': { callers: ['x509'], symmetric: 'derived', encrypted: true, answers: 'encrypted' },
} satisfies Record<string, SecurityRule>
type Path = keyof typeof rules
const paths = Object.keys(rules) as Path[]
const endpoints = Object.fromEntries(
  Object.entries(rules).map(([path, security]) => [path, { version: 'v2', security }]),
)
const secured = { ...app, contract: { ...shop, endpoints: { '/soap/v2': { version: 'v2' }, ...endpoints } } }

const bank = issueBank('O=Shop/CN=shop.example')
const maria = issuePartner('CN=maria')
const folder = mkdtempSync(join(tmpdir(), 'diglot-later-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Holds what the service posts until the test decides its fate. */
const held: { readonly path: string; readonly type: string; readonly message: string }[] = []
const between = createServer(async (request: IncomingMessage, response) => {
  const message = Buffer.concat(await request.toArray()).toString()
  held.push({ path: request.url ?? '', type: request.headers['content-type'] ?? '', message })
  response.writeHead(202).end()
})
between.listen(0, '127.0.0.1')
await once(between, 'listening')
after(() => between.close())
const replies = `http://127.0.0.1:${(between.address() as AddressInfo).port}`

const behind = await startHosted(
  {
    messageSecurity: { authorities: partnerRoot, keyFiles: [writeKeyFiles(bank).files] },
    flood: 100_000,
    replies: [`${replies}/replies`],
  },
  secured as unknown as typeof app,
)

async function startBridge(path: Path, data: string) {
  const to = `${behind.server.url}${path}`
  const address = `${to}?wsdl=1.2`
  const found = readImportedContract(Buffer.from(await (await fetch(address)).arrayBuffer()), address, () => undefined)
  assert.ok(!(found instanceof Malformed))
  const transport = createHttpTransport(to)
  const keys = { ...maria, service: { certificates: bank.certificate } }
  const callerOf = (port: Port) =>
    createPortCaller(port, transport, {
      timeLimit: 20_000,
      dress: createPortDress(port, found.policies.get(port.port), to, { keys, addressing: true }),
    })
  const ports = found.ports.map(each => markLater(openPort(each, [anyone]), true, undefined, { keep: 86_400 }))
  const notes: string[] = []
  const contract = describeBridge('orders', found.namespace, ports)
  const note = (line: string) => void notes.push(line)
  const { ask, server } = await startHosted({ data }, createBridge(contract, { callerOf, note, later: { replies } }))
  const [{ port }] = ports as [Port]
  const start = async (id: string) => {
    const before = held.length
    const started = await ask(
      'POST',
      `/api/v1/${port}/GetOrder`,
      { 'content-type': 'application/json' },
      JSON.stringify({ id }),
    )
    assert.equal(started.status, 202, started.text + notes.join())
    await waitUntil(() => held.length > before)
    return { at: String(started.fields['location']), came: held.at(-1)! }
  }
  const deliver = async ({ path: to, type, message }: (typeof held)[number]) => {
    const response = await fetch(server.url + to, { method: 'POST', headers: { 'content-type': type }, body: message })
    return { status: response.status, text: await response.text() }
  }
  const stateOf = async (at: string) => JSON.parse((await ask('GET', at)).text).state
  const close = async () => {
    await server.close(0)
    transport.close()
  }
  after(close)
  return { start, deliver, stateOf, ask, notes, close }
}

for (const path of paths) {
  test(`WSS §10: a later reply of ${path} counts once it is proven, also after a restart`, async () => {
    const data = join(folder, `${path.slice(6)}.sqlite`)
    const first = await startBridge(path, data)
    const [one, other] = [await first.start('o-1'), await first.start('o-2')]
    const altered = (from: RegExp, to: string) => {
      const message = one.came.message.replace(from, to)
      assert.notEqual(message, one.came.message)
      return { ...one.came, message }
    }
    const forged = [
      altered(/<(\w+:)?Security .*<\/(\w+:)?Security>/s, ''),
      altered(/(<(?:\w+:)?SignatureValue>)(.{8})/s, '$1AAAAAAAA'),
      altered(/(<(?:\w+:)?RelatesTo[^>]*>)/, '$1 '),
      { ...other.came, path: one.came.path },
      { ...one.came, message: one.came.message.replace(/(<soap:Body)[^>]*>.*(<\/soap:Body>)/s, '$1>$2') },
    ]
    for (const each of forged) {
      const refused = await first.deliver(each)
      assert.equal(refused.status, 400, refused.text)
      assert.match(refused.text, /FailedCheck|InvalidAddressingHeader/)
      assert.equal(await first.stateOf(one.at), 'running')
    }
    assert.ok(
      first.notes.every(line => /was refused/.test(line)),
      first.notes.join('\n'),
    )
    await first.close()

    const second = await startBridge(path, data)
    for (const { at, came } of [one, other]) {
      assert.equal(await second.stateOf(at), 'running')
      const taken = await second.deliver(came)
      assert.equal(taken.status, 202, taken.text + second.notes.join())
      assert.equal(await second.stateOf(at), 'completed')
    }
    const result = await second.ask('GET', one.at.replace('/jobs/', '/'))
    assert.equal(JSON.parse(result.text).order.id, 'o-1')
    assert.equal((await second.deliver(one.came)).status, 202, 'a copy changes nothing')
    const none = await second.start('o-none')
    assert.equal((await second.deliver(none.came)).status, 202, second.notes.join())
    assert.equal((await second.ask('GET', none.at.replace('/jobs/', '/'))).status, 404, 'a fault that was proven')
  })
}
