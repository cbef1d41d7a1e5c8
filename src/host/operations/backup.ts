/**
 * A copy of the database file while the service uses it. What always holds: the copy is one state,
 * whole and checked, or it is not there at all; and it takes the place of no file.
 */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { backup as copy, DatabaseSync } from 'node:sqlite'

/**
 * Octets-for-octets of one moment. Throws, with the cure, when there is nothing to copy or
 * something in the way.
 */
export async function backUpDatabase(data: string, to: string): Promise<void> {
  if (!existsSync(data)) throw new Error(`${data} is not there: name the database file with --data`)
  if (existsSync(to)) throw new Error(`${to} is there already: name another file`)
  const unfinished = `${to}.unfinished`
  const source = new DatabaseSync(data, { readOnly: true })
  try {
    await copy(source, unfinished, { rate: everyPage })
    ensureWhole(unfinished)
    renameSync(unfinished, to)
  } finally {
    source.close()
    for (const end of ['', '-wal', '-shm']) rmSync(`${unfinished}${end}`, { force: true })
  }
}

/** In one step: no write restarts the copy. */
const everyPage = 2 ** 31 - 1

function ensureWhole(file: string): void {
  const made = new DatabaseSync(file, { readOnly: true })
  try {
    const found = made.prepare('pragma quick_check').get()?.['quick_check']
    if (found !== 'ok') throw new Error(`the copy is not whole: ${found}`)
  } finally {
    made.close()
  }
}
