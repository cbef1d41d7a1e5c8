/**
 * A ticket of a real KDC on loopback proves who calls `/soap/v1/secure`: an AP-REQ in the GSS-API framing (Kerberos Token Profile
 * 1.1 §3), read by MIT's library. Rules B5.1–B5.4.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import orders from '../../examples/orders/service.ts'
import { startService } from '../../src/host/serve.ts'
import { atEnd, folder, missing } from './peer.ts'

const python = '/usr/bin/python3' // Debian's, whose packages these are
const script = join(import.meta.dirname, 'python', 'kerberos.py')
const realm = 'SHOP.TEST'
const place = folder()
const at = (name: string): string => join(place, name)
const environment = {
  ...process.env,
  PATH: `${process.env['PATH']}:/usr/sbin`,
  KRB5_CONFIG: at('krb5.conf'),
  KRB5_KDC_PROFILE: at('kdc.conf'),
  KRB5_KTNAME: `FILE:${at('keytab')}`,
  KRB5RCACHENAME: 'none:', // that a ticket is taken once is for the service to see to
}

function run(program: string, words: readonly string[], input = '', more = {}): string {
  const ended = spawnSync(program, words, {
    input,
    encoding: 'utf8',
    env: { ...environment, ...more },
    timeout: 20_000,
  })
  assert.equal(ended.status, 0, `${program}: ${ended.stderr}${ended.error ?? ''}`)
  return ended.stdout.trim()
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  assert.ok(address && typeof address === 'object')
  return address.port
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const found = await once(socket, 'connect').then(
    () => true,
    () => pause(50, false),
  )
  socket.destroy()
  return found
}

/** A realm of its own, with two people that the service may know and the service's key. */
async function kdc(): Promise<void> {
  const port = await freePort()
  const quiet = ['dns_lookup_kdc', 'dns_lookup_realm', 'dns_canonicalize_hostname', 'rdns'].map(
    name => `${name} = false`,
  )
  const realms = `[realms]\n${realm} = {\n`
  writeFileSync(
    at('krb5.conf'),
    `[libdefaults]\ndefault_realm = ${realm}\n${quiet.join('\n')}\n${realms}kdc = 127.0.0.1:${port}\n}\n`,
  )
  const listen = `[kdcdefaults]\nkdc_listen = 127.0.0.1:${port}\nkdc_tcp_listen = 127.0.0.1:${port}\n`
  const kept = `database_name = ${at('principal')}\nkey_stash_file = ${at('stash')}\nacl_file = ${at('acl')}\n`
  writeFileSync(at('kdc.conf'), `${listen}${realms}${kept}}\n`)
  run('kdb5_util', ['create', '-s', '-P', 'test-only'])
  for (const name of ['maria', 'mallory']) run('kadmin.local', ['addprinc', '-pw', 'test-only', name])
  for (const name of ['HTTP/localhost', 'HTTP/elsewhere']) run('kadmin.local', ['addprinc', '-randkey', name])
  run('kadmin.local', ['ktadd', '-k', at('keytab'), 'HTTP/localhost'])
  const child = spawn('krb5kdc', ['-n'], { env: environment, stdio: 'ignore' })
  atEnd(() => child.kill())
  while (!(await listens(port))) assert.equal(child.exitCode, null, 'the KDC runs')
  for (const name of ['maria', 'mallory']) run('kinit', [name], 'test-only\n', { KRB5CCNAME: `FILE:${at(name)}` })
}

const ticket = (name: string, service = 'HTTP@localhost'): string =>
  run(python, [script, 'ask', service], '', { KRB5CCNAME: `FILE:${at(name)}` })

/** Whose a ticket is, by a process that has the service's key; names of this realm are names of people. */
function verifier(): (token: Uint8Array) => Promise<{ principal: string } | undefined> {
  const child: ChildProcess = spawn(python, [script, 'accept'], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  atEnd(() => child.kill())
  const { stdin, stdout } = child
  assert.ok(stdin && stdout)
  const lines = createInterface(stdout)[Symbol.asyncIterator]()
  return async token => {
    stdin.write(`${Buffer.from(token).toString('base64')}\n`)
    const [name = '', of] = String((await lines.next()).value).split('@')
    return of === realm ? { principal: name } : undefined
  }
}

const oasis = 'http://docs.oasis-open.org/wss/'
const envelopes = {
  '1.1': ['http://schemas.xmlsoap.org/soap/envelope/', 'text/xml'],
  '1.2': ['http://www.w3.org/2003/05/soap-envelope', 'application/soap+xml'],
} as const
type Version = keyof typeof envelopes

const skip =
  missing('krb5-kdc', 'sh', [
    '-c',
    'PATH=$PATH:/usr/sbin; command -v krb5kdc && command -v kadmin.local && command -v kinit',
  ]) || missing('python3-gssapi', python, ['-c', 'import gssapi'])

describe('Kerberos', { skip }, () => {
  let url: string
  before(async () => {
    await kdc()
    const messageSecurity = { policy: { anyOf: [{ caller: 'kerberos' as const }] }, means: { kerberos: verifier() } }
    const logger = { info() {}, warn() {}, error() {}, debug() {} }
    const server = await startService(orders, { port: 0, data: ':memory:', messageSecurity, logger })
    atEnd(() => server.close())
    url = server.url
  })

  async function listed(version: Version, token: string): Promise<string> {
    const [namespace, type] = envelopes[version]
    const kind = `ValueType="${oasis}oasis-wss-kerberos-token-profile-1.1#GSS_Kerberosv5_AP_REQ"`
    const coded = `EncodingType="${oasis}2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary"`
    const wsse = `xmlns:wsse="${oasis}2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"`
    const block = `<wsse:Security ${wsse}><wsse:BinarySecurityToken ${kind} ${coded}>${token}</wsse:BinarySecurityToken></wsse:Security>`
    const body = '<ListOrders xmlns="urn:diglot:orders:v1"/>'
    const text = `<S:Envelope xmlns:S="${namespace}"><S:Header>${block}</S:Header><S:Body>${body}</S:Body></S:Envelope>`
    const headers = { 'content-type': type, soapaction: '"urn:diglot:orders:v1/ListOrders"' }
    return (await fetch(`${url}/soap/v1/secure`, { method: 'POST', headers, body: text })).text()
  }

  for (const version of ['1.1', '1.2'] as const) {
    it(`a ticket authenticates its caller, once, in SOAP ${version}`, async () => {
      const token = ticket('maria')
      assert.match(await listed(version, token), /ListOrdersResponse/)
      assert.match(await listed(version, token), /FailedAuthentication/, 'what came once does not come again')
      assert.match(await listed(version, ticket('maria')), /ListOrdersResponse/)
    })
    it(`a ticket with changed options is the same ticket, in SOAP ${version}`, async () => {
      const token = ticket('maria')
      assert.match(await listed(version, withOption(token)), /ListOrdersResponse/, 'MIT takes it')
      for (const again of [token, withOption(token)]) assert.match(await listed(version, again), /FailedAuthentication/)
    })
    const others: readonly (readonly [string, () => string])[] = [
      ['of somebody who is not known', () => ticket('mallory')],
      ['for another service', () => ticket('maria', 'HTTP@elsewhere')],
      ['that was changed', () => changed(ticket('maria'))],
    ]
    for (const [which, made] of others) {
      it(`a ticket ${which} is refused, in SOAP ${version}`, async () => {
        assert.match(await listed(version, made()), /FailedAuthentication/)
      })
    }
  }
})

/** One octet of the authenticator's ciphertext, at its end. */
function changed(token: string): string {
  const octets = Buffer.from(token, 'base64')
  octets[octets.length - 5]! ^= 1
  return octets.toString('base64')
}

/** One bit of its options, which nothing proves (RFC 4120 §5.5.1). */
function withOption(token: string): string {
  const octets = Buffer.from(token, 'base64')
  octets[octets.indexOf('a2070305', 0, 'hex') + 8]! ^= 1
  return octets.toString('base64')
}
