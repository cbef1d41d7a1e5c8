/**
 * xmlsec1 signs and encrypts what is verified and decrypted here, and the reverse, for every algorithm that both know.
 * Without xmlsec1 it says so in one line; where CI is true, its absence is a failure.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSecretKey } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Cipher, KeyTransport } from '../../src/security/crypto/cipher.ts'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import { type Protection, protectMessage } from '../../src/security/protect/protect.ts'
import type { Signing } from '../../src/security/protect/sign.ts'
import { dsNs, wsseNs, xencNs } from '../../src/security/vocabulary.ts'
import { writeElement } from '../../src/xml/index.ts'
import {
  createGuard,
  expectAccepted,
  keyPair,
  now,
  openMessage,
  plainMessage,
  signedDemand,
  signedPolicy,
  soap12Uri,
  trustOf,
  verifyOrRefuse,
} from '../security/message.ts'

const there = spawnSync('xmlsec1', ['--version']).status === 0
if (!there && process.env['CI'] === 'true') throw new Error('xmlsec1 is not installed')
if (!there) console.log('skipped: xmlsec1 is not installed')
else peers()

function peers(): void {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-xmlsec-'))
  after(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string | Buffer) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const pem = (name: string, kind: 'key' | 'cert') =>
    join(import.meta.dirname, '..', 'security', 'keys', `test-only-${name}.${kind}.pem`)

  /** What xmlsec1 makes of a document. */
  function xmlsec(text: string, ...options: string[]): string {
    const input = file('input.xml', text)
    const output = join(folder, 'output.xml')
    const ran = spawnSync('xmlsec1', [...options, '--output', output, input], { encoding: 'utf8' })
    assert.equal(ran.status, 0, `${options.join(' ')}\n${ran.stderr}\n${text}`)
    return options[0] === '--verify' ? '' : readFileSync(output, 'utf8')
  }
  const ids = ['--id-attr:Id', `${soap12Uri}:Body`, '--id-attr:Id', 'Timestamp']

  const secret = Buffer.alloc(32, 7)
  const secretFile = file('secret.bin', secret)
  const signings: [string, string, Partial<Signing>][] = [
    ['RSA-SHA256', 'alice', {}],
    ['RSA-SHA384', 'alice', { hash: 'sha384' }],
    ['RSA-SHA512', 'alice', { hash: 'sha512' }],
    ['ECDSA-SHA256', 'p256', {}],
    ['ECDSA-SHA384', 'p384', { hash: 'sha384' }],
    ['ECDSA-SHA512', 'p521', { hash: 'sha512' }],
    ['HMAC-SHA256', 'hmac', {}],
    ['HMAC-SHA384', 'hmac', { hash: 'sha384' }],
    ['HMAC-SHA512', 'hmac', { hash: 'sha512' }],
  ]
  for (const [title, name, more] of signings) {
    const symmetric = name === 'hmac'
    const by: Pick<Signing, 'key' | 'by'> = symmetric
      ? { key: createSecretKey(secret), by: { name: 'clara' } }
      : { key: keyPair(name).key, by: { certificate: keyPair(name).certificate, refer: 'direct' } }
    const signature: Signing = { ...by, parts: ['Body', 'Timestamp'], ...more }
    const ours = () => protectMessage(plainMessage(), { timestamp: {}, signature }, now).envelope
    const policy: SecurityPolicy = symmetric
      ? { required: true, anyOf: [{ ...signedDemand, caller: 'secret' }] }
      : signedPolicy
    const read = (text: string) =>
      verifyOrRefuse(
        openMessage(text),
        policy,
        createGuard(now, { trust: trustOf('ca'), secrets: new Map([['clara', createSecretKey(secret)]]) }),
      )

    test(`${title}: signed here, verified by xmlsec1`, () => {
      const key = symmetric ? ['--hmackey:clara', secretFile] : ['--pubkey-cert-pem', pem(name, 'cert')]
      xmlsec(ours(), '--verify', ...ids, ...key)
      const changed = file('changed.xml', ours().replace('o-1', 'o-2'))
      assert.notEqual(spawnSync('xmlsec1', ['--verify', ...ids, ...key, changed]).status, 0)
    })

    test(`${title}: signed by xmlsec1, verified here`, async () => {
      const template = ours()
        .replace(/<ds:DigestValue>[^<]*/g, '<ds:DigestValue>')
        .replace(/<ds:SignatureValue>[^<]*/, '<ds:SignatureValue>')
      const key = symmetric ? ['--hmackey:clara', secretFile] : ['--privkey-pem', pem(name, 'key')]
      await expectAccepted(read(xmlsec(template, '--sign', ...ids, ...key)))
    })
  }

  const c14n: [string, string][] = [
    [
      'exclusive C14N with prefixes',
      `<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"><e:InclusiveNamespaces xmlns:e="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="s unused #default"/></ds:Transform>`,
    ],
    ['exclusive C14N with comments', '<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#WithComments"/>'],
    ['inclusive C14N', '<ds:Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>'],
    [
      'inclusive C14N with comments',
      '<ds:Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments"/>',
    ],
    ['enveloped-signature on the Body', `<ds:Transform Algorithm="${dsNs}enveloped-signature"/>`],
  ]
  const odd = plainMessage(
    undefined,
    '',
    '<o:Get xmlns:o="urn:o" xmlns="urn:d" b="2" o:a="1" xml:lang="de">\r\n <i a="&#9;&#10;&lt;&quot;">&amp;&gt;é<![CDATA[<x>]]></i><!-- c --></o:Get>',
  ).replace('<s:Envelope ', '<s:Envelope xmlns:unused="urn:unused" xml:space="preserve" ')
  for (const [title, transform] of c14n) {
    test(`${title}: signed by xmlsec1, verified here`, async () => {
      const { key, certificate } = keyPair('alice')
      const signature: Signing = { key, by: { certificate, refer: 'direct' }, parts: ['Body', 'Timestamp'] }
      const template = protectMessage(odd, { timestamp: {}, signature }, now)
        .envelope.replace(/<ds:DigestValue>[^<]*/g, '<ds:DigestValue>')
        .replace(/<ds:SignatureValue>[^<]*/, '<ds:SignatureValue>')
        .replaceAll(/<ds:Transforms>.*?<\/ds:Transforms>/g, `<ds:Transforms>${transform}</ds:Transforms>`)
      const text = xmlsec(template, '--sign', ...ids, '--privkey-pem', pem('alice', 'key'))
      await expectAccepted(verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now, { trust: trustOf('ca') })))
    })
  }

  // Encryption

  const sizes = [16, 24, 32] as const
  const ciphers: Cipher[] = sizes.flatMap((size): Cipher[] => [
    { mode: 'gcm', size },
    { mode: 'cbc', size },
  ])
  const label = Buffer.alloc(0)
  const transports: [string, KeyTransport, string][] = [
    ['RSA-OAEP', { digest: 'sha1', mask: 'sha1', label }, `<x:EncryptionMethod Algorithm="${xencNs}rsa-oaep-mgf1p"/>`],
    ['RSA 1.5', 'rsa-1_5', `<x:EncryptionMethod Algorithm="${xencNs}rsa-1_5"/>`],
  ]
  const optional: SecurityPolicy = { required: false, anyOf: [{ caller: 'username' }], allow: ['cbc', 'rsa-1_5'] }
  const means = { decrypts: [keyPair('bob')] }
  for (const cipher of ciphers) {
    for (const [title, transport, method] of transports) {
      const name = `AES-${cipher.size * 8}-${cipher.mode.toUpperCase()} with ${title}`
      test(`${name}: encrypted here, decrypted by xmlsec1`, () => {
        const encryption: Protection['encryption'] = {
          to: keyPair('bob').certificate,
          parts: ['Body'],
          cipher,
          transport,
        }
        const text = protectMessage(plainMessage(), { encryption }, now).envelope
        const key = /<xenc:EncryptedKey .*<\/xenc:EncryptedKey>/s.exec(text)![0]
        const bare = key
          .replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, '')
          .replace(/<xenc:ReferenceList>.*<\/xenc:ReferenceList>/s, '')
        const body = text
          .slice(text.indexOf('<xenc:EncryptedData'))
          .replace(/(<ds:KeyInfo[^>]*>).*<\/ds:KeyInfo>/s, `$1${bare}</ds:KeyInfo>`)
        const moved = text.slice(0, text.indexOf('<xenc:EncryptedData')).replace(key, '') + body
        assert.match(xmlsec(moved, '--decrypt', '--privkey-pem', pem('bob', 'key')), /<id>o-1<\/id>/)
      })

      test(`${name}: encrypted by xmlsec1, decrypted here`, async () => {
        const algorithm = `${cipher.mode === 'gcm' ? 'http://www.w3.org/2009/xmlenc11#' : xencNs}aes${cipher.size * 8}-${cipher.mode}`
        const template = file(
          'template.xml',
          `<x:EncryptedData xmlns:x="${xencNs}" Id="ED" Type="${xencNs}Content"><x:EncryptionMethod Algorithm="${algorithm}"/>` +
            `<d:KeyInfo xmlns:d="${dsNs}"><x:EncryptedKey>${method}<x:CipherData><x:CipherValue/></x:CipherData></x:EncryptedKey></d:KeyInfo>` +
            '<x:CipherData><x:CipherValue/></x:CipherData></x:EncryptedData>',
        )
        const list = `<w:Security xmlns:w="${wsseNs}"><x:ReferenceList xmlns:x="${xencNs}"><x:DataReference URI="#ED"/></x:ReferenceList></w:Security>`
        const input = file('message.xml', plainMessage(undefined, list))
        const options = [
          '--pubkey-cert-pem',
          pem('bob', 'cert'),
          '--session-key',
          `aes-${cipher.size * 8}`,
          '--xml-data',
          input,
        ]
        const output = join(folder, 'output.xml')
        const node = ['--node-xpath', '//*[local-name()="GetOrder"]']
        const ran = spawnSync('xmlsec1', ['--encrypt', ...options, ...node, '--output', output, template], {
          encoding: 'utf8',
        })
        assert.equal(ran.status, 0, ran.stderr)
        const text = readFileSync(output, 'utf8')
        assert.doesNotMatch(text, /o-1/)
        const message = openMessage(text)
        await expectAccepted(verifyOrRefuse(message, optional, createGuard(now, means)))
        assert.match(writeElement(message.body), /<id>o-1<\/id>/)
      })
    }
  }
}
