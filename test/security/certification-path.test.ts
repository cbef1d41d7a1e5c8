/**
 * RFC 5280 §6 beyond the public suite: each row is an authority's certificate, or what it issued,
 * with one thing that the standard refuses; and the same without it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PathQuestion, validateCertificationPath } from '../../src/security/index.ts'
import * as x from './issue.ts'

const key = x.createEcKey()
const rsaKey = x.createRsaKey()
const rootHolder: x.Holder = { name: 'O=Bank/CN=Root', key: x.createEcKey() }
const middle: x.Holder = { name: 'O=Bank/CN=Middle', key: x.createEcKey() }
const leaf: x.Holder = { name: 'O=Other/CN=maria', key }
const keyUsageOfAuthorities = x.usage(5, 6)
const issuing = [x.authority(), keyUsageOfAuthorities]
const root = x.issueCertificate({ ...rootHolder, by: rootHolder, extensions: issuing })
const rsaRoot: x.Holder = { name: 'O=Bank/CN=RSA', key: rsaKey }

interface Row {
  readonly says: string
  /** Extensions of the anchor, of the authority in between, of the certificate; default: harmless ones. */
  readonly anchor?: readonly Uint8Array[]
  readonly between?: readonly Uint8Array[]
  readonly end?: readonly Uint8Array[]
  readonly draft?: Partial<x.CertificateDraft>
  readonly betweenDraft?: Partial<x.CertificateDraft>
  readonly anchorDraft?: Partial<x.CertificateDraft>
  readonly question?: Partial<PathQuestion>
  /** Why it is refused; undefined: it is valid. */
  readonly why?: RegExp
}

function judge({ anchor, between, end, draft, betweenDraft, anchorDraft, question }: Row) {
  const top = { ...rootHolder, ...anchorDraft }
  const certificate = x.issueCertificate({ ...leaf, by: middle, extensions: end ?? [x.usage(0)], ...draft })
  return validateCertificationPath({
    certificate,
    intermediates: [x.issueCertificate({ ...middle, by: top, extensions: between ?? issuing, ...betweenDraft })],
    anchors: [x.issueCertificate({ by: top, extensions: anchor ?? issuing, ...top })],
    revocation: 'ifKnown',
    at: new Date(x.testTime),
    ...question,
  })
}

const partner = x.nameConstraints([x.directoryName('O=Partner')], [], false)
const constrain = (permitted: Uint8Array[], excluded: Uint8Array[] = []) => [
  ...issuing,
  x.nameConstraints(permitted, excluded),
]
const inPartner: Partial<x.CertificateDraft> = { name: 'O=Partner/CN=maria' }
const named = (...names: Uint8Array[]) => [x.usage(0), x.alternativeNames(...names)]
const unknownCritical = x.extension('1.2.3.4', Buffer.of(5, 0), true)
const policy = (id: string) => x.policies(`2.16.840.1.${id}`)
const explicit = x.extension('2.5.29.36', x.sequence(Buffer.of(0x80, 1, 0)), true)

const rows: readonly Row[] = [
  { says: '§6.1 a path with nothing wrong' },
  // Names
  {
    says: '§4.2.1.10 names outside of an intermediate’s constraints, which are not critical',
    between: [...issuing, partner],
    why: /outside of the permitted/,
  },
  { says: '§4.2.1.10 names within an intermediate’s constraints', between: [...issuing, partner], draft: inPartner },
  {
    says: 'RFC 5937 §3.2 names outside of the anchor’s constraints',
    anchor: [...issuing, x.nameConstraints([x.directoryName('O=Partner')])],
    betweenDraft: {},
    why: /outside of the permitted/,
  },
  {
    says: '§4.2.1.10 a directory name among the alternative names counts',
    between: [...issuing, partner],
    draft: inPartner,
    end: named(x.directoryName('O=Other')),
    why: /outside of the permitted/,
  },
  { says: '§4.2.1.10 an excluded directory', between: constrain([], [x.directoryName('O=Other')]), why: /excluded/ },
  {
    says: '§4.2.1.10 dNSName: a domain allows what is added to its left',
    between: constrain([x.dnsName('bank.example')]),
    end: named(x.dnsName('a.b.bank.example'), x.dnsName('BANK.example')),
  },
  {
    says: '§4.2.1.10 dNSName: another domain with the same end',
    between: constrain([x.dnsName('bank.example')]),
    end: named(x.dnsName('mybank.example')),
    why: /outside/,
  },
  {
    says: '§4.2.1.10 dNSName: a wildcard that covers an excluded name',
    between: constrain([], [x.dnsName('hr.bank.example')]),
    end: named(x.dnsName('*.bank.example')),
    why: /excluded/,
  },
  {
    says: '§4.2.1.10 rfc822Name: one mailbox',
    between: constrain([x.emailName('maria@bank.example')]),
    end: named(x.emailName('maria@BANK.example')),
  },
  {
    says: '§4.2.1.10 rfc822Name: another mailbox',
    between: constrain([x.emailName('maria@bank.example')]),
    end: named(x.emailName('Maria@bank.example')),
    why: /outside/,
  },
  {
    says: '§4.2.1.10 rfc822Name: a host is not its subdomains',
    between: constrain([x.emailName('bank.example')]),
    end: named(x.emailName('a@eu.bank.example')),
    why: /outside/,
  },
  {
    says: '§4.2.1.10 rfc822Name: a dot means all subdomains',
    between: constrain([x.emailName('.bank.example')]),
    end: named(x.emailName('a@eu.bank.example')),
  },
  {
    says: '§4.2.1.10 emailAddress in the subject, without alternative names',
    between: constrain([x.emailName('bank.example')]),
    draft: { name: 'O=Other/emailAddress=a@evil.example' },
    why: /outside/,
  },
  {
    says: '§4.2.1.10 URI: the host counts',
    between: constrain([x.uriName('.bank.example')]),
    end: named(x.uriName('https://eu.bank.example:8443/x')),
  },
  {
    says: '§4.2.1.10 URI: what stands before @ is not the host',
    between: constrain([x.uriName('.bank.example')]),
    end: named(x.uriName('https://a.bank.example@evil.example/')),
    why: /outside/,
  },
  {
    says: '§4.2.1.10 URI: one without a host cannot be compared',
    between: constrain([x.uriName('.bank.example')]),
    end: named(x.uriName('urn:bank')),
    why: /cannot be compared/,
  },
  {
    says: '§4.2.1.10 iPAddress: within the range',
    between: constrain([x.ipName(10, 1, 0, 0, 255, 255, 0, 0)]),
    end: named(x.ipName(10, 1, 2, 3)),
  },
  {
    says: '§4.2.1.10 iPAddress: outside of the range',
    between: constrain([x.ipName(10, 1, 0, 0, 255, 255, 0, 0)]),
    end: named(x.ipName(10, 2, 2, 3)),
    why: /outside/,
  },
  {
    says: '§4.2.1.10 a constraint on a form that is not compared',
    between: constrain([], [x.der(0x88, Buffer.of(0x2a))]),
    end: named(x.der(0x88, Buffer.of(0x2a, 3))),
    why: /cannot be compared/,
  },
  {
    says: 'RFC 9598 §6 a mailbox in an otherName, where mailboxes are constrained',
    between: constrain([x.emailName('bank.example')]),
    end: named(x.der(0xa0, x.identifier('1.3.6.1.5.5.7.8.9'), x.der(0xa0, x.ascii(0x0c, 'a@bank.example')))),
    why: /cannot be compared/,
  },
  {
    says: '§4.2.1.10 a subtree with a minimum is not read',
    between: [
      ...issuing,
      x.extension(
        '2.5.29.30',
        x.sequence(x.der(0xa0, x.sequence(x.directoryName('O=Other'), Buffer.of(0x80, 1, 1)))),
        true,
      ),
    ],
    why: /no path/,
  },
  // Use
  { says: '§4.2.1.9 an issuer without basicConstraints', between: [keyUsageOfAuthorities], why: /not an authority/ },
  {
    says: '§4.2.1.9 an anchor that allows no authority below it',
    anchor: [x.authority(0), keyUsageOfAuthorities],
    why: /more authorities follow/,
  },
  {
    says: '§4.2.1.3 an issuer that may only sign lists',
    between: [x.authority(), x.usage(6)],
    why: /may not sign certificates/,
  },
  {
    says: '§4.2.1.3 an anchor that may not sign certificates',
    anchor: [x.authority(), x.usage(0)],
    why: /may not sign certificates/,
  },
  {
    says: '§4.2 a critical extension of the anchor that is not known',
    anchor: [...issuing, unknownCritical],
    why: /critical extension.*1\.2\.3\.4/,
  },
  {
    says: '§4.2 a critical extension of the certificate that is not known',
    end: [unknownCritical],
    why: /critical extension/,
  },
  { says: '§4.2 an extension that occurs twice', end: [x.usage(0), x.usage(0)], why: /cannot be read/ },
  {
    says: '§4.2.1.4 a critical policy with a qualifier that is not known',
    end: [
      x.extension(
        '2.5.29.32',
        x.sequence(
          x.sequence(x.identifier('2.16.840.1.1'), x.sequence(x.sequence(x.identifier('1.2.3'), Buffer.of(5, 0)))),
        ),
        true,
      ),
    ],
    why: /critical extension.*2\.5\.29\.32/,
  },
  // Algorithms
  {
    says: '§4.1.1.2 two algorithms in one certificate',
    draft: { inside: 'ecdsaWithNull' },
    why: /two signature algorithms/,
  },
  { says: 'RFC 5758 §3.2 ECDSA with parameters', draft: { algorithm: 'ecdsaWithNull' }, why: /unknown parameters/ },
  { says: 'ECDSA with SHA-1', draft: { algorithm: 'ecdsaSha1' }, why: /SHA-1/ },
  ...(['rsaSha1', 'rsaMd5', 'pssSha1', 'pssDefaults'] as const).map(
    (algorithm): Row => ({
      says: `RSA: ${algorithm}`,
      draft: { by: rsaRoot, algorithm },
      betweenDraft: rsaRoot,
      why: /SHA-1|MD5/,
    }),
  ),
  {
    says: 'RFC 4055 §3.1 RSASSA-PSS whose mask uses SHA-1',
    draft: { by: rsaRoot, algorithm: 'pssSha1Mask' },
    betweenDraft: rsaRoot,
    why: /another hash in its mask/,
  },
  { says: 'RFC 4055 §3.1 RSASSA-PSS with SHA-256', draft: { by: rsaRoot, algorithm: 'pss' }, betweenDraft: rsaRoot },
  {
    says: 'RFC 4055 §3.1 RSASSA-PSS with the longest salt that the key holds',
    draft: { by: rsaRoot, algorithm: 'pssLongSalt' },
    betweenDraft: rsaRoot,
  },
  { says: 'a certificate for an RSA key of 1024 bits', draft: { key: x.createRsaKey(1024) }, why: /1024 bits/ },
  { says: 'an authority with an RSA key of 1024 bits', ...weakAuthority(), why: /signed by an RSA key of 1024 bits/ },
  { says: 'a key on the curve secp256k1', draft: { key: x.createEcKey('secp256k1') }, why: /curve secp256k1/ },
  { says: 'a signature by another key', betweenDraft: { key }, why: /signature is not by the key/ },
  // Times
  { says: '§4.1.2.5 a certificate of tomorrow', draft: { notBefore: x.testTime + 1000 }, why: /not valid yet/ },
  {
    says: '§4.1.2.5 an authority that ended a second ago',
    betweenDraft: { notAfter: x.testTime - 1000 },
    why: /Middle.*expired/,
  },
  { says: '§4.1.2.5 a certificate that ends now', draft: { notAfter: x.testTime } },
  { says: 'an anchor that has ended', anchorDraft: { notAfter: x.testTime - 1000 }, why: /Root.*expired/ },
  // Policies
  {
    says: '§6.1.1 c a policy that is demanded',
    between: [...issuing, policy('1')],
    end: [policy('1')],
    question: { policies: new Set(['2.16.840.1.1']), requireExplicitPolicy: true },
  },
  {
    says: '§6.1.1 c another policy than the one that is demanded',
    between: [...issuing, policy('1')],
    end: [policy('1')],
    question: { policies: new Set(['2.16.840.1.2']), requireExplicitPolicy: true },
    why: /accepted here/,
  },
  {
    says: '§6.1.1 e a policy is demanded, and there is none',
    question: { requireExplicitPolicy: true },
    why: /no certificate policy/,
  },
  {
    says: '§6.1.1 f any policy, where it is not allowed to stand for one',
    between: [...issuing, policy('1')],
    end: [x.policies('2.5.29.32.0')],
    question: { inhibitAnyPolicy: true, requireExplicitPolicy: true },
    why: /no certificate policy/,
  },
  {
    says: 'RFC 5937 §3.2 an anchor that demands a policy',
    anchor: [...issuing, explicit],
    why: /no certificate policy/,
  },
  // Purposes
  {
    says: '§4.2.1.12 a purpose that is asked for',
    end: [x.purposes(['1.3.6.1.5.5.7.3.2'])],
    question: { purposes: new Set(['1.3.6.1.5.5.7.3.2']) },
  },
  {
    says: '§4.2.1.12 another purpose, in an extension that is not critical',
    end: [x.purposes(['1.3.6.1.5.5.7.3.1'], false)],
    question: { purposes: new Set(['1.3.6.1.5.5.7.3.2']) },
    why: /other purposes/,
  },
  {
    says: '§4.2.1.12 an authority for other purposes',
    between: [...issuing, x.purposes(['1.3.6.1.5.5.7.3.9'])],
    question: { purposes: new Set(['1.3.6.1.5.5.7.3.2']) },
    why: /Middle.*other purposes/,
  },
]

function weakAuthority(): Pick<Row, 'draft' | 'betweenDraft'> {
  const weak: x.Holder = { name: middle.name, key: x.createRsaKey(1024) }
  return { draft: { by: weak }, betweenDraft: weak }
}

for (const row of rows)
  test(`RFC 5280 ${row.says}: ${row.why ? 'not valid' : 'valid'}`, () => {
    const answer = judge(row)
    if (row.why) {
      assert.ok(!answer.valid, 'it was accepted')
      assert.match(answer.reason, row.why)
    } else assert.deepEqual(answer, { valid: true })
  })

test('§6.1 paths are found in any order, past certificates of the same name, and not without end', () => {
  const other: x.Holder = { name: middle.name, key: x.createEcKey() }
  const crossed = [
    x.issueCertificate({ ...other, by: middle, extensions: issuing }),
    x.issueCertificate({ ...middle, by: other, extensions: issuing }),
    x.issueCertificate({ ...other, by: rootHolder, extensions: issuing }),
    x.issueCertificate({ ...middle, by: rootHolder, extensions: issuing }),
  ]
  const certificate = x.issueCertificate({ ...leaf, by: middle, extensions: [x.usage(0)] })
  const question = { certificate, anchors: [root], revocation: 'ifKnown', at: new Date(x.testTime) } as const
  assert.deepEqual(validateCertificationPath({ ...question, intermediates: crossed }), { valid: true })
  assert.equal(validateCertificationPath({ ...question, intermediates: crossed.slice(0, 2) }).valid, false)
  const began = performance.now()
  const many = Array.from({ length: 40 }, () => x.issueCertificate({ ...other, by: other, extensions: issuing }))
  assert.equal(validateCertificationPath({ ...question, intermediates: many }).valid, false)
  assert.ok(performance.now() - began < 20_000)
})

test('unreadable octets are not valid, and nothing is thrown', () => {
  const question = { anchors: [root], at: new Date(x.testTime) }
  for (const certificate of ['', 'PEM', Buffer.alloc(0), Buffer.of(0x30, 0)])
    assert.deepEqual(validateCertificationPath({ ...question, certificate }), {
      valid: false,
      reason: 'the certificate cannot be read',
    })
  const certificate = x.issueCertificate({ ...leaf, by: rootHolder, extensions: [x.usage(0)] })
  const answer = validateCertificationPath({ ...question, certificate, anchors: ['x'], crls: [Buffer.of(1)] })
  assert.match(answer.valid ? '' : answer.reason, /no path/)
})
