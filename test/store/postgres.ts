/**
 * A PostgreSQL to test with: the server at DATABASE_URL; else one of our own if its programs are
 * installed; else PGlite, which is PostgreSQL itself with one connection (DIGLOT_POSTGRES=pglite
 * requests it).
 */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { openPostgresStore, type PostgresClient, type PostgresPool } from '../../src/store/postgres.ts'
import type { Place } from './battery.ts'

const run = promisify(execFile)

export interface Server {
  readonly name: string
  /** Undefined for PGlite, which has no address. */
  readonly url: string | undefined
  /** A place of its own: a schema. */
  place(): Promise<Place>
  stop(): Promise<void>
}

export async function server(): Promise<Server> {
  const url = process.env['DATABASE_URL']
  if (process.env['DIGLOT_POSTGRES'] === 'pglite') return embedded()
  if (url) return at(url, async () => {})
  return spawnSync('initdb', ['--version']).status === 0 ? cluster() : embedded()
}

const schemas = `s${process.pid}_`
let made = 0

function at(url: string, stop: () => Promise<void>): Server {
  const admin = new pg.Pool({ connectionString: url, max: 1 })
  admin.on('error', () => {})
  return {
    name: 'postgresql, a server',
    url,
    place: async () => {
      const schema = `${schemas}${++made}`
      await admin.query(`create schema ${schema}`)
      const own = `${url}${url.includes('?') ? '&' : '?'}options=-c%20search_path%3D${schema}`
      return {
        open: (service, options) => openPostgresStore(service, own, options),
        url: own,
        direct: async text => void (await admin.query(`set search_path to ${schema}; ${text}; reset search_path`)),
        remove: async () => void (await admin.query(`drop schema ${schema} cascade`)),
      }
    },
    stop: async () => {
      await admin.end()
      await stop()
    },
  }
}

/**
 * A cluster in a temporary folder, reached only by a socket in it. PostgreSQL refuses to run as
 * root: then the user `nobody` runs it.
 */
async function cluster(): Promise<Server> {
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'pg-'))
  const nobody = process.getuid?.() === 0 ? await idsOf('nobody') : undefined
  if (nobody) await chown(folder, nobody.uid, nobody.gid)
  const data = join(folder, 'data')
  const as = { ...nobody, cwd: folder, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8' } }
  await run('initdb', ['-D', data, '-U', 'tests', '-A', 'trust', '-E', 'UTF8', '--no-sync'], as)
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    fsync: 'off',
    autovacuum: 'off',
    jit: 'off',
    max_connections: '200',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const process_ = spawn('postgres', ['-D', data, ...flags], { ...as, stdio: 'ignore' })
  const ended = new Promise(resolve => process_.once('exit', resolve))
  const url = `postgres://tests@localhost/postgres?host=${encodeURIComponent(folder)}`
  await answers(url)
  return at(url, async () => {
    process_.kill('SIGINT')
    await ended
    await rm(folder, { recursive: true })
  })
}

async function idsOf(user: string): Promise<{ uid: number; gid: number }> {
  const id = async (flag: string) => Number((await run('id', [flag, user])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}

async function answers(url: string): Promise<void> {
  for (let tries = 100; ; tries--) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.end()
    } catch (thrown) {
      if (tries === 0) throw thrown
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}

async function embedded(): Promise<Server> {
  const database = await PGlite.create()
  return {
    name: 'postgresql, PGlite',
    url: undefined,
    place: async () => {
      const schema = `${schemas}${++made}`
      await database.exec(`create schema ${schema}`)
      return {
        open: async (service, options) => openPostgresStore(service, onePool(database, schema), options),
        direct: async text => void (await database.exec(`set search_path to ${schema}; ${text}`)),
        remove: async () => void (await database.exec(`drop schema ${schema} cascade`)),
      }
    },
    stop: () => database.close(),
  }
}

/** A pool of one connection: a later caller waits. */
function onePool(database: PGlite, schema: string): PostgresPool {
  let free: Promise<void> = Promise.resolve()
  const numbers = { 20: Number }
  return {
    connect: async () => {
      const before = free
      let done: () => void = () => {}
      free = new Promise(resolve => (done = resolve))
      await before
      await database.exec(`set search_path to ${schema}`)
      const client: PostgresClient = {
        query: ({ text, values }) => database.query<unknown[]>(text, values, { rowMode: 'array', parsers: numbers }),
        release: broken => void (broken ? database.exec('rollback') : Promise.resolve()).then(done),
        on: () => {},
        off: () => {},
      }
      return client
    },
    end: async () => {},
  }
}
