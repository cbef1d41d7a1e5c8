/**
 * A secured SOAP service behind the bridge (docs/bridge.md): what messages wear by the policies of
 * its WSDL and by the settings, what answers have to prove, and what callers are told.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createPrivateKey, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as requestByTls } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import app from '../../examples/orders/service.ts'
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { readDressFlags, refuseDressFlags } from '../../src/cli/bridge-dress.ts'
import { TransportFailure } from '../../src/client/errors.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import type { ClientKeys } from '../../src/client/message-keys.ts'
import { createPortClient } from '../../src/client/port-client.ts'
import { createPortDress, type PortDressOptions } from '../../src/client/port-dress.ts'
import type { ClientTransport, TransportResponse } from '../../src/client/transport.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import type { Port } from '../../src/contract/exchange.ts'
import { anyone } from '../../src/contract/policy.ts'
import { type ImportedContract, readImportedContract } from '../../src/import/imported-contract.ts'
import { readCertificateList } from '../../src/security/crypto/key-source.ts'
import { dsNs } from '../../src/security/vocabulary.ts'
import { Malformed } from '../../src/xml/index.ts'
import { startHosted } from '../host/hosted-service.ts'
import { bankRoot, issueBank, issuePartner, partnerRoot, writeKeyFiles } from '../host/partner-keys.ts'
import { issueAssertion, writeAssertion } from '../security/assertion.ts'
import * as x from '../security/issue.ts'
import { likePng } from '../support/png.ts'

const signed: SecurityRule = { callers: ['x509'], answers: 'signed' }
const sealed: SecurityRule = { callers: ['x509'], encrypted: true, answers: 'encrypted' }
const rules = {
  '/soap/signed': signed,
  '/soap/encrypted': sealed,
  '/soap/each': { ...signed, operations: { GetOrder: sealed } },
  '/soap/plain-answers': { callers: ['x509'] },
  '/soap/username': { callers: [{ by: 'username', passwords: ['text'] }] },
  '/soap/stamped': { callers: [{ by: 'username', passwords: ['text'] }], timestamp: true },
  '/soap/digest': { callers: [{ by: 'username', passwords: ['digest'] }] },
  '/soap/named': { callers: [{ by: 'username', passwords: ['digest'], signed: true }], answers: 'signed' },
  '/soap/holder': { callers: [{ by: 'saml', confirmations: ['holder-of-key'] }], answers: 'signed' },
  '/soap/bearer': { callers: [{ by: 'saml', confirmations: ['bearer'] }] },
  '/soap/shared': { callers: ['x509'], symmetric: 'direct', answers: 'signed' },
  '/soap/derived': { callers: ['x509'], symmetric: 'derived', encrypted: true, answers: 'encrypted' },
  '/soap/unconfirmed': { callers: ['x509'], encrypted: true, answers: 'encrypted', confirmed: false },
  '/soap/shared-unconfirmed': { callers: ['x509'], symmetric: 'direct', answers: 'signed', confirmed: false },
} satisfies Record<string, SecurityRule>
type Path = keyof typeof rules
const overTls: readonly string[] = ['/soap/username', '/soap/stamped', '/soap/bearer']
const endpoints = Object.fromEntries(
  Object.entries(rules).map(([path, security]) => [path, { version: 'v2', security }]),
)
const secured = { ...app, contract: { ...shop, endpoints: { '/soap/v2': { version: 'v2' }, ...endpoints } } }

const bank = issueBank('O=Shop/CN=shop.example')
const tls = issueBank('O=Shop/CN=localhost', x.alternativeNames(x.ipName(127, 0, 0, 1)))
const issuer = issuePartner('O=Issuer/CN=issuer')
const maria = issuePartner('CN=maria')
const folder = mkdtempSync(join(tmpdir(), 'diglot-bridge-'))
after(() => rmSync(folder, { recursive: true }))
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const tlsFiles = { key: write('tls.key', tls.key), certificate: write('tls.pem', tls.certificate) }
const messageSecurity = {
  authorities: partnerRoot,
  keyFiles: [writeKeyFiles(bank).files],
  means: { saml: { issuers: [{ name: 'urn:issuer', certificates: issuer.certificate }], audiences: ['urn:shop'] } },
}
const plain = await startHosted({ messageSecurity, flood: 100_000 }, secured as unknown as typeof app)
const overTlsHosted = await startHosted(
  { messageSecurity, flood: 100_000, tls: tlsFiles },
  secured as unknown as typeof app,
)
const originOf = (path: string): string => (overTls.includes(path) ? overTlsHosted : plain).server.url

function fetchText(url: string): Promise<string> {
  if (!url.startsWith('https:')) return fetch(url).then(response => response.text())
  return new Promise((resolve, reject) => {
    const asking = requestByTls(url, { ca: bankRoot, agent: false }, async answer =>
      resolve((await answer.toArray()).join('')),
    )
    asking.once('error', reject).end()
  })
}
const described = new Map<string, ImportedContract>()
/** The parts read of the WSDL that an endpoint publishes. */
async function describe(path: string, soap: '1.1' | '1.2'): Promise<ImportedContract> {
  const address = `${originOf(path)}${path}?wsdl=${soap}`
  const known = described.get(address)
  if (known) return known
  const found = readImportedContract(Buffer.from(await fetchText(address)), address, () => undefined)
  assert.ok(!(found instanceof Malformed))
  described.set(address, found)
  return found
}

/** An assertion about maria, by the issuer. */
function assertionFor(method: 'holder-of-key' | 'bearer'): string {
  const der = maria.certificate.replaceAll(/-----[^-]+-----|\s/g, '')
  const holder = `<ds:KeyInfo xmlns:ds="${dsNs}"><ds:X509Data><ds:X509Certificate>${der}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`
  const id = `a${randomUUID()}`
  const keyInfo = method === 'bearer' ? '' : holder
  const facts = { subject: 'maria', audience: 'urn:shop', method, keyInfo, at: Date.now(), id, signer: undefined }
  const [certificate = assert.fail()] = readCertificateList(issuer.certificate, 'issuer')
  return issueAssertion(writeAssertion(facts), 'issuer', id, { key: createPrivateKey(issuer.key), certificate })
}

interface Wire {
  readonly sent: string[]
  readonly types: string[]
  change?: (response: TransportResponse) => TransportResponse
  /** Loses the connection of this many calls. */
  lost?: number
}
function tapped(inner: ClientTransport, wire: Wire): ClientTransport {
  return {
    close: () => inner.close(),
    prepare: fields => {
      const post = inner.prepare(fields)
      return async sending => {
        const { content } = sending
        wire.sent.push(typeof content === 'string' ? content : Buffer.concat(content).toString('latin1'))
        wire.types.push({ ...fields, ...sending.fields }['content-type'] ?? '')
        const response = await post(sending)
        if (wire.lost && wire.lost-- > 0) throw new TransportFailure('lost', 'cut', { mayHaveRun: true, begun: false })
        return wire.change?.(response) ?? response
      }
    },
  }
}

interface Choice extends PortDressOptions {
  readonly fields?: Record<string, string>
  readonly soap?: '1.1' | '1.2'
}
/** A bridge before an endpoint, by the WSDL that it publishes and these settings. */
async function startBridge(path: string, { fields = {}, soap = '1.1', ...behind }: Choice) {
  const { ports, policies, namespace, losses } = await describe(path, soap)
  const to = `${originOf(path)}${path}`
  const wire: Wire = { sent: [], types: [] }
  const transport = tapped(createHttpTransport(to, { tls: { ca: bankRoot } }), wire)
  after(() => transport.close())
  const dressOf = (port: Port) => createPortDress(port, policies.get(port.port), to, behind)
  const notes: string[] = []
  const contract = describeBridge(
    'orders',
    namespace,
    ports.map(each => openPort(each, [anyone])),
  )
  const callerOf = (each: Port) =>
    createPortCaller(each, transport, { timeLimit: 20_000, fields, dress: dressOf(each) })
  const { ask } = await startHosted({}, createBridge(contract, { callerOf, note: line => void notes.push(line) }))
  const [{ port }] = ports as [Port]
  const send = (name: string, content: object) =>
    ask('POST', `/api/v1/${port}/${name}`, { 'content-type': 'application/json' }, JSON.stringify(content))
  return { send, wire, notes, losses }
}

const service = { certificates: bank.certificate }
const own: ClientKeys = { ...maria, service }
const user = { username: 'maria', password: 'maria-secret' }
/** What a partner has been given for an endpoint. */
const settingsOf = (path: Path): PortDressOptions => ({
  ...(!['/soap/username', '/soap/stamped', '/soap/digest', '/soap/bearer'].includes(path) && { keys: own }),
  ...(['/soap/username', '/soap/stamped', '/soap/digest', '/soap/named'].includes(path) && { credentials: user }),
  ...(path === '/soap/holder' && { keys: { ...own, assertion: () => assertionFor('holder-of-key') } }),
  ...(path === '/soap/bearer' && { keys: { assertion: () => assertionFor('bearer') } }),
})
test('an assertion is requested for each message, and for its caller; it may come later', async () => {
  const asked: (string | undefined)[] = []
  const assertion: ClientKeys['assertion'] = async caller => {
    asked.push(caller?.roles.join())
    return assertionFor('bearer')
  }
  const { send } = await startBridge('/soap/bearer', { keys: { assertion } })
  for (let i = 0; i < 2; i++) assert.equal((await send('GetOrder', { id: 'o-1' })).status, 200)
  assert.deepEqual(asked, ['', ''], 'anonymous callers are callers, too')
})

const leaks = (text: string): boolean => /PRIVATE KEY|maria-secret|BinarySecurityToken|CERTIFICATE/.test(text)

for (const path of Object.keys(rules) as Path[])
  for (const soap of ['1.1', '1.2'] as const)
    test(`the policies of ${path} in SOAP ${soap} are obeyed with only keys and passwords`, async () => {
      const { send, wire, losses } = await startBridge(path, { ...settingsOf(path), soap })
      assert.deepEqual(losses, [])
      const answer = await send('GetOrder', { id: 'o-1' })
      assert.equal(answer.status, 200, answer.text)
      assert.equal(JSON.parse(answer.text).order.id, 'o-1')
      const [message = ''] = wire.sent
      assert.match(message, /<wsse:Security /)
      const isSealed = ['/soap/encrypted', '/soap/each', '/soap/derived', '/soap/unconfirmed'].includes(path)
      assert.equal(message.includes('o-1'), !isSealed)
      assert.equal((await send('GetOrder', { id: 'o-1' })).status, 200, 'a nonce is new each time')
    })

for (const path of [
  '/soap/signed',
  '/soap/encrypted',
  '/soap/named',
  '/soap/holder',
  '/soap/shared',
  '/soap/derived',
  '/soap/unconfirmed',
  '/soap/shared-unconfirmed',
] as const) {
  test(`a response of ${path} that is not signed, is another's or was sent before is 502`, async () => {
    const { send, wire, notes } = await startBridge(path, settingsOf(path))
    let former: TransportResponse | undefined
    wire.change = response => (former = response)
    assert.equal((await send('GetOrder', { id: 'o-1' })).status, 200)
    const text = (from: RegExp, to: string) => (response: TransportResponse) => {
      const before = Buffer.from(response.content).toString()
      const changed = before.replace(from, to)
      assert.notEqual(changed, before)
      return { ...response, content: Buffer.from(changed) }
    }
    const changes = [
      text(/<(\w+:)?Header>.*<\/(\w+:)?Header>/s, ''),
      text(/<(\w+:)?SignatureValue>.{8}/s, '<$1SignatureValue>AAAAAAAA'),
      () => former as TransportResponse,
    ]
    for (const change of changes) {
      wire.change = change
      const answer = await send('GetOrder', { id: 'o-1' })
      assert.equal(answer.status, 502, answer.text)
      assert.match(answer.text, /the response of the backend is not authenticated: it may have been carried out/)
      assert.match(notes.at(-1) ?? '', /nothing proves that the reply is the service's/)
      assert.ok(!leaks(answer.text + notes.join()))
    }
  })
}

test('WS-SecurityPolicy §7.3: with IncludeTimestamp over TLS, both messages have a valid Timestamp', async () => {
  const { send, wire, notes } = await startBridge('/soap/stamped', settingsOf('/soap/stamped'))
  const change = (from: RegExp, to: string) => (response: TransportResponse) => {
    const before = Buffer.from(response.content).toString()
    assert.match(before, /mustUnderstand="1"/)
    const changed = before.replaceAll(from, to)
    assert.notEqual(changed, before)
    return { ...response, content: Buffer.from(changed) }
  }
  wire.change = change(/(<wsu:Timestamp)/g, '<wsse11:SignatureConfirmation xmlns:wsse11="urn:x"/>$1')
  assert.equal((await send('GetOrder', { id: 'o-1' })).status, 502, 'another element has to be understood')
  wire.change = change(/(Created|Expires)>2\d{3}/g, '$1>1999')
  const stale = await send('GetOrder', { id: 'o-1' })
  assert.equal(stale.status, 502)
  assert.match(notes.at(-1) ?? '', /the reply is not valid now: an expired Timestamp/)
  wire.change = change(/<wsse:Security .*<\/wsse:Security>/gs, '')
  assert.equal((await send('GetOrder', { id: 'o-1' })).status, 200, 'nothing is demanded of answers')
  assert.match(wire.sent[0] ?? '', /<wsu:Timestamp .*<wsse:UsernameToken/)
  const bare = await startBridge('/soap/stamped', { ...settingsOf('/soap/stamped'), rule: rules['/soap/username'] })
  assert.equal((await bare.send('GetOrder', { id: 'o-1' })).status, 502, 'the service demands the Timestamp')
})

test("a fault of the backend's security is 502 with its code, and reveals no key or password", async () => {
  const stranger = issueBank('CN=maria') // of an authority that the service does not know
  const cases: readonly (readonly [Path, PortDressOptions])[] = [
    ['/soap/plain-answers', { keys: stranger }],
    ['/soap/digest', { credentials: { ...user, password: 'not-maria-secret' } }],
  ]
  for (const soap of ['1.1', '1.2'] as const)
    for (const [path, behind] of cases) {
      const { send, notes } = await startBridge(path, { ...behind, soap })
      const answer = await send('GetOrder', { id: 'o-1' })
      assert.equal(answer.status, 502, answer.text)
      assert.match(
        answer.text,
        /refused the security or addressing of the bridge’s message \((FailedAuthentication|InvalidSecurityToken|InvalidSecurity|SecurityTokenUnavailable|FailedCheck)\)/,
      )
      assert.ok(!leaks(answer.text + notes.join()), answer.text + notes.join())
    }
})

test('a bridge without what a policy requires is not made, and the error says what to give', async () => {
  const { policies, ports } = await describe('/soap/named', '1.1')
  const [port] = ports as [Port]
  const make = (behind: object) => () => createPortDress(port, policies.get(port.port), 'http://127.0.0.1/', behind)
  assert.throws(make({}), /demands proof of the caller: give credentials with a username/)
  assert.throws(make({ credentials: user }), /give keys.key and keys.certificate/)
  assert.throws(make({ credentials: user, keys: maria }), /give keys.service, the signers to accept/)
  assert.throws(make({ credential: user }), /behind: unknown member "credential": use rule, credentials/)
  const open = await describe('/soap/v2', '1.1')
  const [openPort] = open.ports as [Port]
  const before = (behind: PortDressOptions) => () => createPortDress(openPort, undefined, 'http://127.0.0.1/', behind)
  assert.throws(before({ keys: own }), /the keys are not used: .* behind.rule in the map/)
  assert.doesNotThrow(before({ keys: own, rule: signed }))
  assert.equal(make({ rule: 'none' })().securityOf('GetOrder'), undefined)
})

test('a client of the port obeys the policies with the same keys, and refuses unproven replies', async () => {
  for (const path of ['/soap/named', '/soap/encrypted', '/soap/digest', '/soap/derived'] as const) {
    const description = await describe(path, '1.1')
    const address = `${originOf(path)}${path}`
    const wire: Wire = { sent: [], types: [] }
    const transport = tapped(createHttpTransport(address, { tls: { ca: bankRoot } }), wire)
    const { keys, credentials } = settingsOf(path)
    const options = { address, transport, ...(keys && { keys }), ...(credentials && { credentials }) }
    using client = createPortClient(description, options)
    const getOrder = client['GetOrder'] ?? assert.fail('no operation')
    const { order } = (await getOrder({ id: 'o-1' })) as { order: { id: string } }
    assert.equal(order.id, 'o-1')
    const { content } = await getOrder.render({ id: 'o-1' })
    assert.match(String(content), /<wsse:Security /)
    assert.equal(wire.sent.length, 1, 'render sends nothing')
    if (path === '/soap/digest') continue
    wire.change = response => ({
      ...response,
      content: Buffer.from(
        Buffer.from(response.content)
          .toString()
          .replace(/<(\w+:)?Header>.*<\/(\w+:)?Header>/s, ''),
      ),
    })
    await assert.rejects(getOrder({ id: 'o-1' }), { name: 'AnswerError', why: 'unproven' })
  }
})

const policyNs = 'http://schemas.xmlsoap.org/ws/2004/09/policy'
const spNs = 'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'
const nested = (...inside: string[]): string => `<wsp:Policy>${inside.join('')}</wsp:Policy>`
/** The WSDL of an endpoint without security, with this policy inside of its binding. */
async function withPolicy(assertions: string) {
  const wsdl = await fetchText(`${plain.server.url}/soap/v2?wsdl=1.1`)
  const policy = `<wsp:Policy xmlns:wsp="${policyNs}" xmlns:sp="${spNs}">${assertions}</wsp:Policy>`
  const changed = wsdl.replace(/<wsdl:binding [^>]*>/, tag => tag + policy)
  const found = readImportedContract(Buffer.from(changed), 'orders.wsdl', () => undefined)
  assert.ok(!(found instanceof Malformed))
  const [[port, read] = assert.fail()] = found.policies
  return { of: { port, security: undefined }, policy: read, rule: read.security.get('GetOrder') }
}
const asymmetric = (...more: string[]): string =>
  `<sp:AsymmetricBinding>${nested(`<sp:InitiatorToken>${nested(`<sp:X509Token/>`)}</sp:InitiatorToken>`, '<sp:IncludeTimestamp/>', ...more)}</sp:AsymmetricBinding>`
const protectedBy = (token: string, ...more: string[]): string =>
  `<sp:SymmetricBinding>${nested(`<sp:ProtectionToken>${nested(token)}</sp:ProtectionToken>`, '<sp:IncludeTimestamp/>', ...more)}</sp:SymmetricBinding>`
/** @param inside of the token that protects */
const symmetric = (inside: string, ...more: string[]): string =>
  protectedBy(`<sp:X509Token>${nested(inside)}</sp:X509Token>`, suite, ...more)
const endorsedBy = (token: string): string =>
  `<sp:EndorsingSupportingTokens>${nested(token)}</sp:EndorsingSupportingTokens>`
const endorsing = endorsedBy('<sp:X509Token/>')
const suiteOf = (name: string): string => `<sp:AlgorithmSuite>${nested(`<sp:${name}/>`)}</sp:AlgorithmSuite>`
const suite = suiteOf('Basic256Sha256')
const bodyOf = (parts: string): string => `<sp:${parts}><sp:Body/></sp:${parts}>`
const confirmed = `<sp:Wss11>${nested('<sp:RequireSignatureConfirmation/>')}</sp:Wss11>`

test("WS-SecurityPolicy §5, §7, §8: the requirements of a policy in others' words", async () => {
  const token = (...inside: string[]) =>
    `<sp:SupportingTokens>${nested(`<sp:UsernameToken>${nested(...inside)}</sp:UsernameToken>`)}</sp:SupportingTokens>`
  const cases: readonly (readonly [string, SecurityRule | undefined])[] = [
    [token(), { callers: [{ by: 'username', passwords: ['text'], signed: false }] }],
    [token('<sp:HashPassword/>'), { callers: [{ by: 'username', passwords: ['digest'], signed: false }] }],
    [`<sp:TransportBinding>${nested(suite)}</sp:TransportBinding>`, undefined],
    [asymmetric(suite) + bodyOf('SignedParts') + confirmed, { callers: [{ by: 'x509' }], answers: 'signed' }],
    [asymmetric(suite) + bodyOf('SignedParts'), { callers: [{ by: 'x509' }], answers: 'signed', confirmed: false }],
    [
      symmetric('') +
        endorsing +
        bodyOf('SignedParts') +
        `<sp:Wss11>${nested('<sp:MustSupportRefThumbprint/>')}</sp:Wss11>`,
      { callers: [{ by: 'x509' }], symmetric: 'direct', answers: 'signed', confirmed: false },
    ],
    [
      asymmetric(suite, '<sp:EncryptBeforeSigning/>') + bodyOf('SignedParts') + bodyOf('EncryptedParts') + confirmed,
      { callers: [{ by: 'x509' }], encrypted: true, answers: 'encrypted' },
    ],
    [
      symmetric('') + endorsing + bodyOf('SignedParts') + confirmed,
      { callers: [{ by: 'x509' }], symmetric: 'direct', answers: 'signed' },
    ],
    ...['RequireDerivedKeys', 'RequireExplicitDerivedKeys'].map(
      derived =>
        [
          symmetric(`<sp:${derived}/>`, '<sp:EncryptBeforeSigning/>') +
            [endorsing, bodyOf('SignedParts'), bodyOf('EncryptedParts'), confirmed].join(''),
          { callers: [{ by: 'x509' }], symmetric: 'derived', encrypted: true, answers: 'encrypted' },
        ] as const,
    ),
    [
      `<wsp:ExactlyOne><wsp:All><sp:SymmetricBinding/></wsp:All><wsp:All>${token()}</wsp:All></wsp:ExactlyOne>`,
      { callers: [{ by: 'username', passwords: ['text'], signed: false }] },
    ],
  ]
  for (const [assertions, expected] of cases) {
    const { rule, policy } = await withPolicy(assertions)
    assert.deepEqual([rule, policy.unmet.size], [expected, 0], assertions)
  }
})
test('a policy that cannot be met does not start, unless the map says what messages wear', async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    [
      `${symmetric('')}${bodyOf('SignedParts')}`,
      /the policy of \w+ demands a SymmetricBinding that names no caller: give behind.rule or behind.security/,
    ],
    [symmetric('<sp:RequireImpliedDerivedKeys/>') + endorsing, /RequireImpliedDerivedKeys/],
    [
      symmetric('<sp:RequireDerivedKeys/>').replace(
        '>',
        ' xmlns:sp="http://schemas.xmlsoap.org/ws/2005/07/securitypolicy">',
      ) + endorsing,
      /derived keys of WS-SecureConversation before 1\.3/,
    ],
    [symmetric('', '<sp:EncryptSignature/>') + endorsing, /EncryptSignature/],
    [symmetric('', '<sp:ProtectTokens/>') + endorsing, /ProtectTokens/],
    [protectedBy('<sp:SecureConversationToken/>', suite) + endorsing, /a ProtectionToken that is not an X509Token/],
    [symmetric('') + endorsedBy('<sp:IssuedToken/>'), /an endorsement by IssuedToken/],
    [symmetric('') + endorsing.replaceAll('Endorsing', 'SignedEndorsing'), /demands SignedEndorsingSupportingTokens/],
    [symmetric('') + endorsing + bodyOf('EncryptedParts'), /signed before they are encrypted/],
    [asymmetric(suite) + endorsing, /demands EndorsingSupportingTokens/],
    [
      asymmetric(suiteOf('TripleDesRsa15'), '<sp:EncryptBeforeSigning/>') +
        bodyOf('SignedParts') +
        bodyOf('EncryptedParts'),
      /the algorithms TripleDesRsa15/,
    ],
    [
      asymmetric(suiteOf('Basic256')) + bodyOf('SignedParts') + confirmed,
      /Basic256, whose signatures use SHA-1.*give behind\.rule with suite: 'Basic256' in the map/,
    ],
    [asymmetric(suite) + bodyOf('EncryptedParts') + confirmed, /signed before they are encrypted/],
    [`<sp:SupportingTokens>${nested('<sp:KerberosToken/>')}</sp:SupportingTokens>`, /KerberosToken/],
  ]
  for (const [assertions, expected] of cases) {
    const { of, policy } = await withPolicy(assertions)
    assert.throws(() => createPortDress(of, policy, 'http://127.0.0.1/', { keys: own }), expected)
    assert.doesNotThrow(() => createPortDress(of, policy, 'http://127.0.0.1/', { keys: own, rule: signed }))
  }
})

test('octets go outside the XML with mtom, return unchanged, and stay inside if it is signed', async () => {
  const token = await plain.server.token('maria', ['manager'])
  const fields = { authorization: `Bearer ${token}` }
  const picture = Buffer.from(likePng(Uint8Array.from({ length: 3000 }, (_, at) => (at * 7) % 256))).toString('base64')
  for (const soap of ['1.1', '1.2'] as const) {
    const { send, wire } = await startBridge('/soap/v2', { mtom: true, addressing: true, fields, soap })
    const put = await send('PutProductPicture', { id: 'p-1', picture, mediaType: 'image/png' })
    assert.equal(put.status, 200, put.text)
    assert.match(wire.types[0] ?? '', /^multipart\/related; type="application\/xop\+xml"/)
    assert.match(wire.sent[0] ?? '', /<wsa:MessageID [^>]*>urn:uuid:/)
    let type = ''
    wire.change = response => {
      type = response.fields['content-type'] ?? ''
      return response
    }
    const got = await send('GetProductPicture', { id: 'p-1' })
    assert.match(type, /^multipart\/related/)
    assert.equal(JSON.parse(got.text).picture, picture)
  }
  const { send, wire } = await startBridge('/soap/signed', { mtom: true, keys: own })
  const put = await send('PutProductPicture', { id: 'p-1', picture, mediaType: 'image/png' })
  assert.doesNotMatch(wire.types[0] ?? '', /multipart/)
  assert.ok(wire.sent[0]?.includes(picture), put.text)
})

test('with addressing, a reply to another message is 502; a lost message is sent again with its id', async () => {
  const token = await plain.server.token('maria', ['manager'])
  const fields = { authorization: `Bearer ${token}` }
  const { send, wire, notes } = await startBridge('/soap/v2', { addressing: { once: true }, fields })
  let former: TransportResponse | undefined
  wire.change = response => (former = response)
  assert.equal((await send('GetOrder', { id: 'o-1' })).status, 200)
  wire.change = () => former as TransportResponse
  const answer = await send('GetOrder', { id: 'o-1' })
  assert.equal(answer.status, 502)
  assert.match(notes.join(), /it is the reply to urn:uuid:/)
  delete wire.change
  wire.sent.length = 0
  wire.lost = 1
  const customer = { name: 'Dora', email: 'dora@example.org', tier: 'basic' }
  const picture = Buffer.from(likePng(new Uint8Array(8))).toString('base64')
  const put = await send('PutProductPicture', { id: 'p-1', picture, mediaType: 'image/png' })
  assert.equal(put.status, 200, JSON.stringify(customer) + put.text)
  const ids = wire.sent.map(each => /<wsa:MessageID [^>]*>([^<]*)/.exec(each)?.[1])
  assert.deepEqual([ids.length, ids[0] === ids[1]], [2, true])
})

test('flags name files of keys, and only the environment has the password', () => {
  const files = { key: write('maria.key', maria.key), certificate: write('maria.pem', maria.certificate) }
  const assertion = write('assertion.xml', '<a/>')
  const found = readDressFlags({
    ...files,
    serviceCertificates: tlsFiles.certificate,
    serviceName: 'n',
    assertion,
    mtom: true,
  })
  assert.equal(found.keys?.key, maria.key)
  assert.deepEqual(found.keys?.service, { certificates: tls.certificate, name: 'n' })
  assert.equal(typeof found.keys?.assertion === 'function' && found.keys.assertion(), '<a/>')
  write('assertion.xml', '<b/>')
  assert.equal(typeof found.keys?.assertion === 'function' && found.keys.assertion(), '<b/>', 'assertions expire')
  assert.equal(found.mtom, true)
  const mapped = { keys: { key: 'k', certificate: 'c' }, addressing: { once: true } }
  assert.deepEqual(readDressFlags({ addressing: true }, mapped), mapped, 'flags keep what the map has')
  assert.throws(() => refuseDressFlags({ serviceName: 'n' }), /--service-name is for SOAP messages/)
  assert.doesNotThrow(() => refuseDressFlags({}))
  assert.throws(() => readDressFlags({ digest: true }), /set DIGLOT_BEHIND_USERNAME and DIGLOT_BEHIND_PASSWORD/)
  Object.assign(process.env, { DIGLOT_BEHIND_USERNAME: 'maria', DIGLOT_BEHIND_PASSWORD: 'maria-secret' })
  try {
    assert.deepEqual(readDressFlags({ digest: true }).credentials, { ...user, digest: true })
  } finally {
    delete process.env['DIGLOT_BEHIND_USERNAME']
    delete process.env['DIGLOT_BEHIND_PASSWORD']
  }
})

/** The command with these words: what it says until it stands or ends, and how to end it. */
async function runBridge(words: readonly string[]) {
  const cli = join(import.meta.dirname, '..', '..', 'src', 'cli.ts')
  const command = [cli, 'bridge', ...words, '--anyone', '--port', '0']
  const child = spawn(process.execPath, ['--conditions=diglot-source', ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  after(() => child.kill())
  let said = ''
  const ended = once(child, 'exit')
  const stands = new Promise<void>(resolve => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        said += text
        if (said.includes('bridging http')) resolve()
      })
  })
  await Promise.race([stands, ended])
  return { said, url: /bridging (http\S+)\/api/.exec(said)?.[1] ?? '', code: child.exitCode }
}
test('diglot bridge reads keys from files, and ends with the cure if one is missing', async () => {
  const wsdl = write('signed.wsdl', await fetchText(`${plain.server.url}/soap/encrypted?wsdl=1.2`))
  const to = ['--to', `${plain.server.url}/soap/encrypted`]
  const key = ['--key', write('own.key', maria.key), '--certificate', write('own.pem', maria.certificate)]
  const lacking = await runBridge([wsdl, ...to, ...key])
  assert.match(lacking.said, /demands proof of the caller: give keys.encryptTo, the certificate of the service/)
  assert.notEqual(lacking.code, 0)
  const { url, said } = await runBridge([
    wsdl,
    ...to,
    ...key,
    '--service-certificates',
    write('bank.pem', bank.certificate),
  ])
  const [{ port }] = (await describe('/soap/encrypted', '1.2')).ports as [Port]
  const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"id":"o-1"}' }
  const answer = await fetch(`${url}/api/v1/${port}/GetOrder`, asked)
  assert.equal(answer.status, 200, said)
  assert.match(await answer.text(), /"id":"o-1"/)
})

test('an impossible limit ends the command with the cure', async () => {
  const behind = ['partner.wsdl', '--to', 'http://127.0.0.1:9/']
  for (const [words, cure] of [
    [['--calls', '4', '--calls-of-caller', '5'], /--calls-of-caller 5 is more than --calls 4/],
    [['--calls', '0'], /must be a whole number from 1 to 10000/],
    [['--longest', '2GB'], /must be a whole number from 1 to 1073741824/],
  ] as const) {
    const { said, code } = await runBridge([...behind, ...words])
    assert.match(said, cure)
    assert.equal(code, 2)
  }
})

test('a map itself says who may call: --anyone next to it is refused, not ignored', async () => {
  const { said, code } = await runBridge(['partner.wsdl', '--to', 'http://127.0.0.1:9/', '--map', 'bridge.ts'])
  assert.match(said, /with --map, the contract says who may call: write allow at its ports, and leave out --role/)
  assert.equal(code, 2)
})
