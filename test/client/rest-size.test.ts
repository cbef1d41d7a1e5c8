/** docs/client.md, "In a browser": what a page loads of the REST client stays small. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'rolldown'

const entry = join(import.meta.dirname, '..', '..', 'src', 'client', 'rest', 'index.ts')
const relativeImport = /^(?:import|export)\b[^'"]*?from\s+'(\.[^']+)'/gm

function collectModules(file: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(file)) return found
  const code = stripTypeScriptTypes(readFileSync(file, 'utf8'))
  found.set(file, code)
  for (const [, name = ''] of code.matchAll(relativeImport)) collectModules(join(dirname(file), name), found)
  return found
}

/** Without comments, imports and blanks; names stay as they are, and so does uncalled code. */
const squeeze = (code: string): string =>
  code
    .replaceAll(/^import\b[^'"]*?from\s+'[^']+'|^export\s+\{[^}]*\}\s*from\s+'[^']+'/gm, '')
    .replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, '')
    .replaceAll(/\s+/g, ' ')

test('all modules of the REST client, comments and types left out, are 30 KB compressed', () => {
  const all = [...collectModules(entry).values()].map(squeeze).join('\n')
  const octets = gzipSync(all, { level: 9 }).length
  assert.ok(octets <= 30 * 1024, `${octets} octets`)
})

test('a bundler makes 15 KB of them, compressed by Brotli', async () => {
  const { output } = await build({
    input: entry,
    platform: 'browser',
    write: false,
    output: { format: 'esm', minify: true },
  })
  const [{ code }] = output
  const octets = brotliCompressSync(code).length
  assert.ok(octets <= 15 * 1024, `${octets} octets`)
})
