// Calls by npm `soap` from the WSDL alone.
import soap from 'soap'
import { drive } from './driver.js'

const [address, version, style] = process.argv.slice(2)
const client = await soap.createClientAsync(address, {
  forceSoap12Headers: version === '1.2',
  customDeserializer: { decimal: text => text }, // else a number, which loses places
})
await drive(style, (as, password) => {
  client.setSecurity(new soap.BasicAuthSecurity(as, password))
  return client
})
