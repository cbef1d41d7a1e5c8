// Calls by npm `strong-soap` from the WSDL alone.
import { soap } from 'strong-soap'
import { drive } from './driver.js'

const [address, version, style] = process.argv.slice(2)
const client = await new Promise((resolve, reject) => {
  const options = { forceSoapVersion: version }
  soap.createClient(address, options, (error, made) => (error ? reject(error) : resolve(made)))
})
await drive(style, (as, password) => {
  client.setSecurity(new soap.BasicAuthSecurity(as, password))
  return client
})
