/**
 * Refusals that have a standard fault, or one that the contract declares, as the contract names it.
 */
import { Busy, type Fault, Forbidden, Invalid, NotFound, StateConflict, VersionConflict } from '../contract/fault.ts'
import { describeProblems } from '../contract/field-json.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { Values } from '../contract/implement.ts'
import type { ChangeRefusal } from '../contract/port-handlers.ts'
import { type Refusal, Refused } from './refusal.ts'

type RefusalOf<K extends Refusal['kind']> = Extract<Refusal, { readonly kind: K }>
/** Refusals that are reported as a named fault. */
export type RefusalWithFault = RefusalOf<
  | 'not-found'
  | 'gone'
  | 'moved'
  | 'forbidden'
  | 'stale'
  | 'conflict'
  | 'invalid'
  | 'unserved'
  | 'declared'
  | 'too-many'
  | 'unavailable'
>
/** A fault, why it ends this call, and its detail. */
export interface RefusalFault {
  readonly fault: Fault
  readonly reason: string
  readonly detail: Values
}
/** How a face names a place in the content. */
type WritePlace = (path: FieldProblem['path']) => string

const busyFault = ({ after }: { readonly after: number }): RefusalFault => ({
  fault: Busy,
  reason: 'the service is busy: retry later',
  detail: { retryAfter: after },
})
const notFound = (reason: string, detail: Values = {}): RefusalFault => ({ fault: NotFound, reason, detail })

const faultsOfKinds: {
  readonly [K in RefusalWithFault['kind']]: (refusal: RefusalOf<K>, place: WritePlace) => RefusalFault
} = {
  'not-found': () => notFound('the item does not exist'),
  gone: () => notFound('the item has been removed'),
  moved: ({ to, of: within }) =>
    within === undefined
      ? notFound(`the item has moved to ${to}`, { movedTo: to })
      : notFound(`the parent item has moved to ${to} (${within})`, { movedTo: to, within }),
  forbidden: () => ({ fault: Forbidden, reason: 'this caller may not do this', detail: {} }),
  stale: ({ version }) => ({
    fault: VersionConflict,
    reason: 'the item has changed since it was read: read it again',
    detail: version === undefined ? {} : { version: String(version) },
  }),
  conflict: ({ state, possible, detail }) => ({
    fault: StateConflict,
    reason: detail ?? 'the current state does not allow this',
    detail: { ...(state !== undefined && { state }), ...(possible && { possible }) },
  }),
  invalid: ({ problems }, place) => ({
    fault: Invalid,
    reason: describeProblems(problems),
    detail: { problems: problems.map(({ path, code, detail }) => ({ path: place(path), code, detail })) },
  }),
  unserved: ({ field, detail }, place) => ({
    fault: Invalid,
    reason: `${field} ${detail}`,
    detail: { problems: [{ path: place([field]), code: 'value', detail }] },
  }),
  declared: ({ fault, element, detail }) => ({ fault, reason: element?.reason ?? fault.title, detail }),
  'too-many': busyFault,
  unavailable: busyFault,
}

export const hasFault = (refusal: Refusal): refusal is RefusalWithFault => Object.hasOwn(faultsOfKinds, refusal.kind)

export function faultOfRefusal(refusal: RefusalWithFault, place: WritePlace): RefusalFault {
  const describe = faultsOfKinds[refusal.kind] as (of: RefusalWithFault, place: WritePlace) => RefusalFault
  return describe(refusal, place) // the one of its own kind
}

/**
 * For a handler that catches it; undefined for anything that is not about the change, such as a
 * bug.
 */
export function findChangeRefusal(thrown: unknown): ChangeRefusal | undefined {
  if (!(thrown instanceof Refused)) return undefined
  const refusal = thrown.refusal as Refusal // no other is thrown here
  if (!hasFault(refusal)) return undefined
  const { fault, reason, detail } = faultOfRefusal(refusal, path => path.join('/'))
  return { fault: fault.fault, status: fault.status, reason, detail }
}
