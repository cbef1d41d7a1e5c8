/**
 * Messages that name the certificate of their signer and do not carry it (`unsent`; WS-SecurityPolicy
 * 1.3 §5.1.1, IncludeToken Never), in each form of a `reference` (X.509 Token Profile 1.1 §3.2): the
 * receiver has the certificate in advance, and nothing that a message says adds another one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import app from '../../examples/orders/service.ts'
import { AnswerError, createSoapClient } from '../../src/client/index.ts'
import type { ClientKeys } from '../../src/client/message-keys.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { readOneCertificate } from '../../src/security/crypto/key-source.ts'
import { writeBinaryToken, writeCertificateReference } from '../../src/security/protect/protection-draft.ts'
import { x509v3Uri } from '../../src/security/vocabulary.ts'
import { startHosted } from '../host/hosted-service.ts'
import { bankRoot, issueBank, issuePartner, type PemPair, partnerRoot, writeKeyFiles } from '../host/partner-keys.ts'
import * as x from '../security/issue.ts'
import { endpointsByRule, TappedWire, type WireChanges } from './tapped-wire.ts'

const rules = {
  '/soap/issuer-serial': { reference: 'issuer-serial' },
  '/soap/thumbprint': { reference: 'thumbprint' },
  '/soap/key-identifier': { reference: 'key-identifier' },
} as const
type Path = keyof typeof rules
const ruleOf = (path: Path): SecurityRule => ({
  callers: ['x509'],
  encrypted: true,
  answers: 'encrypted',
  unsent: ['caller', 'service'],
  ...rules[path],
})
const paths = Object.keys(rules) as Path[]
const endpoints = endpointsByRule(Object.fromEntries(paths.map(path => [path, ruleOf(path)])))
const contract = { ...shop, endpoints }
const secured = { ...app, contract } as unknown as typeof app

const keyIdentifier = (octet: number) => x.extension('2.5.29.14', x.octetString(Buffer.alloc(20, octet)))
const bank = issueBank('O=Bank/CN=bank.example', keyIdentifier(1))
const [maria, clara] = [
  issuePartner('CN=maria', undefined, keyIdentifier(2)),
  issuePartner('CN=clara', undefined, keyIdentifier(3)),
]
const stranger = issuePartner('CN=maria', undefined, keyIdentifier(4))
const known = { authorities: partnerRoot, certificates: [maria.certificate, clara.certificate] }
const start = (messageSecurity: object, of = bank) =>
  startHosted({ messageSecurity: { keyFiles: [writeKeyFiles(of).files], ...messageSecurity }, flood: 100_000 }, secured)
const { server, lines } = await start(known)

const wire = new TappedWire()
const { texts } = wire
const keysOf = (by: PemPair, more: Partial<ClientKeys> = {}): ClientKeys => ({
  ...by,
  service: { certificates: bank.certificate },
  encryptTo: bank.certificate,
  ...more,
})
function connect(path: Path, keys: ClientKeys, changes: WireChanges = {}) {
  const address = `${server.url}${path}`
  return createSoapClient(contract, { address, version: 'v2', keys, transport: wire.transportTo(address, changes) })
}
const ask = (path: Path, by = maria, change = {}) => connect(path, keysOf(by), change).GetOrder({ id: 'o-1' })

const certificateOf = ({ certificate }: PemPair) => readOneCertificate(certificate, 'certificate')
const referenceTo = (path: Path, to: PemPair) => writeCertificateReference(certificateOf(to), rules[path].reference)
const renamed = (path: Path, from: PemPair, to: PemPair) => (text: string) => {
  const changed = text.replace(referenceTo(path, from), referenceTo(path, to))
  assert.notEqual(changed, text)
  return changed
}

async function expectRefused(work: () => Promise<unknown>, why: RegExp): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 1100)) // the log has a line a second
  await assert.rejects(work(), AnswerError)
  assert.match(String(lines.at(-1)?.fields['why']), why)
}

for (const path of paths) {
  test(`§3.2: ${path}: no message carries a certificate, and each is understood`, async () => {
    assert.equal((await ask(path)).order.id, 'o-1')
    for (const [of, text] of [
      [maria, texts.request],
      [bank, texts.response],
    ] as const) {
      assert.doesNotMatch(text, /BinarySecurityToken/)
      assert.ok(text.includes(`<ds:KeyInfo>${referenceTo(path, of)}`), 'the signature names its certificate')
    }
    const wsdl = await (await fetch(`${server.url}${path}?wsdl`)).text()
    assert.equal(wsdl.match(/IncludeToken\/Never/g)?.length, 2)
  })
  test(`§3.2: ${path}: a request that names another partner is refused`, () =>
    expectRefused(() => ask(path, maria, { request: renamed(path, maria, clara) }), /the SignatureValue is wrong/))
  test(`§3.2: ${path}: a certificate that is not known in advance is refused, though its authority is`, () =>
    expectRefused(() => ask(path, stranger), /an unknown certificate/))
  test(`§3.2: ${path}: an answer that names another certificate is refused`, async () => {
    const response = renamed(path, bank, maria)
    await assert.rejects(ask(path, maria, { response }), { name: 'AnswerError', why: 'unproven' })
  })
}

test('§5.1.1: a certificate that a message carries nevertheless is read', async () => {
  const path = '/soap/thumbprint'
  const token = writeBinaryToken('mine', x509v3Uri, certificateOf(maria).der)
  const request = (text: string) =>
    text
      .replace('<ds:Signature ', `${token}<ds:Signature `)
      .replace(
        `<ds:KeyInfo>${referenceTo(path, maria)}`,
        '<ds:KeyInfo><wsse:SecurityTokenReference><wsse:Reference URI="#mine"/></wsse:SecurityTokenReference>',
      )
  assert.equal((await ask(path, maria, { request })).order.id, 'o-1')
})

test('§5.1.1: what needs certificates in advance does not start without them', async () => {
  const authority = { service: { authorities: bankRoot, name: 'bank.example' } }
  assert.throws(
    () => connect('/soap/thumbprint', keysOf(maria, authority)),
    /answers name the certificate of the service and do not carry it: give .* keys\.service\.certificates/,
  )
  await assert.rejects(start({ authorities: partnerRoot }), /names a certificate that messages do not carry/)
})

test('RFC 5280 §4.2.1.2: a certificate without a key identifier cannot be named by one', async () => {
  const plain = issuePartner('CN=maria')
  const other = issueBank()
  assert.throws(() => connect('/soap/key-identifier', keysOf(plain)), /keys\.certificate has no key identifier/)
  const keys = keysOf(maria, { service: { certificates: other.certificate }, encryptTo: other.certificate })
  assert.throws(() => connect('/soap/key-identifier', keys), /keys\.encryptTo has no key identifier/)
  await assert.rejects(start(known, other), /answers name their certificate by a key identifier, which it lacks/)
})
