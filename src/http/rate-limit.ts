/**
 * draft-ietf-httpapi-ratelimit-headers-10: RateLimit-Policy and RateLimit, lists of strings (policy
 * names) with parameters.
 */
import {
  type BareItem,
  createStructuredItem,
  integerItem,
  parseList,
  type StructuredMember,
  stringItem,
  writeList,
} from './structured-fields.ts'

/** One policy of the field RateLimit-Policy. */
export interface QuotaPolicy {
  readonly name: string
  /** `q`: how much each window allows; `qu`: the unit, by default requests. */
  readonly quota: number
  readonly unit?: 'requests' | 'content-bytes' | 'concurrent-requests'
  /** `w`: seconds. */
  readonly window?: number
}

/** The remaining quota of one policy: an item of the field RateLimit. */
export interface ServiceLimit {
  readonly name: string
  /** `r`: the part of the quota that is left. */
  readonly remaining: number
  /** `t`: seconds until the full quota is available again. */
  readonly reset?: number
}

/** Undefined if a name is not printable ASCII, or a number is not an integer. */
export function writeRateLimitPolicy(policies: readonly QuotaPolicy[]): string | undefined {
  return writeList(
    policies.map(({ name, quota, unit, window }) =>
      createStructuredItem(stringItem(name), {
        q: integerItem(quota),
        ...(unit !== undefined && { qu: stringItem(unit) }),
        ...(window !== undefined && { w: integerItem(window) }),
      }),
    ),
  )
}

/** Undefined if a name is not printable ASCII, or a number is not an integer. */
export function writeRateLimit(limits: readonly ServiceLimit[]): string | undefined {
  return writeList(
    limits.map(({ name, remaining, reset }) =>
      createStructuredItem(stringItem(name), {
        r: integerItem(remaining),
        ...(reset !== undefined && { t: integerItem(reset) }),
      }),
    ),
  )
}

/** RateLimit as a client reads it: members that lack a required parameter are left out. */
export function parseRateLimit(field: string): readonly ServiceLimit[] {
  return (parseList(field) ?? []).flatMap(member => {
    const remaining = readQuotaCount(member, 'r')
    const reset = readQuotaCount(member, 't')
    if (member.kind !== 'string' || remaining === undefined) return []
    return [{ name: member.value, remaining, ...(reset !== undefined && { reset }) }]
  })
}

/** RateLimit-Policy as a client reads it. */
export function parseRateLimitPolicy(field: string): readonly QuotaPolicy[] {
  return (parseList(field) ?? []).flatMap(member => {
    const quota = readQuotaCount(member, 'q')
    const window = readQuotaCount(member, 'w')
    if (member.kind !== 'string' || quota === undefined) return []
    const unit = quotaUnits.find(unit => unit === member.parameters.get('qu')?.value)
    return [{ name: member.value, quota, ...(unit && { unit }), ...(window !== undefined && { window }) }]
  })
}

const quotaUnits = ['requests', 'content-bytes', 'concurrent-requests'] as const

function readQuotaCount(member: StructuredMember, name: string): number | undefined {
  const value: BareItem | undefined = member.parameters.get(name)
  return value?.kind === 'integer' && value.value >= 0 ? value.value : undefined
}
