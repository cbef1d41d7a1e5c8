/** `diglot bridge`: a SOAP service of others by REST, or a REST service by SOAP. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { memoizeByText } from '../base/memo.ts'
import type { BridgeLimits } from '../bridge/bridge-limits.ts'
import type { BridgedResource } from '../bridge/guess-resources.ts'
import type { CallerOptions, PortCaller } from '../bridge/port-caller.ts'
import type { PortDressOptions } from '../client/port-dress.ts'
import type { PortPolicy } from '../contract/endpoint-rule.ts'
import type { Port } from '../contract/exchange.ts'
import { anyone, type Grant, isPublic, role } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import type { Loss } from '../import/loss.ts'
import { addDressOptions, type DressFlags, readDressFlags, refuseDressFlags } from './bridge-dress.ts'
import { addLimitOptions, type LimitFlags, readLimitFlags } from './bridge-limit-options.ts'
import { collectOption, createPortOption, wholeNumberOption } from './option-types.ts'
import { failUsage } from './usage.ts'

/** Adds `bridge`. */
export function addBridgeCommand(program: Command): void {
  const command = program
    .command('bridge')
    .description('serve a SOAP service of others by REST, or a REST service by SOAP')
    .argument('<description>', 'its WSDL or OpenAPI 3, in a file or at an address of a host that --fetch names')
    .requiredOption('--to <url>', 'its address')
    .option('--map <contract.ts>', 'the contract to serve: written by diglot import, then edited')
    .option('--from <folder>', 'where documents are that the description refers to; repeatable', collectOption, [])
    .option('--fetch <host>', 'a host whose documents may be fetched; repeatable (default: none)', collectOption, [])
    .addOption(createPortOption())
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--role <name>', 'a role whose callers may ask; repeatable', collectOption, [])
    .option('--anyone', 'callers need no credentials here')
    .option(
      '--data <file>',
      'where the credentials of callers are kept (default: ./data/<service>.sqlite, or nowhere if anyone may ask)',
    )
    .option('--time-limit <milliseconds>', 'for one answer of the service', wholeNumberOption(1, 600_000), 30_000)
    .option('--authorization <file>', 'the value of Authorization that is sent to the service, in a file')
  addDressOptions(addLimitOptions(command)).action(bridgeCommand)
}

interface BridgeFlags extends DressFlags, LimitFlags {
  readonly to: string
  readonly map?: string
  readonly from: readonly string[]
  readonly fetch: readonly string[]
  readonly port: number
  readonly host: string
  readonly role: readonly string[]
  readonly anyone?: boolean
  readonly data?: string
  readonly timeLimit: number
  readonly authorization?: string
}

async function bridgeCommand(file: string, flags: BridgeFlags): Promise<void> {
  const { createBridge } = await import('../bridge/bridged-service.ts')
  const { startService } = await import('../host/serve.ts')
  const { createFolderOf } = await import('../store/private-file.ts')
  const { isXmlDescription } = await import('../import/import-command.ts')
  const limits = readLimitFlags(flags)
  const isSoap = flags.map !== undefined || (await isXmlDescription(file, flags))
  const { contract, resources, callerOf, close } = isSoap
    ? await bridgeSoap(file, flags, limits)
    : await bridgeRest(file, flags)
  const data = flags.data ?? (isOpen(contract) ? ':memory:' : join('data', `${contract.service}.sqlite`))
  if (data !== ':memory:') createFolderOf(data)
  const app = createBridge(
    contract,
    { callerOf, note: line => console.error(line), turnLimit: flags.timeLimit, limits },
    resources,
  )
  const server = await startService(app, {
    port: flags.port,
    host: flags.host,
    data,
    onError: (incident, thrown) => console.error(`incident ${incident}:`, thrown),
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      close()
      void server.close(10_000).then(() => process.exit(0))
    })
  for (const each of resources ?? []) console.log(describeBridged(each))
  if (data !== ':memory:')
    console.log(`credentials of callers: diglot key --keys ${data}.keys --subject <name> --role <role>`)
  console.log(`bridging ${server.url}${isSoap ? '/api' : '/soap/Operations'} to ${flags.to}`)
}

function describeBridged({
  resource,
  get,
  list,
  writes: { create, change, remove, compared },
}: BridgedResource): string {
  const writes = [
    create && `made by ${create.exchange}`,
    change && `changed by ${change.exchange}`,
    remove && `removed by ${remove.exchange}`,
    compared !== undefined && `compared by ${compared}`,
  ]
  return [`${resource.name}: read by ${get.exchange} and ${list.exchange}`, ...writes.filter(Boolean)].join(', ')
}

/** No exchange asks for credentials. */
const isOpen = ({ ports }: Service): boolean =>
  ports.every(({ exchanges }) => Object.values(exchanges).every(({ allow }) => isPublic(allow)))

interface BridgedContract {
  readonly contract: Service
  readonly resources?: readonly BridgedResource[]
  readonly policies: ReadonlyMap<string, PortPolicy>
  /** By the names of ports; they count where there are no policies. */
  readonly rules?: ReadonlyMap<string, Port['security']> | undefined
  /** What its map says of messages. */
  readonly behind?: PortDressOptions
}
/** A service of others behind a contract. */
interface Bridged extends Pick<BridgedContract, 'contract' | 'resources'> {
  readonly callerOf: (port: Port) => PortCaller
  readonly close: () => void
}

function grantsOfFlags({ role: roles, anyone: isOpen }: BridgeFlags): readonly Grant[] {
  if (!isOpen && roles.length === 0) failUsage('nobody may ask: give --role <name>, or --anyone')
  return isOpen ? [anyone] : roles.map(role)
}
const callerOptions = ({ timeLimit, longest, longestPassing, authorization }: BridgeFlags): CallerOptions => ({
  timeLimit,
  longest,
  longestPassing,
  fields: authorization === undefined ? {} : { authorization: readFileSync(authorization, 'utf8').trim() },
})
function tellLosses(losses: readonly Loss[]): void {
  for (const { place, detail } of losses) console.error(`${place}: ${detail}`)
}

async function bridgeSoap(file: string, flags: BridgeFlags, limits: BridgeLimits): Promise<Bridged> {
  const { createPortCaller } = await import('../bridge/port-caller.ts')
  const { createHttpTransport } = await import('../client/http-transport.ts')
  const { createPortDress } = await import('../client/port-dress.ts')
  const { passInputs } = await import('../bridge/passing-inputs.ts')
  const { transportOptionsOf } = await import('../bridge/bridge-limits.ts')
  const bridged = flags.map === undefined ? await importBridge(file, flags) : await loadBridge(flags.map, file, flags)
  const behind = readDressFlags(flags, bridged.behind)
  const transport = createHttpTransport(flags.to, transportOptionsOf(limits))
  const dressOf = memoizeByText((port: string) =>
    createPortDress({ port, security: bridged.rules?.get(port) }, bridged.policies.get(port), flags.to, behind),
  )
  const { contract } = bridged
  const ports = contract.ports.map(each => passInputs(each, dressOf(each.port), limits.longestPassing))
  return {
    ...bridged,
    contract: { ...contract, ports },
    callerOf: port => createPortCaller(port, transport, { ...callerOptions(flags), dress: dressOf(port.port) }),
    close: () => transport.close(),
  }
}

/** Each operation of the description is an exchange of one port. */
async function bridgeRest(file: string, flags: BridgeFlags): Promise<Bridged> {
  const grants = grantsOfFlags(flags)
  refuseDressFlags(flags)
  const { describeBridge } = await import('../bridge/bridged-service.ts')
  const { createBridgedRestCaller } = await import('../bridge/rest-caller.ts')
  const { readDescribedApi } = await import('../import/import-command.ts')
  const rest = await readDescribedApi(file, flags, grants)
  tellLosses(rest.losses)
  const caller = createBridgedRestCaller(rest, flags.to, callerOptions(flags))
  return { contract: describeBridge(rest.name, rest.namespace, [rest.port]), callerOf: () => caller, close: () => {} }
}

async function importBridge(file: string, flags: BridgeFlags): Promise<BridgedContract> {
  const grants = grantsOfFlags(flags)
  const { readDescribedPorts } = await import('../import/import-command.ts')
  const { describeBridge, openPort } = await import('../bridge/bridged-service.ts')
  const contract = await readDescribedPorts(file, flags)
  tellLosses(contract.losses)
  if (contract.ports.length === 0) throw new Error(`${file} has no port for SOAP: give a WSDL with a binding`)
  const ports = contract.ports.map(each => openPort(each, grants))
  const { guessResources } = await import('../bridge/guess-resources.ts')
  const resources = guessResources(ports)
  const declared = resources.map(each => each.resource)
  return {
    contract: describeBridge(nameOfDescription(file), contract.namespace, ports, declared),
    resources,
    policies: contract.policies,
  }
}

/** After its file; `stock` of an address such as `http://partner.example/stock.svc?wsdl`. */
function nameOfDescription(file: string): string {
  const path = /^https?:/i.test(file) ? (URL.parse(file)?.pathname ?? '') : file
  const name = basename(path)
    .replace(/\.[^.]*$/, '')
    .replace(/[^A-Za-z0-9-]/g, '-')
    .toLowerCase()
  return name || 'service'
}

/** The contract of a map; what messages prove is said by the map, or by the WSDL if it is there. */
async function loadBridge(
  map: string,
  wsdl: string,
  { from, fetch, role: roles, anyone: isOpen }: BridgeFlags,
): Promise<BridgedContract> {
  if (isOpen || roles.length > 0)
    failUsage(
      '--map names a contract, whose ports say who may ask: write it there (allow), without --role and --anyone',
    )
  const { contract: mapped, behind, resources: names } = await loadMap(map)
  const { readDescribedPorts } = await import('../import/import-command.ts')
  const isThere = existsSync(wsdl) || fetch.length > 0
  const policies = isThere ? (await readDescribedPorts(wsdl, { from, fetch })).policies : new Map<string, PortPolicy>()
  const contract = leaveSecurityBehind(mapped)
  const resources = await chooseResources(map, contract, names)
  const declared = resources.map(each => each.resource)
  const served = { ...contract, resources: [...contract.resources, ...declared] }
  return { contract: served, resources, rules: rulesOf(mapped), policies, ...(behind && { behind }) }
}

/** Ports of a map are those of the service behind, and so is what their messages prove. */
const leaveSecurityBehind = (contract: Service): Service => ({
  ...contract,
  ports: contract.ports.map(each => ({ ...each, security: undefined })),
})
const rulesOf = ({ ports }: Service): BridgedContract['rules'] =>
  new Map(ports.map(({ port, security }) => [port, security]))

/** Those that are found among the exchanges of a map, or of them the ones that it names. */
async function chooseResources(
  map: string,
  { ports }: Service,
  names: readonly string[] | undefined,
): Promise<readonly BridgedResource[]> {
  const { guessResources } = await import('../bridge/guess-resources.ts')
  const found = guessResources(ports)
  if (names === undefined) return found
  if (!Array.isArray(names)) throw new Error(`${map}: resources must be a list of names: write ['parts']`)
  const all = found.map(each => each.resource.name)
  const unknown = names.find(name => !all.includes(name))
  if (unknown !== undefined)
    throw new Error(`${map}: resources names ${unknown}, and its exchanges have ${all.join(', ') || 'no resource'}`)
  return found.filter(each => names.includes(each.resource.name))
}

interface BridgeMap {
  readonly contract: Service
  readonly behind?: PortDressOptions
  readonly resources?: readonly string[]
}
async function loadMap(file: string): Promise<BridgeMap> {
  if (!existsSync(file)) throw new Error(`${file} not found: write it with diglot import <wsdl> -o ${file}`)
  const module: Partial<BridgeMap> = await import(pathToFileURL(resolve(file)).href)
  if (!module.contract?.ports) throw new Error(`${file} has no export contract made by service(…)`)
  return { ...module, contract: module.contract }
}
