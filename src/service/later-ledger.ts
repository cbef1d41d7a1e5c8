/**
 * Calls whose answers come later, stored as jobs that no worker takes: a restart loses none of
 * them, and each ends once.
 */
import { isLaterJob, type KeptLaterCall, type LaterCall, type LaterLedger } from '../contract/later-call.ts'
import type { Caller } from '../contract/policy.ts'
import type { KeyedRequest } from '../contract/port-handlers.ts'
import { listLaterOperations } from '../contract/port-operation.ts'
import type { Service } from '../contract/service.ts'
import { refuse } from './refusal.ts'
import type { JobRow, Store, StoreWriter } from './store.ts'
import { packTyped, unpackTyped } from './typed-json.ts'

/** @param clock milliseconds since 1970 */
export function createLaterLedger(contract: Service, store: Store, clock: () => number): LaterLedger {
  const names = new Set(listLaterOperations(contract).map(each => each.job.job))
  const toCall = (row: JobRow | undefined) => (row && names.has(row.job) ? callOf(row) : undefined)
  return {
    begin: call =>
      store.write(
        async writer => {
          const existing = await writer.job(call.id)
          await writer.putJob({ ...(existing ?? waitingRow(call)), input: call.proof, modified: clock() })
          if (!existing && call.once) await rememberMade(writer, call, call.once)
        },
        { caller: call.party },
      ),
    findMade: async (job, { subject }, { key, fingerprint }) => {
      const memo = await store.read(reader => reader.recall(space, keyOfMade(job, subject, key)))
      if (!memo || memo.expires <= clock()) return undefined
      const remembered = JSON.parse(memo.value) as MadeCall // written by `rememberMade`
      return remembered.fingerprint === fingerprint ? remembered.id : refuse({ kind: 'key-reused' })
    },
    find: async id => toCall(await store.read(reader => reader.job(id))),
    end: (id, { state, failure, answer, proof }) =>
      store.write(async writer => {
        const row = await writer.job(id)
        if (row?.state !== 'running') return false
        const update = { state, failure, output: answer, input: proof, progress: state === 'completed' ? 1 : 0 }
        await writer.putJob({ ...row, ...update, modified: clock() })
        return true
      }),
    drop: ({ id, job, caller, once }) =>
      store.write(async writer => {
        if ((await writer.job(id))?.state !== 'running') return
        await writer.dropJob(id)
        if (once) await writer.forget(space, keyOfMade(job, caller.subject, once.key))
      }),
    listWaiting: async () => {
      const rows = await store.read(reader => reader.jobs('running', rowsMax))
      return rows.flatMap(row => toCall(row) ?? [])
    },
  }
}
/**
 * How many calls wait, by the name of their job, for answers of exchanges that this contract no
 * longer has, or that now answer at once. A sweep removes them in the end.
 */
export async function countAbandonedCalls(contract: Service, store: Store): Promise<ReadonlyMap<string, number>> {
  const names = new Set(listLaterOperations(contract).map(each => each.job.job))
  const rows = await store.read(reader => reader.jobs('running', rowsMax))
  const abandoned = rows.filter(({ job }) => isLaterJob(job) && !names.has(job))
  return new Map([...Map.groupBy(abandoned, each => each.job)].map(([job, each]) => [job, each.length]))
}

/** All of them: starting one already bounds their number. */
const rowsMax = 2 ** 31 - 1

/** The call that a request with a key started. */
interface MadeCall {
  readonly id: string
  readonly fingerprint: string
}
const space = 'later'
/** As long as other keys: a day. */
const keyKeptMs = 24 * 3_600_000
const keyOfMade = (job: string, subject: string | undefined, key: string): string =>
  JSON.stringify([subject ?? null, job, key])

async function rememberMade(
  writer: StoreWriter,
  { id, job, caller, created }: LaterCall,
  { key, fingerprint }: KeyedRequest,
): Promise<void> {
  const value = JSON.stringify({ id, fingerprint } satisfies MadeCall)
  const memo = { value, expires: created + keyKeptMs }
  await writer.remember(space, keyOfMade(job, caller.subject, key), memo, created)
}

/** `running` from the beginning: none of them is queued. */
const waitingRow = ({ id, job, caller, party, proof, created, due }: LaterCall): JobRow => ({
  ...{ id, job, party, created, due, state: 'running', progress: 0, owner: caller.subject ?? '' },
  ...{ caller: packTyped(caller), input: proof, output: undefined, failure: undefined },
  ...{ tries: 1, version: 0, modified: created, leased: due, turn: 0 },
})

const callOf = ({ id, job, caller, party, input, created, due, state }: JobRow): KeptLaterCall => ({
  ...{ id, job, party, created, due, proof: input },
  caller: unpackTyped(caller) as Caller, // packed by `waitingRow`
  state: state === 'running' || state === 'queued' ? 'waiting' : state,
})
