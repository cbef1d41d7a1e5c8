/**
 * Apache CXF with WSS4J, driven by the WSDL and its policies alone: as a client of every operation
 * of the orders service, signed, signed and encrypted, with a UsernameToken over TLS, with
 * assertions, which verifies our signed answers; and as a server of our client.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestOptions, request } from 'node:http'
import { request as requestByTls } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import app from '../../examples/orders/service.ts'
import { AnswerError, createSoapClient } from '../../src/client/index.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { type Server, startService } from '../../src/host/serve.ts'
import { wsuNs } from '../../src/security/vocabulary.ts'
import { issueBank, issuePartner, type PemPair, partnerRoot, bankRoot as serviceRoot } from '../host/partner-keys.ts'
import * as x from '../security/issue.ts'
import { atEnd, folder, missing, run } from './peer.ts'
import { walk } from './run-operations.ts'
import { driver } from './soap-driver.ts'

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
const endpoints = Object.fromEntries(
  Object.entries(rules).map(([path, security]) => [path, { version: 'v2', security }] as const),
)
const open = { '/soap/v2': { version: 'v2' } }
const contract = { ...shop, endpoints: { ...open, ...endpoints } }
const secured = { ...app, contract }

const place = folder()
const write = (name: string, text: string): string => {
  const file = join(place, name)
  writeFileSync(file, text)
  return file
}
const names = ['maria', 'alice', 'clara'] as const
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
const tlsFiles = { key: write('tls.key', tls.key), certificate: write('tls.pem', tls.certificate) }
const java = (...words: string[]): string[] => ['-XX:TieredStopAtLevel=1', '-cp', `${classes}:${jars}/*`, ...words]

let plain: Server
let secure: Server

async function prepare(): Promise<void> {
  classes = join(place, 'classes')
  const sources = readdirSync(here).filter(name => name.endsWith('.java'))
  run('javac', ['-nowarn', '-proc:none', '-cp', `${jars}/*`, '-d', classes, ...sources.map(name => join(here, name))])
  const own = names.flatMap(name => triple(name, people[name]!))
  const roots = [...root('shop-root', serviceRoot), ...triple('service', service, false)]
  run('java', java('Store', clientStore, ...own, ...triple('issuer', issuer), ...roots))
  run('java', java('Store', serverStore, ...triple('service', service), ...root('partners', partnerRoot)))
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
const started = (wsdl: string, version: string, path: Path) => {
  const audience = path === '/soap/bearer' ? 'urn:shop:bearer' : 'urn:shop'
  const words = ['Cxf', `file:${wsdl}`, version, clientStore, audience]
  return driver('java', [...tlsTrust(), ...java(...words)], 'urn:diglot:orders:v2')
}

describe('Apache CXF', { skip }, () => {
  before(prepare)
  const overTls: readonly Path[] = ['/soap/username', '/soap/bearer']
  for (const path of Object.keys(rules) as Path[]) {
    for (const version of ['1.1', '1.2']) {
      it(`calls every operation by the policies of ${path} in SOAP ${version}`, async () => {
        const server = overTls.includes(path) ? secure : plain
        const caller = started(await describedAt(server, path, version), version, path)
        const customers = [await customer(server), await customer(server)] as const
        try {
          await walk({ call: caller.call, style: 'document', contract: 'v2', customers })
        } finally {
          caller.end()
        }
      })
    }
  }

  for (const path of ['/soap/signed', '/soap/encrypted'] as const) {
    for (const version of ['1.1', '1.2'] as const) {
      it(`serves our client by the policies of ${path} in SOAP ${version}`, async () => {
        const address = `http://127.0.0.1:${await freePort()}${path}`
        const relocate = (wsdl: string) => wsdl.replaceAll(`${plain.url}${path}`, address)
        const wsdl = await describedAt(plain, path, version, relocate)
        const answer = write(`answer-${version}.xml`, await answerOf('GetOrder', '<id>o-1</id>'))
        const words = ['Server', `file:${wsdl}`, version, serverStore, address, 'urn:diglot:orders:v2', answer]
        const served = spawn('java', java(...words), { stdio: ['pipe', 'pipe', 'inherit'] })
        atEnd(() => served.kill())
        await once(served.stdout, 'data')
        const keys = { ...people['maria'], service: { certificates: service.certificate } }
        const connect = (by: object, addressing = false, at = address) =>
          createSoapClient(contract, {
            address: at,
            version: 'v2',
            soap: version,
            keys: { ...keys, ...by },
            addressing,
          })
        const client = connect({})
        assert.equal((await client.GetOrder({ id: 'o-1' })).order.id, 'o-1')
        assert.equal((await connect({}, true).GetOrder({ id: 'o-1' })).order.id, 'o-1')
        const stranger = issueBank('CN=maria') // of an authority that the server does not know
        await assert.rejects(connect(stranger).GetOrder({ id: 'o-1' }), AnswerError)
        const other = { service: { certificates: tls.certificate }, encryptTo: service.certificate }
        await assert.rejects(connect(other).GetOrder({ id: 'o-1' }), /nothing proves that the reply/)
        let answered = ''
        for (const [name, attack] of attacks) {
          const response = (text: string): string => {
            const changed = attack(text)
            answered ||= text
            assert.notEqual(changed, text, name)
            return changed
          }
          former = answered
          const attacker = `${await standBetween(new URL(address).origin, { response })}${path}`
          if (path === '/soap/encrypted' && name === 'is tampered with') continue // nothing of it is in clear
          await assert.rejects(connect({}, false, attacker).GetOrder({ id: 'o-1' }), AnswerError, name)
        }
        served.kill()
      })
    }
  }

  const part = (text: string, local: string): string =>
    new RegExp(`<(\\w+:)?${local}[ >].*?</(\\w+:)?${local}>`, 's').exec(text)?.[0] ?? ''
  const without = (local: string) => (text: string) => text.replace(part(text, local), '')
  const addBlock = (text: string, content: string): string =>
    text.replace(/<\/(\w+:)?Header>/, end => `<w:w xmlns:w="urn:w" xmlns:wsu="${wsuNs}">${content}</w:w>${end}`)
  const unnamed = (element: string): string => element.replace(/ \w+:Id="[^"]*"/, '')
  const tampered = (text: string): string => text.replace('o-1<', 'o-2<')
  let former = ''
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
    ['was sent before', () => former],
  ]
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
      const callerBy = async (path: Path) => started(await describedAt(plain, path, version, relocate), version, path)
      const caller = await callerBy('/soap/signed')
      const call = () => caller.call('GetOrder', { id: 'o-1' })
      assert.ok('output' in (await call()))
      former = genuine
      for (const [name, attack] of attacks) {
        change = attack
        await call()
        assert.notEqual(attack(genuine), genuine, name)
        assert.match(told, /InvalidSecurity|FailedCheck|FailedAuthentication|MessageExpired/, `${name}: ${told}`)
        assert.doesNotMatch(told, /o-[12]</, name)
      }
      change = same
      assert.ok('output' in (await call()))
      caller.end()
      const sealing = await callerBy('/soap/encrypted')
      change = text => {
        const [key = ''] = /<xenc:EncryptedKey.*?<\/xenc:EncryptedKey>/s.exec(text) ?? []
        return text.replace(key, key.replace(/CipherValue>[^<]{8}/, 'CipherValue>AAAAAAAA'))
      }
      await sealing.call('GetOrder', { id: 'o-1' })
      assert.notEqual(change(genuine), genuine)
      assert.match(told, /FailedCheck/)
      sealing.end()
    })

    it(`refuses our answer in SOAP ${version} when it is not what we signed`, async () => {
      let change = (answer: string): string => answer
      const address = await standBetween(plain.url, {
        response: answer => {
          former ||= answer
          return change(answer)
        },
      })
      const relocate = (wsdl: string) => wsdl.replaceAll(plain.url, address)
      const caller = started(await describedAt(plain, '/soap/signed', version, relocate), version, '/soap/signed')
      former = ''
      const first = await caller.call('GetOrder', { id: 'o-1' })
      assert.ok('output' in first, JSON.stringify(first))
      for (const [name, attack] of attacks) {
        change = attack
        const said = await caller.call('GetOrder', { id: 'o-1' })
        const told = JSON.stringify([said.output, said.fault?.detail])
        // CXF reads the signed Body where it stands: what is read is what was signed.
        assert.doesNotMatch(
          told,
          name.includes('the signed one') ? /o-2/ : /o-[12]/,
          `${name}: ${JSON.stringify(said)}`,
        )
      }
      change = answer => answer
      const last = await caller.call('GetOrder', { id: 'o-1' })
      assert.ok('output' in last, JSON.stringify(last))
      caller.end()
    })
  }
})

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

/** The content of the Body that answers a request, by the endpoint without security. */
async function answerOf(operation: string, content: string): Promise<string> {
  const ns = 'urn:diglot:orders:v2'
  const body = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${operation} xmlns="${ns}">${content}</${operation}></s:Body></s:Envelope>`
  const headers = { 'content-type': 'text/xml', authorization: `Bearer ${await plain.token('maria', ['manager'])}` }
  const answer = await ask(`${plain.url}/soap/v2`, { method: 'POST', headers }, body)
  return /Body>(.*)<\/\w+:Body>/s.exec(answer)?.[1] ?? assert.fail(answer)
}
