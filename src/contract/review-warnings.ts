/**
 * What a contract leaves open although most services would not, found at start, each with its cure.
 * A service with a warning starts nevertheless.
 */
import { endpointsOf, explainWeakness, isWeakSuite } from './endpoint-rule.ts'
import type { Port } from './exchange.ts'
import type { AnyField, Fields } from './field.ts'
import { findUnservedLists } from './list-index.ts'
import { listGrants } from './operation.ts'
import { listRoles } from './policy.ts'
import type { Resource } from './resource.ts'
import type { Service } from './service.ts'
import { entryFields, foldShape, type ShapeCases } from './shape.ts'

export function findContractWarnings(contract: Service): readonly string[] {
  const places: (readonly [place: string, fields: Fields])[] = [
    ...contract.resources.flatMap(placesOf),
    ...contract.jobs.flatMap(({ job, input, output }) => [
      [`${job}.input`, input] as const,
      [`${job}.output`, output] as const,
    ]),
  ]
  return [
    ...places.flatMap(([place, fields]) => unboundedLists(place, fields)),
    ...contract.resources.flatMap(resource => unreadableReferences(contract, resource)),
    ...contract.ports.flatMap(closedExchanges),
    ...findWeakSuites(contract),
    ...contract.resources.flatMap(resource => findUnservedLists(resource, contract)),
  ]
}

/** Each time that a service starts, since partners are asked to change. */
function findWeakSuites(contract: Service): readonly string[] {
  const rules = [
    ...endpointsOf(contract).map(({ path, security }) => [`the endpoint ${path}`, security] as const),
    ...contract.ports.map(({ port, security }) => [`the port ${port}`, security] as const),
  ]
  return rules.flatMap(([place, rule]) =>
    typeof rule === 'object' && isWeakSuite(rule.suite) ? [`${place} has ${explainWeakness(rule.suite)}`] : [],
  )
}

/** How many exchanges a line names. */
const exchangesNamed = 3
/** Exchanges as an import leaves them, since it cannot know the callers. */
function closedExchanges({ port, exchanges }: Port): string[] {
  const closed = Object.entries(exchanges).flatMap(([name, { allow }]) => (allow.length === 0 ? [name] : []))
  if (closed.length === 0) return []
  const more = closed.length > exchangesNamed ? ` and ${closed.length - exchangesNamed} more` : ''
  return [
    `${port}: no caller may call ${closed.slice(0, exchangesNamed).join(', ')}${more}: write allow with roles, or anyone, at the port or the exchange`,
  ]
}

const placesOf = ({ name, fields, actions }: Resource): (readonly [string, Fields])[] => [
  [name, fields],
  ...Object.entries(actions).flatMap(([verb, { input, output }]) => [
    [`${name}.${verb} input`, input] as const,
    [`${name}.${verb} output`, output ?? {}] as const,
  ]),
]

const unboundedLists = (place: string, fields: Fields): string[] =>
  Object.entries(fields).flatMap(([name, { shape }]) => foldShape(shape, listWarnings, `${place}.${name}`))
const listWarnings: ShapeCases<string[], [place: string]> = {
  scalar: () => [],
  list: ({ item, max, isDefaultMax }, place) => [
    ...(isDefaultMax
      ? [`${place} has no max, so it holds at most ${max} items: declare max, or max: Infinity for no bound`]
      : []),
    ...foldShape(item.shape, listWarnings, `${place}[]`),
  ],
  map: (shape, place) => [
    // An enumeration of keys is a bound in itself.
    ...(shape.entries.isDefaultMax && entryFields(shape).key.shape.kind !== 'enum'
      ? [
          `${place} has no max, so it holds at most ${shape.entries.max} entries: declare max, or max: Infinity for no bound`,
        ]
      : []),
    ...foldShape(shape.entries.item.shape, listWarnings, place),
  ],
  object: ({ fields }, place) => unboundedLists(place, fields),
  union: ({ of }, place) =>
    Object.entries(of).flatMap(([which, fields]) => unboundedLists(`${place}.${which}`, fields)),
}

/** Clients can name only items that they may read: a role that may not read them can name none. */
function unreadableReferences(contract: Service, { name, fields, actions, given }: Resource): string[] {
  const references = [
    ...['create', 'change'].map(doing => [doing, name, fields] as const),
    ...Object.entries(actions).map(([verb, { input }]) => [verb, `${name}.${verb} input`, input] as const),
  ]
  const found = references.flatMap(([doing, place, of]) => {
    const roles = new Set((given.allow[doing] ?? []).map(grant => grant.role))
    return referencesIn(place, of).flatMap(([at, resource]) => {
      const readers = contract.resources.find(each => each.name === resource)?.given.allow['read'] ?? []
      return [...roles]
        .filter(role => !readers.some(grant => grant.role === '*' || grant.role === role))
        .map(
          role =>
            `${at}: ${role === '*' ? 'anyone' : `the role ${role}`} may not read ${resource}, and so cannot name one: allow it to read them, or declare t.ref('${resource}', { unseen: true })`,
        )
    })
  })
  return [...new Set(found)]
}

type Reference = readonly [place: string, resource: string]
const referencesIn = (place: string, fields: Fields): Reference[] =>
  Object.entries(fields)
    .filter(([, field]) => !field.isReadOnly)
    .flatMap(([name, field]) => referencesOf(field, `${place}.${name}`))
const referencesOf = ({ shape }: AnyField, place: string): Reference[] => foldShape(shape, referenceCases, place)
const referenceCases: ShapeCases<Reference[], [place: string]> = {
  scalar: (shape, place) => (shape.kind === 'ref' && !shape.unseen ? [[place, shape.resource]] : []),
  list: ({ item }, place) => referencesOf(item, `${place}[]`),
  map: ({ entries }, place) => referencesOf(entries.item, place),
  object: ({ fields }, place) => referencesIn(place, fields),
  union: ({ of }, place) => Object.entries(of).flatMap(([which, fields]) => referencesIn(`${place}.${which}`, fields)),
}

/**
 * The roles that no policy of the contract names, each once, with a sentence for each. A misspelt
 * role is not an error, since a handler may read it; but it grants nothing.
 */
export function explainUnknownRoles(contract: Service, roles: readonly string[]): ReadonlyMap<string, string> {
  const ofFields = contract.resources.flatMap(({ fields }) =>
    Object.values(fields).flatMap(({ access }) => [...(access?.visibleTo ?? []), ...(access?.settableBy ?? [])]),
  )
  const declaredRoles = listRoles([...listGrants(contract), ...ofFields])
  const explain = (role: string) =>
    `no policy of ${contract.service} names the role ${role}: its roles are ${declaredRoles.join(', ') || 'none'}`
  return new Map(roles.filter(role => !declaredRoles.includes(role)).map(role => [role, explain(role)]))
}
