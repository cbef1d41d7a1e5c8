/**
 * `security` of a contract, whole: one declaration is enforced by the service, published in its
 * WSDL, and obeyed by the client. What an attacker between the two changes, adds, takes away, moves
 * or sends again is refused on either side (attacks X1, X11, X12; F1, F6).
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import app, { payment } from '../../examples/bank/partner.ts'
import { AnswerError, createSoapClient, FaultError } from '../../src/client/index.ts'
import type { SoapClientOptions } from '../../src/client/options.ts'
import type { ClientTransport, TransportResponse } from '../../src/client/transport.ts'
import type { ServeOptions } from '../../src/host/serve.ts'
import type { MessageSecurity } from '../../src/host/trust/message-security.ts'
import { Malformed, parseXml } from '../../src/xml/index.ts'
import * as x from '../security/issue.ts'
import { startHosted } from './hosted-service.ts'
import {
  bankRoot,
  issueBank,
  issuePartner,
  issueUnusual,
  type PemPair,
  partnerRoot,
  writeKeyFiles,
} from './partner-keys.ts'

const bank = issueBank()
const acme = issuePartner('O=Acme/CN=acme')
const bankFiles = writeKeyFiles(bank)
const draft = { payment: { to: 'DE02', amount: '12.50' } }
const headers = { Branch: '0042' }

const startBank = (security: MessageSecurity = {}, options: ServeOptions = {}) =>
  startHosted(
    { messageSecurity: { authorities: partnerRoot, keyFiles: [bankFiles.files], ...security }, ...options },
    app,
  )
const { server, ask } = await startBank()
const address = `${server.url}/soap/partner`

/** What crossed the wire, and what an attacker made of it. */
interface Wire {
  request: (text: string) => string
  response: (text: string, response: TransportResponse) => string
}
const sent: string[] = []
const answered: string[] = []

function tappedTransport(target: string, wire: Partial<Wire>): ClientTransport {
  return {
    close: () => {},
    prepare: fields => async sending => {
      assert.equal(typeof sending.content, 'string')
      const text = wire.request?.(sending.content as string) ?? (sending.content as string)
      sent.push(text)
      const headers = { ...fields, 'accept-encoding': 'identity' }
      const response = await fetch(target, { method: 'POST', headers, body: text })
      const raw: TransportResponse = {
        status: response.status,
        fields: Object.fromEntries(response.headers),
        content: Buffer.from(await response.arrayBuffer()),
      }
      const answer = Buffer.from(raw.content).toString()
      answered.push(answer)
      return { ...raw, content: Buffer.from(wire.response?.(answer, raw) ?? answer) }
    },
  }
}

type ClientChoice = Partial<SoapClientOptions> & { readonly by?: PemPair }
const connect = (wire: Partial<Wire> = {}, { by = acme, ...more }: ClientChoice = {}) =>
  createSoapClient(payment, {
    address,
    headers,
    keys: { ...by, service: { authorities: bankRoot, name: 'bank.example' }, encryptTo: bank.certificate },
    transport: tappedTransport(address, wire),
    ...more,
  } as SoapClientOptions<'v1'>)

/** The first step of each pair: signed messages in clear, whose parts an attacker can name. */
const listed = (wire: Partial<Wire> = {}, more?: ClientChoice) => connect(wire, more).ListPayments({})

for (const soap of ['1.1', '1.2'] as const) {
  for (const addressing of [false, true]) {
    test(`signed and encrypted both ways in SOAP ${soap}, ${addressing ? 'with' : 'without'} addressing`, async () => {
      const client = connect({}, { soap, addressing })
      const { payment: made } = await client.CreatePayment(draft)
      assert.deepEqual([made.amount, made.branch], ['12.50', '0042'])
      const [request, answer] = [sent.at(-1) ?? '', answered.at(-1) ?? '']
      for (const text of [request, answer]) {
        assert.doesNotMatch(text, /12\.50/)
        assert.match(text, /EncryptedData/)
      }
      assert.match(answer, /SignatureConfirmation/)
      assert.match(answer, /Receipt/)
      assert.equal((await client.GetPayment({ id: made.id })).payment.id, made.id)
      await client.ListPayments({})
      assert.doesNotMatch(sent.at(-1) ?? '', /EncryptedData/, 'this operation has a rule of its own')
      assert.match(answered.at(-1) ?? '', /12\.50.*|SignatureConfirmation/s)
    })
  }
}

test('faults after the proof are signed and encrypted like responses, and are typed', async () => {
  const client = connect()
  await assert.rejects(client.GetPayment({ id: 'p-none' }), thrown => {
    assert.ok(thrown instanceof FaultError, String(thrown))
    assert.equal(thrown.fault, 'NotFound')
    return true
  })
  assert.match(answered.at(-1) ?? '', /SignatureConfirmation.*EncryptedData/s)
})

const unproven = (why: RegExp) => (thrown: unknown) => {
  assert.ok(thrown instanceof AnswerError, String(thrown))
  assert.equal(thrown.why, 'unproven')
  assert.match(thrown.message, why)
  return true
}

test('a fault before the proof is not signed: the client reports it, and does not take it for a response', async () => {
  const stranger = issuePartner('O=Acme/CN=nobody')
  await assert.rejects(listed({}, { by: stranger }), unproven(/fault FailedAuthentication/))
  assert.doesNotMatch(answered.at(-1) ?? '', /Signature/, 'nobody makes the service sign')
})

const between = (text: string, local: string) =>
  new RegExp(`<(\\w+:)?${local}[ >].*?</(\\w+:)?${local}>`, 's').exec(text)?.[0] ?? assert.fail(`${local} is not there`)
const security = (text: string) => between(text, 'Security')
const wsa = 'http://www.w3.org/2005/08/addressing'

/** An attacker who has a whole signed message, and no key. */
const attacks: readonly (readonly [string, (text: string) => string])[] = [
  ['tampers with the Body', text => text.replace(/(<\w+:Body[^>]*>)(<[^>]+>)/, '$1$2 ')],
  ['strips the Security block', text => text.replace(security(text), '')],
  ['strips the Signature', text => text.replace(between(text, 'Signature'), '')],
  ['strips the Timestamp', text => text.replace(between(text, 'Timestamp'), '')],
  [
    'wraps the Body: the signed one moves into a block, another takes its place',
    text => {
      const body = between(text, 'Body')
      const forged = body.replace(/ \w+:Id="[^"]*"/, '')
      return text.replace(body, forged).replace('</s:Header>', `<x:w xmlns:x="urn:x">${body}</x:w></s:Header>`)
    },
  ],
  [
    'gives a second Body the identifier of the signed one',
    text => {
      const body = between(text, 'Body')
      return text.replace('</s:Header>', `<x:w xmlns:x="urn:x">${body}</x:w></s:Header>`)
    },
  ],
  [
    'adds an address for the reply',
    text =>
      text.replace(
        '</s:Header>',
        `<a:ReplyTo xmlns:a="${wsa}"><a:Address>http://evil.example/</a:Address></a:ReplyTo><a:Action xmlns:a="${wsa}">urn:x</a:Action></s:Header>`,
      ),
  ],
]
for (const [name, attack] of attacks) {
  const wrap = (text: string) => {
    const prefix = /<(\w+):Envelope/.exec(text)?.[1] ?? ''
    const changed = attack(text.replaceAll(`</${prefix}:Header>`, '</s:Header>')).replaceAll(
      '</s:Header>',
      `</${prefix}:Header>`,
    )
    assert.notEqual(changed, text)
    return changed
  }
  test(`the service refuses a request when an attacker ${name}`, async () => {
    await assert.rejects(listed({ request: wrap }, { addressing: false }), unproven(/InvalidSecurity|FailedCheck/))
    await listed()
  })
  if (name.includes('address')) continue // the client of these tests processes none
  test(`the client refuses a response when an attacker ${name}`, async () => {
    await assert.rejects(listed({ response: wrap }), unproven(/./))
  })
}

test('F6 addressing and declared blocks are what the signer sent: none is added, changed or removed from the signature', async () => {
  const other = (text: string) => text.replace('>0042<', '>0666<')
  await assert.rejects(listed({ request: other }), unproven(/FailedCheck/))
  const unsigned = (text: string) => {
    const block = between(text, 'Branch')
    return text
      .replace(block, block.replace('0042', '0666').replace(/ \w+:Id="[^"]*"/, ''))
      .replace('</s:Header>', '</s:Header>')
  }
  await assert.rejects(listed({ request: unsigned }), unproven(/FailedCheck/))
  const second = (text: string) =>
    text.replace(
      between(text, 'Branch'),
      whole => `${whole}${whole.replace(/ \w+:Id="[^"]*"/, '').replace('0042', '0666')}`,
    )
  await assert.rejects(listed({ request: second }), unproven(/InvalidSecurity/))
  const replies = 'http://127.0.0.1:9/replies'
  const relaying = await startBank({}, { replies: [replies] })
  const target = `${relaying.server.url}/soap/partner`
  const to = `<a:ReplyTo xmlns:a="${wsa}"><a:Address>${replies}</a:Address></a:ReplyTo>`
  const redirected = (text: string) => text.replace(between(text, 'To'), whole => `${whole}${to}`)
  const transport = tappedTransport(target, { request: redirected })
  const addressing = { to: target }
  await assert.rejects(listed({}, { transport, addressing }), unproven(/InvalidSecurity/))
  await listed({}, { transport: tappedTransport(target, {}), addressing })
  assert.ok(relaying.lines.some(({ fields }) => /ReplyTo is not signed/.test(String(fields['why']))))
})

test('X12 a request is accepted once, and an answer answers one request', async () => {
  const { CreatePayment } = connect()
  await CreatePayment(draft)
  const [request, answer] = [sent.at(-1) ?? '', answered.at(-1) ?? '']
  await assert.rejects(connect({ request: () => request }).CreatePayment(draft), unproven(/FailedAuthentication/))
  await assert.rejects(connect({ response: () => answer }).CreatePayment(draft), unproven(/another request/))
})

test('the client accepts only responses of the named service: a partner of the same authority is not it', async () => {
  const other = issueBank('O=Bank/CN=other.example')
  const { server: impostor } = await startBank({ keyFiles: [writeKeyFiles(other).files] })
  const target = `${impostor.url}/soap/partner`
  await assert.rejects(listed({}, { transport: tappedTransport(target, {}) }), unproven(/unknown caller/))
  const pinned = { ...acme, service: { certificates: other.certificate } }
  await listed({}, { transport: tappedTransport(target, {}), keys: pinned })
})

test('a key that is encrypted on disk is opened with its passphrase, and with no other', async () => {
  const cipher = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'tide' } as const
  const { files } = writeKeyFiles({ ...bank, key: String(createPrivateKey(bank.key).export(cipher)) })
  const { server } = await startBank({ keyFiles: [{ ...files, passphrase: 'tide' }] })
  await listed({}, { transport: tappedTransport(`${server.url}/soap/partner`, {}) })
  await assert.rejects(startBank({ keyFiles: [{ ...files, passphrase: 'ebb' }] }), /give the right passphrase/)
  await assert.rejects(startBank({ keyFiles: [files] }), /is encrypted: give \{ key, passphrase \}/)
})

test('keys are rolled over without a stop: half of a pair changes nothing, and the former key still decrypts', async () => {
  const rolling = writeKeyFiles(bank)
  let skew = 0
  const started = await startBank({ keyFiles: [rolling.files] }, { clock: () => Date.now() + skew })
  const target = `${started.server.url}/soap/partner`
  const call = () => connect({}, { transport: tappedTransport(target, {}) }).CreatePayment(draft)
  const token = () => between(answered.at(-1) ?? '', 'BinarySecurityToken')
  await call()
  const before = token().replace(/.*>(.*)<.*/s, '$1')
  const next = issueBank()
  rolling.change({ key: next.key })
  skew += 2000
  await call()
  assert.equal(token().replace(/.*>(.*)<.*/s, '$1'), before)
  assert.ok(
    started.lines.some(({ fields }) => /is not the certificate of/.test(JSON.stringify(fields))),
    JSON.stringify(started.lines),
  )
  rolling.change({ certificate: next.certificate })
  skew += 2000
  await call() // encrypted to the former certificate
  assert.notEqual(token().replace(/.*>(.*)<.*/s, '$1'), before)
})

test('XML Encryption 1.1 §5.6.4 a caller with an elliptic-curve key gets responses that only it can read', async () => {
  const curve = issuePartner('O=Acme/CN=acme', x.createEcKey())
  await connect({}, { by: curve }).CreatePayment(draft)
  const answer = answered.at(-1) ?? ''
  assert.match(answer, /<xenc:AgreementMethod Algorithm="[^"]*#ECDH-ES">/)
  assert.doesNotMatch(answer, /CreatePaymentResponse/)
})

test('X14 a declaration that nobody can enforce does not start', async () => {
  await assert.rejects(startHosted({}, app), /no signer is trusted.*\n.*no key to decrypt|configure keyFiles/s)
  const noKey = { messageSecurity: { authorities: partnerRoot } }
  await assert.rejects(startHosted(noKey, app), /signs answers, and has no key/)
})

const hour = 3_600_000
const useless: readonly (readonly [string, PemPair, RegExp])[] = [
  ['too short', issueUnusual({ key: x.createRsaKey(1024) }), /keyFiles\[0\]\.key is an RSA key of 1024 bits, below/],
  ['Ed25519', issueUnusual({ key: generateKeyPairSync('ed25519') }), /of the kind ed25519, for which messages have no/],
  ['EC', issueUnusual({ key: x.createEcKey() }), /of the kind ec, while the published AlgorithmSuite signs by RSA/],
  [
    'not for signatures',
    issueUnusual({ usage: [2] }),
    /keyUsage has no digitalSignature; put another first in keyFiles/,
  ],
  ['over', issueUnusual({ notAfter: Date.now() - hour }), /a certificate that ended at 20/],
  ['yet to come', issueUnusual({ notBefore: Date.now() + hour }), /a certificate that is valid from 20/],
]
for (const [what, pair, text] of useless) {
  test(`X14 a service whose key cannot sign responses does not start: ${what}`, async () => {
    await assert.rejects(startBank({ keyFiles: [writeKeyFiles(pair).files] }), text)
  })
  test(`a key that cannot sign responses does not replace one that can: ${what}`, async () => {
    const rolling = writeKeyFiles(bank)
    let skew = 0
    const started = await startBank({ keyFiles: [rolling.files] }, { clock: () => Date.now() + skew })
    rolling.change(pair)
    skew += 2000
    const target = `${started.server.url}/soap/partner`
    await connect({}, { transport: tappedTransport(target, {}) }).CreatePayment(draft)
    await listed({}, { transport: tappedTransport(target, {}) })
  })
}

test('nothing is done if its response could no longer be signed because the certificate has expired', async () => {
  const minute = 60_000
  const pair = issueUnusual({ notAfter: Date.now() + minute })
  const short = writeKeyFiles(pair)
  let skew = 0
  const started = await startBank({ keyFiles: [short.files] }, { clock: () => Date.now() + skew })
  const target = `${started.server.url}/soap/partner`
  const keys = { ...acme, service: { authorities: bankRoot, name: 'bank.example' }, encryptTo: pair.certificate }
  const client = connect({}, { transport: tappedTransport(target, {}), keys })
  const changes = () => started.lines.filter(({ message }) => message === 'changed')
  await client.CreatePayment(draft)
  assert.equal(changes().length, 1)
  skew += 2 * minute
  await assert.rejects(client.CreatePayment(draft))
  assert.equal(changes().length, 1)
  assert.match(JSON.stringify(started.lines), /the key that signs answers has a certificate that ended at/)
})

test('a client without what the contract requires cannot be made', () => {
  const create = (keys: object) => () => createSoapClient(payment, { address, headers, keys })
  assert.throws(create({}), /give keys.key and keys.certificate/)
  assert.throws(create(acme), /encryptTo/)
  assert.throws(create({ ...acme, encryptTo: bank.certificate }), /keys\.service/)
  assert.throws(create({ ...acme, service: { authorities: bankRoot } }), /give its name/)
  assert.throws(() => createSoapClient(payment, { address, headers, security: {} }), /give keys/)
})

test('the WSDL states it for each direction and operation, and only at this endpoint; no other has it', async () => {
  for (const query of ['wsdl', 'wsdl=1.1', 'wsdl=1.2', 'wsdl2']) {
    const { text } = await ask('GET', `/soap/partner?${query}`)
    const parsed = parseXml(Buffer.from(text))
    assert.ok(!(parsed instanceof Malformed))
    const ids = [...text.matchAll(/wsu:Id="(\w+)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length)
    for (const [, id = ''] of text.matchAll(/PolicyReference [^>]*URI="#(\w+)"/g)) assert.ok(ids.includes(id), id)
    const attached = (operation: string, direction: string) => {
      const name = query === 'wsdl2' ? `ref="tns:${operation}"` : `name="${operation}"`
      const inside =
        text
          .slice(text.indexOf('binding '))
          .match(new RegExp(`<wsdl:operation ${name}.*?</wsdl:operation>`, 's'))?.[0] ?? ''
      return /URI="#(\w+)"/.exec(
        inside.match(new RegExp(`<wsdl:${direction}.*?</wsdl:${direction}>`, 's'))?.[0] ?? '',
      )?.[1]
    }
    assert.deepEqual(
      [attached('CreatePayment', 'input'), attached('CreatePayment', 'output'), attached('ListPayments', 'output')],
      ['MessageSecurityOfRequest', 'MessageSecurityOfAnswer', 'ListPaymentsMessageSecurityOfAnswer'],
    )
    const policyOf = (id: string) =>
      text.match(
        new RegExp(`wsu:Id="${id}".*?</wsp:Policy></wsp:Policy>|wsu:Id="${id}".*?</wsp:ExactlyOne></wsp:Policy>`, 's'),
      )?.[0] ?? ''
    assert.match(policyOf('MessageSecurityOfAnswer'), /EncryptedParts/)
    assert.doesNotMatch(policyOf('ListPaymentsMessageSecurityOfAnswer'), /EncryptedParts/)
    assert.match(policyOf('MessageSecurity'), /<sp:AlgorithmSuite signatureAlgorithm="SHA256withRSA">/)
    assert.match(policyOf('MessageSecurityOfRequest'), /<sp:Header Name="Branch" Namespace="urn:example:payment"\/>/)
    assert.match(policyOf('MessageSecurityOfAnswer'), /<sp:Header Name="Receipt"/)
    assert.match(text, /RequireSignatureConfirmation/)
  }
  for (const path of ['/soap/v1', '/soap/v1?wsdl', '/soap/v1/secure', '/soap/v1/rpc'])
    assert.equal((await ask('GET', path)).status, 404, path)
})

test('diglot describe and the site for partners print the WSDL as the service serves it, with its policies', async () => {
  const root = join(import.meta.dirname, '..', '..')
  const words = ['--conditions=diglot-source', join(root, 'src', 'cli.ts')]
  const run = (...more: readonly string[]) => spawnSync(process.execPath, [...words, ...more], { encoding: 'utf8' })
  const partner = join(root, 'examples', 'bank', 'partner.ts')
  for (const [flag, query] of [
    ['--wsdl', 'wsdl'],
    ['--wsdl2', 'wsdl2'],
  ] as const) {
    const { stdout, stderr } = run('describe', partner, flag, '--address', server.url)
    assert.equal(stdout.trim(), (await ask('GET', `/soap/partner?${query}`)).text.trim(), stderr)
  }
  const site = mkdtempSync(join(tmpdir(), 'diglot-site-'))
  try {
    const { stderr } = run('docs', partner, '--output', site, '--address', server.url)
    const text = readFileSync(join(site, 'service.wsdl'), 'utf8')
    assert.equal(text.trim(), (await ask('GET', '/soap/partner?wsdl')).text.trim(), stderr)
  } finally {
    rmSync(site, { recursive: true })
  }
})
