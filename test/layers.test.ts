/** ARCHITECTURE.md, "Who may import whom": the import lines of src/ hold to one table, and pure folders stay pure. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', 'src')
const layers: Record<string, readonly string[]> = {
  contract: [],
  http: [],
  xml: [],
  service: ['contract'],
  rest: ['contract', 'http', 'xml', 'service'],
  soap: ['contract', 'xml', 'service'],
  'soap/http-binding.ts': ['contract', 'http', 'xml', 'service'],
  describe: ['contract', 'xml'],
  store: ['contract', 'service'],
  server: ['http'],
  client: ['contract', 'http', 'xml', 'soap'],
  host: ['contract', 'http', 'xml', 'service', 'rest', 'soap', 'describe', 'store', 'server'],
}
/** What an application starts from may name anything. */
const together = ['index.ts', 'cli.ts']
const pure = ['contract', 'http', 'xml', 'service', 'rest', 'soap', 'describe']

const files = globSync('**/*.ts', { cwd: root }).map(file => file.replaceAll('\\', '/'))
const importsOf = (file: string): string[] =>
  [
    ...readFileSync(join(root, file), 'utf8').matchAll(
      /^(?:import|export)\b[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm,
    ),
  ].map(found => found[1] ?? found[2] ?? '')
const folderOf = (file: string): string => file.split('/')[0] ?? ''

test('imports follow the table of ARCHITECTURE.md', () => {
  const wrong = files
    .filter(file => !together.includes(file))
    .flatMap(file => {
      const may = layers[file] ?? layers[folderOf(file)] ?? []
      const others = importsOf(file)
        .filter(name => name.startsWith('.'))
        .map(name => relative(root, join(root, dirname(file), name)).replaceAll('\\', '/'))
      return others
        .filter(other => folderOf(other) !== folderOf(file) && !may.includes(folderOf(other)))
        .map(other => `${file} → ${other}`)
    })
  assert.deepEqual(wrong, [])
})

test('pure folders import no node: module but node:crypto', () => {
  const wrong = files
    .filter(file => pure.includes(folderOf(file)))
    .flatMap(file =>
      importsOf(file)
        .filter(name => name.startsWith('node:') && name !== 'node:crypto')
        .map(name => `${file} → ${name}`),
    )
  assert.deepEqual(wrong, [])
})

test('no cycles', () => {
  const edges = new Map(
    files.map(file => [
      file,
      importsOf(file)
        .filter(name => name.startsWith('.'))
        .map(name => posix.join(dirname(file), name)),
    ]),
  )
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `a cycle: ${[...path, file].join(' → ')}`)
    if (done.has(file)) return
    for (const other of edges.get(file) ?? []) visit(other, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
})
