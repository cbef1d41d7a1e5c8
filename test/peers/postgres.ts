/** A PostgreSQL of its own in a folder, on a loopback port; whoever starts it ends it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

export interface Cluster {
  readonly url: string
  /** SIGINT ends sessions and writes all down; SIGQUIT leaves at once, as a crash does. */
  stop(signal?: 'SIGINT' | 'SIGQUIT'): Promise<void>
  start(): Promise<void>
}

/** Where Debian keeps the server's programs, which it leaves out of PATH. */
const found = globSync('/usr/lib/postgresql/*/bin/postgres').at(-1)
const program = (name: string): string => (found ? join(dirname(found), name) : name)

export const hasPostgres = (): boolean => spawnSync(program('initdb'), ['--version']).status === 0

/** Made and started. `durable`: each commit waits for the disk, as it does where data matters. */
export async function cluster(at: string, port: number, { durable = false } = {}): Promise<Cluster> {
  filled(at, 'initdb', ['-U', 'tests', '-A', 'trust', '-E', 'UTF8', '--no-sync'])
  return started(at, port, { durable })
}

/** A copy of another that follows it by streaming, and answers what only reads. */
export async function standby(at: string, port: number, of: Cluster): Promise<Cluster> {
  filled(at, 'pg_basebackup', ['-d', of.url, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'])
  return started(at, port, { durable: false })
}

const owner = (at: string) => ({ ...nobody(), cwd: at, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8' } })
const dataOf = (at: string): string => join(at, 'data')

function filled(at: string, maker: string, words: readonly string[]): void {
  const as = owner(at)
  if (as.uid !== undefined) chownSync(at, as.uid, as.gid ?? as.uid)
  const made = spawnSync(program(maker), ['-D', dataOf(at), ...words], as)
  if (made.status !== 0) throw new Error(`${maker}: ${made.stderr}`)
}

async function started(at: string, port: number, { durable }: { readonly durable: boolean }): Promise<Cluster> {
  const settings = [
    ...['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${at}`, 'max_connections=200'],
    ...['jit=off', `fsync=${durable ? 'on' : 'off'}`],
  ]
  const url = `postgres://tests@127.0.0.1:${port}/postgres`
  let server: ChildProcess | undefined
  const stop = async (signal: NodeJS.Signals = 'SIGINT'): Promise<void> => {
    if (!server) return
    const ended = new Promise(resolve => server?.once('exit', resolve))
    server.kill(signal)
    await ended
    server = undefined
  }
  const start = async (): Promise<void> => {
    server = spawn(program('postgres'), ['-D', dataOf(at), ...settings.flatMap(each => ['-c', each])], {
      ...owner(at),
      stdio: 'ignore',
    })
    for (let tries = 0; !(await answers(url)); tries++) {
      if (tries > 200) throw new Error('PostgreSQL does not answer')
      await pause(50)
    }
  }
  await start()
  return { url, stop, start }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

/** PostgreSQL refuses to be run by root. */
function nobody(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0 || !existsSync('/etc/passwd')) return {}
  const id = (flag: string) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout)
  return { uid: id('-u'), gid: id('-g') }
}
