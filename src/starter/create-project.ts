/** `diglot new`: a folder with a service, its tests, its container and its checks. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { projectFiles } from './project-files.ts'

interface Example {
  /** A first request that anyone may make, or with a person of the seed. */
  readonly firstRequest: string
  /** Its service is given the name of the folder. */
  readonly isRenamed: boolean
}

/** What a project can begin with: a folder of `examples/`. */
export const starterExamples = {
  tickets: {
    firstRequest: `http://127.0.0.1:8080/api/tickets -H 'Content-Type: application/json' -d '{"question":"Why?"}'`,
    isRenamed: true,
  },
  hello: {
    firstRequest: `http://127.0.0.1:8080/api/greetings -H 'Content-Type: application/json' -d '{"name":"world"}'`,
    isRenamed: true,
  },
  clinic: {
    firstRequest: '-u dana:dana-secret http://127.0.0.1:8080/api/patients',
    isRenamed: false,
  },
} as const satisfies Record<string, Example>

export type StarterExample = keyof typeof starterExamples

/** Why no project was made, with what to do. */
export class ProjectRefused extends Error {
  override readonly name = 'ProjectRefused'
}

const packageRoot = join(import.meta.dirname, '..', '..')

/**
 * Writes a new project, in a folder that may be there already, and returns the paths of its files
 * within the folder. A file that exists is never overwritten.
 * @param folder whose last part names the service: a lower-case letter, then letters, digits, "-"
 * @throws {ProjectRefused} for a name that no service can have, for files that are there, and for a
 *   folder that cannot be written
 */
export function createProject(folder: string, from: StarterExample): readonly string[] {
  const at = resolve(folder)
  const files = listProjectFiles(requireName(at), from)
  const present = Object.keys(files).filter(path => existsSync(join(at, path)))
  if (present.length > 0)
    throw new ProjectRefused(
      `${folder} already has ${present.join(', ')}: give another folder, or move them away; nothing was written`,
    )
  for (const [path, text] of Object.entries(files)) writeNewFile(at, path, text)
  return Object.keys(files)
}

function requireName(at: string): string {
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
  const { version, engines, devDependencies } = readOwnManifest()
  const examples = join(packageRoot, 'examples', from)
  const rename = (text: string): string =>
    isRenamed ? text.replace(/(\bservice\(')[^']*(', \{ namespace: 'urn:example:)[^']*/, `$1${name}$2${name}`) : text
  const sources = readdirSync(examples).map(file => {
    const text = readFileSync(join(examples, file), 'utf8').replaceAll(`examples/${from}/`, '')
    return [file, rename(text)] as const
  })
  const facts = {
    name,
    title: `${name[0]?.toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`,
    version,
    node: engines.node,
    typescript: devDependencies.typescript,
    nodeTypes: devDependencies['@types/node'],
    firstRequest,
  }
  return { ...Object.fromEntries(sources), ...projectFiles(facts) }
}

interface PackageFacts {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly devDependencies: { readonly typescript: string; readonly '@types/node': string }
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
