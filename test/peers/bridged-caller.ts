/** A SOAP service behind the bridge, each operation called by REST as a driver of a peer calls it. */

import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import { createPortDress, type PortDressOptions } from '../../src/client/port-dress.ts'
import type { Port } from '../../src/contract/exchange.ts'
import { anyone } from '../../src/contract/policy.ts'
import { startService } from '../../src/host/serve.ts'
import { readImportedContract } from '../../src/import/imported-contract.ts'
import { Malformed } from '../../src/xml/index.ts'
import { atEnd } from './peer.ts'
import type { Said } from './soap-driver.ts'

export interface BridgedBehind {
  readonly wsdl: string
  readonly to: string
  readonly behind: PortDressOptions
  /** Of TLS behind. */
  readonly ca: string
}

export interface BridgedCaller {
  readonly call: (operation: string, input: object) => Promise<Said>
  /** The statuses of failures, by the last word of their types. */
  readonly statuses: ReadonlyMap<string, number>
  /** What the bridge has told its operator. */
  readonly notes: readonly string[]
}

export async function startBridgedCaller({ wsdl, to, behind, ca }: BridgedBehind): Promise<BridgedCaller> {
  const imported = readImportedContract(Buffer.from(wsdl), to, () => undefined)
  if (imported instanceof Malformed) throw imported
  const { ports, policies, namespace } = imported
  const [first] = ports
  if (!first) throw new Error('the WSDL has no port')
  const transport = createHttpTransport(to, { tls: { ca } })
  const notes: string[] = []
  const callerOf = (port: Port) =>
    createPortCaller(port, transport, { timeLimit: 20_000, dress: createPortDress(port, policies.get(port.port), to, behind) }) // biome-ignore format: one call
  const contract = describeBridge('orders', namespace, ports.map(each => openPort(each, [anyone]))) // biome-ignore format: one call
  const server = await startService(createBridge(contract, { callerOf, note: line => void notes.push(line) }), {
    port: 0,
    data: ':memory:',
    logger: { info() {}, warn() {}, error: console.error },
  })
  atEnd(() => server.close(0))
  atEnd(() => transport.close())
  const statuses = new Map<string, number>()
  const call = async (operation: string, input: object): Promise<Said> => {
    const response = await fetch(`${server.url}/api/v1/${first.port}/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
    })
    const text = await response.text()
    const answered = text === '' ? {} : JSON.parse(text)
    if (response.ok) return { output: answered }
    const name = /[\w-]+$/.exec(answered.type)?.[0] ?? ''
    statuses.set(name, response.status)
    const isSender = response.status < 500
    return { fault: { code: isSender ? 'Sender' : 'Receiver', reason: answered.detail, detail: text } }
  }
  return { call, statuses, notes }
}
