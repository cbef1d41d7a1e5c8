/**
 * Finds a release to compare: a contract, a description in a file or at an address, or either of
 * them in a Git revision.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative, resolve } from 'node:path'
import type { Json } from '../base/objects.ts'
import type { Service } from '../contract/service.ts'
import type { Find } from '../describe/reader/wsdl-document.ts'
import { isXmlDocument, loadDescriptionParser } from '../import/description-text.ts'
import { createDocumentFinder } from '../import/document-files.ts'
import { readContract } from './read-contract.ts'
import { readRestDescription } from './read-openapi.ts'
import { readSoapDescription } from './read-soap.ts'
import { DiffImpossible, type ServiceDescription } from './service-description.ts'

/** A contract with the descriptions that its faces would publish. */
export interface LoadedContract {
  readonly contract: Service
  readonly openApi: string
  /** A WSDL for each served version. */
  readonly wsdls: readonly string[]
}
export type ContractLoader = (file: string) => Promise<LoadedContract>

const scripts = new Set(['.ts', '.mts', '.js', '.mjs'])
/** The largest tree of a revision, as tar. */
const archiveOctetsMax = 1024 * 1024 * 1024
const waitForDocumentMs = 10_000
/** The longest description that is read from an address. */
const documentOctetsMax = 64 * 1024 * 1024

/**
 * @param source a file, an http or https address, or `git:REVISION`, optionally followed by `:path`
 * @param sibling the file of the other release, used if `git:REVISION` names none
 */
export async function loadDescriptions(
  source: string,
  loadContract: ContractLoader,
  sibling?: string,
): Promise<readonly ServiceDescription[]> {
  if (/^https?:\/\//.test(source)) return readGivenDescription(await fetchDocument(source), source, findNothing)
  if (source.startsWith('git:')) return loadRevision(source, loadContract, sibling)
  return loadFile(source, source, loadContract)
}

async function loadFile(
  file: string,
  source: string,
  loadContract: ContractLoader,
): Promise<readonly ServiceDescription[]> {
  if (!scripts.has(extname(file)))
    return readGivenDescription(await readSource(file, source), source, (location, base) =>
      findBeside(location, base === source ? file : base),
    )
  return readLoadedContract(await loadContract(file), source)
}

/** @param source its name in findings */
export async function readLoadedContract(
  { contract, openApi, wsdls }: LoadedContract,
  source: string,
): Promise<readonly ServiceDescription[]> {
  const soap = wsdls.map(text => readSoapDescription(text, source, findNothing))
  return [
    readRestDescription(await parseDocument(openApi, source), source),
    ...joinDescriptions(soap),
    readContract(contract, source),
  ]
}

/** The versions of one release, which have different namespaces. */
function joinDescriptions(all: readonly ServiceDescription[]): readonly ServiceDescription[] {
  const [first] = all
  if (!first) return []
  return [
    {
      ...first,
      operations: new Map(all.flatMap(each => [...each.operations])),
      types: new Map(all.flatMap(each => [...each.types])),
      remarks: all.flatMap(each => each.remarks ?? []),
    },
  ]
}

const readSource = (file: string, source: string): Promise<Uint8Array> =>
  readFile(file).catch((thrown: NodeJS.ErrnoException) => {
    throw new DiffImpossible(
      thrown.code === 'ENOENT'
        ? `${source} not found: give a contract or a description`
        : `${source}: ${thrown.message}`,
    )
  })

const findNothing: Find = () => undefined
const findBeside = createDocumentFinder([])

/** XML is a WSDL or a schema; anything else is OpenAPI. */
async function readGivenDescription(
  octets: Uint8Array,
  source: string,
  find: Find,
): Promise<readonly ServiceDescription[]> {
  if (isXmlDocument(octets)) return [readSoapDescription(octets, source, find)]
  return [readRestDescription(await parseDocument(new TextDecoder().decode(octets), source), source)]
}

export async function parseDocument(text: string, source: string): Promise<Json> {
  const parse = await loadDescriptionParser(text)
  const { value, reason } = parse(text)
  if (reason !== undefined) throw new DiffImpossible(`${source} ${reason}`)
  return value
}

async function fetchDocument(address: string): Promise<Uint8Array> {
  const answer = await fetch(address, {
    headers: { accept: 'application/vnd.oai.openapi+json, application/json, application/wsdl+xml, text/xml' },
    signal: AbortSignal.timeout(waitForDocumentMs),
  }).catch((thrown: Error) => {
    throw new DiffImpossible(
      `${address} cannot be read: ${thrown.cause instanceof Error ? thrown.cause.message : thrown.message}`,
    )
  })
  if (!answer.ok)
    throw new DiffImpossible(`${address} responded with status ${answer.status}: give the address of a description`)
  const octets = await answer.bytes()
  if (octets.length > documentOctetsMax)
    throw new DiffImpossible(`${address} is longer than ${documentOctetsMax} octets`)
  return octets
}

function runGit(args: readonly string[], folder: string): Buffer {
  try {
    return execFileSync('git', args, { cwd: folder, maxBuffer: archiveOctetsMax, stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (thrown) {
    const message = thrown instanceof Error && 'stderr' in thrown ? String(thrown.stderr).trim().split('\n').at(-1) : ''
    throw new DiffImpossible(`git ${args.join(' ')}: ${message || 'failed'}`)
  }
}

/** Unpacks the tree of a revision inside the checkout, so that its modules find the packages. */
async function loadRevision(
  source: string,
  loadContract: ContractLoader,
  sibling: string | undefined,
): Promise<readonly ServiceDescription[]> {
  const [, revision = '', path] = /^git:([^:]+)(?::(.+))?$/.exec(source) ?? []
  const file = path ?? sibling
  if (file === undefined) throw new DiffImpossible(`${source} names no file: give git:REVISION:path`)
  const top = runGit(['rev-parse', '--show-toplevel'], process.cwd()).toString().trim()
  const folder = mkdtempSync(join(top, '.diglot-diff-'))
  try {
    const archive = runGit(['archive', '--format=tar', revision], top)
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    return await loadFile(join(folder, relative(top, resolve(file))), source, loadContract)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
