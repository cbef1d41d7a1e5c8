/** A1 and A2: the interface itself, and what its representations look like. */

import { expandTemplate, templateVariables } from '../../http/uri-template.ts'
import { Malformed, parseXml } from '../../xml/index.ts'
import {
  type CheckCaller,
  type CollectionTarget,
  type DiscoveredService,
  lastSegmentOf,
} from '../discovered-service.ts'
import { schemaOfContent } from '../discovery.ts'
import {
  createActionItem,
  createSomeSearch,
  createTemporaryItem,
  currentMatch,
  isOfTemplate,
  readAbsentItem,
  readSomeItem,
} from '../materials.ts'
import {
  asRecord,
  asText,
  itemsOf,
  type Json,
  linkIn,
  linksIn,
  memberAt,
  namesOnPage,
  sameJson,
} from '../probe-content.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { fieldLinks, readAsFirstAllowed, toPath } from '../reading.ts'
import type { CheckRule } from '../rule.ts'
import { findMismatch } from '../schema-judge.ts'
import { findUndeclared, isOfHal, resolveSchema } from '../schema-sample.ts'
import type { Trial } from '../trial.ts'
import { saysCaching } from './caching-checks.ts'
import { watchSomeJob } from './job-rules.ts'

/** RFC 9110 §9.3.4: something that does not exist yet has an address, too. */
async function isMadeByPut(trial: Trial, path: string): Promise<boolean> {
  const { fields } = await trial.send('OPTIONS', path)
  return (fields['allow'] ?? '').split(',').some(each => each.trim() === 'PUT')
}

const textOf = (exchange: ProbeExchange): string => exchange.text

export const interfaceRules: readonly CheckRule[] = [
  {
    id: 'A1.1',
    says: 'the same resource answers with the same semantics over HTTP/1.1, HTTP/2 and (behind an HTTP/3 front) HTTP/3',
    how: 'GET of one item over each version that the address speaks: status, media type, entity tag and content are equal',
    probe: async (trial: Trial) => {
      if (!trial.bench.transport.versions.includes('2'))
        trial.skip('the address speaks HTTP/1.1 alone; HTTP/2 needs an https address')
      const { path, as } = await readSomeItem(trial.bench)
      const item = await trial.send('GET', path, { as })
      const two = await trial.send('GET', path, { as, version: '2' })
      const isSame =
        item.status === two.status &&
        item.mediaType === two.mediaType &&
        item.fields['etag'] === two.fields['etag'] &&
        textOf(item) === textOf(two)
      trial.expect(isSame, 'HTTP/2 gives what HTTP/1.1 gives', item, two)
    },
  },
  {
    id: 'A1.2',
    says: 'stateless: a request carries all that is needed; any instance can serve any request, in any order, after a restart',
    how: 'GET of one item, again on a connection of its own after other requests, and with the cookie of an unknown session: status, media type and content are equal',
    probe: async (trial: Trial) => {
      const { path, as, collection } = await readSomeItem(trial.bench)
      const item = await trial.send('GET', path, { as })
      await trial.send('GET', collection.path)
      const two = await trial.send('GET', path, { as, ownConnection: true })
      trial.expect(textOf(item) === textOf(two), 'requests in between change nothing', item, two)
      const three = await trial.send('GET', path, { as, fields: { cookie: 'session=unknown; SESSIONID=unknown' } })
      const isSame = item.status === three.status && textOf(item) === textOf(three)
      trial.expect(isSame, 'an unknown session changes nothing', item, three)
    },
  },
  {
    id: 'A1.3',
    says: 'responses say explicitly whether and how they may be cached',
    how: 'Cache-Control with a directive that says whether a response may be kept, or Expires, on the responses of the entry, collections and an item, and of a job and a search',
    probe: async (trial: Trial) => {
      const { entry, collections } = trial.bench.service
      for (const read of [entry, ...collections.map(({ list }) => list)].filter(each => each.status === 200))
        trial.expect(saysCaching(read), `${read.request.target} has Cache-Control or Expires`, read)
      if (trial.bench.options.allowChanges) await expectCachingOfMade(trial)
      const { read } = await readSomeItem(trial.bench)
      trial.expect(saysCaching(read), `${read.request.target} has Cache-Control or Expires`, read)
    },
  },
  {
    id: 'A1.4',
    says: 'uniform interface: resources identified by URI, manipulated through representations, self-descriptive messages, hypermedia',
    how: 'each link of the entry that is not a template leads to a resource, or to an address at which Allow has PUT, so that it is made there; each content names its media type',
    probe: async (trial: Trial) => {
      const { entry, links, basePath } = trial.bench.service
      const paths = links.filter(({ isTemplate }) => !isTemplate).map(({ href }) => toPath(trial.bench, href, basePath))
      if (paths.length === 0) trial.skip(`${basePath} has no links`)
      trial.expect(entry.mediaType !== '', 'the entry names its media type', entry)
      for (const path of new Set(paths))
        if (path !== undefined) {
          const read = await trial.send('GET', path)
          const exists =
            read.status < 500 && read.status !== 410 && (read.status !== 404 || (await isMadeByPut(trial, path)))
          trial.expect(exists, `the link to ${path} leads to a resource`, read)
          trial.expect(read.reply.content.length === 0 || read.mediaType !== '', `${path} names its media type`, read)
        }
    },
  },
  {
    id: 'A1.5',
    says: 'layered: a cache, gateway, proxy or load balancer in between changes nothing a client relies on',
    how: 'not probed from outside: it compares the service with itself behind an intermediary',
    probe: (trial: Trial) =>
      trial.lack(
        'the same service behind an intermediary: run the check through it, and compare reports with --baseline',
      ),
  },
  {
    id: 'A1.6',
    says: 'one resource, several representations (JSON, XML, HTML, PDF bytes, CSV …), chosen by content negotiation; any media type can be added',
    how: 'GET of one item, and of its collection, with each media type that the description lists, vendor types apart: the content is of that type, and JSON, XML, HTML and PDF have their form',
    probe: async (trial: Trial) => {
      const { path, as, collection } = await readSomeItem(trial.bench)
      await expectListedTypes(trial, collection)
      const types = listPlainTypes(trial, collection.itemPath?.operations['GET'])
      const tried = types.length > 0 ? types : ['application/json', 'application/xml', 'text/html']
      const exchanges: ProbeExchange[] = []
      for (const accept of tried) {
        const read = await trial.send('GET', path, { as, fields: { accept } })
        if (types.length > 0)
          trial.expect(
            read.status === 200 && read.mediaType === essenceOf(accept),
            `Accept: ${accept} gives that type`,
            read,
          )
        if (read.status === 200) exchanges.push(read)
        if (read.status === 200) expectForm(trial, read)
      }
      const isSeveral = new Set(exchanges.map(({ mediaType }) => mediaType)).size > 1
      if (!isSeveral) trial.skip('the item has one media type: several are allowed, not required')
      trial.expect(true, 'there is more than one media type', ...exchanges)
    },
  },
  {
    id: 'A1.7',
    says: 'GET, HEAD, OPTIONS and TRACE are safe: no state changes, however often',
    how: 'entity tag, date and content of an item before and after HEAD, OPTIONS, TRACE and GET; those of a new item after GET, HEAD and OPTIONS of the actions that it offers, and those of a job at its end; the items of each collection',
    probe: async (trial: Trial) => {
      const { path, as } = await readSomeItem(trial.bench)
      const before = await trial.send('GET', path, { as })
      for (const method of ['HEAD', 'OPTIONS', 'TRACE', 'GET']) await trial.send(method, path, { as })
      const after = await trial.send('GET', path, { as })
      const facts = (read: ProbeExchange) =>
        [read.status, read.fields['etag'], read.fields['last-modified'], read.text].join('\n')
      trial.expect(facts(before) === facts(after), 'safe methods leave the item as it was', before, after)
      for (const collection of trial.bench.service.collections) await expectSafeCollection(trial, collection)
      if (!trial.bench.options.allowChanges) return
      await askOfferedActions(trial, facts)
      await askEndedJob(trial, facts)
    },
  },
  {
    id: 'A1.8',
    says: 'GET, PUT and DELETE are idempotent; POST is not',
    how: 'one POST sent twice makes two items; a repeated DELETE finds the item gone and breaks nothing',
    probe: async (trial: Trial) => {
      const [one, two] = [await createTemporaryItem(trial.bench), await createTemporaryItem(trial.bench)]
      trial.expect(one.path !== two.path, 'two POSTs make two items', one.created, two.created)
      const fields = await currentMatch(trial.bench, one.path, one.as)
      const first = await trial.send('DELETE', one.path, { as: one.as, fields })
      if (!first.isSuccess) return
      const second = await trial.send('DELETE', one.path, { as: one.as, fields })
      const isGone = second.isSuccess || [404, 410, 412].includes(second.status)
      trial.expect(isGone, 'a repeated DELETE is answered 2xx, 404, 410 or 412', first, second)
    },
  },
  {
    id: 'A1.9',
    says: 'path names are nouns; an action is a sub-resource or a POST to a processing resource',
    how: 'the paths of the description and of the links have no segment that begins with a verb such as get, create or do',
    probe: (trial: Trial) => {
      const { paths, links, entry } = trial.bench.service
      const all = [...paths.map(({ path }) => path), ...links.map(({ href }) => href)]
      if (all.length === 0) trial.skip('neither a description nor links')
      const verbal = all.filter(path =>
        (path.split('?')[0] ?? '').split('/').some(segment => verbPattern.test(segment)),
      )
      trial.expect(
        verbal.length === 0,
        verbal.length === 0 ? 'no path has a verb' : `paths with a verb: ${verbal.join(', ')}`,
        entry,
      )
    },
  },
  {
    id: 'A1.10',
    says: 'an error has its proper status and an optional structured body; 200 never carries an error',
    how: 'GET of an item that does not exist is an error; of all exchanges, none has a problem document and a status of success',
    isPassive: true,
    probe: async (trial: Trial) => {
      for (const each of trial.bench.exchanges.filter(
        ({ isSuccess, mediaType }) => isSuccess && /^application\/problem\+/.test(mediaType),
      ))
        trial.expect(
          false,
          `${each.request.method} ${each.request.target} has a problem document with status ${each.status}`,
          each,
        )
      const absent = await readAbsentItem(trial.bench)
      trial.expect(absent.status >= 400, 'an item that does not exist is an error', absent)
    },
  },
  {
    id: 'A2.1',
    says: 'a representation is not the storage row: internal fields never leak',
    how: 'the members of an item and of the items of each collection, at any depth, are those that the description declares, and none is named as secrets are; of all exchanges, each answer in JSON is as its schema in the description has it; of patterns, those that look around, refer back or have an anchor within are not judged',
    isPassive: true,
    probe: async (trial: Trial) => {
      const { read, collection } = await readSomeItem(trial.bench)
      const { openapi, collections } = trial.bench.service
      const shown = [
        { exchange: read, operation: collection.itemPath?.operations['GET'] },
        ...collections.map(({ list, operations }) => ({ exchange: list, operation: operations['GET'] })),
      ]
      for (const { exchange, operation } of shown) {
        const secret = findSecretMembers(exchange.json ?? null)
        if (secret.length > 0) trial.expect(false, `internal members: ${secret}`, exchange)
        const schema = schemaOfContent(openapi, memberAt(operation, 'responses', '200'))
        if (openapi === undefined || schema === undefined) continue
        const strange = generalize(findUndeclared(openapi, schema, exchange.json ?? null))
        if (strange.length > 0) trial.expect(false, `members that are not declared: ${strange}`, exchange)
      }
      trial.expect(true, 'no other member is named as secrets are', read)
      judgeAnswers(trial)
    },
  },
  {
    id: 'A2.2',
    says: '`_links`: relation name → `{ "href": … }`; self, next, previous, related, collection, edit, delete, payment, cancel, customer, orders, tracking, shipment',
    how: 'each link of every representation of the run, and of the items in it, has an href that is text; the self link of an item leads to it; of each relation by which items lead to what can be read, one link leads there',
    isPassive: true,
    probe: async (trial: Trial) => {
      const { read, as } = await readSomeItem(trial.bench)
      const withLinks = trial.bench.exchanges.filter(each => each.isSuccess && listLinkHolders(each).length > 0)
      if (withLinks.length === 0) trial.skip('no representation has _links')
      const broken = withLinks.filter(each => !listLinkHolders(each).every(hasSoundLinks))
      for (const [target, [first]] of Map.groupBy(broken, ({ request }) => request.target.split('?')[0] ?? ''))
        trial.expect(false, `the links of ${target} are objects with href`, first)
      if (broken.length === 0) trial.expect(true, 'links are objects with href', withLinks[0])
      for (const collection of trial.bench.service.collections) await followRelations(trial, collection)
      const self = linksIn(read.json).find(({ rel }) => rel === 'self')?.href
      const path = self === undefined ? undefined : toPath(trial.bench, self, read.request.target)
      if (path === undefined) return
      const again = await trial.send('GET', path, { as })
      trial.expect(again.status === 200 && again.text === read.text, 'the self link leads to the item', read, again)
    },
  },
  {
    id: 'A2.3',
    says: 'a paginated collection holds an array of items and `_links` with self, next, previous',
    how: 'each collection with pages, or with links, has an array of items and a self link, which leads to them',
    probe: async (trial: Trial) => {
      const { collections } = trial.bench.service
      if (collections.length === 0) trial.lack('a collection: an OpenAPI description, or links of the entry')
      for (const { list, path, reader } of collections) {
        const rels = linksIn(list.json).map(({ rel }) => rel)
        if (rels.length === 0 && !fieldLinks(list).some(({ rel }) => rel === 'next')) continue
        trial.expect(itemsOf(list.json) !== undefined, `${path} has an array of items`, list)
        trial.expect(rels.includes('self'), `${path} links to itself`, list)
        await followSelf(trial, path, reader)
      }
      if (trial.findings.length === 0) trial.skip('no collection has pages or links')
    },
  },
  {
    id: 'A2.4',
    says: 'the server may supply URI templates (a search path with optional q and page)',
    how: 'each templated link of the entry is a template of RFC 6570; one with a single variable in its path leads to an item; one with variables in its query alone, which the description does not have, leads to a resource without any',
    probe: async (trial: Trial) => {
      const templates = trial.bench.service.links.filter(({ isTemplate, href }) => isTemplate || /\{/.test(href))
      if (templates.length === 0) trial.skip('the entry has no templates')
      for (const { href } of templates)
        trial.expect(
          (templateVariables(href) ?? []).length > 0,
          `${href} is a template with variables`,
          trial.bench.service.entry,
        )
      const { path, as } = await readSomeItem(trial.bench)
      const expanded = templates.flatMap(({ href }) => expandTemplate(href, { id: lastSegmentOf(path) }) ?? [])
      if (expanded.includes(path))
        trial.expectStatus(await trial.send('GET', path, { as }), [200], 'an expanded template')
      for (const { href } of templates) {
        const bare = /^[^{}]+\{[?&][^{}]*\}$/.test(href) ? expandTemplate(href, {}) : undefined
        const target = bare === undefined ? undefined : toPath(trial.bench, bare, trial.bench.service.basePath)
        // Described targets have their own rules.
        if (target === undefined || trial.bench.service.paths.some(each => isOfTemplate(target, each.path))) continue
        const read = await readAsFirstAllowed(trial.bench, target)
        trial.expect(![404, 410].includes(read.status), `${href} without variables leads to a resource`, read)
      }
    },
  },
  {
    id: 'A2.5',
    says: 'problem details: type, title, status, detail, as application/problem+json and application/problem+xml',
    how: 'GET of an item that does not exist, with either type in Accept; every problem of the run has a title, and the status of its response',
    isPassive: true,
    probe: async (trial: Trial) => {
      const json = await readAbsentItem(trial.bench, { accept: 'application/problem+json' })
      trial.expect(json.mediaType === 'application/problem+json', 'application/problem+json is given', json)
      const { type, title, status, detail } = asRecord(json.json)
      trial.expect(
        typeof (type ?? 'about:blank') === 'string' && typeof title === 'string',
        'the problem has type and title',
        json,
      )
      trial.expect(status === json.status, 'status is the status of the response', json)
      trial.expect(typeof detail === 'string', 'the problem has a detail', json)
      const xml = await readAbsentItem(trial.bench, { accept: 'application/problem+xml' })
      trial.expect(
        xml.mediaType === 'application/problem+xml' && /<problem\b/.test(xml.text),
        'application/problem+xml is given',
        xml,
      )
      for (const each of trial.bench.exchanges) {
        const flaw = findProblemFlaw(each)
        if (flaw !== undefined) trial.expect(false, `the problem of a ${each.status} ${flaw}`, each)
      }
    },
  },
]

const listPlainTypes = (trial: Trial, operation: Parameters<typeof memberAt>[0]): readonly string[] =>
  listedTypes(trial, operation).filter(each => !isVendorType(each) && !each.includes('*'))

async function expectListedTypes(trial: Trial, { path, operations, reader: as }: CollectionTarget): Promise<void> {
  for (const accept of listPlainTypes(trial, operations['GET'])) {
    const read = await trial.send('GET', path, { as, fields: { accept } })
    const isThat = read.status === 200 && read.mediaType === essenceOf(accept)
    trial.expect(isThat, `Accept: ${accept} of ${path} gives that type`, read)
    if (isThat) expectForm(trial, read)
  }
}

/** A DTD and XML 1.1 are allowed, but this checker does not read them. */
const isUnreadXml = (text: string): boolean => /<!DOCTYPE|^<\?xml version=["']1\.1/.test(text)

function expectForm(trial: Trial, { mediaType, json, text, reply, fields }: ProbeExchange): void {
  if (fields['content-encoding'] !== undefined) return
  const forms: readonly (readonly [type: RegExp, hasForm: () => boolean])[] = [
    [/[/+]json$/, () => json !== undefined],
    [/[/+]xml$/, () => isUnreadXml(text) || !(parseXml(reply.content) instanceof Malformed)],
    [/^text\/html$/, () => /<[a-z!]/i.test(text)],
    [/^application\/pdf$/, () => text.startsWith('%PDF-')],
  ]
  const isFormed = forms.every(([type, hasForm]) => !type.test(mediaType) || hasForm())
  if (!isFormed) trial.expect(false, `content of the type ${mediaType} has its form`)
}

/** Content that changes by itself, so a cache must not guess. */
async function expectCachingOfMade(trial: Trial): Promise<void> {
  for (const start of [watchSomeJob, createSomeSearch]) {
    const started = await start(trial.bench).catch(() => undefined)
    if (started?.location === undefined) continue
    const read = await trial.send('GET', started.location, { as: started.as })
    if (read.status === 200) trial.expect(saysCaching(read), `${started.location} has Cache-Control or Expires`, read)
  }
}

/** A flag, such as `hasPassword`, or a link reveals no secret. */
const secretPattern = /pass(?:word|wd)|secret|hash$|salt$|^_(?:id|rev|version|row)|rowid/i
function findSecretMembers(value: Json): readonly string[] {
  if (Array.isArray(value)) return [...new Set((value as readonly Json[]).flatMap(findSecretMembers))]
  return Object.entries(asRecord(value)).flatMap(([name, each]) => [
    ...(secretPattern.test(name) && ['string', 'number', 'bigint'].includes(typeof each) ? [name] : []),
    ...(isOfHal(name) && name !== '_embedded' ? [] : findSecretMembers(each)),
  ])
}

/** A property of all items is reported once. */
const generalize = (pointers: readonly string[]): readonly string[] => [
  ...new Set(pointers.map(each => each.replace(/\/\d+(?=\/)/g, '/*'))),
]

/** A collection that changes by itself, even without such requests, shows nothing. */
async function expectSafeCollection(trial: Trial, { path, reader: as }: CollectionTarget): Promise<void> {
  const readNames = async (): Promise<ProbeExchange> => trial.send('GET', path, { as })
  const hasSameItems = (one: ProbeExchange, other: ProbeExchange): boolean =>
    sameJson([...namesOnPage(one.json)], [...namesOnPage(other.json)])
  const before = await readNames()
  for (const method of ['HEAD', 'OPTIONS', 'TRACE']) await trial.send(method, path, { as })
  const after = await readNames()
  if (hasSameItems(before, after)) return
  if (hasSameItems(after, await readNames()) && hasSameItems(after, await readNames()))
    trial.expect(false, `safe methods leave the items of ${path} as they were`, before, after)
}

/** Safe methods leave a finished job unchanged, and do not remove it. */
async function askEndedJob(trial: Trial, facts: (read: ProbeExchange) => string): Promise<void> {
  const { last, location, as } = (await watchSomeJob(trial.bench).catch(() => undefined)) ?? {}
  if (!last || location === undefined) return
  const before = await trial.send('GET', location, { as })
  for (const method of ['HEAD', 'OPTIONS']) await trial.send(method, location, { as })
  const after = await trial.send('GET', location, { as })
  trial.expect(facts(before) === facts(after), 'safe methods leave a job as it was', before, after)
}

/** Items may come and go between two requests: how often they are compared. */
const looksMax = 3

async function followSelf(trial: Trial, path: string, as: CheckCaller | undefined): Promise<void> {
  const seen: ProbeExchange[] = []
  for (let look = 0; look < looksMax; look++) {
    const list = await trial.send('GET', path, { as })
    const href = linkIn(list.json, 'self')
    const self = href === undefined ? undefined : toPath(trial.bench, href, path)
    if (self === undefined) return
    const read = await trial.send('GET', self, { as })
    const [names, others] = [namesOnPage(list.json), namesOnPage(read.json)]
    if (names.length === 0 ? read.status === 200 : names.some(name => others.includes(name))) return
    seen.push(list, read)
  }
  trial.expect(false, `the self link of ${path} leads to its items`, ...seen.slice(-2))
}

/** A representation and its items: those that have `_links`. */
const listLinkHolders = ({ json }: ProbeExchange): readonly Json[] =>
  [json, ...(itemsOf(json) ?? [])].flatMap(each =>
    each !== undefined && memberAt(each, '_links') !== undefined ? [each] : [],
  )

function hasSoundLinks(holder: Json): boolean {
  const links = memberAt(holder, '_links')
  if (typeof links !== 'object' || links === null || Array.isArray(links)) return false
  return Object.values(asRecord(links))
    .flat()
    .every(link => asText(memberAt(link as Json, 'href')) !== undefined)
}

/** Relations that lead to a representation, whatever the description says about their addresses. */
const navigationRelations: readonly string[] = ['collection', 'related', 'up']
/** The target of a link may be gone: how many are tried before the relation counts as wrong. */
const linksTried = 3

/** A4.10 judges parts of items, A4.1 links to pages. */
async function followRelations(trial: Trial, { items, parts, reader: as }: CollectionTarget): Promise<void> {
  const { paths } = trial.bench.service
  const mayRead = (path: string): boolean =>
    paths.some(each => each.operations['GET'] && !each.operations['POST'] && isOfTemplate(path, each.path))
  const found = items.flatMap(item =>
    linksIn(item.value).flatMap(({ rel, href, isTemplate }) => {
      const path = isTemplate ? undefined : toPath(trial.bench, href, item.path)
      const isPart = path === undefined || parts.some(each => isOfTemplate(path, each.path))
      return isPart || rel === 'self' || !(navigationRelations.includes(rel) || mayRead(path)) ? [] : [{ rel, path }]
    }),
  )
  for (const [rel, links] of Map.groupBy(found, each => each.rel)) {
    const lost: ProbeExchange[] = []
    for (const path of [...new Set(links.map(each => each.path))].slice(0, linksTried)) {
      const read = await trial.send('GET', path, { as })
      if (read.status < 500 && read.status !== 404 && read.status !== 410) break
      lost.push(read)
    }
    const isLost = lost.length === Math.min(new Set(links.map(each => each.path)).size, linksTried)
    if (isLost) trial.expect(false, `the link ${rel} of items leads to a resource`, ...lost)
  }
}

/** A crawler that follows the links of an item must not perform an action. */
async function askOfferedActions(trial: Trial, facts: (read: ProbeExchange) => string): Promise<void> {
  const found = await createActionItem(trial.bench)
  if (!found) return
  const { item, before, actions } = found
  for (const path of new Set(actions.map(each => each.path)))
    for (const method of ['GET', 'HEAD', 'OPTIONS']) await trial.send(method, path, { as: item.as })
  const after = await trial.send('GET', item.path, { as: item.as })
  trial.expect(facts(before) === facts(after), 'safe methods perform no action', before, after)
}

/** RFC 9457 §3.1: the flaw of a problem document; undefined for any other response. */
function findProblemFlaw(exchange: ProbeExchange): string | undefined {
  const { mediaType, reply, status, request } = exchange
  if (!/^application\/problem\+(?:json|xml)$/.test(mediaType) || reply.content.length === 0) return undefined
  if (request.method === 'HEAD' || exchange.fields['content-encoding'] !== undefined) return undefined
  if (mediaType.endsWith('json')) {
    const { status: claimed, title, type } = asRecord(exchange.json)
    if (exchange.json === undefined) return 'is not JSON'
    if (claimed !== undefined && claimed !== status) return `has the status ${JSON.stringify(claimed)}`
    if (typeof title !== 'string') return 'has no title that is text'
    return type === undefined || URL.canParse(String(type), 'http://localhost/')
      ? undefined
      : 'has a type of another form than an address'
  }
  const document = parseXml(reply.content)
  if (document instanceof Malformed) return `is not well-formed: ${document.reason}`
  const claimed = document.root.elements().find(({ name }) => name.local === 'status')?.text
  return claimed === undefined || Number(claimed) === status ? undefined : `has the status ${claimed}`
}

/** Shows one mismatch for each operation and status. */
function judgeAnswers(trial: Trial): void {
  const { service, exchanges } = trial.bench
  const known = new Map<string, string | undefined>()
  const judged = exchanges.flatMap(exchange => {
    const found = findAnswerSchema(service, exchange)
    const { json, text, request, status } = exchange
    // A1.6 and A4.18 judge content whose type is not the one it names.
    if (!found || json === undefined) return []
    const answer = `${status} of ${request.method} ${found.path}`
    const key = `${answer} ${exchange.mediaType} ${text}`
    if (!known.has(key)) known.set(key, findMismatch(service.openapi ?? {}, found.schema, json))
    return [{ exchange, wrong: known.get(key), answer }]
  })
  const broken = Map.groupBy(
    judged.filter(({ wrong }) => wrong !== undefined),
    ({ answer }) => answer,
  )
  for (const [answer, [first]] of broken)
    trial.expect(false, `${answer} is as the description has it: ${first?.wrong}`, first?.exchange)
  const [first] = judged
  if (first && broken.size === 0)
    trial.expect(true, `${judged.length} answers in JSON are as the description has them`, first.exchange)
}

interface AnswerSchema {
  readonly path: string
  readonly schema: Json
}

/** Undefined: the description says nothing about this response, or it is not JSON. */
function findAnswerSchema(
  { paths, openapi }: DiscoveredService,
  { request, status, mediaType, reply, fields }: ProbeExchange,
): AnswerSchema | undefined {
  if (openapi === undefined || !/[/+]json$/.test(mediaType) || !reply.isWhole) return undefined
  if (fields['content-encoding'] !== undefined || status === 206 || selectsMembers(request.target)) return undefined
  const known = paths.filter(({ path, operations }) => operations[request.method] && isOfTemplate(request.target, path))
  // OpenAPI §4.8.8.2: of two paths that match, the one without variables comes first.
  const chosen = known.find(({ path }) => !path.includes('{')) ?? known[0]
  const responses = asRecord(chosen?.operations[request.method]?.['responses'])
  const response = responses[status] ?? responses[`${Math.floor(status / 100)}XX`] ?? responses['default']
  const contents = asRecord(memberAt(resolveSchema(openapi, response), 'content'))
  const [family = ''] = mediaType.split('/')
  const named = Object.keys(contents).find(each => essenceOf(each) === mediaType)
  const schema = memberAt(contents[named ?? ''] ?? contents[`${family}/*`] ?? contents['*/*'], 'schema')
  return chosen && schema !== undefined ? { path: chosen.path, schema } : undefined
}

/** From `application/json; charset=utf-8`, `application/json`. */
const essenceOf = (type: string): string => (type.split(';')[0] ?? '').trim().toLowerCase()

/** The client has chosen which members an item leaves out. */
const selectsMembers = (target: string): boolean => /[?&](?:fields|select|\$select|_fields)=/.test(target)

/** Before a hyphen, some of them are nouns: call-logs, list-prices, set-pieces. */
const verbPattern =
  /^(?:(?:get|create|update|delete|remove|do|fetch|execute|perform)(?:[A-Z_-]|$)|(?:add|set|run|list|make|call|cancel|send|process)(?:[A-Z]|_(?!logs?$)))/

export const isVendorType = (type: string): boolean => /^application\/vnd\..*\.?v[0-9]+.*\+json$/.test(type)

/** The media types that the description has for the 200 of an operation. */
export function listedTypes({ bench }: Trial, operation: Parameters<typeof memberAt>[0]): readonly string[] {
  const { openapi } = bench.service
  if (openapi === undefined) return []
  return Object.keys(asRecord(resolveSchema(openapi, memberAt(operation, 'responses', '200'))['content']))
}
