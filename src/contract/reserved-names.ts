/**
 * Names that a contract cannot give, because every service has something of that name: an address,
 * a link, a rule or a method of its clients.
 */
import type { Resource } from './resource.ts'
import type { Service } from './service.ts'

const addresses = ['search', 'searches', 'soap', 'health', 'metrics', 'problems']
/** Relations of an entry, next to those of resources, jobs and versions. */
const entryRelations = ['self', 'service-desc', 'wsdl', 'wsdl2', 'xsd', 'changes', 'login']
/**
 * Members of a client, next to its resources and jobs; an object with `then` is a promise to
 * `await`.
 */
const clientMembers = ['close', 'then', 'constructor']
/** Relations of an item, next to its actions, files and relations. */
const itemRelations = ['self', 'collection', 'edit', 'delete']
/** The names of operations in `allow`, and of the methods of a resource in a client. */
const itemOperations = ['read', 'create', 'change', 'remove', 'bulk', 'get', 'list', 'search', 'replace', 'patch']
/** The members of `implement()` for a resource, next to those of its actions. */
export const resourceHandlers = ['derive', 'compute', 'removing', 'receiving', 'searching', 'formats', 'keep']

/** Whether no resource or job can have this name, if versions have their usual names. */
export const isReservedCollection = (name: string): boolean =>
  [...addresses, ...entryRelations, ...clientMembers].includes(name) || /^v\d+$/.test(name)
/** Whether no action, file or relation of an item can have this relation. */
export const isReservedRelation = (rel: string): boolean => itemRelations.includes(rel)
/** Whether no action or file can have this name. */
export const isReservedOperation = (name: string): boolean => itemOperations.includes(name)
/** Whether no action can have this name. */
export const isReservedAction = (name: string): boolean => isReservedOperation(name) || resourceHandlers.includes(name)

const cures: readonly (readonly [names: readonly string[], of: string])[] = [
  [addresses, 'a reserved address'],
  [entryRelations, 'a link of every entry'],
  [clientMembers, 'a member of every client'],
]

/** One line for each resource, job, action, file or relation with a reserved name. */
export function findReservedNames(contract: Service): string[] {
  const versions = Object.keys(contract.versions)
  const ofService: typeof cures = [...cures, [versions, 'the link of a version']]
  return [
    ...[...contract.resources.map(each => each.name), ...contract.jobs.map(each => each.job)].flatMap(name =>
      ofService
        .filter(([names]) => names.includes(name))
        .map(([, of]) => `"${name}" is ${of}: give the resource or job another name`),
    ),
    ...contract.resources.flatMap(findReservedMembers),
  ]
}

function findReservedMembers({ name, actions, files, given }: Resource): string[] {
  const verbs = Object.keys(actions)
  const parts = Object.keys(files)
  const relations = [
    ...Object.entries(actions).map(([verb, { rel }]) => [`${name}.${verb}`, rel] as const),
    ...[...parts, ...Object.keys(given.relations ?? {})].map(each => [`${name}.${each}`, each] as const),
  ]
  return [
    ...verbs
      .filter(isReservedOperation)
      .map(verb => `${name}.${verb} is an operation of every resource: give the action another name`),
    ...verbs
      .filter(verb => resourceHandlers.includes(verb))
      .map(verb => `${name}.${verb} in implement() is another handler than an action's: give the action another name`),
    ...parts
      .filter(part => isReservedOperation(part) || verbs.includes(part))
      .map(part => `${name}.${part} is a method of its clients already: give the file another name`),
    ...relations
      .filter(([, rel]) => rel !== undefined && isReservedRelation(rel))
      .map(([place, rel]) => `${place} has the relation "${rel}", a link of every item: give it another one`),
  ]
}
