/** A service: its resources and jobs, and the versions in which it is served. */
import { headersKind, jobListKind, resourceListKind, textKind, truthKind, versionsKind } from './declaration-kinds.ts'
import type { EndpointRule, SecurityRule } from './endpoint-rule.ts'
import type { Port } from './exchange.ts'
import type { ServiceHeaders } from './header.ts'
import type { Job } from './job.ts'
import {
  type MemberKinds,
  type MembersOf,
  optionalKind,
  requireKnownMembers,
  requireMemberKinds,
} from './member-kinds.ts'
import type { Grant } from './policy.ts'
import type { Reshape } from './reshape.ts'
import { type AnyResource, type Rate, Resource } from './resource.ts'
import type { Retype } from './retype.ts'
import { joinSentences, pickTexts } from './texts.ts'

/** How a version differs from the newest one (rules A9.1–A9.3, B9.3). */
export interface VersionRule {
  /** Resource → fields that this version does not have. */
  readonly without?: Readonly<Record<string, readonly string[]>>
  /** Resource → the name of a field in this version → its name in the newest one. */
  readonly renames?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Resource → the name of a field in this version → how its values are converted. */
  readonly retypes?: Readonly<Record<string, Readonly<Record<string, Retype>>>>
  /** Resource → groups of fields that this version has in place of those of the newest one. */
  readonly reshapes?: Readonly<Record<string, readonly Reshape[]>>
  /** RFC 9745: deprecated since this date (ISO 8601). */
  readonly deprecated?: string
  /** RFC 8594: no longer served from this date on (ISO 8601). */
  readonly sunset?: string
  /** No longer served: 410 with a link to its successor. */
  readonly retired?: boolean
  /** How messages prove themselves at its endpoints. Default: they need not. */
  readonly security?: SecurityRule
  /** For callers: the purpose of the version, or what to use instead. */
  readonly description?: string
}

/** Oldest first. */
export type Versions = Readonly<Record<string, VersionRule>>
/** Refuses excess members, which the compiler does not report where it infers the type. */
type OnlyVersionRules<V> = {
  readonly [K in keyof V]: K extends `v${number}`
    ? {
        readonly [R in Exclude<
          keyof V[K],
          keyof VersionRule
        >]: `${R & string} is not a rule of a version: use without, renames, retypes, reshapes, deprecated, sunset or retired`
      }
    : never
}

/**
 * Stored searches over one resource: POST /searches, GET /searches/{id}, GET /search (rules
 * A4.12–A4.14).
 */
export interface Searches {
  readonly of: string
  readonly allow: readonly Grant[]
  readonly limit?: Rate
  /** Seconds for which a search is kept; default one hour. */
  readonly keep?: number
}

/** The person or team that answers questions about a service. */
export interface Contact {
  readonly name?: string
  readonly url?: string
  readonly email?: string
}
/** The terms under which a service may be used: `identifier` is one of SPDX. */
export interface License {
  readonly name: string
  readonly identifier?: string
  readonly url?: string
}

/** A contract, from which `implement`, the clients and the descriptions are made. */
export interface Service<
  R extends readonly AnyResource[] = readonly Resource[],
  J extends readonly Job[] = readonly Job[],
  V extends Versions = Versions,
  H extends ServiceHeaders = ServiceHeaders,
  P extends readonly Port[] = readonly Port[],
> {
  readonly service: string
  /** The XML namespace; that of a version is `namespace:v1`. */
  readonly namespace: string
  readonly title: string
  readonly description?: string
  readonly contact?: Contact
  readonly license?: License
  readonly resources: R
  readonly jobs: J
  readonly searches?: Searches
  readonly versions: V
  /** Header blocks of its messages, by name. */
  readonly headers: H
  /** The SOAP endpoints by path; undefined: those of `endpointsOf`. */
  readonly endpoints: Readonly<Record<string, EndpointRule>> | undefined
  /** Operations with messages designed by another party, each port at its own address. */
  readonly ports: P
  /** Whether its operations are served by REST; SOAP is served in any case. */
  readonly hasRest: boolean
  /** Per caller, over all operations that have no limit of their own. */
  readonly limits: ServiceLimits
  /** For the contract of a mock: the contract as it was declared. */
  readonly declared?: Service
}
interface ServiceLimits {
  readonly reads: Rate
  readonly changes: Rate
}
/** Per caller, if a contract says nothing else. */
export const usualRates: ServiceLimits = {
  reads: { count: 6000, seconds: 60 },
  changes: { count: 600, seconds: 60 },
}

/** The bound of a type parameter: a contract, whatever it declares. */
export type AnyService = Service<readonly AnyResource[], readonly Job[], Versions>

/**
 * Declares a contract. The name begins with a lower-case letter; the namespace is an absolute URI.
 */
export function service<
  const R extends readonly AnyResource[],
  const J extends readonly Job[] = readonly [],
  const V extends Versions = { readonly v1: {} },
  const H extends ServiceHeaders = {},
  const P extends readonly Port[] = readonly [],
>(
  name: string,
  declaration: {
    // A compiler message shows the first members: those that contracts have in common.
    readonly namespace: string
    readonly title?: string
    /** For callers: what the service does, and for whom. */
    readonly description?: string
    readonly contact?: Contact
    readonly license?: License
    readonly searches?: Searches
    readonly limits?: Partial<ServiceLimits>
    readonly resources: R
    readonly jobs?: J
    readonly versions?: V & OnlyVersionRules<V>
    readonly headers?: H
    /** The SOAP endpoints by path, and no others. Default: four for each version. */
    readonly endpoints?: Readonly<Record<`/${string}`, EndpointRule>>
    readonly ports?: P
    /** `false`: no operation is served by REST. Default: true. */
    readonly rest?: boolean
  },
): Service<R, J, V, H, P> {
  requireKnownMembers(`the service ${name}`, declaration, serviceMembers)
  requireMemberKinds<Parameters<typeof service>[1]>(`the service ${name}`, declaration, serviceKinds())
  return {
    service: name,
    namespace: declaration.namespace,
    title: declaration.title ?? name,
    ...pickTexts(declaration),
    ...(declaration.contact && { contact: declaration.contact }),
    ...(declaration.license && { license: declaration.license }),
    resources: declaration.resources,
    jobs: declaration.jobs ?? ([] as unknown as J), // J defaults to the empty tuple
    ...(declaration.searches && { searches: declaration.searches }),
    versions: declaration.versions ?? ({ v1: {} } as unknown as V), // V's default
    headers: declaration.headers ?? ({} as H), // H's default
    endpoints: declaration.endpoints,
    hasRest: declaration.rest ?? true,
    ports: declaration.ports ?? ([] as unknown as P), // P's default
    limits: { ...usualRates, ...declaration.limits },
  }
}

const serviceMembers: MembersOf<Parameters<typeof service>[1]> = {
  namespace: true,
  title: true,
  description: true,
  contact: true,
  license: true,
  resources: true,
  jobs: true,
  searches: true,
  versions: true,
  headers: true,
  endpoints: true,
  ports: true,
  rest: true,
  limits: true,
}

const serviceKinds = (): MemberKinds<Parameters<typeof service>[1]> => ({
  namespace: { ...textKind, cure: 'an absolute URI: write it as urn:example:library' },
  resources: resourceListKind,
  jobs: optionalKind(jobListKind),
  headers: optionalKind(headersKind),
  versions: optionalKind(versionsKind),
  rest: optionalKind(truthKind),
})

export const newestVersion = ({ versions }: Service): string => Object.keys(versions).at(-1) ?? 'v1'

/** `Shop, v2.` and what the service and the version say about themselves. */
export const describeVersion = ({ title, description, versions }: Service, version: string): string =>
  joinSentences(`${title}, ${version}`, description, versions[version]?.description)

export const namespaceOf = ({ namespace }: Service, version: string): string => `${namespace}:${version}`

/**
 * `deprecated from 2026-07-01 on, no longer served from 2027-07-01 on`; empty if neither applies.
 */
export function describeVersionLife({ deprecated, sunset }: VersionRule): string {
  return [
    ...(deprecated === undefined ? [] : [`deprecated from ${deprecated} on`]),
    ...(sunset === undefined ? [] : [`no longer served from ${sunset} on`]),
  ].join(', ')
}

/** Examples are alike, so they need a contract without unique keys: the same one if it has none. */
export function withoutUniqueKeys(service: Service): Service {
  if (service.resources.every(({ given }) => given.unique === undefined)) return service
  const resources = service.resources.map(each =>
    each.given.unique ? new Resource({ ...each, given: { ...each.given, unique: [] } }) : each,
  )
  return { ...service, resources, declared: service }
}
