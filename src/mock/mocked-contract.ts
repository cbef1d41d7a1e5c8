/** The contract of a mock: from a module of this project, or from another party's WSDL. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { anyone } from '../contract/policy.ts'
import { type AnyService, service } from '../contract/service.ts'
import { loadModule } from '../host/operations/load-module.ts'
import { createDocumentFinder } from '../import/document-files.ts'
import { readImportedContract } from '../import/imported-contract.ts'
import { Malformed } from '../xml/index.ts'

export interface MockedContract {
  readonly contract: AnyService
  /** What a contract cannot express of the description, one line each. */
  readonly losses: readonly string[]
}

/**
 * @param file a module that exports a contract or an implementation, or a WSDL
 * @param folders with documents that a WSDL imports by address
 * @throws an error that says what to give
 */
export async function loadMockedContract(file: string, folders: readonly string[]): Promise<MockedContract> {
  if (!existsSync(file)) throw new Error(`${file} not found: give a contract, a service, a WSDL or an OpenAPI document`)
  if (/\.(wsdl|xml)$/i.test(file)) return readWsdlContract(file, folders)
  if (!/\.[cm]?[jt]s$/i.test(file))
    throw new Error(
      `${file} is not known as a contract: give a module (.ts, .js), a WSDL (.wsdl, .xml) or an OpenAPI document (.json, .yaml)`,
    )
  const module = await loadModule(file)
  const found = [module['default'], ...Object.values(module)].map(toContract).find(each => each !== undefined)
  if (!found) throw new Error(`${file} exports neither a contract made by service(…) nor an implementation`)
  return { contract: found, losses: [] }
}

function toContract(exported: unknown): AnyService | undefined {
  if (typeof exported !== 'object' || exported === null) return undefined
  if ('contract' in exported && 'handlers' in exported) return exported.contract as AnyService // made by `implement`
  const isContract = 'service' in exported && 'resources' in exported && 'ports' in exported
  return isContract ? (exported as unknown as AnyService) : undefined // made by `service`
}

/** Every caller may call every exchange, since a WSDL has no access policy. */
function readWsdlContract(file: string, folders: readonly string[]): MockedContract {
  const found = readImportedContract(readFileSync(file), resolve(file), createDocumentFinder(folders))
  if (found instanceof Malformed) throw new Error(`${file}: ${found.reason} (octet ${found.at})`)
  if (found.ports.length === 0)
    throw new Error(`${file} has no port of SOAP that can be served: give a WSDL with a binding`)
  const ports = found.ports.map(port => ({
    ...port,
    exchanges: Object.fromEntries(
      Object.entries(port.exchanges).map(([name, each]) => [name, { ...each, allow: [anyone] }]),
    ),
  }))
  const name = basename(file)
    .replace(/\.[^.]*$/, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '')
  const contract = service(/^[a-z]/.test(name) ? name : `mock${name}`, {
    namespace: 'urn:diglot:mock',
    resources: [],
    ports,
  })
  return { contract, losses: found.losses.map(({ place, detail }) => `${place}: ${detail}`) }
}
