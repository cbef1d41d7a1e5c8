/** What the commands say when they fail: one line without a stack, and its exit status. */
import { inspect } from 'node:util'

/** Rejects where it cannot be written, so that nothing is removed that was not kept. */
export const writeOutput = (text: string): Promise<void> =>
  new Promise((resolve, reject) => process.stdout.write(text, error => (error ? reject(error) : resolve())))

/** A reader that has seen enough (`| head`) closes the pipe, which is not an error. */
export function ignoreClosedPipe(thrown: Error): void {
  if (!('code' in thrown && thrown.code === 'EPIPE')) throw thrown
}

/** Commander has printed its own errors; a wrong flag or a missing argument is a usage error. */
export function exitStatusOf(thrown: unknown): number {
  if (thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('commander.')) {
    return 'exitCode' in thrown && thrown.exitCode === 0 ? 0 : 2
  }
  printError(thrown)
  return thrown instanceof UsageError ? 2 : 1
}

/** What is thrown in words, with its cure; an `Unavailable` has its cause. */
function describeThrown(thrown: unknown): string {
  const cause = thrown instanceof Object && 'after' in thrown && 'cause' in thrown ? thrown.cause : thrown
  if (!(cause instanceof Error)) return typeof cause === 'string' ? cause : inspect(cause)
  const text = cause.message || ('code' in cause ? String(cause.code) : cause.name)
  return 'cure' in cause ? `${text}: ${cause.cure}` : text
}

export function printError(thrown: unknown): void {
  const text = describeThrown(thrown)
  process.stderr.write(`diglot: ${text.split('\n').join('\ndiglot: ')}\n`)
}

/** A command that cannot be understood: its exit status is 2. */
export class UsageError extends Error {}

export function failUsage(text: string): never {
  throw new UsageError(text)
}
