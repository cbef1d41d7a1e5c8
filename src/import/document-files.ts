/**
 * Other parties' documents, and those to which they refer: in files, and on named hosts. The caller
 * reads the description, again and again while it leads to documents that may be fetched.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Find } from '../describe/reader/wsdl-document.ts'
import { FetchedDocuments } from './fetch-documents.ts'

/** More than any known description has. */
const documentOctetsMax = 64 * 1024 * 1024

/** Where documents may come from. */
export interface DocumentSources {
  /** Folders with documents that others import by an address or only a name. */
  readonly from: readonly string[]
  /** Hosts whose documents may be fetched. */
  readonly fetch: readonly string[]
}

/** @param path the file's path or address: the base of the document's references */
export type ReadDocument<T> = (bytes: Uint8Array, path: string, find: Find) => T

/** A file, or an address on a named host. Throws an error that says what to do. */
export async function readGivenDocument<T>(
  file: string,
  { from, fetch }: DocumentSources,
  choose: (bytes: Uint8Array) => ReadDocument<T> | Promise<ReadDocument<T>>,
): Promise<T> {
  const fetched = new FetchedDocuments(fetch)
  const beside = createDocumentFinder(from)
  const find: Find = (location, base) => fetched.find(location, base) ?? beside(location, base)
  const isAddress = /^https?:\/\//i.test(file)
  const bytes = isAddress ? await fetchGiven(file, fetched) : readGivenFile(file)
  const path = isAddress ? file : resolve(file)
  const readDocument = await choose(bytes)
  let result = readDocument(bytes, path, find)
  while (await fetched.fetchWanted()) result = readDocument(bytes, path, find)
  return result
}
async function fetchGiven(file: string, fetched: FetchedDocuments): Promise<Uint8Array> {
  const found = fetched.find(file, file) ?? ((await fetched.fetchWanted()) ? fetched.find(file, file) : undefined)
  if (!found) throw new Error(`${file} is not fetched: name its host, --fetch ${URL.parse(file)?.host ?? '<host>'}`)
  return found.bytes
}

/** Throws an error that says what to do. */
export function readGivenFile(file: string): Uint8Array {
  if (!existsSync(file)) throw new Error(`${file} not found: give a WSDL, an XSD or an OpenAPI document`)
  return readRegularFile(resolve(file))
}
function readRegularFile(path: string): Uint8Array {
  const about = statSync(path)
  if (!about.isFile()) throw new Error(`${path} is not a file`)
  if (about.size > documentOctetsMax) throw new Error(`${path} is larger than ${documentOctetsMax} octets`)
  return readFileSync(path)
}

/** Looks next to the importing document, then in these folders by the path or its last part. */
export const createDocumentFinder =
  (folders: readonly string[]): Find =>
  (location, base) => {
    const isAddress = /^[a-z][a-z0-9+.-]+:/i.test(location) && !location.startsWith('file:')
    const local = location.startsWith('file:') ? attemptPath(location) : location
    const last = basename(location.replace(/[?#].*$/, ''))
    const near = isAddress || local === undefined ? [] : [resolve(dirname(base), local)]
    const listed = folders.flatMap(folder => [
      ...(isAddress || local === undefined ? [] : [join(folder, local)]),
      ...(last === '' ? [] : [join(folder, last)]),
    ])
    const found = [...near, ...listed].find(path => existsSync(path) && statSync(path).isFile())
    return found === undefined ? undefined : { location: found, bytes: readRegularFile(found) }
  }
function attemptPath(location: string): string | undefined {
  try {
    return fileURLToPath(location)
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined // not a file URL of this machine
    throw thrown
  }
}
