/** `diglot import`: files in, TypeScript out. Nothing is fetched. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Find } from '../describe/read-wsdl.ts'
import { Malformed } from '../xml/index.ts'
import { readImportedContract } from './imported-contract.ts'
import { writeTypescript } from './write-typescript.ts'

export interface ImportFlags {
  /** The file to write; undefined: standard output. */
  readonly output?: string
  readonly force?: boolean
  /** Folders with documents that others import by an address or a name alone. */
  readonly from: readonly string[]
}
/** Larger than any description that is known. */
const documentOctetsMax = 64 * 1024 * 1024

/** Throws an error that says what to do. */
export function importContract(
  file: string,
  { output, force, from }: ImportFlags,
  print: { readonly text: (text: string) => void; readonly note: (line: string) => void },
): void {
  if (!existsSync(file)) throw new Error(`${file} not found: give a WSDL or XSD file`)
  if (output !== undefined && existsSync(output) && !force)
    throw new Error(`${output} exists: give another name with --output, or --force to replace it`)
  const path = resolve(file)
  const contract = readImportedContract(readRegularFile(path), path, createDocumentFinder(from))
  if (contract instanceof Malformed) throw new Error(`${file}: ${contract.reason} (octet ${contract.at})`)
  const text = writeTypescript(contract, basename(file))
  if (output === undefined) print.text(text)
  else writeFileSync(output, text)
  for (const { place, detail } of contract.losses) print.note(`${place}: ${detail}`)
  if (contract.missing.length > 0) print.note('documents were not found: save them, and name their folder with --from')
}

function readRegularFile(path: string): Uint8Array {
  const about = statSync(path)
  if (!about.isFile()) throw new Error(`${path} is not a file`)
  if (about.size > documentOctetsMax) throw new Error(`${path} is larger than ${documentOctetsMax} octets`)
  return readFileSync(path)
}

/** Next to the document that imports it, else in these folders by its path or its last part. */
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
