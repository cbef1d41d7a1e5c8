/**
 * Whether the files of a SQLite database are still those that were opened. What is written to a
 * file that was removed or replaced is lost when its process ends, and SQLite does not tell of it
 * in WAL mode (it compares the same numbers where it has a rollback journal).
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { attempt, errorCodeOf } from '../base/attempt.ts'
import { Unavailable } from '../service/store.ts'

/** A connection in WAL mode holds all three until the last one is closed. */
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
      const found = statSync(path, { throwIfNoEntry: false })
      return found ? [{ path, device: found.dev, node: found.ino }] : []
    })
  }

  /** The path of one that is another file now, or none. */
  findMoved(): string | undefined {
    return this.#files.find(hasMoved)?.path
  }

  /** @throws Unavailable while one is another file, or none: it may be put back */
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

/** A folder that may not be looked into any more says nothing of its files. */
const isUnseen = (thrown: unknown): boolean => errorCodeOf(thrown) !== ''
