/** Perl: SOAP::Lite, with old habits and RPC/encoded above all, and SOAP::WSDL by the classes that it makes. */
import { join } from 'node:path'
import { missing } from './peer.ts'
import { build } from './soap-build.ts'
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

/** It speaks 1.1 alone. Of pictures its base64 is a text, which goes as it comes. */
soapPeer({
  name: 'SOAP::WSDL',
  skip: missing('SOAP::WSDL', 'perl', ['-MSOAP::WSDL', '-MXML::LibXML', '-e', '1']),
  command: async (_, wsdl) => [
    'perl',
    join(import.meta.dirname, 'perl', 'generated.pl'),
    (await build('perl', wsdl)).place,
  ],
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.1', style: 'document', contract: 'v1' },
  ],
})
