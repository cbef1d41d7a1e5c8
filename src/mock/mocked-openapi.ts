/** Reads the OpenAPI document to be mocked. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { objectOf, stringOf } from '../base/objects.ts'
import { loadAnyParser } from '../import/description-text.ts'
import { createDocumentFinder } from '../import/document-files.ts'
import { Losses } from '../import/loss.ts'
import { OpenApiDocument, readNamedOpenApi } from '../import/openapi/openapi-document.ts'
import { listRestOperations } from '../import/openapi/operations.ts'

export interface MockedOpenApi {
  /** Its title in visible ASCII, for the field Mock-Service. */
  readonly name: string
  readonly document: OpenApiDocument
  readonly operations: readonly string[]
  readonly losses: readonly string[]
}

/** Whether a file is one, by its name; a WSDL and a module have other names. */
export const isOpenApiName = (file: string): boolean => /\.(json|ya?ml)$/i.test(file)

/**
 * @param folders with documents to which it refers by address
 * @throws an error that names the file, and what is wrong with it
 */
export async function readMockedOpenApi(file: string, folders: readonly string[]): Promise<MockedOpenApi> {
  if (!existsSync(file)) throw new Error(`${file} not found: give an OpenAPI document`)
  const losses = new Losses()
  const how = { find: createDocumentFinder(folders), parse: await loadAnyParser(), losses }
  return readNamedOpenApi(file, () => {
    const document = new OpenApiDocument(new TextDecoder().decode(readFileSync(file)), resolve(file), how)
    const operations = listRestOperations(document).map(({ method, address }) => `${method} ${address}`)
    if (operations.length === 0) throw new Error(`${file} has no operation: give a document with paths`)
    const title = stringOf(objectOf(document.root['info'])['title']).replaceAll(/[^\x20-\x7e]|["\\]/g, '')
    const lost = losses.all.map(({ place, detail }) => `${place}: ${detail}`)
    return { name: title || basename(file), document, operations, losses: lost }
  })
}
