/**
 * OpenSSL's responder on loopback answers what the service asks about signers of messages, by HTTP, with a nonce.
 * Without openssl it says so in one line; where CI is true, its absence is a failure.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import { createSoapClient, FaultError } from '../../src/client/index.ts'
import { startHosted } from '../host/hosted-service.ts'
import * as x from '../security/issue.ts'
import { atEnd, folder } from './peer.ts'

const there = spawnSync('openssl', ['version']).status === 0
if (!there && process.env['CI'] === 'true') throw new Error('openssl is not installed')
if (!there) console.log('skipped: openssl is not installed')
else peers()

function peers(): void {
  const day = 86_400_000
  const times = { notBefore: Date.now() - day, notAfter: Date.now() + day }
  const bank: x.Holder = { name: 'O=Bank/CN=Root', key: x.createEcKey() }
  const desk: x.Holder = { name: 'O=Bank/CN=Desk', key: x.createEcKey() }
  const signer = x.createEcKey()
  const pemOf = (draft: Omit<x.CertificateDraft, 'by'>) =>
    x.writePem('CERTIFICATE', x.issueCertificate({ ...draft, ...times, by: bank }))
  const keyPem = ({ privateKey }: x.TestKey) => privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const authority = pemOf({ ...bank, extensions: [x.authority(), x.usage(0, 5, 6)] })
  const noCheck = x.extension('1.3.6.1.5.5.7.48.1.5', Buffer.of(0x05, 0x00))
  const delegate = pemOf({ ...desk, extensions: [x.purposes(['1.3.6.1.5.5.7.3.9'], false), noCheck] })

  async function startResponder(): Promise<string> {
    const home = folder()
    const file = (name: string, content: string) => {
      writeFileSync(join(home, name), content)
      return join(home, name)
    }
    const row = (state: string, revokedAt: string, serial: string) =>
      `${[state, '350101000000Z', revokedAt, serial, 'unknown', '/CN=maria'].join('\t')}\n`
    const index = file('index.txt', row('V', '', '07') + row('R', '260101000000Z', '08'))
    const port = await findFreePort()
    const words = ['ocsp', '-port', String(port), '-index', index, '-CA', file('root.pem', authority)]
    words.push('-ndays', '1', '-rkey', file('desk.key', keyPem(desk.key)), '-rsigner', file('desk.pem', delegate))
    const child = spawn('openssl', words, { stdio: ['ignore', 'pipe', 'pipe'] })
    atEnd(() => child.kill('SIGKILL'))
    await new Promise<void>((resolve, reject) => {
      let said = ''
      const look = (part: Buffer) => {
        said += part
        if (/ACCEPT|waiting for/i.test(said)) resolve()
      }
      child.stdout.on('data', look)
      child.stderr.on('data', look)
      child.once('exit', code => reject(new Error(`openssl ended with ${code}: ${said}`)))
    })
    return `http://127.0.0.1:${port}/`
  }

  for (const [way, ocspNonce, ocspHash] of [
    ['by POST with a nonce', true, 'sha1'],
    ['by GET', false, 'sha1'],
    ['by GET with SHA-256 (RFC 9919)', false, 'sha256'],
  ] as const)
    test(`good, revoked and unknown by the responder of OpenSSL, ${way}`, { timeout: 120_000 }, async () => {
      const ocspAddresses = [await startResponder()]
      const { server, lines } = await startHosted({
        messageSecurity: { authorities: authority, ocspAddresses, ocspNonce, ocspHash, revocation: 'ifKnown' },
      })
      for (const [serial, isAccepted] of [
        [7, true],
        [8, false],
        [9, false],
      ] as const) {
        const certificate = pemOf({ name: 'CN=maria', key: signer, serial, extensions: [x.usage(0)] })
        const security = { signature: { key: keyPem(signer), by: { certificate } } } as const
        const client = createSoapClient(shop, { address: `${server.url}/soap/v2/secure`, version: 'v2', security })
        const found = await client.GetOrder({ id: 'o-1' }).catch((thrown: unknown) => thrown)
        client.close()
        if (isAccepted) assert.ok(!(found instanceof Error), `${found} ${JSON.stringify(lines)}`)
        else assert.equal(found instanceof FaultError && found.codes.at(-1)?.local, 'FailedAuthentication')
      }
      const why = JSON.stringify(lines.filter(({ message }) => message === 'message refused'))
      assert.match(why, /its responder says that it is revoked/)
    })
}

/** A port that was free a moment ago: `openssl ocsp` does not say which it took. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
