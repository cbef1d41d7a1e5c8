/** `diglot bridge`: another party's SOAP service as REST, or its REST service as SOAP. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { inspect } from 'node:util'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { messageOf } from '../base/attempt.ts'
import { memoizeByText } from '../base/memo.ts'
import type { BridgeLimits } from '../bridge/bridge-limits.ts'
import type { BridgedResource } from '../bridge/guess-resources.ts'
import { hasLater } from '../bridge/later-limits.ts'
import { type BridgeLeniency, bridgeLeniencies, isBridgeLeniency } from '../bridge/leniency.ts'
import type { CallerOptions, PortCaller } from '../bridge/port-caller.ts'
import type { Port } from '../contract/exchange.ts'
import { anyone, type Grant, isPublic, role } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import type { DescribedService } from '../import/import-command.ts'
import type { ImportedContract } from '../import/imported-contract.ts'
import type { Loss } from '../import/loss.ts'
import type { RestPort } from '../import/openapi/rest-port.ts'
import { addBackendTlsOptions, type BackendTls, type BackendTlsFlags, readBackendTls } from './backend-tls.ts'
import {
  type BehindAddresses,
  createBehindOption,
  describeBehindAddresses,
  locatePorts,
  requireSoleAddress,
} from './behind-addresses.ts'
import { addDressOptions, type DressFlags, readDressFlags, refuseDressFlags } from './bridge-dress.ts'
import { addLaterOptions, type LaterFlags, markLaterPorts, refuseLaterFlags, requireReplies } from './bridge-later.ts'
import { addLimitOptions, type LimitFlags, limitRates, readLimitFlags } from './bridge-limit-options.ts'
import { type BridgedContract, loadApiMap, loadBridge } from './bridge-map.ts'
import {
  addCallerOptions,
  addListenOptions,
  type ListenFlags,
  readListenFlags,
  reloadOnSignal,
} from './listen-options.ts'
import { collectOption, foldersOption, hostsOption, wholeNumberOption } from './option-types.ts'
import { failUsage, writeReaderLine } from './usage.ts'

/** Adds `bridge`. */
export function addBridgeCommand(program: Command): void {
  const command = program
    .command('bridge')
    .description('serve the SOAP service of another party as REST, or its REST service as SOAP')
    .argument('<description>', 'its WSDL or OpenAPI 3, in a file or at an address of a host that --fetch names')
    .addOption(createBehindOption())
    .option('--map <contract.ts>', 'the contract to serve: written by diglot import, then edited')
    .option('--from <folder>', 'a folder with documents that the description refers to; repeatable', foldersOption, [])
    .option('--fetch <host>', 'a host whose documents may be fetched; repeatable (default: none)', hostsOption, [])
    .option('--role <name>', 'a role whose callers may call; repeatable', collectOption, [])
    .option('--anyone', 'admit all callers, without credentials')
    .option(
      '--data <file>',
      'where credentials of callers and calls with a later answer are kept (default: ./data/<service>.sqlite, or nowhere without either)',
    )
    .option(
      '--time-limit <milliseconds>',
      'time for one response of the backend',
      wholeNumberOption(1, 600_000),
      30_000,
    )
    .addOption(createLenientOption())
    .option('--authorization <file>', 'file with the value of Authorization for the backend')
  for (const addOptions of [addListenOptions, addCallerOptions, addLimitOptions, addBackendTlsOptions, addDressOptions])
    addOptions(command)
  addLaterOptions(command).action(bridgeCommand)
}

const createLenientOption = (): Option =>
  new Option(
    '--lenient <name>',
    `deviations from its WSDL that responses of a SOAP service may have: ${bridgeLeniencies.join(', ')}; repeatable`,
  )
    .default([], 'none')
    .argParser((name: string, before: readonly BridgeLeniency[]) => {
      if (isBridgeLeniency(name)) return [...before, name]
      throw new InvalidArgumentError(`must be one of ${bridgeLeniencies.join(', ')}`)
    })

interface BridgeFlags extends BackendTlsFlags, DressFlags, LimitFlags, LaterFlags, Omit<ListenFlags, 'authorities'> {
  readonly to: BehindAddresses
  readonly map?: string
  readonly from: readonly string[]
  readonly fetch: readonly string[]
  readonly role: readonly string[]
  readonly anyone?: boolean
  readonly data?: string
  readonly timeLimit: number
  readonly lenient: readonly BridgeLeniency[]
  readonly authorization?: string
}

async function bridgeCommand(file: string, flags: BridgeFlags): Promise<void> {
  const { createBridge } = await import('../bridge/bridged-service.ts')
  const { startService } = await import('../host/serve.ts')
  const { createFolderOf } = await import('../store/private-file.ts')
  const limits = readLimitFlags(flags)
  const listening = readListenFlags(flags)
  const backend = readBackendTls(flags, flags.to)
  const grants = flags.map === undefined ? grantsOfFlags(flags) : refuseGrantFlags(flags)
  const described = await describeBehind(file, flags, grants)
  const isSoap = described?.kind !== 'rest'
  const bridged = isSoap
    ? await bridgeSoap(await openPorts(file, flags, grants, described?.ports), flags, limits, backend)
    : await bridgeRest(described.api, file, flags, limits, backend)
  const { resources, callerOf, close } = bridged
  const contract = limitRates(bridged.contract, flags)
  const replies = requireReplies(contract.ports, flags)
  const isKept = replies !== undefined || !isOpen(contract)
  const data = flags.data ?? (isKept ? join('data', `${contract.service}.sqlite`) : ':memory:')
  if (data !== ':memory:') createFolderOf(data)
  const app = createBridge(
    contract,
    {
      callerOf,
      note: writeReaderLine,
      turnLimit: flags.timeLimit,
      limits,
      ...(replies !== undefined && { later: { replies, limits: laterLimitsOf(flags) } }),
    },
    resources,
  )
  const server = await startService(app, {
    ...listening,
    data,
    insecure: true, // no people of a seed have passwords here; the flags or the map define the callers
    onError: (incident, thrown) => writeReaderLine(`incident ${incident}: ${inspect(thrown)}`),
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, async () => {
      await server.close(10_000) // waits for calls in progress
      close()
      process.exit(0)
    })
  reloadOnSignal(server)
  reloadOnSignal(backend, thrown => writeReaderLine(messageOf(thrown)))
  for (const each of resources ?? []) console.log(describeBridged(each))
  if (replies !== undefined) console.log(`answers come later to ${replies}/replies/`)
  if (!isOpen(contract))
    console.log(
      `credentials of callers: diglot key --keys ${flags.keys ?? `${data}.keys`} --subject <name> --role <role>`,
    )
  console.log(`bridging ${server.url}${isSoap ? '/api' : '/soap/Operations'} to ${describeBehindAddresses(flags.to)}`)
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

const laterLimitsOf = ({ answers, answersOfCaller, answerLimit }: LaterFlags) => ({
  answers,
  answersOfCaller,
  answerLimit: answerLimit * 1000,
})

/** No exchange demands credentials. */
const isOpen = ({ ports }: Service): boolean =>
  ports.every(({ exchanges }) => Object.values(exchanges).every(({ allow }) => isPublic(allow)))

/** Another party's service behind a contract. */
interface Bridged extends Pick<BridgedContract, 'contract' | 'resources'> {
  readonly callerOf: (port: Port) => PortCaller
  readonly close: () => void
}

function grantsOfFlags({ role: roles, anyone: isOpen }: BridgeFlags): readonly Grant[] {
  if (!isOpen && roles.length === 0) failUsage('no caller is admitted: give --role <name>, or --anyone')
  return isOpen ? [anyone] : roles.map(role)
}
function refuseGrantFlags({ role: roles, anyone: isOpen }: BridgeFlags): readonly Grant[] {
  if (isOpen || roles.length > 0)
    failUsage('with --map, the contract says who may call: write allow at its ports, and leave out --role and --anyone')
  return []
}
const callerOptions = ({ timeLimit, longest, longestPassing, authorization }: BridgeFlags): CallerOptions => ({
  timeLimit,
  longest,
  longestPassing,
  fields: authorization === undefined ? {} : { authorization: readFileSync(authorization, 'utf8').trim() },
})
function printLosses(losses: readonly Loss[]): void {
  for (const { place, detail } of losses) writeReaderLine(`${place}: ${detail}`)
}

async function bridgeSoap(
  bridged: BridgedContract,
  flags: BridgeFlags,
  limits: BridgeLimits,
  { tls }: BackendTls,
): Promise<Bridged> {
  const { createPortCaller } = await import('../bridge/port-caller.ts')
  const { createHttpTransport } = await import('../client/http-transport.ts')
  const { createPortDress } = await import('../client/port-dress.ts')
  const { passInputs } = await import('../bridge/passing-inputs.ts')
  const { transportOptionsOf } = await import('../bridge/bridge-limits.ts')
  const { createForgivenNotes } = await import('../bridge/leniency.ts')
  const { later: _, lenient = [], ...mapped } = bridged.behind ?? {}
  const dress = readDressFlags(flags, mapped)
  const behind = hasLater(bridged.contract.ports) ? { ...dress, addressing: dress.addressing || true } : dress
  const { contract } = bridged
  const places = locatePorts(
    flags.to,
    contract.ports.map(({ port }) => port),
  )
  const transports = new Map(
    [...new Set(places.values())].map(each => [
      each,
      createHttpTransport(each, { ...transportOptionsOf(limits), ...(tls && { tls }) }),
    ]),
  )
  const placeOf = (port: string): string => places.get(port)! // `locatePorts` gives each port one
  const dressOf = memoizeByText((port: string) =>
    createPortDress({ port, security: bridged.rules?.get(port) }, bridged.policies.get(port), placeOf(port), behind),
  )
  const leniency = {
    lenient: [...lenient, ...flags.lenient],
    forgave: createForgivenNotes(writeReaderLine),
  }
  const ports = contract.ports.map(each => passInputs(each, dressOf(each.port), limits.longestPassing))
  return {
    ...bridged,
    contract: { ...contract, ports },
    callerOf: port =>
      createPortCaller(port, transports.get(placeOf(port.port))!, {
        ...callerOptions(flags),
        ...leniency,
        dress: dressOf(port.port),
      }),
    close: () => transports.forEach(each => void each.close()),
  }
}

/** Undefined: there is a map of a SOAP service, which replaces a WSDL that is not available. */
async function describeBehind(
  file: string,
  flags: BridgeFlags,
  grants: readonly Grant[],
): Promise<DescribedService | undefined> {
  if (flags.map === undefined || existsSync(file) || flags.fetch.length > 0) {
    const { readDescribedService } = await import('../import/import-command.ts')
    return await readDescribedService(file, flags, grants)
  }
  if (/\.(json|ya?ml)$/i.test(file))
    throw new Error(`${file} not found: a bridge to a REST service needs its description, even with a map`)
  return undefined
}

/** Each operation of the description, or of the map, is an exchange of one port. */
async function bridgeRest(
  described: RestPort,
  file: string,
  flags: BridgeFlags,
  limits: BridgeLimits,
  { tls }: BackendTls,
): Promise<Bridged> {
  const { map } = flags
  refuseDressFlags(flags)
  refuseLaterFlags(flags)
  if (flags.lenient.length > 0)
    failUsage('--lenient is for answers in XML; answers of a REST service are always read leniently: leave it out')
  const { describeBridge } = await import('../bridge/bridged-service.ts')
  const { createBridgedRestCaller } = await import('../bridge/rest-caller.ts')
  if (map === undefined) printLosses(described.losses) // a map lists them in its head comment
  const { rest, contract } =
    map === undefined
      ? { rest: described, contract: describeBridge(described.name, described.namespace, [described.port]) }
      : await loadApiMap(map, file, described)
  const { createKeptTransport } = await import('../bridge/kept-transport.ts')
  const { transportOptionsOf } = await import('../bridge/bridge-limits.ts')
  const { decodings } = await import('../host/zlib-codings.ts')
  const to = requireSoleAddress(flags.to)
  const transport = createKeptTransport(to, {
    ...transportOptionsOf(limits),
    ...(tls && { tls }),
    decoders: decodings,
  })
  const caller = createBridgedRestCaller(rest, to, callerOptions(flags), transport.ask)
  const { passRestInputs } = await import('../bridge/rest-passing.ts')
  const ports = contract.ports.map(each => passRestInputs(each, rest, limits.longestPassing))
  return { contract: { ...contract, ports }, callerOf: () => caller, close: () => transport.close() }
}
/** The ports of a map, or those that the WSDL describes. */
const openPorts = (
  file: string,
  flags: BridgeFlags,
  grants: readonly Grant[],
  imported: ImportedContract | undefined,
): Promise<BridgedContract> =>
  flags.map === undefined
    ? importBridge(file, flags, grants, imported as ImportedContract) // without a map it has been read
    : loadBridge(flags.map, imported, flags)
async function importBridge(
  file: string,
  flags: BridgeFlags,
  grants: readonly Grant[],
  contract: ImportedContract,
): Promise<BridgedContract> {
  const { describeBridge, openPort } = await import('../bridge/bridged-service.ts')
  printLosses(contract.losses)
  if (contract.ports.length === 0) throw new Error(`${file} has no port for SOAP: give a WSDL with a binding`)
  const opened = contract.ports.map(each => openPort(each, grants))
  const ports = markLaterPorts(opened, contract.policies, flags, undefined)
  const { guessResources } = await import('../bridge/guess-resources.ts')
  const resources = guessResources(ports)
  const declared = resources.map(each => each.resource)
  const { namespaceOfContract } = await import('../import/imported-contract.ts')
  const name = nameOfDescription(file)
  return {
    contract: describeBridge(name, namespaceOfContract(contract, name), ports, declared),
    resources,
    policies: contract.policies,
  }
}

/** Named after its file; `stock` for an address such as `http://partner.example/stock.svc?wsdl`. */
function nameOfDescription(file: string): string {
  const path = /^https?:/i.test(file) ? (URL.parse(file)?.pathname ?? '') : file
  const name = basename(path)
    .replace(/\.[^.]*$/, '')
    .replace(/[^A-Za-z0-9-]/g, '-')
    .toLowerCase()
  return name || 'service'
}
