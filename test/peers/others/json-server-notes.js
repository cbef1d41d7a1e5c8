// json-server 0.17: notes as its README makes a server of a module.
import { createRequire } from 'node:module'

const jsonServer = createRequire(new URL('../json-server/package.json', import.meta.url))('json-server')
const server = jsonServer.create()
const notes = [
  { id: 1, title: 'First', done: false },
  { id: 2, title: 'Second', done: true },
]
server.use(jsonServer.defaults({ logger: false }))
server.use(jsonServer.router({ notes }))
server.listen(Number(process.argv[2]), '127.0.0.1')
