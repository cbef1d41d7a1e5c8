/** Loads a module of the application: its contract, its settings, a map. */
import { statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { messageOf } from '../../base/attempt.ts'

/**
 * Rejects with one line: the file, the place in it or in its imports, and the reason.
 *
 * @param file an existing file
 */
export async function loadModule(file: string): Promise<Loaded> {
  if (statSync(file).isDirectory()) throw new Error(`${file} is a folder: give a file in it`)
  const loading = import(pathToFileURL(resolve(file)).href).then(unwrapModule)
  return loading.catch((thrown: unknown) => {
    const reason = messageOf(thrown)
    const cure = /outside a module/.test(reason) ? ': add "type": "module" to its package.json' : ''
    throw new Error(`${file} cannot be loaded: ${placeOf(thrown)}${reason}${cure}`, { cause: thrown })
  })
}

type Loaded = Readonly<Record<string, unknown>>
/** A compiler that writes CommonJS marks a module that had its exports by name, `default` too. */
function unwrapModule(loaded: Loaded): Loaded {
  const { default: within } = loaded
  return within instanceof Object && '__esModule' in within ? (within as Loaded & typeof within) : loaded
}

/** This package, as sources or bundled. */
const ownFolder = /^.*[\\/](?:src|dist)[\\/]/.exec(import.meta.filename)?.[0] ?? import.meta.dirname

/** The first place of the stack that is in the application; a parser puts its own above it. */
function placeOf(thrown: unknown): string {
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : ''
  for (const [, name = '', line] of stack.matchAll(/(?:^|[\s(])((?:file:\/\/|\/|[A-Z]:\\)[^\n()]*?):(\d+)/gm)) {
    const path = name.startsWith('file:') ? fileURLToPath(name) : name
    if (!path.startsWith(ownFolder) && !path.includes('node_modules')) return `${relative('', path)}:${line}: `
  }
  return ''
}
