/** Mono's ASMX client, by what its wsdl tool makes, and a channel of its WCF. Its svcutil makes nothing of any WSDL of ours. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { missing } from './peer.ts'
import { build } from './soap-build.ts'
import { type Case, type Command, soapPeer } from './soap-peer.ts'
import type { Seen } from './soap-wire.ts'

/** Of the WSDL for 1.1, since the tool knows no other; the class that it makes can be told to speak 1.2. */
async function command(_: Case, __: string, endpoint: string): Promise<Command> {
  const wsdl = await (await fetch(`${endpoint}?wsdl=1.1`)).text()
  return ['mono', join((await build('mono', wsdl)).place, 'orders.exe')]
}

const addressed = (seen: readonly Seen[]) => assert.ok(seen.every(each => each.addressed))

/** Beside wsa:Action Mono sends no parameter action. */
const habits = { noAction: true }

soapPeer({
  name: 'Mono',
  skip: missing('Mono', 'sh', ['-c', 'command -v mono mcs wsdl && test -f /usr/lib/mono/4.5/System.ServiceModel.dll']),
  command,
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.2', style: 'document', contract: 'v1' },
    { version: '1.1', style: 'document', contract: 'v2', words: ['wcf'] },
    { version: '1.2', style: 'document', contract: 'v1', words: ['wcf', 'addressing'], habits, shows: addressed },
  ],
})
