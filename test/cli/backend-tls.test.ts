/** docs/bridge.md, "Over TLS to the backend": the bridge's certificate, and the authorities of the backend's. */
import assert from 'node:assert/strict'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { bankRoot, issueBank, issuePartner, partnerRoot } from '../host/partner-keys.ts'
import * as x from '../security/issue.ts'
import { carrier, folder, pets, runToEnd, startCommand, trackShipment, write } from './listening-command.ts'

const [own, later] = [issuePartner('CN=own'), issuePartner('CN=later')]
const files = {
  key: write('own.key', own.key),
  certificate: write('own.pem', own.certificate),
  authorities: write('root.pem', bankRoot),
}
const flags = ['--client-key', files.key, '--client-certificate', files.certificate]
const trust = ['--backend-authorities', files.authorities]

/** The names in the certificates of requests. */
const callers: unknown[] = []
const { key, certificate: cert } = issueBank('O=Shop/CN=localhost', x.alternativeNames(x.ipName(127, 0, 0, 1)))
const backend = https.createServer({ key, cert, ca: partnerRoot, requestCert: true }, (request, response) => {
  callers.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN)
  response.writeHead(503, { connection: 'close' }).end()
})
await new Promise<void>(resolve => void backend.listen(0, '127.0.0.1', resolve))
after(() => backend.close())
const to = `https://127.0.0.1:${(backend.address() as AddressInfo).port}`

const startBridge = (description: string, ...words: readonly string[]) =>
  startCommand('bridge', description, '--to', to, '--port', '0', '--anyone', ...words)

test('a bridge to a SOAP service proves itself with its certificate, and reads it again after SIGHUP', async () => {
  const { child, url, said } = await startBridge(carrier, ...flags, ...trust)
  assert.notEqual(url, '', said)
  callers.length = 0
  assert.equal((await trackShipment(url)).status, 503)
  assert.deepEqual(callers, ['own'])
  write('own.key', later.key)
  write('own.pem', later.certificate)
  child.kill('SIGHUP')
  for (let left = 100; callers.at(-1) !== 'later'; left--) {
    assert.ok(left > 0, 'the new certificate is not used')
    await trackShipment(url)
  }
  const running = await startBridge(carrier, ...flags, ...trust)
  write('own.pem', own.certificate) // of another key
  running.child.kill('SIGHUP')
  for (let left = 500; !/cannot be used for TLS to the backend/.test(running.said); left--) {
    assert.ok(left > 0, running.said)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  await trackShipment(running.url)
  assert.equal(callers.at(-1), 'later', 'the pair before stays')
  write('own.key', own.key)
})

test('a bridge to a REST service does the same', async () => {
  const { url, said } = await startBridge(pets, ...flags, ...trust)
  assert.notEqual(url, '', said)
  callers.length = 0
  const envelope =
    '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><ListPets xmlns="urn:x"/></e:Body></e:Envelope>'
  const wsdl = await (await fetch(`${url}/soap/Operations?wsdl`)).text()
  const namespace = /targetNamespace="([^"]+)"/.exec(wsdl)?.[1] ?? ''
  const operation = /<(?:\w+:)?element name="(list\w*)"/i.exec(wsdl)?.[1] ?? ''
  await fetch(`${url}/soap/Operations`, {
    method: 'POST',
    headers: { 'content-type': 'application/soap+xml' },
    body: envelope.replace('ListPets', operation).replace('urn:x', namespace),
  })
  assert.deepEqual(callers, ['own'])
})

test('without the authorities of the backend its certificate is refused, and nothing is sent', async () => {
  const { url } = await startBridge(carrier, ...flags)
  callers.length = 0
  assert.equal((await trackShipment(url)).status, 503)
  assert.deepEqual(callers, [])
})

const refusals: readonly (readonly [words: readonly string[], status: number, message: RegExp])[] = [
  [['--to', to, '--client-key', files.key], 2, /--client-key and --client-certificate must be given together/],
  [['--to', 'http://127.0.0.1:9/', ...flags], 2, /are for TLS: give an address with https in --to/],
  [
    ['--to', to, ...flags.slice(0, 3), files.authorities],
    1,
    /cannot be used for TLS to the backend: .*: give a PEM key/,
  ],
  [['--to', to, '--backend-authorities', join(folder, 'none.pem')], 1, /none\.pem/],
]
for (const [words, status, message] of refusals)
  test(`diglot bridge ends before it listens: ${message.source}`, () => {
    const ended = runToEnd('bridge', carrier, '--anyone', '--port', '0', ...words)
    assert.match(ended.stderr, message)
    assert.equal(ended.status, status)
  })
