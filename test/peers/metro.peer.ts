/**
 * Metro with WSIT, driven by the WSDL and its policies alone: as a client of every operation of the
 * orders service, signed, signed and encrypted, and with a UsernameToken over TLS; and as a server
 * of our client.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { createSoapClient } from '../../src/client/index.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import type { Server } from '../../src/host/serve.ts'
import { createAttacks, freePort, same, standBetween } from './attacker.ts'
import { folder, missing, run } from './peer.ts'
import { walk } from './run-operations.ts'
import {
  clientEntries,
  describedAt,
  jaxwsSources,
  type Name,
  newCustomer,
  people,
  type SoapVersion,
  secureOrders,
  serverEntries,
  service,
  startSecured,
  tlsFiles,
  writeKeyStores,
} from './secured-orders.ts'
import { attackAnswers, type SecuredServer, startJava, tryOperations } from './secured-servers.ts'
import { type Driver, driver } from './soap-driver.ts'

const here = join(import.meta.dirname, 'metro')
const jars = join(here, 'lib')
const skip = missing('Metro (mvn -f test/peers/metro dependency:copy-dependencies)', 'sh', [
  '-c',
  `command -v javac && ls ${jars}/webservices-rt-*.jar`,
])

const rules = {
  '/soap/signed': { callers: ['x509'], answers: 'signed' },
  '/soap/encrypted': { callers: ['x509'], encrypted: true, answers: 'encrypted' },
  '/soap/loose': { callers: ['x509'], encrypted: true, answers: 'encrypted', confirmed: false },
  '/soap/protected': { callers: ['x509'], answers: 'signed', protectTokens: true },
  '/soap/sha1': { callers: ['x509'], symmetric: 'direct', encrypted: true, answers: 'encrypted', suite: 'Basic256' },
  '/soap/username': { callers: [{ by: 'username', passwords: ['text'] }] },
  '/soap/stamped': { callers: [{ by: 'username', passwords: ['text'] }], timestamp: true },
  '/soap/digest': { callers: [{ by: 'username', passwords: ['digest'] }] },
  '/soap/named': { callers: [{ by: 'username', passwords: ['digest'], signed: true }], answers: 'signed' },
  '/soap/each': {
    callers: ['x509'],
    answers: 'signed',
    operations: { PayOrder: { callers: ['x509'], encrypted: true, answers: 'encrypted' } },
  },
} satisfies Record<string, SecurityRule>
/**
 * What Metro 4.0.5 cannot: in its canonical form a character beyond U+FFFF is two of three octets
 * (CESU-8) in place of UTF-8; and in SOAP 1.2 it takes an element of the application whose name is
 * `detail`, without a prefix, for the detail of the fault (`PolicyResolverImpl`), so that it finds no
 * policy for a signed `Invalid`.
 */
const cannot = { '1.1': ['astral'], '1.2': ['astral', 'fault Invalid'] } as const
type Path = keyof typeof rules
const versions: readonly SoapVersion[] = ['1.1', '1.2']
const walks: readonly (readonly [Path, SoapVersion])[] = [
  ['/soap/signed', '1.1'],
  ['/soap/signed', '1.2'],
  ['/soap/encrypted', '1.1'],
  ['/soap/encrypted', '1.2'],
  ['/soap/loose', '1.1'],
  ['/soap/protected', '1.2'],
  ['/soap/sha1', '1.1'],
  ['/soap/username', '1.1'],
  ['/soap/stamped', '1.2'],
  ['/soap/digest', '1.2'],
  ['/soap/named', '1.1'],
  ['/soap/each', '1.2'],
]
const { contract, secured } = secureOrders(rules)
/**
 * Passwords would want a validator of the application's; with a policy of one operation the tube of
 * a server ends with a NullPointerException (`SecurityServerTube`, Metro 4.0.5).
 */
const served = ['/soap/signed', '/soap/encrypted', '/soap/loose', '/soap/protected'] as const

describe('Metro', { skip }, () => {
  let plain: Server
  let secure: Server
  let client: Driver
  let classes: string

  before(async () => {
    classes = folder()
    const sources = readdirSync(here).filter(name => name.endsWith('.java'))
    const files = sources.map(name => join(here, name))
    const compiled = ['-encoding', 'UTF-8', '-nowarn', '-proc:none', '-cp', `${jars}/*`, '-d', classes]
    run('javac', [...compiled, ...files, ...jaxwsSources])
    const [store = ''] = writeKeyStores({ 'client.p12': clientEntries() })
    mkdirSync(join(classes, 'META-INF'))
    const keys = readFileSync(join(here, 'wsit-client.xml'), 'utf8').replaceAll('"STORE"', `"${store}"`)
    writeFileSync(join(classes, 'META-INF', 'wsit-client.xml'), keys)
    ;[plain, secure] = await Promise.all([startSecured(secured), startSecured(secured, tlsFiles)])
    const trust = [`-Djavax.net.ssl.trustStore=${store}`, '-Djavax.net.ssl.trustStorePassword=test-only']
    const words = [...trust, '-XX:TieredStopAtLevel=1', '-cp', `${classes}:${jars}/*`, 'Metro']
    client = driver('java', words, 'urn:diglot:orders:v2')
  })

  async function callerAt(path: Path, version: SoapVersion, server: Server, change = same) {
    const more = { wsdl: `file:${await describedAt(server, path, version, change)}`, version }
    return (operation: string, input: object, as?: Name) => client.call(operation, { ...input }, as, undefined, more)
  }

  for (const [path, version] of walks)
    it(`calls every operation by the policies of ${path} in SOAP ${version}`, async () => {
      const server = path === '/soap/username' || path === '/soap/stamped' ? secure : plain
      const customers = [await newCustomer(server), await newCustomer(server)] as const
      const call = await callerAt(path, version, server)
      await walk({ call, style: 'document', contract: 'v2', customers, cannot: cannot[version] })
    })

  for (const version of versions) {
    it(`WSS §10: is refused in SOAP ${version} when its request is not what it signed`, async () => {
      const { kept, attacks } = createAttacks()
      let change = same
      let genuine = ''
      let told = ''
      const request = (text: string) => change((genuine = text))
      const response = (text: string) => (told = text)
      const address = await standBetween(plain.url, { request, response })
      const call = await callerAt('/soap/signed', version, plain, wsdl => wsdl.replaceAll(plain.url, address))
      assert.ok('output' in (await call('GetOrder', { id: 'o-1' })))
      kept.former = genuine
      for (const [name, attack] of attacks) {
        change = attack
        await call('GetOrder', { id: 'o-1' })
        assert.notEqual(attack(genuine), genuine, name)
        assert.match(told, /InvalidSecurity|FailedCheck|FailedAuthentication|MessageExpired/, `${name}: ${told}`)
        assert.doesNotMatch(told, /o-[12]</, name)
      }
    })

    it(`WSS §10: refuses our response in SOAP ${version} when it is not what we signed`, async () => {
      const { kept, attacks } = createAttacks()
      let change = same
      const response = (text: string) => {
        kept.former ||= text
        return change(text)
      }
      const address = await standBetween(plain.url, { response })
      const call = await callerAt('/soap/signed', version, plain, wsdl => wsdl.replaceAll(plain.url, address))
      assert.ok('output' in (await call('GetOrder', { id: 'o-1' })))
      for (const [name, attack] of attacks) {
        change = attack
        const said = await call('GetOrder', { id: 'o-1' })
        const told = JSON.stringify([said.output, said.fault?.detail])
        // Metro reads the Body that it has verified, whatever else has its identifier.
        const isHarmless = /the signed one|a second element/.test(name)
        assert.doesNotMatch(told, isHarmless ? /o-2/ : /o-[12]/, `${name}: ${JSON.stringify(said)}`)
      }
      change = same
      assert.ok('output' in (await call('GetOrder', { id: 'o-1' })))
    })
  }

  /**
   * In front of our service without security, started once for each path, since Metro has one port
   * of a name in a process; the address of a version.
   */
  const standing = new Map<Path, Promise<(version: SoapVersion) => string>>()
  const addressOf = async (path: Path, version: SoapVersion): Promise<string> => {
    const started = standing.get(path) ?? serve(path)
    standing.set(path, started)
    return (await started)(version)
  }
  async function serve(path: Path) {
    const port = await freePort()
    const place = (version: SoapVersion): string => `http://127.0.0.1:${port}/${version}${path}`
    const [store = ''] = writeKeyStores({ 'server.p12': serverEntries() })
    const words: string[] = []
    for (const version of versions) {
      const relocate = (wsdl: string) => nameKeys(wsdl.replaceAll(`${plain.url}${path}`, place(version)), store)
      words.push(`file:${await describedAt(plain, path, version, relocate)}`, version, place(version))
    }
    const program = ['-XX:TieredStopAtLevel=1', '-cp', `${classes}:${jars}/*`, 'MetroServer', `${plain.url}/soap/v2`]
    await startJava([...program, 'urn:diglot:orders:v2', ...words])
    return place
  }
  /** Metro 4.0.5 signs its certificate in requests, and not in answers: nor does our client demand it. */
  const connect = (path: Path, version: SoapVersion, address: string, name: Name) =>
    createSoapClient(contract, {
      address,
      endpoint: path === '/soap/protected' ? '/soap/signed' : path,
      version: 'v2',
      soap: version,
      keys: { ...people[name], service: { certificates: service.certificate } },
    })

  const server: SecuredServer<Path> = {
    addressOf,
    connect,
    createCustomers: async () => [await newCustomer(plain), await newCustomer(plain)],
    cannot: version => cannot[version],
  }
  for (const version of versions) {
    tryOperations(served, version, server)
    attackAnswers(served, version, server)
  }
})

/** The keys of a server stand in its policy, and are not published. */
function nameKeys(wsdl: string, store: string): string {
  const own = `xmlns:sc="http://schemas.sun.com/2006/03/wss/server" xmlns:wspp="http://java.sun.com/xml/ns/wsit/policy" wspp:visibility="private" location="${store}" type="PKCS12" storepass="test-only"`
  const keys = `<sc:KeyStore ${own} keypass="test-only" alias="service"/><sc:TrustStore ${own}/>`
  return wsdl.replace('wsu:Id="MessageSecurity"><wsp:ExactlyOne><wsp:All>', found => found + keys)
}
