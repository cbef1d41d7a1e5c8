/** draft-ietf-httpapi-ratelimit-headers-10: RateLimit-Policy and RateLimit, lists of strings (policy names) with parameters. */
import {
  type BareItem,
  createItem,
  integerItem,
  parseList,
  type StructuredMember,
  stringItem,
  writeList,
} from './structured-fields.ts'

export interface QuotaPolicy {
  readonly name: string
  /** `q`: how much each window allows; `qu`: of what, requests when not said. */
  readonly quota: number
  readonly unit?: 'requests' | 'content-bytes' | 'concurrent-requests'
  /** `w`: seconds. */
  readonly window?: number
}

export interface ServiceLimit {
  readonly name: string
  /** `r`: what is left. */
  readonly remaining: number
  /** `t`: seconds until the quota is whole again. */
  readonly reset?: number
}

/** undefined when a name is not printable ASCII or a number no whole one. */
export function writeRateLimitPolicy(policies: readonly QuotaPolicy[]): string | undefined {
  return writeList(
    policies.map(({ name, quota, unit, window }) =>
      createItem(stringItem(name), {
        q: integerItem(quota),
        ...(unit !== undefined && { qu: stringItem(unit) }),
        ...(window !== undefined && { w: integerItem(window) }),
      }),
    ),
  )
}

/** undefined when a name is not printable ASCII or a number no whole one. */
export function writeRateLimit(limits: readonly ServiceLimit[]): string | undefined {
  return writeList(
    limits.map(({ name, remaining, reset }) =>
      createItem(stringItem(name), {
        r: integerItem(remaining),
        ...(reset !== undefined && { t: integerItem(reset) }),
      }),
    ),
  )
}

/** RateLimit as a client reads it: members that lack what the draft requires are left out. */
export function parseRateLimit(field: string): readonly ServiceLimit[] {
  return (parseList(field) ?? []).flatMap(member => {
    const remaining = count(member, 'r')
    const reset = count(member, 't')
    if (member.kind !== 'string' || remaining === undefined) return []
    return [{ name: member.value, remaining, ...(reset !== undefined && { reset }) }]
  })
}

/** RateLimit-Policy as a client reads it. */
export function parseRateLimitPolicy(field: string): readonly QuotaPolicy[] {
  return (parseList(field) ?? []).flatMap(member => {
    const quota = count(member, 'q')
    const window = count(member, 'w')
    if (member.kind !== 'string' || quota === undefined) return []
    const unit = units.find(unit => unit === member.parameters.get('qu')?.value)
    return [{ name: member.value, quota, ...(unit && { unit }), ...(window !== undefined && { window }) }]
  })
}

const units = ['requests', 'content-bytes', 'concurrent-requests'] as const

function count(member: StructuredMember, name: string): number | undefined {
  const value: BareItem | undefined = member.parameters.get(name)
  return value?.kind === 'integer' && value.value >= 0 ? value.value : undefined
}
