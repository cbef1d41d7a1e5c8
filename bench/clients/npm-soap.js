/** npm soap's client, made from the WSDL; node:http keeps its connections. It validates nothing. */
import { createRequire } from 'node:module'
import { drive, meaning } from './drive.js'

const soap = createRequire(new URL('../peers/package.json', import.meta.url))('soap')
const [address, , wsdl] = process.argv.slice(2)
const client = await soap.createClientAsync(wsdl, {}, address)
await drive(async () => {
  const [{ order }] = await client.GetOrderAsync({ id: 'o-1' })
  return meaning({ ...order, lines: order.lines.line })
})
