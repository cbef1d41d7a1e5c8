/** A bridge to an address, in a process of its own, which tells how much memory it takes. */
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { passInputs } from '../../src/bridge/passing-inputs.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createMessageDress } from '../../src/client/dressed-message.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import { anyone } from '../../src/contract/policy.ts'
import { startService } from '../../src/host/serve.ts'
import { archivePort } from './archive-port.ts'

const [, , to = ''] = process.argv
const transport = createHttpTransport(to)
const dress = createMessageDress(undefined, to, { mtom: true })
const contract = describeBridge('archive', 'urn:archive', [
  passInputs(openPort(archivePort, [anyone]), dress, 1024 ** 3),
])
const app = createBridge(contract, {
  callerOf: each => createPortCaller(each, transport, { timeLimit: 30_000, longestPassing: 1024 ** 3, dress }),
  note: line => console.error(line),
})
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
