import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Find } from '../../src/describe/read-wsdl.ts'
import { type ImportedContract, readImportedContract } from '../../src/import/imported-contract.ts'
import { Malformed } from '../../src/xml/index.ts'

/** Documents next to the one that imports them. */
export const findNear: Find = (location, base) => {
  const path = resolve(dirname(base), location.replace(/^file:/, ''))
  return existsSync(path) ? { location: path, bytes: readFileSync(path) } : undefined
}
export const importFile = (path: string): ImportedContract | Malformed =>
  readImportedContract(readFileSync(path), path, findNear)
/** Of a document in a string; anything that it imports is missing. */
export function importText(text: string): ImportedContract {
  const found = readImportedContract(new TextEncoder().encode(text), 'test.wsdl', () => undefined)
  if (found instanceof Malformed) throw found
  return found
}
