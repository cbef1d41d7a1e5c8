/**
 * Apache CXF with WSS4J, driven by the WSDL and its policies alone: as a client of every operation
 * of the orders service, signed, signed and encrypted, with a UsernameToken over TLS, with
 * assertions, which verifies our signed answers; and as a server of our client.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { AnswerError, createSoapClient } from '../../src/client/index.ts'
import type { ClientKeys } from '../../src/client/message-keys.ts'
import type { PortDressOptions } from '../../src/client/port-dress.ts'
import { isWeakSuite, type SecurityRule } from '../../src/contract/endpoint-rule.ts'
import type { Server } from '../../src/host/serve.ts'
import { bankRoot, issueBank } from '../host/partner-keys.ts'
import { createAttacks, freePort, same, standBetween } from './attacker.ts'
import { startBridgedCaller } from './bridged-caller.ts'
import { cli, folder, missing, orders, run } from './peer.ts'
import { walk } from './run-operations.ts'
import {
  assertionFor,
  clientEntries,
  describedAt,
  jaxwsSources,
  type Name,
  names,
  newCustomer,
  people,
  type SoapVersion,
  sayAs,
  secureOrders,
  serverEntries,
  service,
  startSecured,
  tls,
  tlsFiles,
  writeKeyStores,
} from './secured-orders.ts'
import { startJava } from './secured-servers.ts'
import { type Driver, driver } from './soap-driver.ts'

const here = join(import.meta.dirname, 'cxf')
const jars = join(here, 'lib')
const skip = missing(`Apache CXF (mvn -f test/peers/cxf dependency:copy-dependencies)`, 'sh', [
  '-c',
  `command -v javac && ls ${jars}/cxf-core-*.jar`,
])

const signed: SecurityRule = { callers: ['x509'], answers: 'signed' }
const rules = {
  '/soap/signed': signed,
  '/soap/encrypted': { callers: ['x509'], encrypted: true, answers: 'encrypted' },
  '/soap/each': { ...signed, operations: { PayOrder: { callers: ['x509'], encrypted: true, answers: 'encrypted' } } },
  '/soap/plain-answers': { callers: ['x509'] },
  '/soap/username': { callers: [{ by: 'username', passwords: ['text'] }] },
  '/soap/stamped': { callers: [{ by: 'username', passwords: ['text'] }], timestamp: true },
  '/soap/digest': { callers: [{ by: 'username', passwords: ['digest'] }] },
  '/soap/named': { callers: [{ by: 'username', passwords: ['digest'], signed: true }], answers: 'signed' },
  '/soap/holder': { callers: [{ by: 'saml', confirmations: ['holder-of-key'] }], answers: 'signed' },
  '/soap/bearer': { callers: [{ by: 'saml', confirmations: ['bearer'] }] },
  '/soap/shared': { callers: ['x509'], symmetric: 'direct', answers: 'signed' },
  '/soap/sealed': { callers: ['x509'], symmetric: 'direct', encrypted: true, answers: 'encrypted' },
  '/soap/derived': { callers: ['x509'], symmetric: 'derived', answers: 'signed' },
  '/soap/derived-sealed': { callers: ['x509'], symmetric: 'derived', encrypted: true, answers: 'encrypted' },
  '/soap/loose': { callers: ['x509'], answers: 'signed', confirmed: false },
  '/soap/protected': { callers: ['x509'], encrypted: true, answers: 'encrypted', protectTokens: true },
  '/soap/named-service': {
    callers: ['x509'],
    encrypted: true,
    answers: 'encrypted',
    reference: 'issuer-serial',
    unsent: ['service'],
  },
  '/soap/named-both': {
    callers: ['x509'],
    answers: 'signed',
    confirmed: false,
    reference: 'issuer-serial',
    unsent: ['caller', 'service'],
  },
  '/soap/small': { callers: ['x509'], encrypted: true, answers: 'encrypted', suite: 'Basic128Sha256' },
  '/soap/small-sealed': {
    callers: ['x509'],
    symmetric: 'derived',
    encrypted: true,
    answers: 'encrypted',
    suite: 'Basic128Sha256',
  },
  '/soap/sha1': { callers: ['x509'], encrypted: true, answers: 'encrypted', suite: 'Basic256' },
  '/soap/sha1-sealed': {
    callers: ['x509'],
    symmetric: 'direct',
    encrypted: true,
    answers: 'encrypted',
    suite: 'Basic128',
  },
  '/soap/protected-holder': {
    callers: [{ by: 'saml', confirmations: ['holder-of-key'] }],
    answers: 'signed',
    protectTokens: true,
  },
  '/soap/loose-shared': { callers: ['x509'], symmetric: 'direct', answers: 'signed', confirmed: false },
} satisfies Record<string, SecurityRule>
type Path = keyof typeof rules
const symmetric = [
  '/soap/shared',
  '/soap/sealed',
  '/soap/derived',
  '/soap/derived-sealed',
  '/soap/loose-shared',
  '/soap/small-sealed',
  '/soap/sha1-sealed',
] as const
const isSymmetric = (path: Path): boolean => symmetric.some(each => each === path)
const overTls: readonly Path[] = ['/soap/username', '/soap/stamped', '/soap/bearer']
const { contract, secured } = secureOrders(rules)

let classes: string
let clientStore: string
let serverStore: string
let tlsStore: string
/** Of both halves, 74 s of CPU; 104 s with the second compiler. */
const java = (...words: string[]): string[] => ['-XX:TieredStopAtLevel=1', '-cp', `${classes}:${jars}/*`, ...words]

let plain: Server
let secure: Server

async function prepare(): Promise<void> {
  classes = folder()
  const sources = readdirSync(here).filter(name => name.endsWith('.java'))
  run('javac', [
    '-encoding',
    'UTF-8',
    '-nowarn',
    '-proc:none',
    '-cp',
    `${jars}/*`,
    '-d',
    classes,
    ...sources.map(name => join(here, name)),
    ...jaxwsSources,
  ])
  const tlsEntries = ['tls', tlsFiles.key, tlsFiles.certificate]
  const stores = { 'client.p12': clientEntries(), 'server.p12': serverEntries(), 'tls.p12': tlsEntries }
  ;[clientStore, serverStore, tlsStore] = writeKeyStores(stores) as [string, string, string]
  plain = await startSecured(secured)
  secure = await startSecured(secured, tlsFiles)
}

const tlsTrust = (): string[] => [
  `-Djavax.net.ssl.trustStore=${clientStore}`,
  '-Djavax.net.ssl.trustStorePassword=test-only',
]
/** CXF as a client: one program for all endpoints. */
const caller = (wsdl: string, version: string, path: Path) => {
  client ??= driver('java', [...tlsTrust(), ...java('Cxf', clientStore)], 'urn:diglot:orders:v2')
  const { call } = client
  const audience = path === '/soap/bearer' ? 'urn:shop:bearer' : 'urn:shop'
  const more = { wsdl: `file:${wsdl}`, version, audience }
  return (operation: string, input: object, as?: Name) => call(operation, { ...input }, as, undefined, more)
}
let client: Driver | undefined

/** Each half has a JVM of its own, and waits for it most of the time: both run at once. */
describe('Apache CXF', { skip, concurrency: 2 }, () => {
  before(prepare)

  describe('as a client', { concurrency: 1 }, () => {
    const { kept, attacks, exchangeAttacks } = createAttacks()
    for (const path of Object.keys(rules) as Path[]) {
      for (const version of ['1.1', '1.2']) {
        it(`calls every operation by the policies of ${path} in SOAP ${version}`, async () => {
          const server = overTls.includes(path) ? secure : plain
          const call = caller(await describedAt(server, path, version), version, path)
          const customers = [await newCustomer(server), await newCustomer(server)] as const
          await walk({ call, style: 'document', contract: 'v2', customers })
        })
      }
    }

    for (const version of ['1.1', '1.2']) {
      it(`is refused in SOAP ${version} when its request is not what it signed`, async () => {
        let change = same
        let told = ''
        let genuine = ''
        const address = await standBetween(plain.url, {
          request: text => {
            genuine = text
            return change(text)
          },
          response: text => {
            told = text
            return text
          },
        })
        const relocate = (wsdl: string) => wsdl.replaceAll(plain.url, address)
        const callerBy = async (path: Path) => caller(await describedAt(plain, path, version, relocate), version, path)
        const called = await callerBy('/soap/signed')
        const call = () => called('GetOrder', { id: 'o-1' })
        assert.ok('output' in (await call()))
        kept.former = genuine
        for (const [name, attack] of attacks) {
          change = attack
          await call()
          assert.notEqual(attack(genuine), genuine, name)
          assert.match(told, /InvalidSecurity|FailedCheck|FailedAuthentication|MessageExpired/, `${name}: ${told}`)
          assert.doesNotMatch(told, /o-[12]</, name)
        }
        change = same
        assert.ok('output' in (await call()))
        const sealing = await callerBy('/soap/encrypted')
        change = text => {
          const [key = ''] = /<xenc:EncryptedKey.*?<\/xenc:EncryptedKey>/s.exec(text) ?? []
          return text.replace(key, key.replace(/CipherValue>[^<]{8}/, 'CipherValue>AAAAAAAA'))
        }
        await sealing('GetOrder', { id: 'o-1' })
        assert.notEqual(change(genuine), genuine)
        assert.match(told, /FailedCheck/)
      })

      for (const path of symmetric)
        it(`is refused by ${path} in SOAP ${version} when its request is not what it signed`, async () => {
          let change = same
          let told = ''
          let genuine = ''
          const response = (text: string) => (told = text)
          const request = (text: string) => change((genuine = text))
          const address = await standBetween(plain.url, { request, response })
          const relocate = (wsdl: string) => wsdl.replaceAll(plain.url, address)
          const call = caller(await describedAt(plain, path, version, relocate), version, path)
          assert.ok('output' in (await call('GetOrder', { id: 'o-1' })))
          kept.former = genuine
          for (const [name, attack] of exchangeAttacks(genuine)) {
            change = attack
            await call('GetOrder', { id: 'o-1' })
            assert.notEqual(attack(genuine), genuine, name)
            assert.match(
              told,
              /InvalidSecurity|FailedCheck|FailedAuthentication|SecurityTokenUnavailable|UnsupportedAlgorithm/,
              `${name}: ${told}`,
            )
            assert.doesNotMatch(told, /o-[12]</, name)
          }
          change = same
          assert.ok('output' in (await call('GetOrder', { id: 'o-1' })))
        })

      for (const path of ['/soap/signed', ...symmetric] as const)
        it(`refuses our response of ${path} in SOAP ${version} when it is not what we signed`, async () => {
          let change = (answer: string): string => answer
          const address = await standBetween(plain.url, {
            response: answer => {
              kept.former ||= answer
              return change(answer)
            },
          })
          const relocate = (wsdl: string) => wsdl.replaceAll(plain.url, address)
          const call = caller(await describedAt(plain, path, version, relocate), version, path)
          kept.former = ''
          const first = await call('GetOrder', { id: 'o-1' })
          assert.ok('output' in first, JSON.stringify(first))
          for (const [name, attack] of isSymmetric(path) ? exchangeAttacks(kept.former) : attacks) {
            change = attack
            const said = await call('GetOrder', { id: 'o-1' })
            const told = JSON.stringify([said.output, said.fault?.detail])
            // CXF reads the signed Body where it stands: what is read is what was signed.
            assert.doesNotMatch(
              told,
              name.includes('the signed one') || (path.includes('sealed') && name.includes('identifier of the Body'))
                ? /o-2/
                : /o-[12]/,
              `${name}: ${JSON.stringify(said)}`,
            )
          }
          change = answer => answer
          const last = await call('GetOrder', { id: 'o-1' })
          assert.ok('output' in last, JSON.stringify(last))
        })
    }
  })

  describe('as a server', { concurrency: 1 }, () => {
    const { kept, attacks, sealedAttacks, exchangeAttacks } = createAttacks()
    for (const path of Object.keys(rules) as Path[]) {
      for (const version of ['1.1', '1.2'] as const) {
        it(`serves every operation to our client by the policies of ${path} in SOAP ${version}`, async () => {
          const address = (await servedByCxf())(path, version)
          const clients = Object.fromEntries(names.map(name => [name, connect(path, version, address, name)]))
          const customers = [await newCustomer(plain), await newCustomer(plain)] as const
          const call = (operation: string, input: object, as: Name = 'maria') => sayAs(clients[as]!, operation, input)
          // Lists have no wrapper in our typed values, as in encoded messages.
          await walk({ call, style: 'encoded', contract: 'v2', customers })
        })
      }
    }

    for (const path of [
      '/soap/signed',
      '/soap/encrypted',
      '/soap/named',
      '/soap/holder',
      '/soap/loose',
      '/soap/protected',
      ...symmetric,
    ] as const) {
      for (const version of ['1.1', '1.2'] as const) {
        it(`has responses of ${path} in SOAP ${version} that our client refuses once they are not what it signed`, async () => {
          const address = (await servedByCxf())(path, version)
          const first = await connect(path, version, address).GetOrder({ id: 'o-1' })
          assert.equal(first.order.id, 'o-1')
          assert.equal(
            (await connect(path, version, address, 'maria', { addressing: true }).GetOrder({ id: 'o-1' })).order.id,
            'o-1',
          )
          if (path !== '/soap/named') {
            const stranger = issueBank('CN=maria') // of an authority that the server does not know
            await assert.rejects(
              connect(path, version, address, 'maria', { keys: stranger }).GetOrder({ id: 'o-1' }),
              AnswerError,
            )
          }
          const other = { service: { certificates: tls.certificate }, encryptTo: service.certificate }
          const connectOther = () => connect(path, version, address, 'maria', { keys: other })
          if (isSymmetric(path)) assert.throws(connectOther, /encryptTo is not a certificate of keys.service/)
          else await assert.rejects(connectOther().GetOrder({ id: 'o-1' }), /nothing proves that the reply/)
          let attack = same
          let answered = ''
          const response = (text: string): string => {
            const changed = attack(text)
            answered ||= text
            if (attack !== same) assert.notEqual(changed, text)
            return changed
          }
          const attacker = `${await standBetween(new URL(address).origin, { response })}${new URL(address).pathname}`
          const attacked = connect(path, version, attacker)
          assert.equal((await attacked.GetOrder({ id: 'o-1' })).order.id, 'o-1')
          kept.former = answered
          const own = isSymmetric(path) ? exchangeAttacks(answered) : attacks
          for (const [name, change] of path === '/soap/encrypted' || path === '/soap/protected' ? sealedAttacks : own) {
            attack = change
            await assert.rejects(attacked.GetOrder({ id: 'o-1' }), { name: 'AnswerError', why: 'unproven' }, name)
          }
          attack = same
          assert.equal((await attacked.GetOrder({ id: 'o-1' })).order.id, 'o-1')
        })
      }
    }
  })

  // By one version each: our client has called all of them in both.
  describe('behind the bridge', { concurrency: 1 }, () => {
    for (const [i, path] of (Object.keys(rules) as Path[]).entries()) {
      const version = i % 2 === 0 ? '1.1' : '1.2'
      it(`has every operation by REST, with fitting statuses, by the policies of ${path} in SOAP ${version}`, async () => {
        const to = (await servedByCxf())(path, version)
        const server = overTls.includes(path) ? secure : plain
        const wsdl = readFileSync(await describedAt(server, path, version), 'utf8')
        const bridges = Object.fromEntries(
          await Promise.all(
            names.map(
              async name =>
                [name, await startBridgedCaller({ wsdl, to, behind: behindOf(path, name), ca: bankRoot })] as const,
            ),
          ),
        )
        const customers = [await newCustomer(plain), await newCustomer(plain)] as const
        const call = (operation: string, input: object, as: Name = 'maria') => bridges[as]!.call(operation, input)
        await walk({ call, style: 'document', contract: 'v2', customers, cannot: ['decimals'] })
        const statuses = Object.assign({}, ...Object.values(bridges).map(each => Object.fromEntries(each.statuses)))
        assert.deepEqual(statuses, statusesByRest)
      })
    }
  })
})

/** CXF in front of our service without security, started once; the address of a path in a version. */
function servedByCxf(): Promise<(path: Path, version: SoapVersion) => string> {
  return (standing ??= serveByCxf())
}
let standing: ReturnType<typeof serveByCxf> | undefined

async function serveByCxf() {
  const [port, tlsPort] = [await freePort(), await freePort()]
  const addressOf = (path: Path, version: SoapVersion): string => {
    const origin = overTls.includes(path) ? `https://127.0.0.1:${tlsPort}` : `http://127.0.0.1:${port}`
    return `${origin}/${version}${path}`
  }
  const served: string[] = []
  for (const path of Object.keys(rules) as Path[])
    for (const version of ['1.1', '1.2'] as const) {
      const server = overTls.includes(path) ? secure : plain
      const address = addressOf(path, version)
      const wsdl = await describedAt(server, path, version, text => text.replaceAll(`${server.url}${path}`, address))
      served.push(`file:${wsdl}`, version, address)
    }
  const behind = `${plain.url}/soap/v2`
  const words = [serverStore, tlsStore, String(tlsPort), behind, 'urn:diglot:orders:v2', ...served]
  await startJava(java('Server', ...words))
  return addressOf
}

/** What declared faults of the service are by REST. */
const statusesByRest = {
  Forbidden: 403,
  Invalid: 422,
  NotFound: 404,
  OutOfStock: 422,
  PaymentDeclined: 422,
  StateConflict: 409,
  VersionConflict: 409,
}

/** What the bridge is given to be a person at a path. */
function behindOf(path: Path, name: Name): PortDressOptions {
  const { user, assertion } = proofOf(path, name)
  const rule: SecurityRule = rules[path]
  const own = { ...people[name], service: { certificates: service.certificate } }
  const keys = { ...(!user || path === '/soap/named' ? own : undefined), ...(assertion && { assertion }) }
  const bearer = path === '/soap/bearer'
  return {
    ...(Object.keys(keys).length > 0 && { keys: bearer ? { ...(assertion && { assertion }) } : keys }),
    ...(user && { credentials: user }),
    ...(isWeakSuite(rule.suite) && { rule }),
  }
}

describe('classes by wsdl2java, as docs/client.md describes', { skip }, () => {
  const place = folder()
  const generate = (...words: readonly string[]) =>
    spawnSync('java', ['-cp', join(jars, '*'), 'org.apache.cxf.tools.wsdlto.WSDLToJava', ...words, 'orders.wsdl'], {
      cwd: place,
      encoding: 'utf8',
    })
  before(() => writeFileSync(join(place, 'orders.wsdl'), run(process.execPath, [...cli, 'describe', orders, '--wsdl'])))
  it('with -bareMethods there is a class for each message, and all compile', () => {
    const { status, stderr } = generate('-bareMethods', '-d', 'bare')
    assert.equal(status, 0, stderr)
    const sources = readdirSync(join(place, 'bare'), { recursive: true, encoding: 'utf8' }).filter(each =>
      each.endsWith('.java'),
    )
    assert.ok(sources.some(each => each.endsWith('CreateOrder.java')))
    run('javac', ['-nowarn', '-cp', join(jars, '*'), '-d', place, ...sources.map(each => join(place, 'bare', each))])
  })
  it('without it CXF reads the elements of a message as parameters, two of which collide', () => {
    assert.match(generate('-d', 'wrapped').stderr, /already exists for method|has the same name with different types/)
  })
})

/** The password or the assertion of a person, where the rule of a path asks for one. */
function proofOf(path: Path, name: Name) {
  const [caller] = rules[path].callers
  const isUser = typeof caller === 'object' && caller.by === 'username'
  const digest = isUser && caller.passwords?.[0] === 'digest'
  const method =
    path === '/soap/holder' || path === '/soap/protected-holder'
      ? 'holder-of-key'
      : path === '/soap/bearer'
        ? 'bearer'
        : undefined
  return {
    user: isUser ? { username: name, password: `${name}-secret`, digest } : undefined,
    assertion: method && (() => assertionFor(name, method)),
  }
}

/** Our client of a path, with the keys or the password of a person. */
function connect(path: Path, version: SoapVersion, address: string, name: Name = 'maria', more: More = {}) {
  const { user, assertion } = proofOf(path, name)
  const own = { ...people[name], service: { certificates: service.certificate } }
  return createSoapClient(contract, {
    address,
    version: 'v2',
    soap: version,
    tls: { ca: bankRoot },
    addressing: more.addressing ?? false,
    keys: { ...own, ...(assertion && { assertion }), ...more.keys },
    ...(user && { credentials: user }),
  })
}
interface More {
  readonly addressing?: boolean
  readonly keys?: ClientKeys
}
