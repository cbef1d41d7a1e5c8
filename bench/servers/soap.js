/** npm soap serving the same WSDL and one operation with a constant answer: no database, no policy, no validation. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { ready } from './report.js'

const soap = createRequire(new URL('../peers/package.json', import.meta.url))('soap')
const wsdl = readFileSync(process.argv[2], 'utf8')
const order = {
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
const server = createServer((_request, response) => response.end())
server.listen(0, '127.0.0.1', () => {
  const GetOrder = () => ({ order })
  const CreateOrder = () => ({ order })
  const port = { GetOrder, CreateOrder }
  soap.listen(server, '/soap/v2', { OrdersService: { OrdersSoap11: port } }, wsdl)
  ready(server.address().port)
})
