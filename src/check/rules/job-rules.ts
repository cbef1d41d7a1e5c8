/** A3, and A4.12–A4.16: jobs, searches, and links that depend on the state. */

import { setTimeout } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { parametersOf, schemaOfContent } from '../discovery.ts'
import {
  addPlainRemoval,
  contentFor,
  createSomeSearch,
  performSomeAction,
  readState,
  type StartedPost,
  startSomeJob,
} from '../materials.ts'
import { asRecord, itemsOf, type Json, linksIn, memberAt, namesOnPage, sameJson } from '../probe-content.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { toPath } from '../reading.ts'
import type { CheckRule } from '../rule.ts'
import type { Trial } from '../trial.ts'

const endPattern = /^(?:completed?|done|succeeded|finished|failed|cancell?ed)$/i
const pollEveryMs = 100
const pollsMax = 100

interface ProbedJob extends StartedPost {
  /** Before it had finished. */
  readonly running: readonly ProbeExchange[]
  readonly last: ProbeExchange | undefined
}

/** Follows a job to its end. */
export const watchSomeJob = (bench: Bench): Promise<ProbedJob> =>
  bench.once('watched job', async () => {
    const job = await startSomeJob(bench)
    const { location, as } = job
    const running: ProbeExchange[] = []
    for (let poll = 0; location !== undefined && poll < pollsMax; poll++) {
      const read = await bench.send('GET', location, { as })
      if (endPattern.test(readState(read.json) ?? '') || (read.status >= 400 && poll > 3))
        return { ...job, running, last: read }
      running.push(read)
      await setTimeout(pollEveryMs)
    }
    return { ...job, running, last: undefined }
  })

const stateIn = ({ profile }: Bench, path: string, value: Json): string | undefined =>
  readState(value, profile.machines?.[path]?.member)

/** Rights also depend on the caller: one caller for whom the states differ is enough. */
async function compareStates(trial: Trial, path: string): Promise<void> {
  const seen: ProbeExchange[] = []
  for (const as of [undefined, ...trial.bench.callers]) {
    const list = await trial.send('GET', path, { as })
    const relations = relationsByState(trial.bench, path, list)
    if (relations.size < 2) continue
    if (new Set(relations.values()).size > 1) return trial.expect(true, `links of ${path} depend on the state`, list)
    seen.push(list)
  }
  if (seen.length > 0) trial.expect(false, `links of ${path} depend on the state for one caller at least`, ...seen)
}

function relationsByState(bench: Bench, path: string, list: ProbeExchange): ReadonlyMap<string, string> {
  const items = (list.isSuccess && itemsOf(list.json)) || []
  const listRelations = (value: Json): string =>
    linksIn(value)
      .map(({ rel }) => rel)
      .sort()
      .join(' ')
  return new Map(items.map(value => [stateIn(bench, path, value) ?? '', listRelations(value)]))
}

/** After an action, a state does not offer what it refuses, unless its address can be read. */
async function expectNoSpentAction(trial: Trial): Promise<void> {
  const performed = await performSomeAction(trial.bench).catch(() => undefined)
  if (!performed?.acted.isSuccess || performed.action.part.operations['GET']) return
  const { item, as, action, content } = performed
  const { rel, path } = action
  const after = await trial.send('GET', item.path, { as })
  if (!linksIn(after.json).some(link => link.rel === rel && toPath(trial.bench, link.href, item.path) === path)) return
  const again = await trial.send('POST', path, { as, ...(content !== undefined && { json: content }) })
  trial.expect(again.status !== 409, `an item that refuses ${rel} with 409 does not link to it`, after, again)
}

/** Words that occur nowhere: two, since a search may find something merely similar to one. */
const senselessWords = ['qzxvkjwq', 'wjqkzzxv']
/** A page with fewer results may be the same by chance. */
const tellingResults = 3

/** The results of a search by q for nonsense words differ from those without q. */
function expectSelection(trial: Trial, all: ProbeExchange, found: readonly ProbeExchange[]): void {
  const names = namesOnPage(all.json)
  const successes = found.filter(({ isSuccess }) => isSuccess)
  if (names.length < tellingResults || successes.length === 0) return
  const isIgnored = successes.every(each => sameJson([...namesOnPage(each.json)], [...names]))
  trial.expect(!isIgnored, 'q selects results: a word that nothing has gives others than no word', all, ...successes)
}

/** Another search, for nonsense words; without q in its content, it returns its usual results. */
async function searchNonsense(trial: Trial, { posted, as }: StartedPost): Promise<readonly ProbeExchange[]> {
  const { service } = trial.bench
  const search = service.searches.find(({ path }) => path === posted.request.target)
  const schema = search && schemaOfContent(service.openapi, memberAt(search.operations['POST'], 'requestBody'))
  if (!search || memberAt(schema, 'properties', 'q') === undefined) return []
  const json = { ...asRecord(contentFor(trial.bench, search)), q: senselessWords[0] ?? '' }
  const created = await trial.send('POST', search.path, { as, json })
  const { location } = created.fields
  const path = created.isSuccess && location !== undefined ? toPath(trial.bench, location, search.path) : undefined
  if (path === undefined) return []
  addPlainRemoval(trial.bench, path, as)
  return [await trial.send('GET', path, { as })]
}

export const jobRules: readonly CheckRule[] = [
  {
    id: 'A3.1',
    says: 'creating a job: POST → 202, Location of the job',
    how: 'POST to a collection whose description has 202',
    probe: async (trial: Trial) => {
      const { posted } = await startSomeJob(trial.bench)
      trial.expectStatus(posted, [202], 'the POST of a job')
      trial.expect(posted.fields['location'] !== undefined, 'Location names the job', posted)
    },
  },
  {
    id: 'A3.2',
    says: 'GET on the job while it runs: 200, a processing state; may be repeated',
    how: 'GET of the job repeatedly until its end',
    probe: async (trial: Trial) => {
      const { running, location } = await watchSomeJob(trial.bench)
      if (location === undefined) trial.lack('the address of a job')
      if (running.length === 0) trial.skip('the job had ended before it could be read')
      for (const read of running) trial.expectStatus(read, [200], 'GET of a running job')
    },
  },
  {
    id: 'A3.3',
    says: 'GET on the job when done: 200, the completed state',
    how: 'GET of the job until its state says that it has ended, and once more: it is in the same state',
    probe: async (trial: Trial) => {
      const { last, location, running, as } = await watchSomeJob(trial.bench)
      if (location === undefined) trial.lack('the address of a job')
      if (!last) trial.lack(`a job that ends within ${(pollsMax * pollEveryMs) / 1000} s, with a state of its own`)
      trial.expectStatus(last, [200], 'GET of a job at its end')
      trial.expect(
        endPattern.test(readState(last.json) ?? ''),
        'its state says that it has ended',
        ...running.slice(-1),
        last,
      )
      const again = await trial.send('GET', location, { as })
      const isStill = again.status !== 200 || readState(again.json) === readState(last.json)
      trial.expect(isStill, 'its state is the same when it is read again', last, again)
    },
  },
  {
    id: 'A3.4',
    says: 'the links of a representation depend on the resource’s current state; the server decides which transitions are offered',
    how: 'the link relations of the items of a collection, by their state, as each caller sees them: for one caller at least they differ between states; an action that a new item no longer allows is not among its links',
    probe: async (trial: Trial) => {
      const stateful = trial.bench.service.collections.filter(({ path, items }) =>
        items.some(({ value }) => stateIn(trial.bench, path, value) !== undefined),
      )
      if (stateful.length === 0) trial.skip('no collection has items with a state')
      for (const { path } of stateful) await compareStates(trial, path)
      if (trial.bench.options.allowChanges) await expectNoSpentAction(trial)
      if (trial.findings.length === 0) trial.skip(`all items of ${stateful[0]?.path} are in one state`)
    },
  },
  {
    id: 'A4.12',
    says: 'POST searches → 201, Location of the search',
    how: 'POST to /searches of what the description requires',
    probe: async (trial: Trial) => {
      const { posted } = await createSomeSearch(trial.bench)
      trial.expectStatus(posted, [201], 'the POST of a search')
      trial.expect(posted.fields['location'] !== undefined, 'Location names the search', posted)
    },
  },
  {
    id: 'A4.13',
    says: 'GET searches/{id} → 200, the results, paged where long',
    how: 'GET of the new search, and of the next page of its results, which differ; if searches have q, one for a word that occurs nowhere gives other results',
    probe: async (trial: Trial) => {
      const { location, as, posted } = await createSomeSearch(trial.bench)
      if (location === undefined) trial.lack('the address of a search')
      const read = await trial.send('GET', location, { as })
      trial.expectStatus(read, [200], 'GET of a search')
      trial.expect(itemsOf(read.json) !== undefined, 'it has an array of results', posted, read)
      const next = linksIn(read.json).find(({ rel }) => rel === 'next')
      const path = next && toPath(trial.bench, next.href, location)
      if (path !== undefined) {
        const second = await trial.send('GET', path, { as })
        trial.expectStatus(second, [200], 'the next page of a search')
        const isOther = !sameJson([...namesOnPage(second.json)], [...namesOnPage(read.json)])
        trial.expect(isOther, 'the next page of a search has other results', read, second)
      }
      expectSelection(trial, read, await searchNonsense(trial, { posted, as, location }))
    },
  },
  {
    id: 'A4.14',
    says: 'GET search?… → 200, the results',
    how: 'GET of /search with a value for q, if the description has it; words that occur nowhere do not give the same results as no words',
    probe: async (trial: Trial) => {
      const [page] = trial.bench.service.searchPages
      if (!page) trial.skip('the description has no /search')
      const { openapi } = trial.bench.service
      const isQ = parametersOf(openapi, page.operations['GET']).some(each => memberAt(each, 'name') === 'q')
      for (const as of [undefined, ...trial.bench.callers]) {
        const read = await trial.send('GET', `${page.path}${isQ ? '?q=a' : ''}`, { as })
        if (read.status === 401 || read.status === 403) continue
        trial.expectStatus(read, [200], 'GET of /search')
        trial.expect(itemsOf(read.json) !== undefined, 'it has an array of results')
        if (!isQ) return
        const all = await trial.send('GET', page.path, { as })
        const found: ProbeExchange[] = []
        for (const word of senselessWords) found.push(await trial.send('GET', `${page.path}?q=${word}`, { as }))
        return expectSelection(trial, all, found)
      }
      trial.lack('a caller that may search: --caller')
    },
  },
  {
    id: 'A4.15',
    says: 'POST {job_collection} → 202, Location …/jobs/{job_id}',
    how: 'the path that the Location of a new job names',
    probe: async (trial: Trial) => {
      const { location, posted } = await startSomeJob(trial.bench)
      if (location === undefined) trial.lack('the address of a job')
      trial.expect(/\/jobs\/[^/]+\/?$/.test(location), `${location} ends in /jobs/ and an identifier`, posted)
    },
  },
  {
    id: 'A4.16',
    says: 'GET {job_collection}/jobs/{job_id} → 200, its current state',
    how: 'the representation of a job has a state; an unknown identifier is answered 404',
    probe: async (trial: Trial) => {
      const { last, running, location, as } = await watchSomeJob(trial.bench)
      if (location === undefined) trial.lack('the address of a job')
      for (const read of [...running, last].filter(each => each !== undefined))
        trial.expect(readState(read.json) !== undefined, 'the job has a state', read)
      const absent = await trial.send('GET', location.replace(/[^/]+(?=\/?$)/, 'no-such-job-7f3a'), { as })
      trial.expectStatus(absent, [404], 'GET of an unknown job')
    },
  },
]
