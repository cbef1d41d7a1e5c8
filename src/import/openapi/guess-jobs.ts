/** Jobs and kept searches: each consists of several addresses that belong together. */
import { objectOf } from '../../base/objects.ts'
import { singularName } from '../../contract/field.ts'
import { type Job, job } from '../../contract/job.ts'
import { isReservedCollection } from '../../contract/reserved-names.ts'
import type { Searches } from '../../contract/service.ts'
import { findFreeName } from '../constant-names.ts'
import { type Addresses, toSegmentName } from './collections.ts'
import { answerSchema, findListed, type GuessRoom } from './guess-room.ts'
import type { RestOperation } from './operations.ts'
import { contentSchema, readSchemaFacts } from './schema-facts.ts'

/** A POST that returns 202 with a Location, at an address without parameters. */
export function guessJobs(room: GuessRoom, addresses: Addresses): readonly Job[] {
  const taken = new Set([...room.byItem.values()].flatMap(({ name }) => [name, singularName(name)]))
  const claim = (wish: string): string => {
    const name = findFreeName(wish, each => taken.has(each) || taken.has(singularName(each)))
    taken.add(name).add(singularName(name))
    return name
  }
  return [...addresses].flatMap(([address, operations]) => {
    const post = operations.get('POST')
    const isJob = post && !address.includes('{') && isAccepted(room, post) && !isReservedCollection(jobNameOf(address))
    return isJob ? [guessJob(room, addresses, { address, post, name: claim(jobNameOf(address)) })] : []
  })
}
export function isAccepted({ document }: Pick<GuessRoom, 'document'>, { responses }: RestOperation): boolean {
  const accepted = responses.find(([status]) => status === '202')
  const others = responses.filter(([status]) => /^2/.test(status))
  const headers = Object.keys(objectOf(document.resolve(accepted?.[1]).value['headers']))
  return accepted !== undefined && others.length === 1 && headers.some(each => each.toLowerCase() === 'location')
}

const jobNameOf = (address: string): string => toSegmentName(address.split('/').at(-1) ?? 'jobs')

function guessJob(
  room: GuessRoom,
  addresses: Addresses,
  { address, post, name }: { readonly address: string; readonly post: RestOperation; readonly name: string },
): Job {
  const { document, fields, grants, faults, claimed } = room
  if (address !== `/${name}`) room.losses.add(post.place, `is at /${name}`)
  const at = (tail: string, method: string) => addresses.get(`${address}${tail}`)?.get(method)
  const results = [at('/{}/result', 'GET'), at('/{}', 'GET')].filter(each => each !== undefined)
  const states = [at('/jobs/{}', 'GET'), at('/{}/status', 'GET')].filter(each => each !== undefined)
  const ends = ['/jobs/{}/cancellation', '/{}/cancellation', '/{}/cancel'].map(tail => at(tail, 'POST'))
  for (const each of [post, ...results, ...states, ...ends, at('/{}', 'DELETE')]) if (each) claimed.add(each)
  const [result] = results
  const output = result && answerSchema(document, result)
  const declared = job(name, {
    input: fields.fields(contentSchema(document, post.request), `${name} input`),
    output: fields.fields(output, `${name} output`, new Set(['_links'])),
    faults: faults.of(post),
    allow: grants.of(post),
  })
  if (post.comment.split(/\s+/).length > 3) fields.comments.set(declared, post.comment)
  return declared
}

/** `/searches`, `/searches/{}` and `/search` list the items of one resource. */
export function guessSearches(room: GuessRoom, addresses: Addresses): Searches | undefined {
  const post = addresses.get('/searches')?.get('POST')
  const get = addresses.get('/searches/{}')?.get('GET')
  const plain = addresses.get('/search')?.get('GET')
  const listed = findListed(room.document, get ?? plain)
  const of = listed === undefined ? undefined : room.byItem.get(readSchemaFacts(room.document, listed).key)
  if (!post || !get || !of || room.nestings.has(of)) return undefined
  for (const each of [post, get, plain]) if (each) room.claimed.add(each)
  return { of: of.name, allow: room.grants.of(post) }
}
