/** What a call came to, for a face to put in its words. */
import type { Values } from '../contract/implement.ts'
import type { FileVersion, ItemPage, JobRow, Snapshot, StoredOctets } from './store.ts'

export type Outcome =
  /**
   * An item, as it stands after the call. `created` also after a kept output: then `output` is what
   * was created.
   */
  | { readonly kind: 'item'; readonly item: Snapshot; readonly created: boolean }
  | { readonly kind: 'output'; readonly item: Snapshot; readonly output: Values; readonly created: boolean }
  | { readonly kind: 'page'; readonly page: ItemPage }
  | { readonly kind: 'removed'; readonly id: string }
  | { readonly kind: 'bulk'; readonly removed: number; readonly refused: number }
  /**
   * A file as it stands; without its octets after it was put: they need not be kept for who asks
   * for the same again.
   */
  | {
      readonly kind: 'file'
      readonly item: Snapshot
      readonly file: FileVersion
      readonly octets?: StoredOctets
      readonly created: boolean
    }
  | { readonly kind: 'search'; readonly id: string; readonly search: Search; readonly page: ItemPage | undefined }
  | { readonly kind: 'job'; readonly job: JobRow; readonly created: boolean }
  | { readonly kind: 'result'; readonly job: JobRow; readonly output: Values }
  /** The precondition says that the caller has what stands: nothing was read further. */
  | { readonly kind: 'unchanged'; readonly current: Current }

/** What a face needs to name a version. Milliseconds since 1970. */
export interface Current {
  readonly id: string
  readonly version: number
  readonly modified: number
}

/** The criteria of a search. */
export interface Search {
  readonly q: string
  readonly by: Readonly<Record<string, unknown>>
}
