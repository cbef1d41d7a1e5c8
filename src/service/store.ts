/**
 * The port to a database. The service asks; a store answers, synchronously or not. What every store
 * holds, by number:
 *  (1) A version is larger than any its key has had before, also after a removal: no validator ever
 *      returns.
 *  (2) `write` resolves only after all it did is durable; what its work throws leaves no trace.
 *  (3) Within one `write` everything read is what will stand beside the change when it commits.
 *  (4) Values come back exactly as they went in, in the contract's types.
 */
import type { Maybe } from '../base/maybe.ts'
import type { Values } from '../contract/implement.ts'
import type { JobState } from '../contract/job.ts'

/**
 * One stored item. `value` has every field of the newest contract that is present, the id and state
 * among them.
 */
export interface Snapshot {
  readonly id: string
  readonly version: number
  /** Milliseconds since 1970, of the last change. */
  readonly modified: number
  readonly created: number
  readonly value: Values
  /** Outputs of actions that are kept, by action. */
  readonly kept: Values
}
/** An identifier that once named an item: removed, or merged into another. */
export interface Former {
  readonly id: string
  readonly version: number
  readonly to: string | undefined
}
export const isFormer = (found: Snapshot | Former): found is Former => !('value' in found)

export type Comparison = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in'
export interface Filter {
  readonly field: string
  readonly is: Comparison
  /** A typed value; for `in` several. */
  readonly value: unknown
}
export interface Sort {
  readonly field: string
  readonly descending: boolean
}
/**
 * What of a collection is asked for. Every name in here is one of the contract's; values are bound,
 * never spelled out.
 */
export interface Query {
  readonly filters: readonly Filter[]
  /** The rows this caller may see: all, or those where any of these hold field by field. */
  readonly within: 'all' | readonly Readonly<Record<string, string>>[]
  /** Words that must all occur, whole and in any case, somewhere in the resource's search paths. */
  readonly words?: readonly string[]
  /** Empty: the newest first. The id, ascending, is always last. */
  readonly sort: readonly Sort[]
  readonly size: number
  /** Rows to pass over (page by number). */
  readonly offset?: number
  /** After or before the row with these sort values, in order, then its id (page by cursor). */
  readonly from?: { readonly keys: readonly unknown[]; readonly id: string; readonly backwards: boolean }
  /** Count all matches too. */
  readonly counted: boolean
}
export interface ItemPage {
  readonly items: readonly Snapshot[]
  readonly total: number | undefined
  /**
   * Whether rows come after the last and before the first of these; `before` is only found out for
   * a cursor or offset.
   */
  readonly more: { readonly before: boolean; readonly after: boolean }
  /**
   * Sort values of the first and the last row, for cursors: the newest-first order gives [created].
   */
  readonly edges: { readonly first: readonly unknown[]; readonly last: readonly unknown[] } | undefined
}

/**
 * Octets as a store takes them: those of one piece as they are, more by the name that their pieces
 * were staged under.
 */
export interface FileOctets {
  readonly length: number
  readonly here: Uint8Array | undefined
  readonly name: string | undefined
}
export interface StoredOctets extends FileOctets {
  /**
   * From octet `from` up to `to`, which is not among them, piece by piece. It may outlast the look
   * that it came from. Who is done with a piece asks for the next by `next(true)`: it is freed
   * then.
   */
  read(from: number, to: number): AsyncGenerator<Uint8Array, void, boolean | undefined>
}
/** A file at one version, but for what is in it. */
export interface FileVersion {
  readonly mediaType: string
  readonly version: number
  readonly modified: number
}
export interface StoredFile extends FileVersion {
  readonly octets: StoredOctets
}

/** One row of a memory that forgets: idempotency keys, searches, replay, revoked tokens. */
export interface ExpiringRecord {
  readonly value: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

export interface JobRow {
  readonly id: string
  readonly job: string
  readonly state: JobState
  /** Parts of one. */
  readonly progress: number
  readonly owner: string
  /** JSON texts, written and read by the service with the job's fields. */
  readonly caller: string
  readonly input: string
  readonly output: string | undefined
  readonly failure: string | undefined
  readonly tries: number
  readonly version: number
  readonly created: number
  readonly modified: number
  /** Milliseconds since 1970: a running job whose lease is over may be taken by another worker. */
  readonly leased: number
  readonly due: number
}

/** One line of the audit: who did what to which, by which face. */
export interface AuditRecord {
  readonly at: number
  readonly subject: string
  readonly operation: string
  readonly resource: string
  readonly id: string
  readonly version: number | undefined
  readonly face: string
  readonly request: string
}

/** One committed change, in the order of commits (rule C6.1). */
export interface ChangeRecord {
  readonly sequence: number
  readonly at: number
  readonly resource: string
  readonly id: string
  readonly version: number
  readonly what: 'created' | 'changed' | 'removed' | 'moved'
  readonly operation: string
}

export interface StoreReader {
  get(resource: string, id: string): Maybe<Snapshot | Former | undefined>
  list(resource: string, query: Query): Maybe<ItemPage>
  file(resource: string, id: string, part: string): Maybe<StoredFile | undefined>
  recall(space: string, key: string): Maybe<ExpiringRecord | undefined>
  job(id: string): Maybe<JobRow | undefined>
  /** Jobs in this state, those that changed last first. */
  jobs(state: JobState, limit: number): Maybe<readonly JobRow[]>
  changes(after: number, limit: number): Maybe<readonly ChangeRecord[]>
  /**
   * The sequence of the last change that was swept away; 0: none was. Who has read up to there has
   * missed nothing.
   */
  swept(): Maybe<number>
}

export interface StoreWriter extends StoreReader {
  /**
   * Writes the whole item; `seen` is the version it was read at, undefined for one that must not be
   * there. Answers what now stands.
   */
  put(resource: string, id: string, value: Values, kept: Values, seen: number | undefined, now: number): Maybe<Snapshot>
  remove(resource: string, id: string, seen: number, now: number): Maybe<void>
  /** Removes it in favour of another of its kind. */
  move(resource: string, id: string, to: string, seen: number, now: number): Maybe<void>
  putFile(
    resource: string,
    id: string,
    part: string,
    file: { readonly mediaType: string; readonly octets: FileOctets },
    now: number,
  ): Maybe<FileVersion>
  /**
   * Keeps pieces from this number on. They are nobody's until `putFile`, and are swept when that
   * does not come within the hour.
   */
  stage(name: string, number: number, pieces: readonly Uint8Array[], now: number): Maybe<void>
  /** Pieces that are nobody's are not wanted any more. Those of a file stay. */
  discard(name: string): Maybe<void>
  /** False when the key is there and has not expired: nothing is written then. */
  remember(space: string, key: string, memo: ExpiringRecord, now: number): Maybe<boolean>
  forget(space: string, key: string): Maybe<void>
  putJob(row: JobRow): Maybe<void>
  /** Forgets a job at once, whatever became of it. */
  dropJob(id: string): Maybe<void>
  /** Takes the next job that is due and nobody's, or whose lease is over, for this worker. */
  lease(jobs: readonly string[], now: number, until: number): Maybe<JobRow | undefined>
  record(deed: AuditRecord): Maybe<void>
  /** Appends to the change feed. */
  changed(change: Omit<ChangeRecord, 'sequence'>): Maybe<void>
}

export interface Store {
  /** One consistent look. */
  read<T>(work: (reader: StoreReader) => Maybe<T>): Maybe<T>
  /**
   * One transaction: see (2) and (3). Work may run again after a serialisation failure, so it has
   * no other effects.
   */
  write<T>(work: (writer: StoreWriter) => Maybe<T>): Promise<T>
  /**
   * Deletes what has expired: memos, finished jobs, old changes, pieces that are no file's. Answers
   * how many rows went.
   */
  sweep(now: number): Promise<number>
  /** Whether it can answer now. */
  ready(): Promise<boolean>
  /** How much of it is in use now, where that can be said. */
  usage?(): Usage | undefined
  close(): Promise<void>
}

/** What an operator wants to know of a store that is busy. */
export interface Usage {
  /** Works that wait for a connection, or for their turn to write. */
  readonly waiting: number
  /** Of a pool: in use or being made, and at rest. */
  readonly connections?: { readonly busy: number; readonly idle: number }
}

/**
 * A store that can't be reached or is busy throws this; the service answers 503 or Receiver (rule
 * A7.16).
 */
export class Unavailable {
  /** Seconds. */
  readonly after: number
  constructor(after = 1) {
    this.after = after
  }
}
