/** A folder in which this checkout stands in for what `npm install` would bring. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const checkout = join(import.meta.dirname, '..', '..')
const cli = join(checkout, 'src', 'cli.ts')

/** Its tests are a run of their own, on the sources. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return { ...env, NODE_OPTIONS: '--conditions=diglot-source' }
}

/** In place of `npm install`: the package, and what is installed beside it. */
export function linkPackages(folder: string): void {
  const link = (name: string, to: string): void => {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(to, join(folder, 'node_modules', name))
  }
  link('diglot', checkout)
  const beside = readdirSync(join(checkout, 'node_modules')).filter(name => !name.startsWith('.'))
  for (const name of beside) link(name, join(checkout, 'node_modules', name))
}

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

const runNode = (args: readonly string[], cwd: string): Ran =>
  spawnSync(process.execPath, args, { cwd, env: childEnvironment(), encoding: 'utf8', timeout: 120_000 })

export const runDiglot = (args: readonly string[], cwd: string): Ran => runNode([cli, ...args], cwd)

/** `npm test` of a project. */
export const runTests = (cwd: string): Ran => runNode(['--test', '--test-reporter=tap'], cwd)

/** `npm run types` of a project. */
export const runTypes = (cwd: string): Ran =>
  runNode(
    [join(checkout, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.', '--customConditions', 'diglot-source'],
    cwd,
  )

export interface Serving {
  readonly url: string
  stop(): Promise<void>
}

/** `diglot serve` on a free port, once it listens. */
export const serveProject = (cwd: string, args?: readonly string[]): Promise<Serving> =>
  serveBy(cli, childEnvironment(), cwd, args)

/** The same by another command line. */
export async function serveBy(
  command: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
  args: readonly string[] = ['service.ts'],
): Promise<Serving> {
  const child = spawn(process.execPath, [command, 'serve', ...args, '--port', '0'], { cwd, env })
  const { url, said } = await readAddress(child)
  if (url === undefined) {
    child.kill()
    throw new Error(`diglot serve ${args.join(' ')} said: ${said}`)
  }
  return {
    url,
    stop: async () => {
      if (child.kill()) await once(child, 'exit')
    },
  }
}

/** Warnings may come before it; undefined where the process ends without it, or after 30 s. */
async function readAddress(child: ChildProcess): Promise<{ readonly url: string | undefined; readonly said: string }> {
  const found = Promise.withResolvers<string | undefined>()
  let said = ''
  const take = (piece: Buffer): void => {
    said += String(piece)
    const [, url] = /listening on (\S+)/.exec(said) ?? []
    if (url !== undefined) found.resolve(url)
  }
  child.stdout?.on('data', take)
  child.stderr?.on('data', take)
  child.once('exit', () => found.resolve(undefined))
  const late = setTimeout(() => found.resolve(undefined), 30_000)
  const url = await found.promise
  clearTimeout(late)
  return { url, said }
}
