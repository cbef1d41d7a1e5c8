/** A7: each status, used as section 7.1 describes. */

import type { CreatedItem } from '../bench.ts'
import { type CollectionTarget, lastSegmentOf, pathBelow } from '../discovered-service.ts'
import { parametersOf, schemaOfContent } from '../discovery.ts'
import {
  absentPath,
  createTemporaryItem,
  currentMatch,
  findReadableTarget,
  listOffered,
  type OfferedAction,
  performSomeAction,
  postDraft,
  putNewItem,
  readAbsentItem,
  readSomeItem,
  sendAction,
  sendStaleChange,
} from '../materials.ts'
import { asArray, asRecord, type Json, memberAt } from '../probe-content.ts'
import { type ProbeExchange, requireUnreachable, Unreachable } from '../probe-message.ts'
import { encodeLoosely, findSender } from '../reading.ts'
import type { CheckRule } from '../rule.ts'
import { findMismatch } from '../schema-judge.ts'
import { resolveSchema } from '../schema-sample.ts'
import type { Trial } from '../trial.ts'
import { listRefusals, listRefusedChanges } from './access-rules.ts'

export const statusRules: readonly CheckRule[] = [
  {
    id: 'A7.1',
    says: '200: successful retrieval',
    how: 'every successful GET of the run, jobs apart, has 200, 204 or 206',
    isPassive: true,
    probe: (trial: Trial) => {
      const reads = trial.bench.exchanges.filter(
        ({ request, isSuccess }) => request.method === 'GET' && isSuccess && !/\/jobs\//.test(request.target),
      )
      const odd = reads.filter(({ status }) => ![200, 204, 206].includes(status))
      for (const each of odd)
        trial.expect(false, `GET of ${each.request.target} is a success with ${each.status}`, each)
      if (odd.length === 0 && reads.length > 0)
        trial.expect(true, `${reads.length} retrievals have 200`, ...reads.slice(0, 1))
    },
  },
  {
    id: 'A7.2',
    says: '201: resource created; Location header present',
    how: 'PUT at an unused address where the description says that it creates; every 201 that answers a POST has Location',
    isPassive: true,
    probe: async (trial: Trial) => {
      const created = trial.bench.exchanges.filter(
        ({ request, status }) => status === 201 && request.method === 'POST' && !isSoap(request.fields),
      )
      for (const each of created)
        trial.expect(each.fields['location'] !== undefined, `the 201 of ${each.request.target} has Location`, each)
      if (!trial.bench.options.allowChanges) return
      const put = await putNewItem(trial.bench)
      if (put) trial.expectStatus(put, [201], 'a PUT that creates')
    },
  },
  {
    id: 'A7.3',
    says: '202: accepted for processing, not necessarily complete; Location names the job',
    how: 'every 202 that answers a POST of style A has a Location that is an address',
    isPassive: true,
    probe: (trial: Trial) => {
      for (const each of trial.bench.exchanges.filter(
        ({ request, status }) => status === 202 && request.method === 'POST' && !isSoap(request.fields),
      ))
        trial.expect(
          URL.canParse(each.fields['location'] ?? 'http://', trial.bench.transport.origin),
          `the 202 of ${each.request.target} has a Location that is an address`,
          each,
        )
    },
  },
  {
    id: 'A7.4',
    says: '204: success with no body',
    how: 'every 204 of the run has neither content nor a length of it',
    isPassive: true,
    probe: (trial: Trial) => {
      for (const each of trial.bench.exchanges.filter(({ status }) => status === 204)) {
        const isEmpty = each.reply.content.length === 0 && (each.fields['content-length'] ?? '0') === '0'
        trial.expect(isEmpty, `the 204 of ${each.request.method} ${each.request.target} has no content`, each)
      }
    },
  },
  {
    id: 'A7.5',
    says: '301: resource moved permanently; Location names the new identifier',
    how: 'GET of the moved path of the profile; every 301 and 308 of the run has a Location',
    isPassive: true,
    probe: async (trial: Trial) => {
      const { moved } = trial.bench.profile
      if (moved !== undefined) {
        for (const as of [undefined, ...trial.bench.callers]) {
          const read = await trial.send('GET', moved, { as })
          if (read.status === 401 || read.status === 403) continue
          trial.expectStatus(read, [301], `GET of ${moved}`)
          break
        }
      }
      const found = trial.bench.exchanges.filter(({ status }) => status === 301 || status === 308)
      if (found.length === 0) trial.lack('an address that has moved: `moved` of the profile')
      for (const each of found)
        trial.expect(
          each.fields['location'] !== undefined,
          `the ${each.status} of ${each.request.target} has Location`,
          each,
        )
    },
  },
  {
    id: 'A7.6',
    says: '304: conditional GET matched; no body',
    how: 'every 304 of the run has no content, and the ETag, Cache-Control, Vary, Expires, Content-Location and Date that the 200 had (RFC 9110 §15.4.5); its ETag and Cache-Control are those of the 200 that its condition names',
    isPassive: true,
    probe: (trial: Trial) => {
      const found = trial.bench.exchanges.filter(({ status, request }) => status === 304 && request.method === 'GET')
      for (const each of found) {
        const full = trial.bench.exchanges.find(
          other =>
            other.status === 200 && other.request.target === each.request.target && other.request.method === 'GET',
        )
        trial.expect(each.reply.content.length === 0, '304 has no content', each)
        const missing = notModifiedFields.filter(
          name => full?.fields[name] !== undefined && each.fields[name] === undefined,
        )
        const named = trial.bench.exchanges.find(
          other => other.request.target === each.request.target && isSameRead(other, each),
        )
        const other =
          named &&
          lastingFields.find(
            name => each.fields[name] !== undefined && withoutNumbers(named, name) !== withoutNumbers(each, name),
          )
        if (other !== undefined) trial.expect(false, `${other} of a 304 is that of the 200`, named, each)
        trial.expect(
          missing.length === 0,
          missing.length === 0 ? '304 has the fields of the 200' : `304 lacks ${missing}`,
          each,
        )
      }
    },
  },
  {
    id: 'A7.7',
    says: '400: request malformed or invalid at request level',
    how: 'POST, PUT and PATCH of content that is not JSON; POST of null, an empty list, a text, no content and octets that are not UTF-8: none of them is answered as a fault of the service; over a socket, a request with two Host fields',
    probe: async (trial: Trial) => {
      if (trial.bench.options.allowChanges) {
        const { collection, as, path } = await createTemporaryItem(trial.bench)
        const posted = await postDraft(trial.bench, collection, {
          as,
          content: '{"',
          fields: { 'content-type': 'application/json' },
        })
        trial.expectStatus(posted, [400], 'content that is not JSON')
        for (const [subject, content] of oddContents) {
          const odd = await postDraft(trial.bench, collection, {
            as,
            content,
            fields: { 'content-type': 'application/json' },
          })
          const isTaken = odd.status < 500
          trial.expect(isTaken, `POST of ${subject} is answered${isTaken ? ' ' : ' 4xx, not '}${odd.status}`, odd)
        }
        for (const method of ['PUT', 'PATCH'] as const) {
          if (!collection.itemPath?.operations[method]) continue
          const type = method === 'PUT' ? 'application/json' : 'application/merge-patch+json'
          const fields = { 'content-type': type, ...(await currentMatch(trial.bench, path, as)) }
          const exchange = await trial.send(method, path, { as, content: '{"', fields })
          const isRefused = exchange.status >= 400 && exchange.status < 500
          trial.expect(
            isRefused,
            `${method} of what is not JSON is answered 4xx${isRefused ? '' : `, not ${exchange.status}`}`,
            exchange,
          )
        }
      }
      if (trial.bench.transport.sendOctets) {
        const twice = await trial.bench.sendOctets(
          `GET ${trial.bench.service.basePath} HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\nConnection: close\r\n\r\n`,
        )
        trial.expectStatus(twice, [400], 'a request with two Host fields')
      }
    },
  },
  {
    id: 'A7.8',
    says: '401: authentication required or failed',
    how: 'every 401 of the run has WWW-Authenticate (RFC 9110 §15.5.2)',
    isPassive: true,
    probe: (trial: Trial) => {
      const found = trial.bench.exchanges.filter(({ status }) => status === 401)
      for (const each of found)
        trial.expect(
          each.fields['www-authenticate'] !== undefined,
          `the 401 of ${each.request.target} has WWW-Authenticate`,
          each,
        )
    },
  },
  {
    id: 'A7.9',
    says: '403: request understood but refused',
    how: 'POST by an authenticated caller without the right to it is answered 403, not 401; so are PUT, PATCH and DELETE of an item that this caller may read, and not everyone',
    probe: async (trial: Trial) => {
      const refused = [...(await listRefusals(trial)), ...(await listRefusedChanges(trial))]
      if (refused.length === 0) trial.lack('a caller with fewer rights than another: --caller')
      for (const each of refused)
        trial.expectStatus(each, [403], `the ${each.request.method} of a known caller that may not`)
    },
  },
  {
    id: 'A7.10',
    says: '404: target resource does not exist',
    how: 'GET of a path that leads to nothing, and POST to it, which is refused; GET of an item that does not exist, with an identifier of the described form; PUT and PATCH of an item that was removed, which succeed or are refused for that reason',
    probe: async (trial: Trial) => {
      await expectAbsentItem(trial)
      if (trial.bench.options.allowChanges) await expectChangesOfAbsent(trial)
      for (const as of [undefined, ...trial.bench.callers]) {
        const read = await trial.send('GET', absentPath(trial.bench), { as })
        if (read.status === 401 || read.status === 403) continue
        return trial.expectStatus(read, [404], 'GET of an unknown path')
      }
      trial.lack('a caller that is told whether a path exists: --caller')
    },
  },
  {
    id: 'A7.11',
    says: '409: conflict with current resource state',
    how: 'an action on an item whose state no longer offers it, the one that was performed or another: it has no effect',
    probe: async (trial: Trial) => {
      const { acted, item, as, action, before: first } = await performSomeAction(trial.bench)
      if (!acted.isSuccess) trial.lack(`an action that succeeds once: ${action.rel} was answered ${acted.status}`)
      for (const spent of await listSpentActions(trial, item, first, action)) {
        const before = await trial.send('GET', item.path, { as })
        const { acted: again } = await sendAction(trial.bench, spent, as)
        if (again.isSuccess) continue
        trial.expectStatus(again, [409], `${spent.rel} in a state that does not offer it`)
        return await expectNoEffect(trial, before, again)
      }
      trial.skip(`the state still takes all that it offered before ${action.rel}`)
    },
  },
  {
    id: 'A7.12',
    says: '412: precondition (If-Match) failed; preferred for optimistic concurrency',
    how: 'PUT of an existing item with If-None-Match: *',
    probe: async (trial: Trial) => {
      const item = await createTemporaryItem(trial.bench)
      if (!item.collection.itemPath?.operations['PUT']) trial.skip('the description has no PUT of an item')
      const put = await trial.send('PUT', item.path, {
        as: item.as,
        json: item.draft,
        fields: { 'if-none-match': '*' },
      })
      trial.requireAllowed(put)
      trial.expectStatus(put, [412], 'PUT of an existing item with If-None-Match: *')
    },
  },
  {
    id: 'A7.13',
    says: '422: syntactically valid but semantically unprocessable content',
    how: 'POST of a copy of an item in which a member has a value of the wrong type, and of one without a required member; PUT and PATCH of such a value: they have no effect',
    probe: async (trial: Trial) => {
      const item = await createTemporaryItem(trial.bench)
      const { collection, as, draft } = item
      const [name] = Object.keys(asRecord(draft))
      if (name === undefined) trial.lack('content with a member')
      const broken: Json = { ...asRecord(draft), [name]: { unexpected: true } }
      trial.expectStatus(
        await postDraft(trial.bench, collection, { as, json: broken }),
        [422],
        'content that breaks the schema',
      )
      for (const method of ['PUT', 'PATCH'] as const) {
        if (!collection.itemPath?.operations[method]) continue
        const type = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
        const fields = { ...type, ...(await currentMatch(trial.bench, item.path, as)) }
        const json = method === 'PUT' ? broken : { [name]: { unexpected: true } }
        const before = await trial.send('GET', item.path, { as })
        const answer = await trial.send(method, item.path, { as, json, fields })
        if ([401, 403, 405, 415].includes(answer.status)) continue
        trial.expectStatus(answer, [422], `${method} of content that breaks the schema`)
        if (!answer.isSuccess) await expectNoEffect(trial, before, answer)
      }
      const required = listRequiredMembers(trial, collection).find(each => Object.hasOwn(asRecord(draft), each))
      if (required === undefined) return
      const { [required]: _, ...lacking } = asRecord(draft)
      const posted = await postDraft(trial.bench, collection, { as, json: lacking })
      trial.expectStatus(posted, [422, 400], `content without ${required}, which is required,`)
    },
  },
  {
    id: 'A7.14',
    says: '429: too many requests; Retry-After header',
    how: 'every 429 of the run has a problem document with its status',
    isPassive: true,
    probe: (trial: Trial) => {
      const found = trial.bench.exchanges.filter(({ status }) => status === 429)
      if (found.length === 0) trial.lack('a 429: `limit` of the profile names a request with a small limit')
      for (const each of found)
        trial.expect(each.mediaType.startsWith('application/problem+'), 'a 429 has a problem document', each)
    },
  },
  {
    id: 'A7.15',
    says: '500: server failure',
    how: 'no error of the run shows internals of the program; an unknown method is answered 501 or 405',
    isPassive: true,
    probe: async (trial: Trial) => {
      const found = await findReadableTarget(trial.bench)
      if (found)
        trial.expectStatus(await trial.send('BREW', found.path, { as: found.as }), [501, 405, 400], 'an unknown method')
      for (const each of trial.bench.exchanges.filter(({ status }) => status >= 400)) {
        const inside = insidePattern.exec(each.text)?.[0]
        if (inside !== undefined) trial.expect(false, `a ${each.status} shows "${inside.trim()}"`, each)
        else if (each.status >= 500) trial.expect(true, `a ${each.status} shows nothing of the inside`, each)
      }
    },
  },
  {
    id: 'A7.16',
    says: '503: temporary unavailability; may carry Retry-After',
    how: 'every 503 of the run has Retry-After or a problem document, and no cache may keep it (RFC 9111 §3)',
    isPassive: true,
    probe: (trial: Trial) => {
      const found = trial.bench.exchanges.filter(({ status }) => status === 503)
      if (found.length === 0) trial.lack('an overload, which a check does not cause')
      for (const each of found) {
        trial.expect(
          each.fields['retry-after'] !== undefined || each.mediaType.startsWith('application/problem+'),
          'a 503 says when to retry',
          each,
        )
        const isKept = /(?:max-age|s-maxage)=0*[1-9]/i.test(each.fields['cache-control'] ?? '')
        trial.expect(!isKept, 'a 503 is not kept by caches', each)
      }
    },
  },
  {
    id: 'A7.17',
    says: 'a malformed request (400) is distinguished from one that breaks a domain rule (422, 409)',
    how: 'an invalid JSON Patch, and a JSON Patch whose test fails, are answered differently',
    probe: async (trial: Trial) => {
      const item = await createTemporaryItem(trial.bench)
      if (!item.collection.itemPath?.operations['PATCH']) trial.skip('the description has no PATCH of an item')
      const patched = async (json: Json): Promise<ProbeExchange> => {
        const match = await currentMatch(trial.bench, item.path, item.as)
        return trial.send('PATCH', item.path, {
          as: item.as,
          json,
          fields: { 'content-type': 'application/json-patch+json', ...match },
        })
      }
      const malformed = await patched([{ op: 'no-such-operation', path: '/' }])
      trial.requireAllowed(malformed)
      if (malformed.status === 415) trial.skip('the service has no JSON Patch')
      const [name = 'id'] = Object.keys(asRecord(item.draft))
      const broken = await patched([{ op: 'test', path: `/${name}`, value: 'no such value 7f3a' }])
      trial.expect(malformed.status >= 400 && broken.status >= 400, 'both are errors', malformed, broken)
      trial.expect(
        malformed.status !== broken.status,
        'a malformed request and a broken rule have two statuses',
        malformed,
        broken,
      )
    },
  },
  {
    id: 'A7.18',
    says: 'a missing resource (404) is distinguished from a crash (500)',
    how: 'GET of items with identifiers, and of their collection with values of its parameters, that often make programs fail: none is answered 500',
    probe: async (trial: Trial) => {
      const { collection, as } = await readSomeItem(trial.bench)
      for (const id of oddIdentifiers) {
        const read = await trial.send('GET', pathBelow(collection.path, id), { as }).catch(requireUnreachable)
        const subject = `the identifier ${id.slice(0, 20)} is answered 4xx`
        if (read instanceof Unreachable) {
          trial.expect(false, `${subject}: ${read.message}`)
          continue
        }
        // A redirect to the normal form of an address is not a crash.
        const isFound = read.status >= 300 && read.status < 500
        trial.expect(isFound, `${subject}${isFound ? '' : `, not ${read.status}`}`, read)
      }
      await askOddQueries(trial, collection)
    },
  },
]

/** @param before the item, as the caller of the refused request has read it */
async function expectNoEffect(trial: Trial, before: ProbeExchange, refused: ProbeExchange): Promise<void> {
  const as = findSender(trial.bench, before)
  const after = await trial.send('GET', before.request.target, { as })
  const isSame = after.text === before.text
  trial.expect(isSame, `a ${refused.request.method} that is refused has no effect`, before, refused, after)
}

/** What an item offered before an action but not after it; first the action itself. */
async function listSpentActions(
  trial: Trial,
  item: CreatedItem,
  before: ProbeExchange,
  performed: OfferedAction,
): Promise<readonly OfferedAction[]> {
  const after = await trial.send('GET', item.path, { as: findSender(trial.bench, before) })
  const offered = listOffered(trial.bench, item, after).map(({ path }) => path)
  const others = listOffered(trial.bench, item, before).filter(({ path }) => !offered.includes(path))
  return [performed, ...others.filter(({ path }) => path !== performed.path)]
}

/** The identifier has the described form. A1.10 judges whether the response is a problem. */
async function expectAbsentItem(trial: Trial): Promise<void> {
  const { collection } = await readSomeItem(trial.bench)
  const read = await readAbsentItem(trial.bench)
  const { openapi } = trial.bench.service
  const parameters = parametersOf(openapi, collection.itemPath?.operations['GET'])
  const schema = parameters.find(each => each['in'] === 'path')?.['schema']
  const identifier = lastSegmentOf(read.request.target)
  if (openapi === undefined || schema === undefined || read.isSuccess || read.status === 401 || read.status === 403)
    return
  if (findMismatch(openapi, schema, identifier) === undefined)
    trial.expectStatus(read, [404, 410], 'GET of an item that does not exist')
}

/** A PUT or PATCH may create the item again (RFC 9110 §9.3.4, RFC 5789 §2). */
async function expectChangesOfAbsent(trial: Trial): Promise<void> {
  const { bench } = trial
  if (bench.mayChange(absentPath(bench))) {
    const posted = await trial.send('POST', absentPath(bench), { as: bench.callers[0], json: {} })
    // A redirect to the normal form of an address creates nothing.
    const isRefused = (posted.status >= 300 && posted.status < 500) || posted.status === 501
    trial.expect(isRefused, `POST to an unknown path is refused${isRefused ? '' : `, not ${posted.status}`}`, posted)
  }
  const item = await createTemporaryItem(bench)
  const { 'if-match': tag } = await currentMatch(bench, item.path, item.as)
  const fields = tag === undefined ? {} : { 'if-match': tag }
  if (!(await trial.send('DELETE', item.path, { as: item.as, fields })).isSuccess) return
  for (const method of ['PUT', 'PATCH']) {
    if (!item.collection.itemPath?.operations[method]) continue
    const answer = await sendStaleChange(trial, item, method, item.as, tag)
    const isProper = answer.isSuccess || absentStatuses.includes(answer.status)
    trial.expect(
      isProper,
      `${method} of what was removed is${isProper ? '' : ` not`} answered ${answer.status}`,
      answer,
    )
  }
}
/** The caller may not be allowed to know, or the method not be allowed. */
const absentStatuses = [404, 410, 409, 412, 401, 403, 405, 415, 428]

/** The members that the description requires in a new item, as far as one schema says so. */
function listRequiredMembers({ bench }: Trial, { operations }: CollectionTarget): readonly string[] {
  const { openapi } = bench.service
  const schema = openapi && schemaOfContent(openapi, memberAt(operations['POST'], 'requestBody'))
  return schema ? asArray(resolveSchema(openapi, schema)['required']).map(String) : []
}

const oddContents: readonly (readonly [subject: string, content: string | Uint8Array])[] = [
  ['null', 'null'],
  ['an empty list', '[]'],
  ['a text', '"probe"'],
  ['no content', ''],
  ['octets that are no UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
]

const notModifiedFields = ['etag', 'cache-control', 'vary', 'expires', 'content-location', 'date']
const lastingFields = ['etag', 'cache-control'] as const
/** A number of seconds may decrease over time. */
const withoutNumbers = ({ fields }: ProbeExchange, name: (typeof lastingFields)[number]): string | undefined =>
  name === 'cache-control' ? fields[name]?.replaceAll(/\d+/g, '') : fields[name]

/** The latest state may be another one: only what the condition named counts. */
const isSameRead = (full: ProbeExchange, conditional: ProbeExchange): boolean =>
  full.status === 200 &&
  full.request.method === 'GET' &&
  full.fields['etag'] !== undefined &&
  full.request.fields['authorization'] === conditional.request.fields['authorization'] &&
  conditional.request.fields['if-none-match'] === full.fields['etag'] &&
  full.request.fields['accept'] === conditional.request.fields['accept']

async function askOddQueries(trial: Trial, { path, operations, reader: as }: CollectionTarget): Promise<void> {
  const parameters = parametersOf(trial.bench.service.openapi, operations['GET'])
  for (const { name } of parameters.filter(each => each['in'] === 'query'))
    for (const value of ['-1', "'%22%00"]) {
      const read = await trial
        .send('GET', `${path}?${encodeLoosely(String(name))}=${value}`, { as })
        .catch(requireUnreachable)
      const subject = `${name}=${value} is answered`
      if (read instanceof Unreachable) trial.expect(false, `${subject}: ${read.message}`)
      else trial.expect(read.status < 500, `${subject} ${read.status}`, read)
    }
}

const oddIdentifiers = [
  '%27%22%3B--',
  '%00',
  '__proto__',
  'constructor',
  '9'.repeat(40),
  '%F0%9F%98%80',
  '%E0%80',
  'a'.repeat(2000),
]
const insidePattern =
  /\bat [\w.<>]+ \(.*:\d+:\d+\)|Traceback \(most recent|\b(?:java|org|com)\.[\w.]+\([\w]+\.java:\d+\)|\bSQLSTATE\b|\.(?:ts|js|py|php|rb):\d+/

const isSoap = (fields: ProbeExchange['request']['fields']): boolean =>
  /xml|multipart/.test(fields['content-type'] ?? '')
