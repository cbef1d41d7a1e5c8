/**
 * Writes to the named file until it can't, and prints the responses, why it ended, what can
 * still be read, and whether the store is ready: before, then, and ten seconds later.
 */
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { everything } from './every-type.ts'

const store = openSqliteStore(everything, process.argv[2] ?? '')
const ready = [await store.ready()]
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
ready.push(await store.ready())
const later = performance.now() + 10_000
performance.now = () => later
ready.push(await store.ready())
console.log(JSON.stringify({ ready, answered, refused: why, seen: page.items.map(each => each.id) }))
