/** A bridge with the resources that it finds in a port, before a service that is elsewhere. */
import { after } from 'node:test'
import { completeLimits, transportOptionsOf } from '../../src/bridge/bridge-limits.ts'
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { guessResources } from '../../src/bridge/guess-resources.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import { createPortDress, type PortDressOptions } from '../../src/client/port-dress.ts'
import type { Port } from '../../src/contract/exchange.ts'
import { anyone } from '../../src/contract/policy.ts'
import { startHosted } from '../host/hosted-service.ts'

export async function startResourceBridge(
  to: string,
  bridged: Port,
  { timeLimit = 20_000, worn = {} }: { readonly timeLimit?: number; readonly worn?: PortDressOptions } = {},
) {
  const transport = createHttpTransport(to, transportOptionsOf(completeLimits()))
  after(() => transport.close())
  const opened = openPort(bridged, [anyone])
  const resources = guessResources([opened])
  const declared = resources.map(each => each.resource)
  const contract = describeBridge('shop', 'urn:shop', [opened], declared)
  const notes: string[] = []
  const callerOf = (each: Port) =>
    createPortCaller(each, transport, { timeLimit, dress: createPortDress(each, undefined, to, worn) })
  const bridge = createBridge(contract, { callerOf, note: line => notes.push(line) }, resources)
  const { ask, server } = await startHosted({}, bridge)
  const json = { 'content-type': 'application/json' }
  const send = (method: string, target: string, value?: unknown, fields: Record<string, string> = {}) =>
    value === undefined
      ? ask(method, target, fields)
      : ask(method, target, { ...json, ...fields }, JSON.stringify(value))
  return { send, notes, server }
}

export const etagOf = ({ fields }: { readonly fields: Readonly<Record<string, unknown>> }): string =>
  String(fields['etag'])
