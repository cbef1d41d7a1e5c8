import type { AnyField, Fields } from './field.ts'
import type { Job } from './job.ts'
import type { Grant } from './policy.ts'
import { type AnyResource, type Rate, Resource } from './resource.ts'

/** One served version of a contract: the newest, less what it does not have yet (rules A9.1–A9.3, B9.3). */
export interface VersionRule {
  /** Resource → fields that this version does not know. */
  readonly without?: Readonly<Record<string, readonly string[]>>
  /** RFC 9745: deprecated since this date (ISO 8601). */
  readonly deprecated?: string
  /** RFC 8594: not served from this date on (ISO 8601). */
  readonly sunset?: string
  /** No longer served: 410 with a link to its successor. */
  readonly retired?: boolean
}

/** Oldest first. */
export type Versions = Readonly<Record<string, VersionRule>>
/** Nothing but versions and their rules: what is inferred as it is written is not held against excess members by itself. */
type OnlyVersionRules<V> = {
  readonly [K in keyof V]: K extends `v${number}`
    ? { readonly [R in Exclude<keyof V[K], keyof VersionRule>]: never }
    : never
}

/** Stored searches over one resource: POST /searches, GET /searches/{id}, GET /search (rules A4.12–A4.14). */
export interface Searches {
  readonly of: string
  readonly allow: readonly Grant[]
  readonly limit?: Rate
  /** Seconds that a search is kept; default one hour. */
  readonly keep?: number
}

export interface Service<
  R extends readonly AnyResource[] = readonly Resource[],
  J extends readonly Job[] = readonly Job[],
  V extends Versions = Versions,
> {
  readonly service: string
  /** The XML namespace; a version's is `namespace:v1`. */
  readonly namespace: string
  readonly title: string
  readonly resources: R
  readonly jobs: J
  readonly searches?: Searches
  readonly versions: V
  /** Per caller over all operations, where no resource says otherwise. */
  readonly limits: { readonly reads: Rate; readonly changes: Rate }
}

export function service<
  const R extends readonly AnyResource[],
  const J extends readonly Job[] = readonly [],
  const V extends Versions = { readonly v1: {} },
>(
  name: string,
  is: {
    readonly namespace: string
    readonly title?: string
    readonly resources: R
    readonly jobs?: J
    readonly searches?: Searches
    readonly versions?: V & OnlyVersionRules<V>
    readonly limits?: Partial<Service['limits']>
  },
): Service<R, J, V> {
  return {
    service: name,
    namespace: is.namespace,
    title: is.title ?? name,
    resources: is.resources,
    jobs: is.jobs ?? ([] as unknown as J), // J defaults to the empty tuple
    ...(is.searches && { searches: is.searches }),
    versions: is.versions ?? ({ v1: {} } as unknown as V), // V's default
    limits: { reads: { count: 6000, seconds: 60 }, changes: { count: 600, seconds: 60 }, ...is.limits },
  }
}

/** The contract as one of its versions knows it: the same service with fewer fields. The store always keeps them all. */
export function viewOfVersion(of: Service, version: string): Service {
  const without = of.versions[version]?.without ?? {}
  return {
    ...of,
    resources: of.resources.map(each => {
      const hidden = without[each.name] ?? []
      return hidden.length === 0 ? each : new Resource({ ...each, fields: withoutFields(each.fields, hidden) })
    }),
  }
}

const withoutFields = (fields: Fields, hidden: readonly string[]): Record<string, AnyField> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !hidden.includes(name)))

export const newestVersion = (of: Service): string => Object.keys(of.versions).at(-1) ?? 'v1'

export const namespaceOf = (of: Service, version: string): string => `${of.namespace}:${version}`
