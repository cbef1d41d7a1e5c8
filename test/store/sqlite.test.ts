import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from '../../src/store/sqlite.ts'
import { type Place, storeCases } from './battery.ts'

/** Memory that looks like a disk, where there is one: what is tested here is no disk's speed. */
const temporary = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

async function onFile(): Promise<Place> {
  const folder = await mkdtemp(join(temporary, 'store-'))
  return {
    open: async (service, options) => sqliteStore(service, join(folder, 'data.sqlite'), options),
    remove: () => rm(folder, { recursive: true }),
  }
}
storeCases('sqlite, a file', onFile)

const forgets = 'it forgets when it is closed'
storeCases(
  'sqlite, in memory',
  async () => ({ open: async (service, options) => sqliteStore(service, ':memory:', options), remove: async () => {} }),
  { 'everything stands after a restart': forgets, 'the contract has': forgets },
)
