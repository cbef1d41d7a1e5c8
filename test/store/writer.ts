/**
 * Writes one item after the other to the named file and prints each once it is confirmed, until it
 * is killed.
 */
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { everything } from './every-type.ts'

const [file = '', name = ''] = process.argv.slice(2)
const store = openSqliteStore(everything, file)
let next = 0
async function write(): Promise<never> {
  for (;;) {
    const id = `${name}-${next++}`
    await store.write(async writer => {
      await writer.put('towns', id, { id, name: id }, {}, undefined, 1)
      await writer.changed({ at: 1, resource: 'towns', id, version: 1, what: 'created', operation: 'CreateTown' })
    })
    process.stdout.write(`${id}\n`)
  }
}
await Promise.all([write(), write(), write()])
