/**
 * What the pages show compiles, strictly, and does what they say: every snippet of TypeScript in
 * its frame, every command line by the options that the program has.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createProgram } from '../../src/cli/program.ts'
import { checkout, linkPackages, runDiglot, runTypes, serveProject } from '../support/linked-project.ts'
import { listSnippets, pages, type Snippet, textOf } from './pages.ts'
import { writeModules } from './snippet-frames.ts'

/** Files that are shown are compared elsewhere, the tutorial is followed, declarations are made. */
const isShown = ({ page, mark }: Snippet): boolean =>
  page === 'docs/tutorial.md' || mark.startsWith('examples/') || mark === 'declaration'

test('every snippet of TypeScript compiles in its frame', t => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-snippets-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const project = join(folder, 'helpdesk')
  assert.equal(runDiglot(['new', 'helpdesk'], folder).status, 0)
  linkPackages(project)
  let count = 0
  for (const page of pages) {
    const snippets = listSnippets(page).filter(each => each.language === 'ts' && !isShown(each))
    count += snippets.length
    for (const [at, text] of writeModules(page, snippets).entries())
      writeFileSync(join(project, `${page.replaceAll(/\W/g, '-')}-${at + 1}.ts`), text)
  }
  assert.ok(count > 40, `${count} snippets`)
  const { status, stdout } = runTypes(project)
  assert.equal(status, 0, stdout)
})

test('docs/client.md, run from its first line to its last against the orders example', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-client-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  linkPackages(folder)
  const service = join(checkout, 'examples', 'orders', 'service.ts')
  const served = await serveProject(folder, [service, '--data', ':memory:'])
  t.after(() => served.stop())
  const snippets = listSnippets('docs/client.md').filter(({ language }) => language === 'ts')
  const [text = ''] = writeModules('docs/client.md', snippets)
  writeFileSync(join(folder, 'client.ts'), text.replaceAll('http://127.0.0.1:8080', served.url))
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const ran = await runFile(join(folder, 'client.ts'), { ...env, NODE_OPTIONS: '--conditions=diglot-source' })
  assert.equal(ran.status, 0, ran.text)
  const [, said = ''] = /offers\(placed\)\) \/\/ (.*)/.exec(text) ?? []
  assert.ok(ran.text.includes(said.replaceAll(/[[\]]/g, '').trim()), `${said} is not in ${ran.text}`)
})

test('the service of docs/contract.md starts', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-contract-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  linkPackages(folder)
  const snippets = listSnippets('docs/contract.md').filter(({ language }) => language === 'ts')
  writeFileSync(join(folder, 'service.ts'), writeModules('docs/contract.md', snippets)[0] ?? '')
  const served = await serveProject(folder, [join(folder, 'service.ts'), '--data', ':memory:'])
  t.after(() => served.stop())
  const answer = await fetch(new URL('/api/loans', served.url), {
    headers: { Authorization: `Basic ${btoa('rita:rita-secret')}` },
  })
  assert.equal(answer.status, 200)
})

async function runFile(file: string, env: NodeJS.ProcessEnv): Promise<{ status: number | null; text: string }> {
  const child = spawn(process.execPath, [file], { env })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => (text += String(piece)))
  const status = await new Promise<number | null>(resolve => child.once('close', resolve))
  return { status, text }
}

/** Lines of a page that a reader types: of indented blocks, and of fences that are shell. */
const listCommandLines = (page: string): readonly string[] => {
  const text = textOf(page)
  const fenced = listSnippets(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(snippet => snippet.text.split('\n'))
  const outside = text.replaceAll(/^```[\s\S]*?^```$/gm, '')
  const indented = [...outside.matchAll(/(?<=^\n)(?: {4}.*\n)+/gm)].flatMap(([block]) => block.split('\n'))
  return [...fenced, ...indented.map(line => line.slice(4))].flatMap(line => line.split(/ {2}· {2}| \| /))
}
/** The words behind `diglot`; what stands three blanks behind them explains the line. */
function wordsOfCommand(line: string): readonly string[] | undefined {
  const found = /^(?:[A-Z_]+=\S+ )?(?:npx )?diglot (.*)$/.exec(line.trim())
  return found?.[1]
    ?.replace(/ {3,}.*$/, '')
    .split(/ [<>] /)[0]
    ?.match(/"[^"]*"|'[^']*'|\S+/g)
    ?.filter(word => word !== '\\')
    .map(word => word.replace(/^(["'])(.*)\1$/, '$2'))
}

test('every command line of the pages is one that the program understands', () => {
  let count = 0
  for (const page of pages)
    for (const line of listCommandLines(page)) {
      const words = wordsOfCommand(line)
      if (!words || words.some(word => /^[[<]/.test(word))) continue
      count++
      assert.equal(findMistake(createProgram(), words), undefined, `${page}: ${line}`)
    }
  assert.ok(count > 20, `${count} command lines`)
})

function findMistake(command: Command, words: readonly string[]): string | undefined {
  const [name = '', ...rest] = words
  const inner = command.commands.find(each => each.name() === name)
  if (inner) return findMistake(inner, rest)
  if (command.commands.length > 0) return `${name} is not a command`
  command.exitOverride().configureOutput({ writeErr: () => {} })
  const { operands, unknown } = command.parseOptions([...words])
  if (unknown.length > 0) return `${unknown.join(' ')} is unknown`
  const places = command.registeredArguments
  if (operands.length > places.length) return `${operands.join(' ')} are too many arguments`
  if (operands.length < places.filter(each => each.required).length) return 'an argument is missing'
  const missing = command.options.find(
    each => each.mandatory && command.getOptionValue(each.attributeName()) === undefined,
  )
  return missing && `${missing.flags} is missing`
}
