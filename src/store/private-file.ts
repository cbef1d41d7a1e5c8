/**
 * Files and folders that only their owner can read: a database has hashes and sealed passwords.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { attempt, errorCodeOf } from '../base/attempt.ts'

const ownerOnly = 0o600
const forOthers = 0o007

/**
 * Creates the folder of a file and its missing parents. It goes step by step, because a recursive
 * `mkdir` of Node never ends if the system reports for each folder that its parent is missing
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
    if (code === 'EEXIST') return // another process was faster
    throw new Error(
      `the folder ${folder} cannot be created (${code}): give a path in a folder that this user may write to`,
      { cause },
    )
  }
}

/**
 * Creates an empty file, which SQLite treats as a new database and whose mode its -wal and -shm
 * inherit. A file that everyone can read is closed to the group and others, as are its -wal and
 * -shm; any other mode is the operator's choice and stays. If it cannot be created, SQLite says
 * why.
 */
export function createPrivateFile(file: string): void {
  const created = attempt(
    () => openSync(file, 'wx', ownerOnly),
    thrown => errorCodeOf(thrown) !== '',
  )
  if (created !== undefined) closeSync(created)
  else for (const end of ['', '-wal', '-shm']) closeToOthers(`${file}${end}`)
}

/** Files of another owner stay unchanged: this process has no right to change them. */
function closeToOthers(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats?.isFile() || (stats.mode & forOthers) === 0) return
  attempt(
    () => chmodSync(file, ownerOnly),
    thrown => ['EPERM', 'EROFS', 'ENOENT'].includes(errorCodeOf(thrown)),
  )
}
