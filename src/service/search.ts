/** Searches with an address of their own (rules A4.12, A4.13). Each belongs to its creator. */
import type { ErasedHandlers } from '../contract/implement.ts'
import type { OperationOf } from '../contract/operation.ts'
import type { Call } from './call.ts'
import { createContext } from './handler-context.ts'
import { type ContextFacts, readOnlyReach } from './handler-facts.ts'
import type { Outcome, Search } from './outcome.ts'
import { type ReadContext, readPage } from './reads.ts'
import { refuse } from './refusal.ts'
import type { Filter, StoreWriter } from './store.ts'
import { packTyped, unpackTyped } from './typed-json.ts'

const space = 'search'
const defaultKeepSeconds = 3600

export async function createSearch(
  call: Call,
  about: ContextFacts,
  writer: StoreWriter,
  operation: OperationOf<'createSearch'>,
  searching: ErasedHandlers['searching'],
): Promise<Outcome> {
  const { q, ...by } = call.input?.(undefined).value ?? {}
  await searching?.(createContext(about, readOnlyReach(writer)), searchWords(String(q ?? '')))
  const search: Search = { q: String(q ?? ''), by }
  const id = about.id('s')
  const expires = about.now + (operation.searches.keep ?? defaultKeepSeconds) * 1000
  const value = packTyped({ owner: call.admitted.caller.subject ?? null, search })
  await writer.remember(space, id, { value, expires }, about.now)
  return { kind: 'search', id, search, page: undefined }
}

export async function getSearch(look: ReadContext, operation: OperationOf<'getSearch'>): Promise<Outcome> {
  const { call, about, reader } = look
  const memo = call.id === undefined ? undefined : await reader.recall(space, call.id)
  if (!memo || memo.expires <= about.now) return refuse({ kind: 'not-found' })
  const { owner, search } = unpackTyped(memo.value) as { owner: string | null; search: Search } // written above
  if (owner !== (call.admitted.caller.subject ?? null)) return refuse({ kind: 'not-found' })
  const page = await readPage(look, operation.resource, {
    words: searchWords(search.q),
    filters: equalityFilters(search.by),
  })
  return { kind: 'search', id: call.id ?? '', search, page }
}

const equalityFilters = (by: Search['by']): Filter[] =>
  Object.entries(by).map(([field, value]) => ({ field, is: 'eq', value }))

/**
 * The words of `q`, in lower case, each once: runs of letters, digits, `_` and `%`. Other
 * characters separate.
 */
export const searchWords = (q: string): string[] => [...new Set(q.toLowerCase().match(/[\p{L}\p{N}_%]+/gu))]
