/** The port's readers and writers, over any connection of either database. */

import { inTurn, type Maybe, then } from '../base/maybe.ts'
import type { Row } from '../contract/implement.ts'
import type { Service } from '../contract/service.ts'
import { inPieces, pieceSize, whole } from '../service/file-content.ts'
import { Refused } from '../service/refusal.ts'
import {
  type FileOctets,
  type FileVersion,
  type Former,
  type Page,
  type Query,
  type Reader,
  type Snapshot,
  type StoredFile,
  type StoredOctets,
  Unavailable,
  type Writer,
} from '../service/store.ts'
import type { Cells, Connection } from './connection.ts'
import type { Cell, Dialect } from './dialect.ts'
import { type Items, items } from './item-rows.ts'
import { listing } from './listing.ts'
import { changeCells, changeOf, deedCells, jobCells, jobOf, lease, type Records, records } from './records.ts'
import { Recent } from './row-cache.ts'
import { type Statement, statement } from './statement.ts'
import { type Table, tables } from './table.ts'

/** All that is read from the contract, once. */
export interface Schema {
  readonly service: Service
  readonly dialect: Dialect
  readonly tables: ReadonlyMap<string, Table>
  readonly items: ReadonlyMap<string, Items>
  readonly records: Records
  readonly forms: Map<string, ListStatements>
  readonly formsMade: { count: number }
  readonly leases: Map<number, Statement>
  readonly recent: Recent
  /** A look of its own at one row, for what is read after the look that it came from is over. */
  readonly look: Look
}
type Look = <T>(work: (reader: SqlReader) => Maybe<T>) => Maybe<T>
interface ListStatements {
  readonly page: Statement
  readonly count: Statement
  readonly other: Statement
}

export function schema(service: Service, dialect: Dialect, look: Look): Schema {
  const made = tables(service, dialect)
  return {
    service,
    dialect,
    tables: made,
    items: new Map([...made].map(([name, table]) => [name, items(table, dialect)])),
    records: records(dialect),
    forms: new Map(),
    formsMade: { count: 0 },
    leases: new Map(),
    recent: new Recent(),
    look,
  }
}

/** Forms of queries whose statements are kept; a form is a handful of fields, so few are in use at a time. */
const formsKept = 500

function itemsOf(schema: Schema, resource: string): Items {
  const found = schema.items.get(resource)
  if (!found) throw new Error(`the contract has no resource ${resource}`)
  return found
}

export class SqlReader implements Reader {
  protected readonly schema: Schema
  protected readonly on: Connection
  constructor(schema: Schema, on: Connection) {
    this.schema = schema
    this.on = on
  }

  get(resource: string, id: string): Maybe<Snapshot | Former | undefined> {
    const of = itemsOf(this.schema, resource)
    return then(this.on.first(of.get, [id]), row => (row ? this.#item(of, row) : this.#former(resource, id)))
  }

  #item({ table, item }: Items, row: Cells): Snapshot {
    return this.schema.recent.item(table.name, row, item)
  }

  #former(resource: string, id: string): Maybe<Former | undefined> {
    const found = this.on.first(this.schema.records.former, [resource, id])
    return then(found, row => row && { id, version: Number(row[0]), to: textOf(row[1]) })
  }

  list(resource: string, query: Query): Maybe<Page> {
    const of = itemsOf(this.schema, resource)
    const { form, values, texts } = listing(of.table, this.schema.tables, query, this.schema.dialect, of.columns)
    const run = this.#form(`${resource}\n${form}`, texts)
    return then(this.on.rows(run.page, values), rows =>
      then(this.#hasOther(run, values, query, rows.length), other =>
        then(query.counted ? this.on.first(run.count, values) : undefined, total =>
          page(rows, query, other, total && Number(total[0]), row => this.#item(of, row)),
        ),
      ),
    )
  }

  #form(form: string, texts: ReturnType<typeof listing>['texts']): ListStatements {
    const { forms, dialect } = this.schema
    let found = forms.get(form)
    if (!found) {
      if (forms.size >= formsKept) forms.clear()
      // A server remembers names for as long as a connection stands: callers who make up forms get none.
      const named = this.schema.formsMade.count++ < formsKept
      const { page, count, other } = texts()
      found = {
        page: statement(dialect, page, named),
        count: statement(dialect, count, named),
        other: statement(dialect, other, named),
      }
      forms.set(form, found)
    }
    return found
  }

  /** Whether there are rows on the side from which the page was not read: only a cursor or an offset leaves any. */
  #hasOther(run: ListStatements, values: readonly Cell[], query: Query, rows: number): Maybe<boolean> {
    if (!query.from && (query.offset ?? 0) === 0) return false
    if (!query.from && rows > 0) return true
    return then(this.on.first(run.other, values), row => row !== undefined)
  }

  file(resource: string, id: string, part: string): Maybe<StoredFile | undefined> {
    return then(this.on.first(this.schema.records.file, [resource, id, part]), row => {
      if (!row) return undefined
      const [mediaType, bytes, version, modified, content, length] = row
      const octets = bytes instanceof Uint8Array ? whole(bytes) : this.#pieces(String(content), Number(length))
      return { mediaType: String(mediaType), octets, version: Number(version), modified: Number(modified) }
    })
  }

  #pieces(content: string, length: number): StoredOctets {
    const { look } = this.schema
    return inPieces(content, length, (from, to) => look(reader => reader.octets(content, from, to)))
  }

  /** Octets of one of the pieces of a file, from one place up to another; undefined where they are gone. */
  octets(content: string, from: number, to: number): Maybe<Uint8Array | undefined> {
    const at = from % pieceSize
    const most = Math.min(this.schema.dialect.answer, pieceSize - at, to - from)
    const cells = [content, (from - at) / pieceSize, at + 1, most] // substr counts from 1
    // The table's type is this.
    return then(this.on.first(this.schema.records.octets, cells), row => row?.[0] as Uint8Array | undefined)
  }

  recall(space: string, key: string) {
    const found = this.on.first(this.schema.records.recall, [space, key])
    return then(found, row => row && { value: String(row[0]), expires: Number(row[1]) })
  }

  job(id: string) {
    return then(this.on.first(this.schema.records.job, [id]), row => row && jobOf(row))
  }

  jobs(state: Parameters<Reader['jobs']>[0], limit: number) {
    return then(this.on.rows(this.schema.records.jobs, [state, limit]), rows => rows.map(jobOf))
  }

  changes(after: number, limit: number) {
    return then(this.on.rows(this.schema.records.changes, [after, limit]), rows => rows.map(changeOf))
  }

  swept() {
    return then(this.on.first(this.schema.records.swept, []), row => Number(row?.[0] ?? 0))
  }
}

const textOf = (cell: Cell | undefined): string | undefined => (typeof cell === 'string' ? cell : undefined)

function page(
  rows: readonly Cells[],
  query: Query,
  other: boolean,
  total: number | undefined,
  item: (row: Cells) => Snapshot,
): Page {
  const backwards = query.from?.backwards === true
  const extra = rows.length > query.size
  const items = (extra ? rows.slice(0, query.size) : rows).map(item)
  if (backwards) items.reverse()
  const keys = (item: Snapshot): readonly unknown[] =>
    query.sort.length === 0
      ? [item.created]
      : query.sort.map(({ field }) => (field === 'id' ? item.id : item.value[field]))
  const first = items[0]
  const last = items.at(-1)
  return {
    items,
    total,
    more: backwards ? { before: extra, after: other } : { before: other, after: extra },
    edges: first && last && { first: keys(first), last: keys(last) },
  }
}

/** Milliseconds that pieces stay which nobody has made a file, from the last one that came. */
const stagedKept = 3_600_000
/** Milliseconds that the pieces of a file stay which was replaced or removed: as long as a slow reader of it may take. */
const retiredKept = 600_000

export class SqlWriter extends SqlReader implements Writer {
  put(resource: string, id: string, value: Row, kept: Row, seen: number | undefined, now: number): Maybe<Snapshot> {
    const of = itemsOf(this.schema, resource)
    const cells = of.cells(value)
    const stands = (version: number, created: number): Snapshot => ({
      id,
      version,
      modified: now,
      created,
      value,
      kept,
    })
    if (seen === undefined)
      return then(this.on.first(of.insert, [id, now, of.kept(kept), ...cells]), row => {
        if (!row) return this.#stale(of, id)
        const version = Number(row[0])
        const begun = version > 1 ? this.on.run(this.schema.records.begin, [resource, id]) : undefined
        return then(begun, () => stands(version, now))
      })
    return then(this.on.first(of.update, [id, now, of.kept(kept), seen, ...cells]), row =>
      row ? stands(Number(row[0]), Number(row[1])) : this.#stale(of, id),
    )
  }

  /** Something else stands there, or nothing. */
  #stale(of: Items, id: string): Maybe<never> {
    return then(this.on.first(of.version, [id]), row => {
      throw new Refused({ kind: 'stale', ...(row && { version: Number(row[0]) }) })
    })
  }

  remove(resource: string, id: string, seen: number, now: number): Maybe<void> {
    return this.#end(resource, id, seen, null, now)
  }

  move(resource: string, id: string, to: string, seen: number, now: number): Maybe<void> {
    return this.#end(resource, id, seen, to, now)
  }

  #end(resource: string, id: string, seen: number, to: string | null, now: number): Maybe<void> {
    const of = itemsOf(this.schema, resource)
    const { end, emptyFiles } = this.schema.records
    return then(this.on.first(of.remove, [id, seen]), (row): Maybe<void> => {
      if (!row) return this.#stale(of, id)
      return then(this.on.run(end, [resource, id, seen, to]), () =>
        then(this.on.rows(emptyFiles, [resource, id]), files => this.#retire(files, now)),
      )
    })
  }

  /** Of rows with the name of pieces: whoever reads them has a while to come to their end. */
  #retire(files: readonly Cells[], now: number): Maybe<void> {
    return inTurn(files, ([before = null]) =>
      before === null ? undefined : this.on.run(this.schema.records.retire, [before, now + retiredKept]),
    )
  }

  putFile(
    resource: string,
    id: string,
    part: string,
    { mediaType, octets }: { readonly mediaType: string; readonly octets: FileOctets },
    now: number,
  ): Maybe<FileVersion> {
    const { here = null, name = null, length } = octets
    return then(this.#claim(name, now), () => {
      const cells = [resource, id, part, mediaType, here, name, length, now]
      return then(this.on.first(this.schema.records.putFile, cells), row => {
        const retired = this.#retire([[row?.[1] ?? null]], now)
        return then(retired, () => ({ mediaType, version: Number(row?.[0]), modified: now }))
      })
    })
  }

  #claim(name: string | null, now: number): Maybe<void> {
    if (name === null) return
    return then(this.on.first(this.schema.records.claim, [name, now]), row => {
      if (!row) throw new Unavailable()
    })
  }

  stage(name: string, number: number, pieces: readonly Uint8Array[], now: number): Maybe<void> {
    const { staged, stage } = this.schema.records
    return then(this.on.run(staged, [name, now + stagedKept]), () =>
      inTurn([...pieces.entries()], ([at, piece]) => this.on.run(stage, [name, number + at, piece])),
    )
  }

  discard(name: string): Maybe<void> {
    return this.on.run(this.schema.records.discard, [name])
  }

  remember(space: string, key: string, memo: { value: string; expires: number }, now: number): Maybe<boolean> {
    const kept = this.on.first(this.schema.records.remember, [space, key, memo.value, memo.expires, now])
    return then(kept, row => row !== undefined)
  }

  forget(space: string, key: string) {
    return this.on.run(this.schema.records.forget, [space, key])
  }

  putJob(row: Parameters<Writer['putJob']>[0]) {
    return this.on.run(this.schema.records.putJob, jobCells(row))
  }

  dropJob(id: string) {
    return this.on.run(this.schema.records.dropJob, [id])
  }

  lease(jobs: readonly string[], now: number, until: number): ReturnType<Writer['lease']> {
    if (jobs.length === 0) return undefined
    const { leases, dialect } = this.schema
    let take = leases.get(jobs.length)
    if (!take) leases.set(jobs.length, (take = lease(dialect, jobs.length)))
    return then(this.on.first(take, [now, until, ...jobs]), row => row && jobOf(row))
  }

  record(deed: Parameters<Writer['record']>[0]) {
    return this.on.run(this.schema.records.record, deedCells(deed))
  }

  changed(change: Parameters<Writer['changed']>[0]) {
    return this.on.run(this.schema.records.changed, changeCells(change))
  }
}
