/** What commands print when they fail: one line without a stack, and its exit status. */
import { fsyncSync } from 'node:fs'
import { inspect } from 'node:util'
import { attempt, errorCodeOf } from '../base/attempt.ts'
import { showControls } from '../base/markup.ts'

/**
 * Writes to standard output, and resolves to false if its reader has closed the pipe (`| head`).
 * Rejects if the text cannot be written for another reason, so that a caller removes nothing that
 * was not written.
 */
export const writeOutput = (text: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const fail = (cause: Error): void =>
      hasClosedPipe(cause)
        ? resolve(false)
        : reject(
            new Error(`standard output cannot be written: ${cause.message}: look at the disk or the pipe`, { cause }),
          )
    process.stdout.once('error', fail) // it is reported after the callback, too
    process.stdout.write(text, error => {
      if (error) return fail(error)
      process.stdout.off('error', fail)
      resolve(true)
    })
  })
/** EPIPE: the write that finds the pipe closed; ERR_STREAM_DESTROYED: each one after it. */
const hasClosedPipe = (thrown: unknown): boolean => ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(errorCodeOf(thrown))

/** A closed pipe is not an error of a command; if `writeOutput` waits, it reports other errors. */
export function ignoreClosedPipe(): void {
  process.stdout.on('error', thrown => {
    if (!hasClosedPipe(thrown) && process.stdout.listenerCount('error') === 1) throw thrown
  })
}

/** Ensures that output to a file is on disk; a pipe or a terminal needs nothing. */
export const flushOutput = (): void => void attempt(() => fsyncSync(process.stdout.fd), hasNoDisk)
const hasNoDisk = (thrown: unknown): boolean => ['EINVAL', 'ENOTSUP', 'EROFS', 'EPERM'].includes(errorCodeOf(thrown))

/** Commander has printed its own errors; a wrong flag or a missing argument is a usage error. */
export function exitStatusOf(thrown: unknown): number {
  if (thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('commander.')) {
    return 'exitCode' in thrown && thrown.exitCode === 0 ? 0 : 2
  }
  printError(thrown)
  return thrown instanceof UsageError ? 2 : 1
}

/** What was thrown, in words, with its cure; an `Unavailable` has its cause. */
function describeThrown(thrown: unknown): string {
  const cause = thrown instanceof Object && 'after' in thrown && 'cause' in thrown ? thrown.cause : thrown
  if (!(cause instanceof Error)) return typeof cause === 'string' ? cause : inspect(cause)
  const text = cause.message || ('code' in cause ? String(cause.code) : cause.name)
  return 'cure' in cause ? `${text}: ${cause.cure}` : text
}

export function printError(thrown: unknown): void {
  const text = showControls(describeThrown(thrown))
  process.stderr.write(`diglot: ${text.split('\n').join('\ndiglot: ')}\n`)
}

/** A line for the reader, with names and texts of others, that is no result. */
export const writeReaderLine = (line: string): void => void process.stderr.write(`${showControls(line)}\n`)

/** A command that is not understood: its exit status is 2. */
export class UsageError extends Error {}

export function failUsage(text: string): never {
  throw new UsageError(text)
}

/**
 * An empty word is a shell variable that is not set: no option means anything by it, and some would
 * take it for their default, or for a database that is gone when the command ends.
 */
export function requireNoEmptyWord(words: readonly string[]): void {
  const at = words.findIndex(word => word === '' || /^--[\w-]+=$/.test(word))
  if (at < 0) return
  const [word = '', before = ''] = [words[at], words[at - 1]]
  const option = word === '' ? (before.startsWith('-') ? before : '') : word.slice(0, -1)
  const what = option === '' ? 'an argument' : `the value of ${option}`
  failUsage(`${what} is empty: give one, or leave it out (a variable of the shell may be unset)`)
}
