/** soap4r of Ruby, from the WSDL alone. */
import { join } from 'node:path'
import { missing } from './peer.ts'
import { soapPeer } from './soap-peer.ts'

/**
 * It speaks 1.1 alone. RPC/literal is not for it: it writes a part that is not given as an empty element, and refuses that itself
 * where its type has facets. In RPC/encoded it makes numbers of decimals, and dates are beyond it with the Ruby of today.
 */
soapPeer({
  name: 'soap4r',
  skip: missing('soap4r', 'ruby', ['-rsoap/wsdlDriver', '-e', '1']),
  command: () => ['ruby', join(import.meta.dirname, 'ruby', 'orders.rb')],
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.1', style: 'document', contract: 'v1', both: true },
    { version: '1.1', style: 'encoded', contract: 'v2', cannot: ['decimals', 'GetReportJob'] },
  ],
})
