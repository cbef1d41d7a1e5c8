/**
 * START HERE. A REST client of a contract: one member for each resource and job, with methods typed
 * from the contract value. It knows one address, the entry's; all others are links of what it has
 * read, and an action that an item does not offer has none.
 */
import type { Values } from '../../contract/implement.ts'
import { isCallable } from '../../contract/job.ts'
import type { Resource } from '../../contract/resource.ts'
import type { AnyService, Service } from '../../contract/service.ts'
import type { VersionOf } from '../contract-types.ts'
import type { ChangeOptions, NestedOptions, RequestOptions, ServiceSurface } from '../surface-types.ts'
import {
  type ListQuery,
  listCollection,
  listRelated,
  removeMatching,
  type SearchQuery,
  searchCollection,
} from './collection-methods.ts'
import { createFileMethods } from './file-methods.ts'
import { createJobMethods } from './job-methods.ts'
import { ResourceMethods } from './resource-methods.ts'
import type { RestClientOptions } from './rest-options.ts'
import { RestSession, requireLink } from './rest-session.ts'

/** A REST client: the methods of each resource, job and search, by its name. */
export type RestClient<S extends AnyService, V extends string = never> = ServiceSurface<S, V, 'rest'> & {
  /** Calls in progress fail. */
  close(): void
  [Symbol.dispose](): void
}

/** @throws TypeError for an invalid option */
export function createRestClient<const S extends AnyService, const V extends VersionOf<S> = never>(
  contract: S,
  options: RestClientOptions<V>,
): RestClient<S, V> {
  const session = new RestSession(contract as unknown as Service, options) // the same contract, its types erased
  const close = () => session.wire.close()
  const { resources, jobs } = session.service
  const methods = new Map(resources.map(each => [each.name, new ResourceMethods(session, each)]))
  const client = Object.fromEntries([
    ...[...methods.values()].map(each => [each.resource.name, createResourceMembers(each, methods)]),
    ...jobs.filter(isCallable).map(job => [job.job, createJobMethods(session, job)]),
  ])
  return Object.assign(client, { close, [Symbol.dispose]: close }) as RestClient<S, V> // the types list the same members
}

/** Names of the resource follow those that it names itself. */
function createResourceMembers(methods: ResourceMethods, all: ReadonlyMap<string, ResourceMethods>): object {
  const { resource } = methods
  return {
    ...createActions(methods),
    ...Object.fromEntries(Object.keys(resource.files).map(part => [part, createFileMethods(methods, part)])),
    ...createRelations(methods, all),
    get: resource.isSingle
      ? (options?: RequestOptions) => methods.get(undefined, options)
      : (item: string | Values, options?: NestedOptions) => methods.get(item, options),
    list: (query?: ListQuery, options?: RequestOptions) => listCollection(methods, query, options),
    search: (words: string, where?: Values, query?: SearchQuery) => searchCollection(methods, words, where, query),
    create: (draft: Values, options?: NestedOptions & { readonly id?: string }) => methods.create(draft, options),
    replace: (item: Values, draft: Values, options?: ChangeOptions) => methods.replace(item, draft, options),
    patch: (item: Values, changes: Values, options?: ChangeOptions) => methods.patch(item, changes, options),
    remove: (item: Values, options?: ChangeOptions) => methods.remove(item, options),
    removeAll: (where: Values, options?: NestedOptions) => removeMatching(methods, where, options),
    offers: (item: Values) => methods.offers(item),
  }
}

const createActions = (methods: ResourceMethods): object =>
  Object.fromEntries(
    Object.entries(methods.resource.actions).map(([verb, action]) => [
      verb,
      action.effect === 'read'
        ? (item: Values, options?: RequestOptions) => methods.look(verb, action, item, options)
        : (item: Values, input?: Values, options?: ChangeOptions) => methods.act(verb, action, item, input, options),
    ]),
  )

/** To-many relations. */
function createRelations(
  { resource, session, nameOf }: ResourceMethods,
  all: ReadonlyMap<string, ResourceMethods>,
): object {
  const relations = Object.entries((resource as Resource).given.relations ?? {})
  return Object.fromEntries(
    relations.flatMap(([relation, to]) => {
      const related = 'of' in to ? all.get(to.of) : undefined
      if (!related) return []
      const operation = nameOf(relation)
      const list = (item: Values, query?: ListQuery, options?: RequestOptions) => {
        const { links } = session.requireFacts(operation, item)
        return listRelated(related, operation, requireLink(operation, links, relation), query, options)
      }
      return [[relation, list]]
    }),
  )
}
