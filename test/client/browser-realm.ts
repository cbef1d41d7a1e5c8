/**
 * Run by itself, with --experimental-vm-modules: loads a module and all that it imports into a realm
 * that has nothing of Node, only what browsers share with it.
 */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { createContext, SourceTextModule } from 'node:vm'

const shared = {
  fetch,
  Response,
  Headers,
  URL,
  URLSearchParams,
  AbortController,
  AbortSignal,
  Blob,
  ReadableStream,
  WritableStream,
}
const others = { TextEncoder, TextDecoder, crypto, setTimeout, clearTimeout }
const realm = createContext({ ...shared, ...others })
const root = join(import.meta.dirname, '..', '..')
const loaded = new Map<string, SourceTextModule>()

function load(file: string): SourceTextModule {
  const known = loaded.get(file)
  if (known) return known
  const made = new SourceTextModule(stripTypeScriptTypes(readFileSync(file, 'utf8')), {
    context: realm,
    identifier: file,
  })
  loaded.set(file, made)
  return made
}

/** As a bundler resolves them for a browser, by the conditions of package.json. */
const resolve = (name: string, from: string): string =>
  name === 'diglot' ? join(root, 'src', 'contract', 'index.ts') : join(dirname(from), name)

const [address = ''] = process.argv.slice(2)
const main = load(join(import.meta.dirname, 'browser-journey.ts'))
await main.link((name, from) => load(resolve(name, from.identifier)))
await main.evaluate()
const { journey } = main.namespace as typeof import('./browser-journey.ts')
console.log(await journey(address))
