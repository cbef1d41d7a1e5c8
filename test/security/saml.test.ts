/**
 * SAML 1.1 and 2.0 assertions as tokens (SAML Token Profile 1.1), attack X11; and Kerberos tickets.
 */
import assert from 'node:assert/strict'
import { createHash, createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { encryptOctets } from '../../src/security/crypto/cipher.ts'
import { writeDer } from '../../src/security/crypto/der.ts'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import type { Demand, SecurityPolicy } from '../../src/security/policy/policy.ts'
import type { SubjectRule, VerificationContext } from '../../src/security/policy/verification-context.ts'
import { type Protection, protectMessage } from '../../src/security/protect/protect.ts'
import { Insecure, type SecurityFault } from '../../src/security/security-fault.ts'
import { gssKerberosUri, saml1Ns, saml2Ns, wsuId, xencNs } from '../../src/security/vocabulary.ts'
import { canonicalize } from '../../src/xml/index.ts'
import { type AssertionDraft, issueAssertion, writeAssertion, writeKeyInfo } from './assertion.ts'
import {
  createGuard,
  expectAccepted,
  expectRefusal,
  keyPair,
  now,
  openMessage,
  plainMessage,
  signAgain,
  trustOf,
  verifyOrRefuse,
} from './message.ts'

const issuers = new Map([
  ['urn:issuer', { trust: trustOf('ca') }],
  ['urn:second', { trust: new CertificateTrust({ certificates: [keyPair('stranger').pem] }) }],
])
const saml = {
  issuers,
  audiences: ['urn:service'],
  vouchers: new CertificateTrust({ certificates: [keyPair('alice').pem] }),
}
const means: Partial<VerificationContext> = { saml, trust: trustOf('ca') }
const demand = (kind: 'bearer' | 'holder-of-key' | 'sender-vouches', more: Partial<Demand> = {}): SecurityPolicy => ({
  required: true,
  anyOf: [{ caller: 'saml', confirmations: [kind], ...more }],
})
const signedWithTimestamp: Partial<Demand> = { timestamp: true, signed: ['Body', 'Timestamp'] }
const vouched: Partial<Demand> = { timestamp: true, signed: ['Body', 'Timestamp', 'Token'] }
const bearAssertion = (assertion: string) => protectMessage(plainMessage(), { assertion }, now).envelope

const rows: [string, AssertionDraft, 'taken' | SecurityFault, RegExp?][] = [
  ['one that holds', {}, 'taken'],
  ['no signature', { signer: undefined }, 'InvalidSecurity', /saml: not there/],
  ['the key of a stranger', { signer: 'stranger' }, 'FailedAuthentication', /not trusted/],
  ['another issuer', { issuer: 'urn:nobody' }, 'FailedAuthentication', /issuer/],
  ['the issuer of other keys', { issuer: 'urn:second' }, 'FailedAuthentication', /not trusted/],
  ['another issuer, not signed', { issuer: 'urn:nobody', signer: undefined }, 'FailedAuthentication', /issuer/],
  ['another audience', { audience: 'urn:elsewhere' }, 'FailedAuthentication', /another audience/],
  ['no audience', { audience: undefined }, 'FailedAuthentication', /without an audience/],
  ['one that is past', { until: now }, 'MessageExpired'],
  ['one that ends next', { until: now + 1 }, 'taken'],
  ['one of the future', { from: now + 60_001 }, 'MessageExpired'],
  ['one that is issued in the future', { at: now + 60_001, from: now }, 'MessageExpired'],
  ["one that the issuer's clock, a minute ahead, has issued", { at: now + 60_000 }, 'taken'],
  ['one of a minute ahead', { from: now + 60_000 }, 'taken'],
  ['one without an end', { until: undefined }, 'InvalidSecurityToken', /end/],
  ['a condition that is not known', { conditions: '<saml:Condition/>' }, 'InvalidSecurityToken', /condition/],
  ['another confirmation', { method: 'other' }, 'InvalidSecurity', /saml: not there/],
  ['a confirmation by key', { method: 'holder-of-key' }, 'InvalidSecurity', /saml: not there/],
  ['a confirmation by a voucher', { method: 'sender-vouches' }, 'InvalidSecurity', /saml: not there/],
  ['an unknown subject', { subject: 'nobody' }, 'FailedAuthentication'],
]
for (const version of ['1.1', '2.0'] as const) {
  for (const [title, said, expected, why] of rows) {
    test(`SAML ${version} bearer: ${title}: ${expected}`, async () => {
      const text = bearAssertion(writeAssertion({ version, ...said }))
      const result = await verifyOrRefuse(openMessage(text), demand('bearer'), createGuard(now, means))
      assert.equal(
        result instanceof Insecure ? result.fault : 'taken',
        expected,
        result instanceof Insecure ? result.why : '',
      )
      if (why && result instanceof Insecure) assert.match(result.why, why)
      if (!(result instanceof Insecure)) assert.equal(result.caller?.subject, 'alice')
    })
  }

  test(`X11 SAML ${version}: an assertion that was changed after signing is refused`, async () => {
    const text = bearAssertion(writeAssertion({ version }))
    const changed = [
      text.replace('>alice<', '>clara<'),
      text.replace(/NotOnOrAfter="[^"]*"/, 'NotOnOrAfter="2040-01-01T00:00:00Z"'),
      text.replace('<saml:Conditions', '<saml:Advice/><saml:Conditions'),
    ]
    for (const each of changed)
      await expectRefusal(
        verifyOrRefuse(openMessage(each), demand('bearer'), createGuard(now, means)),
        'FailedCheck',
        /digest/,
      )
  })

  test(`X1 SAML ${version}: an assertion around a signed one, and one that borrows a signature`, async () => {
    const genuine = writeAssertion({ version })
    const forged = writeAssertion({ version, subject: 'clara', signer: undefined, id: 'a2' })
    const signature = /<ds:Signature .*<\/ds:Signature>/s.exec(genuine)![0]
    const borrowed = forged.replace('</saml:Assertion>', `${signature}</saml:Assertion>`)
    await expectRefusal(
      verifyOrRefuse(openMessage(bearAssertion(borrowed)), demand('bearer'), createGuard(now, means)),
      'FailedCheck',
      /not in this document/,
    )
    const around = forged.replace(
      '</saml:Assertion>',
      `${signature}<saml:Advice>${genuine.replace(signature, '')}</saml:Advice></saml:Assertion>`,
    )
    await expectRefusal(
      verifyOrRefuse(openMessage(bearAssertion(around)), demand('bearer'), createGuard(now, means)),
      'FailedCheck',
      /not over its assertion/,
    )
    const beside = bearAssertion(genuine).replace('</wsse:Security>', `${forged}</wsse:Security>`)
    await expectRefusal(
      verifyOrRefuse(openMessage(beside), demand('bearer'), createGuard(now, means)),
      'InvalidSecurity',
      /two assertions/,
    )
    const twice = forged.replaceAll('"a2"', '"a1"').replace('</saml:Assertion>', `${signature}</saml:Assertion>`)
    await expectRefusal(
      verifyOrRefuse(openMessage(bearAssertion(twice)), demand('bearer'), createGuard(now, means)),
      'FailedCheck',
      /digest/,
    )
  })

  for (const [kind, name] of [
    ['certificate', 'p256'],
    ['value', 'alice'],
    ['value', 'p256'],
  ] as const) {
    test(`SAML Token Profile §3.5.1, SAML ${version} holder-of-key: the key is a ${kind} of ${name}`, async () => {
      const assertion = writeAssertion({ version, method: 'holder-of-key', keyInfo: writeKeyInfo(name, kind) })
      const by = (who: string): Protection => ({
        timestamp: {},
        assertion,
        signature: { key: keyPair(who).key, by: 'assertion', parts: ['Body', 'Timestamp'] },
      })
      const policy = demand('holder-of-key', signedWithTimestamp)
      const message = openMessage(protectMessage(plainMessage(), by(name), now).envelope)
      const { caller, body } = await expectAccepted(verifyOrRefuse(message, policy, createGuard(now, means)))
      assert.equal(caller?.subject, 'alice')
      assert.equal(body, message.body)
      const thief = protectMessage(plainMessage(), by(name === 'alice' ? 'leaf' : 'p384'), now).envelope
      await expectRefusal(verifyOrRefuse(openMessage(thief), policy, createGuard(now, means)), 'FailedCheck')
      await expectRefusal(
        verifyOrRefuse(openMessage(bearAssertion(assertion)), policy, createGuard(now, means)),
        'InvalidSecurity',
        /saml: not there/,
      )
      const unsigned = {
        ...by(name),
        assertion: writeAssertion({
          version,
          method: 'holder-of-key',
          keyInfo: writeKeyInfo(name, kind),
          signer: undefined,
        }),
      }
      const brought = protectMessage(plainMessage(), unsigned, now).envelope
      await expectRefusal(
        verifyOrRefuse(openMessage(brought), policy, createGuard(now, means)),
        'FailedAuthentication',
        /does not vouch for a key/,
      )
    })
  }

  for (const [title, other, expected] of [
    ['both forms of the key', 'p256', 'taken'],
    ['a key beside the certificate of another', 'alice', 'SecurityTokenUnavailable'],
  ] as const) {
    test(`XML Signature §4.5, SAML ${version} holder-of-key: ${title}: ${expected}`, async () => {
      const value = writeKeyInfo(other, 'value').replace(/<\/?ds:KeyInfo[^>]*>/g, '')
      const keyInfo = writeKeyInfo('p256', 'certificate').replace('</ds:KeyInfo>', `${value}</ds:KeyInfo>`)
      const assertion = writeAssertion({ version, method: 'holder-of-key', keyInfo })
      const signature = { key: keyPair('p256').key, by: 'assertion', parts: ['Body', 'Timestamp'] } as const
      const text = protectMessage(plainMessage(), { timestamp: {}, assertion, signature }, now).envelope
      const policy = demand('holder-of-key', signedWithTimestamp)
      const result = verifyOrRefuse(openMessage(text), policy, createGuard(now, means))
      await (expected === 'taken' ? expectAccepted(result) : expectRefusal(result, expected, /two keys/))
    })
  }

  test(`SAML ${version} holder-of-key: the trusted certificate of another party is not the subject's`, async () => {
    const assertion = writeAssertion({ version, method: 'holder-of-key', keyInfo: writeKeyInfo('p256', 'certificate') })
    const { key, certificate } = keyPair('p384')
    const signature = { key, by: { certificate, refer: 'direct' }, parts: ['Body', 'Timestamp'] } as const
    const text = protectMessage(plainMessage(), { timestamp: {}, assertion, signature }, now).envelope
    await expectRefusal(
      verifyOrRefuse(openMessage(text), demand('holder-of-key', signedWithTimestamp), createGuard(now, means)),
      'InvalidSecurity',
      /saml: not there/,
    )
  })

  test(`SAML Token Profile §3.5.2, SAML ${version} sender-vouches: a voucher's signature over assertion and Body`, async () => {
    for (const signer of ['ca', undefined]) {
      const assertion = writeAssertion({ version, method: 'sender-vouches', signer })
      const by = (who: string, parts: readonly ('Body' | 'Timestamp' | 'Token')[] = ['Body', 'Timestamp', 'Token']) => {
        const { key, certificate } = keyPair(who)
        const signature = { key, by: { certificate, refer: 'direct' }, parts } as const
        return protectMessage(plainMessage(), { timestamp: {}, assertion, signature }, now).envelope
      }
      const policy = demand('sender-vouches', vouched)
      const { caller } = await expectAccepted(verifyOrRefuse(openMessage(by('alice')), policy, createGuard(now, means)))
      assert.equal(caller?.subject, 'alice')
      await expectRefusal(
        verifyOrRefuse(openMessage(by('p256')), policy, createGuard(now, means)),
        'InvalidSecurity',
        /saml: not there/,
      )
      await expectRefusal(
        verifyOrRefuse(openMessage(by('stranger')), policy, createGuard(now, means)),
        'FailedAuthentication',
        /not trusted/,
      )
      await expectRefusal(
        verifyOrRefuse(openMessage(by('alice', ['Body', 'Timestamp'])), policy, createGuard(now, means)),
        'InvalidSecurity',
      )
      await expectRefusal(
        verifyOrRefuse(openMessage(by('alice', ['Token', 'Timestamp'])), policy, createGuard(now, means)),
        'InvalidSecurity',
        /Body/,
      )
      await expectRefusal(
        verifyOrRefuse(openMessage(bearAssertion(assertion)), policy, createGuard(now, means)),
        'InvalidSecurity',
      )
      const careless = demand('sender-vouches', signedWithTimestamp)
      await expectRefusal(
        verifyOrRefuse(openMessage(by('alice', ['Body', 'Timestamp'])), careless, createGuard(now, means)),
        'InvalidSecurity',
      )
    }
  })
}

test('SAML 2.0 §2.5.1.5: OneTimeUse is once', async () => {
  const here = createGuard(now, means)
  const once = bearAssertion(writeAssertion({ conditions: '<saml:OneTimeUse/>' }))
  await expectAccepted(verifyOrRefuse(openMessage(once), demand('bearer'), here))
  await expectRefusal(verifyOrRefuse(openMessage(once), demand('bearer'), here), 'FailedAuthentication', /seen before/)
})

for (const version of ['1.1', '2.0'] as const) {
  test(`X12 SAML ${version}: a bearer assertion that no signature binds is accepted once, until it ends`, async () => {
    const here = createGuard(now, means)
    const until = now + 120_000
    const assertion = writeAssertion({ version, until })
    await expectAccepted(verifyOrRefuse(openMessage(bearAssertion(assertion)), demand('bearer'), here))
    assert.equal(here.memory.get('wss:saml:urn:issuer\na1'), until)
    await expectRefusal(
      verifyOrRefuse(openMessage(bearAssertion(assertion)), demand('bearer'), here),
      'FailedAuthentication',
      /seen before/,
    )
    const another = bearAssertion(writeAssertion({ version, id: 'a2' }))
    await expectAccepted(verifyOrRefuse(openMessage(another), demand('bearer'), here))
    const elsewhere = bearAssertion(writeAssertion({ version, issuer: 'urn:second', signer: 'stranger' }))
    await expectAccepted(verifyOrRefuse(openMessage(elsewhere), demand('bearer'), here))
  })

  test(`X12 SAML ${version}: one that a signature binds to Body and Timestamp may come with other messages too`, async () => {
    const here = createGuard(now, means)
    const assertion = writeAssertion({ version })
    const { key, certificate } = keyPair('alice')
    const send = (parts: readonly ('Body' | 'Timestamp' | 'Token')[], at: number) => {
      const signature = { key, by: { certificate, refer: 'direct' }, parts } as const
      const { envelope } = protectMessage(plainMessage(), { timestamp: {}, assertion, signature }, at)
      return verifyOrRefuse(openMessage(envelope), demand('bearer', { timestamp: true }), here)
    }
    for (const at of [now - 2000, now - 1000]) await expectAccepted(send(['Body', 'Timestamp', 'Token'], at))
    await expectAccepted(send(['Body', 'Timestamp'], now - 500))
    await expectRefusal(send(['Body', 'Timestamp'], now), 'FailedAuthentication', /seen before/)
  })

  test(`X12 SAML ${version}: a signature that anybody can make, by an exchange key, binds nothing`, async () => {
    const here = createGuard(now, { ...means, decrypts: [keyPair('bob')] })
    const assertion = writeAssertion({ version })
    const signed = ['Body', 'Timestamp', 'Token'] as const
    const to = keyPair('bob').certificate
    const send = (change: (text: string) => string, at: number) => {
      const exchange = { to, form: 'direct', signed, encrypts: false, endorsedBy: keyPair('alice') } as const
      const { envelope } = protectMessage(plainMessage(), { timestamp: {}, assertion, exchange }, at)
      return verifyOrRefuse(openMessage(change(envelope)), demand('bearer', { timestamp: true }), here)
    }
    const whole = (text: string) => text
    for (const at of [now - 4000, now - 3000]) assert.ok((await expectAccepted(send(whole, at))).covers)
    const endorsement =
      /<ds:Signature xmlns:ds="[^"]*" Id="[^"]*">(?:(?!<\/ds:Signature>).)*<\/ds:Signature>(?=<\/wsse:Security>)/s
    const bare = (text: string) => {
      const changed = text.replace(endorsement, '')
      assert.notEqual(changed, text)
      return changed
    }
    const first = await expectAccepted(send(bare, now - 2000))
    assert.ok(!first.covers(first.body), 'nobody is known to have signed it')
    await expectRefusal(send(bare, now - 1000), 'FailedAuthentication', /seen before/)
  })

  test(`SAML ${version}: an issuer speaks only for the people that its rule names`, async () => {
    const rules: readonly (readonly [SubjectRule, string | undefined])[] = [
      ['same', 'alice'],
      [{ alice: 'Bert' }, 'Bert'],
      [{ clara: 'clara' }, undefined],
      [{}, undefined],
      [() => undefined, undefined],
      [({ issuer, name, format }) => (format === 'urn:f' && issuer === 'urn:issuer' ? name : undefined), 'alice'],
      [({ qualifier }) => (qualifier === 'urn:q' ? 'clara' : undefined), 'clara'],
    ]
    for (const [people, expected] of rules) {
      const own = { ...saml, issuers: new Map([['urn:issuer', { trust: trustOf('ca'), people }]]) }
      const text = bearAssertion(writeAssertion({ version, naming: ' Format="urn:f" NameQualifier="urn:q"' }))
      const result = verifyOrRefuse(openMessage(text), demand('bearer'), createGuard(now, { ...means, saml: own }))
      if (expected === undefined) await expectRefusal(result, 'FailedAuthentication', /may not identify/)
      else assert.equal((await expectAccepted(result)).caller?.subject, expected)
    }
  })
}

test('SAML: a subject with the name of a member of every object has no rule', async () => {
  const own = { ...saml, issuers: new Map([['urn:issuer', { trust: trustOf('ca'), people: { a: 'alice' } }]]) }
  const text = bearAssertion(writeAssertion({ subject: 'constructor' }))
  const result = verifyOrRefuse(openMessage(text), demand('bearer'), createGuard(now, { ...means, saml: own }))
  await expectRefusal(result, 'FailedAuthentication', /may not identify/)
})

for (const [title, session, fault] of [
  ['goes on', ` SessionNotOnOrAfter="${new Date(now + 1).toISOString()}"`, undefined],
  ['ends now', ` SessionNotOnOrAfter="${new Date(now).toISOString()}"`, 'MessageExpired'],
  ['ended an hour ago', ` SessionNotOnOrAfter="${new Date(now - 3_600_000).toISOString()}"`, 'MessageExpired'],
  ['ends at no time', ' SessionNotOnOrAfter="soon"', 'InvalidSecurityToken'],
] as const)
  test(`SAML 2.0 §2.7.2: a session that ${title}`, async () => {
    const text = bearAssertion(writeAssertion({ session }))
    const result = verifyOrRefuse(openMessage(text), demand('bearer'), createGuard(now, means))
    await (fault ? expectRefusal(result, fault) : expectAccepted(result))
  })

const data: [string, string, boolean][] = [
  ['a Recipient that this is', ' Recipient="urn:service"', true],
  ['a Recipient that this is not', ' Recipient="urn:elsewhere"', false],
  ['a confirmation that is past', ` NotOnOrAfter="${new Date(now).toISOString()}"`, false],
  ['a confirmation of the future', ` NotBefore="${new Date(now + 60_001).toISOString()}"`, false],
]
for (const [title, attributes, holds] of data) {
  test(`SAML 2.0 §2.4.1.2: ${title}`, async () => {
    const result = verifyOrRefuse(
      openMessage(bearAssertion(writeAssertion({ data: attributes }))),
      demand('bearer'),
      createGuard(now, means),
    )
    await (holds ? expectAccepted(result) : expectRefusal(result, 'InvalidSecurity', /saml: not there/))
  })
}

test('SAML 1.1 §2.4: two subjects are refused', async () => {
  const text = writeAssertion({ version: '1.1', signer: undefined })
  const statement = /<saml:AuthenticationStatement.*<\/saml:AuthenticationStatement>/s.exec(text)![0]
  const two = issueAssertion(text.replace(statement, statement + statement.replace('>alice<', '>clara<')), 'ca', 'a1')
  await expectRefusal(
    verifyOrRefuse(openMessage(bearAssertion(two)), demand('bearer'), createGuard(now, means)),
    'InvalidSecurityToken',
    /two subjects/,
  )
  const same = issueAssertion(text.replace(statement, statement + statement), 'ca', 'a1')
  await expectAccepted(verifyOrRefuse(openMessage(bearAssertion(same)), demand('bearer'), createGuard(now, means)))
})

test('assertions without a subject, or without a valid time', async () => {
  const nobody = writeAssertion({ version: '1.1', signer: undefined }).replace(
    /<saml:AuthenticationStatement.*<\/saml:AuthenticationStatement>/s,
    '',
  )
  const refusal = (assertion: string) =>
    verifyOrRefuse(openMessage(bearAssertion(assertion)), demand('bearer'), createGuard(now, means))
  await expectRefusal(refusal(issueAssertion(nobody, 'ca', 'a1')), 'InvalidSecurityToken', /without a subject/)
  const sometime = writeAssertion({ signer: undefined }).replace(/NotBefore="[^"]*"/, 'NotBefore="yesterday"')
  await expectRefusal(refusal(issueAssertion(sometime, 'ca', 'a1')), 'InvalidSecurityToken', /invalid form/)
  const never = writeAssertion({ signer: undefined }).replace(/ IssueInstant="[^"]*"/, '')
  await expectRefusal(refusal(issueAssertion(never, 'ca', 'a1')), 'InvalidSecurityToken', /without IssueInstant/)
})

test('holder-of-key: a key that is only named, and an assertion in another place', async () => {
  const name = '<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:KeyName>alice</ds:KeyName></ds:KeyInfo>'
  const by = (assertion: string) => {
    const signature: Protection['signature'] = {
      key: keyPair('p256').key,
      by: 'assertion',
      parts: ['Body', 'Timestamp'],
    }
    return protectMessage(plainMessage(), { timestamp: {}, assertion, signature }, now).envelope
  }
  const policy = demand('holder-of-key', signedWithTimestamp)
  const named = by(writeAssertion({ method: 'holder-of-key', keyInfo: name }))
  await expectRefusal(
    verifyOrRefuse(openMessage(named), policy, createGuard(now, means)),
    'SecurityTokenUnavailable',
    /not in the assertion/,
  )
  const genuine = writeAssertion({ method: 'holder-of-key', keyInfo: writeKeyInfo('p256', 'certificate') })
  const moved = by(genuine)
    .replace(/<saml:Assertion .*<\/saml:Assertion>/s, '')
    .replace('</s:Header>', `<x:h xmlns:x="urn:x">${genuine}</x:h></s:Header>`)
  await expectRefusal(
    verifyOrRefuse(openMessage(moved), policy, createGuard(now, means)),
    'InvalidSecurity',
    /outside of the Security block/,
  )
})

test('a second assertion cannot come in by decryption after the first was read', async () => {
  const secret = createSecretKey(Buffer.alloc(32, 9))
  const assertion = writeAssertion({ method: 'holder-of-key', keyInfo: writeKeyInfo('p256', 'certificate') })
  const signature: Protection['signature'] = { key: keyPair('p256').key, by: 'assertion', parts: ['Body', 'Timestamp'] }
  const text = protectMessage(plainMessage(), { timestamp: {}, assertion, signature }, now).envelope
  const sealed = encryptOctets(
    { mode: 'gcm', size: 32 },
    secret.export(),
    Buffer.from(writeAssertion({ id: 'a2' })),
  ).toString('base64')
  const data =
    `<e:EncryptedData xmlns:e="${xencNs}" Type="${xencNs}Element"><e:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"/>` +
    '<k:KeyInfo xmlns:k="http://www.w3.org/2000/09/xmldsig#"><k:KeyName>s</k:KeyName></k:KeyInfo>' +
    `<e:CipherData><e:CipherValue>${sealed}</e:CipherValue></e:CipherData></e:EncryptedData>`
  const two = openMessage(text.replace('</wsse:Security>', `${data}</wsse:Security>`))
  const here = createGuard(now, { ...means, secrets: new Map([['s', secret]]) })
  await expectRefusal(
    verifyOrRefuse(two, demand('holder-of-key', signedWithTimestamp), here),
    'InvalidSecurity',
    /two assertions/,
  )
})

test('SAML 2.0 §5.4.2: the signature of an assertion covers it, and nothing else', async () => {
  const text = bearAssertion(writeAssertion())
  const { body } = openMessage(text)
  const octets = canonicalize(body, { exclusive: true, comments: false })
  const reference =
    `<ds:Reference URI="#${body.attribute(wsuId)}"><ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue>${createHash('sha256').update(octets).digest('base64')}</ds:DigestValue></ds:Reference>`
  await expectAccepted(
    verifyOrRefuse(openMessage(signAgain(text, keyPair('ca').key)), demand('bearer'), createGuard(now, means)),
  )
  const both = openMessage(signAgain(text, keyPair('ca').key, reference))
  await expectRefusal(
    verifyOrRefuse(both, demand('bearer'), createGuard(now, means)),
    'FailedCheck',
    /not over its assertion/,
  )
})

test('another version of SAML, or any where assertions are not supported', async () => {
  const other = writeAssertion({ signer: undefined }).replace('Version="2.0"', 'Version="2.1"')
  await expectRefusal(
    verifyOrRefuse(openMessage(bearAssertion(other)), demand('bearer'), createGuard(now, means)),
    'UnsupportedSecurityToken',
  )
  await expectRefusal(
    verifyOrRefuse(openMessage(bearAssertion(writeAssertion())), demand('bearer'), createGuard(now)),
    'UnsupportedSecurityToken',
  )
  assert.notEqual(saml1Ns, saml2Ns)
})

/** RFC 4120 §5.5.1: an AP-REQ, whose authenticator has this cipher text; what is around it may be anything. */
function writeTicket(cipher: string, { options = 0, version = 1, isFramed = true, more = '' } = {}): Buffer {
  const tagged = (number: number, ...content: readonly Buffer[]) => writeDer(0xa0 | number, ...content)
  const integer = (value: number) => writeDer(0x02, Buffer.of(value))
  const encrypted = (text: string) =>
    writeDer(0x30, tagged(0, integer(18)), tagged(1, integer(version)), tagged(2, writeDer(0x04, Buffer.from(text))))
  const request = writeDer(
    0x6e,
    writeDer(
      0x30,
      ...[tagged(0, integer(5)), tagged(1, integer(14)), tagged(2, writeDer(0x03, Buffer.of(0, 0, 0, 0, options)))],
      ...[tagged(3, writeDer(0x61, encrypted('a ticket'))), tagged(4, encrypted(cipher)), Buffer.from(more)],
    ),
  )
  return isFramed ? writeDer(0x60, Buffer.from('06092a864886f7120102020100', 'hex'), request) : request
}

test('X12 RFC 4120 §5.5.1: a ticket is recognized by its authenticator, whatever is around that', async () => {
  const kerberos = () => ({ principal: 'alice' })
  const policy: SecurityPolicy = { required: true, anyOf: [{ caller: 'kerberos' }] }
  const here = createGuard(now, { kerberos })
  const verify = (ticket: Buffer) =>
    verifyOrRefuse(openMessage(protectMessage(plainMessage(), { ticket }, now).envelope), policy, here)
  await expectAccepted(verify(writeTicket('a proof')))
  for (const form of [{}, { options: 1 }, { options: 0x80 }, { version: 2 }, { isFramed: false }])
    await expectRefusal(verify(writeTicket('a proof', form)), 'FailedAuthentication', /seen before/)
  await expectAccepted(verify(writeTicket('another proof', { isFramed: false })))
  const framed = writeTicket('a third')
  for (const token of [
    Buffer.from('an AP-REQ'),
    Buffer.concat([framed, Buffer.of(0)]),
    writeTicket('a third', { more: '\u0005\u0000' }),
    Buffer.from(framed).fill(2, framed.indexOf('0100', 0, 'hex'), framed.indexOf('0100', 0, 'hex') + 1),
    framed.subarray(0, -1),
  ])
    await expectRefusal(verify(token), 'InvalidSecurityToken', /other than AP-REQ/)
})

test('Kerberos Token Profile 1.1: a ticket is for the verifier that is given', async () => {
  const ticket = writeTicket('a proof')
  const kerberos = (token: Uint8Array) => (Buffer.from(token).equals(ticket) ? { principal: 'alice' } : undefined)
  const policy: SecurityPolicy = { required: true, anyOf: [{ caller: 'kerberos' }] }
  const text = protectMessage(plainMessage(), { ticket }, now).envelope
  assert.equal(
    (await expectAccepted(verifyOrRefuse(openMessage(text), policy, createGuard(now, { kerberos })))).caller?.subject,
    'alice',
  )
  const here = createGuard(now, { kerberos })
  await expectAccepted(verifyOrRefuse(openMessage(text), policy, here))
  await expectRefusal(verifyOrRefuse(openMessage(text), policy, here), 'FailedAuthentication', /seen before/)
  const other = protectMessage(plainMessage(), { ticket: writeTicket('another') }, now).envelope
  await expectRefusal(
    verifyOrRefuse(openMessage(other), policy, createGuard(now, { kerberos })),
    'FailedAuthentication',
    /ticket/,
  )
  await expectRefusal(verifyOrRefuse(openMessage(text), policy, createGuard(now)), 'UnsupportedSecurityToken')
  const twice = text.replace(
    /<wsse:BinarySecurityToken.*<\/wsse:BinarySecurityToken>/s,
    one => one + one.replace(/wsu:Id="[^"]*"/, ''),
  )
  await expectRefusal(
    verifyOrRefuse(openMessage(twice), policy, createGuard(now, { kerberos })),
    'InvalidSecurity',
    /two tickets/,
  )
  assert.ok(text.includes(gssKerberosUri))
})
