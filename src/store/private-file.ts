/**
 * Files and folders that their owner alone can read: a database has hashes and sealed passwords.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { attempt, errorCodeOf } from '../base/attempt.ts'

const ownerOnly = 0o600
const forOthers = 0o007

/**
 * Makes the folder of a file, and those above it, where they are missing. Step by step: `mkdir` of
 * Node, asked for all at once, never ends where the system says of each that its parent is missing
 * (/proc).
 */
export function createFolderOf(file: string): void {
  const folder = dirname(resolve(file))
  if (existsSync(folder)) return
  createFolderOf(folder)
  try {
    mkdirSync(folder, { mode: ownerOnly | 0o100 })
  } catch (cause) {
    const code = errorCodeOf(cause)
    if (code === 'EEXIST') return // another process was first
    throw new Error(
      `the folder ${folder} cannot be made (${code}): give a path in a folder that this user may write to`,
      { cause },
    )
  }
}

/**
 * Creates an empty file, which SQLite takes for a new database and whose mode its -wal and -shm
 * get. A file that everyone can read is closed to others and the group, as are its -wal and -shm;
 * another mode is the operator's choice and stays. What cannot be made, SQLite explains.
 */
export function createPrivateFile(file: string): void {
  const made = attempt(
    () => openSync(file, 'wx', ownerOnly),
    thrown => errorCodeOf(thrown) !== '',
  )
  if (made !== undefined) closeSync(made)
  else for (const end of ['', '-wal', '-shm']) closeToOthers(`${file}${end}`)
}

/** The files of another owner stay as they are: they are not this process's to change. */
function closeToOthers(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile() || (found.mode & forOthers) === 0) return
  attempt(
    () => chmodSync(file, ownerOnly),
    thrown => ['EPERM', 'EROFS', 'ENOENT'].includes(errorCodeOf(thrown)),
  )
}
