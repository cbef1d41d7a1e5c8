/**
 * The algorithms of a `suite` (WS-SecurityPolicy 1.3 §6.1): SHA-1 signs where a contract names it,
 * and nowhere else, in requests and in answers; what no suite has stays refused.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import app from '../../examples/orders/service.ts'
import { AnswerError, createSoapClient } from '../../src/client/index.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { startHosted } from '../host/hosted-service.ts'
import { bankRoot, issueBank, issuePartner, type PemPair, partnerRoot, writeKeyFiles } from '../host/partner-keys.ts'
import * as x from '../security/issue.ts'
import { endpointsByRule, TappedWire } from './tapped-wire.ts'

const sealed = { callers: ['x509'], encrypted: true, answers: 'encrypted' } as const
const keyed = { ...sealed, symmetric: 'derived' } as const
const rules = {
  '/soap/usual': sealed,
  '/soap/sha1': { ...sealed, suite: 'Basic256' },
  '/soap/small': { ...sealed, suite: 'Basic128Sha256' },
  '/soap/small-sha1': { ...sealed, suite: 'Basic128' },
  '/soap/keyed': keyed,
  '/soap/keyed-sha1': { ...keyed, suite: 'Basic192' },
} as const satisfies Record<string, SecurityRule>
type Path = keyof typeof rules
const contract = { ...shop, endpoints: endpointsByRule(rules) }

const bank = issueBank()
const maria = issuePartner('CN=maria')
const { server, lines } = await startHosted(
  { messageSecurity: { authorities: partnerRoot, keyFiles: [writeKeyFiles(bank).files] }, flood: 100_000 },
  { ...app, contract } as unknown as typeof app,
)

const wire = new TappedWire()
const { texts } = wire
const connect = (path: Path, obeys: Path = path, by: PemPair = maria) => {
  const address = `${server.url}${path}`
  const keys = { ...by, service: { authorities: bankRoot, name: 'bank.example' }, encryptTo: bank.certificate }
  return createSoapClient(contract, {
    address,
    endpoint: obeys,
    version: 'v2',
    keys,
    transport: wire.transportTo(address),
  })
}
const ask = (path: Path, obeys?: Path) => connect(path, obeys).GetOrder({ id: 'o-1' })

const expected: Readonly<Record<Path, readonly [hash: RegExp, cipher: RegExp]>> = {
  '/soap/usual': [/xmldsig-more#rsa-sha256"/, /#aes256-cbc"/],
  '/soap/sha1': [/xmldsig#rsa-sha1"/, /#aes256-cbc"/],
  '/soap/small': [/xmldsig-more#rsa-sha256"/, /#aes128-cbc"/],
  '/soap/small-sha1': [/xmldsig#rsa-sha1"/, /#aes128-cbc"/],
  '/soap/keyed': [/xmldsig-more#hmac-sha256"/, /#aes256-cbc"/],
  '/soap/keyed-sha1': [/xmldsig#hmac-sha1"/, /#aes192-cbc"/],
}
for (const [path, [signature, cipher]] of Object.entries(expected) as [Path, readonly [RegExp, RegExp]][])
  test(`§6.1: ${path}: both messages have the algorithms of the suite, and the WSDL names it`, async () => {
    assert.equal((await ask(path)).order.id, 'o-1')
    const isWeak = path.includes('sha1')
    for (const text of Object.values(texts)) {
      assert.match(text, signature)
      assert.match(text, cipher)
      for (const [, digest = ''] of text.matchAll(/<ds:Reference .*?<ds:DigestMethod Algorithm="([^"]*)"/gs))
        assert.match(digest, isWeak ? /xmldsig#sha1$/ : /#sha256$/)
    }
    const wsdl = await (await fetch(`${server.url}${path}?wsdl`)).text()
    const rule: SecurityRule = rules[path]
    assert.ok(wsdl.includes(`<sp:${rule.suite ?? 'Basic256Sha256'}/>`))
  })

/** Whose signatures the other side does not accept, with what it says. */
const refused: readonly (readonly [path: Path, obeys: Path, why: RegExp])[] = [
  ['/soap/usual', '/soap/sha1', /an unsupported (?:signature algorithm|digest)/],
  ['/soap/small', '/soap/small-sha1', /an unsupported (?:signature algorithm|digest)/],
  ['/soap/keyed', '/soap/keyed-sha1', /an unsupported (?:signature algorithm|digest)/],
]
for (const [path, obeys, why] of refused)
  test(`X7: ${path}: a request by SHA-1 is refused where the contract does not name it`, async () => {
    await new Promise(resolve => setTimeout(resolve, 1100)) // the log has a line a second
    await assert.rejects(ask(path, obeys), AnswerError)
    assert.match(texts.response, /UnsupportedAlgorithm/)
    assert.match(String(lines.at(-1)?.fields['why']), why)
  })

for (const [path, obeys] of [
  ['/soap/sha1', '/soap/usual'],
  ['/soap/small-sha1', '/soap/small'],
] as const)
  test(`X7: ${path}: an answer by SHA-1 is refused by a client whose contract does not name it`, async () => {
    await assert.rejects(ask(path, obeys), thrown => {
      assert.ok(thrown instanceof AnswerError)
      assert.equal(thrown.why, 'unproven')
      assert.match(thrown.message, /an unsupported (?:signature algorithm|digest)/)
      return true
    })
    assert.match(texts.request, /rsa-sha256/) // which the service accepts
    assert.match(texts.response, /rsa-sha1/)
  })

test('§6.1: suites of SHA-1 sign by RSA: a client with another key is not made', () => {
  const elliptic = issuePartner('CN=maria', x.createEcKey())
  assert.throws(() => connect('/soap/sha1', '/soap/sha1', elliptic), /not an RSA key, by which Basic256 signs/)
})
