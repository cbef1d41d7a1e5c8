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
    what: 'what the works before a late throw wrote is not written again',
    file: 'store/sqlite-transaction.ts',
    from: 'this.#on.writeAgain(this.#before)',
    to: '',
  },
  {
    what: 'what a work wrote before it threw stays',
    file: 'store/sqlite-transaction.ts',
    from: 'else if (hasWritten) this.#undoByRecord()',
    to: '',
  },
  {
    what: 'one statement too few is written again',
    file: 'store/sqlite-transaction.ts',
    from: 'this.#record.slice(0, count)',
    to: 'this.#record.slice(0, count - 1)',
  },
  {
    what: 'works are told before the commit',
    file: 'store/write-queue.ts',
    from: '      this.#transaction.commit()\n      this.#open = false\n      for (const tell of outcomes) tell()',
    to: '      for (const tell of outcomes) tell()\n      this.#transaction.commit()\n      this.#open = false',
  },
  {
    what: 'works are told that a commit which failed has been made',
    file: 'store/write-queue.ts',
    from: 'for (const { reject } of members) reject(why)',
    to: 'if (why) for (const { resolve } of members) resolve(undefined)',
  },
  {
    what: 'what a work throws is told as success',
    file: 'store/write-queue.ts',
    from: 'return () => next.reject(thrown)',
    to: 'return () => next.resolve(thrown)',
  },
  {
    what: 'a version is given again',
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
    what: 'a step of a job happens again',
    file: 'service/job-step.ts',
    from: 'if (memo && memo.expires > about.now)',
    to: 'if (memo && memo.expires < about.now)',
  },
  {
    what: 'a job that lost its worker stays where it is',
    file: 'store/records.ts',
    from: `"leased" <= \${now} and \${named}`,
    to: `"leased" <= -\${now} and \${named}`,
  },
  {
    what: 'a change is not told',
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
    what: 'a limit is counted anew with each request',
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
