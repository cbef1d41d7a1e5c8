/** `diglot import`: files in, TypeScript out. Only hosts that the user names are contacted. */
import {
  copyFileSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename } from 'node:path'
import { type Json, objectOf, stringOf } from '../base/objects.ts'
import type { Grant } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import { listPortElements } from '../contract/xml-derivation.ts'
import { listReachedTypes } from '../contract/xml-reach.ts'
import type { Find } from '../describe/reader/wsdl-document.ts'
import { isXmlDocument, loadAnyParser, loadDescriptionParser } from './description-text.ts'
import { type DocumentSources, type ReadDocument, readGivenDocument, readGivenFile } from './document-files.ts'
import { type ImportedContract, readNamedContract } from './imported-contract.ts'
import type { Loss } from './loss.ts'
import { appendRecord, mergeEdits } from './merge-edits.ts'
import { readImportedService } from './openapi/imported-service.ts'
import { readNamedOpenApi } from './openapi/openapi-document.ts'
import { type RestPort, readRestPort } from './openapi/rest-port.ts'
import { writeServiceTypescript } from './openapi/write-service.ts'
import { readPortRules } from './port-rule.ts'
import { writeTypescript } from './write-typescript.ts'

export interface ImportFlags {
  /** The file to write; undefined: standard output. */
  readonly output?: string
  readonly force?: boolean
  /** For OpenAPI: each operation becomes an exchange, and nothing a resource. */
  readonly operations?: boolean
  /** Folders with documents that others import by an address or only a name. */
  readonly from: readonly string[]
  /** Hosts whose documents may be fetched. */
  readonly fetch: readonly string[]
}
/** The result of importing a document. */
export interface ImportedDocument {
  /** The contract in TypeScript, without the record of `appendRecord`. */
  readonly text: string
  readonly service: Pick<Service, 'resources' | 'jobs' | 'ports'>
  readonly losses: readonly Loss[]
  /** Documents to which it refers but that were not found. */
  readonly missing: readonly string[]
}

/** Throws an error that says what to do. */
export async function importContract(
  file: string,
  { output, force, from, fetch, operations }: ImportFlags,
  print: { readonly text: (text: string) => void; readonly note: (line: string) => void },
): Promise<void> {
  const old = output !== undefined && existsSync(output) && !force ? readFileSync(output, 'utf8') : undefined
  if (old !== undefined && !mergeEdits(old, ''))
    throw new Error(
      `${output} exists, and no import has written it: give another name with --output, or --force to replace it`,
    )
  const { text, losses, missing } = await (operations
    ? importOperations(file, { from, fetch })
    : importDocument(file, from, fetch))
  const merged = old === undefined ? undefined : mergeEdits(old, text)
  if (output === undefined) print.text(text)
  else writeWhole(output, merged?.text ?? appendRecord(text))
  for (const { place, detail } of losses) print.note(`${place}: ${detail}`)
  for (const note of merged?.notes ?? []) print.note(note)
  if (missing.length > 0)
    print.note('documents were not found: save them and name their folder with --from, or their host with --fetch')
}

/**
 * Writes all of it or nothing, since the file may have edits that are nowhere else. The file keeps
 * its mode, and a link still leads to it.
 */
function writeWhole(file: string, text: string): void {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    writeFileSync(file, text)
    return
  }
  const place = realpathSync(file)
  const draft = `${place}.unfinished`
  try {
    copyFileSync(place, draft) // for its mode
    writeFileSync(draft, text)
    renameSync(draft, place)
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Reads the document again while it leads to further documents that may be fetched.
 * @param from folders, as in `ImportFlags`
 * @param fetch hosts whose documents may be fetched
 * @throws an error that says what to do
 */
export const importDocument = (
  file: string,
  from: readonly string[],
  fetch: readonly string[],
): Promise<ImportedDocument> =>
  readGivenDocument(file, { from, fetch }, async bytes => {
    const readText = isXmlDocument(bytes)
      ? readXmlDescription
      : await loadOpenApiReader(new TextDecoder().decode(bytes))
    return (octets, path, find) => readText(file, path, octets, find)
  })
type Reader = (file: string, path: string, bytes: Uint8Array, find: Find) => ImportedDocument
const readXmlDescription: Reader = (file, path, bytes, find) => {
  const contract = readNamedContract(file, bytes, path, find)
  const { rules, losses } = readPortRules(contract)
  return {
    text: writeTypescript({ ...contract, rules }, basename(file)),
    service: { resources: [], jobs: [], ports: contract.ports },
    losses: [...contract.losses, ...losses],
    missing: contract.missing,
  }
}

async function loadOpenApiReader(text: string): Promise<Reader> {
  const parse = await loadAnyParser()
  return (file, path, _, find) => {
    const imported = readNamedOpenApi(file, () => readImportedService(text, path, { find, parse }))
    return { ...imported, text: writeServiceTypescript(imported, basename(file)) }
  }
}

/** A WSDL or XSD, and what it imports. Throws an error that says what to do. */
export const readDescribedPorts = (file: string, where: DocumentSources): Promise<ImportedContract> =>
  readGivenDocument(file, where, () => (bytes, path, find) => readNamedContract(file, bytes, path, find))

/** An OpenAPI document as one port. Throws an error that says what to do. */
export const readDescribedApi = (file: string, where: DocumentSources, allow: readonly Grant[]): Promise<RestPort> =>
  readGivenDocument(file, where, () => loadApiReader(file, allow))

/** A description of either kind, decided by its beginning. */
export type DescribedService =
  | { readonly kind: 'soap'; readonly ports: ImportedContract }
  | { readonly kind: 'rest'; readonly api: RestPort }
/** @param allow the callers of an OpenAPI document's port. Throws an error that says what to do. */
export const readDescribedService = (
  file: string,
  where: DocumentSources,
  allow: readonly Grant[],
): Promise<DescribedService> =>
  readGivenDocument<DescribedService>(file, where, async given => {
    if (isXmlDocument(given))
      return (bytes, path, find) => ({ kind: 'soap', ports: readNamedContract(file, bytes, path, find) })
    const read = await loadApiReader(file, allow)
    return (bytes, path, find) => ({ kind: 'rest', api: read(bytes, path, find) })
  })

async function loadApiReader(file: string, allow: readonly Grant[]): Promise<ReadDocument<RestPort>> {
  const parse = await loadAnyParser()
  return (bytes, path, find) =>
    readNamedOpenApi(file, () => readRestPort(new TextDecoder().decode(bytes), path, allow, { find, parse }))
}

/** Each operation of an OpenAPI document as an exchange of one port, for a client. */
async function importOperations(file: string, where: DocumentSources): Promise<ImportedDocument> {
  const { port, namespace, comments, losses } = await readDescribedApi(file, where, [])
  const { types, elements } = listReachedTypes(listPortElements(port), [])
  return {
    text: writeTypescript({ namespace, ports: [port], types, elements, comments, losses }, basename(file)),
    service: { resources: [], jobs: [], ports: [port] },
    losses,
    missing: [],
  }
}

/** An OpenAPI document in a file, in JSON or YAML. Throws an error that says what to do. */
export async function readOpenApiFile(file: string): Promise<Json> {
  const text = new TextDecoder().decode(readGivenFile(file))
  const parse = await loadDescriptionParser(text)
  const { value, reason } = parse(text)
  if (reason !== undefined) throw new Error(`${file} ${reason}`)
  if (stringOf(objectOf(value)['openapi']) === '') throw new Error(`${file} is not an OpenAPI document of version 3`)
  return value
}
