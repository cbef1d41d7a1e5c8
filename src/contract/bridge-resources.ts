/** Resources that a map describes for `diglot bridge`: the exchanges that read and change items. */
import type { BodyValue, Port } from './exchange.ts'
import type { AnyService } from './service.ts'

/**
 * A resource, given by the names of its exchanges, all of one port, and of members of its items.
 */
export interface ResourceDescription {
  /** Sends one identifier, and returns an item; `safe: true`. */
  readonly get: string
  /** Requires no input, and returns items of the same type; `safe: true`. */
  readonly list: string
  readonly create?: string
  readonly update?: string
  readonly remove?: string
  /** The member of an item that identifies it: text or a whole number. */
  readonly id: string
  /**
   * The member by which the backend recognizes a changed item, which `update` or `remove` sends.
   * Default: one whose name means a version.
   */
  readonly version?: string
}

type BridgedExchanges<S extends AnyService> = S['ports'][number] extends infer P
  ? P extends Port<string, infer E>
    ? E
    : never
  : never

/** The names of members, of one value with members. */
type MemberNames<T> = T extends readonly unknown[] | Uint8Array ? never : T extends object ? keyof T & string : never
/** The answer is the item, or has it as its only member. */
type ItemMembers<T> = MemberNames<T> | (T extends object ? MemberNames<NonNullable<T[keyof T]>> : never)
type ItemMembersOf<X> = X extends { readonly output: infer O } ? ItemMembers<BodyValue<O>> : never

type DescriptionIn<E> = E extends unknown
  ? {
      [G in keyof E & string]: ResourceDescription & {
        readonly get: G
        readonly list: keyof E & string
        readonly create?: keyof E & string
        readonly update?: keyof E & string
        readonly remove?: keyof E & string
        readonly id: ItemMembersOf<E[G]>
        readonly version?: ItemMembersOf<E[G]>
      }
    }[keyof E & string]
  : never

/**
 * The served resources in the map of a SOAP service, by name. `true` is a resource that `diglot
 * bridge` finds by the names of exchanges. Names that the contract does not have do not compile:
 * `export const resources = { parts: { get: 'FetchStockItem', list: 'Inventory', id: 'partNo' } }
 * satisfies BridgeResources<typeof contract>`.
 */
export interface BridgeResources<S extends AnyService> {
  readonly [name: string]: true | DescriptionIn<BridgedExchanges<S>>
}
