/** A bridge to an address, in a process of its own, which reports how much memory it takes. */
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { createKeptTransport } from '../../src/bridge/kept-transport.ts'
import { passInputs } from '../../src/bridge/passing-inputs.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createBridgedRestCaller } from '../../src/bridge/rest-caller.ts'
import { passRestInputs } from '../../src/bridge/rest-passing.ts'
import { createMessageDress } from '../../src/client/dressed-message.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import type { Port } from '../../src/contract/exchange.ts'
import { anyone } from '../../src/contract/policy.ts'
import { startService } from '../../src/host/serve.ts'
import { archivePort } from './archive-port.ts'
import { readFileApi } from './file-api.ts'

const [, , to = '', kind] = process.argv
const limits = { timeLimit: 30_000, longestPassing: 1024 ** 3 }
const note = (line: string) => console.error(line)

function bridgeArchive() {
  const transport = createHttpTransport(to)
  const dress = createMessageDress(undefined, to, { mtom: true })
  const port = passInputs(openPort(archivePort, [anyone]), dress, limits.longestPassing)
  const callerOf = (each: Port) => createPortCaller(each, transport, { ...limits, dress })
  return createBridge(describeBridge('archive', 'urn:archive', [port]), { callerOf, note })
}
function bridgeFileApi() {
  const rest = readFileApi()
  const caller = createBridgedRestCaller(rest, to, limits, createKeptTransport(to).ask)
  const port = passRestInputs(rest.port, rest, limits.longestPassing)
  return createBridge(describeBridge('files', rest.namespace, [port]), { callerOf: () => caller, note })
}
const app = kind === 'rest' ? bridgeFileApi() : bridgeArchive()
const server = await startService(app, { port: 0, data: ':memory:' })

let peak = 0
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 10)
process.on('message', () => {
  process.send?.({ peak })
  peak = process.memoryUsage.rss()
})
process.send?.({ port: server.port })
