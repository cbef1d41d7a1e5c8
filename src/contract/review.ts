/**
 * Mistakes of a contract that types cannot see, found at start, each with its place and its cure: a
 * policy that cannot be enforced, a link that leads nowhere, a name that XML cannot carry. A
 * service with a mistake does not start.
 */
import { findAccessMistakes, misplacedAccess } from './access-mistakes.ts'
import { splitBody } from './attached-parts.ts'
import { findComputedMistakes, hasComputedFields, misplacedComputed } from './computed-fields.ts'
import { fillDefaults } from './default-values.ts'
import { type EndpointRule, endpointsOf, findRuleMistakes, type SecurityRule } from './endpoint-rule.ts'
import type { Port, PortExchange } from './exchange.ts'
import { builtInFaults, declaredFaults, type Fault } from './fault.ts'
import { type AnyField, type Fields, mayBeLeftOut, type Shape } from './field.ts'
import { isScalarField } from './field-json.ts'
import { findFilterField, messageNameOf } from './filter-field.ts'
import { headersOf, type NamedHeader } from './header.ts'
import type { Implementation } from './implement.ts'
import type { Job } from './job.ts'
import { findUnknownMembers, type MembersOf } from './known-members.ts'
import { parseScaledDecimal } from './lexical/decimal.ts'
import { intRange, longRange, type NumberRange } from './lexical/number.ts'
import { compilePattern, pathSegmentPattern } from './lexical/text.ts'
import { keyOctets, keyOctetsMax, newestFirst, writeIndex } from './list-index.ts'
import { reachableStates } from './machine.ts'
import { isNestedRelation, listNested } from './nesting.ts'
import { findNestingMistakes } from './nesting-mistakes.ts'
import { listOperations } from './operation.ts'
import type { Grant } from './policy.ts'
import { findPortSecurityMistakes } from './port-security.ts'
import { findReservedNames } from './reserved-names.ts'
import { type AnyAction, faultPlaces, type ListRule, type Rate, type Resource, type Rules } from './resource.ts'
import type { Service } from './service.ts'
import {
  asObject,
  entryFields,
  foldScalar,
  foldShape,
  innermostShape,
  isScalar,
  objectFields,
  type ScalarCases,
  type ShapeCases,
} from './shape.ts'
import { checkValue } from './typed-value.ts'
import { findVersionMistakes } from './version-mistakes.ts'
import { hasElementsAlone } from './xml-members.ts'
import { listReachedTypes } from './xml-reach.ts'
import { type AnyMember, type AnyXmlType, BodyContent, type TypeMembers } from './xml-type.ts'

/** Thrown at start: all mistakes, a line each. */
export class ContractMistakes extends Error {
  readonly mistakes: readonly string[]
  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}

/** All mistakes of an application's contract and handlers; empty when it may start. */
export function findContractMistakes(app: Implementation): readonly string[] {
  const { contract } = app
  return [
    ...nameMistakes(contract),
    ...contract.resources.flatMap(resource => resourceMistakes(contract, resource)),
    ...contract.jobs.flatMap(job => [
      ...fieldsMistakes(contract, `${job.job}.input`, job.input),
      ...fieldsMistakes(contract, `${job.job}.output`, job.output),
      ...(app.handlers[job.job]?.run ? [] : [`${job.job} has no handler: give implement() a ${job.job}.run`]),
      ...findUnknownMembers(`the job ${job.job}`, job, jobMembers),
      ...(['tries', 'timeLimit', 'keep'] as const)
        .filter(name => !(job[name] > 0))
        .map(name => `the job ${job.job}: ${name} must be a number above 0`),
      ...(job.limit === undefined ? [] : rateMistakes(`the limit of the job ${job.job}`, job.limit)),
      ...unknownHandlerMistakes(app, job.job, []),
    ]),
    ...Object.keys(app.handlers)
      .filter(
        name => ![...contract.resources.map(each => each.name), ...contract.jobs.map(each => each.job)].includes(name),
      )
      .map(
        name => `implement() has handlers of "${name}", which is not a resource or job of the contract: remove them`,
      ),
    ...contract.ports.flatMap(port => [...exchangeMistakes(app, port), ...portSecurityMistakes(port)]),
    ...searchMistakes(contract),
    ...findUnknownMembers(`the limits of ${contract.service}`, contract.limits, { reads: true, changes: true }),
    ...Object.entries(contract.limits).flatMap(([doing, rate]) => rateMistakes(`the limit of ${doing}`, rate)),
    ...findVersionMistakes(contract, (place, field) => fieldMistakes(contract, place, field)),
    ...endpointMistakes(contract),
    ...faceMistakes(contract),
    ...headersOf(contract).flatMap(each => headerMistakes(contract, each)),
    ...faultMistakes(contract),
    ...contract.resources.flatMap(resource => handlerMistakes(app, resource)),
    ...findRepeated(listOperations(contract).map(operation => operation.name)).map(
      name => `two operations are named ${name}: give one of the resources another \`one\`, or the action another name`,
    ),
  ]
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

const segmentText = /^[a-z][a-zA-Z0-9-]*$/
const pathSegmentText = new RegExp(`^${pathSegmentPattern}$`)
const fieldNameText = /^[A-Za-z][A-Za-z0-9_]*$/

const ruleMembers: MembersOf<Rules> = {
  one: true, relations: true, filter: true, sort: true, order: true, indexes: true, unique: true, unserved: true, search: true,
  searchBy: true, edit: true, remove: true, putCreates: true, bulk: true, precondition: true, allow: true, faults: true, limits: true, cache: true,
  messages: true,
} // biome-ignore format: a list of names reads best in few lines
const jobMembers: MembersOf<Job> = {
  job: true, one: true, input: true, output: true, faults: true, allow: true, limit: true, tries: true, timeLimit: true, keep: true,
  title: true, description: true,
} // biome-ignore format: a list of names reads best in few lines
const endpointMembers: MembersOf<EndpointRule> = { version: true, style: true, soap: true, security: true }
const securityMembers: MembersOf<SecurityRule> = {
  callers: true,
  encrypted: true,
  answers: true,
  symmetric: true,
  attachments: true,
  operations: true,
}

function nameMistakes(contract: Service): string[] {
  const names = [...contract.resources.map(each => each.name), ...contract.jobs.map(each => each.job)]
  return [
    ...(/^[a-z][A-Za-z0-9-]*$/.test(contract.service)
      ? []
      : [
          `"${contract.service}" is not a valid name of a service: start with a lower-case letter, and use letters, digits and "-"`,
        ]),
    ...(/^[a-z][a-z0-9+.-]*:[^\s"<>]+$/i.test(contract.namespace)
      ? []
      : [`namespace "${contract.namespace}" is not an absolute URI: use urn:… or https://…`]),
    ...names
      .filter(name => !segmentText.test(name))
      .map(name => `"${name}" is not a valid path segment: use a plural noun in lower case, such as orders`),
    ...findReservedNames(contract),
    ...findRepeated(names).map(name => `"${name}" is declared twice: give each resource and job a name of its own`),
  ]
}

function findRepeated(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return [...new Set(names.filter(name => seen.has(name) || !seen.add(name)))]
}

function resourceMistakes(contract: Service, resource: Resource): string[] {
  const { name, fields, actions, states } = resource
  const unreachable = states.filter(state => states[0] && !reachableStates(resource.machine, states[0]).has(state))
  const own = [...Object.values(actions).map(action => action.rel), ...Object.keys(resource.files)]
  const lists = Object.entries(resource.given.relations ?? {}).flatMap(([rel, relation]) =>
    'of' in relation && !isNestedRelation(relation, resource, contract.resources) ? [[rel, relation.of] as const] : [],
  )
  const nested = listNested(resource, contract.resources).map(each => each.name)
  const places = [...own, ...lists.map(([, of]) => of), ...nested]
  const rels = [...own, ...lists.map(([rel]) => rel), ...nested]
  return [
    ...(fields['id']?.shape.kind === 'id' ? [] : [`${name} has no identifier: declare \`id: t.id('…')\``]),
    ...(resource.isSingle ? singleMistakes(resource) : []),
    ...findNestingMistakes(contract, resource),
    ...resourceFieldsMistakes(contract, name, fields),
    ...findRepeated(states).map(state => `${name} declares the state "${state}" twice: declare it once`),
    ...unreachable.map(
      state => `${name} never reaches the state "${state}": add a transition that leads there from "${states[0]}"`,
    ),
    ...Object.entries(actions).flatMap(([verb, action]) => actionMistakes(contract, resource, verb, action)),
    ...findUnknownMembers(`${name}.rules`, resource.given, ruleMembers),
    ...Object.entries(actions)
      .filter(([verb, action]) => action.effect !== 'read' && !Object.hasOwn(resource.given.allow, verb))
      .map(
        ([verb]) =>
          `${name}.${verb} has no policy, so it is offered to no caller: name it in rules({ allow: { ${verb}: […] } }), with [] to switch it off`,
      ),
    ...[...new Set([...findRepeated(places), ...findRepeated(rels)])].map(
      path => `${name} uses the path /${path} twice: give one of them another rel, or remove a relation`,
    ),
    ...Object.entries(resource.files).flatMap(([part, file]) => [
      ...(pathSegmentText.test(part)
        ? []
        : [`${name}.${part} is not a valid path segment: use a noun, such as picture`]),
      ...(file.max > 0 && file.mediaTypes.length > 0
        ? []
        : [`${name}.${part} needs a media type and a max above 0: write it as ${fileExample}`]),
      ...file.mediaTypes
        .filter(each => !/^[\w.+*-]+\/[\w.+*-]+/.test(each))
        .map(each => `${name}.${part}: "${each}" is not a media type: write it as image/png`),
    ]),
    ...ruleMistakes(contract, resource),
  ]
}

const listRules: readonly ListRule[] = [
  'filter',
  'sort',
  'order',
  'indexes',
  'unique',
  'unserved',
  'search',
  'searchBy',
  'putCreates',
  'bulk',
]

/** What needs several items, or names one among them. */
function singleMistakes({ name, fields, given, actions }: Resource): string[] {
  const { bulk, ...others } = given.allow
  const creates = (others.create?.length ?? 0) > 0
  return [
    ...(fields['id']?.isInternal ? [] : [`${name} is single, so its item has no identifier: leave id out`]),
    ...listRules
      .filter(rule => given[rule] !== undefined)
      .map(rule => `${name} is single and has no list: leave ${rule} out of its rules`),
    ...(bulk ? [`${name} is single and has no list: leave bulk out of allow`] : []),
    ...['list', 'search']
      .filter(message => given.messages?.includes(message))
      .map(message => `${name} is single and has no list: leave "${message}" out of messages`),
    ...Object.entries(actions)
      .filter(([, { effect }]) => effect === 'move')
      .map(([verb]) => `${name}.${verb} moves the one item that there is: let it lead to a state, or stay`),
    ...Object.entries(given.allow)
      .filter(([, grants]) => grants?.some(({ where }) => Object.hasOwn(where, 'id')))
      .map(([doing]) => `${name}: allow.${doing} binds the id, which a single resource has not: bind another field`),
    ...(creates || others.change || others.remove === undefined
      ? []
      : [`${name} is single, and may be removed but never made again: allow create, or take remove away`]),
  ]
}

const fileExample = "{ mediaTypes: ['image/png'], max: 1_000_000 }, max in octets"

function actionMistakes(contract: Service, { name, states }: Resource, verb: string, action: AnyAction): string[] {
  const place = `${name}.${verb}`
  const known = states.length > 0 ? `use ${states.join(', ')}` : 'declare it in states'
  const unknown = [...action.from, ...(action.to === undefined ? [] : [action.to])].filter(
    state => !states.includes(state),
  )
  return [
    ...unknown.map(state => `${place} leads from or to the unknown state "${state}": ${known}`),
    ...(segmentText.test(action.rel ?? '') && action.rel !== verb
      ? []
      : [
          `${place} has the rel "${action.rel}", which is not a noun of its own: use letters, digits and "-", and not "${verb}" itself; name what the action makes, as pay has "payment"`,
        ]),
    ...(action.kept && !action.output ? [`${place} is kept but has no output: declare an output, or remove kept`] : []),
    ...fieldsMistakes(contract, `${place} input`, action.input),
    ...fieldsMistakes(contract, `${place} output`, action.output ?? {}),
  ]
}

/** For fields elsewhere than in a resource. */
const fieldsMistakes = (contract: Service, place: string, fields: Fields): string[] => [
  ...resourceFieldsMistakes(contract, place, fields),
  ...Object.entries(fields).flatMap(([name, field]) => misplacedMarks(`${place}.${name}`, field)),
]

function resourceFieldsMistakes(contract: Service, place: string, fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, field]) => [
    ...(fieldNameText.test(name)
      ? []
      : [`${place}.${name} is not a valid name of a field: start with a letter, and use letters, digits and "_"`]),
    ...fieldMistakes(contract, `${place}.${name}`, field),
  ])
}

/** For a field elsewhere than in a resource. */
const misplacedMarks = (place: string, field: AnyField): string[] => [
  ...misplacedAccess(place, field),
  ...misplacedComputed(place, field),
]

const bounds = { min: true, max: true }
const scalarFacets: ScalarCases<object> = {
  string: () => ({ ...bounds, pattern: true, xsd: true }),
  boolean: () => ({}),
  int: () => ({ ...bounds, xsd: true }),
  long: () => ({ ...bounds, xsd: true }),
  decimal: () => ({ digits: true, places: true, ...bounds }),
  double: () => ({ ...bounds, xsd: true }),
  date: () => ({}),
  time: () => ({}),
  dateTime: () => ({}),
  duration: () => ({}),
  bytes: () => ({ max: true, encoding: true }),
  enum: () => ({ values: true }),
  id: () => ({ prefix: true }),
  ref: () => ({ resource: true }),
}
const shapeFacets: ShapeCases<object> = {
  scalar: shape => foldScalar(shape, scalarFacets),
  list: () => ({ ...bounds, isDefaultMax: true, item: true, element: true }),
  map: () => ({ entries: true }),
  object: () => ({ fields: true, name: true }),
  union: () => ({ on: true, of: true }),
}
const facetsOf = (shape: Shape): object => ({ kind: true, ...foldShape(shape, shapeFacets) })

function fieldMistakes(contract: Service, place: string, field: AnyField): string[] {
  const { shape } = field
  const unknown = findUnknownMembers(place, shape, facetsOf(shape))
  if (unknown.length > 0) return unknown
  if (field.isAttribute && !isScalarField(field))
    return [`${place} cannot be an attribute: only a scalar can, so make it an element`]
  if (field.isAttribute && field.isNullable)
    return [`${place} cannot be null: an attribute has no xsi:nil, so make it optional, or an element`]
  const mistakes = foldShape(shape, shapeMistakes, contract, place)
  return mistakes.length > 0 ? mistakes : [...textMistakes(place, field), ...defaultMistakes(place, field)]
}

/** What stands for an absent value is a value, and there wherever it is read. */
function defaultMistakes(place: string, field: AnyField): string[] {
  const { defaultValue, shape } = field
  if (defaultValue === undefined) return []
  if (shape.kind === 'id' || shape.kind === 'ref')
    return [`${place} is an identifier and cannot have a default: an item of this name need not exist, so leave it out`]
  const [flaw] = checkValue({ default: field }, fillDefaults({ default: field }, { default: defaultValue }))
  return flaw ? [`${place} has a default that ${flaw.detail}: give a value that the field accepts`] : []
}

/** What people are told is true: an example is a value, and what is explained exists. */
function textMistakes(place: string, field: AnyField): string[] {
  const { shape, texts } = field
  const known: readonly string[] = shape.kind === 'enum' ? shape.values : []
  const [flaw] = texts?.example === undefined ? [] : checkValue({ example: field }, { example: texts.example })
  return [
    ...Object.keys(texts?.values ?? {})
      .filter(value => !known.includes(value))
      .map(
        value =>
          `${place} describes the value "${value}", which it cannot have: ${known.length > 0 ? `use ${known.join(', ')}` : 'only enumerations and states have values to describe'}`,
      ),
    ...(flaw ? [`${place} has an example that ${flaw.detail}: give a value that the field accepts`] : []),
  ]
}

const isEntryKey = ({
  shape: { kind },
  isOptional,
  isNullable,
  isAttribute,
  isInternal,
  isReadOnly,
  defaultValue,
}: AnyField): boolean =>
  (kind === 'string' || kind === 'enum') &&
  !(isOptional || isNullable || isAttribute || isInternal || isReadOnly || defaultValue !== undefined)

const shapeMistakes: ShapeCases<string[], [contract: Service, place: string]> = {
  scalar: (shape, contract, place) => foldScalar(shape, scalarMistakes, contract, place),
  list: ({ item, min, max }, contract, place) => [
    ...boundMistakes(place, min, max),
    ...(item.defaultValue === undefined
      ? []
      : [`${place}: an item of a list is there or not: remove default() from it`]),
    ...misplacedMarks(`${place}[]`, item),
    ...fieldMistakes(contract, `${place}[]`, item),
  ],
  map: (shape, contract, place) => {
    const { key, value } = entryFields(shape)
    return [
      ...boundMistakes(place, shape.entries.min, shape.entries.max),
      ...(isEntryKey(key)
        ? fieldMistakes(contract, `${place}.key`, key)
        : [
            `${place}: a key of a map is text: give t.string() or t.enum() as \`key\`, without optional(), nullable() or default()`,
          ]),
      ...fieldMistakes(contract, `${place}{}`, value),
      ...misplacedMarks(`${place}{}`, value),
      ...(value.isOptional || value.isAttribute || value.defaultValue !== undefined
        ? [
            `${place}: a value of a map is there or its key is not: remove optional(), attribute() and default() from it`,
          ]
        : []),
    ]
  },
  object: ({ fields }, contract, place) => fieldsMistakes(contract, place, fields),
  union: ({ on, of }, contract, place) =>
    Object.entries(of).flatMap(([which, fields]) => [
      ...(Object.hasOwn(fields, on)
        ? [`${place}.${which} declares "${on}", the member that selects the case of the union: remove it`]
        : []),
      ...fieldsMistakes(contract, `${place}.${which}`, fields),
    ]),
}

const noMistakes = (): string[] => []
const scalarMistakes: ScalarCases<string[], [contract: Service, place: string]> = {
  string: ({ min, max, pattern }, _contract, place) => [
    ...boundMistakes(place, min, max),
    ...findPatternMistakes(place, pattern),
  ],
  boolean: noMistakes,
  int: (shape, _contract, place) => [
    ...rangeMistakes(place, intRange(shape)),
    ...wholeMistakes(place, shape.min),
    ...wholeMistakes(place, shape.max),
  ],
  long: (shape, _contract, place) => [
    ...rangeMistakes(place, longRange(shape)),
    ...[shape.min, shape.max]
      .filter(bound => bound !== undefined && typeof bound !== 'bigint')
      .map(bound => `${place}: the bound ${bound} is not a bigint: write it as ${bound}n`),
  ],
  decimal: (shape, _contract, place) => decimalMistakes(place, shape),
  double: ({ min, max }, _contract, place) => boundMistakes(place, min, max),
  date: noMistakes,
  time: noMistakes,
  dateTime: noMistakes,
  duration: noMistakes,
  bytes: noMistakes,
  enum: ({ values }, _contract, place) => [
    ...(values.length > 0 && findRepeated(values).length === 0
      ? []
      : [`${place} needs at least one value, and each only once; t.state() needs a resource with states`]),
    ...(values.every(value => typeof value === 'string')
      ? []
      : [`${place} has a value that is not a text: write it as t.enum('red', 'green')`]),
  ],
  id: ({ prefix }, _contract, place) =>
    prefixText.test(prefix ?? '')
      ? []
      : [
          `${place} needs a prefix of a letter, then letters, digits, ".", "_" and "-", and has "${prefix ?? ''}": write it as t.id('b')`,
        ],
  ref: ({ resource }, { resources }, place) => {
    const target = resources.find(each => each.name === resource)
    if (target?.isSingle) return [`${place} refers to ${resource}, of which there is one: leave the field out`]
    return target
      ? []
      : [
          `${place} refers to the unknown resource ${typeof resource === 'string' ? `"${resource}"` : '(not a text)'}: use ${resources.map(each => each.name).join(', ')}`,
        ]
  },
}

const prefixText = /^[A-Za-z][A-Za-z0-9._-]*$/

/** The narrower of its own bounds and those of its type. */
const rangeMistakes = (place: string, { lowest, highest }: NumberRange): string[] =>
  boundMistakes(place, lowest, highest)

function boundMistakes<N extends number | bigint>(place: string, min: N | undefined, max: N | undefined): string[] {
  return min !== undefined && max !== undefined && min > max
    ? [`${place} allows no value: min ${min} is above max ${max}`]
    : []
}

const wholeMistakes = (place: string, bound: number | undefined): string[] =>
  bound === undefined || Number.isInteger(bound) ? [] : [`${place}: the bound ${bound} is not a whole number`]

/** A pattern with a mistake in its syntax, or one that takes exponential time. */
export function findPatternMistakes(place: string, pattern: string | undefined): string[] {
  if (pattern === undefined) return []
  if (typeof pattern !== 'string') return [`${place}: pattern ${pattern} is not a text: write it as '[A-Z]{3}'`]
  try {
    compilePattern(pattern)
  } catch (thrown) {
    return [
      `${place}: pattern ${pattern} is not a valid regular expression: ${thrown instanceof Error ? thrown.message : ''}`,
    ]
  }
  // Escaped characters and classes repeat nothing.
  const bare = pattern.replace(/\\./gs, '').replace(/\[[^\]]*\]/g, 'a')
  return /\([^()]*[+*][^()]*\)[+*{]/.test(bare)
    ? [`${place}: pattern ${pattern} nests repetitions and can take exponential time: write it without nesting`]
    : []
}

function decimalMistakes(
  place: string,
  shape: { digits: number; places: number; min?: string; max?: string },
): string[] {
  const fits = shape.digits >= 1 && shape.digits <= 18 && shape.places >= 0 && shape.places <= shape.digits
  const bounds = [shape.min, shape.max].filter(
    bound => bound !== undefined && parseScaledDecimal(bound, shape.places) === undefined,
  )
  const [lowest, highest] = [shape.min, shape.max].map(bound => bound && parseScaledDecimal(bound, shape.places))
  return [
    ...(typeof lowest === 'bigint' && typeof highest === 'bigint' && lowest > highest
      ? [`${place} allows no value: min ${shape.min} is above max ${shape.max}`]
      : []),
    ...(fits ? [] : [`${place}: a decimal needs 1 to 18 digits, and no more places than digits`]),
    ...bounds.map(bound => `${place}: the bound ${bound} is not a decimal with at most ${shape.places} places`),
  ]
}

function ruleMistakes(contract: Service, resource: Resource): string[] {
  const { name, fields, states, given, actions } = resource
  const scalarNames = Object.keys(fields)
    .filter(field => fields[field] && isScalarField(fields[field]))
    .join(', ')
  const scalar = (list: readonly string[] | undefined, what: string): string[] =>
    (list ?? [])
      .map(each => each.replace(/^-/, ''))
      .filter(each => !fields[each] || !isScalarField(fields[each]))
      .map(each => `${name}: ${what} names "${each}", which is not a scalar field: use ${scalarNames}`)
  const inState = (list: readonly string[] | undefined, what: string): string[] =>
    (list ?? [])
      .filter(state => !states.includes(state))
      .map(state => `${name}: ${what} names the unknown state "${state}": use ${states.join(', ')}`)
  const boundMistakesOf = (list: readonly Grant[], what: string): string[] =>
    list.flatMap(({ where }) => [
      ...scalar(Object.keys(where), what),
      ...owningMistakes(resource, what, Object.keys(where)),
    ])
  const doings = ['read', 'create', 'change', 'remove', 'bulk', ...Object.keys(actions)]
  const failing = [...faultPlaces, ...Object.keys(resource.files)]
  const grants = Object.entries(given.allow)
  const messages = [
    'get',
    'list',
    'create',
    'replace',
    'delete',
    'search',
    ...Object.keys(actions),
    ...Object.keys(resource.files),
  ]
  return [
    ...(given.filter ?? [])
      .filter(each => !findFilterField(resource, each))
      .map(
        each =>
          `${name}: filter names "${each}", which is neither a scalar field nor leads to a t.ref(): use ${scalarNames}, or a path through lists and objects to a reference`,
      ),
    ...findRepeated([...new Set(given.filter)].map(messageNameOf)).map(
      child => `${name}: two names of filter are ${child} in a message: rename a field, or leave one of them out`,
    ),
    ...scalar(given.sort, 'sort'),
    ...scalar(given.order, 'order'),
    ...(given.indexes ?? []).flatMap(keys => [
      ...scalar(keys.at(-1) === newestFirst ? keys.slice(0, -1) : keys, 'indexes'),
      ...(keys.length > 0 ? [] : [`${name}: indexes has an empty list: name the fields of the index`]),
    ]),
    ...findRepeated((given.indexes ?? []).map(writeIndex)).map(
      keys => `${name}: indexes has ${keys} twice: declare it once`,
    ),
    ...(given.unique ?? []).flatMap(keys => [...scalar(keys, 'unique'), ...uniqueMistakes(resource, keys)]),
    ...findRepeated((given.unique ?? []).map(writeIndex)).map(
      keys => `${name}: unique has ${keys} twice: declare it once`,
    ),
    ...internalMistakes(contract, resource),
    ...scalar(given.searchBy, 'searchBy'),
    ...(given.search ?? []).flatMap(path => searchPathMistakes(contract, resource, path)),
    ...inState(given.edit, 'edit'),
    ...inState(given.remove, 'remove'),
    ...[...Object.keys(given.allow), ...Object.keys(given.limits ?? {})]
      .filter(doing => !doings.includes(doing))
      .map(
        doing => `${name}: "${doing}" is not an operation to allow or limit: use ${[...new Set(doings)].join(', ')}`,
      ),
    ...Object.keys(given.faults ?? {})
      .filter(place => !failing.includes(place))
      .map(
        place =>
          `${name}: faults are declared for "${place}", which has none: use ${failing.join(', ')}, or \`faults\` of the action`,
      ),
    ...(grants.length > 0 ? [] : [`${name} grants nothing to any role: add grants to rules({ allow: … })`]),
    ...grants.flatMap(([doing, list]) => boundMistakesOf(list ?? [], `allow.${doing}`)),
    ...findAccessMistakes(resource, path => fieldsOfPath(contract, fields, path), boundMistakesOf),
    ...findComputedMistakes(resource, path => fieldsOfPath(contract, fields, path)),
    ...cacheMistakes(resource),
    ...bulkFaultMistakes(resource),
    ...['read', 'bulk']
      .filter(doing => given.allow[doing as 'read' | 'bulk']?.some(grant => grant.when))
      .map(
        doing =>
          `${name}: allow.${doing} has a condition (given), by which a query cannot select rows: use owning() with a field and a claim`,
      ),
    ...Object.entries(given.limits ?? {}).flatMap(([doing, rate]) =>
      rateMistakes(`${name}: the limit of ${doing}`, rate),
    ),
    ...(given.messages ?? [])
      .filter(message => !messages.includes(message))
      .map(message => `${name}: messages names "${message}", which is not an operation: use ${messages.join(', ')}`),
    ...Object.entries(given.relations ?? {}).flatMap(([rel, relation]) =>
      relationMistakes(contract, resource, rel, relation),
    ),
    ...(given.bulk && !(given.filter && given.filter.length > 0)
      ? [`${name}: bulk removal needs a filter: name its fields in filter`]
      : []),
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
/** A claim is text, which is never equal to a value of another kind. */
const owningMistakes = ({ name, fields }: Resource, what: string, keys: readonly string[]): string[] =>
  keys.flatMap(key => {
    const shape = fields[key]?.shape
    return shape === undefined || !isScalar(shape) || foldScalar(shape, isText)
      ? []
      : [
          `${name}: ${what} binds "${key}" to a claim, which is text and never equals ${shape.kind}: bind a t.string(), t.ref() or other text`,
        ]
  })

/** RFC 9111 §1.2.2: seconds beyond 2^31 mean no more than those. */
function cacheMistakes({ name, given: { cache } }: Resource): string[] {
  if (cache === undefined || (Number.isInteger(cache.maxAge) && cache.maxAge >= 0 && cache.maxAge <= 2 ** 31)) return []
  return [`${name}: cache has maxAge ${cache.maxAge}: use whole seconds from 0 to 2147483648, such as 60`]
}

/** The handler `removing` is asked for one removal as for many, and is not told which it is. */
function bulkFaultMistakes({ name, given: { bulk, faults } }: Resource): string[] {
  const kinds = ['remove', 'bulk'] as const
  if (!bulk) return []
  return kinds.flatMap((place, i) => {
    const other = kinds[1 - i] ?? 'bulk'
    return (faults?.[place] ?? [])
      .filter(each => !faults?.[other]?.some(known => known.fault === each.fault))
      .map(
        each =>
          `${name}: faults has ${each.fault} for ${place} and not for ${other}, though \`removing\` is asked for both: add it to ${other}`,
      )
  })
}

/** What clients may compare, search or sort by, or are told of, they can find out. */
function internalMistakes(contract: Service, { name, fields, given }: Resource): string[] {
  const told = { ...given, unique: given.unique?.flat() }
  return (['filter', 'sort', 'order', 'search', 'searchBy', 'unique'] as const).flatMap(rule =>
    (told[rule] ?? [])
      .map(each => each.replace(/^-/, ''))
      .filter(path => fieldsOfPath(contract, fields, path).some(field => field?.isInternal))
      .map(
        path => `${name}: ${rule} names "${path}", which is internal and would be revealed by it: use another field`,
      ),
  )
}

const rateMistakes = (place: string, rate: Rate | undefined): string[] =>
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
      `${place} leads to a list of ${relation.of}, whose items are listed in one ${other.within} alone: leave the relation out`,
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

function searchMistakes({ searches, resources }: Service): string[] {
  if (!searches) return []
  const resource = resources.find(each => each.name === searches.of)
  if (!resource) return [`searches name "${searches.of}", which is not a resource: name one of the service's`]
  if (resource.isSingle) return [`searches name ${resource.name}, which is single: name a resource that has a list`]
  if (resource.within !== undefined)
    return [
      `searches name ${resource.name}, whose items are found in one ${resource.within} alone: name a resource that is within none, or let its callers search in each`,
    ]
  return resource.given.search && resource.given.search.length > 0
    ? []
    : [`searches name ${resource.name}, which has no text to search: name string fields in its rules({ search: … })`]
}

/** Paths that have other pages: an endpoint is below none of them. */
const pageSegments = ['api', 'problems', 'decisions', 'health', 'metrics', 'changes', 'openapi.json', 'login', 'logout']

function faceMistakes(contract: Service): string[] {
  const isServed = contract.hasRest || contract.ports.length > 0 || endpointsOf(contract).length > 0
  return isServed ? [] : ['the service has rest: false and no SOAP endpoint: remove rest, or declare endpoints']
}

function endpointMistakes(contract: Service): string[] {
  const operations = listOperations(contract).map(operation => operation.name)
  const versions = Object.keys(contract.versions)
  const rules = endpointsOf(contract).map(({ path, security }) => [`endpoint ${path}`, security] as const)
  const checked = new Set<unknown>()
  return [
    ...Object.entries(contract.endpoints ?? {}).flatMap(([path, rule]) => [
      ...(/^(?:\/[A-Za-z0-9._~-]+)+$/.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path)
        ? []
        : [`"${path}" is not a path of an endpoint: use segments of letters, digits and "-", such as /soap/v1`]),
      ...(pageSegments.includes(path.split('/')[1] ?? '')
        ? [`the endpoint ${path} is below a path of other pages: use one such as /soap${path}`]
        : []),
      ...(rule.version === undefined || versions.includes(rule.version)
        ? []
        : [`the endpoint ${path} has the unknown version ${rule.version}: use ${versions.join(', ')}`]),
      ...findUnknownMembers(`the endpoint ${path}`, rule, endpointMembers),
      ...choiceMistakes(`the endpoint ${path}: style`, rule.style, ['document', 'rpc', 'encoded']),
      ...choiceMistakes(`the endpoint ${path}: soap`, rule.soap, ['both', '1.1', '1.2']),
    ]),
    ...rules.flatMap(([place, rule]) => {
      if (rule === undefined || rule === 'settings' || checked.has(rule)) return []
      checked.add(rule)
      const at = `${place}: security`
      const hasAttachments = () => false // only ports have
      return [
        ...findUnknownMembers(at, rule, securityMembers),
        ...findRuleMistakes(rule, at, operations, hasAttachments),
      ]
    }),
  ]
}

const choiceMistakes = <T extends string>(place: string, given: T | undefined, known: readonly T[]): string[] =>
  given === undefined || known.includes(given) ? [] : [`${place} "${given}" is unknown: use ${known.join(', ')}`]

const reservedNamespaces = /^http:\/\/(?:schemas\.xmlsoap\.org|www\.w3\.org|docs\.oasis-open\.org)\//

function headerMistakes(contract: Service, { name, uri, content, operations, versions, field }: NamedHeader): string[] {
  const place = `header ${name}`
  const known = listOperations(contract).map(operation => operation.name)
  const isScalarContent = content !== 'xml' && isScalarField(content)
  const isBlock = content === 'xml' || asObject(content.shape) !== undefined || isScalarContent
  const marks = content === 'xml' ? [] : [content.isNullable, mayBeLeftOut(content), content.isAttribute]
  return [
    ...(fieldNameText.test(name)
      ? []
      : [`${place} is not a valid name: start with a letter, and use letters, digits and "_"`]),
    ...(/^[a-z][a-z0-9+.-]*:[^\s"<>]+$/i.test(uri) && !reservedNamespaces.test(uri)
      ? []
      : [`${place} has the namespace "${uri}", which is not one of the service's own: use urn:… or https://…`]),
    ...(isBlock ? [] : [`${place} is a list or a union, which no element around it holds: put it into a t.object()`]),
    ...(marks.includes(true) ? [`${place} has a mark that only fields have: leave it out, and use required`] : []),
    ...(field === undefined || (isScalarContent && /^[a-z][a-z0-9-]*$/.test(field) && !knownFields.has(field))
      ? []
      : [`${place} cannot be the HTTP field "${field}": give it scalar content, and the field a name of its own`]),
    ...(content === 'xml' ? [] : fieldMistakes(contract, place, content)),
    ...(operations ?? [])
      .filter(each => !known.includes(each))
      .map(each => `${place} names the unknown operation "${each}": use ${known.join(', ')}`),
    ...(versions ?? [])
      .filter(each => !Object.hasOwn(contract.versions, each))
      .map(each => `${place} names the unknown version "${each}": use ${Object.keys(contract.versions).join(', ')}`),
  ]
}
/** HTTP fields that a contract cannot give another meaning. */
const knownFields = new Set(
  'accept accept-encoding accept-language authorization cache-control connection content-encoding content-length content-location content-type cookie date etag expect expires forwarded host idempotency-key if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location origin prefer range retry-after set-cookie soapaction te trailer transfer-encoding upgrade vary'.split(
    ' ',
  ),
)

function faultMistakes(contract: Service): string[] {
  const byName = new Map<string, Fault>()
  return declaredFaults(contract).flatMap(fault => {
    const known = byName.get(fault.fault)
    byName.set(fault.fault, fault)
    return [
      ...(builtInFaults.some(each => each.fault === fault.fault)
        ? [`fault ${fault.fault} is built into Diglot: use another name`]
        : []),
      ...(known && known !== fault ? [`fault ${fault.fault} is declared twice: share one declaration`] : []),
      ...(fault.status >= 400 && fault.status <= 599
        ? []
        : [
            `fault ${fault.fault} has the invalid status ${fault.status}: use 4xx for errors of the client, 5xx for errors of the service`,
          ]),
      ...(known ? [] : fieldsMistakes(contract, `fault ${fault.fault}`, fault.detail)),
    ]
  })
}

/** Whatever is not a general handler was meant for an action. */
const unknownHandlerMistakes = ({ handlers }: Implementation, name: string, verbs: readonly string[]): string[] =>
  Object.keys(handlers[name]?.actions ?? {})
    .filter(verb => !verbs.includes(verb))
    .map(
      verb =>
        `implement() has a handler ${name}.${verb}, which is not an action of the contract: ${verbs.length > 0 ? `use ${verbs.join(', ')}` : 'remove it'}`,
    )

function handlerMistakes(app: Implementation, resource: Resource): string[] {
  const given = app.handlers[resource.name]
  const derives = Object.entries(resource.fields).some(
    ([name, field]) =>
      field.isReadOnly &&
      !field.isComputed &&
      !field.isOptional &&
      field.defaultValue === undefined &&
      name !== 'id' &&
      name !== resource.within &&
      (name !== 'state' || resource.states.length === 0),
  )
  return [
    ...unknownHandlerMistakes(app, resource.name, Object.keys(resource.actions)),
    ...Object.keys(resource.actions)
      .filter(verb => typeof given?.actions[verb] !== 'function')
      .map(verb => `${resource.name}.${verb} has no handler: give implement() a function ${resource.name}.${verb}`),
    ...Object.entries(resource.actions)
      .filter(([, action]) => given?.keep && (action.effect === 'move' || action.kept))
      .map(
        ([verb]) =>
          `${resource.name}.${verb} moves the item or keeps an output, which only the store supports: remove keep from the handlers`,
      ),
    ...(given?.keep && resource.given.unique
      ? [`${resource.name} has unique keys, which only the store keeps: leave them to its provider`]
      : []),
    ...(given?.keep && hasComputedFields(resource)
      ? [`${resource.name} has computed fields, which only the store's items have: let its provider give them`]
      : []),
    ...(hasComputedFields(resource) !== (given?.compute !== undefined)
      ? [
          given?.compute
            ? `implement() has ${resource.name}.compute, and no field of the resource is computed(): mark its fields, or remove it`
            : `${resource.name} has computed fields: give implement() a function ${resource.name}.compute that makes them`,
        ]
      : []),
    ...(derives && !given?.derive
      ? [`${resource.name} has fields that only the server can set: give implement() a ${resource.name}.derive`]
      : []),
  ]
}

/** A port answers every exchange of its WSDL. */
function exchangeMistakes({ ports = {} }: Implementation, { port, exchanges }: Port): string[] {
  const given = ports[port] ?? {}
  return [
    ...Object.entries(exchanges).flatMap(([name, exchange]) => [
      ...contentMistakes(`${port}.${name}`, exchange),
      ...headerFaultMistakes(`${port}.${name}`, exchange),
      ...attachmentMistakes(`${port}.${name}`, exchange),
    ]),
    ...Object.keys(exchanges)
      .filter(name => !Object.hasOwn(given, name))
      .map(name => `${port}.${name} has no handler: give implement() one, or remove the exchange from the port`),
    ...Object.keys(given)
      .filter(name => !Object.hasOwn(exchanges, name))
      .map(name => `implement() has a handler ${port}.${name}, which is not an exchange of the port: remove it`),
  ]
}

function portSecurityMistakes(port: Port): readonly string[] {
  const { port: name, security } = port
  const rule = security === 'settings' ? {} : (security ?? {})
  return [...findUnknownMembers(`the port ${name}: security`, rule, securityMembers), ...findPortSecurityMistakes(port)]
}

/** What fills a Body is the input or the output of document style, and is made of elements. */
function contentMistakes(name: string, { style, input, output, ...others }: PortExchange): string[] {
  const { faults, requestHeaders, replyHeaders } = others
  const contents = [input, output].filter(each => each instanceof BodyContent)
  const misplaced = [faults, requestHeaders, replyHeaders]
    .flatMap(Object.values)
    .some(each => each instanceof BodyContent)
  return [
    ...(misplaced ? [`${name} has an x.body(…) as a fault or a header: declare an element of a namespace for it`] : []),
    ...(contents.length > 0 && style !== 'document'
      ? [`${name} has an x.body(…) in the style ${style}: use x.call(…), or leave the style out`]
      : []),
    ...(contents.every(each => hasElementsAlone(each.type()))
      ? []
      : [`${name} has an x.body(…) of a type with text or attributes: a Body has elements alone`]),
  ]
}

/** What is attached is one part of a message: nothing in the XML refers to it. */
function attachmentMistakes(name: string, { input, output, style, ...others }: PortExchange): string[] {
  const { faults, requestHeaders, replyHeaders } = others
  const bodies = [input, output].filter(each => typeof each === 'object')
  const roots = [...bodies, ...[faults, requestHeaders, replyHeaders].flatMap(each => Object.values(each))]
  const inPlace = bodies
    .filter(body => style !== 'document' || body instanceof BodyContent)
    .flatMap(body => splitBody(body).attached.map(({ member }) => member))
    .filter(({ marks }) => !marks.isMany)
  return listReachedTypes(roots)
    .types.flatMap(listAttachedMembers)
    .every(each => inPlace.includes(each))
    ? []
    : [`${name} has an x.attachment(…) in an element or a list: make it a member of x.body(…) or x.call(…)`]
}
const listAttachedMembers = ({ definition }: AnyXmlType): readonly AnyMember[] =>
  definition.kind === 'complex' ? listAttached(definition.members) : []
const listAttached = (members: TypeMembers): readonly AnyMember[] =>
  Object.values(members).flatMap(member => {
    const { particle, marks } = member
    if (particle.kind === 'choice' || particle.kind === 'sequence') return listAttached(particle.members)
    return marks.attached ? [member] : []
  })

function headerFaultMistakes(name: string, exchange: PortExchange): string[] {
  const { faults, headerFaults, requestHeaders, replyHeaders } = exchange
  return Object.entries(headerFaults).flatMap(([header, about]) => [
    ...(Object.hasOwn(requestHeaders, header) || Object.hasOwn(replyHeaders, header)
      ? []
      : [`${name}.headerFaults names the header block "${header}", which it does not declare: add it to its headers`]),
    ...about
      .filter(fault => !Object.hasOwn(faults, fault))
      .map(fault => `${name}.headerFaults names the fault "${fault}", which it does not declare: add it to its faults`),
  ])
}

/** Throws all mistakes at once, so that a developer can mend them at once. */
export function requireSoundContract(app: Implementation): Implementation {
  const mistakes = findContractMistakes(app)
  if (mistakes.length > 0) throw new ContractMistakes(mistakes)
  return app
}
