/** RFC 6960 §3.2, §4.2: what an OCSP response proves of a certificate, and what proves nothing. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Certificate } from '../../src/security/crypto/certificate.ts'
import type { RevocationMode } from '../../src/security/crypto/certification-path.ts'
import { readCrlList } from '../../src/security/crypto/key-source.ts'
import { judgeOcspResponse } from '../../src/security/crypto/ocsp.ts'
import { identityOf, type OcspHash, writeOcspRequest } from '../../src/security/crypto/ocsp-response.ts'
import { CertificatePool } from '../../src/security/crypto/path-building.ts'
import { RevocationLists } from '../../src/security/crypto/revocation.ts'
import * as x from './issue.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const now = x.testTime
const bank: x.Holder = { name: 'O=Bank/CN=Root', key: x.createEcKey() }
const desk: x.Holder = { name: 'O=Bank/CN=Desk', key: x.createEcKey() }
const stranger: x.Holder = { name: bank.name, key: x.createEcKey() }
const certifyAuthority = (holder: x.Holder) =>
  x.issueCertificate({ ...holder, by: holder, extensions: [x.authority(), x.usage(0, 5, 6)] })
const root = certifyAuthority(bank)
const maria = x.issueCertificate({ name: 'CN=maria', key: x.createEcKey(), by: bank, serial: 7 })
const ocspSigning = x.purposes(['1.3.6.1.5.5.7.3.9'], false)
const noCheck = x.extension('1.3.6.1.5.5.7.48.1.5', Buffer.of(0x05, 0x00))
const certifyDesk = (draft: Partial<x.CertificateDraft> = {}) =>
  x.issueCertificate({ ...desk, by: bank, serial: 9, extensions: [ocspSigning, noCheck], ...draft })
const nonce = Buffer.alloc(32, 5)
const critical = x.extension('1.2.3.4', Buffer.of(0x05, 0x00), true)

const answer = (draft: Partial<x.OcspAnswerDraft> = {}): x.OcspAnswerDraft => ({ issuer: bank, ...draft })
const byBank = (one: Partial<x.OcspAnswerDraft> = {}, draft: Partial<x.OcspDraft> = {}) =>
  x.issueOcsp({ by: bank, answers: [answer(one)], ...draft })
const byDesk = (certificate: Buffer, draft: Partial<x.OcspDraft> = {}) =>
  x.issueOcsp({ by: desk, answers: [answer()], certificates: [certificate], ...draft })

interface Asked {
  readonly nonce?: Buffer
  readonly lists?: RevocationLists
  readonly revocation?: RevocationMode
}
function judge(octets: Buffer, { nonce, lists, revocation = 'required' }: Asked = {}, about = maria) {
  const anchors = new CertificatePool([new Certificate(root)])
  const none = new CertificatePool([])
  return judgeOcspResponse(octets, {
    path: [new Certificate(about), new Certificate(root)],
    search: { anchors, between: none, signers: none, rules: {}, lists, revocation, now },
    nonce,
  })
}

const listsOf = (...revoked: readonly number[]) =>
  new RevocationLists(readCrlList(x.issueCrl({ by: bank, revoked }), ''))
const unchecked = certifyDesk({ extensions: [ocspSigning] })
const accepted: readonly (readonly [string, Buffer, string, Asked?])[] = [
  ['§3.2 the issuer itself, by name', byBank(), 'good'],
  ['§4.2.1 the issuer itself, by key', byBank({}, { responder: x.responderByKey(bank.key) }), 'good'],
  ['§2.2 revoked', byBank({ status: 'revoked' }), 'revoked'],
  ['§2.2 unknown', byBank({ status: 'unknown' }), 'unknown'],
  [
    '§4.2.1 among answers about others',
    x.issueOcsp({ by: bank, answers: [answer({ serial: 8, status: 'revoked' }), answer()] }),
    'good',
  ],
  ...(['sha256', 'sha384', 'sha512'] as const).map(
    hash => [`§4.1.1, RFC 9919 the certificate named by ${hash}`, byBank({ hash }), 'good'] as const,
  ),
  [
    'RFC 9919 by two hashes that agree',
    x.issueOcsp({ by: bank, answers: [answer({ hash: 'sha256' }), answer()] }),
    'good',
  ],
  ['§4.2.2.2 a responder with ocsp-nocheck, by name', byDesk(certifyDesk()), 'good'],
  ['§4.2.2.2 the same by key', byDesk(certifyDesk(), { responder: x.responderByKey(desk.key) }), 'good'],
  ['§4.2.2.2 the second certificate that it carries', byDesk(root, { certificates: [root, certifyDesk()] }), 'good'],
  ['§4.2.2.2.1 a responder that a fresh CRL clears', byDesk(unchecked), 'good', { lists: listsOf(1) }],
  ['§4.2.2.2.1 a responder that nothing revokes', byDesk(unchecked), 'good', { revocation: 'ifKnown' }],
  ['§4.4.1 the nonce of the request', byBank({}, { extensions: [x.nonceExtension(nonce)] }), 'good', { nonce }],
  ['§4.4.1 a nonce that nobody asked for', byBank({}, { extensions: [x.nonceExtension(nonce)] }), 'good'],
  [
    '§4.2.2.1 no next update, with the nonce of the request',
    byBank({ nextUpdate: undefined }, { extensions: [x.nonceExtension(nonce)] }),
    'good',
    { nonce },
  ],
  ['RFC 5019 §4 a clock that is ahead by five minutes', byBank({ thisUpdate: now + 5 * minute }), 'good'],
  ['§4.4 an extension that is not critical', byBank({ extensions: [x.extension('1.2.3.4', x.yes)] }), 'good'],
]
for (const [name, octets, status, asked] of accepted)
  test(`an answer counts: ${name}`, () => {
    const found = judge(octets, asked)
    assert.equal(typeof found === 'string' ? found : found.status, status)
  })

const broken = byBank()
broken[broken.length - 1]! ^= 1
const refused: readonly (readonly [string, Buffer, RegExp, Asked?])[] = [
  ['not DER', Buffer.from('<html>'), /form that DER|cut short|not a/],
  ['cut short', byBank().subarray(0, -1), /cut short/],
  ...(
    [
      [1, 'malformedRequest'],
      [2, 'internalError'],
      [3, 'tryLater'],
      [5, 'sigRequired'],
      [6, 'unauthorized'],
      [7, 'with the status 7'],
    ] as const
  ).map(([status, says]) => [`§4.2.1 ${says}`, x.ocspFailure(status), new RegExp(says)] as const),
  ['§4.2.1 successful without an answer', x.ocspFailure(0), /status 0/],
  ['§4.2.1 another type of response', byBank({}, { type: '1.2.3' }), /type 1\.2\.3/],
  ['§4.2.1 another version', byBank({}, { version: 1 }), /unknown version/],
  ['§3.2 1 another serial number', byBank({ serial: 8 }), /another certificate/],
  ['§3.2 1 another name of the issuer', byBank({ nameHash: Buffer.alloc(20) }), /another certificate/],
  ['§3.2 1 another key of the issuer', byBank({ keyHash: Buffer.alloc(20) }), /another certificate/],
  ['§4.1.1 a hash that is not known', byBank({ hash: 'sha224' }), /another certificate/],
  [
    '§4.1.1 SHA-1 under the name of SHA-256',
    byBank({ hashIdentifier: '2.16.840.1.101.3.4.2.1' }),
    /another certificate/,
  ],
  ['two answers', x.issueOcsp({ by: bank, answers: [answer(), answer({ status: 'revoked' })] }), /that differ/],
  [
    'two answers by two hashes',
    x.issueOcsp({ by: bank, answers: [answer({ hash: 'sha256', status: 'revoked' }), answer()] }),
    /that differ/,
  ],
  [
    'two answers of two times',
    x.issueOcsp({ by: bank, answers: [answer(), answer({ nextUpdate: now + 2 * hour })] }),
    /that differ/,
  ],
  ['§3.2 2 a signature that was changed', broken, /not by the key of its issuer/],
  ['§3.2 3 another key with the name of the issuer', byBank({}, { by: stranger }), /not by the key of its issuer/],
  [
    '§3.2 3 the issuer by another key hash',
    byBank({}, { responder: x.responderByKey(stranger.key) }),
    /signer is not the issuer/,
  ],
  ['§4.3 SHA-1', byBank({}, { algorithm: 'ecdsaSha1' }), /SHA-1/],
  ['§3.2 4 a responder without its purpose', byDesk(certifyDesk({ extensions: [noCheck] })), /not for signing OCSP/],
  [
    '§4.2.2.2 a responder for any purpose',
    byDesk(certifyDesk({ extensions: [x.purposes(['2.5.29.37.0'], false), noCheck] })),
    /not for signing OCSP/,
  ],
  [
    '§4.2.2.2 a responder whose key may not sign',
    byDesk(certifyDesk({ extensions: [ocspSigning, noCheck, x.usage(6)] })),
    /may not sign/,
  ],
  ['§4.2.2.2 a responder of another issuer', byDesk(certifyDesk({ by: stranger })), /not by the key of its issuer/],
  ['§4.2.2.2 a responder that made itself', byDesk(certifyDesk({ by: desk })), /its issuer has another name/],
  ['a responder that has expired', byDesk(certifyDesk({ notAfter: now - 1000 })), /expired/],
  [
    'a responder with a critical extension that is not known',
    byDesk(certifyDesk({ extensions: [ocspSigning, noCheck, critical] })),
    /critical extension/,
  ],
  [
    'a certificate of a responder that did not sign',
    byDesk(certifyDesk(), { by: { ...stranger, name: desk.name } }),
    /Desk/,
  ],
  ['§4.2.2.2.1 a responder that a CRL revokes', byDesk(unchecked), /revoked/, { lists: listsOf(9) }],
  ['§4.2.2.2.1 a responder of which nothing tells', byDesk(unchecked), /no ocsp-nocheck/],
  ['§3.2 5 of tomorrow', byBank({ thisUpdate: now + 5 * minute + 1000 }), /dated in the future/],
  ['§4.2.2.1 made tomorrow', byBank({}, { producedAt: now + 6 * minute }), /dated in the future/],
  ['§3.2 6 it has ended', byBank({ nextUpdate: now }), /has ended/],
  ['§4.2.2.1 no next update, and no nonce', byBank({ nextUpdate: undefined }), /does not state its end/],
  ['§4.4.1 no nonce', byBank(), /nonce/, { nonce }],
  ['§4.4.1 another nonce', byBank({}, { extensions: [x.nonceExtension(Buffer.alloc(32))] }), /nonce/, { nonce }],
  ['§4.4 a critical extension of the response', byBank({}, { extensions: [critical] }), /1\.2\.3\.4/],
  ['§4.4 a critical extension of an answer', byBank({ extensions: [critical] }), /1\.2\.3\.4/],
]
for (const [name, octets, says, asked] of refused)
  test(`an answer proves nothing: ${name}`, () => {
    assert.match(String(judge(octets, asked)), says)
  })

test('an answer proves nothing: a responder that clears itself', () => {
  const own = certifyDesk()
  const octets = byDesk(own, { answers: [answer({ serial: 9 })] })
  assert.match(String(judge(octets, {}, own)), /"Desk": it answers for itself/)
})

test('a response counts until its next update, and for a week at most', () => {
  const untilOf = (nextUpdate: number) => {
    const found = judge(byBank({ nextUpdate }))
    return typeof found === 'string' ? found : found.until
  }
  assert.equal(untilOf(now + hour), now + hour)
  assert.equal(untilOf(now + 365 * day), now + 7 * day)
})

test('whatever octet of a response is changed, nothing is proven that was not signed', () => {
  const whole = byDesk(certifyDesk(), { answers: [answer({ status: 'revoked' })] })
  for (let at = 0; at < whole.length; at += 3) {
    const changed = Buffer.from(whole)
    changed[at]! ^= 0x20
    const found = judge(changed)
    if (typeof found !== 'string') assert.equal(found.status, 'revoked', String(at))
  }
})

for (const hash of ['sha1', 'sha256'] as const)
  test(`§4.1 a request by ${hash}, and its answer by OpenSSL: good, revoked and unknown`, { skip: !hasOpenSsl() }, () =>
    askOpenSsl(hash),
  )

function askOpenSsl(hash: OcspHash): void {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-ocsp-'))
  after(() => rmSync(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  const write = (name: string, content: string | Uint8Array) => {
    writeFileSync(at(name), content)
    return at(name)
  }
  const times = { notBefore: Date.now() - day, notAfter: Date.now() + day }
  const issuerDer = x.issueCertificate({ ...bank, by: bank, extensions: [x.authority(), x.usage(0, 5, 6)], ...times })
  const issuer = new Certificate(issuerDer)
  const deskDer = x.issueCertificate({ ...desk, by: bank, extensions: [ocspSigning, noCheck], ...times })
  const signerKey = write('desk.key', desk.key.privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const row = (state: string, serial: string, revokedAt: string) =>
    [state, '350101000000Z', revokedAt, serial, 'unknown', '/CN=x'].join('\t')
  const index = write('index.txt', `${row('V', '07', '')}\n${row('R', '08', '260101000000Z')}\n`)
  const files = ['-CA', write('root.pem', x.writePem('CERTIFICATE', issuerDer)), '-rkey', signerKey]
  const signer = ['-rsigner', write('desk.pem', x.writePem('CERTIFICATE', deskDer)), '-index', index]
  for (const [serial, status] of [
    [7, 'good'],
    [8, 'revoked'],
    [9, 'unknown'],
  ] as const) {
    const draft = { name: 'CN=maria', key: desk.key, by: bank, serial, ...times }
    const certificate = new Certificate(x.issueCertificate(draft))
    const request = write('request.der', writeOcspRequest(identityOf(certificate, issuer, hash), nonce))
    execFileSync('openssl', ['ocsp', '-reqin', request, '-respout', at('answer.der'), ...files, ...signer], {
      stdio: 'pipe',
      timeout: 60_000,
    })
    const none = new CertificatePool([])
    const rest = { between: none, signers: none, rules: {}, lists: undefined, revocation: 'required' } as const
    const found = judgeOcspResponse(readFileSync(at('answer.der')), {
      path: [certificate, issuer],
      search: { anchors: new CertificatePool([issuer]), ...rest, now: Date.now() },
      nonce,
    })
    assert.equal(typeof found === 'string' ? found : found.status, status)
  }
}

function hasOpenSsl(): boolean {
  return spawnSync('openssl', ['version'], { timeout: 60_000 }).status === 0
}
