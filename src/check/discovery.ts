/**
 * What a service offers, found from one address: the entry and its links, the OpenAPI description,
 * the collections, each with an item, and the callers that may read them.
 */
import type { Bench } from './bench.ts'
import {
  type ApiPath,
  type CheckCaller,
  type CollectionTarget,
  type DiscoveredService,
  isBelowPath,
  lastSegmentOf,
  pathBelow,
} from './discovered-service.ts'
import {
  asArray,
  asRecord,
  asText,
  type FoundLink,
  itemsOf,
  type Json,
  linkIn,
  linksIn,
  memberAt,
  type ProbedRecord,
} from './probe-content.ts'
import { type ProbeExchange, requireUnreachable, Unreachable } from './probe-message.ts'
import { fieldLinks, findSender, pathOfIdentifier, readAsFirstAllowed, toPath } from './reading.ts'
import { resolveSchema } from './schema-sample.ts'
import { discoverSoap } from './soap-discovery.ts'

/** Throws `Unreachable` if there is no response. */
export async function discoverService(bench: Bench, basePath: string): Promise<DiscoveredService> {
  const entry = await readEntry(bench, basePath)
  const links = [...linksIn(entry.json), ...fieldLinks(entry)]
  const openapi = bench.options.openapi ?? (await findOpenApi(bench, basePath, links))
  const base = bench.options.openapi === undefined ? serverPathOf(openapi) : basePath
  const paths = listPaths(openapi, base.replace(/\/$/, ''))
  const current = chooseVersion(paths, links)
  const collections = await discoverCollections(bench, current, links, entry)
  // Of the WSDL versions, only 1.1 says enough to send messages.
  const wsdl = [
    ...(bench.profile.wsdl ?? []),
    ...links.filter(({ href }) => /[?&]wsdl(?!2)/i.test(href)).map(each => each.href),
  ]
  return {
    basePath,
    entry,
    links,
    openapi,
    paths,
    collections,
    jobs: current.filter(
      ({ operations }) => hasResponse(operations['POST'], '202') && !hasResponse(operations['POST'], '201'),
    ),
    searches: current.filter(({ path, operations }) => /\/searches$/.test(path) && operations['POST']),
    searchPages: current.filter(({ path, operations }) => /\/search$/.test(path) && operations['GET']),
    soap: await discoverSoap(bench, [...new Set(wsdl)]),
  }
}

const redirectsMax = 5

/** RFC 9110 §15.4: after a redirect within the address, its target is the entry. */
async function readEntry(bench: Bench, basePath: string): Promise<ProbeExchange> {
  let entry = await readAsFirstAllowed(bench, basePath)
  for (let count = 0; count < redirectsMax && [301, 302, 303, 307, 308].includes(entry.status); count++) {
    const { location = '' } = entry.fields
    const path = toPath(bench, location, entry.request.target)
    bench.remarks.push(
      `${entry.request.target} leads to ${location}${path === undefined ? `, which is not of ${bench.transport.origin}: it was not followed` : ''}`,
    )
    if (path === undefined) break
    entry = await readAsFirstAllowed(bench, path)
  }
  return entry
}

const hasResponse = (operation: ProbedRecord | undefined, status: string): boolean =>
  memberAt(operation, 'responses', status) !== undefined

async function findOpenApi(bench: Bench, basePath: string, links: readonly FoundLink[]): Promise<Json | undefined> {
  const linked = links.filter(({ rel, href }) => rel === 'service-desc' && !/wsdl/i.test(href))
  const candidates = [
    bench.profile.openapi,
    ...linked.map(({ href }) => toPath(bench, href)),
    '/openapi.json',
    pathInBase(basePath),
  ]
  for (const path of new Set(candidates)) {
    if (path === undefined) continue
    const { json } = await readAsFirstAllowed(bench, path)
    if (asText(memberAt(json, 'openapi')) !== undefined) return json
  }
  return undefined
}

const pathInBase = (basePath: string): string => `${basePath.replace(/\/$/, '')}/openapi.json`

/** The path of the document's first server, its variables with their defaults (OpenAPI §4.6). */
function serverPathOf(openapi: Json | undefined): string {
  const [server] = asArray(memberAt(openapi, 'servers'))
  const base = (asText(memberAt(server, 'url')) ?? '').replaceAll(
    /\{([^{}]+)\}/g,
    (_, name) => asText(memberAt(server, 'variables', name, 'default')) ?? '',
  )
  return URL.parse(base, 'http://base.test')?.pathname ?? ''
}

function listPaths(openapi: Json | undefined, prefix: string): readonly ApiPath[] {
  return Object.entries(asRecord(memberAt(openapi, 'paths'))).map(([path, value]) => {
    const common = memberAt(value, 'parameters')
    const operations = Object.entries(asRecord(value))
      .filter(([method]) => /^(?:get|put|post|delete|options|head|patch|trace|query)$/.test(method))
      .map(([method, operation]) => [
        method.toUpperCase(),
        { ...asRecord(operation), ...(common !== undefined && { '(path parameters)': common }) },
      ])
    return { path: prefix + path, operations: Object.fromEntries(operations) }
  })
}

/** Of several versions, the one to whose collections the entry links; otherwise the last. */
function chooseVersion(paths: readonly ApiPath[], links: readonly FoundLink[]): readonly ApiPath[] {
  const versions = [...new Set(paths.flatMap(({ path }) => versionOfPath(path) ?? []))]
  if (versions.length < 2) return paths
  const linked = versions.map(version => ({
    version,
    count: links.filter(({ href }) => versionOfPath(href) === version).length,
  }))
  const best = linked.reduce((one, other) => (other.count >= one.count ? other : one))
  return paths.filter(({ path }) => (versionOfPath(path) ?? best.version) === best.version)
}
export const versionOfPath = (path: string): string | undefined => /\/(v[0-9]+)(?=\/|$)/.exec(path)?.[1]

async function discoverCollections(
  bench: Bench,
  paths: readonly ApiPath[],
  links: readonly FoundLink[],
  entry: ProbeExchange,
): Promise<readonly CollectionTarget[]> {
  const described = paths.filter(
    each => each.operations['GET'] && !each.path.includes('{') && findItemPath(paths, each.path),
  )
  const linked = links.flatMap(({ href, isTemplate }) => (isTemplate ? [] : (toPath(bench, href) ?? [])))
  if (described.length > 0) return addNested(bench, paths, await readCollections(bench, paths, described))
  // Without a description: whatever the entry links to, otherwise the entry itself.
  const undescribed = linked.length > 0 || !itemsOf(entry.json) ? linked : [entry.request.target]
  const found = await readCollections(
    bench,
    paths,
    [...new Set(undescribed)].map(path => ({ path, operations: {} })),
  )
  return Promise.all(found.map(each => askForMethods(bench, each)))
}

/** Also adds the collections inside an item of each, as deep as they are described. */
async function addNested(
  bench: Bench,
  paths: readonly ApiPath[],
  found: readonly CollectionTarget[],
): Promise<readonly CollectionTarget[]> {
  const inner: CollectionTarget[] = []
  for (const { itemPath, items } of found) {
    if (!itemPath) continue
    for (const place of nestedPlaces(paths, itemPath.path))
      inner.push(...(await readNested(bench, paths, { itemPath, items }, place)))
  }
  return [...found, ...inner]
}

/** Ends of the addresses of collections inside an item, whatever its parameter's name there. */
function nestedPlaces(paths: readonly ApiPath[], item: string): readonly string[] {
  const below = item.replace(/[^/]*$/, '')
  return paths.flatMap(({ path, operations }) => {
    const [, parameter, name] =
      /^(\{[^/{}]+\})\/([^/{}]+)$/.exec(path.startsWith(below) ? path.slice(below.length) : '') ?? []
    const isCollection = parameter !== undefined && operations['GET'] && findItemPath(paths, path)
    return isCollection && name !== undefined ? [`${parameter}/${name}`] : []
  })
}

/** The nested collection of the first item with something in it, otherwise of the first item. */
async function readNested(
  bench: Bench,
  paths: readonly ApiPath[],
  { itemPath, items }: { readonly itemPath: ApiPath; readonly items: CollectionTarget['items'] },
  place: string,
): Promise<readonly CollectionTarget[]> {
  const template = itemPath.path.replace(/[^/]*$/, place)
  let chosen: { readonly placed: readonly ApiPath[]; readonly collection: CollectionTarget } | undefined
  for (const { path } of items.slice(0, parentsMax)) {
    const target = `${path}/${lastSegmentOf(template)}`
    const placed = placePaths(paths, template, target)
    const candidates = placed.filter(each => each.path === target)
    const [collection] = await readCollections(bench, placed, candidates)
    if (collection && (!chosen || collection.items.length > 0)) chosen = { placed, collection }
    if (collection && collection.items.length > 0) break
  }
  return chosen ? addNested(bench, chosen.placed, [chosen.collection]) : []
}
/** How many parents are searched for one with something in it. */
const parentsMax = 5

/** The same paths, with identifiers in those below a template. */
const placePaths = (paths: readonly ApiPath[], template: string, target: string): readonly ApiPath[] =>
  paths.map(each =>
    each.path === template || isBelowPath(each.path, template)
      ? { ...each, path: target + each.path.slice(template.length) }
      : each,
  )

async function readCollections(
  bench: Bench,
  paths: readonly ApiPath[],
  candidates: readonly ApiPath[],
): Promise<readonly CollectionTarget[]> {
  const found: CollectionTarget[] = []
  for (const candidate of candidates) {
    const target = await readCollection(bench, paths, candidate).catch((thrown: unknown) => {
      const { message } = requireUnreachable(thrown)
      bench.remarks.push(`${candidate.path} was left out: ${message}`)
    })
    if (target) found.push(target)
  }
  return found
}

/** The methods of a collection and its items according to Allow of OPTIONS (RFC 9110 §10.2.1). */
async function askForMethods(bench: Bench, target: CollectionTarget): Promise<CollectionTarget> {
  const [first] = target.items
  const operations = await allowedOperations(bench, target.path, target.reader)
  const ofItem = first ? await allowedOperations(bench, first.path, target.reader) : {}
  const itemPath =
    Object.keys(ofItem).length > 0 ? { path: pathBelow(target.path, '{id}'), operations: ofItem } : undefined
  return { ...target, operations, itemPath }
}

async function allowedOperations(
  bench: Bench,
  path: string,
  as: CheckCaller | undefined,
): Promise<ApiPath['operations']> {
  const { fields } = await bench.send('OPTIONS', path, { as })
  const methods = (fields['allow'] ?? '').split(',').map(each => each.trim())
  return Object.fromEntries(methods.filter(each => each !== '').map(method => [method, {}]))
}

const findItemPath = (paths: readonly ApiPath[], collection: string): ApiPath | undefined =>
  paths.find(({ path }) => path === pathBelow(collection, `{${lastSegmentOf(path).slice(1, -1)}}`))

async function readCollection(
  bench: Bench,
  paths: readonly ApiPath[],
  { path, operations }: ApiPath,
): Promise<CollectionTarget | undefined> {
  const list = await readAsFirstAllowed(bench, path)
  // A representation that can be edited is one item, whatever lists it has.
  const items = list.isSuccess && linkIn(list.json, 'edit') === undefined ? itemsOf(list.json) : undefined
  if (!items) return undefined
  const itemPath = findItemPath(paths, path)
  return {
    path,
    operations,
    itemPath,
    parts: itemPath ? paths.filter(each => isBelowPath(each.path, itemPath.path)) : [],
    reader: findSender(bench, list),
    list,
    items: items.flatMap(value => {
      const href = linkIn(value, 'self') ?? pathOfIdentifier({ path, itemPath }, value)
      const at = href === undefined ? undefined : toPath(bench, href, path)
      return at === undefined ? [] : [{ path: at, value }]
    }),
  }
}

/** The schema of the content that an operation receives, or of its response's content. */
export function schemaOfContent(openapi: Json | undefined, holder: Json | undefined): ProbedRecord | undefined {
  if (openapi === undefined) return undefined
  const content = asRecord(resolveSchema(openapi, holder)['content'])
  const type = Object.keys(content).find(each => /^application\/(?:hal\+)?json$/.test(each))
  const schema = type === undefined ? undefined : memberAt(content[type], 'schema')
  return schema === undefined ? undefined : resolveSchema(openapi, schema)
}

/** The parameters of an operation and of its path, with references resolved. */
export function parametersOf(openapi: Json | undefined, operation: ProbedRecord | undefined): readonly ProbedRecord[] {
  const listed = [operation?.['parameters'], operation?.['(path parameters)']].flatMap(each =>
    Array.isArray(each) ? each : [],
  )
  return openapi === undefined ? [] : listed.map(each => resolveSchema(openapi, each as Json))
}

/** At a wrong address no rule would fail, and a run there would look like a success. */
export function requireService({ entry, openapi, collections, soap }: DiscoveredService): void {
  const { status } = entry
  if (status >= 500) throw new Unreachable(`the address responds with ${status}`)
  const isFound = entry.isSuccess || openapi !== undefined || collections.length > 0 || soap.length > 0
  if (!isFound && status !== 401 && status !== 403)
    throw new Unreachable(
      `the address responds with ${status}, and leads to no service: give the one at which the service begins, or --openapi or --wsdl`,
    )
}
