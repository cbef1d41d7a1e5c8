/** `diglot bridge`: a SOAP service of others, served by REST. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { anyone, type Grant, role } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import { collectOption, wholeNumberOption } from './option-types.ts'
import { failUsage } from './usage.ts'

/** Adds `bridge`. */
export function addBridgeCommand(program: Command): void {
  program
    .command('bridge')
    .description('serve a SOAP service of others by REST: each operation in JSON and XML, faults as problems')
    .argument('<wsdl>', 'its WSDL 1.1, in a file')
    .requiredOption('--to <url>', 'its address')
    .option('--map <contract.ts>', 'the contract to serve: written by diglot import, then edited')
    .option('--from <folder>', 'where documents are that the WSDL imports; repeatable', collectOption, [])
    .option('--port <number>', 'port; 0 picks a free one', wholeNumberOption(0, 65535), 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--role <name>', 'a role whose callers may ask; repeatable', collectOption, [])
    .option('--anyone', 'callers need no credentials here')
    .option('--time-limit <milliseconds>', 'for one answer of the service', wholeNumberOption(1, 600_000), 30_000)
    .option('--authorization <file>', 'the value of Authorization that is sent to the service, in a file')
    .action(bridgeCommand)
}

interface BridgeFlags {
  readonly to: string
  readonly map?: string
  readonly from: readonly string[]
  readonly port: number
  readonly host: string
  readonly role: readonly string[]
  readonly anyone?: boolean
  readonly timeLimit: number
  readonly authorization?: string
}

async function bridgeCommand(wsdl: string, flags: BridgeFlags): Promise<void> {
  const { createBridge } = await import('../bridge/bridged-service.ts')
  const { createPortCaller } = await import('../bridge/port-caller.ts')
  const { createHttpTransport } = await import('../client/http-transport.ts')
  const { startService } = await import('../host/serve.ts')
  const contract = flags.map === undefined ? await importBridge(wsdl, flags) : await loadMap(flags.map)
  const fields =
    flags.authorization === undefined ? {} : { authorization: readFileSync(flags.authorization, 'utf8').trim() }
  const transport = createHttpTransport(flags.to)
  const app = createBridge(contract, {
    callerOf: port => createPortCaller(port, transport, { timeLimit: flags.timeLimit, fields }),
    note: line => console.error(line),
  })
  const server = await startService(app, {
    port: flags.port,
    host: flags.host,
    data: ':memory:',
    onError: (incident, thrown) => console.error(`incident ${incident}:`, thrown),
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      transport.close()
      void server.close(10_000).then(() => process.exit(0))
    })
  console.log(`bridging ${server.url}/api to ${flags.to}`)
}

async function importBridge(wsdl: string, { from, role: roles, anyone: isOpen }: BridgeFlags): Promise<Service> {
  if (!isOpen && roles.length === 0) failUsage('nobody may ask: give --role <name>, or --anyone')
  const { readContractFile } = await import('../import/import-command.ts')
  const { describeBridge } = await import('../bridge/bridged-service.ts')
  const contract = readContractFile(wsdl, from)
  for (const { place, detail } of contract.losses) console.error(`${place}: ${detail}`)
  if (contract.ports.length === 0) throw new Error(`${wsdl} has no port for SOAP: give a WSDL 1.1 with a binding`)
  const grants: readonly Grant[] = isOpen ? [anyone] : roles.map(role)
  const name = basename(wsdl)
    .replace(/\.[^.]*$/, '')
    .replace(/[^A-Za-z0-9-]/g, '-')
    .toLowerCase()
  return describeBridge(name, contract.namespace, contract.ports, grants)
}

async function loadMap(file: string): Promise<Service> {
  if (!existsSync(file)) throw new Error(`${file} not found: write it with diglot import <wsdl> -o ${file}`)
  const module: { contract?: Service } = await import(pathToFileURL(resolve(file)).href)
  if (!module.contract?.ports) throw new Error(`${file} has no export contract made by service(…)`)
  return module.contract
}
