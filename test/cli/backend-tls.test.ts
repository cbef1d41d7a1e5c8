/** docs/bridge.md, "Over TLS to the backend": the bridge's certificate, and the authorities of the backend's. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { bankRoot, issueBank, issuePartner, partnerRoot } from '../host/partner-keys.ts'
import * as x from '../security/issue.ts'

const root = join(import.meta.dirname, '..', '..')
const cli = ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'bridge']
const carrier = join(root, 'examples', 'freight', 'carrier.wsdl')
const pets = join(root, 'test', 'mock', 'pets.yaml')
const folder = mkdtempSync(join(tmpdir(), 'diglot-backend-tls-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

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

async function startBridge(description: string, ...words: readonly string[]) {
  const child = spawn(process.execPath, [...cli, description, '--to', to, '--port', '0', '--anyone', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: folder,
  })
  after(() => child.kill('SIGKILL'))
  const running = { child, said: '', url: '' }
  return await new Promise<typeof running>(resolve => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', piece => {
        running.said += piece
        running.url = /bridging (http:\/\/[\d.:]+)/.exec(running.said)?.[1] ?? ''
        if (running.url !== '') resolve(running)
      })
    child.once('close', () => resolve(running))
  })
}
const track = (url: string) =>
  fetch(`${url}/api/v1/FreightPort/TrackShipment`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '"DE-0000001"',
  })

test('a bridge to a SOAP service proves itself with its certificate, and reads it again after SIGHUP', async () => {
  const { child, url, said } = await startBridge(carrier, ...flags, ...trust)
  assert.notEqual(url, '', said)
  callers.length = 0
  assert.equal((await track(url)).status, 503)
  assert.deepEqual(callers, ['own'])
  write('own.key', later.key)
  write('own.pem', later.certificate)
  child.kill('SIGHUP')
  for (let left = 100; callers.at(-1) !== 'later'; left--) {
    assert.ok(left > 0, 'the new certificate is not used')
    await track(url)
  }
  const running = await startBridge(carrier, ...flags, ...trust)
  write('own.pem', own.certificate) // of another key
  running.child.kill('SIGHUP')
  for (let left = 500; !/cannot be used for TLS to the backend/.test(running.said); left--) {
    assert.ok(left > 0, running.said)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  await track(running.url)
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
  assert.equal((await track(url)).status, 503)
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
    const ended = spawnSync(process.execPath, [...cli, carrier, '--anyone', '--port', '0', ...words], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    assert.match(ended.stderr, message)
    assert.equal(ended.status, status)
  })
