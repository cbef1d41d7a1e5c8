/** One collection as a resource: its fields, rules, actions and files. */

import { isJsonObject, type Json, type JsonObject, jsonItems, objectOf, stringOf } from '../../base/objects.ts'
import { type AnyField, type Fields, singularName, t } from '../../contract/field.ts'
import { isScalarField } from '../../contract/field-json.ts'
import { findFilterField } from '../../contract/filter-field.ts'
import { isReservedOperation, isReservedRelation } from '../../contract/reserved-names.ts'
import { type AnyAction, type File, type Relation, Resource, type Rules, singleId } from '../../contract/resource.ts'
import { mediaTypeText } from '../../contract/review/resource-mistakes.ts'
import { type Collection, toSegmentName, toSingularField } from './collections.ts'
import { findParentField, toFieldName } from './find-nestings.ts'
import { guessAction } from './guess-action.ts'
import { guessMachine } from './guess-machine.ts'
import { findListed, type GuessRoom, listLinks, requestObject } from './guess-room.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { findSuccess, type RestOperation } from './operations.ts'
import {
  mediaTypesOf,
  plainTypes,
  propertiesOf,
  readSchemaFacts,
  requiredNamesOf,
  squeezeText,
} from './schema-facts.ts'

export function guessResource(room: GuessRoom, collection: Collection, item: Json): Resource {
  const { name, one, many } = collection
  const fields = guessFields(room, collection, item)
  const files: Record<string, File> = {}
  const actions: Record<string, AnyAction> = {}
  const relations: Record<string, Relation> = guessReferences(room, collection, fields)
  for (const [word, operations] of collection.parts) {
    if (isReservedRelation(word)) continue // an exchange
    const file = isReservedOperation(word) ? undefined : guessFile(room, operations)
    const relation = file ? undefined : guessRelation(room, collection, word, operations)
    const action = file || relation ? undefined : guessAction(room, { collection, word, operations, taken: actions })
    if (file) files[word] = file
    if (relation) relations[word] = relation
    if (action) actions[action.verb] = action.action
  }
  recordOtherTypes(room, one.get('GET'))
  for (const each of [...many.values(), ...one.values()])
    if (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(each.method)) room.claimed.add(each)
  const lone = one.get('POST') // an item takes none
  if (lone) room.claimed.delete(lone)
  const nesting = room.nestings.get(collection)
  if (collection.address !== `/${name}` && !nesting) room.losses.add(collection.address, `is at /${name}`)
  const machine = guessMachine(name, fields, actions, room.losses)
  const rules = guessRules(room, collection, fields, machine.actions)
  const query = many.get('QUERY')
  if (query && rules.search) room.claimed.add(query)
  const parent = Object.entries(fields).find(([each]) => each === nesting?.by)
  const resource = new Resource({
    name,
    fields: { ...fields, ...machine.fields, ...(parent && { [parent[0]]: parent[1].readOnly() }) },
    states: machine.states,
    actions: machine.actions,
    files,
    texts: {},
    isSingle: collection.isSingle,
    within: nesting?.by,
    given: { ...rules, ...(Object.keys(relations).length > 0 && { relations }) },
  })
  const comment = squeezeText(stringOf(readSchemaFacts(room.document, item).schema['description']))
  if (comment !== '') room.fields.comments.set(resource, comment)
  return resource
}

// Fields

function guessFields(room: GuessRoom, collection: Collection, item: Json): Fields {
  const { document, fields, losses } = room
  const { schema } = readSchemaFacts(document, item)
  const place = collection.name
  const draftsOf = (...operations: readonly (RestOperation | undefined)[]): readonly JsonObject[] =>
    operations
      .map(each => requestObject(document, each))
      .filter(each => each !== undefined)
      .map(each => readSchemaFacts(document, each).schema)
  const whole = draftsOf(collection.many.get('POST'), collection.one.get('PUT'))
  const drafts = [...whole, ...draftsOf(collection.one.get('PATCH'))]
  const idName = collection.isSingle ? 'id' : findIdName(schema, collection)
  const required = requiredNamesOf(schema)
  const own: Record<string, AnyField> = { id: guessId(room, collection, schema, idName) }
  // The address of a nested collection contains the others.
  for (const step of collection.within.slice(room.nestings.has(collection) ? -1 : 0))
    addParent(room, own, item, { ...step, address: collection.address })
  for (const [name, given] of propertiesOf(schema)) {
    if (name === idName || name === '_links' || Object.hasOwn(own, name)) continue
    const twin = findTwin(own, name)
    if (twin !== undefined) {
      losses.add(`${place}.${name}`, `differs from ${twin} only in case; it is left out`)
      continue
    }
    const isReadOnly = drafts.length > 0 && drafts.every(each => !Object.hasOwn(objectOf(each['properties']), name))
    const isDemanded = whole.some(each => requiredNamesOf(each).has(name))
    const isAlwaysShown = required.has(name) && (isReadOnly || whole.length === 0 || isServerSet(given))
    const isRequired = required.size === 0 ? isDemanded : isAlwaysShown || (required.has(name) && isDemanded)
    const field = fields.member(given, name, place, {
      isRequired,
      isReadOnly,
      initial: findDefault(document, whole, name),
    })
    if (field) own[name] = field
  }
  for (const name of new Set(drafts.flatMap(each => propertiesOf(each).map(([each]) => each))))
    if (!Object.hasOwn(objectOf(schema['properties']), name) && name !== idName && name !== '_links')
      losses.add(`${place}.${name}`, 'is sent and never returned, but a field is both: it is left out')
  return own
}
/** A field that has this name in a database, which ignores case. */
const findTwin = (found: Readonly<Record<string, unknown>>, name: string): string | undefined =>
  Object.keys(found).find(each => each.toLowerCase() === name.toLowerCase())
/** The value that stands for the member where a request omits it. */
const findDefault = (document: OpenApiDocument, drafts: readonly JsonObject[], name: string): Json | undefined =>
  drafts
    .map(each => objectOf(each['properties'])[name])
    .map(each => each && (objectOf(each)['default'] ?? readSchemaFacts(document, each).schema['default']))
    .find(each => each !== undefined)
const isServerSet = (schema: Json): boolean => objectOf(schema)['readOnly'] === true

/** The member for which the path parameter stands. */
function findIdName(schema: JsonObject, { name, parameter }: Collection): string | undefined {
  const members = objectOf(schema['properties'])
  const singular = toSingularField(name)
  const wishes = [
    'id',
    parameter,
    `${singular}Id`,
    `${singular}_id`,
    '_id',
    'uuid',
    'key',
    'slug',
    'code',
    'number',
    'name',
  ]
  return wishes.find(each => Object.hasOwn(members, each))
}
function guessId(
  { document, losses, prefixes }: GuessRoom,
  collection: Collection,
  schema: JsonObject,
  idName?: string,
): AnyField {
  const place = `${collection.name}.id`
  const idSchema = idName === undefined ? undefined : objectOf(schema['properties'])[idName]
  const type = idName === undefined ? 'string' : readSchemaFacts(document, idSchema).type
  if (collection.isSingle) {
    if (idSchema !== undefined) losses.add(place, 'is left out: a single resource has no identifier')
    return t.id(singleId).internal()
  }
  if (idName !== undefined && idName !== 'id') losses.add(place, `is called ${idName} there`)
  if (type !== 'string') losses.add(place, `is of type ${type} there: here it is a text that the server generates`)
  return t.id(claimPrefix(collection.name, prefixes))
}

/** As many letters of the name as distinguish it from the others. */
function claimPrefix(name: string, taken: Set<string>): string {
  const letters = name.replace(/[^A-Za-z0-9]/g, '')
  for (let length = 1; length < letters.length; length++)
    if (!taken.has(letters.slice(0, length))) {
      taken.add(letters.slice(0, length))
      return letters.slice(0, length)
    }
  return letters
}

/** The part of the path before the collection becomes a field: the item to which it belongs. */
function addParent(
  { losses, fields, document }: GuessRoom,
  found: Record<string, AnyField>,
  item: Json,
  { parameter, word, address }: Collection['within'][number] & { readonly address: string },
): void {
  const of = [...fields.references.values()].find(each => each === toSegmentName(word))
  // An `id` in the path identifies what precedes it.
  const named = of === undefined && /^id$/i.test(parameter) ? toSingularField(word) : parameter
  const field = findParentField(document, item, { parameter: named, of })
  if (!field) return
  if (findTwin(found, field.name) !== undefined) {
    losses.add(address, `the parameter ${parameter} has no field: ${field.name} is taken`)
    return
  }
  found[field.name] = of === undefined ? t.string() : t.ref(of)
  if (!field.isKnown) losses.add(address, `the parameter ${parameter} is the field ${field.name}`)
}

// Parts

/** A document of the service has JSON, XML and HTML, so the contract names no other types. */
function recordOtherTypes({ document, losses }: GuessRoom, get: RestOperation | undefined): void {
  const types = get ? mediaTypesOf(document, findSuccess(get)?.[1]) : []
  for (const each of types)
    if (!plainTypes.test(each)) losses.add(get?.place ?? '', `${each} is left out: handlers write other media types`)
}
const fileOctetsMax = 10 * 1024 * 1024

/** Content that is not a document of the service: an image, a PDF, octets. */
function guessFile(room: GuessRoom, operations: ReadonlyMap<string, RestOperation>): File | undefined {
  const [get, put] = [operations.get('GET'), operations.get('PUT')]
  const types = [
    ...(get ? mediaTypesOf(room.document, findSuccess(get)?.[1]) : []),
    ...(put ? mediaTypesOf(room.document, put.request) : []),
  ].map(each => each.toLowerCase())
  const named = [...new Set(types)].filter(each => !each.includes('*') || each === '*/*' || /^\w+\/\*$/.test(each))
  const isFile = named.every(each => mediaTypeText.test(each) && !plainTypes.test(each))
  if (named.length === 0 || !isFile) return undefined
  for (const each of [get, put]) if (each) room.claimed.add(each)
  const octets = 'application/octet-stream'
  return { mediaTypes: named.map(each => (each.includes('*') ? octets : each)), max: fileOctetsMax }
}

/** A field that refers to an item, and a link with its name. */
function guessReferences(room: GuessRoom, collection: Collection, fields: Fields): Record<string, Relation> {
  const links = listLinks(room.document, collection)
  const by = room.nestings.get(collection)?.by // its link is `up`
  const names = Object.entries(fields).flatMap(([name, { shape }]) => {
    const isLink = shape.kind === 'ref' && name !== by && !isWithinOther(room, shape.resource)
    return isLink && links.has(name) && !isReservedRelation(name) ? [name] : []
  })
  return Object.fromEntries(names.map(name => [name, { by: name }]))
}

/** No relation leads to items inside other items. */
const isWithinOther = ({ nestings }: GuessRoom, name: string): boolean =>
  [...nestings.keys()].some(each => each.name === name)

/** A list of another resource whose items refer to this one: `/customers/{id}/orders`. */
function guessRelation(
  room: GuessRoom,
  { name }: Collection,
  word: string,
  operations: ReadonlyMap<string, RestOperation>,
): Relation | undefined {
  const get = operations.get('GET')
  const listed = findListed(room.document, get)
  if (!get || !isJsonObject(listed) || operations.size > 1) return undefined
  const referring = room.byItem.get(room.document.resolve(listed).value)
  if (!referring || referring.isSingle || referring.name !== word || room.nestings.has(referring)) return undefined
  const members = propertiesOf(readSchemaFacts(room.document, listed).schema)
  const found = members.find(
    ([member, schema]) => room.fields.findReferred(readSchemaFacts(room.document, schema), member) === name,
  )
  if (!found) return undefined
  room.claimed.add(get)
  return { of: referring.name, by: found[0] }
}

// Rules

function guessRules(
  room: GuessRoom,
  collection: Collection,
  fields: Fields,
  actions: Readonly<Record<string, AnyAction>>,
): Rules {
  const { many, one } = collection
  const { grants, faults } = room
  const query = guessQuery(room, collection, fields)
  const put = one.get('PUT')
  const isRemoved = collection.isSingle && one.has('DELETE')
  const mayCreate = put !== undefined && (isRemoved || put.responses.some(([status]) => status === '201'))
  // If PUT only creates and never replaces, 201 is its only response.
  const mayReplace = !mayCreate || put.responses.some(([status]) => status === '200' || status === '204')
  const isMadeOnce = collection.isSingle && !mayReplace
  const changing = [isMadeOnce ? undefined : put, one.get('PATCH')]
  if (isRemoved && !put)
    room.losses.add(`DELETE ${collection.address}`, 'removes an item that nothing creates: it is left out')
  const removing = isRemoved && !put ? undefined : one.get('DELETE')
  const [change, remove] = [grants.of(...changing), grants.of(removing)]
  const making = collection.isSingle && mayCreate ? put : many.get('POST')
  const [create, read] = [grants.of(making), grants.of(many.get('GET'), one.get('GET'))]
  // Both operations would have the same name: `DeleteLabel`.
  const isSingular = singularName(collection.name) === collection.name
  const bulk = query.filter && !isSingular && many.get('DELETE')
  if (many.get('DELETE') && !bulk)
    room.losses.add(
      `DELETE ${collection.address}`,
      query.filter
        ? 'removes many items by the name of the removal of one: it is left out; give the resource a plural'
        : 'removes many without a filter: it is left out',
    )
  const declared = Object.entries({
    create: faults.of(isMadeOnce ? put : many.get('POST')),
    change: faults.of(...changing),
    remove: faults.of(one.get('DELETE')),
  }).filter(([, each]) => each.length > 0)
  const verbs = [...collection.parts.values()].flatMap(each => [...each.values()])
  const acts = Object.entries(actions).map(([verb, { rel, effect }]) => {
    const operation = verbs.find(
      each =>
        each.method === (effect === 'read' ? 'GET' : 'POST') && each.segments.at(-1)?.text === wordOf(collection, rel),
    )
    return [verb, grants.of(operation)] as const
  })
  const hasPrecondition = [one.get('PUT'), one.get('PATCH'), one.get('DELETE')].some(demandsIfMatch)
  const changes = one.has('PUT') || one.has('PATCH') || one.has('DELETE')
  return {
    ...query,
    ...(mayCreate && !collection.isSingle && { putCreates: true }),
    ...(bulk && { bulk: true }),
    ...(changes && !hasPrecondition && { precondition: false }),
    allow: Object.fromEntries([
      ...Object.entries({ read, create, change, remove, bulk: bulk ? grants.of(many.get('DELETE')) : [] }).filter(
        ([, each]) => each.length > 0,
      ),
      ...acts,
    ]),
    ...(declared.length > 0 && { faults: Object.fromEntries(declared) }),
  }
}
/** RFC 6585 §3: 428 says so; otherwise the field is required. */
const demandsIfMatch = (operation: RestOperation | undefined): boolean =>
  operation?.responses.some(([status]) => status === '428') === true ||
  operation?.headers.some(
    header => stringOf(header['name']).toLowerCase() === 'if-match' && header['required'] === true,
  ) === true
const wordOf = ({ parts }: Collection, rel: string): string | undefined =>
  [...parts.keys()].find(
    each => each === rel || each.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase() === rel.toLowerCase(),
  )

/** Words for pages, which the service has itself. */
const pageWords =
  /^(?:limit|offset|page|pages?[-_]?(?:size|number|token)|size|per[-_]?page|cursor|after|before|starting_after|ending_before|count|skip|top|take|total|_count|from|fields|include|expand|embed|prefer|format|pretty)$/i
const pagePair: readonly string[] = ['page', 'size']
const sortWords = /^(?:sort|sort[-_]?by|order|order[-_]?by|orderby|_sort|direction|dir|ascending)$/i
const searchWords = /^(?:q|query|search|text|term|keyword|keywords)$/i

function guessQuery(
  room: GuessRoom,
  collection: Collection,
  fields: Fields,
): Pick<Rules, 'filter' | 'sort' | 'search'> {
  const list = collection.many.get('GET')
  const query = [...(list?.query ?? []), ...(collection.many.get('QUERY')?.query ?? [])]
  const isScalar = (name: string): boolean => Object.hasOwn(fields, name) && isScalarField(fields[name]!)
  const filter = new Set(
    (room.nestings.has(collection) ? [] : collection.within)
      .map(({ word, parameter }) => [toSingularField(word), toFieldName(parameter)])
      .flatMap(each => each.find(isScalar) ?? []),
  )
  // Together they request a page, even for items that have such a field.
  const isPaged = pagePair.every(word => query.some(each => each['name'] === word))
  let sort: string[] | undefined
  let searches = collection.many.has('QUERY')
  for (const each of query) {
    const name = stringOf(each['name'])
    const base = name.replace(/\[.*$/, '')
    if (isPaged && pagePair.includes(name)) continue
    if (findFilterField({ fields }, base)) filter.add(base)
    else if (sortWords.test(base)) sort = [...(sort ?? []), ...listSortNames(room, each)]
    else if (searchWords.test(base)) searches = true
    else if (!pageWords.test(base))
      room.losses.add(list?.place ?? collection.address, `the query parameter ${name} is not a field of an item`)
  }
  const sorted = sort && [...new Set(sort.length > 0 ? sort : filter)].filter(isScalar)
  const texts = Object.entries(fields).flatMap(([name, { shape }]) =>
    shape.kind === 'string' && !shape.xsd ? [name] : [],
  )
  return {
    ...(filter.size > 0 && { filter: [...filter] }),
    ...(sorted && sorted.length > 0 && { sort: sorted }),
    ...(searches && texts.length > 0 && { search: texts }),
  }
}
const listSortNames = ({ document }: GuessRoom, parameter: JsonObject): readonly string[] =>
  jsonItems(readSchemaFacts(document, parameter['schema']).schema['enum']).map(each =>
    String(each).replace(/^[-+]|[:. ]?(?:asc|desc)$/gi, ''),
  )
