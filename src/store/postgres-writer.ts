/**
 * Writes on PostgreSQL, which collide only if one changes what another has read. They are READ
 * COMMITTED, so neighbours in an index do not matter. What always holds, by number:
 *  (1) An item that is read to be changed is locked until the end; others wait for it.
 *  (2) What was only read is checked again as the last step before the commit, when it is this
 *      transaction's turn to be numbered: items by their versions, absent ones, lists by the
 *      changes reported since. Commits that change items take that turn one after the other, so
 *      what still holds then holds at the commit, and all of them act as if done in that order.
 *  (3) If the check fails, the work runs again, and first locks what changed under it, in one order
 *      for all: the second try waits instead of colliding.
 *  (4) A record of a key and a job are locked when they are read; if two make the same key at once,
 *      one makes it, and the other runs again and finds it.
 *  (5) An identifier that is used again continues from its last version: an insert that has waited
 *      for the removal cannot see that version, and runs again.
 *  (6) Work that fails, or refuses, must also rest on what held at one time; otherwise it runs
 *      again. So a call with a key that another instance has just answered is not refused because
 *      of what that instance did.
 */

import type { Maybe } from '../base/maybe.ts'
import { memoizeByObject } from '../base/memo.ts'
import type { Values } from '../contract/implement.ts'
import { Refused } from '../service/refusal.ts'
import {
  type AuditRecord,
  type ChangeRecord,
  type ExpiringRecord,
  type Filter,
  type Former,
  type ItemPage,
  isFormer,
  type JobRow,
  type Query,
  type Replaced,
  type Snapshot,
} from '../service/store.ts'
import { createEndedError, type StatementRunner } from './connection.ts'
import { type Cell, postgres, type Sql } from './dialect.ts'
import { Collision, staleReadMark } from './postgres-sessions.ts'
import { deedCells, insertDeed } from './records.ts'
import { sql } from './sql.ts'
import { SqlWriter, type StoreSchema } from './sql-access.ts'
import { compileStatement, isTextCell, parameterAt, quoteName, type Statement } from './statement.ts'

/** The rows whose changes by others made one write's tries fail: its next try locks them first. */
export class CollisionMemory {
  readonly items = new Map<string, readonly [resource: string, id: string]>()
  readonly resources = new Set<string>()
}

/** Statements that only PostgreSQL has. */
export interface WriteStatements {
  /** By resource: takes JSON, an array of `id` and `version`, which is null for an absent item. */
  readonly stillRead: ReadonlyMap<string, Statement>
  /** By resource. */
  readonly lockAll: ReadonlyMap<string, Statement>
}

/** Fails there, so that whatever was sent behind it is not committed. */
const failWhere = (is: Sql): Sql => sql`select (case when ${is} then ${sql.lit(staleReadMark)} else '1' end)::integer`

export function compileWriteStatements({ tables }: StoreSchema): WriteStatements {
  const compileEach = (text: (table: Sql) => Sql): ReadonlyMap<string, Statement> =>
    new Map([...tables.keys()].map(name => [name, compileStatement(postgres, text(quoteName(name)))]))
  return {
    stillRead: compileEach(table =>
      failWhere(sql`exists (select 1 from jsonb_to_recordset(${parameterAt(0)}::text::jsonb) as "read"("id" text, "version" bigint)
        where (select "_version" from ${table} as "now" where "now"."id" = "read"."id") is distinct from "read"."version")`),
    ),
    lockAll: compileEach(table => sql`lock table ${table} in share row exclusive mode`),
  }
}

const lastChange = compileStatement(postgres, sql`select coalesce(max("sequence"), 0) from "_change"`)
/**
 * Takes a sequence, then JSON, the names of resources. It has an upper bound: without one, a plan
 * for any sequence reads all changes there are.
 */
export const noChangeSince = compileStatement(
  postgres,
  failWhere(sql`exists (select 1 from "_change" where "sequence" > ${parameterAt(0)}::bigint
    and "sequence" <= (select max("sequence") from "_change")
    and "resource" = any (array(select jsonb_array_elements_text(${parameterAt(1)}::text::jsonb))))`),
)
/** Takes JSON, an array of `resource` and `id`: what was made leaves no record of a former item. */
const noFormer = compileStatement(
  postgres,
  failWhere(sql`exists (select 1 from jsonb_to_recordset(${parameterAt(0)}::text::jsonb) as "made"("resource" text, "id" text)
    join "_former" on "_former"."resource" = "made"."resource" and "_former"."id" = "made"."id")`),
)
/** Takes JSON, an array of `space` and `key`: checks that there is still no record for them. */
const noRecord = compileStatement(
  postgres,
  failWhere(sql`exists (select 1 from jsonb_to_recordset(${parameterAt(0)}::text::jsonb) as "read"("space" text, "key" text)
    join "_memo" on "_memo"."space" = "read"."space" and "_memo"."key" = "read"."key")`),
)
/** The first number of the lock is this program's among all programs on the server. */
const numbering = sql`select pg_advisory_xact_lock(7306359, hashtext(current_schema()))`
const numberingLock = compileStatement(postgres, numbering)
/** Takes the cells of a deed. */
const recordThenLock = compileStatement(postgres, sql`with "deed" as (${insertDeed}) ${numbering}`)
const keyLock = compileStatement(
  postgres,
  sql`select pg_advisory_xact_lock(7306360, hashtext(current_schema() || ' ' || ${parameterAt(0)}::text))`,
)

/** The same statement, but failing if it finds a row. */
const negateStatement = memoizeByObject((of: Statement): Statement => {
  return { ...of, text: `select (case when exists (${of.text}) then '${staleReadMark}' else '1' end)::integer` }
})

const packNames = (...names: readonly string[]): string => JSON.stringify(names)

/** The deed and the changes are only recorded at first, and sent with the commit. */
export class PostgresWriter extends SqlWriter {
  readonly #statements: WriteStatements
  readonly #memory: CollisionMemory
  #changes: Omit<ChangeRecord, 'sequence'>[] | undefined = []
  #deeds: AuditRecord[] | undefined = []
  #collision: Collision | undefined
  /** Versions of items that were only read; null for an item that was absent. */
  readonly #reads = new Map<string, { readonly resource: string; readonly id: string; version: number | null }>()
  /** Items that this transaction has locked or written. */
  readonly #own = new Set<string>()
  readonly #listed = new Set<string>()
  #since: number | undefined
  readonly #made = new Map<string, { readonly resource: string; readonly id: string }>()
  readonly #nowhere: (readonly [Statement, readonly Cell[]])[] = []
  /** Until when a recalled record holds; 0 if there was none. */
  readonly #recalled = new Map<string, { readonly space: string; readonly key: string; readonly expires: number }>()

  constructor(schema: StoreSchema, on: StatementRunner, statements: WriteStatements, memory: CollisionMemory) {
    super(schema, on)
    this.#statements = statements
    this.#memory = memory
  }

  /** (3) A lock that cannot be had fails the transaction, which the next statement reports. */
  lockRemembered(): void {
    const { items, resources } = this.#memory
    const sent: Maybe<unknown>[] = [...resources].sort().map(name => {
      const lock = this.#statements.lockAll.get(name)
      return lock && this.on.run(lock, [])
    })
    for (const key of [...items.keys()].sort()) {
      const [resource, id] = items.get(key) ?? ['', '']
      const lock = this.schema.items.get(resource)?.getForChange
      if (lock) sent.push(this.on.run(lock, [id]))
    }
    Promise.all(sent).catch(() => {})
  }

  /** (6) */
  async perform<T>(work: () => Maybe<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      this.#changes = this.#deeds = undefined
      await this.#confirm()
      throw thrown
    }
  }

  /** Rows that a single statement has read were consistent when it ran, and need no check. */
  async #confirm(): Promise<void> {
    if (this.#collision) throw this.#collision
    const absent = [...this.#recalled.values()].filter(each => each.expires === 0)
    if (this.#reads.size + this.#own.size + this.#listed.size + absent.length < 2) return
    const checks = this.#listChecks()
    if (absent.length > 0) checks.push([noRecord, [JSON.stringify(absent)]])
    await Promise.all(checks.map(([statement, values]) => this.on.run(statement, values)))
  }

  /** The work runs again, even if a handler catches this. */
  #collide(resource: string, id?: string): never {
    if (id === undefined) this.#memory.resources.add(resource)
    else this.#memory.items.set(packNames(resource, id), [resource, id])
    throw (this.#collision ??= new Collision(`${resource} ${id ?? ''} was changed by another transaction`))
  }

  override async get(resource: string, id: string): Promise<Snapshot | Former | undefined> {
    const found = await super.get(resource, id)
    const key = packNames(resource, id)
    if (isTextCell(id) && !this.#own.has(key)) {
      const version = currentVersionOf(found)
      this.#requireSame(resource, id, version)
      this.#reads.set(key, { resource, id, version })
    }
    return found
  }

  /** One by one, since each is checked again before the commit. */
  override async getAll(resource: string, ids: readonly string[]): Promise<ReadonlyMap<string, Snapshot>> {
    const found = new Map<string, Snapshot>()
    for (const id of ids) {
      const item = await this.get(resource, id)
      if (item && !isFormer(item)) found.set(id, item)
    }
    return found
  }

  /** Reading the same thing twice in a transaction must give the same. */
  #requireSame(resource: string, id: string, version: number | null): void {
    const before = this.#reads.get(packNames(resource, id))
    if (before && before.version !== version) this.#collide(resource, id)
  }

  override async getForChange(resource: string, id: string): Promise<Snapshot | Former | undefined> {
    const found = await super.getForChange(resource, id)
    const key = packNames(resource, id)
    if (!isTextCell(id) || this.#own.has(key)) return found
    const version = currentVersionOf(found)
    this.#requireSame(resource, id, version)
    // A row that does not exist cannot be locked.
    if (version === null) this.#reads.set(key, { resource, id, version })
    else this.#own.add(key)
    return found
  }

  override async list(resource: string, query: Query): Promise<ItemPage> {
    if (!this.#memory.resources.has(resource)) {
      this.#listed.add(resource)
      // Read before the first list: later changes may be missing from it.
      this.#since ??= Number((await this.on.first(lastChange, []))?.[0])
    }
    return super.list(resource, query)
  }

  override async has(resource: string, filters: readonly Filter[]): Promise<boolean> {
    const exists = await super.has(resource, filters)
    if (!exists) {
      const { of, values } = this.compileHas(resource, filters)
      this.#nowhere.push([negateStatement(of), values])
    }
    return exists
  }

  override async put(
    resource: string,
    id: string,
    value: Values,
    kept: Values,
    replaced: Replaced | undefined,
    now: number,
  ): Promise<Snapshot> {
    if (!replaced) this.#made.set(packNames(resource, id), { resource, id })
    const version = replaced?.version ?? null
    return this.#write(resource, id, version, () => super.put(resource, id, value, kept, replaced, now))
  }

  override async remove(resource: string, id: string, version: number, now: number): Promise<void> {
    this.#made.delete(packNames(resource, id))
    return this.#write(resource, id, version, () => super.remove(resource, id, version, now))
  }

  override async move(resource: string, id: string, to: string, version: number, now: number): Promise<void> {
    this.#made.delete(packNames(resource, id))
    return this.#write(resource, id, version, () => super.move(resource, id, to, version, now))
  }

  /** If a version that was read here has since gone, the caller made no mistake. */
  async #write<T>(resource: string, id: string, version: number | null, work: () => Maybe<T>): Promise<T> {
    const key = packNames(resource, id)
    try {
      const answer = await work()
      this.#reads.delete(key)
      this.#own.add(key)
      return answer
    } catch (thrown) {
      if (thrown instanceof Refused && thrown.refusal.kind === 'stale' && this.#reads.get(key)?.version === version)
        this.#collide(resource, id)
      throw thrown
    }
  }

  /** Sent without waiting: the next statement runs once the lock is held. */
  #lockKey(...names: readonly string[]): void {
    Promise.resolve(this.on.run(keyLock, [packNames(...names)])).catch(() => {})
  }

  override async recall(space: string, key: string): Promise<ExpiringRecord | undefined> {
    const found = await super.recall(space, key)
    this.#recall(space, key, found?.expires)
    return found
  }

  #recall(space: string, key: string, expires = 0): void {
    if (isTextCell(key)) this.#recalled.set(packNames(space, key), { space, key, expires })
  }

  override async forget(space: string, key: string): Promise<void> {
    await super.forget(space, key)
    this.#recall(space, key)
  }

  /** (4) Not stored, although it was absent when this transaction looked: another has made it. */
  override async remember(space: string, key: string, memo: ExpiringRecord, now: number): Promise<boolean> {
    const isKept = await super.remember(space, key, memo, now)
    const until = this.#recalled.get(packNames(space, key))?.expires
    if (!isKept && until !== undefined && until <= now)
      throw (this.#collision ??= new Collision(`${space} ${key} was made by another transaction`))
    if (isKept) this.#recall(space, key, memo.expires)
    return isKept
  }

  /** Only one at a time adds jobs for a party, so that no count misses what another is adding. */
  override async nextTurn(jobs: readonly string[], party: string, until?: number) {
    this.#lockKey('turn', party)
    return super.nextTurn(jobs, party, until)
  }

  override async lease(
    jobs: readonly string[],
    now: number,
    until: number,
    partyMax?: number,
  ): Promise<JobRow | undefined> {
    if (partyMax !== undefined) this.#lockKey('lease', ...jobs)
    return super.lease(jobs, now, until, partyMax)
  }

  override changed(change: Omit<ChangeRecord, 'sequence'>): void {
    if (!this.#changes) throw createEndedError()
    this.#changes.push(change)
  }
  override record(deed: AuditRecord): void {
    if (!this.#deeds) throw createEndedError()
    this.#deeds.push(deed)
  }

  /**
   * Sends what is left, together with the commit. If a part of it fails, it fails the transaction,
   * which reports that at its end. Numbers of changes are given to one transaction at a time, from
   * here to its commit: so they rise in the order of commits, and a reader that continues from the
   * last number it has seen misses none.
   */
  send(): void {
    if (this.#collision) throw this.#collision
    const [changes, deeds] = [this.#changes ?? [], this.#deeds ?? []]
    this.#changes = this.#deeds = undefined
    const checks = this.#listChecks()
    const isNumbered = changes.length + checks.length + this.#own.size > 0
    const [last] = isNumbered ? deeds.splice(-1) : []
    const inserts: Maybe<unknown>[] = deeds.map(deed => super.record(deed))
    if (last) inserts.push(this.on.run(recordThenLock, deedCells(last)))
    else if (isNumbered) inserts.push(this.on.run(numberingLock, []))
    for (const [statement, values] of checks) inserts.push(this.on.run(statement, values))
    inserts.push(...changes.map(change => super.changed(change)))
    Promise.all(inserts).catch(() => {})
  }

  /** (2) They do not report which rows have changed: the next try locks all of them. */
  #listChecks(): (readonly [Statement, readonly Cell[]])[] {
    const byResource = new Map<string, { id: string; version: number | null }[]>()
    for (const [key, { resource, id, version }] of this.#reads) {
      this.#memory.items.set(key, [resource, id])
      byResource.set(resource, [...(byResource.get(resource) ?? []), { id, version }])
    }
    const checks = [...this.#nowhere]
    for (const [resource, reads] of byResource) {
      const still = this.#statements.stillRead.get(resource)
      if (still) checks.push([still, [JSON.stringify(reads)]])
    }
    if (this.#made.size > 0) checks.push([noFormer, [JSON.stringify([...this.#made.values()])]])
    if (this.#listed.size > 0) checks.push([noChangeSince, [this.#since ?? 0, JSON.stringify([...this.#listed])]])
    for (const resource of this.#listed) this.#memory.resources.add(resource)
    return checks
  }
}

const currentVersionOf = (found: Snapshot | Former | undefined): number | null =>
  found === undefined || isFormer(found) ? null : found.version
