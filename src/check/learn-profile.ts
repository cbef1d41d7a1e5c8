/**
 * Writes a first profile of a service: what its descriptions, its reads and its safe SOAP
 * operations show, and notes on what its expert has to fill in. What always holds:
 *  (1) The service is not changed: only requests that a run without `allowChanges` would send are
 *      sent.
 *  (2) No secret is written: a caller has the name of an environment variable.
 *  (3) Whatever the profile in use already says is kept.
 */
import { parseRateLimitPolicy } from '../http/rate-limit.ts'
import { Bench } from './bench.ts'
import {
  type ApiPath,
  type CheckCaller,
  type CollectionTarget,
  isBelowPath,
  lastSegmentOf,
} from './discovered-service.ts'
import { discoverService, requireService } from './discovery.ts'
import { learnMessages } from './learn-messages.ts'
import { actionContent, contentFor, draftFor } from './materials.ts'
import { asArray, asRecord, asText, itemsOf, type Json, linksIn, memberAt } from './probe-content.ts'
import type { ProbeTransport } from './probe-message.ts'
import type { CheckProfile, ProfileCaller, ProfileMachine } from './profile.ts'
import { type CheckOptions, defaultBenchOptions } from './run-check.ts'
import { resolveSchema } from './schema-sample.ts'

/** Rejects with `Unreachable` if there is no response at the address. */
export async function learnProfile(transport: ProbeTransport, options: CheckOptions = {}): Promise<CheckProfile> {
  const { basePath = '/', rules: _, onVerdict: __, journal: ___, ...given } = options
  const bench = new Bench(transport, { ...defaultBenchOptions, ...given, allowChanges: false }) // (1)
  bench.service = await discoverService(bench, basePath)
  requireService(bench.service)
  const { messages, unknown } = await learnMessages(bench)
  const { profile } = bench
  const openapi = profile.openapi ?? findOpenApiPath(bench)
  const creatable = await listCreatable(bench)
  const wsdl = bench.service.soap.filter(({ described }) => described.request.method === 'GET')
  return {
    notes: [...writeNotes(bench, creatable), ...unknown.map(noteOperation)],
    ...(openapi !== undefined && { openapi }),
    ...(wsdl.length > 0 && { wsdl: wsdl.map(({ location }) => location) }),
    callers: profile.callers ?? bench.callers.map(nameCaller),
    mayCreate: profile.mayCreate ?? creatable.filter(({ isRemovable }) => isRemovable).map(({ path }) => path),
    samples: { ...learnSamples(bench), ...profile.samples },
    messages: { ...messages, ...profile.messages },
    machines: { ...learnMachines(bench), ...profile.machines },
    ...keepOthers(profile), // (3)
  }
}

const keepOthers = ({ safeOperations, moved, limit, bulk, signedMessage, exceptions }: CheckProfile): CheckProfile => ({
  ...(safeOperations && { safeOperations }),
  ...(moved !== undefined && { moved }),
  ...(limit && { limit }),
  ...(bulk && { bulk }),
  ...(signedMessage && { signedMessage }),
  ...(exceptions && { exceptions }),
})

const findOpenApiPath = ({ exchanges, service }: Bench): string | undefined =>
  exchanges.find(({ json }) => json !== undefined && json === service.openapi)?.request.target

/** (2) */
function nameCaller({ name, password, fields }: CheckCaller): ProfileCaller {
  const variable = `CHECK_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`
  if (password !== undefined) return { name, passwordFrom: `${variable}_PASSWORD` }
  return fields['authorization'] === undefined ? { name, keyFrom: variable } : { name, tokenFrom: variable }
}

interface CreatablePath {
  readonly path: string
  readonly isRemovable: boolean
}

/**
 * Collections, including searches and jobs, in which something can be created; and whether the
 * description has a DELETE for it, which its links, if it has any, offer to a caller.
 */
async function listCreatable(bench: Bench): Promise<readonly CreatablePath[]> {
  const { service } = bench
  const created = [...service.collections, ...service.searches, ...service.jobs]
  const paths = new Set(created.filter(({ operations }) => operations['POST']).map(({ path }) => path))
  const withheld = new Set<string>()
  for (const { path, items } of service.collections)
    if (items.length > 0 && !(await mayOfferRemoval(bench, path))) withheld.add(path)
  return Array.from(paths, path => ({
    path,
    isRemovable: !withheld.has(path) && service.paths.some(each => isRemovableItem(each, path)),
  }))
}

/** `/orders/{id}` and `/reports/jobs/{id}`, but no part of an item: `/orders/{id}/lines/{line}`. */
const isRemovableItem = ({ path, operations }: ApiPath, collection: string): boolean =>
  operations['DELETE'] !== undefined &&
  isBelowPath(path, collection) &&
  /^\{[^{}]+\}$/.test(lastSegmentOf(path)) &&
  path.match(/\{/g)?.length === 1

/** Whether an item has a link to its removal for a caller, or no links at all except to itself. */
async function mayOfferRemoval(bench: Bench, path: string): Promise<boolean> {
  const relations = new Set<string>()
  for (const as of [undefined, ...bench.callers]) {
    const { json } = await bench.send('GET', path, { as })
    for (const { rel } of (itemsOf(json) ?? []).flatMap(linksIn)) relations.add(rel)
  }
  return relations.has('delete') || ![...relations].some(rel => !navigationRelations.includes(rel))
}
/** Relations that only lead on, and offer no change. */
const navigationRelations: readonly string[] = ['self', 'collection', 'related', 'next', 'previous', 'prev']

function learnSamples(bench: Bench): Readonly<Record<string, Json>> {
  const { service } = bench
  const created = service.collections
    .filter(({ operations }) => operations['POST'])
    .map(each => [`POST ${each.path}`, exampleOf(bench, each) ?? draftFor(bench, each)] as const)
  const posted = [...service.jobs, ...service.searches].map(
    each => [`POST ${each.path}`, exampleOf(bench, each) ?? contentFor(bench, each)] as const,
  )
  const acted = service.collections.flatMap(({ parts }) =>
    parts
      .filter(({ operations }) => operations['POST'])
      .map(part => [`POST ${part.path}`, exampleOf(bench, part) ?? actionContent(bench, part)] as const),
  )
  return Object.fromEntries(
    [...created, ...posted, ...acted].flatMap(([name, content]) => (content === undefined ? [] : [[name, content]])),
  )
}

/** OpenAPI Media Type Object: `example`, or the first of `examples`. */
function exampleOf({ service }: Bench, { operations }: Pick<ApiPath, 'operations'>): Json | undefined {
  const { openapi } = service
  if (openapi === undefined) return undefined
  const content = asRecord(resolveSchema(openapi, memberAt(operations['POST'], 'requestBody'))['content'])
  const media = Object.entries(content).find(([type]) => /^application\/(?:hal\+)?json$/.test(type))?.[1]
  const [first] = Object.values(asRecord(memberAt(media, 'examples')))
  return memberAt(media, 'example') ?? resolveSchema(openapi, first)['value']
}

/**
 * Members of items that hold a state: those with that name, otherwise those with values listed in a
 * description.
 */
function learnMachines({ service }: Bench): Readonly<Record<string, ProfileMachine>> {
  const found = service.collections.flatMap(collection => {
    const schema = itemSchemaOf(service.openapi, collection)
    const properties = asRecord(schema['properties'])
    const member = ['state', 'status'].find(
      name => properties[name] !== undefined || collection.items.some(({ value }) => memberAt(value, name)),
    )
    const hasActions = collection.parts.some(({ operations }) => operations['POST'])
    const chosen = member ?? (hasActions ? findEnumeration(service.openapi, properties) : undefined)
    if (chosen === undefined) return []
    const described = asArray(resolveSchema(service.openapi ?? {}, properties[chosen])['enum'])
    const seen = collection.items.map(({ value }) => memberAt(value, chosen))
    const states = [...new Set([...described, ...seen].flatMap(each => asText(each) ?? []))]
    return states.length > 0 ? [[collection.path, { member: chosen, states }] as const] : []
  })
  return Object.fromEntries(found)
}

function itemSchemaOf(openapi: Json | undefined, { itemPath }: CollectionTarget): Readonly<Record<string, Json>> {
  if (openapi === undefined) return {}
  const response = resolveSchema(openapi, memberAt(itemPath?.operations['GET'], 'responses', '200'))
  const [media] = Object.values(asRecord(response['content']))
  return resolveSchema(openapi, memberAt(media, 'schema'))
}

/** A state is set only by the server, and has few values. */
const findEnumeration = (openapi: Json | undefined, properties: Readonly<Record<string, Json>>): string | undefined =>
  Object.entries(properties).find(([, given]) => {
    const schema = resolveSchema(openapi ?? {}, given)
    return schema['readOnly'] === true && asArray(schema['enum']).length > 1
  })?.[0]

const noteOperation = (name: string): string =>
  `SOAP: no content was found with which ${name} succeeds; \`messages\` has what its schema requires.`

function writeNotes(bench: Bench, creatable: readonly CreatablePath[]): readonly string[] {
  const { service, exchanges, profile } = bench
  const unread = exchanges
    .filter(({ request, status }) => request.method === 'GET' && (status === 401 || status === 403))
    .map(({ request }) => request.target)
    .filter(target => !exchanges.some(({ request, isSuccess }) => isSuccess && request.target === target))
  const unseen = Object.entries(learnMachines(bench)).flatMap(([path, { member, states }]) => {
    const { items = [] } = service.collections.find(each => each.path === path) ?? {}
    const missing = states.filter(state => !items.some(({ value }) => memberAt(value, member) === state))
    return missing.length > 0 ? [`${path}: no item was seen in ${missing.join(', ')}.`] : []
  })
  return [
    `What a check of ${bench.transport.origin}${service.basePath} could not discover; read it, and correct what is wrong.`,
    ...(bench.callers.length === 0
      ? [`callers: none was given; ${listSchemes(service.openapi)}. Repeat --learn with --caller or --token.`]
      : ['callers: each secret is read from the environment variable that it names.']),
    ...[...new Set(unread)].map(target => `${target}: no caller could read it.`),
    'mayCreate: a run with --allow-changes creates, changes and removes there, and nowhere else.',
    ...creatable
      .filter(({ isRemovable }) => !isRemovable)
      .map(({ path }) => `${path}: what is created there cannot be removed; add it to mayCreate if it may stay.`),
    'samples: an example of the description, else a copy of an existing item, which may hold data of others.',
    ...unseen,
    ...(profile.limit ? [] : noteLimits(bench)),
  ]
}

function listSchemes(openapi: Json | undefined): string {
  const schemes = Object.entries(asRecord(memberAt(openapi, 'components', 'securitySchemes'))).map(
    ([name, scheme]) =>
      `${name} (${asText(memberAt(scheme, 'scheme')) ?? asText(memberAt(scheme, 'type')) ?? 'other'})`,
  )
  return schemes.length > 0 ? `the description has ${schemes.join(', ')}` : 'the description names no scheme'
}

function noteLimits({ exchanges }: Bench): readonly string[] {
  const quotas = exchanges.flatMap(({ fields }) =>
    parseRateLimitPolicy(fields['ratelimit-policy'] ?? '').map(({ quota }) => quota),
  )
  if (quotas.length === 0) return []
  return [`limit: the smallest quota that a read has shown is ${Math.min(...quotas)}; name a request to be exceeded.`]
}
