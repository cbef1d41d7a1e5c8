/**
 * Spring-WS with WSS4J 4 (`Wss4jSecurityInterceptor`), which reads no policies and is set up by hand:
 * as a client of every operation of the orders service, signed, signed and encrypted, and with a
 * UsernameToken; and as a server of our client.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { createSoapClient } from '../../src/client/index.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import type { Server } from '../../src/host/serve.ts'
import { createAttacks, freePort, same, standBetween } from './attacker.ts'
import { folder, missing, run } from './peer.ts'
import { walk } from './run-operations.ts'
import {
  behindSource,
  clientEntries,
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

const here = join(import.meta.dirname, 'spring-ws')
const jars = join(here, 'lib')
const skip = missing('Spring-WS (mvn -f test/peers/spring-ws dependency:copy-dependencies)', 'sh', [
  '-c',
  `command -v javac && ls ${jars}/spring-ws-security-*.jar`,
])

const rules = {
  '/soap/signed': { callers: ['x509'], answers: 'signed' },
  '/soap/encrypted': { callers: ['x509'], encrypted: true, answers: 'encrypted' },
  '/soap/username': { callers: [{ by: 'username', passwords: ['text'] }] },
  '/soap/digest': { callers: [{ by: 'username', passwords: ['digest'] }] },
} satisfies Record<string, SecurityRule>
type Path = keyof typeof rules
/**
 * What Spring-WS 4.1.2 takes for an answer: it checks that there is a valid signature, not which
 * elements it covers, and on the client no SignatureConfirmation. An application has to do both.
 */
const elsewhere = ['has another Timestamp, and the signed one in a block', 'was sent before']
const beyondSpring = {
  '/soap/signed': ['has another Body, and the signed one in a block', ...elsewhere],
  '/soap/encrypted': elsewhere,
} as const
const versions: readonly SoapVersion[] = ['1.1', '1.2']
const { contract, secured } = secureOrders(rules)
/** Without TLS, by which our client alone sends a password as text. */
const served = ['/soap/signed', '/soap/encrypted', '/soap/digest'] as const

describe('Spring-WS', { skip }, () => {
  let plain: Server
  let secure: Server
  let client: Driver
  let classes: string

  before(async () => {
    classes = folder()
    const files = readdirSync(here)
      .filter(name => name.endsWith('.java'))
      .map(name => join(here, name))
    const words = ['-encoding', 'UTF-8', '-nowarn', '-proc:none', '-cp', `${jars}/*`, '-d', classes]
    run('javac', [...words, ...files, behindSource])
    const [store = ''] = writeKeyStores({ 'client.p12': clientEntries() })
    ;[plain, secure] = await Promise.all([startSecured(secured), startSecured(secured, tlsFiles)])
    const trust = [`-Djavax.net.ssl.trustStore=${store}`, '-Djavax.net.ssl.trustStorePassword=test-only']
    const started = [...trust, '-XX:TieredStopAtLevel=1', '-cp', `${classes}:${jars}/*`, 'Spring', store]
    client = driver('java', started, 'urn:diglot:orders:v2')
  })

  const callerAt = (path: Path, version: SoapVersion, origin: string) => {
    const more = { address: `${origin}${path}`, way: path.slice('/soap/'.length), version }
    return (operation: string, input: object, as?: Name) => client.call(operation, { ...input }, as, undefined, more)
  }

  for (const path of Object.keys(rules) as Path[])
    for (const version of versions)
      it(`calls every operation by the settings of ${path} in SOAP ${version}`, async () => {
        const server = path === '/soap/username' ? secure : plain
        const customers = [await newCustomer(server), await newCustomer(server)] as const
        await walk({ call: callerAt(path, version, server.url), style: 'document', contract: 'v2', customers })
      })

  for (const version of versions) {
    it(`WSS §10: is refused in SOAP ${version} when its request is not what it signed`, async () => {
      const { kept, attacks } = createAttacks()
      let change = same
      let genuine = ''
      let told = ''
      const request = (text: string) => change((genuine = text))
      const response = (text: string) => (told = text)
      const call = callerAt('/soap/signed', version, await standBetween(plain.url, { request, response }))
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

    for (const path of ['/soap/signed', '/soap/encrypted'] as const)
      it(`WSS §10: refuses our answer of ${path} in SOAP ${version} when it was changed or stripped`, async () => {
        const { kept, attacks, sealedAttacks } = createAttacks()
        let change = same
        const response = (text: string) => {
          kept.former ||= text
          return change(text)
        }
        const call = callerAt(path, version, await standBetween(plain.url, { response }))
        assert.ok('output' in (await call('GetOrder', { id: 'o-1' })))
        const unnoticed: string[] = []
        for (const [name, attack] of path === '/soap/encrypted' ? sealedAttacks : attacks) {
          change = attack
          const said = await call('GetOrder', { id: 'o-1' })
          if (/o-[12]/.test(JSON.stringify([said.output, said.fault?.detail]))) unnoticed.push(name)
        }
        assert.deepEqual(unnoticed, beyondSpring[path])
        change = same
        assert.ok('output' in (await call('GetOrder', { id: 'o-1' })))
      })
  }

  /** In front of our service without security, started once; the address of a path in a version. */
  let standing: Promise<(path: Path, version: SoapVersion) => string> | undefined
  const addressOf = async (path: Path, version: SoapVersion): Promise<string> =>
    (await (standing ??= serve()))(path, version)
  async function serve() {
    const port = await freePort()
    const [keys = ''] = writeKeyStores({ 'server.p12': serverEntries() })
    const ways = served.map(path => path.slice('/soap/'.length))
    const words = ['-XX:TieredStopAtLevel=1', '-cp', `${classes}:${jars}/*`, 'SpringServer', keys, String(port)]
    await startJava([...words, `${plain.url}/soap/v2`, ...ways])
    return (path: Path, version: SoapVersion) => `http://127.0.0.1:${port}/${version}${path}`
  }
  const connect = (path: Path, version: SoapVersion, address: string, name: Name) =>
    createSoapClient(contract, {
      address,
      version: 'v2',
      soap: version,
      keys: { ...people[name], service: { certificates: service.certificate } },
      ...(path === '/soap/digest' && { credentials: { username: name, password: `${name}-secret`, digest: true } }),
    })

  const server: SecuredServer<Path> = {
    addressOf,
    connect,
    createCustomers: async () => [await newCustomer(plain), await newCustomer(plain)],
  }
  for (const version of versions) {
    tryOperations(served, version, server)
    attackAnswers(['/soap/signed', '/soap/encrypted'], version, server)
  }
})
