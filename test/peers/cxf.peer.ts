/**
 * Apache CXF with WSS4J, driven by the WSDL and its policies alone: as a client of every operation
 * of the orders service, signed, signed and encrypted, with a UsernameToken over TLS, with
 * assertions, which verifies our signed answers; and as a server of our client.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createPrivateKey, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestOptions, request } from 'node:http'
import { request as requestByTls } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { shop } from '../../examples/orders/contract.ts'
import app from '../../examples/orders/service.ts'
import { AnswerError, createSoapClient, FaultError } from '../../src/client/index.ts'
import type { ClientKeys } from '../../src/client/message-keys.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { type Server, startService } from '../../src/host/serve.ts'
import { readCertificateList } from '../../src/security/crypto/key-source.ts'
import { dsNs, wsuNs } from '../../src/security/vocabulary.ts'
import { issueBank, issuePartner, type PemPair, partnerRoot, bankRoot as serviceRoot } from '../host/partner-keys.ts'
import { issueAssertion, writeAssertion } from '../security/assertion.ts'
import * as x from '../security/issue.ts'
import { atEnd, folder, missing, run } from './peer.ts'
import { walk } from './run-operations.ts'
import { type Driver, driver, type Said } from './soap-driver.ts'

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
  '/soap/digest': { callers: [{ by: 'username', passwords: ['digest'] }] },
  '/soap/named': { callers: [{ by: 'username', passwords: ['digest'], signed: true }], answers: 'signed' },
  '/soap/holder': { callers: [{ by: 'saml', confirmations: ['holder-of-key'] }], answers: 'signed' },
  '/soap/bearer': { callers: [{ by: 'saml', confirmations: ['bearer'] }] },
} satisfies Record<string, SecurityRule>
type Path = keyof typeof rules
const overTls: readonly Path[] = ['/soap/username', '/soap/bearer']
const endpoints = Object.fromEntries(
  Object.entries(rules).map(([path, security]) => [path, { version: 'v2', security }] as const),
)
const open = { '/soap/v2': { version: 'v2' } }
/** Three callers do in a minute what limits allow in several. */
const plenty = { count: 1e9, seconds: 60 }
const contract = {
  ...shop,
  limits: { reads: plenty, changes: plenty },
  endpoints: { ...open, ...endpoints },
}
const secured = { ...app, contract }

const place = folder()
const write = (name: string, text: string): string => {
  const file = join(place, name)
  writeFileSync(file, text)
  return file
}
const names = ['maria', 'alice', 'clara'] as const
type Name = (typeof names)[number]
type Version = '1.1' | '1.2'
const service = issueBank('O=Shop/CN=shop.example')
const tls = issueBank('O=Shop/CN=localhost', x.alternativeNames(x.ipName(127, 0, 0, 1)))
const issuer = issuePartner('O=Issuer/CN=issuer')
const people: Record<string, PemPair> = Object.fromEntries(names.map(name => [name, issuePartner(`CN=${name}`)]))
const triple = (alias: string, { key, certificate }: PemPair, isOwn = true) => [
  alias,
  isOwn ? write(`${alias}.key`, key) : '-',
  write(`${alias}.pem`, certificate),
]
const root = (alias: string, pem: string) => [alias, '-', write(`${alias}.pem`, pem)]

let classes: string
const clientStore = join(place, 'client.p12')
const serverStore = join(place, 'server.p12')
const tlsStore = join(place, 'tls.p12')
const tlsFiles = { key: write('tls.key', tls.key), certificate: write('tls.pem', tls.certificate) }
/** Of both halves, 74 s of CPU; 104 s with the second compiler. */
const java = (...words: string[]): string[] => ['-XX:TieredStopAtLevel=1', '-cp', `${classes}:${jars}/*`, ...words]

let plain: Server
let secure: Server

async function prepare(): Promise<void> {
  classes = join(place, 'classes')
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
  ])
  const own = names.flatMap(name => triple(name, people[name]!))
  const roots = [...root('shop-root', serviceRoot), ...triple('service', service, false)]
  const stores = [
    [clientStore, ...own, ...triple('issuer', issuer), ...roots],
    [serverStore, ...triple('service', service), ...root('partners', partnerRoot)],
    [tlsStore, 'tls', tlsFiles.key, tlsFiles.certificate],
  ]
  run('java', java('Store', ...stores.flatMap((store, at) => (at > 0 ? ['--', ...store] : store))))
  const messageSecurity = {
    authorities: partnerRoot,
    keyFiles: [{ key: join(place, 'service.key'), certificate: join(place, 'service.pem') }],
    means: { saml: { issuers: [{ name: 'urn:issuer', certificates: issuer.certificate }], audiences: ['urn:shop'] } },
  }
  const warn = (...said: unknown[]) => console.error(...said)
  const options = { port: 0, messageSecurity, logger: { info() {}, warn, error: warn }, flood: 100_000 }
  plain = await startService(secured, { ...options, data: ':memory:' })
  secure = await startService(secured, { ...options, data: ':memory:', tls: tlsFiles })
  atEnd(() => plain.close(0))
  atEnd(() => secure.close(0))
}

/** A customer's id, made by REST: no SOAP operation makes one. */
async function customer(server: Server): Promise<string> {
  const token = await server.token('maria', ['manager'])
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'Dora Double', email: 'dora@example.org', tier: 'basic' })
  const made = await ask(`${server.url}/api/v2/customers`, { method: 'POST', headers }, body)
  return JSON.parse(made).id
}

/** Over TLS as well, with the authority of these tests. */
function ask(address: string, options: RequestOptions = {}, body?: string): Promise<string> {
  const url = new URL(address)
  const send = url.protocol === 'https:' ? requestByTls : request
  return new Promise((resolve, reject) => {
    const asking = send(url, { ...options, ca: serviceRoot, agent: false }, async answer => {
      resolve((await answer.toArray()).join(''))
    })
    asking.once('error', reject).end(body)
  })
}

async function describedAt(server: Server, path: Path, version: string, change = (wsdl: string) => wsdl) {
  const text = await ask(`${server.url}${path}?wsdl=${version}`)
  return write(`${path.slice(6)}-${version}-${server.port}-${Math.random()}.wsdl`, change(text))
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
    const { kept, attacks } = createAttacks()
    for (const path of Object.keys(rules) as Path[]) {
      for (const version of ['1.1', '1.2']) {
        it(`calls every operation by the policies of ${path} in SOAP ${version}`, async () => {
          const server = overTls.includes(path) ? secure : plain
          const call = caller(await describedAt(server, path, version), version, path)
          const customers = [await customer(server), await customer(server)] as const
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

      it(`refuses our answer in SOAP ${version} when it is not what we signed`, async () => {
        let change = (answer: string): string => answer
        const address = await standBetween(plain.url, {
          response: answer => {
            kept.former ||= answer
            return change(answer)
          },
        })
        const relocate = (wsdl: string) => wsdl.replaceAll(plain.url, address)
        const call = caller(await describedAt(plain, '/soap/signed', version, relocate), version, '/soap/signed')
        kept.former = ''
        const first = await call('GetOrder', { id: 'o-1' })
        assert.ok('output' in first, JSON.stringify(first))
        for (const [name, attack] of attacks) {
          change = attack
          const said = await call('GetOrder', { id: 'o-1' })
          const told = JSON.stringify([said.output, said.fault?.detail])
          // CXF reads the signed Body where it stands: what is read is what was signed.
          assert.doesNotMatch(
            told,
            name.includes('the signed one') ? /o-2/ : /o-[12]/,
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
    const { kept, attacks, sealedAttacks } = createAttacks()
    for (const path of Object.keys(rules) as Path[]) {
      for (const version of ['1.1', '1.2'] as const) {
        it(`serves every operation to our client by the policies of ${path} in SOAP ${version}`, async () => {
          const address = (await servedByCxf())(path, version)
          const clients = Object.fromEntries(names.map(name => [name, connect(path, version, address, name)]))
          const customers = [await customer(plain), await customer(plain)] as const
          const call = (operation: string, input: object, as: Name = 'maria') => sayAs(clients[as]!, operation, input)
          // Lists have no wrapper in our typed values, as in encoded messages.
          await walk({ call, style: 'encoded', contract: 'v2', customers })
        })
      }
    }

    for (const path of ['/soap/signed', '/soap/encrypted', '/soap/named', '/soap/holder'] as const) {
      for (const version of ['1.1', '1.2'] as const) {
        it(`has answers of ${path} in SOAP ${version} that our client refuses once they are not what it signed`, async () => {
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
          await assert.rejects(
            connect(path, version, address, 'maria', { keys: other }).GetOrder({ id: 'o-1' }),
            /nothing proves that the reply/,
          )
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
          for (const [name, change] of path === '/soap/encrypted' ? sealedAttacks : attacks) {
            attack = change
            await assert.rejects(attacked.GetOrder({ id: 'o-1' }), { name: 'AnswerError', why: 'unproven' }, name)
          }
          attack = same
          assert.equal((await attacked.GetOrder({ id: 'o-1' })).order.id, 'o-1')
        })
      }
    }
  })
})

/** What is done to messages on their way; `kept.former` is one that was sent before. */
function createAttacks() {
  const kept = { former: '' }
  const part = (text: string, local: string): string =>
    new RegExp(`<(\\w+:)?${local}[ >].*?</(\\w+:)?${local}>`, 's').exec(text)?.[0] ?? ''
  const without = (local: string) => (text: string) => text.replace(part(text, local), '')
  const addBlock = (text: string, content: string): string =>
    text.replace(/<\/(\w+:)?Header>/, end => `<w:w xmlns:w="urn:w" xmlns:wsu="${wsuNs}">${content}</w:w>${end}`)
  const unnamed = (element: string): string => element.replace(/ \w+:Id="[^"]*"/, '')
  const tampered = (text: string): string => text.replace('o-1<', 'o-2<')
  const attacks: readonly (readonly [string, (message: string) => string])[] = [
    ['is tampered with', tampered],
    ['has lost its Security block', without('Security')],
    ['has lost its Signature', without('Signature')],
    ['has lost its Timestamp', without('Timestamp')],
    [
      'has another Body, and the signed one in a block',
      text =>
        addBlock(text, part(text, 'Body')).replace(/(?<!<w:w [^>]*>)<(\w+:)?Body[ >].*$/s, each =>
          tampered(unnamed(each)),
        ),
    ],
    ['has a second element with the identifier of the Body', text => addBlock(text, tampered(part(text, 'Body')))],
    [
      'has another Timestamp, and the signed one in a block',
      text => {
        const stamp = part(text, 'Timestamp')
        const later = unnamed(stamp).replace(/(Expires>\d{3})\d/, '$19')
        return addBlock(text.replace(stamp, later), stamp)
      },
    ],
    ['was sent before', () => kept.former],
  ]
  const cipher = (within: string) => (text: string) => {
    const sealed = part(text, within)
    return text.replace(sealed, sealed.replace(/CipherValue>[^<]{8}/, 'CipherValue>AAAAAAAA'))
  }
  const sealedAttacks: typeof attacks = [
    ...attacks.filter(([, change]) => change !== tampered), // nothing of it is in clear
    ['has another wrapped key', cipher('EncryptedKey')],
    ['has other octets in its EncryptedData', cipher('EncryptedData')],
    ['has lost its EncryptedKey', without('EncryptedKey')],
    ['has lost its EncryptedData', without('EncryptedData')],
  ]
  return { kept, attacks, sealedAttacks }
}

/** What an attacker on the way makes of messages. */
interface Attacker {
  readonly request?: (text: string) => string
  readonly response?: (text: string) => string
}

/** @returns the address of an attacker between clients and the server at `target` */
async function standBetween(target: string, { request = same, response = same }: Attacker): Promise<string> {
  const between = createServer(async (asked, told) => {
    const body = request((await asked.toArray()).join(''))
    const { host, 'content-type': type, soapaction } = asked.headers
    const headers = { host, 'content-type': type, ...(soapaction && { soapaction }) }
    const answer = await ask(`${target}${asked.url}`, { method: 'POST', headers }, body)
    told.writeHead(200, { 'content-type': `${type?.split(';')[0]}; charset=utf-8` }).end(response(answer))
  }).listen(0, '127.0.0.1')
  atEnd(() => between.close())
  await once(between, 'listening')
  return `http://127.0.0.1:${(between.address() as AddressInfo).port}` // it listens on a port
}
const same = (text: string): string => text

async function freePort(): Promise<number> {
  const held = createServer().listen(0, '127.0.0.1')
  await once(held, 'listening')
  const { port } = held.address() as AddressInfo // it listens on a port
  held.close()
  await once(held, 'close')
  return port
}

/** CXF in front of our service without security, started once; the address of a path in a version. */
function servedByCxf(): Promise<(path: Path, version: Version) => string> {
  return (standing ??= serveByCxf())
}
let standing: ReturnType<typeof serveByCxf> | undefined

async function serveByCxf() {
  const [port, tlsPort] = [await freePort(), await freePort()]
  const addressOf = (path: Path, version: Version): string => {
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
  const child = spawn('java', java('Server', ...words), { stdio: ['pipe', 'pipe', 'pipe'] })
  atEnd(() => child.kill())
  let said = ''
  child.stderr.on('data', text => {
    said += text
  })
  const ended = once(child, 'exit').then(() => assert.fail(said))
  await Promise.race([once(child.stdout, 'data'), ended])
  return addressOf
}

/** Our client of a path, with the keys or the password of a person. */
function connect(path: Path, version: Version, address: string, name: Name = 'maria', more: More = {}) {
  const { callers } = rules[path]
  const [caller] = callers
  const isUser = typeof caller === 'object' && caller.by === 'username'
  const digest = isUser && caller.passwords?.[0] === 'digest'
  const own = { ...people[name], service: { certificates: service.certificate } }
  const assertion = path === '/soap/holder' ? 'holder-of-key' : path === '/soap/bearer' ? 'bearer' : undefined
  return createSoapClient(contract, {
    address,
    version: 'v2',
    soap: version,
    tls: { ca: serviceRoot },
    addressing: more.addressing ?? false,
    keys: { ...own, ...(assertion && { assertion: () => assertionFor(name, assertion) }), ...more.keys },
    ...(isUser && { credentials: { username: name, password: `${name}-secret`, digest } }),
  })
}
interface More {
  readonly addressing?: boolean
  readonly keys?: ClientKeys
}

/** An assertion about a person, by the issuer. */
function assertionFor(name: Name, method: 'holder-of-key' | 'bearer'): string {
  const der = (pem: string): string => pem.replaceAll(/-----[^-]+-----|\s/g, '')
  const holder = `<ds:KeyInfo xmlns:ds="${dsNs}"><ds:X509Data><ds:X509Certificate>${der(people[name]!.certificate)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`
  const id = `a${randomUUID()}`
  const keyInfo = method === 'bearer' ? '' : holder
  const unsigned = writeAssertion({
    subject: name,
    audience: 'urn:shop',
    method,
    keyInfo,
    at: Date.now(),
    id,
    signer: undefined,
  })
  const [certificate = assert.fail()] = readCertificateList(issuer.certificate, 'issuer')
  return issueAssertion(unsigned, 'issuer', id, { key: createPrivateKey(issuer.key), certificate })
}

/** What a typed call says, as drivers of peers do. */
async function sayAs(client: object, operation: string, input: object): Promise<Said> {
  const typed = { ...input, ...('picture' in input && { picture: Buffer.from(String(input.picture), 'base64') }) }
  try {
    const output: object | undefined = await Reflect.get(client, operation)(typed)
    return { output: JSON.parse(JSON.stringify(output ?? {}, writeSaid)) }
  } catch (error) {
    if (!(error instanceof FaultError)) return { error: inspect(error) }
    const [reason] = error.reasons
    return {
      fault: {
        code: error.code ?? '',
        reason: reason?.text ?? '',
        detail: inspect({ [String(error.fault)]: error.detail }),
      },
    }
  }
}
const writeSaid = (_: string, value: unknown): unknown =>
  typeof value === 'bigint'
    ? String(value)
    : value instanceof Uint8Array
      ? Buffer.from(value).toString('base64')
      : value
