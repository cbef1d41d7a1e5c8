/** SOAP::Lite of Perl: old habits, RPC/encoded above all. */
import { join } from 'node:path'
import { missing } from './peer.ts'
import { soapPeer } from './soap-peer.ts'

/** It sends SOAPAction, which SOAP 1.2 has not, and no parameter action. */
const habits = { noAction: true }

soapPeer({
  name: 'SOAP::Lite',
  skip: missing('SOAP::Lite', 'perl', ['-MSOAP::Lite', '-MXML::LibXML', '-e', '1']),
  command: () => ['perl', join(import.meta.dirname, 'perl', 'orders.pl')],
  cases: [
    { version: '1.1', style: 'encoded', contract: 'v2' },
    { version: '1.2', style: 'encoded', contract: 'v1', habits },
    { version: '1.1', style: 'document', contract: 'v1' },
    { version: '1.2', style: 'document', contract: 'v2', habits },
    { version: '1.1', style: 'rpc', contract: 'v2' },
  ],
})
