/** Maps of bridges as `diglot import` writes them, and the command that serves one. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { pathToFileURL } from 'node:url'

export const root = join(import.meta.dirname, '..', '..')
const cli = ['--conditions=diglot-source', join(root, 'src', 'cli.ts')]
/** Goes with the tests. */
export const folder = mkdtempSync(join(tmpdir(), 'diglot-map-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** The map of a description, for anyone; `anyone` and `role` are at hand in it. */
export function importMap(description: string, ...words: readonly string[]): string {
  const file = join(folder, 'imported.ts')
  execFileSync(process.execPath, [...cli, 'import', description, ...words, '-o', file], { stdio: 'ignore' })
  return readFileSync(file, 'utf8')
    .replace("from 'diglot'", `from '${pathToFileURL(join(root, 'src', 'index.ts'))}'`)
    .replace('callers: readonly Grant[] = []', 'callers: readonly Grant[] = [anyone]')
    .replace('exchange, port', 'anyone, role, exchange, port')
}

/** The output of `diglot bridge` until it runs or ends, and its address; empty: none. */
export async function runBridge(words: readonly string[]): Promise<{ readonly said: string; readonly url: string }> {
  const child = spawn(process.execPath, [...cli, 'bridge', ...words, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  after(() => child.kill('SIGKILL'))
  let said = ''
  return await new Promise(resolve => {
    const tell = () => resolve({ said, url: /bridging (\S+) to/.exec(said)?.[1] ?? '' })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', piece => {
        said += piece
        if (/bridging \S+ to/.test(said)) tell()
      })
    child.once('close', tell)
  })
}
