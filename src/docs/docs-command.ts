/** `diglot docs`: from the words of a command line to a folder of pages. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Implementation } from '../contract/implement.ts'
import { listOperations } from '../contract/operation.ts'
import type { ContractLoader } from '../diff/diff-sources.ts'
import { parseSiteManifest, type SiteManifest, siteManifestName } from '../pages/docs.ts'
import { buildSite, type SiteFiles } from './build-site.ts'
import { compareWithRelease, describeFaces } from './change-page.ts'
import { contractForReaders } from './reader-contract.ts'

export interface DocsFlags {
  readonly output: string
  readonly role: readonly string[]
  readonly address: string
  readonly against?: string
  readonly examples: boolean
  readonly force?: boolean
}

/** The reason why a site cannot be written, with what to change. */
export class DocsImpossible extends Error {}

/** @returns what to print */
export async function writeDocs(
  app: Implementation,
  file: string,
  flags: DocsFlags,
  loadApp: (file: string) => Promise<Implementation>,
): Promise<string> {
  const roles = readRoles(app, flags.role)
  await requireReplaceable(flags)
  const readable = (each: Implementation): Implementation => ({
    ...each,
    contract: contractForReaders(each.contract, roles),
  })
  const load: ContractLoader = async source => describeFaces(readable(await loadApp(source)))
  const release =
    flags.against === undefined ? undefined : await compareWithRelease(readable(app), flags.against, file, load)
  const address = flags.address.replace(/\/+$/, '')
  const files = await buildSite(app, { address, roles, examples: flags.examples, release })
  await replaceSite(flags.output, files, { title: app.contract.title, ...(roles && { roles }) })
  return `${files.size} files in ${flags.output}: open ${join(flags.output, 'index.html')}\n`
}

/** Undefined: a site of everything. `anyone` alone: callers without credentials. */
function readRoles(app: Implementation, given: readonly string[]): readonly string[] | undefined {
  if (given.length === 0) return undefined
  const { contract } = app
  const ports = contract.ports.flatMap(({ exchanges }) => Object.values(exchanges).flatMap(({ allow }) => allow))
  const grants = [...listOperations(contract).flatMap(each => each.grants), ...ports]
  const known = new Set(grants.map(({ role }) => role).filter(role => role !== '*'))
  const unknown = given.find(role => role !== 'anyone' && !known.has(role))
  if (unknown !== undefined)
    throw new DocsImpossible(`${unknown} is not a role of ${contract.service}: use ${['anyone', ...known].join(', ')}`)
  return given.filter(role => role !== 'anyone')
}

/** A folder with other files in it is left as it is. */
async function requireReplaceable({ output, force = false }: DocsFlags): Promise<void> {
  if (force || !existsSync(output) || existsSync(join(output, siteManifestName))) return
  const found = await readdir(output).catch((thrown: Error) => {
    throw new DocsImpossible(`${output} cannot be written: ${thrown.message}`)
  })
  if (found.length > 0)
    throw new DocsImpossible(`${output} has files that diglot docs has not written: give another folder, or --force`)
}

/**
 * Pages of the earlier site that no longer exist are removed, and nothing else. Meanwhile the
 * folder is not a site: readers of an old page for another role could be shown pages of this one.
 */
async function replaceSite(folder: string, files: SiteFiles, about: Omit<SiteManifest, 'files'>): Promise<void> {
  const place = join(folder, siteManifestName)
  const before = (existsSync(place) && parseSiteManifest(await readFile(place, 'utf8'))?.files) || []
  const keep = async (more: Pick<SiteManifest, 'files' | 'isUnfinished'>): Promise<void> => {
    const manifest: SiteManifest = { ...about, ...more, files: more.files.toSorted() }
    await writeFile(place, `${JSON.stringify(manifest, undefined, 2)}\n`)
  }
  await mkdir(folder, { recursive: true })
  await keep({ files: [...new Set([...before, ...files.keys()])], isUnfinished: true })
  for (const path of before) if (!files.has(path)) await rm(join(folder, path), { force: true })
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  await keep({ files: [...files.keys()] })
}
