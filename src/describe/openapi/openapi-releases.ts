/**
 * What OpenAPI 3.2 can express and 3.1 cannot: the method QUERY, the items of a stream, and nested
 * tags.
 */
import { omitUndefined } from '../../base/objects.ts'
import { isCallable } from '../../contract/job.ts'
import { capitalize } from '../../contract/lexical/text.ts'
import { listOperations } from '../../contract/operation.ts'
import type { Service } from '../../contract/service.ts'
import { type PublicTexts, pickTexts } from '../../contract/texts.ts'
import type { JsonSchema } from '../json-schema.ts'
import { describeFeed, describePages } from './openapi-changes.ts'
import type { Members } from './openapi-components.ts'

export type OpenApiVersion = '3.1' | '3.2'
export interface OpenApiRelease {
  readonly version: string
  /** The methods that a path can have. */
  readonly methods: Readonly<Record<string, true>>
  readonly tags: (service: Service) => readonly JsonSchema[]
  /**
   * Whether a response of this type has its own schema next to the JSON types. Generators join the
   * types of all media types, so text next to JSON would make `Order | string`. The description of
   * the response names what is left out.
   */
  readonly describesContent: (mediaType: string, isOfPort: boolean) => boolean
  /**
   * Whether a request has schemas for its other media types, too. Generators warn about XML; from
   * two JSON types they make a choice by value, which in Python fails for a list, or send no type.
   */
  readonly describesOtherRequests: boolean
  /** Distinguishes the declared problems with one status. */
  readonly problemDiscriminator: (schemaOfType: Readonly<Record<string, string>>) => Members
  /** Addresses other than those of the versions. */
  readonly paths: Members
}

const commonMethods = { GET: true, POST: true, PUT: true, PATCH: true, DELETE: true } as const
interface Tagged extends PublicTexts {
  readonly name: string
}
/**
 * The resources that someone may request: in a site for some roles, those that its readers may
 * request.
 */
function resourcesOf(service: Service): readonly Tagged[] {
  const names = new Set(listOperations(service).map(each => ('resource' in each ? each.resource.name : '')))
  return service.resources.filter(({ name }) => names.has(name)).map(({ name, texts }) => ({ name, ...texts }))
}
const jobsOf = ({ jobs }: Service): readonly Tagged[] =>
  jobs.filter(isCallable).map(each => ({ name: each.job, ...pickTexts(each) }))
const portsOf = ({ ports }: Service): readonly Tagged[] =>
  ports.map(({ port, description }) => ({ name: port, ...(description !== undefined && { description }) }))

/** §4.22: the tag of a group, and the tags below it. */
function groupTags(name: string, summary: string, members: readonly Tagged[]): readonly JsonSchema[] {
  if (members.length === 0) return []
  const below = members.map(each =>
    omitUndefined({
      name: each.name,
      summary: each.title ?? capitalize(each.name),
      description: each.description,
      parent: name,
      kind: 'nav',
    }),
  )
  return [{ name, summary, kind: 'nav' }, ...below]
}

export const openApiReleases: Readonly<Record<OpenApiVersion, OpenApiRelease>> = {
  '3.1': {
    version: '3.1.0',
    methods: commonMethods,
    tags: service =>
      [
        ...resourcesOf(service),
        ...jobsOf(service),
        ...portsOf(service),
        { name: 'changes', description: undefined },
      ].map(({ name, description }) => omitUndefined({ name, description })),
    describesContent: (type, isOfPort) => /[/+]json$/.test(type) || (type === 'application/xml' && !isOfPort),
    describesOtherRequests: false,
    problemDiscriminator: () => ({}),
    paths: { '/changes': describePages() },
  },
  '3.2': {
    version: '3.2.0',
    methods: { ...commonMethods, QUERY: true },
    tags: service => [
      ...groupTags('group-resources', 'Resources', resourcesOf(service)),
      ...groupTags('group-jobs', 'Jobs', jobsOf(service)),
      ...groupTags('group-ports', 'Ports', portsOf(service)),
      { name: 'changes', summary: 'Changes', kind: 'nav' },
    ],
    describesContent: () => true,
    describesOtherRequests: true,
    // §4.25: the default covers problems that are not declared, such as a conflict.
    problemDiscriminator: mapping => ({
      discriminator: { propertyName: 'type', mapping, defaultMapping: '#/components/schemas/Problem' },
    }),
    paths: { '/changes': describeFeed() },
  },
}
