/**
 * The access policy (rules A5.2, A5.3), declared with the resource and the same for both faces,
 * jobs and files. A grant is data, so that SQL can restrict a list and the access matrix can be
 * printed.
 */

import { ownMember } from '../base/objects.ts'

/** The sender of a request, as authenticated by a face. */
export interface Caller {
  /** Undefined: the request has no credentials. */
  readonly subject: string | undefined
  readonly roles: readonly string[]
  /** Other authenticated facts about the caller, by name: `{ customer: 'c-1' }`. */
  readonly claims: Readonly<Record<string, string>>
}

export const anonymous: Caller = { subject: undefined, roles: [], claims: {} }

/**
 * The data that a condition may read. `value` is absent for the question "may the caller ever do
 * this?".
 */
export interface Circumstance {
  readonly caller: Caller
  /** Milliseconds since 1970, UTC. */
  readonly now: number
  readonly value?: Readonly<Record<string, unknown>>
}

/** The callers that a rule of `allow` admits, and the items it applies to. */
export interface Grant {
  /** A role; `*` is any caller, with or without credentials. */
  readonly role: string
  /** Field → claim of the caller that it must equal. */
  readonly where: Readonly<Record<string, string>>
  /**
   * A further condition, by name. Unlike `where`, it cannot filter the rows of a list, so reading
   * and bulk removal do not allow it.
   */
  readonly when?: { readonly name: string; readonly holds: (circumstance: Circumstance) => boolean }
  /** Describes the people who have the role. */
  readonly description?: string
}

/** `K`: the fields that the grant binds to a claim; typed clients may leave them out. */
export class GrantOf<K extends string = never> implements Grant {
  declare readonly bound: K
  readonly role: string
  readonly where: Readonly<Record<string, string>>
  readonly when?: NonNullable<Grant['when']>
  readonly description?: string
  constructor(role: string, { where = {}, when, description }: Partial<Grant> = {}) {
    this.role = role
    this.where = where
    if (when) this.when = when
    if (description !== undefined) this.description = description
  }
  /**
   * Only for items of the caller: `role('customer').owning({ customer: 'customer' })`, field →
   * claim.
   */
  owning<W extends Readonly<Record<string, string>>>(where: W): GrantOf<K | (keyof W & string)> {
    if (typeof where !== 'object' || where === null || Object.keys(where).length === 0)
      throw new TypeError(
        `role('${this.role}').owning() needs a field and the claim that it equals: write it as owning({ customer: 'customer' })`,
      )
    return new GrantOf(this.role, { ...this, where: { ...this.where, ...where } })
  }
  /** Tells people who has the role: in the access matrix and on the site of the service. */
  describe(description: string): GrantOf<K> {
    return new GrantOf(this.role, { ...this, description })
  }
  /** Only while a condition holds. Not for `read` and `bulk`, which select rows by a query. */
  given(name: string, holds: (circumstance: Circumstance) => boolean): GrantOf<K> {
    return new GrantOf(this.role, { ...this, when: { name, holds } })
  }
}

/** The callers with this role; `owning` and similar methods narrow the grant to some items. */
export const role = (name: string): GrantOf => new GrantOf(name)
/** Every caller, those without credentials included. */
export const anyone: Grant = new GrantOf('*')

/** The callers that one field is for, and the states in which content sets it. */
export interface FieldAccess {
  /** Undefined: each caller that may read the item. */
  readonly visibleTo?: readonly Grant[] | undefined
  /** Undefined: each caller that may create or change the item. */
  readonly settableBy?: readonly Grant[] | undefined
  /** Undefined: each state in which the item may be changed. */
  readonly settableIn?: readonly string[] | undefined
}

/** The roles that grants name, once each; not those of anyone. */
export const listRoles = (grants: readonly Grant[]): readonly string[] =>
  [...new Set(grants.map(({ role }) => role))].filter(role => role !== '*')

/** Whether one grant admits the caller, for some item or for this value. */
function isGranted(grant: Grant, caller: Caller, now: number, value?: Readonly<Record<string, unknown>>): boolean {
  if (grant.role !== '*' && !caller.roles.includes(grant.role)) return false
  for (const field in grant.where) {
    const claim = caller.claims[grant.where[field] ?? '']
    if (claim === undefined || (value !== undefined && ownMember(value, field) !== claim)) return false
  }
  return grant.when === undefined || grant.when.holds(value === undefined ? { caller, now } : { caller, now, value })
}

/** Whether the caller may do this to at least one item; no item is compared with `where`. */
export function mayEverBeAllowed(grants: readonly Grant[], caller: Caller, now: number): boolean {
  for (const grant of grants) if (isGranted(grant, caller, now)) return true
  return false
}

/** Whether the caller may do this to this value now. */
export function isAllowed(
  grants: readonly Grant[],
  caller: Caller,
  now: number,
  value: Readonly<Record<string, unknown>>,
): boolean {
  for (const grant of grants) if (isGranted(grant, caller, now, value)) return true
  return false
}

/** All rows, or those that equal any of these records in all of its fields. */
export type Restriction = 'all' | readonly Readonly<Record<string, string>>[]

/** The rows that a caller may see. */
export function readRestriction(grants: readonly Grant[], caller: Caller, now: number): Restriction {
  const rows: Readonly<Record<string, string>>[] = []
  for (const grant of grants) {
    if (!isGranted(grant, caller, now)) continue
    const where = Object.entries(grant.where)
    if (where.length === 0) return 'all'
    // `isGranted` has seen that each claim exists.
    rows.push(Object.fromEntries(where.map(([field, claim]) => [field, caller.claims[claim] as string])))
  }
  return rows
}

/** The rows of both restrictions. */
export function commonRestriction(left: Restriction, right: Restriction): Restriction {
  if (left === 'all') return right
  if (right === 'all') return left
  return left.flatMap(a => right.filter(b => mayAgree(a, b)).map(b => ({ ...a, ...b })))
}
const mayAgree = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean =>
  Object.entries(a).every(([field, text]) => !Object.hasOwn(b, field) || b[field] === text)

/** Whether a caller without credentials may do this to every item. */
export const isPublic = (grants: readonly Grant[]): boolean =>
  grants.some(grant => grant.role === '*' && Object.keys(grant.where).length === 0)
