/** A bridge as it is written by hand: a route of Fastify with schemas, npm soap's client, and a map between the two. */
import { createRequire } from 'node:module'
import { ready } from './report.js'

const require = createRequire(new URL('../peers/package.json', import.meta.url))
const [address, wsdl] = process.argv.slice(2)
const client = await require('soap').createClientAsync(wsdl, {}, address)
const app = require('fastify')()
const text = { type: 'string' }
const line = { type: 'object', properties: { product: text, quantity: { type: 'integer' }, price: text } }
const order = {
  type: 'object',
  properties: {
    ...{ id: text, customer: text, lines: { type: 'array', items: line }, currency: text, total: text },
    ...{ note: text, placedAt: text, state: text, version: text },
  },
}
const body = { type: 'object', required: ['id'], additionalProperties: false, properties: { id: text } }
const response = { 200: { type: 'object', properties: { order } } }
app.post('/GetOrder', { schema: { body, response } }, async (request, reply) => {
  try {
    const [{ order: found }] = await client.GetOrderAsync(request.body)
    return { order: { ...found, placedAt: found.placedAt.toISOString(), lines: found.lines.line } }
  } catch (thrown) {
    return reply.code(502).send({ title: String(thrown) })
  }
})
await app.listen({ port: 0, host: '127.0.0.1' })
ready(app.server.address().port)
