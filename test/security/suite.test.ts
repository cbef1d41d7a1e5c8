/**
 * Messages that other stacks made (WSS4J, Spring-WS, WS-Attacker, Merlin Hughes' signatures), and
 * their outcomes here.
 */
import assert from 'node:assert/strict'
import { createPrivateKey, createSecretKey } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Allowance } from '../../src/security/crypto/algorithm.ts'
import { Certificate } from '../../src/security/crypto/certificate.ts'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import { Insecure } from '../../src/security/security-fault.ts'
import { Identifiers } from '../../src/security/tree/identifiers.ts'
import { readKeyReference } from '../../src/security/verify/key-info.ts'
import { verifySignature } from '../../src/security/verify/signature.ts'
import { SignatureName } from '../../src/security/vocabulary.ts'
import { CanonicalBudget } from '../../src/xml/canonical-budget.ts'
import { type Element, Malformed, parseXml, writeElement } from '../../src/xml/index.ts'
import { suites } from '../suites.ts'
import { createGuard, expectAccepted, openMessage, readText, securePolicy, verifyOrRefuse } from './message.ts'

const security = suites('ws-security')
if (security) {
  const key = (name: string) => readText(join(security, 'keys-test-only', name))
  const trust = new CertificateTrust({ authorities: [key('ca.cert.pem')], certificates: [key('alice.cert.pem')] })
  const decrypts = [{ key: createPrivateKey(key('bob.key.pem')), certificate: new Certificate(key('bob.cert.pem')) }]
  const made = '2026-11-21T00:20:00Z'
  const cases = (folder: string) =>
    JSON.parse(readText(join(security, folder, 'cases.json'))) as readonly { file: string; expect: string }[]

  for (const { file, expect } of cases('wss4j-generated')) {
    test(`WSS4J: ${file} (${expect})`, async () => {
      const result = verifyOrRefuse(
        openMessage(readText(join(security, 'wss4j-generated', file))),
        securePolicy,
        createGuard(made, { trust, decrypts }),
      )
      if (expect === 'accept') await expectAccepted(result)
      else assert.ok((await result) instanceof Insecure)
    })
  }

  test('WSS4J: sign-bst-legacy-sha1-11.xml is accepted if the policy allows SHA-1 and the key is trusted', async () => {
    const message = openMessage(readText(join(security, 'wss4j-generated/sign-bst-legacy-sha1-11.xml')))
    await expectAccepted(verifyOrRefuse(message, { ...securePolicy, allow: ['sha1'] }, createGuard(made, { trust })))
  })

  test('WSS4J: enc-aes256gcm-oaep-11.xml is decrypted, and read in its place', async () => {
    const message = openMessage(readText(join(security, 'wss4j-generated/enc-aes256gcm-oaep-11.xml')))
    const policy: SecurityPolicy = { ...securePolicy, required: false }
    const { body } = await expectAccepted(verifyOrRefuse(message, policy, createGuard(made, { trust, decrypts })))
    assert.match(writeElement(body), /<o:note>café &amp; &lt;tea&gt;<\/o:note>/)
  })

  for (const { file } of cases('xsw-generated')) {
    test(`X1 WS-Attacker: ${file} passes core validation, and is refused`, async () => {
      const result = await verifyOrRefuse(
        openMessage(readText(join(security, 'xsw-generated', file))),
        securePolicy,
        createGuard(made, { trust }),
      )
      assert.ok(result instanceof Insecure)
    })
  }

  /**
   * Spring-WS's own messages have the outcomes that follow from the standard, at the time each was
   * made.
   */
  const spring: [string, string, string][] = [
    ['emptyHeader-soap.xml', made, 'InvalidSecurity'],
    ['noHeader-soap.xml', made, 'InvalidSecurity'],
    ['noSecurityHeader-soap.xml', made, 'InvalidSecurity'],
    ['wss4j2/customHeader-soap.xml', made, 'InvalidSecurity'],
    ['wss4j2/echo-request.xml', made, 'InvalidSecurity'],
    ['wss4j2/echo-response.xml', made, 'InvalidSecurity'],
    ['wss4j2/empty-soap.xml', made, 'InvalidSecurity'],
    ['wss4j2/empty-soap12.xml', made, 'InvalidSecurity'],
    ['wss4j2/emptySecurityHeader-soap.xml', made, 'InvalidSecurity'],
    ['wss4j2/encrypted-soap.xml', made, 'UnsupportedAlgorithm'], // a key wrapped with PKCS#1 v1.5
    ['wss4j2/expiredTimestamp-soap.xml', made, 'MessageExpired'],
    ['wss4j2/signed-soap.xml', made, 'UnsupportedAlgorithm'], // RSA with SHA-1
    ['wss4j2/usernameTokenDigest-soap.xml', '2006-06-01T23:48:42Z', 'taken'],
    ['wss4j2/usernameTokenDigest-soap.xml', '2006-06-02T00:48:42Z', 'MessageExpired'],
    ['wss4j2/usernameTokenPlainText-soap.xml', made, 'taken'],
    ['wss4j2/usernameTokenPlainText-soap12.xml', made, 'taken'],
    ['wss4j2/usernameTokenPlainTextAndTimestamp-soap.xml', '2006-06-01T22:14:20Z', 'taken'],
    ['wss4j2/usernameTokenPlainTextAndTimestamp-soap.xml', made, 'MessageExpired'],
    ['wss4j2/usernameTokenPlainTextQualifiedType-soap.xml', made, 'taken'],
    ['wss4j2/usernameTokenPlainTextWithHeaders-soap.xml', made, 'taken'],
  ]
  for (const [file, at, expected] of spring) {
    test(`Spring-WS: ${file} at ${at}: ${expected}`, async () => {
      const result = await verifyOrRefuse(
        openMessage(readText(join(security, 'spring-ws', file))),
        securePolicy,
        createGuard(at, { trust }),
      )
      assert.equal(result instanceof Insecure ? result.fault : 'taken', expected)
    })
  }
  test('every case of the list has its row', () => {
    const listed = (JSON.parse(readText(join(security, 'cases.json'))) as { file: string }[]).map(({ file }) => file)
    assert.deepEqual(
      listed.filter(file => !spring.some(([row]) => file === `spring-ws/${row}`)),
      [],
    )
  })
}

const xmldsig = suites('xmldsig')
if (xmldsig) {
  /** Unsupported, and why: WS-Security needs none of this, and each is a way to deceive. */
  const dsa: [string, RegExp] = ['DSA with SHA-1', /signature algorithm/]
  const many: [string, RegExp] = ['28 references', /too many references/]
  const doctype: [string, RegExp] = ['a document type', /document type/i]
  const exceptions: Readonly<Record<string, [string, RegExp]>> = {
    'signature-x509-is.xml': dsa,
    'signature-x509-crt-crl.xml': dsa,
    'signature-x509-crt.xml': dsa,
    'signature-x509-sn.xml': dsa,
    'signature-x509-ski.xml': dsa,
    'signature-enveloped-dsa.xml': dsa,
    'signature-external-dsa.xml': dsa,
    'signature-external-b64-dsa.xml': dsa,
    'signature-keyname.xml': dsa,
    'signature-enveloping-dsa.xml': dsa,
    'signature-enveloping-b64-dsa.xml': dsa,
    'signature-retrievalmethod-rawx509crt.xml': dsa,
    'signature.xml': doctype,
    'signature-enveloping-hmac-sha1-40.xml': ['HMACOutputLength', /parameters/],
    'signature-enveloping-hmac-sha1.xml': ['a secret of six octets', /does not fit the algorithm/],
    'signature-enveloping-rsa.xml': ['an RSA key of 1024 bits', /does not fit the algorithm/],
    'exc-signature.xml': dsa,
  }
  const files = JSON.parse(readText(join(xmldsig, 'cases.json'))) as readonly { file: string }[]
  for (const { file } of files) {
    const name = file.slice(file.indexOf('/') + 1)
    const [reason, pattern] = (file.startsWith('merlin-c14n-three') ? many : exceptions[name]) ?? ['nothing', /^$/]
    test(`XML Signature: ${file} is refused (${reason})`, () => {
      const document = parseXml(Buffer.from(readText(join(xmldsig, file))))
      if (document instanceof Malformed) return assert.match(document.reason, pattern)
      const signature = find(document.root)
      const identifiers = new Identifiers(document.root)
      const budget = new CanonicalBudget(document.bytes.length)
      const allow = new Set<Allowance>(['sha1'])
      const signer = (keyInfo: Element | undefined) => {
        const reference = keyInfo && readKeyReference(keyInfo, identifiers)
        if (reference?.kind === 'value') return { key: reference.key } // the arithmetic alone is tested
        return { key: createSecretKey(Buffer.from('secret')) }
      }
      const refusal = (thrown: unknown) => thrown instanceof Insecure && pattern.test(thrown.why)
      assert.throws(() => verifySignature(signature, { identifiers, budget, allow, signer }), refusal)
    })
  }
  test('every certificate of the suite is read', () => {
    const folder = join(xmldsig, 'merlin-xmldsig-twenty-three/certs')
    for (const file of readdirSync(folder).filter(each => each.endsWith('.crt'))) {
      const certificate = new Certificate(readFileSync(join(folder, file)))
      assert.ok(certificate.serial > 0n)
    }
  })
}

function find(element: Element): Element {
  if (element.name === SignatureName) return element
  for (const child of element.elements()) {
    const found = find(child)
    if (found.name === SignatureName) return found
  }
  return element
}
