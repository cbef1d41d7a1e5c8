/** A SOAP service by hand: GetOrder of whatever id is asked, an order of five lines. It costs little, and is not counted. */
import { createServer } from 'node:http'

const [port] = process.argv.slice(2)
const line = product => `<line><product>p-${product}</product><quantity>${product}</quantity><price>4.5</price></line>`
const lines = [1, 2, 3, 4, 5].map(line).join('')
const answer = id =>
  `<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><GetOrderResponse xmlns="urn:diglot:orders:v2"><order><id>${id}</id><customer>c-1</customer><lines>${lines}</lines><currency>EUR</currency><total>67.5</total><note>for ${id}</note><placedAt>2026-01-01T09:00:00.000Z</placedAt><state>placed</state><version>1</version></order></GetOrderResponse></soap:Body></soap:Envelope>`
createServer((request, response) => {
  const parts = []
  request.on('data', part => parts.push(part))
  request.on('end', () => {
    const [, id] = /id>([^<]+)</.exec(Buffer.concat(parts).toString()) ?? []
    const content = Buffer.from(answer(id))
    response.writeHead(200, { 'content-type': 'text/xml; charset=utf-8', 'content-length': content.length })
    response.end(content)
  })
}).listen(Number(port), '127.0.0.1')
