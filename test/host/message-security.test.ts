/**
 * The certificates of signers at `/soap/…/secure`, by what `serve`, the client and the command line
 * take: PEM, CRLs that change, purposes, and the one kind of name that says for whom they speak.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { shop as orders } from '../../examples/orders/contract.ts'
import { createSoapClient, FaultError } from '../../src/client/index.ts'
import type { ServeOptions } from '../../src/host/serve.ts'
import type { MessageSecurity } from '../../src/host/trust/message-security.ts'
import * as x from '../security/issue.ts'
import { startHosted } from './hosted-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-signers-'))
after(() => rmSync(folder, { recursive: true }))
const day = 86_400_000
const lasting = { notBefore: Date.now() - day, notAfter: Date.now() + day }
const bank: x.Holder = { name: 'O=Bank/CN=Root', key: x.createEcKey() }
const authority = x.writePem(
  'CERTIFICATE',
  x.issueCertificate({ ...bank, by: bank, extensions: [x.authority(), x.usage(5, 6)], ...lasting }),
)
const signer = x.createEcKey()
const key = signer.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()

/** A certificate for the one key, with a serial number of 7. */
const certify = (name: string, ...extensions: readonly Uint8Array[]): string =>
  x.writePem(
    'CERTIFICATE',
    x.issueCertificate({ name, key: signer, by: bank, serial: 7, extensions: [x.usage(0), ...extensions], ...lasting }),
  )
const listOf = (revoked: readonly number[], nextUpdate = Date.now() + day) =>
  x.writePem('X509 CRL', x.issueCrl({ by: bank, revoked, thisUpdate: Date.now() - 2 * day, nextUpdate }))

async function host(messageSecurity: MessageSecurity, options: ServeOptions = {}) {
  const { server, lines } = await startHosted({
    messageSecurity: { authorities: authority, ...messageSecurity },
    ...options,
  })
  /** Whether a message signed with this certificate reads an order that only maria may read. */
  const sign = async (certificate: string): Promise<boolean> => {
    const security = { signature: { key, by: { certificate } } } as const
    const shop = createSoapClient(orders, { address: `${server.url}/soap/v2/secure`, version: 'v2', security })
    try {
      return (await shop.GetOrder({ id: 'o-1' })).order.id === 'o-1'
    } catch (thrown) {
      assert.ok(thrown instanceof FaultError, String(thrown))
      assert.equal(thrown.codes.at(-1)?.local, 'FailedAuthentication')
      return false
    } finally {
      shop.close()
    }
  }
  return { sign, lines }
}

const purpose = (id: string) => x.purposes([`1.3.6.1.5.5.7.3.${id}`], false)
const maria = certify('O=Shop/CN=maria')

test('a message signed with keys and certificates in PEM', async () => {
  const { sign } = await host({})
  assert.equal(await sign(maria), true)
})

test('RFC 5280 §4.2.1.12: purposes that the settings do not name are refused', async () => {
  const strict = await host({})
  for (const id of ['1', '2', '9']) assert.equal(await strict.sign(certify('CN=maria', purpose(id))), false, id)
  const named = await host({ purposes: ['clientAuth'] })
  assert.equal(await named.sign(certify('CN=maria', purpose('2'))), true)
  assert.equal(await named.sign(certify('CN=maria', purpose('9'))), false)
})

test('one kind of name says for whom a certificate speaks: a device or a mailbox of that name does not', async () => {
  const certificates = {
    commonName: maria,
    dns: certify('CN=device', x.alternativeNames(x.dnsName('maria'))),
    email: certify('CN=mail', x.alternativeNames(x.emailName('maria'))),
    uri: certify('CN=program', x.alternativeNames(x.uriName('maria'))),
  } as const
  for (const certificateName of [undefined, 'commonName', 'dns', 'email', 'uri'] as const) {
    const { sign } = await host({}, certificateName ? { certificateName } : {})
    for (const [kind, certificate] of Object.entries(certificates))
      assert.equal(await sign(certificate), kind === (certificateName ?? 'commonName'), `${certificateName}: ${kind}`)
  }
})

test('CRLs in PEM: a revoked signer is refused; without a fresh list the settings decide', async () => {
  assert.equal(await (await host({ crls: listOf([]) })).sign(maria), true)
  assert.equal(await (await host({ crls: listOf([7]) })).sign(maria), false)
  const old = listOf([], Date.now() - day)
  assert.equal(await (await host({ crls: old })).sign(maria), false)
  assert.equal(await (await host({ crls: old, revocation: 'ifKnown' })).sign(maria), true)
})

test('RFC 5280 §6.3: an authority in a file that another one of it has issued is not trusted once it is revoked', async () => {
  const issuing: x.Holder = { name: 'O=Bank/CN=Issuing', key: x.createEcKey() }
  const ca = [x.authority(), x.usage(5, 6)]
  const between = x.writePem(
    'CERTIFICATE',
    x.issueCertificate({ ...issuing, by: bank, serial: 9, extensions: ca, ...lasting }),
  )
  const leaf = { name: 'O=Shop/CN=maria', key: signer, by: issuing, extensions: [x.usage(0)], ...lasting }
  const certificate = x.writePem('CERTIFICATE', x.issueCertificate(leaf))
  const times = { thisUpdate: Date.now() - day, nextUpdate: Date.now() + day }
  const own = x.writePem('X509 CRL', x.issueCrl({ by: issuing, revoked: [], ...times }))
  const file = join(folder, 'bundle.pem')
  const signed = async (pem: string, lists: readonly string[]) => {
    writeFileSync(file, pem)
    const { sign } = await host({ authorities: [], signerFiles: [file], crls: lists.join('\n') })
    return sign(certificate)
  }
  assert.equal(await signed(`${authority}${between}`, [listOf([]), own]), true)
  assert.equal(await signed(`${between}${authority}`, [listOf([9]), own]), false)
  assert.equal(await signed(`${authority}${between}`, [own]), false, 'nothing tells of the authority between')
  assert.equal(await signed(between, [own]), true, 'an authority whose issuer is not there ends paths itself')
})

test('a file of CRLs is read again when it changes; an unusable one is reported, and changes nothing', async () => {
  const file = join(folder, 'changing.crl')
  writeFileSync(file, listOf([]))
  let skew = 0
  const { sign, lines } = await host({ crlFiles: [file] }, { clock: () => Date.now() + skew })
  assert.equal(await sign(maria), true)
  writeFileSync(file, `${listOf([7])}\n`)
  skew += 2000 // it is looked at once a second
  assert.equal(await sign(maria), false)
  writeFileSync(file, 'not a list')
  skew += 2000
  assert.equal(await sign(maria), false)
  assert.match(JSON.stringify(lines), /changing\.crl cannot be used: .*BEGIN X509 CRL/)
  writeFileSync(file, `${listOf([])}\n\n`)
  skew += 2000
  assert.equal(await sign(maria), true)
})

test('CRLs at an address: the first message waits for them; `revocation` decides if they cannot be fetched', async () => {
  let answer: string | undefined = listOf([7])
  const place = createServer((_request, response) => {
    if (answer === undefined) response.destroy()
    else response.end(answer)
  }).listen(0, '127.0.0.1')
  after(() => place.close())
  await once(place, 'listening')
  const crlAddresses = [`http://127.0.0.1:${(place.address() as AddressInfo).port}/root.crl`]
  assert.equal(await (await host({ crlAddresses })).sign(maria), false)
  answer = listOf([])
  assert.equal(await (await host({ crlAddresses })).sign(maria), true)
  answer = undefined
  const { sign, lines } = await host({ crlAddresses })
  assert.equal(await sign(maria), false)
  assert.match(JSON.stringify(lines), /the CRL at http:[^ ]+ cannot be used/)
  assert.equal(await (await host({ crlAddresses, revocation: 'ifKnown' })).sign(maria), true)
})

interface Responder {
  status: 'good' | 'revoked' | 'unknown' | 'silent' | 'moved' | 'endless'
  asked: number
  readonly by: x.Holder
  readonly types: Set<string | undefined>
  readonly url: string
  /** Of the last query by GET. */
  hash?: 'sha1' | 'sha256'
}
/** The object identifier of SHA-256, as hexadecimal DER. */
const sha256Der = '0609608648016503040201'

async function respond(first: Responder['status'], by: x.Holder = bank): Promise<Responder> {
  const place = createServer((request, response) => {
    found.asked++
    found.types.add(`${request.method} ${request.headers['content-type']}`)
    const question = Buffer.from(decodeURIComponent(request.url?.split('/').at(-1) ?? ''), 'base64')
    found.hash = question.toString('hex').includes(sha256Der) ? 'sha256' : 'sha1'
    const { status } = found
    if (status === 'silent') return void response.destroy()
    if (status === 'moved') return void response.writeHead(302, { location: '/' }).end()
    if (status === 'endless') return void response.end(Buffer.alloc(70_000))
    const [thisUpdate, nextUpdate] = [Date.now() - day, Date.now() + day]
    const { hash } = found
    const answers = [{ issuer: bank, status, hash, thisUpdate: thisUpdate + found.asked * 1000, nextUpdate }]
    response.end(x.issueOcsp({ by, answers, producedAt: thisUpdate }))
  }).listen(0, '127.0.0.1')
  after(() => place.close())
  await once(place, 'listening')
  const url = `http://127.0.0.1:${(place.address() as AddressInfo).port}/ocsp`
  const found: Responder = { status: first, asked: 0, by, types: new Set(), url }
  return found
}

test('RFC 6960: a responder is queried once; a revoked signer is refused with the fault of a CRL', async () => {
  const responder = await respond('good')
  const good = await host({ ocspAddresses: [responder.url] })
  assert.deepEqual([await good.sign(maria), await good.sign(maria), responder.asked], [true, true, 1])
  assert.deepEqual([...responder.types], ['GET undefined'])
  responder.status = 'revoked'
  const revoked = await host({ ocspAddresses: [responder.url], revocation: 'ifKnown' })
  assert.equal(await revoked.sign(maria), false)
  assert.match(JSON.stringify(revoked.lines), /its responder says that it is revoked/)
})

test('without a usable OCSP response, a CRL and then `revocation` decide', async () => {
  const other = { name: 'CN=Other', key: x.createEcKey() }
  const rows = [
    ['silent', 1, /does not respond: /],
    ['moved', 2, /does not respond: the status is 302/],
    ['endless', 1, /longer than 65536 octets/],
    ['good', 2, /cannot be used: its signer is not the issuer/],
  ] as const
  for (const [status, asked, says] of rows) {
    const responder = await respond(status, status === 'good' ? other : bank)
    const ocspAddresses = [responder.url]
    const hard = await host({ ocspAddresses })
    assert.deepEqual([await hard.sign(maria), await hard.sign(maria), responder.asked], [false, false, asked], status)
    assert.match(JSON.stringify(hard.lines), says)
    assert.equal(await (await host({ ocspAddresses, revocation: 'ifKnown' })).sign(maria), true, status)
    assert.equal(await (await host({ ocspAddresses, crls: listOf([]) })).sign(maria), true, status)
    assert.equal(await (await host({ ocspAddresses, crls: listOf([7]) })).sign(maria), false, status)
  }
})

test('RFC 6960 §2.2: a certificate that its responder does not know is refused, unless a CRL clears it', async () => {
  const ocspAddresses = [(await respond('unknown')).url]
  assert.equal(await (await host({ ocspAddresses, revocation: 'ifKnown' })).sign(maria), false)
  assert.equal(await (await host({ ocspAddresses, crls: listOf([]) })).sign(maria), true)
})

test('RFC 9654: a responder that repeats no nonce is not enough if one is required', async () => {
  const responder = await respond('good')
  assert.equal(await (await host({ ocspAddresses: [responder.url], ocspNonce: true })).sign(maria), false)
  assert.deepEqual([...responder.types], ['POST application/ocsp-request'])
})

test('RFC 9919: a query by SHA-256, if the settings say so', async () => {
  const responder = await respond('good')
  const { sign } = await host({ ocspAddresses: [responder.url], ocspHash: 'sha256' })
  assert.equal(await sign(maria), true)
  assert.deepEqual([responder.asked, responder.hash], [1, 'sha256'])
  await (await host({ ocspAddresses: [responder.url] })).sign(maria)
  assert.equal(responder.hash, 'sha1')
})

test('only responders of the settings are queried, first the one that the certificate names', async () => {
  const [named, strange, other] = [await respond('good'), await respond('good'), await respond('good')]
  const certificateNaming = ({ url }: Responder) => {
    const place = x.sequence(x.identifier('1.3.6.1.5.5.7.48.1'), x.uriName(url))
    return certify('O=Shop/CN=maria', x.extension('1.3.6.1.5.5.7.1.1', x.sequence(place)))
  }
  const { sign } = await host({ ocspAddresses: [other.url, named.url] })
  assert.equal(await sign(certificateNaming(named)), true)
  assert.deepEqual([named.asked, other.asked], [1, 0])
  assert.equal(await sign(certificateNaming(strange)), true)
  assert.deepEqual([strange.asked, other.asked], [0, 1])
})

test('no responder is queried about the signer of a message whose signature does not hold', async () => {
  const responder = await respond('good')
  const { server } = await startHosted({ messageSecurity: { authorities: authority, ocspAddresses: [responder.url] } })
  const between = createServer(async (request, response) => {
    const content = Buffer.concat(await request.toArray())
      .toString()
      .replace('o-1', 'o-2')
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    const answer = await fetch(`${server.url}${request.url}`, { method: 'POST', headers, body: content })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(await answer.text())
  }).listen(0, '127.0.0.1')
  after(() => between.close())
  await once(between, 'listening')
  const address = `http://127.0.0.1:${(between.address() as AddressInfo).port}/soap/v2/secure`
  const shop = createSoapClient(orders, {
    address,
    version: 'v2',
    security: { signature: { key, by: { certificate: maria } } },
  })
  const refusal = await shop.GetOrder({ id: 'o-1' }).catch((thrown: unknown) => thrown)
  shop.close()
  assert.ok(refusal instanceof FaultError, String(refusal))
  assert.equal(refusal.codes.at(-1)?.local, 'FailedCheck')
  assert.equal(responder.asked, 0)
})

test('an authority of one partner does not name the people of another, and each of several must declare whom it names', async () => {
  const other: x.Holder = { name: 'O=Other/CN=Root', key: x.createEcKey() }
  const ca = [x.authority(), x.usage(5, 6)]
  const pemOf = (octets: Uint8Array) => x.writePem('CERTIFICATE', octets)
  const otherRoot = pemOf(x.issueCertificate({ ...other, by: other, extensions: ca, ...lasting }))
  const leaf = { name: 'O=Shop/CN=maria', key: signer, extensions: [x.usage(0)], ...lasting }
  const forged = pemOf(x.issueCertificate({ ...leaf, by: other }))
  const file = join(folder, 'partner.pem')
  writeFileSync(file, otherRoot)
  const rows: readonly (readonly [MessageSecurity, boolean, boolean])[] = [
    [{ authorities: [], partners: [{ authorities: authority, people: ['maria'] }, { signerFiles: [file], people: ['clara'] }] }, true, false],
    [{ authorities: [], partners: [{ authorities: authority, people: ['clara'] }, { signerFiles: [file], people: ['maria'] }] }, false, true],
    [{ authorities: [], partners: [{ authorities: [authority, otherRoot], people: 'all' }] }, true, true],
    [{ authorities: [], partners: [{ authorities: authority, people: ['maria'] }, { certificates: forged, people: ['clara'] }] }, true, false],
  ] // biome-ignore format: a table
  for (const [settings, ours, theirs] of rows) {
    const { sign, lines } = await host(settings)
    assert.deepEqual([await sign(maria), await sign(forged)], [ours, theirs])
    assert.match(JSON.stringify(lines), ours && theirs ? /.*/ : /an authority that may not identify maria/)
  }
  for (const settings of [
    { authorities: [authority, otherRoot] },
    { signerFiles: [file] },
    { partners: [{ authorities: otherRoot, people: ['clara'] }] },
  ])
    await assert.rejects(
      host(settings),
      /messageSecurity trusts 2 authorities, each of which could identify anyone: list the people of each in messageSecurity\.partners \(--partner NAMES=FILE\)/,
    )
})

test('a file that brings another authority while the service runs changes nothing, and is reported', async () => {
  const file = join(folder, 'growing.pem')
  writeFileSync(file, authority)
  let skew = 0
  const { sign, lines } = await host({ authorities: [], signerFiles: [file] }, { clock: () => Date.now() + skew })
  assert.equal(await sign(maria), true)
  const other: x.Holder = { name: 'O=Other/CN=Root', key: x.createEcKey() }
  const draft = { ...other, by: other, extensions: [x.authority(), x.usage(5, 6)], ...lasting }
  writeFileSync(file, `${authority}${x.writePem('CERTIFICATE', x.issueCertificate(draft))}`)
  skew += 2000
  assert.equal(await sign(maria), true)
  assert.match(JSON.stringify(lines), /trusts 2 authorities/)
})

test('a mistake ends the start, with its place', async () => {
  const rows: readonly (readonly [MessageSecurity, RegExp])[] = [
    [{ authorities: ['root.pem'] }, /messageSecurity\.authorities\[0\] contains no -----BEGIN CERTIFICATE-----/],
    [{ crls: 'root.crl' }, /messageSecurity\.crls contains no -----BEGIN X509 CRL-----/],
    [{ crlFiles: [join(folder, 'absent.crl')] }, /absent\.crl cannot be used/],
    [{ crlAddresses: ['ldap://bank/root'] }, /crlAddresses has "ldap:\/\/bank\/root": give an address with http/],
    [{ ocspAddresses: ['bank/ocsp'] }, /ocspAddresses has "bank\/ocsp": give an address with http/],
    [{ ocspHash: 'md5' as never }, /messageSecurity\.ocspHash is "md5": give one of sha1, sha256/],
    [{ revocation: 'required' }, /messageSecurity\.revocation is required without a CRL/],
    [{ purposes: ['signing' as never] }, /messageSecurity\.purposes has "signing"/],
    [
      { means: { decrypts: [{ key: 'x', certificate: maria }] } },
      /messageSecurity\.means\.decrypts\[0\]\.key is not a private key/,
    ],
  ]
  for (const [messageSecurity, says] of rows)
    await assert.rejects(startHosted({ messageSecurity: { authorities: authority, ...messageSecurity } }), says)
})

test('the command line: revocation, purposes and names; mistakes are reported before anything is served', () => {
  const root = join(import.meta.dirname, '..', '..')
  const run = (...words: string[]) => {
    const cli = [
      '--conditions=diglot-source',
      join(root, 'src', 'cli.ts'),
      'serve',
      join(root, 'examples/orders/service.ts'),
    ]
    const given = ['--port', '0', '--data', ':memory:', '--key', join(folder, 'key'), ...words]
    const { status, stderr } = spawnSync(process.execPath, [...cli, ...given], { encoding: 'utf8', timeout: 120_000 })
    return `${status} ${stderr}`
  }
  const signers = join(folder, 'signers.pem')
  writeFileSync(signers, authority)
  for (const flag of [
    ['--crl', 'x.crl'],
    ['--ocsp', 'http://bank.example/ocsp'],
    ['--ocsp-hash', 'sha256'],
    ['--revocation', 'required'],
    ['--purpose', 'clientAuth'],
  ] as const)
    assert.equal(run(...flag), `2 diglot: ${flag[0]} requires --signers or --partner\n`)
  assert.equal(run('--message-key-passphrase', signers), '2 diglot: --message-key-passphrase requires --message-key\n')
  assert.match(run('--partner', 'clara'), /^2 diglot: --partner clara is not NAMES=FILE: write/)
  assert.match(run('--partner', 'clara=none.pem'), /^1 diglot: .*none\.pem cannot be used/)
  assert.match(run('--partner', `clara=${signers}`, '--signers', signers), /^1 diglot: .*trusts 2 authorities/)
  assert.match(run('--signers', signers, '--crl', join(folder, 'none.crl')), /^1 diglot: .*none\.crl cannot be used/)
  assert.match(run('--signers', signers, '--revocation', 'required'), /^1 diglot: .*without a CRL/)
  assert.match(run('--signers', signers, '--revocation', 'maybe'), /^2 diglot: .*required, ifKnown/)
  assert.match(run('--signers', signers, '--purpose', 'signing'), /^1 diglot: .*purposes has "signing"/)
  assert.match(run('--ocsp-hash', 'md5'), /^2 diglot: .*sha1, sha256/)
  assert.match(run('--certificate-name', 'any'), /^2 diglot: .*commonName, email, dns, uri/)
})
