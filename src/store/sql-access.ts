/** The port's readers and writers, on any connection to either database. */

import { chain, forEachInTurn, type Maybe } from '../base/maybe.ts'
import { memoizeByObject } from '../base/memo.ts'
import type { Values } from '../contract/implement.ts'
import { declaredOrder } from '../contract/list-index.ts'
import type { Service } from '../contract/service.ts'
import { asStored, pieceOctets, splitIntoPieces } from '../service/file-content.ts'
import { Refused } from '../service/refusal.ts'
import {
  countedMax,
  type DeedRun,
  type ExpiringRecord,
  type FileOctets,
  type FileVersion,
  type Filter,
  type Former,
  type ItemPage,
  isFormer,
  type JobRow,
  type Query,
  type Replaced,
  type Snapshot,
  type StoredFile,
  type StoredOctets,
  type StoreReader,
  type StoreWriter,
  Unavailable,
} from '../service/store.ts'
import { type Cells, endedRunner, type StatementRunner } from './connection.ts'
import type { Cell, Dialect, Sql } from './dialect.ts'
import { compileItems, type ItemStatements } from './item-rows.ts'
import { compileListing, examinedMax, type Lead, type Listing, type NearTexts } from './listing.ts'
import { countFitting, createPage, isLastPage, type PageBounds, type PageRows, RowLengths } from './page-rows.ts'
import { goesOnFunction } from './read-thread-port.ts'
import { changeCells, changeOf, compileRecords, deedCells, deedOf, jobCells, jobOf, type Records } from './records.ts'
import { RowCache } from './row-cache.ts'
import { drawVersion, followVersion } from './row-version.ts'
import { planSearch, type SearchMemory, type SearchPlan } from './search-plan.ts'
import { sql } from './sql.ts'
import { compileStatement, isTextCell, type Statement } from './statement.ts'
import { compileTables, type Table } from './table.ts'

/** Everything compiled from the contract, and what is remembered with it. */
export interface StoreSchema extends CompiledContract {
  readonly forms: Map<string, ListStatements>
  /** How many forms were compiled. */
  readonly formsMade: { count: number }
  readonly searches: SearchMemory
  readonly recent: RowCache
  readonly lengths: RowLengths
  /** Another look at the database, for reads that outlast the look they came from. */
  readonly look: LookAt
}
type LookAt = <T>(work: (reader: SqlReader) => Maybe<T>) => Maybe<T>
interface ListStatements {
  readonly page: readonly Statement[]
  readonly count: Statement
  readonly other: Statement
  readonly near: NearTexts<Statement> | undefined
}

/** The statements of a list, and its values. */
interface CompiledList extends Pick<Listing, 'values' | 'limitAt'> {
  readonly run: ListStatements
}

interface CompiledContract {
  readonly service: Service
  readonly dialect: Dialect
  readonly tables: ReadonlyMap<string, Table>
  readonly items: ReadonlyMap<string, ItemStatements>
  readonly records: Records
}
/** Compiled once for all stores of one contract. */
const contractCompiler = memoizeByObject((dialect: Dialect) => {
  const records = compileRecords(dialect)
  return memoizeByObject((service: Service): CompiledContract => {
    const tables = compileTables(service, dialect)
    const items = new Map([...tables].map(([name, table]) => [name, compileItems(table, dialect)]))
    return { service, dialect, tables, items, records }
  })
})

export function compileStoreSchema(service: Service, dialect: Dialect, look: LookAt): StoreSchema {
  return {
    ...contractCompiler(dialect)(service),
    forms: new Map(),
    formsMade: { count: 0 },
    searches: { statements: new Map(), states: new Map() },
    recent: new RowCache(),
    lengths: new RowLengths(),
    look,
  }
}

/**
 * Query forms whose statements are kept; a form is a handful of fields, so few are in use at once.
 */
const formsMax = 500
/** How many items one unit of work can find again without a query. */
const readItemsMax = 1000

function itemsOf(schema: StoreSchema, resource: string): ItemStatements {
  const found = schema.items.get(resource)
  if (!found) throw new Error(`unknown resource ${resource}: the contract does not declare it`)
  return found
}

export class SqlReader implements StoreReader {
  protected readonly schema: StoreSchema
  protected on: StatementRunner
  constructor(schema: StoreSchema, on: StatementRunner) {
    this.schema = schema
    this.on = on
  }
  /** Called when the work that it was given to is over. */
  end(): void {
    this.on = endedRunner
  }

  get(resource: string, id: string): Maybe<Snapshot | Former | undefined> {
    return this.find(resource, id, 'get')
  }

  getAll(resource: string, ids: readonly string[]): Maybe<ReadonlyMap<string, Snapshot>> {
    const items = itemsOf(this.schema, resource)
    const found = this.on.rows(items.getAll, [JSON.stringify(ids.filter(isTextCell))])
    return chain(found, rows => {
      const read = rows.map(row => this.schema.recent.item(items, row))
      return new Map(read.map(item => [item.id, item]))
    })
  }

  protected find(
    resource: string,
    id: string,
    statement: 'get' | 'getForChange',
  ): Maybe<Snapshot | Former | undefined> {
    const items = itemsOf(this.schema, resource)
    if (!isTextCell(id)) return undefined
    return chain(this.on.first(items[statement], [id]), row =>
      row ? this.schema.recent.item(items, row) : this.#former(resource, id),
    )
  }

  #former(resource: string, id: string): Maybe<Former | undefined> {
    const found = this.on.first(this.schema.records.former, [resource, id])
    return chain(found, row => row && { id, version: Number(row[0]), to: textOfCell(row[1]) })
  }

  list(resource: string, criteria: Query): Maybe<ItemPage> {
    const items = itemsOf(this.schema, resource)
    const query = criteria.sort.length > 0 ? criteria : { ...criteria, sort: declaredOrder(items.table.resource) }
    const itemOf = (row: Cells): Snapshot => this.schema.recent.item(items, row)
    return chain(this.#planSearch(items, query), plan => {
      const compiled = this.#compile(items, query, plan.lead)
      return chain(this.#readRows(items, query, plan, compiled), page =>
        chain(this.#hasOther(compiled, query, page.rows.length), other =>
          chain(query.counted ? this.#totalOf(items, query, plan, compiled, page) : undefined, total =>
            chain(this.#findFarEnd(query, plan, compiled, page.rows.length), end =>
              createPage(page, query, other, total, end && itemOf(end), itemOf),
            ),
          ),
        ),
      )
    })
  }

  #readRows(
    { table }: ItemStatements,
    query: Query,
    { looks }: SearchPlan,
    { run: { page, near }, ...statement }: CompiledList,
  ): Maybe<PageRows> {
    const { lengths } = this.schema
    const statements = near && looks ? [looks === 'near' ? near.page : near.farPage] : page
    const bounds = { size: query.size, octets: lengths.boundOf(table.name, query) }
    return chain(this.#pageRows(statements, statement, bounds), rows => {
      const fitting = countFitting(rows, query)
      lengths.note(table.name, fitting.longest)
      return { rows, fitting }
    })
  }

  /** The row at which looking in list order stopped before the page was full. */
  #findFarEnd(
    { size }: Query,
    { looks }: SearchPlan,
    { run: { near }, values }: CompiledList,
    rows: number,
  ): Maybe<Cells | undefined> {
    return near && looks === 'far' && rows <= size ? this.on.first(near.farEnd, values) : undefined
  }

  /** Runs one statement after the other until there is one row more than fits on the page. */
  #pageRows(
    [statement, ...others]: readonly Statement[],
    { values, limitAt }: Pick<Listing, 'values' | 'limitAt'>,
    { size, octets }: PageBounds,
  ): Maybe<readonly Cells[]> {
    if (!statement) return []
    return chain(this.on.rows(statement, values, octets), rows => {
      if (others.length === 0) return rows
      const fitting = countFitting(rows, { size, octets })
      if (fitting.count < rows.length) return rows
      const remaining = { size: size - fitting.count, octets: octets && Math.max(1, octets - fitting.octets) }
      const remainder = { values: values.with(limitAt, remaining.size + 1), limitAt }
      return chain(this.#pageRows(others, remainder, remaining), more => [...rows, ...more])
    })
  }

  /** A condition that is evaluated for each row that a list looks at. */
  protected get watch(): Sql | undefined {
    return undefined
  }

  #compile(items: ItemStatements, query: Query, lead?: Lead): CompiledList {
    const { tables, dialect } = this.schema
    const { watch } = this
    const { form, texts, ...own } = compileListing(items.table, tables, query, dialect, items.columns, lead, watch)
    return { run: this.#form(`${items.table.name}\n${watch ? 'watched' : ''}\n${form}`, texts), ...own }
  }

  /** Runs a statement that counts. */
  protected count(of: Statement, values: readonly Cell[]): Maybe<number> {
    return chain(this.on.first(of, values), countInRow)
  }

  #planSearch(items: ItemStatements, query: Query): Maybe<SearchPlan> {
    const countNear = (kind: 'matches' | 'rows'): Maybe<number> => {
      const { run, values } = this.#compile(items, query)
      return run.near ? this.count(run.near[kind], values) : 0
    }
    return planSearch(this.schema, this.on, items.table, query, {
      countMatches: () => countNear('matches'),
      countRows: () => countNear('rows'),
    })
  }

  #totalOf(
    items: ItemStatements,
    query: Query,
    plan: SearchPlan,
    compiled: CompiledList,
    page: PageRows,
  ): Maybe<number | undefined> {
    if (!isLastPage(page, query) || plan.isFrequent) return this.#countMatches(items, query, plan, compiled)
    return totalOf(query, (query.offset ?? 0) + page.rows.length)
  }

  /** Undefined if there are more than are counted, or if counting would look at many rows. */
  #countMatches(
    items: ItemStatements,
    query: Query,
    { isFrequent }: SearchPlan,
    compiled: CompiledList,
  ): Maybe<number | undefined> {
    const isBounded = isFrequent && query.counted !== 'exact'
    const { run, values } = isBounded ? this.#compile(items, query) : compiled
    const { near } = run
    if (!isBounded) return chain(this.count(run.count, values), matches => totalOf(query, matches))
    if (!near) return 0
    return chain(this.count(near.count, values), matches =>
      matches > countedMax
        ? undefined
        : chain(this.count(near.countRows, values), rows => (rows > examinedMax ? undefined : matches)),
    )
  }

  has(resource: string, filters: readonly Filter[]): Maybe<boolean> {
    const { of, values } = this.compileHas(resource, filters)
    return chain(this.on.first(of, values), row => row !== undefined)
  }

  protected compileHas(resource: string, filters: readonly Filter[]): { of: Statement; values: readonly Cell[] } {
    const { table, columns } = itemsOf(this.schema, resource)
    const query: Query = { filters, within: 'all', sort: [], size: 1, counted: false }
    const { form, values, texts } = compileListing(table, this.schema.tables, query, this.schema.dialect, columns)
    return { of: this.#form(`${resource}\n${form}`, texts).other, values }
  }

  #form(form: string, texts: ReturnType<typeof compileListing>['texts']): ListStatements {
    const { forms, dialect } = this.schema
    let found = forms.get(form)
    if (!found) {
      if (forms.size >= formsMax) forms.clear()
      // A server keeps named statements for as long as a connection lasts, so forms that callers
      // invent get no names.
      const named = this.schema.formsMade.count++ < formsMax
      const { page, count, other, near } = texts()
      const compile = (text: Sql): Statement => compileStatement(dialect, text, named)
      found = {
        page: page.map(compile),
        count: compile(count),
        other: compile(other),
        near: near && {
          matches: compile(near.matches),
          rows: compile(near.rows),
          count: compile(near.count),
          countRows: compile(near.countRows),
          page: compile(near.page),
          farPage: compile(near.farPage),
          farEnd: compile(near.farEnd),
        },
      }
      forms.set(form, found)
    }
    return found
  }

  /**
   * Whether there are rows before the beginning of the page, which is only possible with a cursor
   * or an offset.
   */
  #hasOther({ run, values }: CompiledList, query: Query, rows: number): Maybe<boolean> {
    if (!query.from && (query.offset ?? 0) === 0) return false
    if (!query.from && rows > 0) return true
    return chain(this.on.first(run.other, values), row => row !== undefined)
  }

  file(resource: string, id: string, part: string): Maybe<StoredFile | undefined> {
    if (!isTextCell(id)) return undefined
    return chain(this.on.first(this.schema.records.file, [resource, id, part]), row => {
      if (!row) return undefined
      const [mediaType, bytes, version, modified, content, length] = row
      const octets = bytes instanceof Uint8Array ? asStored(bytes) : this.#pieces(String(content), Number(length))
      return { mediaType: String(mediaType), octets, version: Number(version), modified: Number(modified) }
    })
  }

  #pieces(content: string, length: number): StoredOctets {
    return splitIntoPieces(content, length, (from, to) => this.nextOctets(content, from, to))
  }
  /** Reading may outlast the look that found the file. */
  protected nextOctets(content: string, from: number, to: number): Maybe<Uint8Array | undefined> {
    return this.schema.look(reader => reader.octets(content, from, to))
  }

  /**
   * Octets of one piece of a file, from one place up to another; undefined if they were removed.
   */
  octets(content: string, from: number, to: number): Maybe<Uint8Array | undefined> {
    const at = from % pieceOctets
    const length = Math.min(this.schema.dialect.answer, pieceOctets - at, to - from)
    const cells = [content, (from - at) / pieceOctets, at + 1, length] // substr counts from 1
    // The declared type of the column.
    return chain(this.on.first(this.schema.records.octets, cells), row => row?.[0] as Uint8Array | undefined)
  }

  recall(space: string, key: string): Maybe<ExpiringRecord | undefined> {
    return this.findRecord(space, key, 'recall')
  }

  protected findRecord(
    space: string,
    key: string,
    statement: 'recall' | 'recallForChange',
  ): Maybe<ExpiringRecord | undefined> {
    if (!isTextCell(key)) return undefined
    const found = this.on.first(this.schema.records[statement], [space, key])
    return chain(found, row => row && { value: String(row[0]), expires: Number(row[1]) })
  }

  recallAll(space: string, limit = Number.MAX_SAFE_INTEGER): ReturnType<StoreReader['recallAll']> {
    return chain(
      this.on.rows(this.schema.records.recallAll, [space, limit]),
      rows => new Map(rows.map(row => [String(row[0]), { value: String(row[1]), expires: Number(row[2]) }])),
    )
  }

  job(id: string): Maybe<JobRow | undefined> {
    return this.findJob(id, 'job')
  }

  protected findJob(id: string, statement: 'job' | 'jobForChange'): Maybe<JobRow | undefined> {
    if (!isTextCell(id)) return undefined
    return chain(this.on.first(this.schema.records[statement], [id]), row => row && jobOf(row))
  }

  nextTurn(jobs: readonly string[], party: string, until?: number): ReturnType<StoreReader['nextTurn']> {
    if (jobs.length === 0) return { turn: 0, waiting: 0 }
    const { turn, dueTurn } = this.schema.records
    const turns =
      until === undefined
        ? this.on.first(turn(jobs.length), [party, ...jobs])
        : this.on.first(dueTurn(jobs.length), [party, until, ...jobs])
    return chain(turns, row => {
      const [waiting, last, first] = row ?? []
      return { waiting: Number(waiting), turn: Math.max(Number(last ?? -1) + 1, Number(first ?? 0)) }
    })
  }

  hasDueJob(jobs: readonly string[], now: number): Maybe<boolean> {
    if (jobs.length === 0) return false
    return chain(this.on.first(this.schema.records.due(jobs.length), [now, ...jobs]), row => row !== undefined)
  }

  jobs(state: Parameters<StoreReader['jobs']>[0], limit: number) {
    return chain(this.on.rows(this.schema.records.jobs[state], [limit]), rows => rows.map(jobOf))
  }

  countJobs(state: Parameters<StoreReader['countJobs']>[0], limit: number) {
    return chain(this.on.first(this.schema.records.countJobs[state], [limit]), row => Number(row?.[0]))
  }

  changes(after: number, limit: number) {
    return chain(this.on.rows(this.schema.records.changes, [after, limit]), rows => rows.map(changeOf))
  }

  deeds(after: number, before: number, limit: number) {
    return chain(this.on.rows(this.schema.records.deeds, [after, before, limit]), rows => rows.map(deedOf))
  }

  lastDeed(after: number, limit: number) {
    return chain(this.on.first(this.schema.records.lastDeed, [after, limit]), row => {
      const last = row?.[0] ?? null
      return last === null ? undefined : Number(last)
    })
  }

  swept() {
    return chain(this.on.first(this.schema.records.swept, []), row => Number(row?.[0] ?? 0))
  }
}

/** Reads on a thread, which stops what takes too long. */
export class WatchedReader extends SqlReader {
  protected override get watch(): Sql {
    return goesOn
  }
}
const goesOn = sql`${sql.id(goesOnFunction)}()`

const totalOf = ({ counted }: Query, matches: number): number | undefined =>
  counted === 'exact' || matches <= countedMax ? matches : undefined

/** The cell of a row that counts. */
export const countInRow = (row: Cells | undefined): number => Number(row?.[0])

const textOfCell = (cell: Cell | undefined): string | undefined => (typeof cell === 'string' ? cell : undefined)

/** How long unclaimed pieces stay after the last one arrived. */
const stagedKeptMs = 3_600_000
/** How long the pieces of a replaced or removed file stay: as long as a slow reader may take. */
const retiredKeptMs = 600_000

export class SqlWriter extends SqlReader implements StoreWriter {
  /**
   * While its work lasts, another look could wait for it, or would lack the pieces that it staged.
   */
  protected override nextOctets(content: string, from: number, to: number): Maybe<Uint8Array | undefined> {
    return this.on.hasEnded ? super.nextOctets(content, from, to) : this.octets(content, from, to)
  }

  /**
   * Items that this work has read: it finds them unchanged until it writes. Each change starts a
   * new map, so that the reply to an earlier query that arrives after the change is not found
   * there.
   */
  #read = new Map<string, Snapshot>()

  /** A reference check and the handler after it are answered by one statement. */
  override get(resource: string, id: string): Maybe<Snapshot | Former | undefined> {
    const [read, name] = [this.#read, `${resource} ${id}`]
    const remembered = read.get(name)
    if (remembered) return remembered
    return chain(this.find(resource, id, 'get'), found => {
      // A unit of work that reads more items queries again, so that its memory stays bounded.
      if (read.size >= readItemsMax) read.clear()
      if (found && !isFormer(found)) read.set(name, found)
      return found
    })
  }

  getForChange(resource: string, id: string): Maybe<Snapshot | Former | undefined> {
    return this.find(resource, id, 'getForChange')
  }

  override recall(space: string, key: string): Maybe<ExpiringRecord | undefined> {
    return this.findRecord(space, key, 'recallForChange')
  }

  override job(id: string): Maybe<JobRow | undefined> {
    return this.findJob(id, 'jobForChange')
  }

  put(
    resource: string,
    id: string,
    value: Values,
    kept: Values,
    replaced: Replaced | undefined,
    now: number,
  ): Maybe<Snapshot> {
    this.#read = new Map()
    const items = itemsOf(this.schema, resource)
    const snapshot = (version: number, modified: number, created: number): Snapshot => ({
      id,
      version,
      modified,
      created,
      value,
      kept,
    })
    if (!replaced) {
      const cells = [id, now, items.kept(kept), drawVersion(now), ...items.cells(value)]
      return chain(this.on.first(items.insert, cells), row => {
        if (!row) return this.#refuseStale(items, id)
        const [version, isUsedAgain] = row
        const created = snapshot(Number(version), now, now)
        if (!isUsedAgain) return created
        return chain(this.on.run(this.schema.records.begin, [resource, id]), () => created)
      })
    }
    const { version: before } = replaced
    const next = followVersion(before, now)
    const { statement, cells } = items.update(replaced.value, value)
    return chain(this.on.first(statement, [id, now, items.kept(kept), before, next, ...cells]), row =>
      row ? snapshot(next, Number(row[0]), Number(row[1])) : this.#refuseStale(items, id),
    )
  }

  /** The item has another version, or does not exist. */
  #refuseStale(items: ItemStatements, id: string): Maybe<never> {
    return chain(this.on.first(items.version, [id]), row => {
      throw new Refused({ kind: 'stale', ...(row && { version: Number(row[0]) }) })
    })
  }

  remove(resource: string, id: string, version: number, now: number): Maybe<void> {
    return this.#end(resource, id, version, null, now)
  }

  move(resource: string, id: string, to: string, version: number, now: number): Maybe<void> {
    return this.#end(resource, id, version, to, now)
  }

  #end(resource: string, id: string, version: number, to: string | null, now: number): Maybe<void> {
    this.#read = new Map()
    const items = itemsOf(this.schema, resource)
    const { end, emptyFiles } = this.schema.records
    return chain(this.on.first(items.remove, [id, version]), (row): Maybe<void> => {
      if (!row) return this.#refuseStale(items, id)
      return chain(this.on.run(end, [resource, id, followVersion(version, now), to]), () =>
        chain(this.on.rows(emptyFiles, [resource, id]), files => this.#retire(files, now)),
      )
    })
  }

  /** Takes rows with the names of pieces. Their readers have a while to finish. */
  #retire(files: readonly Cells[], now: number): Maybe<void> {
    return forEachInTurn(files, ([before = null]) =>
      before === null ? undefined : this.on.run(this.schema.records.retire, [before, now + retiredKeptMs]),
    )
  }

  putFile(
    resource: string,
    id: string,
    part: string,
    { mediaType, octets }: { readonly mediaType: string; readonly octets: FileOctets },
    now: number,
  ): Maybe<FileVersion> {
    const { inMemory = null, name = null, length } = octets
    return chain(this.#claim(name, now), () => {
      const cells = [resource, id, part, mediaType, inMemory, name, length, now, drawVersion(now)]
      return chain(this.on.first(this.schema.records.putFile, cells), row => {
        const [version, before = null, modified] = row ?? []
        const retired = this.#retire([[before]], now)
        return chain(retired, () => ({ mediaType, version: Number(version), modified: Number(modified) }))
      })
    })
  }

  #claim(name: string | null, now: number): Maybe<void> {
    if (name === null) return
    return chain(this.on.first(this.schema.records.claim, [name, now]), row => {
      if (!row) throw new Unavailable(1, 'the pieces of a file were removed before it was complete')
    })
  }

  stage(name: string, number: number, pieces: readonly Uint8Array[], now: number): Maybe<void> {
    const { staged, stage } = this.schema.records
    return chain(this.on.run(staged, [name, now + stagedKeptMs]), () =>
      forEachInTurn([...pieces.entries()], ([at, piece]) => this.on.run(stage, [name, number + at, piece])),
    )
  }

  discard(name: string): Maybe<void> {
    return this.on.run(this.schema.records.discard, [name])
  }

  remember(space: string, key: string, memo: { value: string; expires: number }, now: number): Maybe<boolean> {
    const kept = this.on.first(this.schema.records.remember, [space, key, memo.value, memo.expires, now])
    return chain(kept, row => row !== undefined)
  }

  forget(space: string, key: string) {
    return this.on.run(this.schema.records.forget, [space, key])
  }

  putJob(row: JobRow): Maybe<JobRow> {
    const next = { ...row, version: followVersion(row.version, row.modified) }
    return chain(this.on.run(this.schema.records.putJob, jobCells(next)), () => next)
  }

  dropJob(id: string) {
    return this.on.run(this.schema.records.dropJob, [id])
  }

  lease(
    jobs: readonly string[],
    now: number,
    until: number,
    partyMax = Number.MAX_SAFE_INTEGER,
  ): ReturnType<StoreWriter['lease']> {
    if (jobs.length === 0) return undefined
    const take = this.schema.records.lease(jobs.length)
    return chain(this.on.first(take, [now, until, partyMax, drawVersion(now), ...jobs]), row => row && jobOf(row))
  }

  record(deed: Parameters<StoreWriter['record']>[0]) {
    return this.on.run(this.schema.records.record, deedCells(deed))
  }

  removeDeeds(runs: readonly DeedRun[]): Maybe<number> {
    const { beforeRemoval, removeDeeds, afterRemoval } = this.schema.records
    let count = 0
    const remove = ([first, last]: DeedRun): Maybe<void> =>
      chain(this.on.rows(removeDeeds, [first, last]), rows => void (count += rows.length))
    return chain(this.on.run(beforeRemoval, []), () =>
      chain(forEachInTurn(runs, remove), () => chain(this.on.run(afterRemoval, []), () => count)),
    )
  }

  changed(change: Parameters<StoreWriter['changed']>[0]) {
    return this.on.run(this.schema.records.changed, changeCells(change))
  }
}
