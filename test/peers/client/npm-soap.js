// npm soap's server with the WSDL. What it does: see client.peer.ts.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const soap = createRequire(new URL('../npm-soap/package.json', import.meta.url))('soap')
const [wsdl, version, port] = process.argv.slice(2)
const is12 = version === '1.2'
let photo = ''

const fault = (reason, detail) =>
  is12
    ? { Fault: { Code: { Value: 'soap:Sender' }, Reason: { Text: reason }, Detail: detail, statusCode: 500 } }
    : { Fault: { faultcode: 'soap:Client', faultstring: reason, detail, statusCode: 500 } }

/** Texts: as numbers and Dates most kinds would lose something. */
const kinds = 'date dateTime time duration decimal integer long unsignedLong double float'
const asItCame = Object.fromEntries(kinds.split(' ').map(kind => [kind, text => text]))

const operations = {
  CreateSample: ({ sample }) => ({ sample: { id: 's-1', ...sample, version: '1' } }),
  GetSample: ({ id }) => {
    throw fault(`no ${id}`, { NotFound: { attributes: { xmlns: 'urn:diglot:samples:v1' } } })
  },
  TearSample: ({ where }) => {
    if (where === 'crash') throw new Error('crashed < here')
    const detail = { where, pieces: 3, when: '2026-11-21', attributes: { xmlns: 'urn:diglot:samples:v1' } }
    throw fault('torn', { Torn: detail })
  },
  PutSamplePhoto: asked => {
    photo = asked.photo
    return { version: String(Buffer.from(photo, 'base64').length) }
  },
  GetSamplePhoto: () => ({ photo, mediaType: 'image/png', version: '1' }),
  NotifyFall: ({ id }) => void writeFileSync(join(dirname(wsdl), 'fallen'), id),
}

const server = createServer((_request, response) => response.end())
server.listen(Number(port), '127.0.0.1', () => {
  const name = is12 ? 'SamplesSoap12' : 'SamplesSoap11'
  const path = '/soap/v1'
  const services = { SamplesService: { [name]: operations } }
  const xml = readFileSync(wsdl, 'utf8')
  soap.listen(server, { path, services, xml, forceSoap12Headers: is12, customDeserializer: asItCame })
})
