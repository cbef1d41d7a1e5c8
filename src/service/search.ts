/** Searches that have an address of their own (rules A4.12, A4.13). Each belongs to who made it. */
import type { OperationOf } from '../contract/operation.ts'
import type { Call } from './call.ts'
import type { About } from './handler-context.ts'
import type { Outcome, Search } from './outcome.ts'
import { type Look, page } from './reads.ts'
import { refuse } from './refusal.ts'
import type { Filter, Writer } from './store.ts'
import { pack, unpack } from './typed-json.ts'

const space = 'search'
const defaultKeep = 3600

export async function createSearch(
  call: Call,
  about: About,
  writer: Writer,
  operation: OperationOf<'createSearch'>,
): Promise<Outcome> {
  const { q, ...by } = call.input?.(undefined).value ?? {}
  const search: Search = { q: String(q ?? ''), by }
  const id = about.id('s')
  const expires = about.now + (operation.searches.keep ?? defaultKeep) * 1000
  const value = pack({ owner: call.admitted.caller.subject ?? null, search })
  await writer.remember(space, id, { value, expires }, about.now)
  return { kind: 'search', id, search, page: undefined }
}

export async function getSearch(look: Look, operation: OperationOf<'getSearch'>): Promise<Outcome> {
  const { call, about, reader } = look
  const memo = call.id === undefined ? undefined : await reader.recall(space, call.id)
  if (!memo || memo.expires <= about.now) return refuse({ kind: 'not-found' })
  const { owner, search } = unpack(memo.value) as { owner: string | null; search: Search } // written above
  if (owner !== (call.admitted.caller.subject ?? null)) return refuse({ kind: 'not-found' })
  const found = await page(look, operation.resource, { words: words(search.q), filters: filters(search.by) })
  return { kind: 'search', id: call.id ?? '', search, page: found }
}

const filters = (by: Search['by']): Filter[] => Object.entries(by).map(([field, value]) => ({ field, is: 'eq', value }))

/** The words of `q`, each once: runs of letters and digits, in any case. Everything between them only separates. */
export const words = (q: string): string[] => [...new Set(q.toLowerCase().match(/[\p{L}\p{N}_%]+/gu))]
