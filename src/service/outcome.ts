/** The outcome of a call, which a face expresses in its own terms. */
import type { Values } from '../contract/implement.ts'
import type { FileVersion, ItemPage, JobRow, Snapshot, StoredOctets } from './store.ts'

export type Outcome =
  /** The item after the call. A stored `output` counts as `created`, too. */
  | { readonly kind: 'item'; readonly item: Snapshot; readonly created: boolean }
  | { readonly kind: 'output'; readonly item: Snapshot; readonly output: Values; readonly created: boolean }
  | { readonly kind: 'page'; readonly page: ItemPage }
  | { readonly kind: 'removed'; readonly id: string }
  /** `more`: further items may be removable; the caller repeats the request. */
  | { readonly kind: 'bulk'; readonly removed: number; readonly refused: number; readonly more: boolean }
  /** A file; without its octets after a PUT, so that a replay need not keep them. */
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
  /** The outcome of a call whose answer came later: `answer` is the part that the bridge keeps. */
  | { readonly kind: 'answer'; readonly job: JobRow; readonly answer: string }
  /** The precondition shows that the caller has the current state: nothing more was read. */
  | { readonly kind: 'unchanged'; readonly current: Current }

/** The data that identify a version; `modified` in milliseconds since 1970. */
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
