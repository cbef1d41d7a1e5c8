/**
 * Clients that nobody here wrote prove who they are at `/soap/…/secure`: by a UsernameToken with the password or its digest, and by
 * a signature over Body and Timestamp. Rules B5.1–B5.4; WSS Username Token Profile 1.1 §3.1, X.509 Token Profile 1.1 §3.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Exchange, type Hop, hop } from './intermediary.ts'
import { folder, missing, type Running, run, service } from './peer.ts'
import { build } from './soap-build.ts'
import { type Caller, type Driver, driver, type Said } from './soap-driver.ts'
import type { Command } from './soap-peer.ts'
import type { Version } from './soap-wire.ts'

type Way = 'text' | 'digest' | 'signed'

interface Peer {
  readonly name: string
  /** Why the peer cannot run here; false when it can. */
  readonly skip: string | false
  readonly command: (wsdl: string, version: Version) => Command | Promise<Command>
  readonly ways: readonly Way[]
  readonly versions: readonly Version[]
}

const here = import.meta.dirname
const keys = folder()
const of = (name: string, kind: 'key' | 'cert' | 'p12') => join(keys, `${name}.${kind}`)

/** An authority with a certificate for maria; alice's, trusted for itself; and an authority of the same name that nobody trusts. */
function certificates(): string {
  const openssl = (...words: string[]) => run('openssl', words)
  const request = (name: string, subject: string) =>
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', of(name, 'key'), '-subj', subject, '-out', of(name, 'cert')] // biome-ignore format: words
  const personal = ['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', 'keyUsage=critical,digitalSignature']
  const by = (authority: string) => ['-CA', of(authority, 'cert'), '-CAkey', of(authority, 'key')]
  for (const authority of ['authority', 'stranger']) openssl(...request(authority, '/CN=Test authority'))
  openssl(...request('maria', '/O=Shop/CN=maria'), ...personal, ...by('authority'))
  openssl(...request('impostor', '/O=Shop/CN=maria'), ...personal, ...by('stranger'))
  openssl(...request('alice', '/CN=alice'), ...personal)
  for (const name of ['maria', 'impostor', 'alice']) {
    const words = ['-inkey', of(name, 'key'), '-in', of(name, 'cert'), '-name', 'signer', '-passout', 'pass:test-only']
    openssl('pkcs12', '-export', ...words, '-out', of(name, 'p12'))
  }
  const trusted = join(keys, 'signers.pem')
  writeFileSync(trusted, readFileSync(of('authority', 'cert'), 'utf8') + readFileSync(of('alice', 'cert'), 'utf8'))
  return trusted
}

let signers: string
before(() => {
  signers = certificates()
})

let running: Running
let between: Hop
let order: string
/** A service for one peer: each peer tries wrong passwords of maria, and ten lock her out (SECURITY.md "guessing"). */
async function serve(): Promise<void> {
  running = await service(['--signers', signers])
  between = await hop(running.url)
  order = await ordered()
}

/** An order that waits to be paid, made by REST. */
async function ordered(): Promise<string> {
  const made = await fetch(`${running.url}/api/v1/orders`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('maria:maria-secret')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR' }),
  })
  assert.equal(made.status, 201, await made.clone().text())
  const { id } = (await made.json()) as { id: string } // as the contract says
  return id
}

/** The very octets once more, from another connection. */
async function again(
  { target, request }: Exchange,
  content = request.content,
): Promise<{ status: number; text: string }> {
  const { 'content-type': type = '', soapaction } = request.fields
  const headers = { 'content-type': type, ...(soapaction !== undefined && { soapaction }) }
  const answer = await fetch(`${running.url}${target}`, { method: 'POST', headers, body: new Uint8Array(content) })
  return { status: answer.status, text: await answer.text() }
}

const refused = (said: Said): void => {
  assert.ok(said.fault, JSON.stringify(said))
  assert.match(
    `${said.fault.code} ${said.fault.reason}`,
    /FailedAuthentication|could not be authenticated|could not be retrieved/,
  )
}

function securePeer({ name, skip, command, ways, versions }: Peer): void {
  describe(name, { skip }, () => {
    before(serve)
    after(() => running.stop())
    for (const version of versions) {
      for (const way of ways) {
        it(`${way} in SOAP ${version}: who it is, typed faults, and nobody else (rules B5.1–B5.4)`, async () => {
          await proven(await command(await wsdl(version), version), version, way)
        })
      }
    }
  })
}

const endpoint = '/soap/v1/secure'
const wsdl = async (version: Version) => (await fetch(`${running.url}${endpoint}?wsdl=${version}`)).text()

async function proven([program, ...first]: Command, version: Version, way: Way): Promise<void> {
  const start = (signer: string): Driver =>
    driver(
      program,
      [...first, `${between.url}${endpoint}?wsdl=${version}`, version, way, of(signer, 'key'), of(signer, 'cert')],
      'urn:diglot:orders:v1',
    )
  /** One call, and the exchange it was. */
  const one = async (by: Driver, operation: string, input: object, as: Caller = 'maria', password?: string) => {
    between.take()
    const said = await by.call(operation, { ...input }, as, password)
    const [exchange, another] = between.take().filter(({ method }) => method === 'POST')
    assert.ok(exchange && !another, `${operation} is one exchange: ${JSON.stringify(said)}`)
    assert.equal(exchange.request.fields['authorization'], undefined, 'the message alone says who it is')
    return { said, exchange }
  }
  const manager = start('maria')
  const customer = way === 'signed' ? start('alice') : manager
  try {
    const got = await one(manager, 'GetOrder', { id: order })
    assert.ok('output' in got.said, JSON.stringify(got.said))
    assert.match(JSON.stringify(got.said.output), new RegExp(order))
    const paid = await one(manager, 'PayOrder', { id: order, method: 'card', amount: '0.01' })
    assert.match(String(paid.said.fault?.detail), /PaymentDeclined.*0\.01/s, JSON.stringify(paid.said))
    const shipped = await one(customer, 'ShipOrder', { id: order, carrier: 'dhl' }, 'alice')
    assert.match(String(shipped.said.fault?.detail), /Forbidden/, JSON.stringify(shipped.said))

    if (way === 'signed') {
      const impostor = start('impostor')
      refused((await one(impostor, 'GetOrder', { id: order })).said)
      impostor.end()
    } else {
      refused((await one(manager, 'GetOrder', { id: order }, 'maria', 'alice-secret')).said)
    }

    if (way !== 'text') {
      const { status, text } = await again(got.exchange)
      assert.equal(status, 500)
      assert.match(text, /FailedAuthentication/, 'what came once does not come again')
    }
    if (way === 'signed') {
      const fresh = await one(manager, 'GetOrder', { id: order })
      const changed = fresh.exchange.request.content.toString().replace(`>${order}<`, '>o-none<')
      assert.match((await again(fresh.exchange, Buffer.from(changed))).text, /FailedCheck/)
    }
  } finally {
    manager.end()
    customer.end()
  }
}

/** Debian's, and that of PyPI. */
const zeeps = {
  'python3-zeep': '/usr/bin/python3',
  'zeep 4.3.3': join(here, 'others', 'venv', 'bin', 'python'),
}
for (const [name, python] of Object.entries(zeeps))
  securePeer({
    name,
    skip: missing(`${name} with xmlsec`, python, ['-c', 'import zeep, xmlsec']),
    command: () => [python, join(here, 'python', 'zeep_secure.py')],
    ways: ['text', 'digest', 'signed'],
    versions: ['1.1', '1.2'],
  })

securePeer({
  name: 'php-soap',
  skip: missing('php-soap with php-xml', 'php', [
    '-r',
    'exit(class_exists("SoapClient") && class_exists("XMLWriter") ? 0 : 1);',
  ]),
  command: () => ['php', join(here, 'php', 'secure.php')],
  ways: ['text', 'digest'],
  versions: ['1.1', '1.2'],
})

securePeer({
  name: 'WSS4J 1.6 with JAX-WS RI',
  skip: missing('WSS4J with JAX-WS', 'sh', [
    '-c',
    'cd /usr/share/java && command -v javac && ls jaxws-tools.jar wss4j.jar xmlsec.jar',
  ]),
  command: async wsdl => [
    'java',
    '-XX:TieredStopAtLevel=1',
    '-cp',
    (await build('java', wsdl, 'secure')).said,
    'Secure',
  ],
  ways: ['text', 'digest', 'signed'],
  versions: ['1.1', '1.2'],
})

securePeer({
  name: 'gSOAP wsse',
  skip: missing('gSOAP', 'sh', ['-c', 'command -v wsdl2h soapcpp2 g++']),
  command: async (wsdl, version) => [join((await build('gsoap', wsdl, version, 'secure')).place, 'secure')],
  ways: ['text', 'digest', 'signed'],
  versions: ['1.1', '1.2'],
})
