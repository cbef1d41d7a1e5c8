/**
 * The service as each caller may see it (`visibleTo`): items leave it without the fields that the
 * caller may not see, and the caller can neither filter nor sort by those. Faces, links and tags
 * never see more; handlers, policy and store have whole items.
 */
import { chain, type Maybe } from '../base/maybe.ts'
import { findUnseenFields, hasCoveredFields, seesAlways, type Viewer } from '../contract/field-access.ts'
import type { Operation } from '../contract/operation.ts'
import type { Resource } from '../contract/resource.ts'
import type { Service } from '../contract/service.ts'
import { firstStep } from '../contract/version-fields.ts'
import type { Call, Calls } from './call.ts'
import type { Outcome } from './outcome.ts'
import { refuse } from './refusal.ts'
import { isShared, type Snapshot } from './store.ts'

/** The calls unchanged if every field is visible to all that may read its item. */
export function coverFields(contract: Service, calls: Calls, clock: () => number): Calls {
  const covers = new Map(contract.resources.filter(hasCoveredFields).map(each => [each.name, new ItemCover(each)]))
  if (covers.size === 0) return calls
  const coverOf = (operation: Operation): ItemCover | undefined =>
    'resource' in operation ? covers.get(operation.resource.name) : undefined
  const viewerOf = ({ admitted }: Call): Viewer => ({ caller: admitted.caller, now: clock() })
  return {
    ...calls,
    precheck: call => {
      const cover = coverOf(call.admitted.operation)
      return calls.precheck(cover ? coverCall(call, cover, viewerOf(call)) : call)
    },
    perform: call => {
      const cover = coverOf(call.admitted.operation)
      return cover ? performCovered(calls, call, cover, viewerOf(call)) : calls.perform(call)
    },
    offers: (operation, viewer, item) => calls.offers(operation, viewer, coverOf(operation)?.wholeOf(item) ?? item),
  }
}

/** Items of one resource, without the fields that a caller may not see. */
class ItemCover {
  readonly resource: Resource
  readonly #covered = new WeakMap<Snapshot, Map<string, Snapshot>>()
  readonly #whole = new WeakMap<Snapshot, Snapshot>()

  constructor(resource: Resource) {
    this.resource = resource
  }

  /**
   * The same object for the same snapshot and fields: faces remember what they have written for
   * one.
   */
  coveredOf(item: Snapshot, viewer: Viewer): Snapshot {
    const unseen = findUnseenFields(this.resource, viewer, item.value)
    if (unseen.length === 0) return item
    const copies = this.#covered.get(item) ?? new Map<string, Snapshot>()
    const key = unseen.join()
    const covered = copies.get(key) ?? coverItem(item, unseen)
    copies.set(key, covered)
    this.#covered.set(item, copies)
    this.#whole.set(covered, item)
    return covered
  }
  wholeOf(covered: Snapshot): Snapshot {
    return this.#whole.get(covered) ?? covered
  }
}

function coverItem(item: Snapshot, unseen: readonly string[]): Snapshot {
  const value = Object.fromEntries(Object.entries(item.value).filter(([name]) => !unseen.includes(name)))
  const covered: Snapshot = { ...item, value, unseen }
  return isShared(item) ? Object.freeze(covered) : covered
}

function coverCall(call: Call, cover: ItemCover, viewer: Viewer): Call {
  const { input, expects } = call
  const covered = (current: Snapshot | undefined) => current && cover.coveredOf(current, viewer)
  return {
    ...call,
    ...(input && { input: current => input(covered(current)) }),
    ...(expects && { expects: current => expects(covered(current)) }),
  }
}

function performCovered(calls: Calls, call: Call, cover: ItemCover, viewer: Viewer): Maybe<Outcome> {
  const { query, input } = call
  requireSeen(
    cover.resource,
    viewer,
    [...(query?.filters ?? []), ...(query?.sort ?? [])].map(each => each.field),
  )
  const covered = coverCall(call, cover, viewer)
  const isSearch = call.admitted.operation.kind === 'createSearch'
  const inner: Call =
    isSearch && input ? { ...covered, input: current => requireSeenCriteria(input(current), cover, viewer) } : covered
  return chain(calls.perform(inner), outcome => coverOutcome(outcome, cover, viewer))
}

/** A caller can find out the value of a field that it may compare or sort by. */
function requireSeen({ fields }: Resource, viewer: Viewer, names: readonly string[]): void {
  for (const name of names) {
    const field = fields[firstStep(name)]
    if (field && !seesAlways(field, viewer)) refuse({ kind: 'forbidden' })
  }
}
function requireSeenCriteria<I extends { readonly value: object }>(input: I, { resource }: ItemCover, viewer: Viewer) {
  requireSeen(resource, viewer, Object.keys(input.value))
  return input
}

function coverOutcome(outcome: Outcome, cover: ItemCover, viewer: Viewer): Outcome {
  if ('item' in outcome) return { ...outcome, item: cover.coveredOf(outcome.item, viewer) }
  if ('page' in outcome) {
    if (outcome.kind === 'search') requireSeen(cover.resource, viewer, Object.keys(outcome.search.by))
    const { page } = outcome
    const items = page && { ...page, items: page.items.map(each => cover.coveredOf(each, viewer)) }
    return { ...outcome, page: items } as Outcome // only a search can lack a page, and these have one
  }
  return outcome
}
