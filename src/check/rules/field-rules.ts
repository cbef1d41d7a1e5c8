/** A4.17–A4.25: the meaning of fields in requests and responses. */

import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { CreatedItem } from '../bench.ts'
import type { CheckCaller, CollectionTarget } from '../discovered-service.ts'
import { parametersOf } from '../discovery.ts'
import {
  changeMember,
  createTemporaryItem,
  currentMatch,
  postDraft,
  readGuardedItem,
  readSomeItem,
  sendStaleChange,
  startSomeJob,
} from '../materials.ts'
import { asRecord, asText, itemsOf, memberAt, type ProbedRecord, sameJson } from '../probe-content.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { encodeLoosely, findSender, toPath } from '../reading.ts'
import type { CheckRule } from '../rule.ts'
import type { Trial } from '../trial.ts'
import {
  allowsSharing,
  clockMs,
  expectConditionalList,
  expectOneContentByTag,
  expectSoundFields,
  expectVary,
  readItemAgain,
} from './caching-checks.ts'
import { listedTypes } from './interface-rules.ts'
import { checkQueries } from './query-checks.ts'

const decoders: Readonly<Record<string, (octets: Uint8Array) => Uint8Array>> = {
  __proto__: null as never,
  gzip: octets => gunzipSync(octets),
  br: octets => brotliDecompressSync(octets),
  deflate: octets => inflateSync(octets),
}

export const fieldRules: readonly CheckRule[] = [
  {
    id: 'A4.17',
    says: 'Accept and Content-Type choose and name the media type; 406 and 415 where they can’t be met',
    how: 'GET of an item with a type that does not exist, alone and next to any type, with qualities in either order, and with a quality of zero, and of its collection with the first; POST and PUT of content of an unknown type, and PUT of JSON with a charset and in other letters, which is the same type',
    probe: async (trial: Trial) => {
      const { path, as, collection } = await readSomeItem(trial.bench)
      const never = await trial.send('GET', path, { as, fields: { accept: 'application/x-no-such-type' } })
      trial.expectStatus(never, [406], 'Accept with an unknown type alone')
      const list = { as: collection.reader, fields: { accept: 'application/x-no-such-type' } }
      const listed = await trial.send('GET', collection.path, list)
      trial.expectStatus(listed, [406], `Accept of ${collection.path} with an unknown type alone`)
      const any = `application/x-no-such-type, ${anyType};q=0.1`
      trial.expectStatus(await trial.send('GET', path, { as, fields: { accept: any } }), [200], `Accept: ${any}`)
      const [one, two] = listedTypes(trial, collection.itemPath?.operations['GET']).filter(each =>
        /^application\/(?:json|xml)$|^text\/html$/.test(each),
      )
      if (one !== undefined && two !== undefined) {
        for (const accept of [`${one};q=0.2, ${two};q=0.8`, `${two};q=0.8, ${one};q=0.2`, `${one};q=0, ${two}`]) {
          const chosen = await trial.send('GET', path, { as, fields: { accept } })
          trial.expect(chosen.mediaType === two, `Accept: ${accept} gives ${two}`, chosen)
        }
      }
      if (!trial.bench.options.allowChanges) return
      const { collection: writable, as: maker, path: made, draft } = await createTemporaryItem(trial.bench)
      const fields = { 'content-type': 'application/x-no-such-type' }
      const refused = await postDraft(trial.bench, writable, { as: maker, fields, content: 'probe' })
      trial.expectStatus(refused, [415], 'content of an unknown type')
      if (!writable.itemPath?.operations['PUT']) return
      const match = await currentMatch(trial.bench, made, maker)
      const put = await trial.send('PUT', made, { as: maker, content: 'probe', fields: { ...fields, ...match } })
      if (put.status === 401 || put.status === 403) return
      trial.expectStatus(put, [415], 'PUT of content of an unknown type')
      // RFC 9110 §8.3.1: types are case-insensitive; RFC 8259 §11: a charset has no effect.
      const spelled = { ...(await currentMatch(trial.bench, made, maker)), 'content-type': 'Application/JSON; charset=utf-8' } // biome-ignore format: one row
      const known = await trial.send('PUT', made, { as: maker, json: draft, fields: spelled })
      trial.expect(known.status !== 415, 'PUT of Application/JSON; charset=utf-8 is not answered 415', known)
    },
  },
  {
    id: 'A4.18',
    says: 'Accept-Encoding is honoured',
    how: 'GET of a large representation with gzip, with br, with identity and with gzip;q=0: the coding is named, is one of those, gives the same octets, and Vary names Accept-Encoding',
    probe: async (trial: Trial) => {
      const large = [...trial.bench.service.collections].sort(
        (a, b) => b.list.reply.content.length - a.list.reply.content.length,
      )[0]
      if (!large) trial.lack('a collection')
      const plain = await trial.send('GET', large.path, { as: large.reader, fields: { 'accept-encoding': 'identity' } })
      trial.expect(plain.fields['content-encoding'] === undefined, 'identity gives no coding', plain)
      for (const coding of ['gzip', 'br']) {
        const coded = await trial.send('GET', large.path, { as: large.reader, fields: { 'accept-encoding': coding } })
        const usedCoding = coded.fields['content-encoding']
        trial.expect(
          usedCoding === undefined || usedCoding === coding,
          `Accept-Encoding: ${coding} gives no other coding`,
          coded,
        )
        const text = decodeCoded(coded.reply.content, usedCoding)
        trial.expect(text === plain.text, `${coding} gives the same representation`, plain, coded)
        if (usedCoding === undefined) continue
        const isVaried = /(?:^|,)\s*(?:accept-encoding|\*)\s*(?:,|$)/i.test(coded.fields['vary'] ?? '')
        trial.expect(isVaried, `Vary of a response in ${usedCoding} names Accept-Encoding`, coded)
      }
      const refused = { 'accept-encoding': 'gzip;q=0' }
      const without = await trial.send('GET', large.path, { as: large.reader, fields: refused })
      trial.expect(without.fields['content-encoding'] !== 'gzip', 'gzip;q=0 gives no gzip', without)
    },
  },
  {
    id: 'A4.19',
    says: 'Cache-Control, ETag, Last-Modified, Vary, Expires, Age are right for the selected representation',
    how: 'entity tags of an item in two media types differ and Vary names Accept, and any other field by which responses differ; If-Modified-Since with Last-Modified is answered 304, and 200 with a date of 1994; a collection is answered 304 to its entity tag; what needed credentials is not for shared caches; another content of an item has another entity tag, and that of one media type does not stand for another; an unchanged item has the same validators later, and Date advances; of all exchanges, ETag, Date, Last-Modified, Expires, Age and max-age have the forms of HTTP and agree, and a strong entity tag stands for one content',
    isPassive: true,
    probe: async (trial: Trial) => {
      const item = await readSomeItem(trial.bench)
      const { path, as, collection, read } = item
      const modified = read.fields['last-modified']
      if (modified !== undefined) {
        const again = await trial.send('GET', path, { as, fields: { 'if-modified-since': modified } })
        trial.expectStatus(again, [304], 'If-Modified-Since with Last-Modified')
        const isDate = Number.isFinite(Date.parse(modified)) && /GMT$/.test(modified)
        trial.expect(isDate && Date.parse(modified) <= Date.now() + clockMs, 'Last-Modified is a date, not ahead', read)
        const old = await trial.send('GET', path, {
          as,
          fields: { 'if-modified-since': 'Sat, 29 Oct 1994 19:43:31 GMT' },
        })
        trial.expectStatus(old, [200], 'If-Modified-Since of 1994')
      }
      const [one, two] = await readInTwoTypes(
        trial,
        path,
        as,
        listedTypes(trial, collection.itemPath?.operations['GET']),
      )
      if (one && two) {
        const differ = one.fields['etag'] === undefined || one.fields['etag'] !== two.fields['etag']
        trial.expect(differ, 'two media types have two entity tags', one, two)
        if (differ) await expectOtherTag(trial, one, two)
        trial.expect(/(?:^|,)\s*(?:accept|\*)\s*(?:,|$)/i.test(one.fields['vary'] ?? ''), 'Vary names Accept', one)
      }
      const guarded = await readGuardedItem(trial.bench).catch(() => undefined)
      if (guarded)
        trial.expect(
          !allowsSharing(guarded.read.fields),
          'what needed credentials is not for shared caches',
          guarded.read,
        )
      if (trial.bench.options.allowChanges) await expectNewTag(trial)
      for (const each of trial.bench.service.collections) await expectConditionalList(trial, each)
      await expectVary(trial, item)
      await readItemAgain(trial, item)
      expectSoundFields(trial)
      expectOneContentByTag(trial)
    },
  },
  {
    id: 'A4.20',
    says: 'If-Match on a change → 412 when the validator no longer matches',
    how: 'PUT or PATCH of a new item with an entity tag that it never had, and DELETE with the same, as far as it has these methods, and all of them with its own tag as a weak one, which never matches: the item is as it was; with its own tag in a list, a change is made; PUT of what was removed with If-Match: * is refused',
    probe: async (trial: Trial) => {
      const item = await createTemporaryItem(trial.bench)
      const operations = item.collection.itemPath?.operations ?? {}
      const changing = operations['PUT'] ? (['PUT', ...(operations['PATCH'] ? ['PATCH'] : [])] as const) : ['PATCH']
      const before = await trial.send('GET', item.path, { as: item.as })
      let tried = 0
      for (const method of [...changing, 'DELETE'])
        for (const { tag, subject } of listOtherTags(before)) {
          const answer = await sendStaleChange(trial, item, method, item.as, tag)
          if ([401, 403, 405].includes(answer.status) || (method === 'PATCH' && answer.status === 415)) break
          tried += 1
          trial.expectStatus(answer, [412], `${method} with ${subject}`)
          const after = await trial.send('GET', item.path, { as: item.as })
          trial.expect(after.text === before.text, `a refused ${method} has no effect`, before, answer, after)
          if (answer.status !== 412) break
        }
      if (tried === 0) trial.lack('an item that may be changed or removed')
      await expectListedTag(trial, item, changing[0] ?? 'PATCH')
      if (operations['PUT']) await expectRemovedForGood(trial, item)
    },
  },
  {
    id: 'A4.21',
    says: 'Location names a created resource or a job',
    how: 'GET of the Location of a new item gives the item; that of a new job gives the job',
    probe: async (trial: Trial) => {
      const { created, as, path } = await createTemporaryItem(trial.bench)
      const item = created.fields['location']
      if (item !== undefined) {
        const at = toPath(trial.bench, item, created.request.target)
        const read = at === undefined ? undefined : await trial.send('GET', at, { as })
        const isIt = read?.status === 200 && sameIdentity(read, await trial.send('GET', path, { as }))
        trial.expect(isIt, `Location ${item} is the created item`, created, read)
      }
      const job = await startSomeJob(trial.bench).catch(() => undefined)
      if (job?.location === undefined) return
      const read = await trial.send('GET', job.location, { as: job.as })
      trial.expect(read.isSuccess || read.status === 303, 'Location leads to the job', job.posted, read)
    },
  },
  {
    id: 'A4.22',
    says: 'Retry-After accompanies 429 and 503',
    how: 'every 429 and 503 of the run',
    isPassive: true,
    probe: (trial: Trial) => {
      const busy = trial.bench.exchanges.filter(({ status }) => status === 429 || status === 503)
      if (busy.length === 0) trial.lack('a 429 or a 503: `limit` of the profile names a request with a small limit')
      for (const each of busy)
        trial.expect(
          /^(?:[0-9]+|[A-Z][a-z]{2}, .* GMT)$/.test(each.fields['retry-after'] ?? ''),
          `a ${each.status} has Retry-After`,
          each,
        )
    },
  },
  {
    id: 'A4.23',
    says: 'filtering and sorting are query parameters of the collection URI',
    how: 'a parameter that is named as a member of the items selects by its value, alone, with a second one and on the next page; `sort` orders by a member, in both directions if the description says how',
    probe: async (trial: Trial) => {
      for (const collection of trial.bench.service.collections) if (await checkQueries(trial, collection)) return
      trial.skip('no collection has a parameter that is named as a member of its items')
    },
  },
  {
    id: 'A4.24',
    says: 'a field-selection query parameter gives a partial representation',
    how: 'GET of an item with `fields` and the name of one member, and of two if the description allows commas: no other member is in the content; the same for its collection, if that has the parameter',
    probe: async (trial: Trial) => {
      const { path, as, collection, read } = await readSomeItem(trial.bench)
      const parameters = parametersOf(trial.bench.service.openapi, collection.itemPath?.operations['GET'])
      const parameter = parameters.find(each => each['name'] === 'fields' || each['name'] === 'select')
      if (!parameter) trial.skip('the description has no fields parameter')
      const [name = 'id', second] = Object.keys(asRecord(read.json)).filter(each => !each.startsWith('_'))
      const selections = second !== undefined && isCommaList(parameter) ? [[name], [name, second]] : [[name]]
      for (const selection of selections) {
        const query = `${parameter['name']}=${selection.map(encodeLoosely).join(',')}`
        const partial = await trial.send('GET', `${path}?${query}`, { as })
        // An additional identifier says which item it is.
        const members = Object.keys(asRecord(partial.json)).filter(
          each => !each.startsWith('_') && (selection.includes(each) || each !== 'id'),
        )
        const isSelected = sameJson(members.toSorted(), selection.toSorted())
        trial.expect(isSelected, `${query} gives ${selection.join(' and ')} alone`, partial)
      }
      await expectPartialItems(trial, collection, name)
    },
  },
  {
    id: 'A4.25',
    says: 'persistent connections and multiplexing create no application state',
    how: 'on one kept connection, a request without credentials after one with them is answered as on a new connection',
    probe: async (trial: Trial) => {
      const { path, as } = await readGuardedItem(trial.bench)
      // The connection with another request knows nothing about the request before.
      await trial.send('GET', trial.bench.service.basePath, { ownConnection: true })
      const alone = await trial.send('GET', path, { ownConnection: true })
      await trial.send('GET', path, { as })
      const after = await trial.send('GET', path)
      trial.expect(
        alone.status === after.status,
        'credentials of a request do not stay with the connection',
        alone,
        after,
      )
    },
  },
]

const anyType = '*/*'

/** RFC 9110 §13.1.2: the condition is about the selected representation. */
async function expectOtherTag(trial: Trial, one: ProbeExchange, two: ProbeExchange): Promise<void> {
  const [tag, accept = ''] = [one.fields['etag'], two.request.fields['accept']]
  if (tag === undefined) return
  const fields = { accept, 'if-none-match': tag }
  const read = await trial.send('GET', two.request.target, { as: findSender(trial.bench, two), fields })
  trial.expectStatus(read, [200], `GET of ${two.mediaType} with the entity tag of ${one.mediaType}`)
}

/** RFC 9110 §13.1.1: tags that do not match, among them a weak one, by the strong comparison. */
function listOtherTags({ fields }: ProbeExchange): readonly { readonly tag: string; readonly subject: string }[] {
  const own = fields['etag']
  return [
    { tag: '"no-such-version"', subject: 'a validator that does not match' },
    ...(own?.startsWith('"') ? [{ tag: `W/${own}`, subject: 'its own validator as a weak one' }] : []),
  ]
}

async function expectPartialItems(
  trial: Trial,
  { path, operations, reader: as }: CollectionTarget,
  name: string,
): Promise<void> {
  const parameters = parametersOf(trial.bench.service.openapi, operations['GET'])
  const parameter = parameters.find(each => each['name'] === 'fields' || each['name'] === 'select')
  if (!parameter) return
  const query = `${parameter['name']}=${encodeLoosely(name)}`
  const partial = await trial.send('GET', `${path}?${query}`, { as })
  const others = (itemsOf(partial.json) ?? [])
    .flatMap(item => Object.keys(asRecord(item)))
    .filter(each => each !== name && each !== 'id' && !each.startsWith('_'))
  const isSelected = partial.isSuccess && others.length === 0
  trial.expect(isSelected, `${query} of ${path} gives ${name} alone`, partial)
}

/** RFC 9110 §13.1.1: the condition holds if any listed tag matches; a weak one never does. */
async function expectListedTag(trial: Trial, item: CreatedItem, method: string): Promise<void> {
  const { 'if-match': etag } = await currentMatch(trial.bench, item.path, item.as)
  if (!etag?.startsWith('"') || method !== 'PUT' || !item.collection.itemPath?.operations['PUT']) return
  const fields = { 'if-match': `"no-such-version", ${etag}` }
  const put = await trial.send('PUT', item.path, { as: item.as, json: item.draft, fields })
  if (put.status === 401 || put.status === 403) return
  trial.expect(put.status !== 412, 'If-Match with a list that has the entity tag holds', put)
}

/** RFC 9110 §13.1.1: `*` is false where nothing exists. */
async function expectRemovedForGood(trial: Trial, item: CreatedItem): Promise<void> {
  const fields = await currentMatch(trial.bench, item.path, item.as)
  const removed = await trial.send('DELETE', item.path, { as: item.as, fields })
  const after = await trial.send('GET', item.path, { as: item.as })
  if (!removed.isSuccess || after.isSuccess) return
  const put = await sendStaleChange(trial, item, 'PUT', item.as, '*')
  trial.expect(!put.isSuccess, 'PUT of what was removed with If-Match: * is refused', removed, put)
}

/** The tag of one state differs from that of another (RFC 9110 §8.8.1). */
async function expectNewTag(trial: Trial): Promise<void> {
  const item = await createTemporaryItem(trial.bench)
  const method = item.collection.itemPath?.operations['PUT'] ? 'PUT' : 'PATCH'
  const made = await changeMember(trial.bench, item, method)
  const [before, after] = [made?.before.fields['etag'], made?.after.fields['etag']]
  if (!made || before === undefined || made.before.text === made.after.text) return
  trial.expect(before !== after, 'another content has another entity tag', made.before, made.changed, made.after)
}

/** Stated in words, or in OpenAPI (§4.8.12.2: `explode: false`). */
const isCommaList = (parameter: ProbedRecord): boolean =>
  /comma/i.test(asText(parameter['description']) ?? '') ||
  (parameter['explode'] === false && asRecord(parameter['schema'])['type'] === 'array')

/** Undefined: the coding is unknown, or the octets do not match it. */
function decodeCoded(octets: Uint8Array, coding: string | undefined): string | undefined {
  const decode = coding === undefined ? (given: Uint8Array) => given : decoders[coding]
  try {
    return decode && new TextDecoder().decode(decode(octets))
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown) return undefined // errors of zlib have a code
    throw thrown
  }
}

async function readInTwoTypes(
  trial: Trial,
  path: string,
  as: CheckCaller | undefined,
  types: readonly string[],
): Promise<readonly ProbeExchange[]> {
  const [one = 'application/json', two = 'application/xml'] = types.filter(each =>
    /^application\/(?:json|xml)$|^text\/html$/.test(each),
  )
  const reads = [
    await trial.send('GET', path, { as, fields: { accept: one } }),
    await trial.send('GET', path, { as, fields: { accept: two } }),
  ]
  const mediaTypes = new Set(reads.map(({ mediaType }) => mediaType))
  return mediaTypes.size === 2 && reads.every(({ status }) => status === 200) ? reads : []
}

const sameIdentity = (one: ProbeExchange, other: ProbeExchange): boolean =>
  one.text === other.text ||
  (one.json !== undefined &&
    sameJson(memberAt(one.json, 'id'), memberAt(other.json, 'id')) &&
    memberAt(one.json, 'id') !== undefined)
