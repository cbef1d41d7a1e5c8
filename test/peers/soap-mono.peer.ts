/** Mono's ASMX client, by what its wsdl tool makes, a channel of its WCF, and what its svcutil makes. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { folder, missing, run, service } from './peer.ts'
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

const skip = missing('Mono', 'sh', [
  '-c',
  'command -v mono mcs wsdl svcutil && test -f /usr/lib/mono/4.5/System.ServiceModel.dll',
])
soapPeer({
  name: 'Mono',
  skip,
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

it('B2.12 svcutil makes an operation of each message and a class or an enumeration of each type, which compile', {
  skip,
}, async () => {
  const [{ url }, place] = [await service(), folder()]
  for (const query of ['?wsdl', '?wsdl=1.1', '?wsdl=1.2']) {
    const code = join(place, `Orders${query.replace(/\W/g, '')}.cs`)
    run('svcutil', ['--noConfig', `--out=${code}`, `${url}/soap/v2${query}`])
    const written = readFileSync(code, 'utf8')
    assert.equal(written.match(/\[System\.ServiceModel\.OperationContractAttribute\(/g)?.length, 22, query)
    const types = new Set(Array.from(written.matchAll(/public (?:partial )?(?:class|enum) (\w+)/g), found => found[1]))
    for (const name of ['Order', 'Lines', 'Line', 'OrderDraftLines', 'Orders', 'State', 'JobState', 'Tier'])
      assert.ok(types.has(name), `${name} is among ${[...types]}`)
    const references = ['System.ServiceModel', 'System.Runtime.Serialization', 'System.Xml']
    run('mcs', ['-target:library', `-out:${code}.dll`, ...references.map(each => `-r:${each}`), code])
  }
})
