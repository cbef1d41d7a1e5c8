/**
 * Reads an OpenAPI document as a contract: resources, jobs and searches where its addresses suggest
 * them, exchanges elsewhere.
 */
import { type JsonObject, objectOf, stringOf } from '../../base/objects.ts'
import type { Port } from '../../contract/exchange.ts'
import { Resource } from '../../contract/resource.ts'
import { findContractMistakes } from '../../contract/review.ts'
import { type Service, service, type Versions } from '../../contract/service.ts'
import type { Find } from '../../describe/reader/wsdl-document.ts'
import type { DescriptionParser } from '../description-text.ts'
import { type Loss, Losses } from '../loss.ts'
import {
  type Addresses,
  type Collection,
  findCollections,
  groupByAddress,
  toSegmentName,
  toSingularField,
} from './collections.ts'
import { findNestings } from './find-nestings.ts'
import { guessPort } from './guess-exchanges.ts'
import { FaultGuess } from './guess-faults.ts'
import { Grants } from './guess-grants.ts'
import { guessHeaders } from './guess-headers.ts'
import { guessJobs, guessSearches, isAccepted } from './guess-jobs.ts'
import { guessResource } from './guess-resource.ts'
import { findItemSchema, type GuessRoom } from './guess-room.ts'
import { recordCookies, recordExtensions, recordOmissions } from './left-out.ts'
import { OpenApiDocument } from './openapi-document.ts'
import { addressOf, listRestOperations, type RestOperation } from './operations.ts'
import { propertiesOf, readSchemaFacts } from './schema-facts.ts'
import { SchemaFields } from './schema-fields.ts'

export interface ImportedService {
  readonly service: Service
  readonly comments: ReadonlyMap<object, string>
  readonly losses: readonly Loss[]
  readonly missing: readonly string[]
}

/** @throws NotOpenApi */
export function readImportedService(
  text: string,
  location: string,
  how: { readonly find: Find; readonly parse: DescriptionParser },
): ImportedService {
  const losses = new Losses()
  const document = new OpenApiDocument(text, location, { ...how, losses })
  const all = listRestOperations(document)
  const names = listVersionNames(all)
  const newest = names.at(-1) ?? 'v1'
  const current = all.filter(each => (each.version ?? newest) === newest)
  recordAddresses(all, newest, losses)
  const addresses = groupByAddress(current)
  recordTwins(current, addresses, losses)
  const room = openRoom(document, losses, addresses)
  const jobs = guessJobs(room, addresses)
  const searches = guessSearches(room, addresses)
  const resources = [...room.byItem].map(([item, collection]) => guessResource(room, collection, item))
  const name = toSegmentName(stringOf(objectOf(document.root['info'])['title']) || 'imported').toLowerCase()
  const unclaimed = current.filter(each => !room.claimed.has(each) && isWorthKeeping(each, losses))
  recordOmissions(document, current, losses)
  recordCookies(room.claimed, losses)
  const operations = guessPort(room, `urn:${name}:operations`, unclaimed)
  const plain = service(name, {
    namespace: `urn:${name}`,
    title: stringOf(objectOf(document.root['info'])['title']) || name,
    ...readAbout(objectOf(document.root['info'])),
    resources: searches ? resources.map(each => searchable(each, searches.of, addresses)) : resources,
    jobs,
    ...(searches && { searches }),
    headers: guessHeaders(room, current),
    ports: operations ? [operations] : ([] as readonly Port[]),
  })
  const versions = guessVersions(document, all, names, { resources, losses })
  const complete: Service = { ...plain, versions }
  for (const mistake of listMistakes(complete)) losses.add('contract', `does not start yet: ${mistake}`)
  return { service: complete, comments: room.fields.comments, losses: losses.all, missing: [...document.missing] }
}

/** OpenAPI §4.8.2: the description of the service, its contact and its licence. */
function readAbout(info: JsonObject): Pick<Service, 'description' | 'contact' | 'license'> {
  const textsOf = (given: JsonObject, names: readonly string[]): Readonly<Record<string, string>> =>
    Object.fromEntries(names.map(name => [name, stringOf(given[name])]).filter(([, text]) => text !== ''))
  const { description, summary } = textsOf(info, ['description', 'summary'])
  const about = description ?? summary
  const contact = textsOf(objectOf(info['contact']), ['name', 'url', 'email'])
  const { name, ...terms } = textsOf(objectOf(info['license']), ['name', 'identifier', 'url'])
  return {
    ...(about !== undefined && { description: about }),
    ...(Object.keys(contact).length > 0 && { contact }),
    ...(name !== undefined && { license: { name, ...terms } }),
  }
}

function openRoom(document: OpenApiDocument, losses: Losses, addresses: Addresses): GuessRoom {
  const fields = new SchemaFields(document, losses)
  const byItem = new Map<JsonObject, Collection>()
  for (const collection of findCollections(addresses)) {
    const post = collection.many.get('POST')
    const isOfService = collection.address === '/searches' || collection.address.endsWith('/jobs')
    if (isOfService || (post && isAccepted({ document }, post))) continue
    const item = findItemSchema(document, collection)
    const key = item !== undefined && readSchemaFacts(document, item).key
    if (!key || byItem.has(key)) continue // not an object, or the same items at a second address
    byItem.set(key, collection)
    recordExtensions(document, item, losses)
    if (collection.isSingle) continue // no field refers to it
    const singular = toSingularField(collection.name)
    for (const each of [singular, `${singular}Id`, `${singular}_id`])
      if (!fields.references.has(each)) fields.references.set(each, collection.name)
  }
  const faults = new FaultGuess(document, fields, losses)
  return {
    document,
    fields,
    faults,
    grants: new Grants(losses),
    losses,
    claimed: new Set(),
    prefixes: new Set(),
    byItem,
    nestings: findNestings(document, byItem),
  }
}

// Versions

const listVersionNames = (operations: readonly RestOperation[]): readonly string[] =>
  [...new Set(operations.flatMap(({ version }) => version ?? []))].sort(
    (a, b) => Number(a.slice(1)) - Number(b.slice(1)),
  )

function recordAddresses(operations: readonly RestOperation[], newest: string, losses: Losses): void {
  const moved = operations.find(({ address, path, version }) => address !== `/api/${version ?? newest}${path}`)
  if (moved) losses.add(moved.place, `addresses begin with /api/${newest}, as this one: /api/${newest}${moved.path}`)
}

/** Of two operations with the same method and address, the first counts. */
function recordTwins(operations: readonly RestOperation[], addresses: Addresses, losses: Losses): void {
  for (const each of operations) {
    const first = addresses.get(addressOf(each.segments))?.get(each.method)
    if (first && first !== each) losses.add(each.place, `has the method and the address of ${first.place}`)
  }
}

/** An older version has fewer fields; anything else in it is reported. */
function guessVersions(
  document: OpenApiDocument,
  operations: readonly RestOperation[],
  names: readonly string[],
  { resources, losses }: { resources: readonly Resource[]; losses: Losses },
): Versions {
  const older = names.slice(0, -1).map(name => {
    const addresses = groupByAddress(operations.filter(each => each.version === name))
    const collections = findCollections(addresses)
    const without = resources.flatMap(resource => {
      const collection = collections.find(each => each.name === resource.name)
      const item = collection && findItemSchema(document, collection)
      if (item === undefined) {
        losses.add(`${name} ${resource.name}`, 'is not in that version there: here it is in all of them')
        return []
      }
      const members = new Set(propertiesOf(readSchemaFacts(document, item).schema).map(([each]) => each))
      const missing = Object.keys(resource.fields).filter(
        each => each !== 'id' && each !== resource.within && !members.has(each),
      )
      return missing.length > 0 ? [[resource.name, missing] as const] : []
    })
    return [name, without.length > 0 ? { without: Object.fromEntries(without) } : {}] as const
  })
  return Object.fromEntries([...older, [names.at(-1) ?? 'v1', {}]])
}

// Leftovers

/** HEAD and OPTIONS are answered at every address. */
function isWorthKeeping({ method, place }: RestOperation, losses: Losses): boolean {
  if (method === 'TRACE') losses.add(place, 'is never answered')
  return method !== 'HEAD' && method !== 'OPTIONS' && method !== 'TRACE'
}

/** The fields by which `GET /search` narrows, and all texts for `q`. */
function searchable(resource: Resource, of: string, addresses: Addresses): Resource {
  if (resource.name !== of) return resource
  const query = addresses.get('/search')?.get('GET')?.query ?? []
  const searchBy = query.map(each => stringOf(each['name'])).filter(each => Object.hasOwn(resource.fields, each))
  const texts = Object.entries(resource.fields).flatMap(([name, { shape }]) => (shape.kind === 'string' ? [name] : []))
  const given = { ...resource.given, search: resource.given.search ?? texts, ...(searchBy.length > 0 && { searchBy }) }
  return new Resource({ ...resource, given })
}

/** The contract's own mistakes; handlers come later. */
const listMistakes = (contract: Service): readonly string[] =>
  findContractMistakes({ contract, handlers: {} } as never).filter(each => !/handler|give implement\(\)/.test(each))
