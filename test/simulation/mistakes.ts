/**
 * Mistakes that the simulated world has to notice (`npm run simulate:mutants`): `from`, which stands once
 * in a file of src/, becomes `to`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Mistake {
  readonly what: string
  readonly file: string
  readonly from: string
  readonly to: string
}

export const mistakes: readonly Mistake[] = [
  {
    what: 'the writes of units before a late throw are not repeated',
    file: 'store/sqlite-transaction.ts',
    from: 'this.#on.writeAgain(this.#before)',
    to: '',
  },
  {
    what: 'the writes of a unit before its throw stay',
    file: 'store/sqlite-transaction.ts',
    from: 'else if (hasWritten) this.#undoByRecord()',
    to: '',
  },
  {
    what: 'one statement too few is repeated',
    file: 'store/sqlite-transaction.ts',
    from: 'this.#record.slice(0, count)',
    to: 'this.#record.slice(0, count - 1)',
  },
  {
    what: 'callers get their results before the commit',
    file: 'store/write-queue.ts',
    from: '      this.#transaction.commit()\n      this.#open = false\n      for (const tell of outcomes) tell()',
    to: '      for (const tell of outcomes) tell()\n      this.#transaction.commit()\n      this.#open = false',
  },
  {
    what: 'callers get success for a failed commit',
    file: 'store/write-queue.ts',
    from: 'for (const { reject } of members) reject(why)',
    to: 'if (why) for (const { resolve } of members) resolve(undefined)',
  },
  {
    what: 'callers get success for a unit that threw',
    file: 'store/write-queue.ts',
    from: 'return () => next.reject(thrown)',
    to: 'return () => next.resolve(thrown)',
  },
  {
    what: 'a version is used again',
    file: 'store/row-version.ts',
    from: 'return before < drawn ? drawn : before + 1 + (drawn % stepsMax)',
    to: 'return before',
  },
  {
    what: 'a key is forgotten',
    file: 'service/idempotency.ts',
    from: 'if (memo && memo.expires > now) {',
    to: 'if (memo && memo.expires < now) {',
  },
  {
    what: 'a step of a job is repeated',
    file: 'service/job-step.ts',
    from: 'if (memo && memo.expires > about.now)',
    to: 'if (memo && memo.expires < about.now)',
  },
  {
    what: 'a job that lost its worker is never resumed',
    file: 'store/records.ts',
    from: `"leased" <= \${now} and \${ofNames}`,
    to: `"leased" <= -\${now} and \${ofNames}`,
  },
  {
    what: 'a change is not announced',
    file: 'service/item-changes.ts',
    from: 'await writer.changed(',
    to: 'if (version % 7 > 0) await writer.changed(',
  },
  {
    what: 'a sink loses the event whose delivery failed',
    file: 'host/delivery/sinks.ts',
    from: 'rejectOnAbort(signal)])',
    to: 'rejectOnAbort(signal)]).catch(() => {})',
  },
  {
    what: 'a limit starts at zero with each request',
    file: 'service/limiter.ts',
    from: 'window.count += by',
    to: 'window.count = by',
  },
  {
    what: 'a reply is dropped before it is delivered',
    file: 'host/delivery/outbox.ts',
    from: 'await postSafely(message, stop, resolve)\n    await store.write(writer => writer.dropJob(row.id))',
    to: 'await store.write(writer => writer.dropJob(row.id))\n    await postSafely(message, stop, resolve)',
  },
]

/** The file of a mistake as it is in a folder, and as the mistake makes it. Throws where the text to replace is not there once. */
export function readMistake(
  folder: string,
  { file, from, to }: Mistake,
): { readonly path: string; readonly right: string; readonly wrong: string } {
  const path = join(folder, 'src', file)
  const right = readFileSync(path, 'utf8')
  if (right.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`)
  return { path, right, wrong: right.replace(from, () => to) }
}
