/** `diglot new`: a folder with a service, its tests, its container and its checks. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { messageOf } from '../base/attempt.ts'
import { packageRoot } from './own-package.ts'
import { projectFiles } from './project-files.ts'
import { planResources } from './tables/plan-resources.ts'
import { readPostgresTables } from './tables/postgres-tables.ts'
import type { FoundTables, TableLoss } from './tables/sql-table.ts'
import { readSqliteFile, readSqlScript } from './tables/sqlite-tables.ts'
import { type TablesPlace, writeTablesService } from './tables/write-tables-service.ts'

interface Example {
  /** A first request, which anyone may send, or as a person of the seed. */
  readonly firstRequest: string
  /** Its service gets the name of the folder. */
  readonly isRenamed: boolean
}

/** The example that a project begins with: a folder of `examples/`. */
export const starterExamples = {
  tickets: {
    firstRequest: `http://127.0.0.1:8080/api/tickets -H 'Content-Type: application/json' -d '{"question":"Why?"}'`,
    isRenamed: true,
  },
  hello: {
    firstRequest: `http://127.0.0.1:8080/api/greetings -H 'Content-Type: application/json' -d '{"name":"world"}'`,
    isRenamed: true,
  },
  empty: { firstRequest: 'http://127.0.0.1:8080/api', isRenamed: true },
  clinic: {
    firstRequest: '-u dana:dana-secret http://127.0.0.1:8080/api/patients',
    isRenamed: false,
  },
} as const satisfies Record<string, Example>

export type StarterExample = keyof typeof starterExamples

/** Why no project was created, and what to do. */
export class ProjectRefused extends Error {
  override readonly name = 'ProjectRefused'
}

/**
 * Writes a new project, in a folder that may exist already, and returns the paths of its files
 * within the folder. A file that exists is never overwritten.
 * @param folder its last part names the service: a lower-case letter, then letters, digits, "-"
 * @throws {ProjectRefused} for a name that no service can have, for files that exist, and for a
 * folder that cannot be written
 */
export function createProject(folder: string, from: StarterExample): readonly string[] {
  const at = resolve(folder)
  const files = listProjectFiles(requireName(at), from)
  writeProject(folder, at, files)
  return Object.keys(files)
}

/** @throws {ProjectRefused} for a file that exists; then nothing is written */
export function writeProject(folder: string, at: string, files: Readonly<Record<string, string>>): void {
  const present = Object.keys(files).filter(path => existsSync(join(at, path)))
  if (present.length > 0)
    throw new ProjectRefused(
      `${folder} already has ${present.join(', ')}: give another folder, or move them away; nothing was written`,
    )
  for (const [path, text] of Object.entries(files)) writeNewFile(at, path, text)
}

/** The name of the service, by its folder. */
export function requireName(at: string): string {
  const name = basename(at)
  if (name === 'diglot')
    throw new ProjectRefused('npm installs no package under its own name: give a folder that is not named diglot')
  if (/^[a-z](?:-?[a-z0-9])*$/.test(name)) return name
  throw new ProjectRefused(
    `"${name}" cannot name a service: give a folder whose name is a lower-case letter, then lower-case letters, digits and single "-"`,
  )
}

function listProjectFiles(name: string, from: StarterExample): Readonly<Record<string, string>> {
  const { isRenamed, firstRequest } = starterExamples[from]
  const examples = join(packageRoot, 'examples', from)
  const rename = (text: string): string =>
    isRenamed ? text.replace(/(\bservice\(')[^']*(', \{ namespace: 'urn:example:)[^']*/, `$1${name}$2${name}`) : text
  const sources = readdirSync(examples).map(file => {
    const text = readFileSync(join(examples, file), 'utf8').replaceAll(`examples/${from}/`, '')
    return [file, rename(text)] as const
  })
  return { ...Object.fromEntries(sources), ...projectFiles({ ...commonFacts(name), firstRequest }) }
}

/** Facts that every project states about itself and this package. */
export function commonFacts(name: string) {
  const { version, engines, devDependencies } = readOwnManifest()
  return {
    name,
    title: `${name[0]?.toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`,
    version,
    node: engines.node,
    typescript: devDependencies.typescript,
    nodeTypes: devDependencies['@types/node'],
  }
}

/** The tables from which a project is made, and what its contract does not express of them. */
export interface TablesProject {
  readonly files: readonly string[]
  readonly losses: readonly TableLoss[]
}

/**
 * Writes a new project over existing tables, as `createProject` does; the database is only read.
 * @param from a SQLite file, a script that creates tables (`.sql`), or the address of a PostgreSQL
 * database
 * @throws {ProjectRefused} as `createProject`, and if no table can be read
 */
export async function createTablesProject(folder: string, from: string): Promise<TablesProject> {
  const at = resolve(folder)
  const name = requireName(at)
  const place = findTables(at, from)
  const plan = planResources(await readPlaceTables(from, place), place.kind === 'postgres')
  const [first] = plan.resources
  if (!first) {
    const why = plan.losses.map(({ place, detail }) => `${place}: ${detail}`).join('; ')
    throw new ProjectRefused(
      `${hidePassword(from)} has no table that can be served${why === '' ? '' : ` (${why})`}: give another`,
    )
  }
  const facts = commonFacts(name)
  const helpers = ['cells.ts', 'table.ts', place.kind === 'postgres' ? 'postgres-database.ts' : 'sqlite-database.ts']
  const files = {
    ...writeTablesService({ name, title: facts.title, place, plan }),
    ...Object.fromEntries(
      helpers.map(file => [file, readFileSync(join(packageRoot, 'examples', 'tables', file), 'utf8')]),
    ),
    ...(place.kind === 'script' && { 'tables.sql': readFileSync(from, 'utf8') }),
    ...projectFiles({
      ...facts,
      firstRequest: `-u ann:ann-secret http://127.0.0.1:8080/api/${first.name}`,
      ...(place.kind === 'postgres' && { packages: readPackages(['pg'], ['@types/pg']) }),
    }),
  }
  writeProject(folder, at, files)
  return { files: Object.keys(files), losses: plan.losses }
}

/** A file as the project refers to it; the password of an address is not kept. */
function findTables(at: string, from: string): TablesPlace {
  if (isPostgres(from)) return { kind: 'postgres', address: hidePassword(from) }
  if (/\.sql$/i.test(from)) return { kind: 'script', source: basename(from) }
  return { kind: 'sqlite', file: relative(at, resolve(from)).replaceAll('\\', '/') }
}
const isPostgres = (from: string): boolean => /^postgres(?:ql)?:\/\//.test(from)
/** As the store of a service reads them (`store/server-list.ts`); a project has its own pool. */
const namesSeveral = (address: string): boolean => /^\w+:\/\/(?:[^/?#]*@)?[^/?#]*,|[?&]host=[^&]*,/.test(address)
const hidePassword = (from: string): string =>
  isPostgres(from) ? from.replace(/^(\w+:\/\/[^:@/]*):[^@]*@/, '$1@') : from

async function readPlaceTables(from: string, { kind }: TablesPlace): Promise<FoundTables> {
  if (kind === 'postgres' && namesSeveral(from))
    throw new ProjectRefused(
      `${hidePassword(from)} names several servers: give the address of the one to read the tables from`,
    )
  try {
    if (kind === 'postgres') return await readPostgresTables(from)
    return kind === 'script' ? readSqlScript(readFileSync(from, 'utf8')) : readSqliteFile(from)
  } catch (thrown) {
    throw new ProjectRefused(`${hidePassword(from)} cannot be read (${messageOf(thrown)}): ${cures[kind]}`)
  }
}
const cures: Readonly<Record<TablesPlace['kind'], string>> = {
  postgres:
    'check that the database runs, that the address names its user and the database, and that pg is installed (npm install pg)',
  script:
    'SQLite reads a script; for one of another database, give the address of the database, or remove what SQLite does not support',
  sqlite:
    'give an SQLite file, a script that ends in .sql, postgres://…, a WSDL (.wsdl) or an OpenAPI document (.json, .yaml)',
}
/** Our versions of the other packages that a project needs. */
function readPackages(dependencies: readonly string[], devDependencies: readonly string[]) {
  const own = readOwnManifest()
  const versionOf = (name: string) => [name, own.devDependencies[name] ?? '*'] as const
  return {
    dependencies: Object.fromEntries(dependencies.map(versionOf)),
    devDependencies: Object.fromEntries(devDependencies.map(versionOf)),
  }
}

interface PackageFacts {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly devDependencies: Readonly<Record<string, string>> & {
    readonly typescript: string
    readonly '@types/node': string
  }
}
const readOwnManifest = (): PackageFacts => JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) // our own

function writeNewFile(at: string, path: string, text: string): void {
  try {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text, { flag: 'wx' })
  } catch (thrown) {
    const why = thrown instanceof Error && 'code' in thrown ? thrown.code : thrown
    throw new ProjectRefused(`${join(at, path)} cannot be written (${why}): give a folder that you may write to`)
  }
}
