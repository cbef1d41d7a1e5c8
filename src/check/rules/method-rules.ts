/** A4.1–A4.11: methods on collections, items and their parts. */

import { writePointer } from '../../http/json-pointer.ts'
import type { Bench, CreatedItem } from '../bench.ts'
import { type CheckCaller, lastSegmentOf } from '../discovered-service.ts'
import {
  type ChangedMember,
  changeMember,
  createActionItem,
  createTemporaryItem,
  currentMatch,
  isOfMadeContent,
  isOfTemplate,
  performAction,
  performSomeAction,
  readAbsentItem,
  readSomeItem,
  startSomeJob,
} from '../materials.ts'
import { asRecord, itemsOf, type Json, linkIn, linksIn, memberAt, namesOnPage, sameJson } from '../probe-content.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { findSender, listNextPages, toPath } from '../reading.ts'
import type { CheckRule } from '../rule.ts'
import type { Trial } from '../trial.ts'
import { listedTypes } from './interface-rules.ts'

const pagesMax = 60

export const methodRules: readonly CheckRule[] = [
  {
    id: 'A4.1',
    says: 'GET collection → 200, with next and previous links where paged',
    how: 'the next links of each collection are followed to their end: each page is answered 200, no item occurs twice, and the last page links back',
    probe: async (trial: Trial) => {
      const { collections } = trial.bench.service
      if (collections.length === 0) trial.lack('a collection: an OpenAPI description, or links of the entry')
      for (const { list, reader, path } of collections) {
        trial.expectStatus(list, [200], `GET of ${path}`)
        await followPages(trial, list, reader)
      }
    },
  },
  {
    id: 'A4.2',
    says: 'POST collection → 201 with Location and a representation; or 202 with Location when asynchronous',
    how: 'POST of a copy of an existing item: the response has Location and a representation, which agrees with GET of the new item in everything that was sent',
    probe: async (trial: Trial) => {
      const { created, draft, path, as } = await createTemporaryItem(trial.bench)
      trial.expectStatus(created, [201, 202], 'POST to a collection')
      trial.expect(created.fields['location'] !== undefined, 'Location is given', created)
      trial.expect(created.status === 202 || created.reply.content.length > 0, 'a representation is given', created)
      if (created.status !== 201) return
      const read = await trial.send('GET', path, { as })
      const differing = Object.keys(asRecord(draft)).filter(name => {
        const [given, known] = [memberAt(created.json, name), memberAt(read.json, name)]
        return typeof given === 'string' && typeof known === 'string' && given !== known
      })
      const says = differing.length === 0 ? '' : `, but for ${differing}`
      trial.expect(differing.length === 0, `it says what GET of the new item says${says}`, created, read)
    },
  },
  {
    id: 'A4.3',
    says: 'GET item → 200; with a matching If-None-Match → 304 without a body',
    how: 'GET of an item, again with its entity tag, with a list that has it, with *, and with another tag; HEAD with its tag; another tag next to If-Modified-Since, which is then ignored',
    probe: async (trial: Trial) => {
      const { path, as, read } = await readSomeItem(trial.bench)
      const etag = read.fields['etag']
      trial.expectStatus(read, [200], 'GET of an item')
      if (etag === undefined) return trial.expect(false, 'an item has an entity tag', read)
      const cases = [
        [etag, 304],
        [`"none", ${etag}`, 304],
        [`W/${etag.replace(/^W\//, '')}`, 304],
        ['*', 304],
        ['"none"', 200],
      ] as const
      for (const [tag, status] of cases) {
        const again = await trial.send('GET', path, { as, fields: { 'if-none-match': tag } })
        trial.expectStatus(again, [status], `GET with If-None-Match: ${tag}`)
      }
      const head = await trial.send('HEAD', path, { as, fields: { 'if-none-match': etag } })
      trial.expectStatus(head, [304], 'HEAD with the entity tag of the item')
      const modified = read.fields['last-modified']
      if (modified === undefined) return
      // RFC 9110 §13.1.3: where both fields are sent, If-Modified-Since is ignored.
      const both = { 'if-none-match': '"none"', 'if-modified-since': modified }
      const other = await trial.send('GET', path, { as, fields: both })
      trial.expectStatus(other, [200], 'GET with another tag and If-Modified-Since')
    },
  },
  {
    id: 'A4.4',
    says: 'PUT item, the full desired state, optional If-Match; repeating it gives the same state',
    how: 'PUT of the state that a new item has, twice: either is a success, and the state is what was sent; PUT of another value of a member, also with letters beyond ASCII: then the item has it',
    probe: async (trial: Trial) => {
      const item = await createTemporaryItem(trial.bench)
      if (!item.collection.itemPath?.operations['PUT']) trial.skip('the description has no PUT of an item')
      for (const time of ['first', 'second']) {
        const fields = await currentMatch(trial.bench, item.path, item.as)
        const put = await trial.send('PUT', item.path, { as: item.as, json: item.draft, fields })
        trial.requireAllowed(put)
        trial.expect(put.isSuccess, `the ${time} PUT is a success${put.isSuccess ? '' : `, not ${put.status}`}`, put)
        const after = await trial.send('GET', item.path, { as: item.as })
        trial.expect(hasState(after.json, item.draft), `the state is what the ${time} PUT sent`, put, after)
      }
      for (const isRare of [false, true])
        expectChanged(trial, await changeMember(trial.bench, item, 'PUT', isRare), 'PUT')
    },
  },
  {
    id: 'A4.5',
    says: 'PATCH item, JSON Merge Patch and JSON Patch, declared by Accept-Patch',
    how: 'Accept-Patch of OPTIONS; a patch of each format sets a member to the value it has, a merge patch to another, and a JSON Patch sets it back: each time, the item has the value; a JSON Patch whose test fails changes nothing',
    probe: async (trial: Trial) => {
      const item = await createTemporaryItem(trial.bench)
      if (!item.collection.itemPath?.operations['PATCH']) trial.skip('the description has no PATCH of an item')
      const options = await trial.send('OPTIONS', item.path, { as: item.as })
      trial.expect(options.fields['accept-patch'] !== undefined, 'OPTIONS has Accept-Patch', options)
      const accepted = options.fields['accept-patch'] ?? 'application/merge-patch+json, application/json-patch+json'
      const [name = '', value = null] =
        Object.entries(asRecord(item.draft)).find(([, each]) => typeof each === 'string') ?? []
      const pointer = writePointer([name])
      const patches: Readonly<Record<string, Json>> = {
        'application/merge-patch+json': { [name]: value },
        'application/json-patch+json': [{ op: 'replace', path: pointer, value }],
      }
      for (const [type, json] of Object.entries(patches)) {
        if (!accepted.includes(type) || name === '') continue
        const fields = { 'content-type': type, ...(await currentMatch(trial.bench, item.path, item.as)) }
        const patched = await trial.send('PATCH', item.path, { as: item.as, json, fields })
        trial.requireAllowed(patched)
        trial.expect(
          patched.isSuccess,
          `a patch of ${type} is a success${patched.isSuccess ? '' : `, not ${patched.status}`}`,
          patched,
        )
        const after = await trial.send('GET', item.path, { as: item.as })
        trial.expect(sameJson(memberAt(after.json, name), value), `${name} is what the patch sets`, patched, after)
      }
      if (!accepted.includes('application/merge-patch+json')) return
      const change = await changeMember(trial.bench, item, 'PATCH')
      expectChanged(trial, change, 'PATCH')
      if (change && accepted.includes('application/json-patch+json')) await expectPatchedBack(trial, item, change)
    },
  },
  {
    id: 'A4.6',
    says: 'DELETE item → 204 (or another success status)',
    how: 'DELETE of a new item; afterwards GET of it is answered 404 or 410',
    probe: async (trial: Trial) => {
      const item = await createTemporaryItem(trial.bench)
      const fields = await currentMatch(trial.bench, item.path, item.as)
      const removed = await trial.send('DELETE', item.path, { as: item.as, fields })
      if (removed.status === 403 || removed.status === 405) trial.lack('an item that its maker may remove')
      // RFC 9110 §15.5.10: for example, the machine of its resource may keep it in this state.
      if (removed.status === 409) trial.lack('an item that may be removed in its first state')
      trial.expect(
        removed.isSuccess,
        `DELETE is a success${removed.isSuccess ? '' : `, not ${removed.status}`}`,
        removed,
      )
      if (!removed.isSuccess) return
      trial.expectStatus(await trial.send('GET', item.path, { as: item.as }), [404, 410], 'GET of what was removed')
      const list = await trial.send('GET', item.collection.path, { as: item.as })
      if (list.isSuccess)
        trial.expect(!namesOnPage(list.json).includes(item.path), 'the collection no longer lists it', removed, list)
    },
  },
  {
    id: 'A4.7',
    says: 'DELETE collection with a filter: bulk removal, only where defined and safe',
    how: 'bulk removal of one new item with the filter of the profile: this item is removed, and another stays',
    probe: async (trial: Trial) => {
      const { bulk } = trial.bench.profile
      if (!bulk)
        trial.lack('`bulk` of the profile: a bulk removal with a wrong filter would remove what the run did not make')
      const acted = await performAction(trial.bench)
      const id = String(memberAt(acted.before.json, 'id') ?? lastSegmentOf(acted.item.path))
      const target = `${bulk.collection}?${bulk.filter.replaceAll('{id}', encodeURIComponent(id))}`
      let removed: ProbeExchange | undefined
      for (const as of trial.bench.callers) {
        removed = await trial.send('DELETE', target, { as })
        if (removed.status !== 401 && removed.status !== 403) break
      }
      if (!removed) trial.lack('a caller: --caller')
      trial.requireAllowed(removed)
      trial.expect(
        removed.isSuccess,
        `bulk removal is a success${removed.isSuccess ? '' : `, not ${removed.status}`}`,
        removed,
      )
      const after = await trial.send('GET', acted.item.path, { as: acted.item.as })
      if (removed.isSuccess) trial.expectStatus(after, [404, 410], 'GET of what the filter matches')
      const other = acted.item.collection.items.find(({ path }) => path !== acted.item.path)
      if (other)
        trial.expectStatus(
          await trial.send('GET', other.path, { as: acted.item.collection.reader }),
          [200],
          'GET of what it does not match',
        )
    },
  },
  {
    id: 'A4.8',
    says: 'HEAD on every GET target: the same headers (size, type, ETag, last modification), no body',
    how: 'HEAD of the entry, each collection, an item, parts of items, searches and a job, after a GET of the same: status and fields, those of caching too, are equal; HEAD of an item that does not exist has the status of GET; HEAD of an item with another media type of the description has that type',
    probe: async (trial: Trial) => {
      const { path, as } = await readSomeItem(trial.bench)
      const targets = trial.bench.service.collections.map(each => ({ path: each.path, as: each.reader }))
      const others = (await listUsedTargets(trial.bench)).filter(({ method }) => method === 'GET')
      const absent = await readAbsentItem(trial.bench)
      const headOfAbsent = await trial.send('HEAD', absent.request.target, { as })
      const isAbsent = headOfAbsent.status === absent.status
      trial.expect(isAbsent, 'HEAD of an item that does not exist has the status of GET', absent, headOfAbsent)
      await expectHeadOfType(trial)
      for (const target of [
        { path: trial.bench.service.basePath, as: undefined },
        ...targets,
        { path, as },
        ...others,
      ]) {
        const get = await trial.send('GET', target.path, { as: target.as })
        // The content of an error may name the method; other rules judge which success it is.
        if (get.status !== 200) continue
        const head = await trial.send('HEAD', target.path, { as: target.as })
        trial.expect(get.status === head.status, `HEAD of ${target.path} has the status of GET`, get, head)
        if (get.status !== head.status) continue
        trial.expect(
          head.reply.content.length === 0 && head.reply.isWhole,
          `HEAD of ${target.path} has no content`,
          get,
          head,
        )
        const differing = findDifferingFields(get, head)
        // A value that changes by itself between two requests shows nothing.
        if (
          differing.length > 0 &&
          findDifferingFields(get, await trial.send('GET', target.path, { as: target.as })).length > 0
        )
          continue
        trial.expect(
          differing.length === 0,
          `HEAD of ${target.path} has the fields of GET${differing.length === 0 ? '' : `, but for ${differing}`}`,
          get,
          head,
        )
      }
    },
  },
  {
    id: 'A4.9',
    says: 'OPTIONS on any target: Allow lists the permitted methods',
    how: 'OPTIONS of each collection and an item: Allow has GET and the methods of the description; a method that is not in it is answered 405 with Allow, one that is in it is not; OPTIONS of the entry, searches, jobs, parts of items and offered actions: Allow has the method by which they are used',
    probe: async (trial: Trial) => {
      const { path, as, collection } = await readSomeItem(trial.bench)
      const item = { path, operations: collection.itemPath?.operations ?? {} }
      for (const { path: target, operations } of [...trial.bench.service.collections, item]) {
        const options = await trial.send('OPTIONS', target, { as })
        const allowed = methodsOf(options)
        const missing = ['GET', ...Object.keys(operations)].filter(each => !allowed.includes(each))
        trial.expect(
          missing.length === 0,
          `Allow of ${target} has the methods of the target${missing.length === 0 ? '' : `, but for ${[...new Set(missing)]}`}`,
          options,
        )
        if (missing.length === 0)
          trial.expect(options.isSuccess, `OPTIONS of ${target} is a success${sayStatus(options)}`, options)
        await expectHonestAllow(trial, options, Object.keys(operations), as)
        if (allowed.length === 0 || allowed.includes('TRACE')) continue
        const refused = await trial.send('TRACE', target, { as })
        trial.expectStatus(refused, [405, 501], `TRACE of ${target}, which Allow does not have,`)
        if (refused.status !== 405) continue
        trial.expect(methodsOf(refused).includes('GET'), 'a 405 has Allow', refused)
        trial.expect(!methodsOf(refused).includes('TRACE'), 'Allow of a 405 does not have its method', refused)
      }
      for (const each of await listUsedTargets(trial.bench)) await expectUseAllowed(trial, each)
    },
  },
  {
    id: 'A4.10',
    says: 'GET sub-resource → 200',
    how: 'GET of each kind of part that the description has and a link of an item leads to: 200, with content and its type',
    probe: async (trial: Trial) => {
      for (const { path, as, mayBeAbsent } of listLinkedParts(trial.bench)) {
        const read = await trial.send('GET', path, { as })
        if ([401, 403].includes(read.status) || (read.status === 404 && mayBeAbsent)) continue
        trial.expectStatus(read, [200], `GET of the sub-resource ${path}`)
        trial.expect(read.mediaType !== '' && read.reply.content.length > 0, `${path} has a representation`, read)
      }
      if (trial.findings.length === 0) trial.skip('no item links to a part of itself that has GET')
    },
  },
  {
    id: 'A4.11',
    says: 'POST sub-resource performs an action (payment, cancellation …)',
    how: 'POST to an action that the links of a new item offer; the item has changed',
    probe: async (trial: Trial) => {
      const performed = await performSomeAction(trial.bench)
      const { acted, before, item, as, action } = performed
      if (isOfMadeContent(trial.bench, performed))
        trial.lack(`content that the action takes: \`samples\` of the profile, under POST ${action.part.path}`)
      trial.expect(
        acted.isSuccess,
        `the action ${action.rel} is a success${acted.isSuccess ? '' : `, not ${acted.status}`}`,
        before,
        acted,
      )
      if (!acted.isSuccess) return
      const after = await trial.send('GET', item.path, { as })
      trial.expect(after.text !== before.text, 'the action has changed the item', before, acted, after)
    },
  },
]

const headFields = ['content-type', 'etag', 'last-modified', 'content-length', 'cache-control', 'vary']
/** RFC 9110 §9.3.2: a server may omit fields for which it would have to generate the content. */
const isOmittedLength = (name: string, get: ProbeExchange, head: ProbeExchange): boolean =>
  name === 'content-length' && (head.fields[name] === undefined || get.fields[name] === undefined)

const findDifferingFields = (get: ProbeExchange, other: ProbeExchange): readonly string[] =>
  headFields.filter(name => get.fields[name] !== other.fields[name] && !isOmittedLength(name, get, other))

export const methodsOf = ({ fields }: ProbeExchange): readonly string[] =>
  (fields['allow'] ?? '')
    .split(',')
    .map(each => each.trim())
    .filter(each => each !== '')

/** HEAD for a type that GET returns if Accept asks for it. */
async function expectHeadOfType(trial: Trial): Promise<void> {
  const { path, as, read, collection } = await readSomeItem(trial.bench)
  const accept = listedTypes(trial, collection.itemPath?.operations['GET']).find(
    each => each !== read.mediaType && !each.includes('*'),
  )
  if (accept === undefined) return
  const fields = { accept }
  const get = await trial.send('GET', path, { as, fields })
  if (get.status !== 200 || get.mediaType === read.mediaType) return
  const head = await trial.send('HEAD', path, { as, fields })
  trial.expect(head.mediaType === get.mediaType, `HEAD with Accept: ${accept} has the type of GET`, get, head)
}

/** No service can understand this content, so it changes nothing. */
const senseless = { fields: { 'content-type': 'application/x-no-such-type' }, content: 'probe' }

/** Allow may name more methods than the description. DELETE has no content, so it is not sent. */
async function expectHonestAllow(
  trial: Trial,
  options: ProbeExchange,
  described: readonly string[],
  as: CheckCaller | undefined,
): Promise<void> {
  const { target } = options.request
  const mayChange = trial.bench.options.allowChanges && trial.bench.mayChange(target)
  const allowed = methodsOf(options).filter(each => !described.includes(each))
  for (const method of ['TRACE', ...(mayChange ? ['PUT', 'PATCH'] : [])].filter(each => allowed.includes(each))) {
    const answered = await trial.send(method, target, method === 'TRACE' ? { as } : { as, ...senseless })
    const isKnown = answered.status !== 405 && answered.status !== 501
    trial.expect(
      isKnown,
      `${method} of ${target}, which Allow has, is not answered ${answered.status}`,
      options,
      answered,
    )
  }
}

/** A target, and a method with which this caller uses it. */
interface UsedTarget {
  readonly path: string
  readonly as: CheckCaller | undefined
  readonly method: string
}

/** Targets other than collections and items. */
async function listUsedTargets(bench: Bench): Promise<readonly UsedTarget[]> {
  const { entry, searches, searchPages, jobs } = bench.service
  const [first] = bench.callers
  const made = bench.options.allowChanges ? await listMadeTargets(bench) : []
  return [
    ...(entry.isSuccess ? [{ path: entry.request.target, as: findSender(bench, entry), method: 'GET' }] : []),
    ...searchPages.map(({ path }) => ({ path, as: first, method: 'GET' })),
    ...[...searches, ...jobs].map(({ path }) => ({ path, as: first, method: 'POST' })),
    ...listLinkedParts(bench).map(({ path, as }) => ({ path, as, method: 'GET' })),
    ...made,
  ]
}

/** A started job, and the actions that a new item offers. */
async function listMadeTargets(bench: Bench): Promise<readonly UsedTarget[]> {
  const job = await startSomeJob(bench).catch(() => undefined)
  const offered = await createActionItem(bench)
  return [
    ...(job?.location === undefined ? [] : [{ path: job.location, as: job.as, method: 'GET' }]),
    ...(offered?.actions ?? []).map(({ path }) => ({ path, as: offered?.item.as, method: 'POST' })),
  ]
}

async function expectUseAllowed(trial: Trial, { path, as, method }: UsedTarget): Promise<void> {
  const options = await trial.send('OPTIONS', path, { as })
  if (options.status === 401 || options.status === 403) return
  const isSaid = options.isSuccess && methodsOf(options).includes(method)
  trial.expect(isSaid, `OPTIONS of ${path} has Allow with ${method}${isSaid ? '' : sayStatus(options)}`, options)
}

const sayStatus = ({ isSuccess, status }: ProbeExchange): string => (isSuccess ? '' : `, not ${status}`)

/** RFC 6902 §4.3: the member gets its first value back. */
async function expectPatchedBack(
  trial: Trial,
  { path, as, draft }: CreatedItem,
  { name }: ChangedMember,
): Promise<void> {
  const value = memberAt(draft, name) ?? null
  const fields = { 'content-type': 'application/json-patch+json', ...(await currentMatch(trial.bench, path, as)) }
  const json = [{ op: 'replace', path: writePointer([name]), value }]
  const patched = await trial.send('PATCH', path, { as, json, fields })
  if (!patched.isSuccess) return
  const after = await trial.send('GET', path, { as })
  const isThere = sameJson(memberAt(after.json, name), value)
  trial.expect(isThere, `${name} is as before after a JSON Patch that says so`, patched, after)
  await expectWholePatch(trial, path, as, name)
}

/** RFC 5789 §2, RFC 6902 §5: a patch is applied completely or not at all. */
async function expectWholePatch(trial: Trial, path: string, as: CheckCaller | undefined, name: string): Promise<void> {
  const before = await trial.send('GET', path, { as })
  const fields = { 'content-type': 'application/json-patch+json', ...(await currentMatch(trial.bench, path, as)) }
  const pointer = writePointer([name])
  const json = [
    { op: 'replace', path: pointer, value: `${memberAt(before.json, name)}x` },
    { op: 'test', path: pointer, value: 'no such value 7f3a' },
  ]
  const patched = await trial.send('PATCH', path, { as, json, fields })
  const after = await trial.send('GET', path, { as })
  const isWhole = sameJson(memberAt(before.json, name), memberAt(after.json, name))
  trial.expect(isWhole, `${name} is as before after a JSON Patch whose test does not hold`, before, patched, after)
}

function expectChanged(trial: Trial, made: ChangedMember | undefined, method: string): void {
  if (!made) return
  const { name, value, changed, after } = made
  const isThere = sameJson(memberAt(after.json, name), value)
  trial.expect(isThere, `${name} is "${value}" after a ${method} that says so`, changed, after)
}

/** A read contains what the client sent; the server may add members. */
function hasState(read: Json | undefined, sent: Json): boolean {
  if (Array.isArray(sent)) {
    const list = Array.isArray(read) ? (read as readonly Json[]) : []
    return list.length === sent.length && sent.every((each, at) => hasState(list[at], each))
  }
  if (typeof sent !== 'object' || sent === null) return sameJson(read, sent)
  return Object.entries(sent).every(([name, value]) => hasState(memberAt(read, name), value))
}

async function followPages(trial: Trial, first: ProbeExchange, as: CheckCaller | undefined): Promise<void> {
  const seen = new Set<string>()
  let page = first
  let count = 0
  for (; count < pagesMax; count++) {
    const items = itemsOf(page.json) ?? []
    // Values without their own names may be equal.
    const ids = items.flatMap(each => linkIn(each, 'self') ?? memberAt(each, 'id') ?? []).map(String)
    trial.expect(new Set(ids).size === ids.length && !ids.some(id => seen.has(id)), 'no item occurs twice', page)
    for (const id of ids) seen.add(id)
    const path = findNextPage(trial, page)
    if (path === undefined || items.length === 0) break
    const before = page
    page = await trial.send('GET', path, { as })
    trial.expectStatus(page, [200], 'a next page')
    if (count === 0) await expectPreviousPage(trial, before, page, as)
  }
  if (page === first) return
  const isCut = count === pagesMax && linksIn(page.json).some(({ rel }) => rel === 'next')
  if (isCut) return trial.expect(true, `${pagesMax} pages were followed; there are more, which were not`, page)
  const isBack = linksIn(page.json).some(({ rel }) => rel === 'previous' || rel === 'prev')
  trial.expect(isBack, 'the last page links to the previous one', page)
}

/** From `_links` or Link; undefined on the last page. */
function findNextPage(trial: Trial, page: ProbeExchange): string | undefined {
  const [href, other] = listNextPages(page)
  if (href === undefined) return undefined
  const path = toPath(trial.bench, href, page.request.target)
  trial.expect(
    path !== undefined,
    `the next page is of the same service${path === undefined ? `, not ${href}` : ''}`,
    page,
  )
  if (other !== undefined)
    trial.expect(
      toPath(trial.bench, other, page.request.target) === path,
      'Link and _links lead to one next page',
      page,
    )
  return path
}

/** `previous` of the second page is the first page, and `self` is the page itself. */
async function expectPreviousPage(
  trial: Trial,
  first: ProbeExchange,
  second: ProbeExchange,
  as: CheckCaller | undefined,
): Promise<void> {
  const expected = [
    ['previous', first],
    ['prev', first],
    ['self', second],
  ] as const
  for (const [rel, page] of expected) {
    const href = linkIn(second.json, rel)
    const path = href === undefined ? undefined : toPath(trial.bench, href, second.request.target)
    if (path === undefined) continue
    const read = await trial.send('GET', path, { as })
    const isThat = read.isSuccess && sameJson([...namesOnPage(read.json)], [...namesOnPage(page.json)])
    trial.expect(isThat, `${rel} of the second page leads to the ${rel === 'self' ? 'second' : 'first'}`, second, read)
  }
}

interface LinkedPart {
  readonly path: string
  readonly as: CheckCaller | undefined
  /** A client creates it there. */
  readonly mayBeAbsent: boolean
}

/** The parts to which the items in collections link, one for each path of the description. */
function listLinkedParts(bench: Bench): readonly LinkedPart[] {
  const found = new Map<string, LinkedPart>()
  for (const { items, parts, reader } of bench.service.collections)
    for (const { path: item, value } of items)
      for (const { href } of linksIn(value)) {
        const at = toPath(bench, href, item)
        const part = parts.find(
          ({ path, operations }) =>
            at !== undefined && operations['GET'] && !operations['POST'] && isOfTemplate(at, path),
        )
        if (part && at !== undefined && !found.has(part.path))
          found.set(part.path, { path: at, as: reader, mayBeAbsent: part.operations['PUT'] !== undefined })
      }
  return [...found.values()]
}
