/** RFC 5280 §6.3: revocation by local lists, and what is decided if there is no fresh one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCrlList } from '../../src/security/crypto/key-source.ts'
import { RevocationLists } from '../../src/security/crypto/revocation.ts'
import { type Anchors, CertificateTrust } from '../../src/security/crypto/trust.ts'
import * as x from './issue.ts'

const day = 86_400_000
const now = x.testTime
const bank: x.Holder = { name: 'O=Bank/CN=Root', key: x.createEcKey() }
const signing: x.Holder = { name: bank.name, key: x.createEcKey() }
const stranger: x.Holder = { name: bank.name, key: x.createEcKey() }
const root = x.issueCertificate({ ...bank, by: bank, extensions: [x.authority(), x.usage(5, 6)] })
const maria = x.issueCertificate({
  name: 'CN=maria',
  key: x.createEcKey(),
  by: bank,
  serial: 7,
  extensions: [x.usage(0)],
})
const list = (draft: Partial<x.CrlDraft> = {}) => x.issueCrl({ by: bank, ...draft })
const lists7 = { revoked: [3, 7] }
const critical = (id: string, value: Uint8Array) => x.extension(id, value, true)
const number = (value: number) => x.extension('2.5.29.20', x.integer(value))
const delta = (base: number) => critical('2.5.29.27', x.integer(base))
const scope = (...parts: Uint8Array[]) => critical('2.5.29.28', x.sequence(...parts))
const flag = (tag: number) => x.der(tag, Buffer.of(0xff))
const keyed = (key: number) => x.extension('2.5.29.35', x.sequence(x.der(0x80, Buffer.of(key))))
const stale = { thisUpdate: now - 9 * day, nextUpdate: now - day }

/** A source of lists only for the certificates of signers. */
const place = x.der(0xa0, x.der(0xa0, x.directoryName('CN=Signers')))
const atPlace = x.extension('2.5.29.31', x.sequence(x.sequence(place)))

/** Signs lists in place of the authority, under its name. */
const signerOf = (extensions: readonly Uint8Array[]) =>
  x.issueCertificate({ ...signing, by: bank, extensions: [...extensions] })

type Verdict = 'good' | 'revoked' | 'unknown'
const rows: [string, readonly Buffer[], Verdict, (readonly Buffer[])?][] = [
  ['§6.3.3 a fresh list that does not have it', [list()], 'good'],
  ['§6.3.3 j a fresh list that has it', [list(lists7)], 'revoked'],
  ['§6.3 no list', [], 'unknown'],
  ['§5.1.2.5 a list that has ended', [list(stale)], 'unknown'],
  ['§5.1.2.4 a list of tomorrow', [list({ thisUpdate: now + 1000 })], 'unknown'],
  ['a list that has ended still revokes', [list({ ...lists7, ...stale })], 'revoked'],
  ['the newer list counts', [list({ ...lists7, thisUpdate: now - 2 * day }), list()], 'good'],
  [
    'the newer of two that have ended counts',
    [list({ ...lists7, thisUpdate: now - 10 * day, nextUpdate: now - 2 * day }), list(stale)],
    'unknown',
  ],
  ['§6.3.3 g a list by another key', [list({ by: stranger })], 'unknown'],
  ['§6.3.3 g a list by another key that has it', [list({ ...lists7, by: stranger })], 'unknown'],
  ['a list that is signed with SHA-1', [list({ algorithm: 'ecdsaSha1' })], 'unknown'],
  ['§6.3.3 f a list by a key that its authority gave for lists', [list({ by: signing })], 'unknown'],
  [
    '§6.3.3 f the same, with a list for the certificate of that key',
    [list({ by: signing }), list({ extensions: [scope(place)] })],
    'good',
    [signerOf([x.usage(6), atPlace])],
  ],
  [
    '§6.3.3 f an older list by the key that signed the certificate has it, a newer one by another key has not',
    [
      list({ by: signing, extensions: [keyed(2)] }),
      list({ ...lists7, thisUpdate: now - 2 * day, extensions: [keyed(1)] }),
      list({ extensions: [scope(place)] }),
    ],
    'revoked',
    [signerOf([x.usage(6), atPlace])],
  ],
  ['§6.3.3 f a key that may not sign lists', [list({ by: signing })], 'unknown', [signerOf([x.usage(0)])]],
  ['§6.3.3 b 2 a list of authorities alone', [list({ extensions: [scope(flag(0x82))] })], 'unknown'],
  ['§6.3.3 b 2 a list of users alone', [list({ extensions: [scope(flag(0x81))] })], 'good'],
  [
    '§6.3.3 b 2 a list for a place that the certificate does not name',
    [list({ extensions: [scope(x.der(0xa0, x.der(0xa0, x.uriName('http://bank.example/crl'))))] })],
    'unknown',
  ],
  ['§6.3.3 l a list of some reasons', [list({ extensions: [scope(x.der(0x83, Buffer.of(1, 0x7e)))] })], 'unknown'],
  [
    '§6.3.3 i a delta that has it',
    [list({ extensions: [number(5)] }), list({ ...lists7, extensions: [number(6), delta(5)] })],
    'revoked',
  ],
  ['§6.3.3 k a delta that takes it off', [list({ ...lists7, extensions: [number(5)] }), withRemoval()], 'good'],
  [
    '§5.2.4 a delta of a later list',
    [list({ extensions: [number(4)] }), list({ ...lists7, extensions: [number(6), delta(5)] })],
    'good',
  ],
  [
    '§5.2.4 a list that has ended, with a fresh delta',
    [list({ ...stale, extensions: [number(5)] }), list({ extensions: [number(6), delta(5)] })],
    'good',
  ],
  [
    '§6.3.3 f a list that clears the certificate of its own signer',
    [list({ by: signing })],
    'unknown',
    [signerOf([x.usage(6)])],
  ],
  [
    '§6.3.3 f a key that may not sign lists, whose certificate is not revoked',
    [list({ by: signing }), list({ extensions: [scope(place)] })],
    'unknown',
    [signerOf([x.usage(0), atPlace])],
  ],
  [
    '§5.2.4 a delta of another scope',
    [list({ extensions: [number(5)] }), list({ ...lists7, extensions: [number(6), delta(5), scope(flag(0x81))] })],
    'good',
  ],
  ['§5.2.4 a delta alone', [list({ ...lists7, extensions: [number(6), delta(5)] })], 'unknown'],
]

/** removeFromCRL for the one entry. */
function withRemoval(): Buffer {
  const reason = x.sequence(x.extension('2.5.29.21', x.der(0x0a, Buffer.of(8))))
  return list({ revoked: [7], entryExtensions: reason, extensions: [number(6), delta(5)] })
}

const trustWith = (crls: readonly Buffer[], more: Partial<Anchors> = {}) =>
  new CertificateTrust({ authorities: root, crls, ...more })

for (const [says, crls, verdict, intermediates = []] of rows)
  test(`RFC 5280 ${says}: ${verdict}`, () => {
    const isTrusted = (revocation: 'required' | 'ifKnown') => {
      const current = () => new RevocationLists(readCrlList(crls, 'crls'))
      return (
        new CertificateTrust({ authorities: root, intermediates, revocation }, 'trust', { lists: current }).findTrusted(
          maria,
          now,
        ) !== undefined
      )
    }
    assert.equal(isTrusted('required'), verdict === 'good')
    assert.equal(isTrusted('ifKnown'), verdict !== 'revoked')
  })

test('RFC 5280 §6.3.3 f: two signers of lists that clear each other clear nothing', () => {
  const other: x.Holder = { name: bank.name, key: x.createEcKey() }
  const placeOf = (name: string) => x.der(0xa0, x.der(0xa0, x.directoryName(name)))
  const certify = (holder: x.Holder, name: string) =>
    x.issueCertificate({
      ...holder,
      by: bank,
      extensions: [x.usage(6), x.extension('2.5.29.31', x.sequence(x.sequence(placeOf(name))))],
    })
  const intermediates = [certify(signing, 'CN=first'), certify(other, 'CN=second')]
  const crls = [
    list({ by: signing }),
    list({ by: other, extensions: [scope(placeOf('CN=first'))] }),
    list({ by: signing, extensions: [scope(placeOf('CN=second'))] }),
  ]
  assert.equal(trustWith(crls, { intermediates }).findTrusted(maria, now), undefined)
  const byBank = list({ extensions: [scope(placeOf('CN=second'))] })
  assert.ok(trustWith([...crls, byBank], { intermediates }).findTrusted(maria, now))
})

test('RFC 5280 §6.3.3 b 2: a list of users says nothing of authorities', () => {
  const extensions = [x.authority(), x.usage(0, 5)]
  const authority = x.issueCertificate({ name: 'CN=sub', key: x.createEcKey(), by: bank, extensions })
  const isTrusted = (tag: number) =>
    trustWith([list({ extensions: [scope(flag(tag))] })]).findTrusted(authority, now) !== undefined
  assert.deepEqual([isTrusted(0x81), isTrusted(0x82)], [false, true])
})

test('a list with an unknown critical extension, or a damaged list, is refused at start, with its place', () => {
  const strange = list({ extensions: [critical('1.2.3', Buffer.of(5, 0))] })
  assert.throws(
    () => trustWith([list(), strange]),
    /^TypeError: trust\.crls\[1\] is not a CRL that can be used: .*1\.2\.3/,
  )
  const entry = list({ revoked: [9], entryExtensions: x.sequence(critical('1.2.4', Buffer.of(5, 0))) })
  assert.throws(() => trustWith([entry]), /trust\.crls\[0\] is not a CRL that can be used: .*1\.2\.4/)
  assert.throws(() => trustWith([list().subarray(1)]), /trust\.crls\[0\] contains no -----BEGIN X509 CRL-----/)
  assert.throws(
    () => new CertificateTrust({ authorities: root, crls: 'bank.crl' }),
    /trust\.crls contains no .*content of a file/,
  )
})

test('with lists, a fresh one is required unless the settings say ifKnown; without, required does not start', () => {
  assert.equal(trustWith([list(stale)]).findTrusted(maria, now), undefined)
  assert.ok(trustWith([list(stale)], { revocation: 'ifKnown' }).findTrusted(maria, now))
  assert.ok(trustWith([]).findTrusted(maria, now))
  assert.throws(() => trustWith([], { revocation: 'required' }), /trust\.revocation is required without a CRL/)
})

test('a decision is made anew when a list ends, begins, or replaces another', () => {
  const trust = trustWith([list()])
  assert.ok(trust.findTrusted(maria, now))
  assert.ok(trust.findTrusted(maria, now + day - 1))
  assert.equal(trust.findTrusted(maria, now + day), undefined)
  assert.ok(trust.findTrusted(maria, now), 'the clock went back')
  const later = trustWith([list({ thisUpdate: now + 1000, ...lists7 }), list()])
  assert.ok(later.findTrusted(maria, now))
  assert.equal(later.findTrusted(maria, now + 1000), undefined)
  let current = new RevocationLists(readCrlList(list(), 'crls'))
  const changing = new CertificateTrust({ authorities: root }, 'trust', { lists: () => current })
  assert.ok(changing.findTrusted(maria, now))
  current = new RevocationLists(readCrlList(list(lists7), 'crls'))
  assert.equal(changing.findTrusted(maria, now), undefined)
})

test('a pinned certificate needs no list, and is refused once a list of a configured authority has it', () => {
  const pinned = { certificates: x.writePem('CERTIFICATE', maria) }
  assert.ok(trustWith([list(stale)], pinned).findTrusted(maria, now))
  assert.equal(trustWith([list(lists7)], pinned).findTrusted(maria, now), undefined)
  assert.ok(trustWith([list({ ...lists7, by: stranger })], pinned).findTrusted(maria, now))
})

test('PEM with several lists; a large list is read, and searched, at once', () => {
  const pem = [list(stale), list(lists7)].map(each => x.writePem('X509 CRL', each)).join('some text\n')
  assert.equal(trustWith([], { crls: pem }).findTrusted(maria, now), undefined)
  const large = list({ revoked: Array.from({ length: 3000 }, (_, at) => 100 + at) })
  assert.ok(trustWith([large]).findTrusted(maria, now))
})
