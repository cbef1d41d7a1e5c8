/** JAX-WS RI, by what wsimport makes of the WSDL and by Dispatch, with MTOM and WS-Addressing; and Axis 1.4. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folder, missing, run } from './peer.ts'
import { type Case, type Command, soapPeer } from './soap-peer.ts'
import type { Seen } from './soap-wire.ts'

const built = new Map<string, Command>()

/** The stubs of a WSDL are built once. */
function build(peer: 'jaxws' | 'axis', { version, style, contract }: Case, wsdl: string): Command {
  const key = `${peer} ${version} ${style} ${contract}`
  const standing = built.get(key)
  if (standing) return standing
  const place = folder()
  writeFileSync(join(place, 'orders.wsdl'), wsdl)
  const path = run(join(import.meta.dirname, 'java', 'build'), [peer, place]).trim()
  const command: Command = ['java', '-XX:TieredStopAtLevel=1', '-cp', path, peer === 'jaxws' ? 'Jaxws' : 'Axis']
  built.set(key, command)
  return command
}

const has = (jar: string) => missing(jar, 'sh', ['-c', `command -v javac && test -f /usr/share/java/${jar}.jar`])
const addressed = (seen: readonly Seen[]) => assert.ok(seen.every(each => each.addressed))
/** Once MTOM is on JAX-WS sends every request as a package, and the answer to a package is one. */
const packaged = (seen: readonly Seen[]) => {
  assert.ok(seen.every(each => each.packaged.request))
  assert.ok(seen.every(each => each.packaged.response || each.fault || each.operation === 'NotifyDelivery'))
}

soapPeer({
  name: 'JAX-WS RI',
  skip: has('jaxws-tools'),
  command: (asked, wsdl) => build('jaxws', asked, wsdl),
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.1', style: 'document', contract: 'v2', words: ['mtom'], shows: packaged },
    { version: '1.1', style: 'document', contract: 'v2', words: ['dispatch', 'addressing'], shows: addressed },
    { version: '1.2', style: 'document', contract: 'v1', words: ['addressing'], shows: addressed },
    { version: '1.2', style: 'document', contract: 'v1', words: ['mtom'], shows: packaged },
    { version: '1.2', style: 'document', contract: 'v1', words: ['dispatch'] },
  ],
})
