/** Fastify's hello: `hello-fastify.js PORT`. */
import { createRequire } from 'node:module'

const Fastify = createRequire(new URL('../peers/package.json', import.meta.url))('fastify')
const app = Fastify()
app.get('/api/greetings/g-1', () => ({ id: 'g-1', text: 'hello', to: 'world', at: '2026-01-01T09:00:00Z', count: 1 }))
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
