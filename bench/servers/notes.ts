/** The contract that writing is measured with: a note, made by POST. `notes.ts FILE`, or `notes.ts postgres://…` with a file for its key. */
import { anyone, implement, resource, service, t } from 'diglot'
import { pino } from 'pino'
import { startService } from '../../src/host/serve.ts'
import { ready } from './report.js'

export const notes = resource('notes', {
  fields: {
    id: t.id('n'),
    author: t.string({ max: 40 }),
    text: t.string({ max: 1000 }),
    count: t.int({ min: 0 }),
    done: t.boolean(),
  },
}).rules({ allow: { read: [anyone], create: [anyone] } })

const plenty = { count: 1e9, seconds: 60 }
export const book = service('notes', {
  namespace: 'urn:diglot:notes',
  resources: [notes],
  limits: { reads: plenty, changes: plenty },
})

if (import.meta.main) {
  const [data = ':memory:', database] = process.argv.slice(2)
  // The line of each change is written as it always is, but not shown.
  const logger = pino({ base: null }, pino.destination({ dest: '/dev/null', sync: true }))
  const options = { port: 0, data, flood: 1e9, logger, ...(database !== undefined && { database }) }
  ready((await startService(implement(book, {}), options)).port)
}
