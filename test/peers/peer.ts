/** What every peer test shares: the service as a process of its own, and programs that nobody here wrote. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

export const root = join(import.meta.dirname, '..', '..')
export const cli = [join(root, 'src', 'cli.ts')]
// Java and others write names by the locale, which may know ASCII alone.
process.env['LC_ALL'] ??= 'C.UTF-8'

/** Ended when all tests of the file are over: registered here, outside any suite, so that no hook ends it early. */
const leftovers: (() => unknown)[] = []
after(async () => {
  for (const end of leftovers.reverse()) await end()
})

/** Runs `end` when all tests of this file are over. */
export function atEnd(end: () => unknown): void {
  leftovers.push(end)
}

/** A folder that goes when the tests of this file are over. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'diglot-'))
  leftovers.push(() => rmSync(made, { recursive: true, force: true }))
  return made
}

export interface Running {
  readonly url: string
  readonly process: ChildProcess
  /** A bearer token by `diglot token`. */
  token(subject: string, role: string): string
  stop(signal?: NodeJS.Signals): Promise<void>
}

export const orders = join(root, 'examples', 'orders', 'service.ts')

/** `diglot serve` on a free port, ready to answer. */
export async function service(
  flags: readonly string[] = [],
  data = join(folder(), 'orders.sqlite'),
  file = orders,
): Promise<Running> {
  const child = spawn(
    process.execPath,
    ['--conditions=diglot-source', ...cli, 'serve', file, '--port', '0', '--data', data, ...flags],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    child.kill(signal)
    await ended
  }
  leftovers.push(() => stop('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout?.on('data', (part: Buffer) => {
      said += part
      const found = /listening on (\S+)/.exec(said)?.[1]
      if (found) resolve(found)
    })
    child.once('exit', code => reject(new Error(`diglot serve ended with ${code}`)))
  })
  const token = (subject: string, role: string): string =>
    run(process.execPath, [
      '--conditions=diglot-source',
      ...cli,
      'token',
      '--subject',
      subject,
      '--role',
      role,
      '--data',
      data,
    ]).trim()
  return { url, process: child, token, stop }
}

/** A program's standard output; throws with its standard error when it fails. */
export function run(program: string, words: readonly string[], input?: string): string {
  const ended = spawnSync(program, words, {
    encoding: 'utf8',
    timeout: 120_000,
    ...(input !== undefined && { input }),
    maxBuffer: 64e6,
  })
  if (ended.status !== 0)
    throw new Error(`${program} ended with ${ended.status ?? ended.signal}: ${ended.stderr}${ended.stdout}`)
  return ended.stdout
}

/**
 * Whether a peer is installed. On a user's machine its absence is one line; where CI is set it fails, for the script
 * that runs these tests installs all it needs.
 */
export function missing(name: string, program: string, words: readonly string[] = ['--version']): string | false {
  const found = spawnSync(program, words, { stdio: 'ignore' })
  if (found.status === 0) return false
  if (process.env['CI'] === 'true') throw new Error(`${name} is not installed`)
  return `skipped: ${name} is not installed`
}
