/**
 * docs/tutorial.md, line by line in an empty folder: files are written, commands run, and what they
 * print is compared. npm asks no registry: this checkout stands in for what it would install.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  linkPackages,
  type Ran,
  runDiglot,
  runTests,
  runTypes,
  type Serving,
  serveProject,
} from '../support/linked-project.ts'
import { listSnippets, type Snippet } from './pages.ts'

const served = 'http://127.0.0.1:8080'
const isCurlThere = spawnSync('curl', ['--version']).status === 0

/** A reader who types what the page says. */
class Reader implements AsyncDisposable {
  readonly #home = mkdtempSync(join(tmpdir(), 'diglot-tutorial-'))
  #folder = this.#home
  #serving: Serving | undefined
  #variables: Readonly<Record<string, string>> = {}
  #printed = ''

  async follow({ language, mark, text }: Snippet): Promise<void> {
    if (mark === 'run') for (const command of text.trimEnd().split('\n')) await this.#type(command)
    else if (mark === 'output') this.#compare(text)
    else if (language === 'diff') this.#change(mark, text)
    else writeFileSync(join(this.#folder, mark), this.#here(text))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#serving?.stop()
    rmSync(this.#home, { recursive: true, force: true })
  }

  #here(text: string): string {
    return text.replaceAll(served, this.#serving?.url ?? served)
  }

  async #type(command: string): Promise<void> {
    const [, assigned] = /^(\w+)=/.exec(command) ?? []
    if (command === 'npm install') return linkPackages(this.#folder)
    if (command === 'npm start') return this.#start()
    if (command.startsWith('cd ')) {
      this.#folder = join(this.#folder, command.slice(3))
      return
    }
    const ran = this.#run(assigned === undefined ? command : `${command}; printf %s "$${assigned}"`)
    assert.equal(ran.status, 0, `${command}\n${ran.stdout}${ran.stderr}`)
    this.#printed = ran.stdout
    if (assigned !== undefined) this.#variables = { ...this.#variables, [assigned]: ran.stdout }
  }

  #run(command: string): Ran {
    const diglot = /^(?:npx diglot|npm create diglot)(?= )/
    if (command === 'npm test') return runTests(this.#folder)
    if (command === 'npm run types') return runTypes(this.#folder)
    if (command.startsWith('npm create')) return runDiglot(['new', ...command.split(' ').slice(3)], this.#folder)
    if (diglot.test(command)) return runDiglot(command.split(' ').slice(2), this.#folder)
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    return spawnSync('sh', ['-c', this.#here(command)], {
      cwd: this.#folder,
      env: { ...env, NODE_OPTIONS: '--conditions=diglot-source', ...this.#variables },
      encoding: 'utf8',
      timeout: 120_000,
    })
  }

  async #start(): Promise<void> {
    await this.#serving?.stop()
    this.#serving = await serveProject(this.#folder)
  }

  /** "…" stands for any text; line breaks at the end do not count. */
  #compare(expected: string): void {
    const pattern = expected
      .trim()
      .split('…')
      .map(part => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('[\\s\\S]*')
    assert.match(this.#printed.trim(), new RegExp(`^${pattern}$`))
  }

  /** Lines that begin with "-" are there once, and make place for those with "+" behind them. */
  #change(file: string, difference: string): void {
    let text = readFileSync(join(this.#folder, file), 'utf8')
    for (const [, removed = '', added = ''] of difference.matchAll(/((?:^-.*\n)+)((?:^\+.*\n)+)/gm)) {
      const [before, after] = [removed, added].map(lines => lines.trimEnd().replaceAll(/^[-+]/gm, ''))
      assert.equal(text.split(before ?? '').length, 2, `${file} has this once: ${before}`)
      text = text.replace(before ?? '', () => after ?? '')
    }
    writeFileSync(join(this.#folder, file), text)
  }
}

test('the tutorial, line by line', { skip: isCurlThere ? false : 'curl is missing' }, async () => {
  await using reader = new Reader()
  const snippets = listSnippets('docs/tutorial.md')
  assert.ok(snippets.length > 20)
  for (const snippet of snippets)
    await reader.follow(snippet).catch(thrown => {
      throw new Error(`docs/tutorial.md:${snippet.line}: ${thrown.message}`, { cause: thrown })
    })
})
