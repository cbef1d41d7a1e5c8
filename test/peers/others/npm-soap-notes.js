// npm soap's server of the notes, with their WSDL.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const soap = createRequire(new URL('../npm-soap/package.json', import.meta.url))('soap')
const [port, version, wsdl] = process.argv.slice(2)
const is12 = version === '1.2'
const notes = new Map([
  ['1', { id: '1', title: 'First' }],
  ['2', { id: '2', title: 'Second' }],
])
const fault = (reason, detail) =>
  is12
    ? { Fault: { Code: { Value: 'soap:Sender' }, Reason: { Text: reason }, Detail: detail, statusCode: 500 } }
    : { Fault: { faultcode: 'soap:Client', faultstring: reason, detail, statusCode: 500 } }

const operations = {
  GetNote: ({ id }) => {
    const note = notes.get(id)
    if (note) return { note }
    throw fault('no such note', { NoteNotFound: { id, attributes: { xmlns: 'urn:example:notes' } } })
  },
  ListNotes: () => ({ note: [...notes.values()] }),
}

const server = createServer((_request, response) => {
  response.statusCode = 404
  response.end()
})
server.listen(Number(port), '127.0.0.1', () => {
  const services = { NotesService: { NotesPort: operations } }
  soap.listen(server, { path: '/notes', services, xml: readFileSync(wsdl, 'utf8'), forceSoap12Headers: is12 })
})
