/** Pages are long work: they are read and written in the turns of their caller. */
import { chain, type Maybe } from '../base/maybe.ts'
import { finishSteps, singleStep, type WorkSteps } from '../service/turns.ts'
import type { Exchange } from './exchange.ts'

export function performInTurns<T>({ face, caller, entry }: Exchange, steps: WorkSteps<Maybe<T>>): Maybe<T> {
  const { turns } = face.context
  const from = caller.subject ?? `@${entry.request.from}`
  return turns ? chain(turns.perform(from, steps), result => result) : finishSteps(steps)
}

export const runInTurn = <T>(exchange: Exchange, work: () => Maybe<T>): Maybe<T> =>
  performInTurns(exchange, singleStep(work))
