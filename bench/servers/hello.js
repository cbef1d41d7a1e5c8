/** A contract of one resource and as many more as are asked for: `hello.js PORT FILE [RESOURCES]`. */
import { anyone, implement, resource, serve, service, t } from 'diglot'

const [port, data, count = '1'] = process.argv.slice(2)
const plenty = { count: 1e9, seconds: 60 }
const kind = n =>
  resource(`greetings${n}`, {
    fields: {
      id: t.id('g'),
      text: t.string({ max: 100 }),
      to: t.string({ max: 40 }),
      at: t.dateTime(),
      count: t.int(),
    },
  }).rules({ one: `greeting${n}`, filter: ['to'], allow: { read: [anyone], create: [anyone], change: [anyone] } })
const names = Array.from({ length: Number(count) }, (_, i) => (i === 0 ? '' : String(i)))
const contract = service('hello', {
  namespace: 'urn:diglot:hello',
  resources: names.map(kind),
  versions: { v1: {} },
  limits: { reads: plenty, changes: plenty },
})
const one = { id: 'g-1', text: 'hello', to: 'world', at: '2026-01-01T09:00:00Z', count: 1 }
const items = Object.fromEntries(names.map(n => [`greetings${n}`, [one]]))
const app = implement(contract, {}, { seed: () => ({ items }) })
const logger = { info() {}, warn: console.error, error: console.error }
const server = await serve(app, { port: Number(port), data, flood: 1e9, logger })
process.send?.({ port: server.port })
process.on('disconnect', () => process.exit())
