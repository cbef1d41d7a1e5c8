// npm soap's server of parts/stock.wsdl: npm-parts.js PORT WSDL
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const soap = createRequire(new URL('../npm-soap/package.json', import.meta.url))('soap')
const [port, wsdl] = process.argv.slice(2)
const parts = new Map()
const fault = (reason, name, content) => ({
  Fault: {
    faultcode: 'soap:Client',
    faultstring: reason,
    detail: { [name]: { ...content, attributes: { xmlns: 'http://stock.example/' } } },
    statusCode: 500,
  },
})
function findPart(partNo) {
  const found = parts.get(Number(partNo))
  if (!found) throw fault('no such part', 'NoSuchPart', { partNo })
  return found
}

const operations = {
  GetPart: ({ partNo }) => ({ part: findPart(partNo) }),
  ListParts: () => ({ part: [...parts.values()] }),
  CreatePart: content => {
    const partNo = Math.max(0, ...parts.keys()) + 1
    parts.set(partNo, { partNo, ...content, rowVersion: 1 })
    return { partNo }
  },
  UpdatePart: ({ part }) => {
    const { rowVersion } = findPart(part.partNo)
    if (part.name === 'meanwhile') throw fault('changed by another', 'PartConflict', { rowVersion: rowVersion + 1 })
    parts.set(Number(part.partNo), { ...part, rowVersion: rowVersion + 1 })
    return {}
  },
  DeletePart: ({ partNo }) => {
    findPart(partNo)
    parts.delete(Number(partNo))
    return {}
  },
}

const server = createServer((_request, response) => void response.writeHead(404).end())
server.listen(Number(port), '127.0.0.1', () =>
  soap.listen(server, { path: '/', services: { Stock: { Stock: operations } }, xml: readFileSync(wsdl, 'utf8') }),
)
