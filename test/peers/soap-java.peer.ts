/** JAX-WS RI, by what wsimport makes of the WSDL and by Dispatch, with MTOM and WS-Addressing; and Axis 1.4. */
import assert from 'node:assert/strict'
import { missing } from './peer.ts'
import { build } from './soap-build.ts'
import { type Command, soapPeer } from './soap-peer.ts'
import type { Seen } from './soap-wire.ts'

async function command(peer: 'jaxws' | 'axis', wsdl: string): Promise<Command> {
  const { said } = await build('java', wsdl, peer)
  return ['java', '-XX:TieredStopAtLevel=1', '-cp', said, peer === 'jaxws' ? 'Jaxws' : 'Axis']
}

const has = (jar: string) => missing(jar, 'sh', ['-c', `command -v javac && test -f /usr/share/java/${jar}.jar`])
const addressed = (seen: readonly Seen[]) => assert.ok(seen.every(each => each.addressed))
/** Once MTOM is on JAX-WS sends every request as a package, and the answer to a package is one. */
const packaged = (seen: readonly Seen[]) => {
  assert.ok(seen.every(each => each.packaged.request))
  assert.ok(seen.every(each => each.packaged.response || each.fault || each.operation === 'NotifyDelivery'))
}

/**
 * WSDL 1.1 has no optional part, and JAX-WS refuses a null one (WS-I BP 1.1 R2211): what is not given goes as an empty element.
 * Its generated methods have ints for whole numbers and enumerations, which cannot be empty.
 */
const empties = { looseRequests: true }

soapPeer({
  name: 'JAX-WS RI',
  skip: has('jaxws-tools'),
  command: (_, wsdl) => command('jaxws', wsdl),
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.1', style: 'document', contract: 'v2', words: ['mtom'], shows: packaged },
    { version: '1.1', style: 'document', contract: 'v2', words: ['dispatch', 'addressing'], shows: addressed },
    { version: '1.2', style: 'document', contract: 'v1', words: ['addressing'], shows: addressed },
    { version: '1.2', style: 'document', contract: 'v1', words: ['mtom'], shows: packaged },
    { version: '1.2', style: 'document', contract: 'v1', words: ['dispatch'] },
    { version: '1.1', style: 'rpc', contract: 'v2', words: ['dispatch'], habits: empties },
    { version: '1.2', style: 'rpc', contract: 'v1', words: ['dispatch'], habits: empties },
  ],
})

/** Axis writes a character beyond U+FFFF as references to both its surrogates, which is not well-formed. */
const astral = ['astral']
/** A part of type int is an int to Java, which cannot be left out: 0 would be its page. */
const lists = ['ListOrders', 'SearchOrders', 'ListCustomers', 'ListProducts']
/** A type that narrows base64Binary is an array of elements to it, one for each octet: both ways as a part, and inside of a bean it reads one so. */
const pictures = ['PutProductPicture', 'GetProductPicture']

/** A part that is null goes as xsi:nil, which WS-I BP 1.1 R2211 forbids; the service takes it as left out. */
const nils = { looseRequests: true }

soapPeer({
  name: 'Axis 1.4',
  skip: has('axis'),
  command: (_, wsdl) => command('axis', wsdl),
  cases: [
    { version: '1.1', style: 'document', contract: 'v2', cannot: [...astral, 'GetProductPicture'] },
    { version: '1.1', style: 'rpc', contract: 'v1', cannot: [...lists, ...pictures], habits: nils },
    { version: '1.1', style: 'encoded', contract: 'v2', cannot: [...astral, ...lists] },
  ],
})
