/** A page of docs/ that is followed line by line in an empty folder, as its reader does. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ran, Serving } from '../support/linked-project.ts'
import { listSnippets, type Snippet } from './pages.ts'

/** What npm would install and run. */
export interface Installed {
  install(folder: string): void
  /** `npm create diglot`, with its arguments. */
  create(args: readonly string[], folder: string): Ran
  /** `npx diglot`. */
  diglot(args: readonly string[], folder: string): Ran
  runTests(folder: string): Ran
  runTypes(folder: string): Ran
  serve(folder: string): Promise<Serving>
  /** Of commands that are none of npm's. */
  readonly environment: NodeJS.ProcessEnv
}

/** Why a page cannot be followed here; undefined: it can. */
export const findMissingTool = (): string | undefined =>
  spawnSync('curl', ['--version']).status === 0 ? undefined : 'curl is missing'

/** @throws Error that names the line of the page where something else came than it says */
export async function followPage(page: string, installed: Installed): Promise<number> {
  await using reader = new Reader(installed)
  const snippets = listSnippets(page)
  for (const snippet of snippets)
    await reader.follow(snippet).catch(thrown => {
      throw new Error(`${page}:${snippet.line}: ${thrown.message}`, { cause: thrown })
    })
  return snippets.length
}

const served = 'http://127.0.0.1:8080'

/** A reader who types what the page says. */
class Reader implements AsyncDisposable {
  readonly #installed: Installed
  readonly #home = mkdtempSync(join(tmpdir(), 'diglot-tutorial-'))
  #folder = this.#home
  #serving: Serving | undefined
  #variables: Readonly<Record<string, string>> = {}
  #printed = ''

  constructor(installed: Installed) {
    this.#installed = installed
  }

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
    if (command === 'npm install') return this.#installed.install(this.#folder)
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
    const words = command.split(' ')
    if (command === 'npm test') return this.#installed.runTests(this.#folder)
    if (command === 'npm run types') return this.#installed.runTypes(this.#folder)
    if (command.startsWith('npm create diglot ')) return this.#installed.create(words.slice(3), this.#folder)
    if (command.startsWith('npx diglot ')) return this.#installed.diglot(words.slice(2), this.#folder)
    return spawnSync('sh', ['-c', this.#here(command)], {
      cwd: this.#folder,
      env: { ...this.#installed.environment, ...this.#variables },
      encoding: 'utf8',
      timeout: 120_000,
    })
  }

  async #start(): Promise<void> {
    await this.#serving?.stop()
    this.#serving = await this.#installed.serve(this.#folder)
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
