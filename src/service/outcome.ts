/** The outcome of a call, which a face puts in its own words. */
import type { Values } from '../contract/implement.ts'
import type { FileVersion, ItemPage, JobRow, Snapshot, StoredOctets } from './store.ts'

export type Outcome =
  /** The item after the call. An `output` that is kept is `created`, too. */
  | { readonly kind: 'item'; readonly item: Snapshot; readonly created: boolean }
  | { readonly kind: 'output'; readonly item: Snapshot; readonly output: Values; readonly created: boolean }
  | { readonly kind: 'page'; readonly page: ItemPage }
  | { readonly kind: 'removed'; readonly id: string }
  /** `more`: there are others that may go; the caller asks again. */
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
  /** What came of a call whose answer came later: `answer` is what the bridge keeps of it. */
  | { readonly kind: 'answer'; readonly job: JobRow; readonly answer: string }
  /** By its precondition the caller has the current state: nothing more was read. */
  | { readonly kind: 'unchanged'; readonly current: Current }

/** What a face needs to name a version; `modified` in milliseconds since 1970. */
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
