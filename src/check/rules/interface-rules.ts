/** A1 and A2: what the interface is, and what its representations look like. */

import { expandTemplate, templateVariables } from '../../http/uri-template.ts'
import { Malformed, parseXml } from '../../xml/index.ts'
import type { DiscoveredService } from '../discovered-service.ts'
import { schemaOfContent } from '../discovery.ts'
import {
  createActionItem,
  createTemporaryItem,
  currentMatch,
  isOfTemplate,
  readAbsentItem,
  readSomeItem,
} from '../materials.ts'
import { asRecord, asText, itemsOf, type Json, linksIn, memberAt } from '../probe-content.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { fieldLinks, toPath } from '../reading.ts'
import type { CheckRule } from '../rule.ts'
import { findMismatch } from '../schema-judge.ts'
import { declaredMembers, resolveSchema } from '../schema-sample.ts'
import { lastSegmentOf } from '../target-path.ts'
import type { Trial } from '../trial.ts'

const textOf = (exchange: ProbeExchange): string => exchange.text

export const interfaceRules: readonly CheckRule[] = [
  {
    id: 'A1.1',
    says: 'the same resource answers with the same semantics over HTTP/1.1, HTTP/2 and (behind an HTTP/3 front) HTTP/3',
    how: 'GET of one item over each version that the address speaks: status, media type and content are equal',
    probe: async (trial: Trial) => {
      if (!trial.bench.transport.versions.includes('2'))
        trial.skip('the address speaks HTTP/1.1 alone; HTTP/2 needs an https address')
      const { path, as } = await readSomeItem(trial.bench)
      const one = await trial.send('GET', path, { as })
      const two = await trial.send('GET', path, { as, version: '2' })
      const isSame = one.status === two.status && one.mediaType === two.mediaType && textOf(one) === textOf(two)
      trial.expect(isSame, 'HTTP/2 gives what HTTP/1.1 gives', one, two)
    },
  },
  {
    id: 'A1.2',
    says: 'stateless: a request carries all that is needed; any instance can serve any request, in any order, after a restart',
    how: 'GET of one item, again on a connection of its own after other requests, and with the cookie of an unknown session: status, media type and content are equal',
    probe: async (trial: Trial) => {
      const { path, as, collection } = await readSomeItem(trial.bench)
      const one = await trial.send('GET', path, { as })
      await trial.send('GET', collection.path)
      const two = await trial.send('GET', path, { as, ownConnection: true })
      trial.expect(textOf(one) === textOf(two), 'requests in between change nothing', one, two)
      const three = await trial.send('GET', path, { as, fields: { cookie: 'session=unknown; SESSIONID=unknown' } })
      const isSame = one.status === three.status && textOf(one) === textOf(three)
      trial.expect(isSame, 'an unknown session changes nothing', one, three)
    },
  },
  {
    id: 'A1.3',
    says: 'responses say explicitly whether and how they may be cached',
    how: 'Cache-Control or Expires on the responses of the entry, collections and an item',
    probe: async (trial: Trial) => {
      const { entry, collections } = trial.bench.service
      for (const read of [entry, ...collections.map(({ list }) => list)].filter(each => each.status === 200))
        trial.expect(saysCaching(read), `${read.request.target} has Cache-Control or Expires`, read)
      const { read } = await readSomeItem(trial.bench)
      trial.expect(saysCaching(read), `${read.request.target} has Cache-Control or Expires`, read)
    },
  },
  {
    id: 'A1.4',
    says: 'uniform interface: resources identified by URI, manipulated through representations, self-descriptive messages, hypermedia',
    how: 'each link of the entry that is not a template leads to a resource; each content names its media type',
    probe: async (trial: Trial) => {
      const { entry, links, basePath } = trial.bench.service
      const paths = links.filter(({ isTemplate }) => !isTemplate).map(({ href }) => toPath(trial.bench, href, basePath))
      if (paths.length === 0) trial.skip(`${basePath} has no links`)
      trial.expect(entry.mediaType !== '', 'the entry names its media type', entry)
      for (const path of new Set(paths))
        if (path !== undefined) {
          const read = await trial.send('GET', path)
          const exists = read.status < 500 && read.status !== 404 && read.status !== 410
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
    how: 'GET of one item with each media type that the description lists, vendor types apart: the content is of that type',
    probe: async (trial: Trial) => {
      const { path, as, collection } = await readSomeItem(trial.bench)
      const types = listedTypes(trial, collection.itemPath?.operations['GET']).filter(
        each => !isVendorType(each) && !each.includes('*'),
      )
      const tried = types.length > 0 ? types : ['application/json', 'application/xml', 'text/html']
      const given: ProbeExchange[] = []
      for (const accept of tried) {
        const read = await trial.send('GET', path, { as, fields: { accept } })
        if (types.length > 0)
          trial.expect(
            read.status === 200 && read.mediaType === essenceOf(accept),
            `Accept: ${accept} gives that type`,
            read,
          )
        if (read.status === 200) given.push(read)
      }
      const isSeveral = new Set(given.map(({ mediaType }) => mediaType)).size > 1
      if (!isSeveral) trial.skip('the item has one media type: several are allowed, not asked for')
      trial.expect(true, 'there is more than one media type', ...given)
    },
  },
  {
    id: 'A1.7',
    says: 'GET, HEAD, OPTIONS and TRACE are safe: no state changes, however often',
    how: 'entity tag, date and content of an item before and after HEAD, OPTIONS, TRACE and GET; those of a new item after GET, HEAD and OPTIONS of the actions that it offers',
    probe: async (trial: Trial) => {
      const { path, as } = await readSomeItem(trial.bench)
      const before = await trial.send('GET', path, { as })
      for (const method of ['HEAD', 'OPTIONS', 'TRACE', 'GET']) await trial.send(method, path, { as })
      const after = await trial.send('GET', path, { as })
      const facts = (read: ProbeExchange) =>
        [read.status, read.fields['etag'], read.fields['last-modified'], read.text].join('\n')
      trial.expect(facts(before) === facts(after), 'safe methods leave the item as it was', before, after)
      if (trial.bench.options.allowChanges) await askOfferedActions(trial, facts)
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
    how: 'the members of an item are those that its description declares, and none is named as secrets are; of all exchanges, each answer in JSON is as its schema in the description has it',
    isPassive: true,
    probe: async (trial: Trial) => {
      const { read, collection } = await readSomeItem(trial.bench)
      const { openapi } = trial.bench.service
      const members = Object.keys(asRecord(read.json))
      const secret = members.filter(name =>
        /pass(?:word|wd)|secret|hash$|salt$|^_(?:id|rev|version|row)|rowid/i.test(name),
      )
      trial.expect(
        secret.length === 0,
        secret.length === 0 ? 'no member is named as secrets are' : `internal members: ${secret}`,
        read,
      )
      const response = memberAt(collection.itemPath?.operations['GET'], 'responses', '200')
      judgeAnswers(trial)
      const declared = openapi === undefined ? undefined : declaredMembers(openapi, schemaOfContent(openapi, response))
      if (!declared) return
      const strange = members.filter(name => !declared.has(name) && !/^_(?:links|embedded|templates)$/.test(name))
      trial.expect(
        strange.length === 0,
        strange.length === 0 ? 'all members are declared' : `members that are not declared: ${strange}`,
        read,
      )
    },
  },
  {
    id: 'A2.2',
    says: '`_links`: relation name → `{ "href": … }`; self, next, previous, related, collection, edit, delete, payment, cancel, customer, orders, tracking, shipment',
    how: 'each link of an item and of a collection has an href that is text; the self link of an item leads to it',
    probe: async (trial: Trial) => {
      const { read, as } = await readSomeItem(trial.bench)
      const all = [read, ...trial.bench.service.collections.map(({ list }) => list)]
      const withLinks = all.filter(({ json }) => memberAt(json, '_links') !== undefined)
      if (withLinks.length === 0) trial.skip('no representation has _links')
      for (const each of withLinks) {
        const links = Object.values(asRecord(memberAt(each.json, '_links'))).flat()
        const isSound = links.every(link => asText(memberAt(link, 'href')) !== undefined)
        trial.expect(isSound, `the links of ${each.request.target} are objects with href`, each)
      }
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
    how: 'each collection with pages, or with links, has an array of items and a self link',
    probe: (trial: Trial) => {
      const { collections } = trial.bench.service
      if (collections.length === 0) trial.lack('a collection: an OpenAPI description, or links of the entry')
      for (const { list, path } of collections) {
        const rels = linksIn(list.json).map(({ rel }) => rel)
        if (rels.length === 0 && !fieldLinks(list).some(({ rel }) => rel === 'next')) continue
        trial.expect(itemsOf(list.json) !== undefined, `${path} has an array of items`, list)
        trial.expect(rels.includes('self'), `${path} links to itself`, list)
      }
      if (trial.findings.length === 0) trial.skip('no collection has pages or links')
    },
  },
  {
    id: 'A2.4',
    says: 'the server may supply URI templates (a search path with optional q and page)',
    how: 'each templated link of the entry is a template of RFC 6570; one with a single variable in its path leads to an item',
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
    },
  },
  {
    id: 'A2.5',
    says: 'problem details: type, title, status, detail, as application/problem+json and application/problem+xml',
    how: 'GET of an item that does not exist, with either type in Accept; every problem of the run has the status of its response',
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

/** A crawler that follows the links of an item performs nothing. */
async function askOfferedActions(trial: Trial, facts: (read: ProbeExchange) => string): Promise<void> {
  const found = await createActionItem(trial.bench)
  if (!found) return
  const { item, before, actions } = found
  for (const path of new Set(actions.map(each => each.path)))
    for (const method of ['GET', 'HEAD', 'OPTIONS']) await trial.send(method, path, { as: item.as })
  const after = await trial.send('GET', item.path, { as: item.as })
  trial.expect(facts(before) === facts(after), 'safe methods perform no action', before, after)
}

/** RFC 9457 §3.1: what is wrong with a problem document; undefined for any other response. */
function findProblemFlaw(exchange: ProbeExchange): string | undefined {
  const { mediaType, reply, status, request } = exchange
  if (!/^application\/problem\+(?:json|xml)$/.test(mediaType) || reply.content.length === 0) return undefined
  if (request.method === 'HEAD' || exchange.fields['content-encoding'] !== undefined) return undefined
  if (mediaType.endsWith('json')) {
    const { status: said, title, type } = asRecord(exchange.json)
    if (exchange.json === undefined) return 'is not JSON'
    if (said !== undefined && said !== status) return `has the status ${JSON.stringify(said)}`
    if (title !== undefined && typeof title !== 'string') return 'has a title of another type than text'
    return type === undefined || URL.canParse(String(type), 'http://localhost/')
      ? undefined
      : 'has a type of another form than an address'
  }
  const document = parseXml(reply.content)
  if (document instanceof Malformed) return `is not well-formed: ${document.reason}`
  const said = document.root.elements().find(({ name }) => name.local === 'status')?.text
  return said === undefined || Number(said) === status ? undefined : `has the status ${said}`
}

/** One mismatch is shown of each operation and status. */
function judgeAnswers(trial: Trial): void {
  const { service, exchanges } = trial.bench
  const judged = exchanges.flatMap(exchange => {
    const found = findAnswerSchema(service, exchange)
    const { json, request, status } = exchange
    // Content of another type than it names is a matter of A1.6 and A4.18.
    if (!found || json === undefined) return []
    const wrong = findMismatch(service.openapi ?? {}, found.schema, json)
    return [{ exchange, wrong, answer: `${status} of ${request.method} ${found.path}` }]
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

/** Undefined: the description says nothing of this answer, or it is not of JSON. */
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
  const [subject = ''] = mediaType.split('/')
  const named = Object.keys(contents).find(each => essenceOf(each) === mediaType)
  const schema = memberAt(contents[named ?? ''] ?? contents[`${subject}/*`] ?? contents['*/*'], 'schema')
  return chosen && schema !== undefined ? { path: chosen.path, schema } : undefined
}

/** `application/json` of `application/json; charset=utf-8`. */
const essenceOf = (type: string): string => (type.split(';')[0] ?? '').trim().toLowerCase()

/** The client has chosen what an item leaves out. */
const selectsMembers = (target: string): boolean => /[?&](?:fields|select|\$select|_fields)=/.test(target)

const saysCaching = ({ fields }: ProbeExchange): boolean =>
  fields['cache-control'] !== undefined || fields['expires'] !== undefined

/** Before a hyphen, some of them are nouns: call-logs, list-prices, set-pieces. */
const verbPattern =
  /^(?:(?:get|create|update|delete|remove|do|fetch|execute|perform)(?:[A-Z_-]|$)|(?:add|set|run|list|make|call|cancel|send|process)(?:[A-Z]|_(?!logs?$)))/

export const isVendorType = (type: string): boolean => /^application\/vnd\..*\.?v[0-9]+.*\+json$/.test(type)

/** The media types of an operation's 200 in the description. */
export function listedTypes({ bench }: Trial, operation: Parameters<typeof memberAt>[0]): readonly string[] {
  const { openapi } = bench.service
  if (openapi === undefined) return []
  return Object.keys(asRecord(resolveSchema(openapi, memberAt(operation, 'responses', '200'))['content']))
}
