/**
 * Who may do what (rules A5.2, A5.3), declared beside the resource and the same for both faces, jobs and files.
 * A grant is data, so that a list can be restricted in SQL and the access matrix printed.
 */

/** Who is asking, proven by a face and by nothing else. */
export interface Caller {
  /** Undefined: nobody has said who they are. */
  readonly subject: string | undefined
  readonly roles: readonly string[]
  /** What else was proven of them, by name: `{ customer: 'c-1' }`. */
  readonly claims: Readonly<Record<string, string>>
}

export const anonymous: Caller = { subject: undefined, roles: [], claims: {} }

/** What a condition may look at beside the caller; `value` is absent when the question is "ever". */
export interface Circumstance {
  readonly caller: Caller
  /** Milliseconds since 1970, UTC. */
  readonly now: number
  readonly value?: Readonly<Record<string, unknown>>
}

export interface Grant {
  /** A role; `*` is anyone at all, credentials or not. */
  readonly role: string
  /** Field → claim of the caller that it must equal. */
  readonly where: Readonly<Record<string, string>>
  /** A further condition, by name. It can only narrow, and is not asked of a list's rows: use `where` there. */
  readonly when?: { readonly name: string; readonly holds: (circumstance: Circumstance) => boolean }
}

/** `K`: the fields that it binds to a claim; typed clients may leave them out. */
export class GrantOf<K extends string = never> implements Grant {
  declare readonly bound: K
  readonly role: string
  readonly where: Readonly<Record<string, string>>
  readonly when?: NonNullable<Grant['when']>
  constructor(role: string, where: Grant['where'] = {}, when?: Grant['when']) {
    this.role = role
    this.where = where
    if (when) this.when = when
  }
  /** Only of what is theirs: `role('customer').owning({ customer: 'customer' })`, field → claim. */
  owning<W extends Readonly<Record<string, string>>>(where: W): GrantOf<K | (keyof W & string)> {
    return new GrantOf(this.role, { ...this.where, ...where }, this.when)
  }
  /** Only while this holds. */
  given(name: string, holds: (circumstance: Circumstance) => boolean): GrantOf<K> {
    return new GrantOf(this.role, this.where, { name, holds })
  }
}

export const role = (name: string): GrantOf => new GrantOf(name)
export const anyone: Grant = new GrantOf('*')

const hasRole = (grant: Grant, caller: Caller): boolean => grant.role === '*' || caller.roles.includes(grant.role)
const isConditionMet = (grant: Grant, circumstance: Circumstance): boolean => grant.when?.holds(circumstance) ?? true

/** May this caller ever do this, to something? What `where` says is not asked. */
export function mayEverBeAllowed(grants: readonly Grant[], caller: Caller, now: number): boolean {
  return grants.some(
    grant => hasRole(grant, caller) && hasClaims(grant, caller) && isConditionMet(grant, { caller, now }),
  )
}

const hasClaims = (grant: Grant, caller: Caller): boolean =>
  Object.values(grant.where).every(claim => caller.claims[claim] !== undefined)

/** May this caller do this to this value, now? */
export function isAllowed(
  grants: readonly Grant[],
  caller: Caller,
  now: number,
  value: Readonly<Record<string, unknown>>,
): boolean {
  return grants.some(
    grant =>
      hasRole(grant, caller) &&
      Object.entries(grant.where).every(([field, claim]) => {
        const has = caller.claims[claim]
        return has !== undefined && value[field] === has
      }) &&
      isConditionMet(grant, { caller, now, value }),
  )
}

/** The rows a caller may see: all of them, or those where any of these hold field by field. */
export function readRestriction(
  grants: readonly Grant[],
  caller: Caller,
  now: number,
): 'all' | readonly Readonly<Record<string, string>>[] {
  const mine = grants.filter(
    grant => hasRole(grant, caller) && hasClaims(grant, caller) && isConditionMet(grant, { caller, now }),
  )
  if (mine.some(grant => Object.keys(grant.where).length === 0)) return 'all'
  return mine.map(grant =>
    Object.fromEntries(Object.entries(grant.where).map(([field, claim]) => [field, caller.claims[claim] as string])),
  ) // `hasClaims` holds for each: the claim is there
}

/** Whether anyone may, with no credentials at all. */
export const isPublic = (grants: readonly Grant[]): boolean =>
  grants.some(grant => grant.role === '*' && Object.keys(grant.where).length === 0)
