/**
 * The port to a database. The service asks; a store answers, synchronously or not. What always
 * holds in every store, by number:
 *  (1) A version is an integer below 2^53, larger than any that its key has had before, also after
 *      a removal, and after the database was restored to an earlier state: no validator returns.
 *  (2) `write` resolves only after all its changes are durable; work that throws leaves no trace.
 *  (3) Within one `write`, everything read is still current when the change commits. For lists,
 *      this requires that writers report changes to the feed (`changed`), as the service does.
 *  (4) Values are read exactly as they were written, in the contract's types.
 */

import type { Maybe } from '../base/maybe.ts'
import { ownMember } from '../base/objects.ts'
import type { Pieces } from '../base/octets.ts'
import type { Comparison } from '../contract/filter-field.ts'
import type { Values } from '../contract/implement.ts'
import type { JobState } from '../contract/job.ts'
import type { Restriction } from '../contract/policy.ts'
import type { Doubt, Refusal } from './refusal.ts'

/**
 * One stored item. `value` has all present fields of the newest contract, id and state included.
 */
export interface Snapshot {
  readonly id: string
  readonly version: number
  /** Time of the last change, in milliseconds since 1970; NaN if its provider does not know it. */
  readonly modified: number
  readonly created: number
  readonly value: Values
  /** Kept outputs of actions, by action. */
  readonly kept: Values
  /** Fields that its reader may not see, so that `value` lacks them. Default: none. */
  readonly unseen?: readonly string[]
}
/** A store freezes a snapshot that it gives to several readers, until the item changes. */
export const isShared = (item: Snapshot): boolean => Object.isFrozen(item)

/**
 * The item that a change replaces. If its value is known, unchanged parts are not written again.
 */
export type Replaced = Pick<Snapshot, 'version'> & Partial<Pick<Snapshot, 'value'>>

/** An identifier that once named an item: removed, or merged into another, at this version. */
export interface Former {
  readonly id: string
  readonly version: number
  readonly to: string | undefined
}
export const isFormer = (found: Snapshot | Former): found is Former => !('value' in found)

export interface Filter {
  readonly field: string
  readonly is: Comparison
  /** A typed value; for `in` several; for `absent` whether it is, or is null. */
  readonly value: unknown
}
export interface Sort {
  readonly field: string
  readonly descending: boolean
}
/**
 * A query of a collection. Every name in it is one of the contract's; values are bound, never
 * written into SQL.
 */
export interface Query {
  readonly filters: readonly Filter[]
  /**
   * The rows that the caller may see: all, or those that equal one of these records field by field.
   */
  readonly within: Restriction
  /** Words that must all occur, whole and in any case, in the resource's search paths. */
  readonly words?: readonly string[]
  /** The search paths in which words are looked for. Default: all. */
  readonly paths?: readonly string[]
  /**
   * Empty: the order of the contract, otherwise the newest first. The id, ascending, is always the
   * last key.
   */
  readonly sort: readonly Sort[]
  readonly size: number
  /**
   * The page ends before its items exceed this many octets, but has at least one. Default: no end.
   */
  readonly octets?: number
  /** Rows to skip (page by number). */
  readonly offset?: number
  /** After or before the row with these sort values, in order, then its id (page by cursor). */
  readonly from?: PagePlace & { readonly backwards: boolean }
  /** The party whose turn it is, if long reads wait for each other. */
  readonly party?: string
  /** Also count the matches: up to `countedMax`, or all of them, however many. */
  readonly counted: boolean | 'exact'
}
/** A row's place in an order: its sort values (`[created]` where there are none), and its id. */
export interface PagePlace {
  readonly keys: readonly unknown[]
  readonly id: string
}
/** This limit keeps the cost of a page independent of its collection. */
export const countedMax = 1000
/** A page by number reads all rows before it: beyond this item, pages are by cursor. */
export const numberedItemsMax = 10_000

/** Whether an item is among the rows that a query is restricted to. */
export const isWithin = (value: Values, rows: Query['within']): boolean =>
  rows === 'all' || rows.some(row => Object.entries(row).every(([field, text]) => ownMember(value, field) === text))

export interface ItemPage {
  readonly items: readonly Snapshot[]
  /**
   * Undefined if the query does not ask for it, if more than `countedMax` match, or if a provider
   * does not report it.
   */
  readonly total: number | undefined
  /**
   * Whether there are rows before the first and after the last; `before` is found only for a cursor
   * or offset.
   */
  readonly more: { readonly before: boolean; readonly after: boolean }
  /** Where the page begins and ends, for cursors: at an item, or where the examination ended. */
  readonly edges: { readonly first: PagePlace; readonly last: PagePlace } | undefined
  /** Octets of the items as they are stored, nearly those of their JSON. */
  readonly octets: number
  /** It has fewer items than `size`, because of their octets, or because the examination ended. */
  readonly isCut: boolean
  /** This many rows were examined, the most for one request: further ones may match. */
  readonly looked?: number
}

/** Octets for a store: one piece in memory, or the name under which pieces were staged. */
export interface FileOctets {
  readonly length: number
  readonly inMemory: Uint8Array | undefined
  readonly name: string | undefined
}
export interface StoredOctets extends FileOctets {
  /**
   * Octets from `from` up to but without `to`, piece by piece; see base/octets.ts. Reading may
   * outlast the `read` that found them.
   */
  read(from: number, to: number): Pieces
}
/** A file at one version, without its octets. */
export interface FileVersion {
  readonly mediaType: string
  readonly version: number
  readonly modified: number
}
export interface StoredFile extends FileVersion {
  readonly octets: StoredOctets
}

/** A record that expires: an idempotency key, a search, a seen message, a revoked token. */
export interface ExpiringRecord {
  readonly value: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

/**
 * Milliseconds by which the clocks of instances may differ. A time further ahead is from a clock
 * that has been set back since.
 */
export const clocksDifferMs = 300_000

export interface JobRow {
  readonly id: string
  readonly job: string
  readonly state: JobState
  /** From 0 to 1. */
  readonly progress: number
  readonly owner: string
  /** JSON texts that the service writes and reads, as `input` and `output`. */
  readonly caller: string
  readonly input: string
  readonly output: string | undefined
  readonly failure: string | undefined
  readonly tries: number
  readonly version: number
  readonly created: number
  readonly modified: number
  /** Milliseconds since 1970: after it another worker may take a running job. */
  readonly leased: number
  readonly due: number
  /** The party whose turn it is: the caller that started it, or the host that a reply goes to. */
  readonly party: string
  /** The place in the turns of all parties: each has one job in a turn. */
  readonly turn: number
}

/** One line of the audit: the deed of a subject, by a face. */
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

/** Deeds by sequences that follow each other: the first and the last. */
export type DeedRun = readonly [first: number, last: number]

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
  /** The items with these ids that exist, by id, read in one query. */
  getAll(resource: string, ids: readonly string[]): Maybe<ReadonlyMap<string, Snapshot>>
  list(resource: string, query: Query): Maybe<ItemPage>
  /** Whether there is any item that all filters select. */
  has(resource: string, filters: readonly Filter[]): Maybe<boolean>
  file(resource: string, id: string, part: string): Maybe<StoredFile | undefined>
  recall(space: string, key: string): Maybe<ExpiringRecord | undefined>
  /** The records of a space by their keys, in their order: for operators, not for a request. */
  recallAll(space: string, limit?: number): Maybe<ReadonlyMap<string, ExpiringRecord>>
  job(id: string): Maybe<JobRow | undefined>
  /**
   * The next turn of a party among queued jobs of these names, and how many of its own wait; with
   * `until`, of those that are due by then.
   */
  nextTurn(
    jobs: readonly string[],
    party: string,
    until?: number,
  ): Maybe<{ readonly turn: number; readonly waiting: number }>
  /** Whether one of these names may be leased now: it is due, or the lease of a worker has ended. */
  hasDueJob(jobs: readonly string[], now: number): Maybe<boolean>
  /** Jobs in this state, the last changed first. */
  jobs(state: JobState, limit: number): Maybe<readonly JobRow[]>
  /** How many they are, counted up to the limit. */
  countJobs(state: JobState, limit: number): Maybe<number>
  changes(after: number, limit: number): Maybe<readonly ChangeRecord[]>
  /**
   * Of the audit: those of the next deeds after a sequence that are before a time, the oldest
   * first. The limit bounds how many deeds are looked at, so the time that this takes, too.
   */
  deeds(after: number, before: number, limit: number): Maybe<readonly (AuditRecord & { sequence: number })[]>
  /** The sequence of the last deed that `deeds` looks at; undefined at the end of the audit. */
  lastDeed(after: number, limit: number): Maybe<number | undefined>
  /**
   * The sequence of the last expired change, or 0: a reader that has reached it has missed nothing.
   */
  swept(): Maybe<number>
}

export interface StoreWriter extends StoreReader {
  /** Reads an item to change it: another write that does so waits until this one has ended. */
  getForChange(resource: string, id: string): Maybe<Snapshot | Former | undefined>
  /**
   * Writes the item and returns it. An item that is replaced must still have that version;
   * otherwise there must be none.
   */
  put(
    resource: string,
    id: string,
    value: Values,
    kept: Values,
    replaced: Replaced | undefined,
    now: number,
  ): Maybe<Snapshot>
  remove(resource: string, id: string, version: number, now: number): Maybe<void>
  /** Removes the item and lets its identifier lead to another item of the resource. */
  move(resource: string, id: string, to: string, version: number, now: number): Maybe<void>
  putFile(
    resource: string,
    id: string,
    part: string,
    file: { readonly mediaType: string; readonly octets: FileOctets },
    now: number,
  ): Maybe<FileVersion>
  /**
   * Stores pieces from this number on. They belong to no file until `putFile`, and are removed if
   * that does not follow within the hour.
   */
  stage(name: string, number: number, pieces: readonly Uint8Array[], now: number): Maybe<void>
  /** Removes staged pieces. Those of a file stay. */
  discard(name: string): Maybe<void>
  /** False, and without effect, if the key exists and has not expired. */
  remember(space: string, key: string, memo: ExpiringRecord, now: number): Maybe<boolean>
  forget(space: string, key: string): Maybe<void>
  /** Writes the whole job under the version that follows the row's, and returns it. */
  putJob(row: JobRow): Maybe<JobRow>
  /** Removes a job at once, in any state. */
  dropJob(id: string): Maybe<void>
  /**
   * Leases, until `until`, a job whose lease has ended, or the queued one whose turn it is. A party
   * has at most `partyMax` running.
   */
  lease(jobs: readonly string[], now: number, until: number, partyMax?: number): Maybe<JobRow | undefined>
  record(deed: AuditRecord): Maybe<void>
  /** Removes these deeds; the audit has no other change. Returns their number. */
  removeDeeds(runs: readonly DeedRun[]): Maybe<number>
  /** Appends to the change feed. */
  changed(change: Omit<ChangeRecord, 'sequence'>): Maybe<void>
}

/** What a unit of work changes, and the caller: if many wait, callers take turns. */
export interface WriteTurn {
  /** Units of work on one item wait for each other. */
  readonly item?: string
  readonly caller: string
}

/** The work of one read, or of one transaction. */
export type ReadWork<T> = (reader: StoreReader) => Maybe<T>
export type WriteWork<T> = (writer: StoreWriter) => Maybe<T>

export interface Store {
  /** One consistent read. */
  read<T>(work: ReadWork<T>): Maybe<T>
  /**
   * One transaction: see (2), (3). Work may run again after a collision, so it must have no other
   * effects.
   * @param turn units of work on one item take turns in this process
   */
  write<T>(work: WriteWork<T>, turn?: WriteTurn): Promise<T>
  /**
   * Deletes what has expired: records, finished jobs, old changes, unclaimed pieces. Returns the
   * number of rows.
   */
  sweep(now: number): Promise<number>
  /**
   * Completes what a start left for later: the words of large tables, and their indexes, while
   * others read and write. False if another process is doing a part of it; rejects if it cannot
   * continue. The next call resumes it.
   * @param tell progress: when it begins with a thing, after each batch, and at its end
   */
  fill?(tell?: TellFilling): Promise<boolean>
  /** Whether the store can be used now. */
  ready(): Promise<boolean>
  /**
   * Parts that the contract declares and the database no longer has, because another program
   * dropped them: `notes`, `notes.text`. For operators. Rejects if the store is unreachable.
   */
  findDropped?(): Promise<readonly string[]>
  /**
   * Filters that the contract takes to leave few items and that leave many, by the statistics of
   * the database; none if it has none yet. For operators. Rejects if the store is unreachable.
   */
  findCrowded?(): Promise<readonly CrowdedFilter[]>
  /** Current use, if the store can tell. */
  usage?(): Usage | undefined
  close(): Promise<void>
}

/** A filter by a field whose values have many items each, in no requested order. */
export interface CrowdedFilter {
  readonly resource: string
  readonly field: string
  /** Of one value, on average; an estimate. */
  readonly items: number
  /** Of the index that would serve its lists, as rules declare it. */
  readonly keys: readonly string[]
}

/** The progress of a store with something that it completes while others read and write. */
export interface FillProgress {
  /** For a person: `words of notes`. */
  readonly what: string
  readonly rowsDone: number
  /** Those that existed when this process began: others write meanwhile. */
  readonly rowsTotal: number
  /** The phase that a server reports. */
  readonly phase?: string
  readonly isOver: boolean
}
export type TellFilling = (progress: FillProgress) => void

/** The load of a store, for operators. */
export interface Usage {
  /** Calls that wait for a connection, or for their turn to write. */
  readonly waiting: number
  /** Of a pool: in use or being opened, and idle. */
  readonly connections?: { readonly busy: number; readonly idle: number }
  /** Of a SQLite file: octets of its log (WAL). */
  readonly logOctets?: number
}

/**
 * Thrown by a store that is busy or unreachable; the service answers 503 or Receiver (rule A7.16).
 */
export class Unavailable {
  /** Seconds after which a retry is worthwhile. */
  readonly after: number
  /** An error, or words: for the operator's log, never for a caller. */
  readonly cause: unknown
  /** Why the request may have been carried out nevertheless. */
  readonly doubt: Doubt | undefined
  constructor(after = 1, cause?: unknown, doubt?: Doubt) {
    this.after = after
    this.cause = cause
    this.doubt = doubt
  }
}

/** The cause for every use of a store after it was closed. */
export const closedStore = 'the store is closed'

export const unavailableRefusal = (thrown: Unavailable): Extract<Refusal, { kind: 'unavailable' }> => ({
  kind: 'unavailable',
  after: thrown.after,
  cause: thrown.cause,
  ...(thrown.doubt && { doubt: thrown.doubt }),
})
