/** SAML 1.1 and 2.0 assertions as tokens (SAML Token Profile 1.1), X11 of attacks.md; and Kerberos tickets. */
import assert from 'node:assert/strict'
import { createHash, createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { encryptOctets } from '../../src/security/crypto/cipher.ts'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import type { Demand, SecurityPolicy } from '../../src/security/policy/policy.ts'
import type { VerificationContext } from '../../src/security/policy/verification-context.ts'
import { type Protection, protectMessage } from '../../src/security/protect/protect.ts'
import { Insecure, type SecurityFault } from '../../src/security/security-fault.ts'
import { gssKerberosUri, saml1Ns, saml2Ns, wsuId, xencNs } from '../../src/security/vocabulary.ts'
import { canonicalize } from '../../src/xml/index.ts'
import { assertionText, issuedBy, keyInfoOf, type Said } from './assertion.ts'
import { guard, now, open, outcome, pair, plainMessage, refused, resigned, taken, trusting } from './message.ts'

const issuers = new Map([
  ['urn:issuer', trusting('ca')],
  ['urn:second', new CertificateTrust({ certificates: [pair('stranger').pem] })],
])
const saml = {
  issuers,
  audiences: ['urn:service'],
  vouchers: new CertificateTrust({ certificates: [pair('alice').pem] }),
}
const means: Partial<VerificationContext> = { saml, trust: trusting('ca') }
const demand = (kind: 'bearer' | 'holder-of-key' | 'sender-vouches', more: Partial<Demand> = {}): SecurityPolicy => ({
  required: true,
  anyOf: [{ caller: 'saml', confirmations: [kind], ...more }],
})
const signed: Partial<Demand> = { timestamp: true, signed: ['Body', 'Timestamp'] }
const vouched: Partial<Demand> = { timestamp: true, signed: ['Body', 'Timestamp', 'Token'] }
const bearing = (assertion: string) => protectMessage(plainMessage(), { assertion }, now).envelope

const rows: [string, Said, 'taken' | SecurityFault, RegExp?][] = [
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
  ['one of a minute ahead', { from: now + 60_000 }, 'taken'],
  ['one without an end', { until: undefined }, 'InvalidSecurityToken', /end/],
  ['a condition that is not known', { conditions: '<saml:Condition/>' }, 'InvalidSecurityToken', /condition/],
  ['another confirmation', { method: 'other' }, 'InvalidSecurity', /saml: not there/],
  ['a confirmation by key', { method: 'holder-of-key' }, 'InvalidSecurity', /saml: not there/],
  ['a confirmation by a voucher', { method: 'sender-vouches' }, 'InvalidSecurity', /saml: not there/],
  ['somebody who is not known', { subject: 'nobody' }, 'FailedAuthentication'],
]
for (const version of ['1.1', '2.0'] as const) {
  for (const [title, said, expected, why] of rows) {
    test(`SAML ${version} bearer: ${title}: ${expected}`, async () => {
      const text = bearing(assertionText({ version, ...said }))
      const result = await outcome(open(text), demand('bearer'), guard(now, means))
      assert.equal(
        result instanceof Insecure ? result.fault : 'taken',
        expected,
        result instanceof Insecure ? result.why : '',
      )
      if (why && result instanceof Insecure) assert.match(result.why, why)
      if (!(result instanceof Insecure)) assert.equal(result.caller?.subject, 'alice')
    })
  }

  test(`X11 SAML ${version}: what was changed after it was signed is refused`, async () => {
    const text = bearing(assertionText({ version }))
    const changed = [
      text.replace('>alice<', '>clara<'),
      text.replace(/NotOnOrAfter="[^"]*"/, 'NotOnOrAfter="2040-01-01T00:00:00Z"'),
      text.replace('<saml:Conditions', '<saml:Advice/><saml:Conditions'),
    ]
    for (const each of changed)
      await refused(outcome(open(each), demand('bearer'), guard(now, means)), 'FailedCheck', /digest/)
  })

  test(`X1 SAML ${version}: an assertion around a signed one, and one that borrows a signature`, async () => {
    const genuine = assertionText({ version })
    const forged = assertionText({ version, subject: 'clara', signer: undefined, id: 'a2' })
    const signature = /<ds:Signature .*<\/ds:Signature>/s.exec(genuine)![0]
    const borrowed = forged.replace('</saml:Assertion>', `${signature}</saml:Assertion>`)
    await refused(
      outcome(open(bearing(borrowed)), demand('bearer'), guard(now, means)),
      'FailedCheck',
      /not in this document/,
    )
    const around = forged.replace(
      '</saml:Assertion>',
      `${signature}<saml:Advice>${genuine.replace(signature, '')}</saml:Advice></saml:Assertion>`,
    )
    await refused(
      outcome(open(bearing(around)), demand('bearer'), guard(now, means)),
      'FailedCheck',
      /not over its assertion/,
    )
    const beside = bearing(genuine).replace('</wsse:Security>', `${forged}</wsse:Security>`)
    await refused(outcome(open(beside), demand('bearer'), guard(now, means)), 'InvalidSecurity', /two assertions/)
    const twice = forged.replaceAll('"a2"', '"a1"').replace('</saml:Assertion>', `${signature}</saml:Assertion>`)
    await refused(outcome(open(bearing(twice)), demand('bearer'), guard(now, means)), 'FailedCheck', /digest/)
  })

  for (const [kind, name] of [
    ['certificate', 'p256'],
    ['value', 'alice'],
    ['value', 'p256'],
  ] as const) {
    test(`SAML Token Profile §3.5.1, SAML ${version} holder-of-key: the key is a ${kind} of ${name}`, async () => {
      const assertion = assertionText({ version, method: 'holder-of-key', keyInfo: keyInfoOf(name, kind) })
      const by = (who: string): Protection => ({
        timestamp: {},
        assertion,
        signature: { key: pair(who).key, by: 'assertion', parts: ['Body', 'Timestamp'] },
      })
      const policy = demand('holder-of-key', signed)
      const message = open(protectMessage(plainMessage(), by(name), now).envelope)
      const { caller, body } = await taken(outcome(message, policy, guard(now, means)))
      assert.equal(caller?.subject, 'alice')
      assert.equal(body, message.body)
      const thief = protectMessage(plainMessage(), by(name === 'alice' ? 'leaf' : 'p384'), now).envelope
      await refused(outcome(open(thief), policy, guard(now, means)), 'FailedCheck')
      await refused(outcome(open(bearing(assertion)), policy, guard(now, means)), 'InvalidSecurity', /saml: not there/)
      const unsigned = {
        ...by(name),
        assertion: assertionText({
          version,
          method: 'holder-of-key',
          keyInfo: keyInfoOf(name, kind),
          signer: undefined,
        }),
      }
      const brought = protectMessage(plainMessage(), unsigned, now).envelope
      await refused(
        outcome(open(brought), policy, guard(now, means)),
        'FailedAuthentication',
        /does not vouch for a key/,
      )
    })
  }

  test(`SAML ${version} holder-of-key: the trusted certificate of somebody else is not the subject's`, async () => {
    const assertion = assertionText({ version, method: 'holder-of-key', keyInfo: keyInfoOf('p256', 'certificate') })
    const { key, certificate } = pair('p384')
    const signature = { key, by: { certificate, refer: 'direct' }, parts: ['Body', 'Timestamp'] } as const
    const text = protectMessage(plainMessage(), { timestamp: {}, assertion, signature }, now).envelope
    await refused(
      outcome(open(text), demand('holder-of-key', signed), guard(now, means)),
      'InvalidSecurity',
      /saml: not there/,
    )
  })

  test(`SAML Token Profile §3.5.2, SAML ${version} sender-vouches: a voucher's signature over assertion and Body`, async () => {
    for (const signer of ['ca', undefined]) {
      const assertion = assertionText({ version, method: 'sender-vouches', signer })
      const by = (who: string, parts: readonly ('Body' | 'Timestamp' | 'Token')[] = ['Body', 'Timestamp', 'Token']) => {
        const { key, certificate } = pair(who)
        const signature = { key, by: { certificate, refer: 'direct' }, parts } as const
        return protectMessage(plainMessage(), { timestamp: {}, assertion, signature }, now).envelope
      }
      const policy = demand('sender-vouches', vouched)
      const { caller } = await taken(outcome(open(by('alice')), policy, guard(now, means)))
      assert.equal(caller?.subject, 'alice')
      await refused(outcome(open(by('p256')), policy, guard(now, means)), 'InvalidSecurity', /saml: not there/)
      await refused(outcome(open(by('stranger')), policy, guard(now, means)), 'FailedAuthentication', /not trusted/)
      await refused(outcome(open(by('alice', ['Body', 'Timestamp'])), policy, guard(now, means)), 'InvalidSecurity')
      await refused(
        outcome(open(by('alice', ['Token', 'Timestamp'])), policy, guard(now, means)),
        'InvalidSecurity',
        /Body/,
      )
      await refused(outcome(open(bearing(assertion)), policy, guard(now, means)), 'InvalidSecurity')
      const careless = demand('sender-vouches', signed)
      await refused(outcome(open(by('alice', ['Body', 'Timestamp'])), careless, guard(now, means)), 'InvalidSecurity')
    }
  })
}

test('SAML 2.0 §2.5.1.5: OneTimeUse is once', async () => {
  const here = guard(now, means)
  const once = bearing(assertionText({ conditions: '<saml:OneTimeUse/>' }))
  await taken(outcome(open(once), demand('bearer'), here))
  await refused(outcome(open(once), demand('bearer'), here), 'FailedAuthentication', /seen before/)
  const often = bearing(assertionText({ id: 'a9' }))
  for (let use = 0; use < 2; use++) await taken(outcome(open(often), demand('bearer'), here))
})

const data: [string, string, boolean][] = [
  ['a Recipient that this is', ' Recipient="urn:service"', true],
  ['a Recipient that this is not', ' Recipient="urn:elsewhere"', false],
  ['a confirmation that is past', ` NotOnOrAfter="${new Date(now).toISOString()}"`, false],
  ['a confirmation of the future', ` NotBefore="${new Date(now + 60_001).toISOString()}"`, false],
]
for (const [title, attributes, holds] of data) {
  test(`SAML 2.0 §2.4.1.2: ${title}`, async () => {
    const result = outcome(open(bearing(assertionText({ data: attributes }))), demand('bearer'), guard(now, means))
    await (holds ? taken(result) : refused(result, 'InvalidSecurity', /saml: not there/))
  })
}

test('SAML 1.1 §2.4: two subjects are none', async () => {
  const text = assertionText({ version: '1.1', signer: undefined })
  const statement = /<saml:AuthenticationStatement.*<\/saml:AuthenticationStatement>/s.exec(text)![0]
  const two = issuedBy(text.replace(statement, statement + statement.replace('>alice<', '>clara<')), 'ca', 'a1')
  await refused(
    outcome(open(bearing(two)), demand('bearer'), guard(now, means)),
    'InvalidSecurityToken',
    /two subjects/,
  )
  const same = issuedBy(text.replace(statement, statement + statement), 'ca', 'a1')
  await taken(outcome(open(bearing(same)), demand('bearer'), guard(now, means)))
})

test('assertions that say nothing of anybody, or of no time', async () => {
  const nobody = assertionText({ version: '1.1', signer: undefined }).replace(
    /<saml:AuthenticationStatement.*<\/saml:AuthenticationStatement>/s,
    '',
  )
  const refusal = (assertion: string) => outcome(open(bearing(assertion)), demand('bearer'), guard(now, means))
  await refused(refusal(issuedBy(nobody, 'ca', 'a1')), 'InvalidSecurityToken', /without a subject/)
  const sometime = assertionText({ signer: undefined }).replace(/NotBefore="[^"]*"/, 'NotBefore="yesterday"')
  await refused(refusal(issuedBy(sometime, 'ca', 'a1')), 'InvalidSecurityToken', /invalid form/)
})

test('holder-of-key: a key that is only named, and an assertion in another place', async () => {
  const name = '<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:KeyName>alice</ds:KeyName></ds:KeyInfo>'
  const by = (assertion: string) => {
    const signature: Protection['signature'] = { key: pair('p256').key, by: 'assertion', parts: ['Body', 'Timestamp'] }
    return protectMessage(plainMessage(), { timestamp: {}, assertion, signature }, now).envelope
  }
  const policy = demand('holder-of-key', signed)
  const named = by(assertionText({ method: 'holder-of-key', keyInfo: name }))
  await refused(outcome(open(named), policy, guard(now, means)), 'SecurityTokenUnavailable', /not in the assertion/)
  const genuine = assertionText({ method: 'holder-of-key', keyInfo: keyInfoOf('p256', 'certificate') })
  const moved = by(genuine)
    .replace(/<saml:Assertion .*<\/saml:Assertion>/s, '')
    .replace('</s:Header>', `<x:h xmlns:x="urn:x">${genuine}</x:h></s:Header>`)
  await refused(outcome(open(moved), policy, guard(now, means)), 'InvalidSecurity', /another place/)
})

test('a second assertion does not come in by decryption after the first was read', async () => {
  const secret = createSecretKey(Buffer.alloc(32, 9))
  const assertion = assertionText({ method: 'holder-of-key', keyInfo: keyInfoOf('p256', 'certificate') })
  const signature: Protection['signature'] = { key: pair('p256').key, by: 'assertion', parts: ['Body', 'Timestamp'] }
  const text = protectMessage(plainMessage(), { timestamp: {}, assertion, signature }, now).envelope
  const sealed = encryptOctets(
    { mode: 'gcm', size: 32 },
    secret.export(),
    Buffer.from(assertionText({ id: 'a2' })),
  ).toString('base64')
  const data =
    `<e:EncryptedData xmlns:e="${xencNs}" Type="${xencNs}Element"><e:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"/>` +
    '<k:KeyInfo xmlns:k="http://www.w3.org/2000/09/xmldsig#"><k:KeyName>s</k:KeyName></k:KeyInfo>' +
    `<e:CipherData><e:CipherValue>${sealed}</e:CipherValue></e:CipherData></e:EncryptedData>`
  const two = open(text.replace('</wsse:Security>', `${data}</wsse:Security>`))
  const here = guard(now, { ...means, secrets: new Map([['s', secret]]) })
  await refused(outcome(two, demand('holder-of-key', signed), here), 'InvalidSecurity', /two assertions/)
})

test('SAML 2.0 §5.4.2: the signature of an assertion is over it, and over nothing beside', async () => {
  const text = bearing(assertionText())
  const { body } = open(text)
  const octets = canonicalize(body, { exclusive: true, comments: false })
  const reference =
    `<ds:Reference URI="#${body.attribute(wsuId)}"><ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue>${createHash('sha256').update(octets).digest('base64')}</ds:DigestValue></ds:Reference>`
  await taken(outcome(open(resigned(text, pair('ca').key)), demand('bearer'), guard(now, means)))
  const both = open(resigned(text, pair('ca').key, reference))
  await refused(outcome(both, demand('bearer'), guard(now, means)), 'FailedCheck', /not over its assertion/)
})

test('another version of SAML, or none where assertions are not taken', async () => {
  const other = assertionText({ signer: undefined }).replace('Version="2.0"', 'Version="2.1"')
  await refused(outcome(open(bearing(other)), demand('bearer'), guard(now, means)), 'UnsupportedSecurityToken')
  await refused(outcome(open(bearing(assertionText())), demand('bearer'), guard(now)), 'UnsupportedSecurityToken')
  assert.notEqual(saml1Ns, saml2Ns)
})

test('Kerberos Token Profile 1.1: a ticket is for the verifier that is given', async () => {
  const ticket = Buffer.from('an AP-REQ')
  const kerberos = (token: Uint8Array) => (Buffer.from(token).equals(ticket) ? { principal: 'alice' } : undefined)
  const policy: SecurityPolicy = { required: true, anyOf: [{ caller: 'kerberos' }] }
  const text = protectMessage(plainMessage(), { ticket }, now).envelope
  assert.equal((await taken(outcome(open(text), policy, guard(now, { kerberos })))).caller?.subject, 'alice')
  const here = guard(now, { kerberos })
  await taken(outcome(open(text), policy, here))
  await refused(outcome(open(text), policy, here), 'FailedAuthentication', /seen before/)
  const other = protectMessage(plainMessage(), { ticket: Buffer.from('another') }, now).envelope
  await refused(outcome(open(other), policy, guard(now, { kerberos })), 'FailedAuthentication', /ticket/)
  await refused(outcome(open(text), policy, guard(now)), 'UnsupportedSecurityToken')
  const twice = text.replace(
    /<wsse:BinarySecurityToken.*<\/wsse:BinarySecurityToken>/s,
    one => one + one.replace(/wsu:Id="[^"]*"/, ''),
  )
  await refused(outcome(open(twice), policy, guard(now, { kerberos })), 'InvalidSecurity', /two tickets/)
  assert.ok(text.includes(gssKerberosUri))
})
