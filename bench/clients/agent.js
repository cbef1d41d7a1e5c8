/** No client at all: the text of the message by node:http with an Agent, all octets of the answer, nothing read of them. */
import { Agent, request } from 'node:http'
import { drive } from './drive.js'

const [address, , , content] = process.argv.slice(2)
const url = new URL(address)
const agent = new Agent({ keepAlive: true, maxSockets: 32 })
const headers = { 'content-type': 'text/xml; charset=utf-8', soapaction: '"x"', 'content-length': content.length }
const options = { host: url.hostname, port: url.port, path: url.pathname, method: 'POST', agent, headers }
await drive(
  () =>
    new Promise((resolve, reject) => {
      const asked = request(options, answer => {
        const pieces = []
        answer.on('data', piece => pieces.push(piece))
        answer.on('end', () => {
          const { length } = Buffer.concat(pieces)
          if (answer.statusCode === 200 && length > 500) resolve(process.argv[3])
          else reject(new Error('not the answer'))
        })
      })
      asked.on('error', reject).end(content)
    }),
)
