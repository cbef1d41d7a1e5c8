/** Our client: typed from the contract, every answer validated. */
import { shop } from '../../examples/orders/contract.ts'
import { createSoapClient } from '../../src/client/index.ts'
import { drive, meaning } from './drive.js'

const [address = ''] = process.argv.slice(2)
const client = createSoapClient(shop, { address, soap: '1.1' })
await drive(async () => meaning((await client.GetOrder({ id: 'o-1' })).order))
