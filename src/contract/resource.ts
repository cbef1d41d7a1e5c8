/** Resources: their fields, states and actions first, then the rules that refer to them. */

import {
  actionsKind,
  allowKind,
  filesKind,
  textKind,
  textListKind,
  textListsKind,
  truthKind,
} from './declaration-kinds.ts'
import type { Fault } from './fault.ts'
import { type Draft, Field, type Fields, type Singular, t, type Value } from './field.ts'
import type { FilterName, NewestFirst, SortName } from './item-query.ts'
import { type Machine, pickByState, type Stays } from './machine.ts'
import {
  fieldsKind,
  type MemberKinds,
  type MembersOf,
  optionalKind,
  requireKnownMembers,
  requireMemberKinds,
} from './member-kinds.ts'
import type { Grant } from './policy.ts'
import { type FieldTexts, type PublicTexts, pickTexts } from './texts.ts'

/**
 * An operation of a resource besides reading and writing: a sub-resource in HTTP, an operation in
 * SOAP.
 */
export interface Action<
  From extends string = string,
  To extends string | undefined = string | undefined,
  I extends Fields = Fields,
  O extends Fields | undefined = Fields | undefined,
  X extends readonly Fault[] = readonly Fault[],
  E extends 'transition' | 'read' | 'move' = 'transition' | 'read' | 'move',
  L extends string = string,
  R extends string = string,
  W extends string | undefined = string | undefined,
> {
  /** States that allow it; empty: all, or a resource without states. */
  readonly from: readonly From[]
  /** The next state; undefined if the state stays the same. */
  readonly to: To
  readonly effect: E
  /**
   * A noun: the path segment of the sub-resource, and the link relation unless `link` names
   * another.
   */
  readonly rel: R
  readonly link: L
  readonly input: I
  readonly output: O
  readonly faults: X
  /** The output is stored and can be read at the sub-resource: 201 with its Location. */
  readonly kept: boolean
  /**
   * The name of a further SOAP operation that does the same without a reply (One-Way, rule B4.10).
   */
  readonly oneWay: W
  readonly title?: string
  readonly description?: string
}
export type AnyAction = Action

export interface ActionSpec<
  I extends Fields,
  O extends Fields | undefined,
  X extends readonly Fault[],
  R extends string = string,
  L extends string = string,
  W extends string | undefined = string | undefined,
> {
  readonly rel: R
  readonly link?: L
  readonly input?: I
  readonly output?: O
  readonly faults?: X
  readonly kept?: boolean
  readonly oneWay?: W
  /** A few words for people, instead of the name. */
  readonly title?: string
  readonly description?: string
}

/**
 * The noun, unless the action names another link relation. NoInfer: only the action's own members
 * infer it.
 */
type LinkRelation<R extends string, L extends string> = [NoInfer<L>] extends [never] ? NoInfer<R> : NoInfer<L>

interface TransitionFrom<S extends string, F extends S> {
  /** Leads to another state. */
  to<
    const To extends S,
    I extends Fields = {},
    O extends Fields | undefined = undefined,
    const X extends readonly Fault[] = readonly [],
    const R extends string = string,
    const L extends string = never,
    const W extends string | undefined = undefined,
  >(state: To, spec: ActionSpec<I, O, X, R, L, W>): Action<F, To, I, O, X, 'transition', LinkRelation<R, L>, R, W>
  /** Does something and stays in its state. */
  stay<
    I extends Fields = {},
    O extends Fields | undefined = undefined,
    const X extends readonly Fault[] = readonly [],
    const R extends string = string,
    const L extends string = never,
    const W extends string | undefined = undefined,
  >(spec: ActionSpec<I, O, X, R, L, W>): Action<F, undefined, I, O, X, 'transition', LinkRelation<R, L>, R, W>
  /** Safe: GET in HTTP. */
  read<O extends Fields, const R extends string, const L extends string = never>(spec: {
    readonly rel: R
    readonly link?: L
    readonly output: O
    readonly title?: string
    readonly description?: string
  }): Action<F, undefined, {}, O, readonly [], 'read', LinkRelation<R, L>, R, undefined>
  /** Replaces the item with another of its kind: afterwards its URI responds with 301. */
  moves<
    I extends Fields = {},
    const X extends readonly Fault[] = readonly [],
    const R extends string = string,
    const L extends string = never,
    const W extends string | undefined = undefined,
  >(
    spec: Omit<ActionSpec<I, undefined, X, R, L, W>, 'output' | 'kept'>,
  ): Action<F, undefined, I, undefined, X, 'move', LinkRelation<R, L>, R, W>
}
const actionMembers: MembersOf<ActionSpec<Fields, Fields, readonly Fault[]>> = {
  rel: true,
  link: true,
  input: true,
  output: true,
  faults: true,
  kept: true,
  oneWay: true,
  title: true,
  description: true,
}

const actionKinds = (): MemberKinds<ActionSpec<Fields, Fields, readonly Fault[]>> => ({
  rel: { ...textKind, cure: "a noun for what the action makes: write it as { rel: 'payment' }" },
  input: optionalKind(fieldsKind),
  output: optionalKind(fieldsKind),
})

/** `on('placed', 'paid').to('cancelled', …)`; `on()` means any state. */
export type On<S extends string> = <const F extends S>(...from: readonly F[]) => TransitionFrom<S, F>

function transitionsFrom(...from: readonly string[]): TransitionFrom<string, string> {
  const act = (
    effect: Action['effect'],
    to: string | undefined,
    spec: ActionSpec<Fields, Fields | undefined, readonly Fault[]>,
  ) => {
    const place = `the action from ${from.length > 0 ? from.join(', ') : 'any state'}${to === undefined ? '' : ` to ${to}`}`
    requireKnownMembers(spec?.rel ? `the action with the rel "${spec.rel}"` : place, spec, actionMembers)
    requireMemberKinds(place, spec, actionKinds())
    return {
      from,
      to,
      effect,
      rel: spec.rel,
      link: spec.link ?? spec.rel,
      input: spec.input ?? {},
      output: spec.output,
      faults: spec.faults ?? [],
      kept: spec.kept ?? false,
      oneWay: spec.oneWay,
      ...pickTexts(spec),
    }
  }
  const built = {
    to: (state: string, spec: never) => act('transition', state, spec),
    stay: (spec: never) => act('transition', undefined, spec),
    read: (spec: never) => act('read', undefined, spec),
    moves: (spec: never) => act('move', undefined, spec),
  }
  // The generic signatures name what `act` copies.
  return built as unknown as TransitionFrom<string, string>
}

/**
 * Bytes below an item with a URI of their own, never in its representation: a picture, a document.
 */
export interface File extends PublicTexts {
  readonly mediaTypes: readonly string[]
  /** Octets. */
  readonly max: number
}

/**
 * A link from an item: to the item that a field refers to, or to the collection that refers to it.
 */
export type Relation<F extends string = string> = { readonly by: F } | { readonly of: string; readonly by: string }

/** At most `count` in `seconds`, per caller. */
export interface Rate {
  readonly count: number
  readonly seconds: number
}

/**
 * What rules grant and limit. `read`: list, get, search, files, reading actions; `change`: PUT,
 * PATCH, files.
 */
export type Doing<A extends string> = 'read' | 'create' | 'change' | 'remove' | 'bulk' | A

export interface Rules<F extends string = string, S extends string = string, A extends string = string> {
  /** The name of one item; the singular of the collection's name by default. */
  readonly one?: string
  readonly relations?: Readonly<Record<string, Relation<F>>>
  /**
   * Fields that filter a list, and references within lists and objects, as paths: `lines.product`
   * selects the items of which some line refers to it. Default none.
   */
  readonly filter?: readonly string[]
  readonly sort?: readonly F[]
  /** The default order of a list; by default the newest first. The id always comes last. */
  readonly order?: readonly (F | `-${F}`)[]
  /**
   * Further indexes: the fields that a list is filtered by, then those of its order. A filter or a
   * sort has an index of its own; lists that have both may need one more. `-_created` at the end
   * means the newest first, the order of a resource that declares none.
   */
  readonly indexes?: readonly (readonly (F | `-${F}` | NewestFirst)[])[]
  /**
   * Keys, each of one field or several, that no two items may share: a change that violates this is
   * refused with 409. An item in which a field of the key is absent or null does not have the key.
   */
  readonly unique?: readonly (readonly F[])[]
  /**
   * The treatment of lists that no index serves, and that examine many items to return a few.
   * `warn`, the default: a warning at start. `refuse`: 400, with the index that would serve them,
   * if there are more than 10,000 items. `accept`: nothing. Lists that policy restricts to a
   * caller's own items, and searches by words, are never refused.
   */
  readonly unserved?: 'warn' | 'refuse' | 'accept'
  /** Texts that `q` searches, as paths through refs and lists: `['note', 'lines.product.name']`. */
  readonly search?: readonly string[]
  /** Fields that narrow a search in addition to `q`. */
  readonly searchBy?: readonly F[]
  /** States that allow PUT and PATCH; default all. */
  readonly edit?: readonly S[]
  /** States that allow DELETE; default all. */
  readonly remove?: readonly S[]
  /** PUT creates an item with an id that the client chooses. */
  readonly putCreates?: boolean
  /** DELETE of the collection, always with a filter (rule A4.7). */
  readonly bulk?: boolean
  /** Whether PUT, PATCH and DELETE of an item require a precondition (428); default true. */
  readonly precondition?: boolean
  /** An operation without a grant is not offered. */
  readonly allow: Readonly<Partial<Record<Doing<A>, readonly Grant[]>>>
  /**
   * Faults besides those of every service. `create` and `change` are for `derive`, `remove` and
   * `bulk` for `removing`, `search` for `searching`, the name of a file for `receiving`; a provider
   * may end any of these operations with them. Actions declare their own.
   */
  readonly faults?: Readonly<Partial<Record<string, readonly Fault[]>>>
  readonly limits?: Readonly<Partial<Record<Doing<A>, Rate>>>
  /**
   * Shared caches may keep it for this many seconds; default private, and revalidated each time.
   */
  readonly cache?: { readonly maxAge: number }
  /** The operations that are offered as SOAP messages; default all. */
  readonly messages?: readonly ('get' | 'list' | 'create' | 'replace' | 'delete' | 'search' | A | (string & {}))[]
}

const ruleKinds = (): MemberKinds<Rules> => ({
  allow: allowKind,
  filter: optionalKind(textListKind),
  sort: optionalKind(textListKind),
  order: optionalKind(textListKind),
  indexes: optionalKind(textListsKind),
  unique: optionalKind(textListsKind),
  search: optionalKind(textListKind),
  searchBy: optionalKind(textListKind),
  edit: optionalKind(textListKind),
  remove: optionalKind(textListKind),
  messages: optionalKind(textListKind),
})

/** The places that rules declare faults for, besides the files of a resource. */
export const faultPlaces = ['create', 'change', 'remove', 'bulk', 'search'] as const
type FaultPlace<P extends string> = (typeof faultPlaces)[number] | P

/** The rules that the types of a client follow; only a type, without a value. */
export interface Ruled {
  readonly one: string
  readonly filter: string
  readonly sort: string
  readonly search: string
  readonly searchBy: string
  readonly edit: string
  readonly remove: string
  readonly relations: Readonly<Record<string, Relation>>
  readonly bulk: boolean
  readonly putCreates: boolean
  readonly messages: string
  readonly allow: Readonly<Partial<Record<string, readonly Grant[]>>>
  readonly faults: Readonly<Partial<Record<string, readonly Fault[]>>>
}

/** Refuses other members, with a text that names each and the cure. */
type OnlyNamed<T, Names, Cure extends string> = {
  readonly [K in Exclude<keyof T, Names>]: `${K & string} ${Cure}`
}

/**
 * If a tuple is among them, the compiler infers `[...staff, customer]` as one, like `Allow` does.
 */
type GrantList = readonly [Grant, ...Grant[]] | readonly Grant[]

/** The rules about lists, which a single resource does not have. */
export type ListRule =
  | 'filter'
  | 'sort'
  | 'order'
  | 'indexes'
  | 'unique'
  | 'unserved'
  | 'search'
  | 'searchBy'
  | 'putCreates'
  | 'bulk'
/** `boolean extends One` holds for an arbitrary resource, which may have a list. */
export type IsSingle<One extends boolean> = boolean extends One ? false : One
type SingleRules<One extends boolean> =
  IsSingle<One> extends true ? { readonly [K in ListRule]?: `a single resource has no list: leave ${K} out` } : {}
type SingleFields<F extends Fields, One extends boolean> =
  IsSingle<One> extends true
    ? 'id' extends keyof F
      ? { readonly fields: { readonly id: 'a single resource has no identifier: leave id out' } }
      : {}
    : {}

type NestedRule<F extends Fields, One extends boolean, W extends keyof F & string> = [W] extends [never]
  ? {}
  : IsSingle<One> extends true
    ? { readonly within: 'a single resource is in no other: leave within out' }
    : F[W] extends Field<string, false, false>
      ? {}
      : { readonly within: 'each item is in one other: let within name a required t.ref()' }

/** The faults that rules declare for a place, as a union. */
export type RuleFaults<U extends Ruled, D extends string> = D extends keyof U['faults']
  ? NonNullable<U['faults'][D]>[number]
  : never

/** Things of one kind, as `resource` declares them. */
export class Resource<
  N extends string = string,
  F extends Fields = Fields,
  S extends string = string,
  A extends Readonly<Record<string, AnyAction>> = Readonly<Record<string, AnyAction>>,
  P extends string = string,
  U extends Ruled = Ruled,
  One extends boolean = boolean,
> {
  declare readonly types: {
    readonly fields: F
    readonly states: S
    readonly actions: A
    readonly rules: U
    readonly single: One
  }
  declare readonly name: N
  declare readonly fields: F
  declare readonly states: readonly S[]
  declare readonly actions: A
  declare readonly files: Readonly<Record<P, File>>
  declare readonly given: Rules
  declare readonly texts: PublicTexts
  /** Its name in the database, if that differs. */
  declare readonly formerName: string | undefined
  /** There is exactly one item, or none yet: it has no list, and no identifier that callers see. */
  declare readonly isSingle: boolean
  /** The field that names each item's parent; undefined if they have none. */
  declare readonly within: string | undefined

  constructor(members: {
    name: N
    fields: F
    states: readonly S[]
    actions: A
    files: Readonly<Record<P, File>>
    given: Rules
    texts: PublicTexts
    formerName?: string | undefined
    isSingle?: boolean
    within?: string | undefined
  }) {
    Object.assign(this, { isSingle: false }, members)
  }

  /** The second phase: everything that names fields, states and actions of the first. */
  rules<
    const Name extends string = IsSingle<One> extends true ? N : Singular<N>,
    const Filter extends FilterName<keyof F & string> = never,
    const Sort extends keyof F & string = never,
    const Search extends string = never,
    const By extends keyof F & string = never,
    const Edit extends S = S,
    const Remove extends S = S,
    const Relations extends Readonly<Record<string, Relation<keyof F & string>>> = {},
    const Bulk extends boolean = false,
    const PutCreates extends boolean = false,
    const Messages extends string = string,
    const Allow extends Ruled['allow'] = {},
    const Faults extends Ruled['faults'] = {},
  >(
    given: SingleRules<One> & {
      readonly order?: readonly SortName<keyof F & string>[]
      readonly indexes?: readonly (readonly (SortName<keyof F & string> | NewestFirst)[])[]
      readonly unique?: readonly (readonly (keyof F & string)[])[]
      readonly unserved?: Rules['unserved']
      readonly precondition?: boolean
      readonly limits?: Rules<string, string, keyof A & string>['limits']
      readonly cache?: Rules['cache']
      readonly one?: Name
      readonly filter?: readonly Filter[]
      readonly sort?: readonly Sort[]
      readonly search?: readonly Search[]
      readonly searchBy?: readonly By[]
      readonly edit?: readonly Edit[]
      readonly remove?: readonly Remove[]
      readonly relations?: Relations
      readonly bulk?: Bulk
      readonly putCreates?: PutCreates
      readonly messages?: readonly Messages[]
      readonly allow: Allow &
        Readonly<Partial<Record<Doing<keyof A & string>, GrantList>>> &
        OnlyNamed<
          Allow,
          Doing<keyof A & string>,
          'is not an operation to allow: name read, create, change, remove, bulk or an action'
        >
      readonly faults?: Faults &
        OnlyNamed<Faults, FaultPlace<P>, 'has no faults: name create, change, remove, bulk, search or a file'>
    },
  ): Resource<
    N,
    F,
    S,
    A,
    P,
    {
      one: Name
      filter: Filter
      sort: Sort
      search: Search
      searchBy: By
      edit: Edit
      remove: Remove
      relations: Relations
      bulk: Bulk
      putCreates: PutCreates
      messages: Messages
      allow: Allow
      faults: Faults
    },
    One
  > {
    requireMemberKinds<Rules>(`${this.name}.rules`, given as unknown as Rules, ruleKinds())
    // The narrower types of the names are dropped here; `review` checks the names again at start.
    return new Resource({ ...this, given: given as unknown as Rules })
  }

  get stays(): Stays {
    return Object.fromEntries(pickByState(this, (name, { effect }) => ((effect as string) === 'stay' ? [name] : [])))
  }

  get machine(): Machine {
    const edges = pickByState(this, (name, { to }) => (to === undefined ? [] : [[name, to] as const]))
    return Object.fromEntries(edges.map(([state, each]) => [state, Object.fromEntries(each)]))
  }
}
// biome-ignore lint/suspicious/noExplicitAny: the bound of a type parameter; no value has it
export type AnyResource = Resource<any, any, any, any, any, any, any>

/** Clients do not send the field of the parent: the address names it. */
type WithParent<F extends Fields, W> = [W] extends [never]
  ? F
  : { readonly [K in keyof F]: K extends W ? Field<F[K]['type'], false, 'parent'> : F[K] }

type WithState<F extends Fields, S extends string> = [S] extends [never]
  ? F
  : 'state' extends keyof F
    ? { readonly [K in keyof F]: K extends 'state' ? Field<S, false, true> : F[K] }
    : F & { readonly state: Field<S, false, true> }

/** The first phase: fields, states and actions. A new item is in the first state. */
export function resource<
  const N extends string,
  F extends Fields,
  const S extends string = never,
  A extends Readonly<Record<string, AnyAction>> = {},
  const P extends string = never,
  const One extends boolean = false,
  const W extends keyof F & string = never,
>(
  name: N,
  declaration: SingleFields<F, One> &
    NestedRule<F, One, NoInfer<W>> & {
      readonly fields: F
      /**
       * The field that names the parent, a required `t.ref()`: each item is part of an item of
       * another resource, at `/orders/{order}/notes`. Callers that may not read the parent find
       * none of its items.
       */
      readonly within?: W
      /**
       * There is exactly one: the settings of a clinic. It has no identifier and no list; its
       * address is `/settings`. Default: false.
       */
      readonly single?: One
      readonly states?: readonly S[]
      readonly actions?: (on: On<S>) => A
      readonly files?: Readonly<Record<P, File>>
      /** A few words for people, instead of the name. */
      readonly title?: string
      readonly description?: string
      /**
       * The original name of a renamed resource: the database keeps this name, which older programs
       * know, so old and new can run at once.
       */
      readonly was?: string
      /** State → what it means for an item. */
      readonly stateDescriptions?: { readonly [K in NoInfer<S>]?: string }
    },
): Resource<N, WithState<WithParent<F, W>, S>, S, A, P, Ruled, One> {
  requireKnownMembers(`the resource ${name}`, declaration, resourceMembers)
  // The types of the rules do not include the kind of a member.
  requireMemberKinds<object>(`the resource ${name}`, declaration, resourceKinds())
  const { states = [], single = false, within } = declaration
  const [first, ...others] = states
  const parent = declaration.fields[within ?? '']
  const fields = {
    // Callers have no use for it, so no message has it.
    ...(single && { id: t.id(singleId).internal() }),
    ...declaration.fields,
    // Content does not set it; no field has the name ''.
    ...(parent && { [within as string]: parent.readOnly() }),
    ...(first !== undefined && { state: stateField([first, ...others], declaration) }),
  }
  return new Resource({
    name,
    fields: fields as unknown as WithState<WithParent<F, W>, S>, // the same record, with a narrower `state`
    states,
    actions: declaration.actions?.(transitionsFrom as unknown as On<S>) ?? ({} as A), // A's default
    files: declaration.files ?? ({} as Record<P, File>),
    given: { allow: {} },
    texts: pickTexts(declaration),
    formerName: declaration.was,
    isSingle: single,
    within,
  })
}

/** The identifier of the one item of a single resource, in the store and in the change feed. */
export const singleId = 'single'

/** The field in place of `t.state()`, which may have a description. */
function stateField(
  states: readonly [string, ...string[]],
  { fields, stateDescriptions }: { fields: Fields; stateDescriptions?: FieldTexts['values'] },
): Field<string, false, true> {
  const texts: FieldTexts = { ...fields['state']?.texts, ...(stateDescriptions && { values: stateDescriptions }) }
  const field = t.enum(...states).readOnly()
  return new Field(field.shape, { ...field, texts, access: fields['state']?.access })
}

const resourceMembers: MembersOf<Parameters<typeof resource>[1]> = {
  fields: true,
  states: true,
  actions: true,
  files: true,
  title: true,
  description: true,
  was: true,
  stateDescriptions: true,
  single: true,
  within: true,
}

const resourceKinds = (): MemberKinds<Parameters<typeof resource>[1]> => ({
  fields: fieldsKind,
  states: optionalKind(textListKind),
  actions: optionalKind(actionsKind),
  files: optionalKind(filesKind),
  was: optionalKind(textKind),
  single: optionalKind(truthKind),
  within: optionalKind(textKind),
})

/** A stored item, as handlers see it. */
export type Item<R extends AnyResource> = Value<R['types']['fields']>
/** An item as a client sends it to create or replace one. */
export type DraftItem<R extends AnyResource> = Draft<R['types']['fields']>

export interface ItemLink {
  readonly href: string
}
/**
 * The link relations that a state offers, by its actions. A caller sees those that it may follow.
 */
type ActionLinks<S extends string, A> = {
  [K in keyof A]: A[K] extends AnyActionFrom<infer From, infer L> ? (S extends From ? L : never) : never
}[keyof A]
// biome-ignore lint/suspicious/noExplicitAny: only From and L are asked for
type AnyActionFrom<From extends string, L extends string> = Action<From, any, any, any, any, any, L>
type Links<L extends string> = { readonly self: ItemLink; readonly collection?: ItemLink } & {
  readonly [K in L | 'edit' | 'delete']?: ItemLink
}

/** An item as a client receives it: a union by `state`, each member with the links of its state. */
export type Representation<R extends AnyResource> = [R['types']['states']] extends [never]
  ? Value<R['types']['fields']> & { readonly _links: Links<ActionLinks<string, R['types']['actions']>> }
  : {
      [K in R['types']['states']]: Omit<Value<R['types']['fields']>, 'state'> & {
        readonly state: K
        readonly _links: Links<ActionLinks<K, R['types']['actions']>>
      }
    }[R['types']['states']]
