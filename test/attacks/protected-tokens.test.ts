/**
 * Signatures that cover the token which made them (`protectTokens`; WS-SecurityPolicy 1.3 §6.5), and
 * an attacker between client and service who has other certificates of the same keys: a partner
 * who certifies one key under two names, or one that was issued anew.
 */
import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import app from '../../examples/orders/service.ts'
import { AnswerError, createSoapClient } from '../../src/client/index.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { readOneCertificate } from '../../src/security/crypto/key-source.ts'
import { writeBinaryToken } from '../../src/security/protect/protection-draft.ts'
import { x509v3Uri } from '../../src/security/vocabulary.ts'
import { startHosted } from '../host/hosted-service.ts'
import {
  bankRoot,
  issueBank,
  issuePartner,
  issueUnusual,
  type PemPair,
  partnerRoot,
  writeKeyFiles,
} from '../host/partner-keys.ts'
import { type Change, endpointsByRule, TappedWire, type WireChanges } from './tapped-wire.ts'

const rules = {
  '/soap/signed': { callers: ['x509'], answers: 'signed' },
  '/soap/protected': { callers: ['x509'], answers: 'signed', protectTokens: true },
  '/soap/protected-sealed': { callers: ['x509'], encrypted: true, answers: 'encrypted', protectTokens: true },
} as const satisfies Record<string, SecurityRule>
type Path = keyof typeof rules
const protectedPaths = ['/soap/protected', '/soap/protected-sealed'] as const
const contract = { ...shop, endpoints: endpointsByRule(rules) }

const bank = issueBank()
const maria = issuePartner('CN=maria')
const keyOf = ({ key }: PemPair) => {
  const privateKey = createPrivateKey(key)
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
const claraOfSameKey = issuePartner('CN=clara', keyOf(maria))
const { server, lines } = await startHosted(
  {
    messageSecurity: { authorities: partnerRoot, keyFiles: [writeKeyFiles(bank).files] },
    flood: 100_000,
  },
  { ...app, contract } as unknown as typeof app,
)

interface Wire extends WireChanges {
  /** The rule that the client obeys, where it differs from that of the service. */
  readonly obeys?: Path
}
const tapped = new TappedWire()
const { texts } = tapped

function connect(path: Path, { obeys = path, ...changes }: Wire) {
  const address = `${server.url}${path}`
  const keys = { ...maria, service: { authorities: bankRoot, name: 'bank.example' }, encryptTo: bank.certificate }
  return createSoapClient(contract, {
    address,
    endpoint: obeys,
    version: 'v2',
    keys,
    transport: tapped.transportTo(address, changes),
  })
}
const ask = (path: Path, wire: Wire = {}) => connect(path, wire).GetOrder({ id: 'o-1' })

const tokenOf = ({ certificate }: PemPair) => readOneCertificate(certificate, 'certificate').der
/** The other certificate of the same key, in the place of the one that was sent. */
const swapToken =
  (from: PemPair, to: PemPair): Change =>
  text =>
    text.replace(tokenOf(from).toString('base64'), tokenOf(to).toString('base64'))
/** Besides it, and it is the one that the signature names. */
const addToken =
  (to: PemPair): Change =>
  text =>
    text
      .replace('<ds:Signature ', `${writeBinaryToken('another', x509v3Uri, tokenOf(to))}<ds:Signature `)
      .replace(/<wsse:Reference URI="#X509-[^"]*"/, '<wsse:Reference URI="#another"')

async function expectRefusedRequest(path: Path, wire: Wire, why: RegExp): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 1100)) // the log has a line a second
  await assert.rejects(ask(path, wire), AnswerError)
  assert.match(texts.response, /InvalidSecurity|FailedCheck/)
  assert.match(String(lines.at(-1)?.fields['why']), why)
}
const expectRefusedAnswer = (path: Path, wire: Wire, why: RegExp) =>
  assert.rejects(ask(path, wire), thrown => {
    assert.ok(thrown instanceof AnswerError, String(thrown))
    assert.equal(thrown.why, 'unproven')
    assert.match(thrown.message, why)
    return true
  })

for (const path of protectedPaths) {
  test(`§6.5: ${path}: both messages sign the certificate that they carry`, async () => {
    assert.equal((await ask(path)).order.id, 'o-1')
    for (const text of Object.values(texts)) {
      const [, id = assert.fail()] = /<wsse:BinarySecurityToken [^>]*wsu:Id="([^"]*)"/.exec(text) ?? []
      assert.equal(text.split(`<ds:Reference URI="#${id}"`).length, 2)
    }
  })

  test(`§6.5: ${path}: a request whose certificate nothing signs is refused`, async () => {
    await expectRefusedRequest(path, { obeys: '/soap/signed' }, /x509: SigningToken is not signed/)
  })
  test(`§6.5: ${path}: a request with another certificate of the same key is refused`, async () => {
    await expectRefusedRequest(path, { request: swapToken(maria, claraOfSameKey) }, /a digest is wrong/)
  })
  test(`§6.5: ${path}: a request that is signed with another certificate than it covers is refused`, async () => {
    await expectRefusedRequest(path, { request: addToken(claraOfSameKey) }, /x509: SigningToken is not signed/)
  })

  test(`§6.5: ${path}: an answer with another certificate of the same key is refused`, async () => {
    const renewed = issueUnusual({ key: keyOf(bank) })
    await expectRefusedAnswer(path, { response: swapToken(bank, renewed) }, /a digest is wrong/)
    await expectRefusedAnswer(path, { response: addToken(renewed) }, /SigningToken is not signed/)
  })
}

test('§6.5: an answer whose certificate nothing signs is refused', () =>
  expectRefusedAnswer('/soap/signed', { obeys: '/soap/protected' }, /SigningToken is not signed/))

test('known, without protectTokens: two certificates of one key can be exchanged', async () => {
  assert.equal((await ask('/soap/signed', { request: swapToken(maria, claraOfSameKey) })).order.id, 'o-1')
})
