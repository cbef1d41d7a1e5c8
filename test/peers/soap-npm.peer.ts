/** SOAP clients of the Node world, in a folder of their own: what it installs is none of the project's. */
import { join } from 'node:path'
import { installed } from './installed.ts'
import { soapPeer } from './soap-peer.ts'

const folder = join(import.meta.dirname, 'npm-soap')
soapPeer({
  name: 'npm soap',
  skip: installed('npm-soap'),
  command: () => [process.execPath, join(folder, 'soap.js')],
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.2', style: 'document', contract: 'v1' },
    { version: '1.1', style: 'rpc', contract: 'v2' },
    { version: '1.2', style: 'rpc', contract: 'v1' },
    { version: '1.1', style: 'encoded', contract: 'v1' },
  ],
})

/**
 * Where an operation has no output, strong-soap does not read its input either: the values go into Body without their wrapper.
 * Decimals it makes numbers of, and a 1.2 request has no parameter action.
 */
const cannot = ['NotifyDelivery', 'decimals']

soapPeer({
  name: 'npm strong-soap',
  skip: installed('npm-soap'),
  command: () => [process.execPath, join(folder, 'strong-soap.js')],
  cases: [
    { version: '1.1', style: 'document', cannot, contract: 'v1' },
    { version: '1.2', style: 'document', cannot, contract: 'v2', habits: { noAction: true } },
    { version: '1.1', style: 'rpc', cannot, contract: 'v2' },
    { version: '1.2', style: 'rpc', cannot, contract: 'v1', habits: { noAction: true } },
    { version: '1.1', style: 'encoded', cannot, contract: 'v1' },
  ],
})
