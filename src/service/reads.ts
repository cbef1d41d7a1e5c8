/** The operations that only read. */

import { type Maybe, then } from '../base/maybe.ts'
import type { Problem } from '../contract/field-json.ts'
import type { Handlers } from '../contract/implement.ts'
import type { OperationOf } from '../contract/operation.ts'
import { restriction } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import type { Call } from './call.ts'
import { type About, context, type Reach } from './handler-context.ts'
import { find, isUnchanged, offeredByState, present, readGrants } from './item-checks.ts'
import type { Outcome } from './outcome.ts'
import { refuse } from './refusal.ts'
import type { Page, Query, Reader } from './store.ts'

export interface Look {
  readonly call: Call
  readonly about: About
  readonly handlers: Handlers
  readonly reader: Reader
}

export function get({ call, about, reader }: Look, operation: OperationOf<'get'>): Maybe<Outcome> {
  return then(find(reader, operation.resource.name, call.id), found => {
    const item = present(found, operation, call.admitted.caller, about.now)
    return isUnchanged(call, item) ? { kind: 'unchanged', current: item } : { kind: 'item', item, created: false }
  })
}

export function list(look: Look, operation: OperationOf<'list' | 'search'>): Maybe<Outcome> {
  return then(page(look, operation.resource, {}), found => ({ kind: 'page', page: found }))
}

/** A page of what this caller may see, restricted in the database and not after it. */
export function page(look: Look, resource: Resource, more: Partial<Query>): Maybe<Page> {
  const within = restriction(readGrants(resource), look.call.admitted.caller, look.about.now)
  const asked = look.call.query ?? { filters: [], sort: [], size: 20, counted: false }
  const filters = [...asked.filters, ...(more.filters ?? [])]
  if (((more.words ?? asked.words)?.length ?? 0) > mostWords) refuse({ kind: 'invalid', problems: [tooManyWords] })
  return look.reader.list(resource.name, { ...asked, ...more, filters, within })
}

/** Words of one search: each is a condition, of which SQLite takes a thousand. */
export const mostWords = 500
const tooManyWords: Problem = { path: ['q'], code: 'maxLength', detail: `has more than ${mostWords} words` }

/** An action that only reads: it is not found in states that do not offer it. */
export async function read(look: Look, operation: OperationOf<'look'>): Promise<Outcome> {
  const { call, about, handlers, reader } = look
  const item = present(await find(reader, operation.resource.name, call.id), operation, call.admitted.caller, about.now)
  if (!offeredByState(operation, item)) refuse({ kind: 'not-found' })
  if (isUnchanged(call, item)) return { kind: 'unchanged', current: item }
  const handler = handlers.actions[operation.verb]
  if (!handler) throw new Error(`${operation.name} has no handler`)
  const output = await handler(context(about, readOnly(reader)), item.value, {})
  return { kind: 'output', item, output: output ?? {}, created: false }
}

const readOnly = (reader: Reader): Reach => ({
  read: work => work(reader),
  write: () => {
    throw new Error('an action that only reads has nothing to change')
  },
})

/** What an action left: a payment. */
export async function kept({ call, about, reader }: Look, operation: OperationOf<'kept'>): Promise<Outcome> {
  const item = present(await find(reader, operation.resource.name, call.id), operation, call.admitted.caller, about.now)
  const output = item.kept[operation.verb]
  if (output === undefined) return refuse({ kind: 'not-found' })
  if (isUnchanged(call, item)) return { kind: 'unchanged', current: item }
  return { kind: 'output', item, output: output as Record<string, unknown>, created: false } // kept by `act`: a row
}

export async function file({ call, about, reader }: Look, operation: OperationOf<'getFile'>): Promise<Outcome> {
  const item = present(await find(reader, operation.resource.name, call.id), operation, call.admitted.caller, about.now)
  const found = await reader.file(operation.resource.name, item.id, operation.part)
  if (!found) return refuse({ kind: 'not-found' })
  const { octets, ...file } = found
  const current = { ...item, version: file.version, modified: file.modified }
  if (isUnchanged(call, current)) return { kind: 'unchanged', current }
  return { kind: 'file', item, file, octets, created: false }
}
