/**
 * Writes to the file named until it can't, and prints what was answered, why it ended and what can
 * still be read.
 */
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { everything } from './every-type.ts'

const store = openSqliteStore(everything, process.argv[2] ?? '')
const answered: string[] = []
let refused: unknown
for (let i = 0; refused === undefined && i < 1000; i++) {
  const id = `t-${i}`
  const name = 'x'.repeat(50_000)
  await store
    .write(writer => writer.put('towns', id, { id, name }, {}, undefined, 1))
    .then(
      () => answered.push(id),
      thrown => (refused = thrown),
    )
}
const page = await store.read(reader =>
  reader.list('towns', { filters: [], within: 'all', sort: [], size: 1000, counted: false }),
)
const why = refused instanceof Error ? refused.stack : refused?.constructor.name
console.log(JSON.stringify({ answered, refused: why, seen: page.items.map(each => each.id) }))
