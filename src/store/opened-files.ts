/**
 * Whether the files of a SQLite database are still the ones that were opened. What is written to a
 * file that was removed or replaced is lost when its process ends, and SQLite does not notice in
 * WAL mode (with a rollback journal it compares the same numbers).
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { attempt, errorCodeOf } from '../base/attempt.ts'
import { Unavailable } from '../service/store.ts'

/** A connection in WAL mode holds all three open until the last connection is closed. */
const ends = ['', '-wal', '-shm']

interface OpenedFile {
  readonly path: string
  readonly device: number
  readonly node: number
}

export class OpenedFiles {
  readonly #files: readonly OpenedFile[]

  /** @param file of a database that is open, and stays open */
  constructor(file: string) {
    this.#files = ends.flatMap(end => {
      const path = resolve(`${file}${end}`)
      const stats = statSync(path, { throwIfNoEntry: false })
      return stats ? [{ path, device: stats.dev, node: stats.ino }] : []
    })
  }

  /** The path of a file that was replaced or removed, if there is one. */
  findMoved(): string | undefined {
    return this.#files.find(hasMoved)?.path
  }

  /** @throws Unavailable while a file is replaced or removed, since it may be put back */
  requireUnmoved(): void {
    const moved = this.findMoved()
    if (moved !== undefined)
      throw new Unavailable(
        1,
        `${moved} was removed or replaced while the service has it open: put back the file that was there, or stop the service and start it on the one that is there now`,
      )
  }
}

const hasMoved = ({ path, device, node }: OpenedFile): boolean =>
  attempt(() => {
    const found = statSync(path, { throwIfNoEntry: false })
    return found?.ino !== node || found.dev !== device
  }, isUnseen) ?? false

/** If a folder can no longer be looked into, that says nothing about its files. */
const isUnseen = (thrown: unknown): boolean => errorCodeOf(thrown) !== ''

/**
 * Says in the header of a copy that it has no log, as only a file that was never opened by a
 * service says: so the log of a file that it replaces is not taken for its own.
 */
export function separateFromLog(copy: string): void {
  using database = new DatabaseSync(copy)
  database.exec('pragma journal_mode = delete')
}

/** SQLite "Database File Format" §1.3: 1 at this place says that the file has no log. */
const journalPlace = 18
const withoutLog = 1

/**
 * SQLite applies any log that it finds next to a file, and so damages a copy that was put in the
 * place of another file whose log was left there.
 */
export function requireOwnLog(file: string): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  if (!log?.size || readOctet(file, journalPlace) !== withoutLog) return
  throw new Error(
    `${file} is a copy, and ${file}-wal belongs to the file that it replaced: remove ${file}-wal and ${file}-shm, and start again`,
  )
}

function readOctet(file: string, place: number): number | undefined {
  const octets = new Uint8Array(1)
  const opened = openSync(file, 'r')
  try {
    return readSync(opened, octets, 0, 1, place) === 1 ? octets[0] : undefined
  } finally {
    closeSync(opened)
  }
}
