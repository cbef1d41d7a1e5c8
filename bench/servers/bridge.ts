/** `diglot bridge` before a WSDL in a file, with limits so high that the load never meets them. */
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import { anyone } from '../../src/contract/policy.ts'
import { startService } from '../../src/host/serve.ts'
import { readDescribedPorts } from '../../src/import/import-command.ts'
import { ready } from './report.js'

const [address = '', file = ''] = process.argv.slice(2)
const plenty = { count: 1e9, seconds: 60 }
const { ports, namespace } = await readDescribedPorts(file, { from: [], fetch: [] })
const described = describeBridge(
  'orders',
  namespace,
  ports.map(each => openPort(each, [anyone])),
)
const transport = createHttpTransport(address)
const app = createBridge(
  { ...described, limits: { reads: plenty, changes: plenty } },
  { callerOf: port => createPortCaller(port, transport, { timeLimit: 30_000 }), note: line => console.error(line) },
)
const server = await startService(app, { port: 0, data: ':memory:', flood: 1e9 })
ready(server.port)
