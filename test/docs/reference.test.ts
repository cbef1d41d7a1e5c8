/** docs/reference/ says what the sources say, and every public name says what it is. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { listEntries } from './public-symbols.ts'
import { referenceFolder, writeReference } from './reference.ts'

const written = writeReference()

test('docs/reference/ is current: npm run reference', () => {
  assert.deepEqual(readdirSync(referenceFolder).sort(), Object.keys(written).sort())
  for (const [file, text] of Object.entries(written))
    assert.equal(readFileSync(join(referenceFolder, file), 'utf8'), text, `${file} is old: npm run reference`)
})

for (const { specifier, docstring, symbols } of listEntries())
  test(`${specifier} and its names have docstrings`, () => {
    assert.ok(docstring)
    assert.ok(symbols.length > 0)
    const missing = symbols.filter(symbol => symbol.docstring === undefined).map(({ name }) => name)
    assert.deepEqual(missing, [])
  })

test('every option of serve and of the command line is in the reference', () => {
  const options = /interface ServeOptions \{([\s\S]*?)^\}/m.exec(written['diglot.md'] ?? '')?.[1] ?? ''
  const names = [...options.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name]) => name)
  const listed = readFileSync(join(import.meta.dirname, '..', '..', 'src', 'host', 'options.ts'), 'utf8')
  const known = /const optionMembers[^{]*\{([^}]*)\}/.exec(listed)?.[1]?.match(/\w+(?=: true)/g) ?? []
  assert.deepEqual(names.sort(), [...known].sort())
  const commands = join(import.meta.dirname, '..', '..', 'src', 'cli')
  const cli = readdirSync(commands)
    .map(file => readFileSync(join(commands, file), 'utf8'))
    .join('\n')
  const flags = [...cli.matchAll(/(?:[oO]ption)\(\s*'(?:-\w, )?(--[a-z0-9-]+)/g)].map(([, flag = '']) => flag)
  assert.ok(flags.length > 60)
  const commandLine = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'command-line.md'), 'utf8')
  assert.deepEqual(
    flags.filter(flag => !commandLine.includes(flag)),
    [],
  )
})
