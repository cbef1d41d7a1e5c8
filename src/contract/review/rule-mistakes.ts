/** Mistakes in the rules of a resource, and in its relations. */
import { findComputedMistakes, storedFieldsOf } from '../computed-fields.ts'
import type { AnyField, Fields } from '../field.ts'
import { isScalarField } from '../field-json.ts'
import { findFilterField, messageNameOf } from '../filter-field.ts'
import { keyOctets, keyOctetsMax, newestFirst, writeIndex } from '../list-index.ts'
import { isNestedRelation } from '../nesting.ts'
import type { Grant } from '../policy.ts'
import { faultPlaces, type Rate, type Resource } from '../resource.ts'
import type { Service } from '../service.ts'
import { foldScalar, innermostShape, isScalar, objectFields, type ScalarCases } from '../shape.ts'
import { findAccessMistakes } from './access-mistakes.ts'
import { findRepeated } from './declared-names.ts'

export function findResourceRuleMistakes(contract: Service, resource: Resource): string[] {
  const { name, given } = resource
  return [
    ...comparisonMistakes(resource),
    ...internalMistakes(contract, resource),
    ...scalarMistakes(resource, given.searchBy, 'searchBy'),
    ...(given.search ?? []).flatMap(path => searchPathMistakes(contract, resource, path)),
    ...stateMistakes(resource, given.edit, 'edit'),
    ...stateMistakes(resource, given.remove, 'remove'),
    ...doingMistakes(resource),
    ...grantMistakes(contract, resource),
    ...findComputedMistakes(resource, path => fieldsOfPath(contract, resource.fields, path)),
    ...cacheMistakes(resource),
    ...bulkMistakes(resource),
    ...Object.entries(given.limits ?? {}).flatMap(([doing, rate]) =>
      findRateMistakes(`${name}: the limit of ${doing}`, rate),
    ),
    ...Object.entries(given.relations ?? {}).flatMap(([rel, relation]) =>
      relationMistakes(contract, resource, rel, relation),
    ),
  ]
}

const listScalarNames = (resource: Resource): string =>
  Object.entries(storedFieldsOf(resource))
    .flatMap(([name, field]) => (isScalarField(field) ? [name] : []))
    .join(', ')

/** In these, `-` before a field reverses its order; lists sort by a field of `sort` both ways. */
const directedRules: readonly string[] = ['order', 'indexes']

function scalarMistakes(resource: Resource, list: readonly string[] | undefined, rule: string): string[] {
  const { name, fields } = resource
  return (list ?? [])
    .map(each => (directedRules.includes(rule) ? each.replace(/^-/, '') : each))
    .filter(each => !fields[each] || !isScalarField(fields[each]))
    .map(each => `${name}: ${rule} names "${each}", which is not a scalar field: use ${listScalarNames(resource)}`)
}

function stateMistakes({ name, states }: Resource, list: readonly string[] | undefined, rule: string): string[] {
  if (list && states.length === 0)
    return [`${name}: ${rule} names states, but ${name} has none: leave ${rule} out, or declare states`]
  return (list ?? [])
    .filter(state => !states.includes(state))
    .map(state => `${name}: ${rule} names the unknown state "${state}": use ${states.join(', ')}`)
}

/** Mistakes in the fields by which lists are filtered and sorted, and in the indexes for these. */
function comparisonMistakes(resource: Resource): string[] {
  const { name, given } = resource
  return [
    ...(given.filter ?? [])
      .filter(each => !findFilterField(resource, each))
      .map(
        each =>
          `${name}: filter names "${each}", which is neither a scalar field nor leads to a t.ref(): use ${listScalarNames(resource)}, or a path through lists and objects to a reference`,
      ),
    ...findRepeated([...new Set(given.filter)].map(messageNameOf)).map(
      child => `${name}: two names of filter are ${child} in a message: rename a field, or leave one of them out`,
    ),
    ...scalarMistakes(resource, given.sort, 'sort'),
    ...scalarMistakes(resource, given.order, 'order'),
    ...(given.indexes ?? []).flatMap(keys => [
      ...scalarMistakes(resource, keys.at(-1) === newestFirst ? keys.slice(0, -1) : keys, 'indexes'),
      ...(keys.length > 0 ? [] : [`${name}: indexes has an empty list: name the fields of the index`]),
    ]),
    ...findRepeated((given.indexes ?? []).map(writeIndex)).map(
      keys => `${name}: indexes has ${keys} twice: declare it once`,
    ),
    ...(given.unique ?? []).flatMap(keys => [
      ...scalarMistakes(resource, keys, 'unique'),
      ...uniqueMistakes(resource, keys),
    ]),
    ...findRepeated((given.unique ?? []).map(writeIndex)).map(
      keys => `${name}: unique has ${keys} twice: declare it once`,
    ),
  ]
}

/** Operations that rules name. */
function doingMistakes({ name, given, actions, files }: Resource): string[] {
  const doings = ['read', 'create', 'change', 'remove', 'bulk', ...Object.keys(actions)]
  const failing = [...faultPlaces, ...Object.keys(files)]
  const messages = [
    'get',
    'list',
    'create',
    'replace',
    'delete',
    'search',
    ...Object.keys(actions),
    ...Object.keys(files),
  ]
  return [
    ...[...Object.keys(given.allow), ...Object.keys(given.limits ?? {})]
      .filter(doing => !doings.includes(doing))
      .map(doing => {
        const whose = Object.hasOwn(files, doing) ? ' (whoever may change an item may put its files)' : ''
        return `${name}: "${doing}" is not an operation to allow or limit: use ${[...new Set(doings)].join(', ')}${whose}`
      }),
    ...Object.keys(given.faults ?? {})
      .filter(place => !failing.includes(place))
      .map(
        place =>
          `${name}: faults are declared for "${place}", which has none: use ${failing.join(', ')}, or \`faults\` of the action`,
      ),
    ...(given.messages ?? [])
      .filter(message => !messages.includes(message))
      .map(message => `${name}: messages names "${message}", which is not an operation: use ${messages.join(', ')}`),
  ]
}

/** The fields that the policy binds, and the conditions that it checks. */
function grantMistakes(contract: Service, resource: Resource): string[] {
  const { name, fields, given } = resource
  const grants = Object.entries(given.allow)
  const boundMistakesOf = (list: readonly Grant[], operation: string): string[] =>
    list.flatMap(({ where }) => [
      ...scalarMistakes(resource, Object.keys(where), operation),
      ...owningMistakes(resource, operation, Object.keys(where)),
    ])
  return [
    ...(grants.length > 0 ? [] : [`${name} grants nothing to any role: add grants to rules({ allow: … })`]),
    ...grants.flatMap(([doing, list]) => boundMistakesOf(list ?? [], `allow.${doing}`)),
    ...findAccessMistakes(resource, path => fieldsOfPath(contract, fields, path), boundMistakesOf),
    ...grants
      .filter(([, list]) => list?.some(({ when }) => when && typeof when.holds !== 'function'))
      .map(
        ([doing]) =>
          `${name}: allow.${doing} has a condition without a function: write given('cheap', ({ value }) => …)`,
      ),
    ...(['read', 'bulk'] as const)
      .filter(doing => given.allow[doing]?.some(grant => grant.when))
      .map(
        doing =>
          `${name}: allow.${doing} has a condition (given), by which a query cannot select rows: use owning() with a field and a claim`,
      ),
  ]
}

const isText: ScalarCases<boolean> = {
  string: () => true,
  boolean: () => false,
  int: () => false,
  long: () => false,
  decimal: () => true,
  double: () => false,
  date: () => true,
  time: () => true,
  dateTime: () => true,
  duration: () => true,
  bytes: () => false,
  enum: () => true,
  id: () => true,
  ref: () => true,
}
/** A claim is text, which never equals a value of another kind. */
const owningMistakes = ({ name, fields }: Resource, place: string, keys: readonly string[]): string[] =>
  keys.flatMap(key => {
    const shape = fields[key]?.shape
    return shape === undefined || !isScalar(shape) || foldScalar(shape, isText)
      ? []
      : [
          `${name}: ${place} binds "${key}" to a claim, which is text and never equals ${shape.kind}: bind a t.string(), t.ref() or other text`,
        ]
  })

/** RFC 9111 §1.2.2: seconds beyond 2^31 mean no more than those. */
function cacheMistakes({ name, given: { cache } }: Resource): string[] {
  if (cache === undefined || (Number.isInteger(cache.maxAge) && cache.maxAge >= 0 && cache.maxAge <= 2 ** 31)) return []
  return [`${name}: cache has maxAge ${cache.maxAge}: use whole seconds from 0 to 2147483648, such as 60`]
}

function bulkMistakes(resource: Resource): string[] {
  const { name, given } = resource
  if (!given.bulk) return []
  const isFiltered = given.filter !== undefined && given.filter.length > 0
  return [
    ...bulkFaultMistakes(resource),
    ...(isFiltered ? [] : [`${name}: bulk removal needs a filter: name its fields in filter`]),
  ]
}

/**
 * The handler `removing` is called for single and bulk removals alike, and is not told which it is.
 */
function bulkFaultMistakes({ name, given: { faults } }: Resource): string[] {
  const kinds = ['remove', 'bulk'] as const
  return kinds.flatMap((place, i) => {
    const other = kinds[1 - i] ?? 'bulk'
    return (faults?.[place] ?? [])
      .filter(each => !faults?.[other]?.some(known => known.fault === each.fault))
      .map(
        each =>
          `${name}: faults has ${each.fault} for ${place} and not for ${other}, though \`removing\` is called for both: add it to ${other}`,
      )
  })
}

/**
 * Clients can find out the values of a field by which they may filter, sort or search, and of one
 * whose duplicates a refusal reports.
 */
function internalMistakes(contract: Service, { name, fields, given }: Resource): string[] {
  const rules = { ...given, unique: given.unique?.flat() }
  return (['filter', 'sort', 'order', 'search', 'searchBy', 'unique'] as const).flatMap(rule =>
    (rules[rule] ?? [])
      .map(each => each.replace(/^-/, ''))
      .filter(path => fieldsOfPath(contract, fields, path).some(field => field?.isInternal))
      .map(
        path => `${name}: ${rule} names "${path}", which is internal and would be revealed by it: use another field`,
      ),
  )
}

export const findRateMistakes = (place: string, rate: Rate | undefined): string[] =>
  rate && rate.count > 0 && rate.seconds > 0
    ? []
    : [`${place} needs count and seconds above 0: write it as { count: 600, seconds: 60 }`]

function relationMistakes(
  contract: Service,
  resource: Resource,
  rel: string,
  relation: { readonly of?: string; readonly by: string },
): string[] {
  const place = `${resource.name}: relation ${rel}`
  if (relation.of === undefined) {
    const shape = resource.fields[relation.by]?.shape
    if (shape?.kind !== 'ref')
      return [`${place} goes by "${relation.by}", which is not a t.ref(): name a field that is one`]
    const target = contract.resources.find(each => each.name === shape.resource)
    return target?.within === undefined || relation.by === resource.within
      ? []
      : [
          `${place} leads to one of ${target.name}, whose address needs its ${target.within}: leave the relation out, and keep the field`,
        ]
  }
  const other = contract.resources.find(each => each.name === relation.of)
  if (!other) return [`${place} leads to "${relation.of}", which is not a resource: name one of the service's`]
  if (other.isSingle)
    return [`${place} leads to a list of ${relation.of}, which is single and has none: leave the relation out`]
  if (other.within !== undefined && !isNestedRelation(relation, resource, contract.resources))
    return [
      `${place} leads to a list of ${relation.of}, whose items are listed only in one ${other.within}: leave the relation out`,
    ]
  if (other.within !== undefined && rel !== relation.of)
    return [
      `${place} leads to the ${relation.of} in it, to which each item has a link of that name: call it ${relation.of}, or leave it out`,
    ]
  const back = other.fields[relation.by]?.shape
  return back?.kind === 'ref' && back.resource === resource.name
    ? []
    : [
        `${place} goes by ${relation.of}.${relation.by}, which is not a t.ref('${resource.name}'): name a field that is one`,
      ]
}

/** A search path leads through refs, lists and objects to text. */
const searchPathMistakes = (contract: Service, { name, fields }: Resource, path: string): string[] =>
  fieldsOfPath(contract, fields, path).at(-1)?.shape.kind === 'string'
    ? []
    : [`${name}: search "${path}" does not lead to text: name string fields, through refs and lists`]

/** The field of each step through refs, lists and objects; no field for a step that has none. */
function fieldsOfPath({ resources }: Service, from: Fields, path: string): readonly (AnyField | undefined)[] {
  let fields: Fields | undefined = from
  return path.split('.').map(part => {
    const field = fields && Object.hasOwn(fields, part) ? fields[part] : undefined
    const shape = field && innermostShape(field.shape)
    fields =
      shape?.kind === 'ref'
        ? resources.find(each => each.name === shape.resource)?.fields
        : shape && objectFields(shape)
    return field
  })
}

function uniqueMistakes({ name, fields }: Resource, keys: readonly string[]): string[] {
  const place = `${name}: unique ${writeIndex(keys)}`
  const known = keys.map(key => fields[key]).filter(field => field !== undefined)
  const octets = known.reduce((sum, { shape }) => sum + keyOctets(shape), 0)
  return [
    ...(keys.length > 0 ? [] : [`${name}: unique has an empty list: name the fields of the key`]),
    ...(keys.includes('id') ? [`${place} names the id, which no two items have as it is: leave it out`] : []),
    ...(new Set(keys).size < keys.length ? [`${place} names a field twice: name it once`] : []),
    ...(known.length > 0 && known.every(({ defaultValue }) => defaultValue !== undefined)
      ? [`${place} has a default in each field, which two items would share: remove one default`]
      : []),
    ...(octets > keyOctetsMax
      ? [
          `${place} may be longer than an index can hold: give its texts and bytes a max, of ${keyOctetsMax} octets together, where a character counts four`,
        ]
      : []),
  ]
}
