/** Runs one command, and determines its exit status; `cli.ts` loads this. */
import { expandProxyFlag } from './listen-options.ts'
import { createProgram } from './program.ts'
import { exitStatusOf, ignoreClosedPipe, requireNoEmptyWord } from './usage.ts'

export async function runCommand(words: readonly string[]): Promise<void> {
  ignoreClosedPipe()
  try {
    requireNoEmptyWord(words.slice(2))
    await createProgram().parseAsync(expandProxyFlag(words))
  } catch (thrown) {
    process.exitCode = exitStatusOf(thrown)
    if (process.exitCode !== 0) process.exit()
  }
}
