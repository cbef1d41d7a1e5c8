/** Mono's ASMX client, by what its wsdl tool makes, and a channel of its WCF. Its svcutil makes nothing of any WSDL of ours. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { missing } from './peer.ts'
import { build } from './soap-build.ts'
import { type Case, type Command, soapPeer } from './soap-peer.ts'
import type { Seen } from './soap-wire.ts'

/** The class that the tool makes for one version can be told to speak the other; for documents it knows 1.1 alone. */
async function command({ style, version }: Case, wsdl: string, endpoint: string): Promise<Command> {
  const is12 = style !== 'document' && version === '1.2'
  const made = is12 ? wsdl : await (await fetch(`${endpoint}?wsdl=1.1`)).text()
  return ['mono', join((await build('mono', made, is12 ? 'Soap12' : 'Soap')).place, 'orders.exe')]
}

const addressed = (seen: readonly Seen[]) => assert.ok(seen.every(each => each.addressed))

/** Beside wsa:Action Mono sends no parameter action. */
const habits = { noAction: true }

/** A part of type int is an int to it, which cannot be left out: 0 would be its page. */
const cannot = ['ListOrders', 'SearchOrders', 'ListCustomers', 'ListProducts']

soapPeer({
  name: 'Mono',
  skip: missing('Mono', 'sh', ['-c', 'command -v mono mcs wsdl && test -f /usr/lib/mono/4.5/System.ServiceModel.dll']),
  command,
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.2', style: 'document', contract: 'v1' },
    { version: '1.1', style: 'encoded', contract: 'v2', cannot },
    { version: '1.2', style: 'encoded', contract: 'v1', cannot },
    { version: '1.1', style: 'document', contract: 'v2', words: ['wcf'] },
    { version: '1.2', style: 'document', contract: 'v1', words: ['wcf', 'addressing'], habits, shows: addressed },
  ],
})
