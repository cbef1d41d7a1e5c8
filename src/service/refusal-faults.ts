/** Refusals of changes in the terms of the contract's faults, for handlers that catch them. */
import { type Fault, Forbidden, Invalid, NotFound, StateConflict, VersionConflict } from '../contract/fault.ts'
import type { ChangeRefusal } from '../contract/port-handlers.ts'
import { type Refusal, Refused } from './refusal.ts'

const explainByFault = (
  { fault, status, title }: Fault,
  reason: string = title,
  detail: ChangeRefusal['detail'] = {},
): ChangeRefusal => ({ fault, status, reason, detail })

/** Undefined for what is not about the change: a limit, a store out of reach, a bug. */
export function findChangeRefusal(thrown: unknown): ChangeRefusal | undefined {
  if (!(thrown instanceof Refused)) return undefined
  const refusal = thrown.refusal as Refusal // no other is thrown here
  switch (refusal.kind) {
    case 'declared':
      return explainByFault(refusal.fault, refusal.element?.reason, refusal.detail)
    case 'conflict': {
      const { state, possible, detail } = refusal
      return explainByFault(StateConflict, detail, {
        ...(state !== undefined && { state }),
        ...(possible && { possible }),
      })
    }
    case 'invalid': {
      const problems = refusal.problems.map(({ path, code, detail }) => ({ path: path.join('/'), code, detail }))
      return explainByFault(Invalid, problems[0]?.detail, { problems })
    }
    case 'forbidden':
      return explainByFault(Forbidden)
    case 'not-found':
    case 'gone':
    case 'moved':
      return explainByFault(NotFound)
    case 'stale':
      return explainByFault(VersionConflict)
    default:
      return undefined
  }
}
