/**
 * The least that a Node process can do for a row: the octets of a socket, the same SELECT, JSON and a head. It reads the
 * target and nothing else; it parses no field, knows no caller and checks nothing.
 */
import { createServer } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { ready } from './report.js'

const database = new DatabaseSync(process.argv[2])
database.exec('pragma journal_mode=wal')
const columns =
  '"id", "customer", "lines", "currency", "total", "note", "placedAt", "state", "paidAt", "carrier", "trackingNumber"'
const one = database.prepare(`select ${columns} from "orders" where "id" = ?`)
const item = row => ({ ...row, lines: JSON.parse(row.lines), total: (row.total / 100).toFixed(2) })

const lists = {
  state: database.prepare(
    `select ${columns} from "orders" where "state" = ? order by "placedAt#order" desc, "id" asc limit 21`,
  ),
  customer: database.prepare(
    `select ${columns} from "orders" where "customer" = ? order by "total" desc, "id" asc limit 21`,
  ),
  after: database.prepare(
    `select ${columns} from "orders" where "placedAt#order" <= ? and ("placedAt#order" < ? or "id" > ?) order by "placedAt#order" desc, "id" asc limit 21`,
  ),
}

function answer(target) {
  const [path, query] = target.split('?')
  if (query === undefined) return item(one.get(path.slice('/api/orders/'.length)))
  const [name, ...values] = query.split('&')
  return {
    items: lists[name]
      .all(...values)
      .slice(0, 20)
      .map(item),
  }
}

const server = createServer({ noDelay: true }, socket => {
  let held = ''
  socket.setEncoding('latin1').on('error', () => socket.destroy())
  socket.on('data', part => {
    held += part
    for (let end = held.indexOf('\r\n\r\n'); end >= 0; end = held.indexOf('\r\n\r\n')) {
      const content = JSON.stringify(answer(held.slice(4, held.indexOf(' ', 4))))
      const length = Buffer.byteLength(content)
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${content}`)
      held = held.slice(end + 4)
    }
  })
})
server.listen(0, '127.0.0.1', () => ready(server.address().port))
