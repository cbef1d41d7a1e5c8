/** node:http that reads a POST and answers a constant: the floor of this platform. */
import { createServer } from 'node:http'
import { ready } from './report.js'

const answer = Buffer.from(process.argv[2] ?? 'ok')
const server = createServer((request, response) => {
  const parts = []
  request.on('data', part => parts.push(part))
  request.on('end', () => {
    Buffer.concat(parts)
    response.writeHead(200, { 'content-type': 'text/xml; charset=utf-8', 'content-length': answer.length })
    response.end(answer)
  })
})
server.listen(0, '127.0.0.1', () => ready(server.address().port))
