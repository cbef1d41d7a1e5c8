/** The directory of doctors: a table of the hospital, which existed before the service. */
import { DatabaseSync } from 'node:sqlite'
import type { Item, Provider } from 'diglot'
import type { doctors } from './contract.ts'

type Doctor = Item<typeof doctors>

export function openDirectory(file: string): Provider<Doctor> {
  const database = new DatabaseSync(file)
  database.exec(`create table if not exists staff (
    number text primary key, full_name text not null, ward text not null, revision integer not null, changed integer not null)`)
  const columns = 'number as id, full_name as name, ward, revision, changed'
  const insert = database.prepare('insert or ignore into staff values (?, ?, ?, 1, ?)')
  const update = database.prepare(
    'update staff set full_name = ?, ward = ?, revision = revision + 1, changed = ? where number = ? and revision = ?',
  )
  const provided = ({ revision, changed, ...value }: Record<string, unknown>) => ({
    value: value as Doctor, // the columns have these types
    version: Number(revision),
    modified: Number(changed),
  })
  return {
    load: id => {
      const row = database.prepare(`select ${columns} from staff where number = ?`).get(id)
      return row && provided(row)
    },
    list: () => database.prepare(`select ${columns} from staff`).all().map(provided),
    save: (id, { name, ward }, expected) => {
      const now = Date.now()
      const done = expected === undefined ? insert.run(id, name, ward, now) : update.run(name, ward, now, id, expected)
      return done.changes === 1 ? (expected ?? 0) + 1 : 'stale'
    },
    remove: (id, expected) =>
      database.prepare('delete from staff where number = ? and revision = ?').run(id, expected).changes === 1,
  }
}
