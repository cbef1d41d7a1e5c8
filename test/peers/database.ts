/** A PostgreSQL of its own on a loopback port, for as long as the tests of a file. */
import pg from 'pg'
import { atEnd, folder } from './peer.ts'
import { type Cluster, cluster, hasPostgres, standby } from './postgres.ts'
import { freePort } from './proxies.ts'

export interface Database extends Cluster {
  readonly port: number
  ask(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
}

/** One line where PostgreSQL is not installed; where CI is set that is a failure. */
export function noDatabase(): string | false {
  if (hasPostgres()) return false
  if (process.env['CI'] === 'true') throw new Error('PostgreSQL is not installed')
  return 'skipped: PostgreSQL is not installed'
}

/** `durable`: each commit waits for the disk, as it does where data matters. */
export async function database({ durable = false } = {}): Promise<Database> {
  const port = await freePort()
  return kept(await cluster(folder(), port, { durable }), port)
}

/** A standby of it, which follows it by streaming. */
export async function standbyOf(primary: Database): Promise<Database> {
  const port = await freePort()
  return kept(await standby(folder(), port, primary), port)
}

function kept(made: Cluster, port: number): Database {
  atEnd(() => made.stop())
  const ask = async (text: string, values: readonly unknown[] = []) => {
    const client = new pg.Client({ connectionString: made.url })
    await client.connect()
    try {
      return (await client.query(text, [...values])).rows
    } finally {
      await client.end()
    }
  }
  return { ...made, port, ask }
}
