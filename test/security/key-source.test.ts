/** Keys and certificates as applications provide them; an error names its place and its cure. */
import assert from 'node:assert/strict'
import { createPublicKey, createSecretKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import {
  type CertificateSource,
  type PrivateKeySource,
  readCertificateList,
  readOneCertificate,
  readPrivateKey,
  readSecret,
} from '../../src/security/crypto/key-source.ts'
import { type ProofMeans, prepareMeans } from '../../src/security/policy/means.ts'
import { type ProtectionOptions, prepareProtection } from '../../src/security/protect/protection-options.ts'
import * as x from './issue.ts'
import { keyPair } from './message.ts'

const alice = keyPair('alice')
const pkcs8 = alice.key.export({ format: 'pem', type: 'pkcs8' }).toString()
const passphrase = 'test-only'
const locked = alice.key.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase }).toString()

const certificates: readonly (readonly [string, CertificateSource])[] = [
  ['PEM', alice.pem],
  ['PEM with text around it', `alice\n${alice.pem}\nend`],
  ['PEM in octets', Buffer.from(alice.pem)],
  ['DER', new Uint8Array(alice.certificate.der)],
  ['X509Certificate', new X509Certificate(alice.pem)],
]
for (const [title, source] of certificates)
  test(`a certificate from ${title}`, () => {
    assert.ok(readOneCertificate(source, 'place').der.equals(alice.certificate.der))
  })

test('several certificates in one PEM, and in a list', () => {
  const bundle = alice.pem + keyPair('bob').pem
  assert.equal(readCertificateList(bundle, 'place').length, 2)
  assert.equal(readCertificateList([bundle, keyPair('ca').pem], 'place').length, 3)
  assert.equal(readCertificateList(undefined, 'place').length, 0)
})

const keys: readonly (readonly [string, PrivateKeySource])[] = [
  ['PEM', pkcs8],
  ['PEM of PKCS #1', alice.key.export({ format: 'pem', type: 'pkcs1' }).toString()],
  ['PEM in octets', Buffer.from(pkcs8)],
  ['DER', alice.key.export({ format: 'der', type: 'pkcs8' })],
  ['KeyObject', alice.key],
  ['encrypted PEM with its passphrase', { key: locked, passphrase }],
]
for (const [title, source] of keys)
  test(`a private key from ${title}`, () => assert.ok(readPrivateKey(source, 'place').equals(alice.key)))

const mistakes: readonly (readonly [string, () => unknown, RegExp])[] = [
  [
    'the name of a file',
    () => readOneCertificate('alice.pem', 'p'),
    /^p contains no -----BEGIN CERTIFICATE-----: give/,
  ],
  ['a key in place of a certificate', () => readOneCertificate(pkcs8, 'p'), /^p contains a PRIVATE KEY: give PEM/],
  ['octets that are not a certificate', () => readOneCertificate(Buffer.of(0x30, 0), 'p'), /^p is not a certificate/],
  [
    'a damaged block',
    () => readOneCertificate(alice.pem.replace(/\n(.{20})/, '\n*$1'), 'p'),
    /^p .*(?:base64|not a certificate)/,
  ],
  ['no text at all', () => readOneCertificate(7 as never, 'p'), /^p is not PEM or DER/],
  ['the second of a list', () => readCertificateList([alice.pem, 'x'], 'p'), /^p\[1\] contains no/],
  ['the name of a file of a key', () => readPrivateKey('alice.key', 'p'), /^p is not a private key: give the content/],
  ['nothing', () => readPrivateKey(undefined as never, 'p'), /^p is not a private key/],
  [
    'a certificate in place of a key',
    () => readPrivateKey(alice.pem, 'p'),
    /^p is a certificate: give its private key/,
  ],
  ['an encrypted key', () => readPrivateKey(locked, 'p'), /^p is encrypted: give \{ key, passphrase \}/],
  ['a wrong passphrase', () => readPrivateKey({ key: locked, passphrase: 'x' }, 'p'), /^p cannot be decrypted/],
  ['a public key', () => readPrivateKey(createPublicKey(alice.key), 'p'), /^p is a public key: give the private one/],
  ['a short secret', () => readSecret(Buffer.alloc(8), 'p'), /^p is too short: give at least 16/],
  ['a text as a secret', () => readSecret('secret' as never, 'p'), /^p is not octets/],
  ['a private key as a secret', () => readSecret(alice.key, 'p'), /^p is a private key: give a secret one/],
]
for (const [title, read, says] of mistakes)
  test(`${title}: the error names the place and the cure`, () => {
    assert.throws(
      read,
      (thrown: Error) => (thrown instanceof TypeError && says.test(thrown.message)) || assert.fail(thrown.message),
    )
  })

const bob = { key: keyPair('bob').key, certificate: keyPair('bob').pem }
const proof: readonly (readonly [string, ProofMeans, RegExp | undefined])[] = [
  ['keys for decryption', { decrypts: [bob] }, undefined],
  [
    'a key and the certificate of another',
    { decrypts: [{ ...bob, certificate: alice.pem }] },
    /^means\.decrypts\[0\]\.certificate is not the certificate of means\.decrypts\[0\]\.key/,
  ],
  ['secrets by name', { secrets: { shop: Buffer.alloc(32), bank: createSecretKey(Buffer.alloc(16)) } }, undefined],
  [
    'a secret that is too short',
    { secrets: new Map([['shop', Buffer.alloc(4)]]) },
    /^means\.secrets\.shop is too short/,
  ],
  ['an issuer', { saml: { issuers: [{ name: 'urn:i', certificates: alice.pem }], audiences: ['urn:a'] } }, undefined],
  [
    'an issuer whose certificate is a file name',
    { saml: { issuers: [{ name: 'urn:i', certificates: 'x' }], audiences: [] } },
    /^means\.saml\.issuers\[0\]\.certificates contains no/,
  ],
  [
    'an issuer twice',
    { saml: { issuers: [{ name: 'urn:i' }, { name: 'urn:i' }], audiences: [] } },
    /^means\.saml\.issuers has urn:i twice/,
  ],
  [
    'a voucher that is not a certificate',
    { saml: { issuers: [], vouchers: { authorities: ['x'] }, audiences: [] } },
    /^means\.saml\.vouchers\.authorities\[0\]/,
  ],
  [
    'a purpose that is not known',
    { saml: { issuers: [{ name: 'i', purposes: ['signing' as never] }], audiences: [] } },
    /issuers\[0\]\.purposes has "signing": give an object identifier.*clientAuth/,
  ],
]
for (const [title, means, says] of proof)
  test(`means of proof: ${title}${says ? ' is told' : ''}`, () => {
    if (says)
      assert.throws(
        () => prepareMeans(means, 'means'),
        (thrown: Error) => says.test(thrown.message) || assert.fail(thrown.message),
      )
    else assert.ok(prepareMeans(means, 'means'))
  })

const weak = x.createRsaKey(1024)
const curve = x.createEcKey('secp256k1')
const edwards = x.issueCertificate({
  name: 'CN=ed',
  key: generateKeyPairSync('ed25519'),
  by: { name: 'CN=ed', key: x.createEcKey() },
})
const protections: readonly (readonly [string, ProtectionOptions, RegExp | undefined])[] = [
  ['a signature by PEM', { signature: { key: pkcs8, by: { certificate: alice.pem } } }, undefined],
  ['a signature by a secret', { signature: { key: Buffer.alloc(32), by: { name: 'shop' } } }, undefined],
  ['a signature by the key of the assertion', { signature: { key: pkcs8, by: 'assertion' } }, undefined],
  [
    'the certificate of another',
    { signature: { key: pkcs8, by: { certificate: keyPair('bob').pem } } },
    /^security\.signature\.by\.certificate is not the certificate of security\.signature\.key/,
  ],
  [
    'a key of 1024 bits',
    { signature: { key: weak.privateKey, by: 'assertion' } },
    /^security\.signature\.key is an RSA key of 1024 bits.*: give one of RSA/,
  ],
  [
    'a key on another curve',
    { signature: { key: curve.privateKey, by: 'assertion' } },
    /^security\.signature\.key is a key on the curve secp256k1/,
  ],
  ['encryption by PEM', { encryption: { to: keyPair('bob').pem } }, undefined],
  ['encryption to a key on an elliptic curve', { encryption: { to: keyPair('p256').pem } }, undefined],
  [
    'encryption to a key that only signs',
    { encryption: { to: edwards } },
    /^security\.encryption\.to is not for an RSA key/,
  ],
]
for (const [title, options, says] of protections)
  test(`protection of a client: ${title}${says ? ' is told' : ''}`, () => {
    if (says)
      assert.throws(
        () => prepareProtection(options, 'security'),
        (thrown: Error) => says.test(thrown.message) || assert.fail(thrown.message),
      )
    else assert.ok(prepareProtection(options, 'security'))
  })

test('a signature covers header blocks, Body, attachments and a Timestamp, unless the options say otherwise', () => {
  const { signature, timestamp } = prepareProtection({ signature: { key: pkcs8, by: { certificate: alice.pem } } }, 's')
  assert.deepEqual([signature?.parts, timestamp], [['Headers', 'Body', 'Timestamp', 'Attachments'], {}])
  const own = { timestamp: { lifetime: 1000 }, signature: { key: pkcs8, by: 'assertion', parts: ['Body'] } } as const
  const prepared = prepareProtection(own, 's')
  assert.deepEqual([prepared.signature?.parts, prepared.timestamp], [['Body'], { lifetime: 1000 }])
})
