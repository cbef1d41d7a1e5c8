/** Mono's ASMX client, by what its wsdl tool makes, and a channel of its WCF. Its svcutil makes nothing of any WSDL of ours. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folder, missing, run } from './peer.ts'
import { type Case, type Command, soapPeer } from './soap-peer.ts'
import type { Seen } from './soap-wire.ts'

const built = new Map<string, Command>()

/** The stub of a WSDL is built once: of the one for 1.1, since the tool knows no other; its class can be told to speak 1.2. */
async function build({ contract }: Case, _: string, endpoint: string): Promise<Command> {
  const standing = built.get(contract)
  if (standing) return standing
  const place = folder()
  writeFileSync(join(place, 'orders.wsdl'), await (await fetch(`${endpoint}?wsdl=1.1`)).text())
  run(join(import.meta.dirname, 'mono', 'build'), [place])
  const command: Command = ['mono', join(place, 'orders.exe')]
  built.set(contract, command)
  return command
}

const addressed = (seen: readonly Seen[]) => assert.ok(seen.every(each => each.addressed))

/** Beside wsa:Action Mono sends no parameter action. */
const habits = { noAction: true }

soapPeer({
  name: 'Mono',
  skip: missing('Mono', 'sh', ['-c', 'command -v mono mcs wsdl && test -f /usr/lib/mono/4.5/System.ServiceModel.dll']),
  command: build,
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.2', style: 'document', contract: 'v1' },
    { version: '1.1', style: 'document', contract: 'v2', words: ['wcf'] },
    { version: '1.2', style: 'document', contract: 'v1', words: ['wcf', 'addressing'], habits, shows: addressed },
  ],
})
