/**
 * WSS4J and zeep make tokens, signatures and ciphertexts that are read here, and read what is made here. Without them it says so
 * in one line; where CI is true, their absence is a failure.
 */
import assert from 'node:assert/strict'
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { CertificateTrust, type Protection, protectMessage, type SecurityPolicy } from '../../src/security/index.ts'
import { writeElement } from '../../src/xml/index.ts'
import {
  createGuard,
  expectAccepted,
  keyPair,
  messageId,
  openMessage,
  plainMessage,
  securePolicy,
  soap11Uri,
  soap12Uri,
  verifyOrRefuse,
} from '../security/message.ts'

const here = import.meta.dirname
const pem = (name: string, kind: 'key' | 'cert') =>
  join(here, '..', 'security', 'keys', `test-only-${name}.${kind}.pem`)
const versions = [soap11Uri, soap12Uri]
const { key, certificate } = keyPair('alice')
const bob = keyPair('bob')
const trust = new CertificateTrust({ authorities: [keyPair('ca').pem], certificates: [keyPair('alice').pem] })
const means = { trust, decrypts: [bob] }

async function read(text: string, policy: SecurityPolicy = securePolicy): Promise<string> {
  const message = openMessage(text)
  const { body } = await expectAccepted(verifyOrRefuse(message, policy, createGuard(Date.now(), means)))
  assert.equal(body, message.body)
  return writeElement(body)
}

const done = (ran: SpawnSyncReturns<string>): string => {
  assert.equal(ran.status, 0, ran.stderr)
  return ran.stdout
}

function absent(name: string): void {
  if (process.env['CI'] === 'true') throw new Error(`${name} is not installed`)
  console.log(`skipped: ${name} is not installed`)
}

/** Debian's, and that of PyPI. */
const zeeps = { zeep: '/usr/bin/python3', 'zeep 4.3.3': join(here, 'others', 'venv', 'bin', 'python') }
for (const [name, python] of Object.entries(zeeps))
  if (spawnSync(python, ['-c', 'import zeep.wsse, xmlsec']).status === 0) tryZeep(name, python)
  else absent(`${name} with xmlsec`)

function tryZeep(name: string, python: string): void {
  const run = (step: string, input: string) =>
    spawnSync(python, [join(here, 'wss', 'zeep_wss.py'), step, pem('alice', 'key'), pem('alice', 'cert')], {
      input,
      encoding: 'utf8',
    })
  for (const version of versions) {
    for (const step of ['text', 'digest', 'sign', 'sign-binary']) {
      test(`${name}: ${step} in ${version}, read here`, async () => {
        assert.match(await read(done(run(step, plainMessage(version)))), /o-1/)
      })
    }
    test(`${name}: what is signed here in ${version} is verified`, () => {
      const signature: Protection['signature'] = {
        key,
        by: { certificate, refer: 'direct' },
        parts: ['Body', 'Timestamp'],
      }
      const text = protectMessage(plainMessage(version), { timestamp: {}, signature }, Date.now()).envelope
      done(run('read', text))
      assert.notEqual(run('read', text.replace('o-1', 'o-2')).status, 0)
    })
  }
}

tryAgreement()

/** WSS4J 4, which comes with Spring-WS. */
function tryAgreement(): void {
  const path = `${join(here, 'spring-ws', 'lib')}/*`
  const made = mkdtempSync(join(tmpdir(), 'diglot-agree-'))
  after(() => rmSync(made, { recursive: true }))
  if (spawnSync('javac', ['-cp', path, '-d', made, join(here, 'wss', 'Agree.java')]).status === 0)
    agreeOnKeys(path, made)
  else absent('WSS4J 4')
}

function agreeOnKeys(path: string, made: string): void {
  const names = ['p256', 'p384', 'p521']
  const all = join(made, 'keys.p12')
  for (const name of names) {
    const one = join(made, `${name}.p12`)
    const pair = ['-inkey', pem(name, 'key'), '-in', pem(name, 'cert'), '-name', name, '-out', one]
    done(spawnSync('openssl', ['pkcs12', '-export', ...pair, '-passout', 'pass:test-only'], { encoding: 'utf8' }))
    const to = ['-destkeystore', all, '-deststorepass', 'test-only']
    const from = ['-srckeystore', one, '-srcstorepass', 'test-only', ...to]
    done(spawnSync('keytool', ['-importkeystore', '-noprompt', ...from], { encoding: 'utf8' }))
  }
  const run = (input: string, ...words: readonly string[]) =>
    spawnSync('java', ['-cp', `${path}:${made}`, 'Agree', all, ...words], { input, encoding: 'utf8' })
  const xenc = 'http://www.w3.org/2001/04/xmlenc#'
  const ways: readonly (readonly string[])[] = [
    ['p256', '2', `${xenc}kw-aes128`],
    ['p256', '8', `${xenc}kw-aes256`],
    ['p384', '4', `${xenc}kw-aes192`, `${xenc}sha512`, '0061'],
    ['p521', '1', `${xenc}kw-aes256`, 'http://www.w3.org/2001/04/xmldsig-more#sha384', '00616263'],
  ]
  const optional: SecurityPolicy = { required: false, anyOf: [{ caller: 'username' }] }
  for (const way of ways)
    test(`WSS4J 4: encrypted by ECDH-ES to ${way.join(', ')}, read here`, async () => {
      const message = openMessage(done(run(plainMessage(), 'encrypt', ...way)))
      assert.doesNotMatch(writeElement(message.body), /o-1/)
      const guard = createGuard(Date.now(), { decrypts: [bob, ...names.map(keyPair)] })
      await expectAccepted(verifyOrRefuse(message, optional, guard))
      assert.match(writeElement(message.body), /o-1/)
    })
  for (const name of names)
    test(`WSS4J 4 reads what is encrypted here to the certificate of ${name}`, () => {
      const encryption = { to: keyPair(name).certificate, parts: ['Body'] } as const
      const text = protectMessage(plainMessage(), { encryption }, Date.now()).envelope
      assert.match(done(run(text, 'read')), /o-1/)
      assert.notEqual(run(text.replace('AlgorithmID="0000"', 'AlgorithmID="0001"'), 'read').status, 0)
    })
}

const jars = ['wss4j', 'xmlsec', 'commons-logging', 'slf4j-api', 'slf4j-nop', 'joda-time'].map(
  name => `/usr/share/java/${name}.jar`,
)
const folder = mkdtempSync(join(tmpdir(), 'diglot-wss-'))
after(() => rmSync(folder, { recursive: true }))
const store = join(folder, 'keys.p12')
if (compiled()) wss4j()
else absent('WSS4J')

function compiled(): boolean {
  const source = join(here, 'wss', 'Wss.java')
  if (spawnSync('javac', ['-cp', jars.join(':'), '-d', folder, source]).status !== 0) return false
  const password = ['-passout', 'pass:test-only', '-passin', 'pass:test-only']
  for (const name of ['alice', 'bob']) {
    const one = join(folder, `${name}.p12`)
    const options = ['-export', '-inkey', pem(name, 'key'), '-in', pem(name, 'cert'), '-name', name, '-out', one]
    done(spawnSync('openssl', ['pkcs12', ...options, ...password], { encoding: 'utf8' }))
    const from = [
      '-srckeystore',
      one,
      '-srcstorepass',
      'test-only',
      '-destkeystore',
      store,
      '-deststorepass',
      'test-only',
    ]
    done(spawnSync('keytool', ['-importkeystore', '-noprompt', ...from], { encoding: 'utf8' }))
  }
  const authority = ['-alias', 'ca', '-file', pem('ca', 'cert'), '-keystore', store, '-storepass', 'test-only']
  done(spawnSync('keytool', ['-importcert', '-noprompt', ...authority], { encoding: 'utf8' }))
  return true
}

function wss4j(): void {
  const gcm = 'http://www.w3.org/2009/xmlenc11#aes256-gcm'
  const cbc = 'http://www.w3.org/2001/04/xmlenc#aes128-cbc'
  const run = (steps: string, input: string, identifier = '1', cipher = gcm) =>
    spawnSync('java', ['-cp', [...jars, folder].join(':'), 'Wss', store, steps, identifier, cipher], {
      input,
      encoding: 'utf8',
    })

  const identifiers: [string, string][] = [
    ['1', 'a token of its own'],
    ['2', 'issuer and serial number'],
    ['3', 'the certificate in a KeyIdentifier'],
    ['4', 'the subject key identifier'],
    ['8', 'the thumbprint'],
  ]
  for (const [identifier, title] of identifiers) {
    for (const step of ['sign', 'sign-token']) {
      test(`WSS4J: ${step} by ${title}, read here`, async () => {
        assert.match(await read(done(run(step, plainMessage(), identifier))), /o-1/)
      })
    }
  }
  for (const [steps, cipher] of [
    ['sign,encrypt', gcm],
    ['encrypt,sign', gcm],
    ['encrypt,sign', cbc],
  ] as const) {
    test(`WSS4J: ${steps} with ${cipher}, read here`, async () => {
      const text = done(run(steps, plainMessage(soap11Uri), '1', cipher))
      assert.doesNotMatch(text, /o-1/)
      assert.match(await read(text), /o-1/)
    })
  }
  test('WSS4J: sign,encrypt with CBC, read where the policy allows it', async () => {
    const text = done(run('sign,encrypt', plainMessage(), '1', cbc))
    assert.match(await read(text, { ...securePolicy, allow: ['cbc'] }), /o-1/)
  })
  for (const step of ['text', 'digest']) {
    test(`WSS4J: a UsernameToken with ${step}, read here`, async () => {
      assert.match(await read(done(run(step, plainMessage()))), /o-1/)
    })
  }

  const signing = (refer: 'direct' | 'issuer-serial' | 'thumbprint' | 'key-identifier'): Protection => ({
    timestamp: {},
    signature: { key, by: { certificate, refer }, parts: ['Body', 'Timestamp'] },
  })
  const body = { to: bob.certificate, parts: ['Body'] } as const
  const sha1 = { digest: 'sha1', mask: 'sha1', label: Buffer.alloc(0) } as const
  const username = { name: 'alice', password: 'open sesame', kind: 'digest' } as const
  const ours: [string, Protection][] = [
    ['signed by a token', signing('direct')],
    ['signed by issuer and serial number', signing('issuer-serial')],
    ['signed by thumbprint', signing('thumbprint')],
    ['signed by key identifier', signing('key-identifier')],
    ['signed and encrypted', { ...signing('direct'), encryption: body }],
    [
      'encrypted with AES-128-GCM',
      { ...signing('direct'), encryption: { ...body, cipher: { mode: 'gcm', size: 16 } } },
    ],
    [
      'encrypted with AES-256-CBC and OAEP with SHA-1',
      { ...signing('direct'), encryption: { ...body, cipher: { mode: 'cbc', size: 32 }, transport: sha1 } },
    ],
    [
      'a token and a block, encrypted',
      { timestamp: {}, username, encryption: { to: bob.certificate, parts: ['Token', messageId] } },
    ],
  ]
  for (const [title, protection] of ours) {
    test(`WSS4J reads: ${title}`, () => {
      const text = protectMessage(plainMessage(), protection, Date.now()).envelope
      assert.match(done(run('read', text)), /o-1/)
      const broken = text.replace(/<(ds:SignatureValue|xenc:CipherValue)>..../, '<$1>AAAA')
      assert.notEqual(run('read', broken).status, 0)
    })
  }
}
