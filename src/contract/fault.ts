/** Declared faults: failures that a contract names, the same for both faces. */
import { type Fields, t, type Value } from './field.ts'
import { requireKnownMembers } from './member-kinds.ts'

/**
 * A failure that callers should handle: one name, one HTTP status, one element in a SOAP Detail and
 * in the WSDL (rules A1.10, B7.4, B7.5).
 */
export interface Fault<N extends string = string, D extends Fields = Fields> {
  readonly fault: N
  /** 4xx: caused by the client (SOAP Sender); 5xx: by the service (Receiver). */
  readonly status: number
  readonly title: string
  /** For callers: when it ends a call, and what to do then. */
  readonly description: string | undefined
  readonly detail: D
}

/**
 * Declares a fault: an HTTP status, and in SOAP a typed detail under its name. `detail` has its
 * fields.
 */
export function fault<const N extends string, D extends Fields = {}>(
  name: N,
  declaration: { readonly status: number; readonly title: string; readonly description?: string; readonly detail?: D },
): Fault<N, D> {
  requireKnownMembers(`the fault ${name}`, declaration, { status: true, title: true, description: true, detail: true })
  const { status, title, description, detail = {} as D } = declaration // D's default
  return { fault: name, status, title, description, detail }
}

/** The detail of a fault, as handlers give it and clients receive it. */
export type DetailOf<X> = X extends Fault<string, infer D> ? Value<D> : never

const problemField = t.object({ path: t.string(), code: t.string(), detail: t.string() }, 'Problem')

/**
 * The faults of every service: a contract need not declare them and may not reuse their names. Of
 * an item that has moved, SOAP has its new identifier here, while REST has 301 or 308; `within`
 * names the resource of this identifier, if it is that of a parent.
 */
export const NotFound = fault('NotFound', {
  status: 404,
  title: 'Not found',
  detail: { movedTo: t.string().optional(), within: t.string().optional() },
})
/** Policy does not allow the call: 403. */
export const Forbidden = fault('Forbidden', { status: 403, title: 'Forbidden' })
/** The item has another version than the caller expects: 412, with the current one. */
export const VersionConflict = fault('VersionConflict', {
  status: 412,
  title: 'Version conflict',
  detail: { version: t.string().optional() },
})
/** The state does not allow the call, or other items do not: 409, with what is possible. */
export const StateConflict = fault('StateConflict', {
  status: 409,
  title: 'State conflict',
  detail: {
    state: t.string().optional(),
    possible: t.list(t.string(), { max: Infinity, element: 'transition' }).optional(),
  },
})
/** The content breaks the contract or a rule: 422, with each problem and its place. */
export const Invalid = fault('Invalid', {
  status: 422,
  title: 'Unprocessable content',
  detail: { problems: t.list(problemField, { max: Infinity, element: 'problem' }).optional() },
})
/** The caller exceeded a limit: 429, with the seconds to wait if they are known. */
export const Busy = fault('Busy', {
  status: 429,
  title: 'Too many requests',
  detail: { retryAfter: t.int({ min: 0 }).optional() },
})
export const builtInFaults: readonly Fault[] = [NotFound, Forbidden, VersionConflict, StateConflict, Invalid, Busy]

/** What a bridge says of its backend; no contract declares these. */
export const BadGateway = /* @__PURE__ */ fault('BadGateway', { status: 502, title: 'The backend failed' })
/** The backend cannot be reached, or is busy: 503. */
export const GatewayDown = /* @__PURE__ */ fault('GatewayDown', {
  status: 503,
  title: 'The backend is unreachable',
})
/** The backend has not responded in time, and may have carried out the call: 504. */
export const GatewayTimeout = /* @__PURE__ */ fault('GatewayTimeout', {
  status: 504,
  title: 'The backend did not respond in time',
})
export const gatewayFaults: readonly Fault[] = [BadGateway, GatewayDown, GatewayTimeout]

/** The parts of a contract that declare faults. */
interface FaultDeclarations {
  readonly resources: readonly {
    readonly actions: Readonly<Record<string, { readonly faults: readonly Fault[] }>>
    readonly given: { readonly faults?: Readonly<Partial<Record<string, readonly Fault[]>>> }
  }[]
  readonly jobs: readonly { readonly faults: readonly Fault[] }[]
}
/** Each fault that a contract declares, once. */
export const declaredFaults = ({ resources, jobs }: FaultDeclarations): readonly Fault[] => [
  ...new Set([
    ...resources.flatMap(({ actions, given }) => [
      ...Object.values(actions).flatMap(action => action.faults),
      ...Object.values(given.faults ?? {}).flatMap(faults => faults ?? []),
    ]),
    ...jobs.flatMap(job => job.faults),
  ]),
]
