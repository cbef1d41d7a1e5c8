/**
 * The symmetric binding of a contract, whole: declared once, enforced by the service, published in
 * its WSDL, obeyed by the clients of the contract and of the WSDL, and written by the import
 * (docs/message-security.md).
 */
import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import bankApp, { payment } from '../../examples/bank/partner.ts'
import { AnswerError, createSoapClient, FaultError } from '../../src/client/index.ts'
import type { ClientKeys } from '../../src/client/message-keys.ts'
import { createPortClient } from '../../src/client/port-client.ts'
import type { KeyForm, SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { importDocument } from '../../src/import/import-command.ts'
import { readWsdl } from '../../src/import/index.ts'
import { Certificate } from '../../src/security/crypto/certificate.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import { createEcKey } from '../security/issue.ts'
import { startHosted } from './hosted-service.ts'
import { bankRoot, issueBank, issuePartner, issueUnusual, partnerRoot, writeKeyFiles } from './partner-keys.ts'

const bank = issueBank()
const acme = issuePartner('O=Acme/CN=acme')
const keys: ClientKeys = { ...acme, encryptTo: bank.certificate }
const headers = { Branch: '0042' }
const draft = { payment: { to: 'DE02', amount: '12.50' } }

const ruleOf = (symmetric: KeyForm): SecurityRule => ({
  callers: ['x509'],
  symmetric,
  encrypted: true,
  answers: 'encrypted',
  operations: { ListPayments: { callers: ['x509'], symmetric, answers: 'signed' } },
})
const contractOf = (security: SecurityRule) => ({ ...payment, endpoints: { '/soap/partner': { security } } })
const startBank = (security: SecurityRule, keyFiles = [writeKeyFiles(bank).files]) =>
  startHosted({ messageSecurity: { authorities: partnerRoot, keyFiles } }, {
    ...bankApp,
    contract: contractOf(security),
  } as unknown as typeof bankApp)

const started = { direct: await startBank(ruleOf('direct')), derived: await startBank(ruleOf('derived')) }
const addressOf = (form: KeyForm) => `${started[form].server.url}/soap/partner`

type Wire = { request?: (text: string) => string; response?: (text: string) => string }
const sent: string[] = []
const answered: string[] = []
function connect(form: KeyForm, wire: Wire = {}, more: object = {}) {
  const address = addressOf(form)
  const transport = {
    close: () => {},
    prepare: (fields: Record<string, string>) => async (sending: { content: unknown }) => {
      const body = (wire.request ?? String)(sending.content as string)
      sent.push(body)
      const response = await fetch(address, {
        method: 'POST',
        headers: { ...fields, 'accept-encoding': 'identity' },
        body,
      })
      const text = await response.text()
      answered.push(text)
      const content = Buffer.from((wire.response ?? String)(text))
      return { status: response.status, fields: Object.fromEntries(response.headers), content }
    },
  }
  return createSoapClient(contractOf(ruleOf(form)), {
    address,
    headers,
    keys,
    transport,
    ...more,
  } as never) as ReturnType<typeof createSoapClient<typeof payment>>
}
const unproven = (why: RegExp) => (thrown: unknown) => {
  assert.ok(thrown instanceof AnswerError, String(thrown))
  assert.equal(thrown.why, 'unproven')
  assert.match(thrown.message, why)
  return true
}

for (const form of ['direct', 'derived'] as const) {
  for (const soap of ['1.1', '1.2'] as const)
    for (const addressing of [false, true])
      test(`${form} keys: signed and encrypted both ways in SOAP ${soap}, ${addressing ? 'with' : 'without'} addressing`, async () => {
        const client = connect(form, {}, { soap, addressing })
        const { payment: made } = await client.CreatePayment(draft)
        assert.deepEqual([made.amount, made.branch], ['12.50', '0042'])
        const [request, answer] = [sent.at(-1) ?? '', answered.at(-1) ?? '']
        for (const text of [request, answer]) {
          assert.doesNotMatch(text, /12\.50/)
          assert.match(text, /hmac-sha256/)
          assert.equal(/DerivedKeyToken/.test(text), form === 'derived')
        }
        assert.equal(request.match(/<ds:Signature /g)?.length, 2, 'one endorses the other')
        assert.equal(answer.match(/SignatureConfirmation /g)?.length, 2, 'both are confirmed')
        assert.match(answer, /EncryptedKeySHA1/)
        assert.doesNotMatch(answer, /EncryptedKey>|BinarySecurityToken/, 'the key does not travel again')
        await client.ListPayments({})
        assert.doesNotMatch(sent.at(-1) ?? '', /EncryptedData/, 'this operation has a rule of its own')
        await assert.rejects(client.GetPayment({ id: 'p-none' }), thrown => {
          assert.ok(thrown instanceof FaultError, String(thrown))
          return thrown.fault === 'NotFound'
        })
        assert.match(answered.at(-1) ?? '', /EncryptedData/, 'a fault is an answer')
      })

  test(`X12 ${form} keys: a request is accepted once, and a response belongs to one request, or none`, async () => {
    await connect(form).ListPayments({})
    const [request, answer] = [sent.at(-1) ?? '', answered.at(-1) ?? '']
    await assert.rejects(connect(form, { request: () => request }).ListPayments({}), unproven(/FailedAuthentication/))
    await assert.rejects(connect(form, { response: () => answer }).ListPayments({}), unproven(/not in this message/))
    let own = ''
    const reflected: Wire = { request: text => (own = text), response: () => own }
    await assert.rejects(connect(form, reflected).ListPayments({}), unproven(/receiver does not have/))
  })

  test(`${form} keys: the caller is the endorser, and a stranger is not`, async () => {
    const stranger = issuePartner('O=Acme/CN=nobody')
    const other = { keys: { ...stranger, encryptTo: bank.certificate } }
    await assert.rejects(connect(form, {}, other).ListPayments({}), unproven(/fault FailedAuthentication/))
    const endorsement = /<wsse:BinarySecurityToken.*<\/ds:Signature>/s
    const bare = (text: string) => text.replace(endorsement, '')
    await assert.rejects(connect(form, { request: bare }).ListPayments({}), unproven(/InvalidSecurity/))
    assert.doesNotMatch(answered.at(-1) ?? '', /Signature/, 'nobody makes the service sign')
  })

  test(`${form} keys: the WSDL states it, for each direction, to clients and to the import`, async () => {
    const { text } = await started[form].ask('GET', '/soap/partner?wsdl')
    assert.doesNotMatch(text, /AsymmetricBinding/)
    assert.equal(/RequireDerivedKeys/.test(text), form === 'derived')
    assert.match(text, /<sp:SymmetricBinding>.*<sp:EndorsingSupportingTokens>.*RequireSignatureConfirmation/s)
    const folder = mkdtempSync(join(tmpdir(), 'symmetric-'))
    try {
      const file = join(folder, 'bank.wsdl')
      writeFileSync(file, text)
      const imported = await importDocument(file, [], [])
      assert.match(
        imported.text,
        new RegExp(`callers: \\[\\{ by: 'x509' \\}\\], symmetric: '${form}', encrypted: true, answers: 'encrypted'`),
      )
      assert.ok(!imported.losses.some(({ detail }) => /policy/.test(detail)), JSON.stringify(imported.losses))
      const client = createPortClient(await readWsdl(file), { address: addressOf(form), keys })
      const list = client['ListPayments'] ?? assert.fail('no operation')
      assert.ok(await list({}, { headers: { Branch: { value: '0042' } } } as never))
      await assert.rejects(
        async () => createPortClient(await readWsdl(file), { address: addressOf(form) }),
        /keys\.key/,
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

test('only a client that derives keys, or not, just as the service does is accepted', async () => {
  const text = async (form: KeyForm) => {
    await connect(form).ListPayments({})
    return sent.at(-1) ?? ''
  }
  const [direct, derived] = [await text('direct'), await text('derived')]
  await assert.rejects(connect('direct', { request: () => derived }).ListPayments({}), unproven(/InvalidSecurity/))
  await assert.rejects(connect('derived', { request: () => direct }).ListPayments({}), unproven(/InvalidSecurity/))
})

test('a response of an impostor, under a key of its own, proves nothing', async () => {
  const impostor = issuePartner('O=Bank/CN=bank.example')
  const [to, by] = [acme, impostor].map(pair => new Certificate(new X509Certificate(pair.certificate).raw)) as [
    Certificate,
    Certificate,
  ]
  const endorsedBy = { key: createPrivateKey(impostor.key), certificate: by }
  const signed = ['Timestamp', 'Body'] as const
  const answer = '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body/></s:Envelope>'
  const forge = (): string => {
    const confirms = [...(sent.at(-1) ?? '').matchAll(/SignatureValue>([^<]+)</g)].map(([, each = '']) => each)
    const exchange = { to, form: 'direct', signed, encrypts: false, endorsedBy } as const
    const values = confirms.map(each => Buffer.from(each, 'base64'))
    return protectMessage(answer, { timestamp: {}, confirms: values, exchange }, Date.now()).envelope
  }
  await assert.rejects(
    connect('direct', { response: forge }, { soap: '1.1' }).ListPayments({}),
    unproven(/receiver does not have/),
  )
})

test('a certificate of keys.service must be valid at each response, like that of a signer', async t => {
  const short = issueUnusual({ notAfter: Date.now() + 60_000 })
  const { server } = await startBank(ruleOf('direct'), [writeKeyFiles(short).files])
  const address = `${server.url}/soap/partner`
  const service = { authorities: bankRoot, name: 'bank.example' }
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const options = { address, headers, keys: { ...acme, service, encryptTo: short.certificate } }
  const client = createSoapClient(contractOf(ruleOf('direct')), options as never)
  await client['ListPayments']?.({} as never)
  t.mock.timers.tick(120_000)
  await assert.rejects(async () => client['ListPayments']?.({} as never), unproven(/not trusted now/))
})

test('a client needs the certificate that its keys go to, and accepts one of keys.service only', () => {
  assert.throws(() => connect('direct', {}, { keys: acme }), /keys\.encryptTo, the certificate of the service/)
  const other = issueBank('O=Bank/CN=other.example')
  const service = { authorities: bankRoot, name: 'bank.example' }
  const mixed = { keys: { ...acme, service, encryptTo: other.certificate } }
  assert.throws(() => connect('direct', {}, mixed), /keys\.encryptTo is not a certificate of keys\.service/)
  assert.doesNotThrow(() => connect('direct', {}, { keys: { ...keys, service } }))
  assert.doesNotThrow(() => connect('direct', {}, { keys: { ...acme, service: { certificates: bank.certificate } } }))
})

test('X14 no certificate signs responses: one whose keyUsage has no digitalSignature suffices, one of EC does not', async () => {
  const files = (pair: typeof bank) => [writeKeyFiles(pair).files]
  await startBank(ruleOf('direct'), files(issueUnusual({ usage: [2] })))
  await assert.rejects(startBank(ruleOf('direct'), files(issueUnusual({ key: createEcKey() }))), /configure one of RSA/)
})
