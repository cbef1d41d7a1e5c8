/**
 * `diglot new --from` a description: another party's contract, with handlers that are still to be
 * written.
 */
import { relative, resolve } from 'node:path'
import { listGrants } from '../../contract/operation.ts'
import { listRoles } from '../../contract/policy.ts'
import { importDocument } from '../../import/import-command.ts'
import type { Loss } from '../../import/loss.ts'
import { appendRecord } from '../../import/merge-edits.ts'
import { commonFacts, ProjectRefused, requireName, writeProject } from '../create-project.ts'
import { projectFiles } from '../project-files.ts'
import { type HandledParts, writeServiceSkeleton } from './write-handlers.ts'
import { makeSampleMessage, writeTrials } from './write-trials.ts'

/** The source of a project, and what its contract does not express of the description. */
export interface ImportedProject {
  readonly files: readonly string[]
  readonly losses: readonly Loss[]
  /** Whether documents to which the description refers were not found. */
  readonly isPartial: boolean
}

export interface ImportedProjectOptions {
  /** Folders with documents that the description imports by an address or only a name. */
  readonly documents: readonly string[]
  /** Hosts whose documents may be fetched. */
  readonly fetch: readonly string[]
}

/**
 * Writes a new project from the description of another party, as `createProject` does.
 * @param from a WSDL or an OpenAPI document: a file, or an address whose host may be contacted
 * @throws {ProjectRefused} as `createProject`, and if the description has no operation
 * @throws {Error} if the description cannot be read, with what to do
 */
export async function createImportedProject(
  folder: string,
  from: string,
  { documents, fetch }: ImportedProjectOptions,
): Promise<ImportedProject> {
  const at = resolve(folder)
  const facts = commonFacts(requireName(at))
  const { text, service, losses, missing } = await importDocument(from, documents, fetch)
  if ([service.resources, service.jobs, service.ports].every(each => each.length === 0))
    throw new ProjectRefused(
      `${from} has no operation that can be served: give a WSDL with a binding of SOAP, or an OpenAPI document with paths`,
    )
  const contract = nameCallers(postponeSecurity(appendRecord(text)))
  const roles = [...new Set([...listRoles(listGrants(service)), ...(contract.isNamed ? [partner] : [])])]
  const files = {
    'contract.ts': contract.text,
    'service.ts': writeServiceSkeleton(service, roles),
    'service.test.ts': writeTrials(service, roles.length === 0),
    ...projectFiles({
      ...facts,
      firstRequest: `${roles.length === 0 ? '' : '-u ann:ann-secret '}${writeFirstRequest(service)}`,
      wsdl:
        service.ports.length > 0 && service.resources.length === 0 ? `/soap/${service.ports[0]?.port}?wsdl` : undefined,
      source: writeImportArguments(at, from, { documents, fetch }),
    }),
  }
  writeProject(folder, at, files)
  return { files: Object.keys(files), losses, isPartial: missing.length > 0 }
}

/** The arguments of `diglot import`, as the project gives them. */
function writeImportArguments(at: string, from: string, { documents, fetch }: ImportedProjectOptions): string {
  const near = (path: string): string => `"${relative(at, resolve(path)).replaceAll('\\', '/')}"`
  const source = /^https?:\/\//i.test(from) ? `"${from}"` : near(from)
  return [source, ...documents.map(each => `--from ${near(each)}`), ...fetch.map(host => `--fetch ${host}`)].join(' ')
}

/** The role of callers of ports if the description does not say which callers they have. */
const partner = 'partner'

/** An edit of the imported file, as a person would make it: the next import keeps it. */
function nameCallers(text: string): { readonly text: string; readonly isNamed: boolean } {
  const closed = /^(const callers\d*: readonly Grant\[\] = )\[\]$/m
  if (!closed.test(text)) return { text, isNamed: false }
  const named = text
    .replace(closed, `$1[role('${partner}')]`)
    .replace(/^import \{ (.*) \} from 'diglot'$/m, (line, names: string) =>
      /\brole\b/.test(names) ? line : `import { ${names}, role } from 'diglot'`,
    )
  return { text: named, isNamed: true }
}

/**
 * A new project has no keys, and a server that demands a proof does not start without them: the
 * rule is commented out.
 */
const postponeSecurity = (text: string): string =>
  text.replaceAll(
    /^(const \w+: SecurityRule \| undefined = )(\{.*\})$/gm,
    '// In place of undefined, once messageSecurity has the keys: $2\n$1undefined',
  )

function writeFirstRequest({ resources: [resource], jobs: [job], ports: [port] }: HandledParts): string {
  const address = 'http://127.0.0.1:8080/api'
  if (resource) return `${address}/${resource.name}`
  const [name, exchange] = Object.entries(port?.exchanges ?? {})[0] ?? []
  if (!port || !name || !exchange) return `${address}/${job?.job ?? ''}`
  const { json } = makeSampleMessage(`${port.port}.${name}`, exchange, port.soap) ?? { json: '{}' }
  return `${address}/${port.port}/${name} -H 'Content-Type: application/json' -d '${json.replaceAll("'", `'\\''`)}'`
}
