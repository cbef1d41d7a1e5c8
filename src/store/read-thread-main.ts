/**
 * A thread that reads (see read-thread.ts), or moves the log into the file once (see
 * log-checkpoint.ts). To read, it has one connection of its own, which may not write, and one
 * snapshot at a time. It receives statements and sends rows; a statement that exceeds its time ends
 * at the next row that it looks at.
 */
import { constants, getPriority, setPriority } from 'node:os'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { attempt, errorCodeOf } from '../base/attempt.ts'
import { type Cells, octetsOf } from './connection.ts'
import { type CheckpointReply, goesOnFunction, type ThreadReply, type ThreadRequest } from './read-thread-port.ts'

/** Statements that are kept prepared. */
const preparedMax = 200
/** The clock is checked once per this many rows looked at. */
const askEvery = 64

class TimeOver extends Error {}

class SnapshotReader {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()
  #deadline = 0
  #looked = 0

  constructor(file: string, timeout: number) {
    this.#database = new DatabaseSync(file, { readOnly: true, timeout })
    this.#database.function(goesOnFunction, { deterministic: false }, () => {
      if (++this.#looked % askEvery === 0) this.#requireTime()
      return 1
    })
  }

  answer(request: ThreadRequest): readonly Cells[] {
    switch (request.kind) {
      case 'begin':
        this.#deadline = performance.now() + request.timeMs
        this.#database.exec('begin')
        return []
      case 'end':
        if (this.#database.isTransaction) this.#database.exec('rollback')
        return []
      case 'rows':
        this.#requireTime()
        return this.#read(request)
    }
  }

  #requireTime(): void {
    if (performance.now() > this.#deadline) throw new TimeOver()
  }

  #read({ text, values, octets: octetsMax }: Extract<ThreadRequest, { kind: 'rows' }>): readonly Cells[] {
    const rows: Cells[] = []
    let octets = 0
    // No cell is a boolean here, and rows are arrays.
    for (const row of this.#prepare(text).iterate(...(values as readonly SQLInputValue[])) as Iterable<unknown>) {
      rows.push(row as Cells)
      octets += octetsOf(row as Cells)
      if (octets > octetsMax && rows.length > 1) break
    }
    return rows
  }

  #prepare(text: string): StatementSync {
    const prepared = this.#prepared.get(text)
    if (prepared) return prepared
    if (this.#prepared.size >= preparedMax) this.#prepared.clear()
    const statement = this.#database.prepare(text)
    statement.setReturnArrays(true)
    this.#prepared.set(text, statement)
    return statement
  }
}

function explainFailure(thrown: unknown): ThreadReply {
  if (thrown instanceof TimeOver) return { isOver: true }
  if (!(thrown instanceof Error)) return { error: String(thrown), errcode: undefined }
  return { error: thrown.message, errcode: 'errcode' in thrown ? thrown.errcode : undefined }
}

/**
 * On a busy core, the event loop gets five sixths of the time: others want one row, and a long read
 * can wait. Only on Linux: elsewhere a priority is that of the whole process.
 */
const yieldedSteps = 7
const isSystemError = (thrown: unknown): boolean => errorCodeOf(thrown) === 'ERR_SYSTEM_ERROR'
function yieldToEventLoop(): void {
  if (process.platform !== 'linux') return
  // 0 is the calling thread (setpriority(2), "C library/kernel differences")
  const lower = Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + yieldedSteps)
  attempt(() => setPriority(0, lower), isSystemError) // a sandbox may forbid it
}

/** A pass that takes less leaves so few pages that a commit may move those written meanwhile. */
const shortPassMs = 100
const passesMax = 20

/** Moves the log into the file as far as nothing reads it, while others write. */
function moveLog(file: string): CheckpointReply {
  using database = new DatabaseSync(file, { timeout: 0 })
  const move = database.prepare('pragma wal_checkpoint(passive)')
  let leftPages = 0
  let began = 0
  let passes = 0
  do {
    began = performance.now()
    const { log, checkpointed } = move.get() ?? {}
    leftPages = Number(log) - Number(checkpointed)
  } while (performance.now() - began > shortPassMs && ++passes < passesMax)
  return { leftPages }
}

function answerReads(reader: SnapshotReader): void {
  parentPort?.on('message', (request: ThreadRequest) => {
    let reply: ThreadReply
    try {
      reply = { rows: reader.answer(request) }
    } catch (thrown) {
      reply = explainFailure(thrown)
    }
    parentPort?.postMessage(reply)
  })
}

yieldToEventLoop()
/** Set by read-thread.ts and log-checkpoint.ts. */
const { file, timeout, task } = workerData as {
  readonly file: string
  readonly timeout: number
  readonly task?: 'checkpoint'
}
if (task === 'checkpoint') parentPort?.postMessage(moveLog(file))
else answerReads(new SnapshotReader(file, timeout))
