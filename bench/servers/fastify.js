/** A bare Fastify 5 route: the same SELECT on the same file, the same members, none of the semantics. */
import { createRequire } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { ready } from './report.js'

const Fastify = createRequire(new URL('../peers/package.json', import.meta.url))('fastify')
const database = new DatabaseSync(process.argv[2])
database.exec('pragma journal_mode=wal')
const columns =
  '"id", "customer", "lines", "currency", "total", "note", "placedAt", "state", "paidAt", "carrier", "trackingNumber"'
const one = database.prepare(`select ${columns} from "orders" where "id" = ?`)
const page = database.prepare(`select ${columns} from "orders" order by "placedAt#order" desc, "id" asc limit 21`)
const item = row => ({ ...row, lines: JSON.parse(row.lines), total: (row.total / 100).toFixed(2) })

const app = Fastify()
app.get('/api/orders/:id', request => item(one.get(request.params.id)))
app.get('/api/orders', () => ({ items: page.all().slice(0, 20).map(item) }))
app.get('/hello', () => 'hello')
await app.listen({ port: 0, host: '127.0.0.1' })
ready(app.server.address().port)
