/**
 * Whether the files of a SQLite database are still the ones that were opened. What is written to a
 * file that was removed or replaced is lost when its process ends, and SQLite does not notice in
 * WAL mode (with a rollback journal it compares the same numbers).
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
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
