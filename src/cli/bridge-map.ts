/** The file of `--map`: a contract of the backend, and further exports. */
import { existsSync } from 'node:fs'
import type { BridgedResource } from '../bridge/guess-resources.ts'
import { findUnknownChoice } from '../bridge/later-limits.ts'
import { requireLeniencies } from '../bridge/leniency.ts'
import type { PortPolicy } from '../contract/endpoint-rule.ts'
import type { Port } from '../contract/exchange.ts'
import type { Service } from '../contract/service.ts'
import { loadModule } from '../host/operations/load-module.ts'
import type { ImportedContract } from '../import/imported-contract.ts'
import type { RestPort } from '../import/openapi/rest-port.ts'
import { type LaterFlags, type MappedBehind, markLaterPorts } from './bridge-later.ts'

export interface BridgedContract {
  readonly contract: Service
  readonly resources?: readonly BridgedResource[]
  readonly policies: ReadonlyMap<string, PortPolicy>
  /** By the names of ports; used for ports without policies. */
  readonly rules?: ReadonlyMap<string, Port['security']> | undefined
  /** The options of its messages, from the map. */
  readonly behind?: MappedBehind
}
/**
 * The contract of a map; the demands on messages come from the map, or from the WSDL if there is
 * one.
 */
export async function loadBridge(
  map: string,
  imported: ImportedContract | undefined,
  flags: Pick<LaterFlags, 'later' | 'keepAnswers'>,
): Promise<BridgedContract> {
  const { contract: mapped, behind, resources: names } = await loadMap(map)
  const policies = imported?.policies ?? new Map<string, PortPolicy>()
  const unknown = findUnknownChoice(mapped.ports, behind?.later ?? false)
  if (unknown !== undefined)
    throw new Error(
      `${map}: behind.later names ${unknown}, and no exchange with an answer has this name: use true, or the names of some`,
    )
  requireLeniencies(`${map}: behind.lenient`, behind?.lenient ?? [])
  const plain = leaveSecurityBehind(mapped)
  const contract = { ...plain, ports: markLaterPorts(plain.ports, policies, flags, behind?.later) }
  const resources = await chooseResources(map, contract, names)
  const declared = resources.map(each => each.resource)
  const served = { ...contract, resources: [...contract.resources, ...declared] }
  return { contract: served, resources, rules: rulesOf(mapped), policies, ...(behind && { behind }) }
}

/** Ports of a map describe the backend, and so do the demands on their messages. */
const leaveSecurityBehind = (contract: Service): Service => ({
  ...contract,
  ports: contract.ports.map(each => ({ ...each, security: undefined })),
})
const rulesOf = ({ ports }: Service): BridgedContract['rules'] =>
  new Map(ports.map(({ port, security }) => [port, security]))

/** The resources that are found among the exchanges of a map, or that it names or describes. */
async function chooseResources(
  map: string,
  { ports }: Service,
  names: BridgeMap['resources'],
): Promise<readonly BridgedResource[]> {
  const { guessResources } = await import('../bridge/guess-resources.ts')
  const found = guessResources(ports)
  if (names === undefined) return found
  if (typeof names !== 'object' || names === null)
    throw new Error(`${map}: resources must be a list of names, ['parts'], or describe them, { parts: { … } }`)
  if (!isNameList(names)) return describeAsMapped(map, ports, names, found)
  const all = found.map(each => each.resource.name)
  const unknown = names.find(name => !all.includes(name))
  if (unknown !== undefined)
    throw new Error(`${map}: resources names ${unknown}, and its exchanges have ${all.join(', ') || 'no resource'}`)
  return found.filter(each => names.includes(each.resource.name))
}

const isNameList = (names: object): names is readonly string[] => Array.isArray(names)
async function describeAsMapped(
  map: string,
  ports: Service['ports'],
  described: Readonly<Record<string, unknown>>,
  found: readonly BridgedResource[],
): Promise<readonly BridgedResource[]> {
  const { describeResources } = await import('../bridge/described-resources.ts')
  try {
    return describeResources(ports, described, found)
  } catch (thrown) {
    throw thrown instanceof Error ? new Error(`${map}: ${thrown.message}`, { cause: thrown }) : thrown
  }
}

interface BridgeMap {
  readonly contract: Service
  readonly behind?: MappedBehind
  readonly resources?: readonly string[] | Readonly<Record<string, unknown>>
}
async function loadMap(file: string): Promise<BridgeMap> {
  if (!existsSync(file)) throw new Error(`${file} not found: write it with diglot import <wsdl> -o ${file}`)
  const module: Partial<BridgeMap> = await loadModule(file)
  if (!module.contract?.ports) throw new Error(`${file} has no export contract made by service(…)`)
  return { ...module, contract: module.contract }
}

/** The map of a REST service. */
export async function loadApiMap(map: string, document: string, described: RestPort) {
  const { mapApi } = await import('./mapped-api.ts')
  const { contract, behind, resources } = await loadMap(map)
  const extra = behind ? 'behind' : resources ? 'resources' : undefined
  if (extra !== undefined) throw new Error(`${map} exports ${extra}, which only a SOAP service has: remove it`)
  return { contract, rest: mapApi(described, contract, { map, document }) }
}
