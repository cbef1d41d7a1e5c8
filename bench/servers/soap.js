/**
 * npm soap serving a WSDL: no policy, no validation. Its answers come from memory, or, where a third word names the file of a
 * database, an order from the SELECT that Diglot makes.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { ready } from './report.js'

const soap = createRequire(new URL('../peers/package.json', import.meta.url))('soap')
const [file, path, data] = process.argv.slice(2)
const standing = {
  id: 'o-1',
  customer: 'c-1',
  lines: { line: [{ product: 'p-1', quantity: 1, price: '4.95' }] },
  currency: 'EUR',
  total: '4.95',
  note: 'gift wrap please',
  placedAt: '2026-01-01T09:00:00.000Z',
  state: 'placed',
  version: '1',
}
const GetOrder = data === undefined ? () => ({ order: standing }) : readOrder(new DatabaseSync(data))
function readOrder(database) {
  const columns =
    '"id", "customer", "lines", "currency", "total", "note", "placedAt", "state", "paidAt", "carrier", "trackingNumber", "_version"'
  const one = database.prepare(`select ${columns} from "orders" where "id" = ?`)
  return ({ id }) => {
    const { _version, lines, total, ...row } = one.get(id)
    const known = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
    const order = {
      ...known,
      lines: { line: JSON.parse(lines) },
      total: (total / 100).toFixed(2),
      version: String(_version),
    }
    return { order }
  }
}
/** A date is a Date to it, and would be written with a time. */
const CreateOrder = ({ order }) => ({
  order: { id: 'o-1', ...order, delivery: order.delivery.toISOString().slice(0, 10), version: '1' },
})
const services = { OrdersService: { OrdersSoap11: { GetOrder } }, ShopService: { ShopSoap11: { CreateOrder } } }
const server = createServer((_request, response) => response.end())
server.listen(0, '127.0.0.1', () => {
  soap.listen(server, path, services, readFileSync(file, 'utf8'))
  ready(server.address().port)
})
