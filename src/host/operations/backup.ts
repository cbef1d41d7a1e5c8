/**
 * A copy of the database file while the service uses it. What always holds: the copy is one state,
 * complete and checked, or it does not exist; it never replaces a file, and only its owner can read
 * it.
 */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { backup as copy, DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../base/attempt.ts'
import { separateFromLog } from '../../store/opened-files.ts'
import { createPrivateFile } from '../../store/private-file.ts'
import { ensureDatabaseFile } from '../store/open-store.ts'
import { explainStoreFailure } from '../store/store-failure.ts'

/**
 * Copies the database as of one moment. Throws if `data` is missing or `to` exists, with an error
 * that says what to do.
 */
export async function backUpDatabase(data: string, to: string): Promise<void> {
  ensureDatabaseFile(data)
  if (existsSync(to)) throw new Error(`${to} already exists: give another file`)
  const unfinished = `${to}.unfinished`
  const remove = (): void => {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${unfinished}${end}`, { force: true })
  }
  const source = openSource(data)
  try {
    remove() // of a copy that was killed
    createPrivateFile(unfinished)
    await copy(source, unfinished, { rate: everyPage })
    separateFromLog(unfinished)
    requireSoundCopy(unfinished)
    renameSync(unfinished, to)
  } catch (cause) {
    const reason = messageOf(cause)
    throw new Error(`${data} cannot be copied to ${to}: ${reason}: check both paths, and the free space on the disk`, {
      cause,
    })
  } finally {
    source.close()
    remove()
  }
}

function openSource(data: string): DatabaseSync {
  try {
    return new DatabaseSync(data, { readOnly: true })
  } catch (cause) {
    throw explainStoreFailure(cause, undefined, data)
  }
}

/** In one step, so that no write restarts the copy. */
const everyPage = 2 ** 31 - 1

function requireSoundCopy(file: string): void {
  const copy = new DatabaseSync(file, { readOnly: true })
  try {
    const found = copy.prepare('pragma quick_check').get()?.['quick_check']
    if (found !== 'ok') throw new Error(`the copy is damaged: ${found}`)
  } finally {
    copy.close()
  }
}
