/** XML Encryption, out and in (WSS §9), and octets beside the XML (M5). */
import assert from 'node:assert/strict'
import {
  constants,
  createCipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import { test } from 'node:test'
import {
  cipherUri,
  decryptOctets,
  encryptOctets,
  receiveKey,
  wrapKey,
  wrapUri,
} from '../../src/security/crypto/cipher.ts'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import type { VerificationContext } from '../../src/security/policy/verification-context.ts'
import type { Encryption } from '../../src/security/protect/encrypt.ts'
import { type Protection, protectMessage } from '../../src/security/protect/protect.ts'
import { Insecure } from '../../src/security/security-fault.ts'
import {
  keyIdentifierEncryptedKeyUri,
  passwordTextUri,
  wsse11Ns,
  wsseNs,
  wsuNs,
  xenc11Ns,
  xencNs,
} from '../../src/security/vocabulary.ts'
import { writeElement } from '../../src/xml/index.ts'
import {
  guard,
  messageId,
  now,
  open,
  outcome,
  pair,
  plainMessage,
  refused,
  resigned,
  signedDemand,
  signedPolicy,
  soap11Uri,
  taken,
  trusting,
} from './message.ts'

const alice = pair('alice')
const bob = pair('bob')
const trust = trusting('ca')
const means: Partial<VerificationContext> = { trust, decrypts: [bob] }
const signature: Protection['signature'] = {
  key: alice.key,
  by: { certificate: alice.certificate, refer: 'direct' },
  parts: ['Body', 'Timestamp'],
}
const label = Buffer.alloc(0)
const sealed = (more: Partial<Encryption> = {}, rest: Protection = {}, version?: string) =>
  protectMessage(
    plainMessage(version),
    { timestamp: {}, signature, encryption: { to: bob.certificate, parts: ['Body'], ...more }, ...rest },
    now,
  ).envelope
const secret: SecurityPolicy = { required: true, anyOf: [{ ...signedDemand, encrypted: ['Body'] }] }

const kinds: [string, Partial<Encryption>][] = [
  ['AES-128-GCM', { cipher: { mode: 'gcm', size: 16 } }],
  ['AES-192-GCM', { cipher: { mode: 'gcm', size: 24 } }],
  ['AES-256-GCM', {}],
  ['RSA-OAEP with SHA-1 alone', { transport: { digest: 'sha1', mask: 'sha1', label } }],
  ['RSA-OAEP with SHA-256 and MGF1 with SHA-1', { transport: { digest: 'sha256', mask: 'sha1', label } }],
  ['RSA-OAEP with SHA-256 alone', { transport: { digest: 'sha256', mask: 'sha256', label } }],
  ['RSA-OAEP with SHA-512 and MGF1 with SHA-256', { transport: { digest: 'sha512', mask: 'sha256', label } }],
  ['RSA-OAEP with a label', { transport: { digest: 'sha256', mask: 'sha1', label: Buffer.from('label') } }],
]
for (const [title, more] of kinds) {
  for (const version of [soap11Uri, undefined]) {
    test(`WSS §9: a Body encrypted with ${title}, signed before (${version ?? 'SOAP 1.2'})`, async () => {
      const text = sealed(more, {}, version)
      assert.doesNotMatch(text, /o-1/)
      const message = open(text)
      const { body } = await taken(outcome(message, secret, guard(now, means)))
      assert.equal(body, message.body)
      assert.match(writeElement(body), /<o:GetOrder[^>]*><id>o-1<\/id><\/o:GetOrder>/)
    })
  }
}

test('XML Encryption §5.2.1: CBC without a signature over the ciphertext is refused, unless the policy allows it', async () => {
  for (const size of [16, 24, 32] as const) {
    const text = sealed({ cipher: { mode: 'cbc', size } })
    await refused(outcome(open(text), secret, guard(now, means)), 'UnsupportedAlgorithm', /CBC/)
    await taken(outcome(open(text), { ...secret, allow: ['cbc'] }, guard(now, means)))
  }
})

test('CBC under a signature that was verified before is taken', async () => {
  const inner = protectMessage(
    plainMessage(),
    { encryption: { to: bob.certificate, parts: ['Body'], cipher: { mode: 'cbc', size: 32 } } },
    now,
  ).envelope
  const key = /<xenc:EncryptedKey .*<\/xenc:EncryptedKey>/s.exec(inner)![0]
  const bare = inner.replace(/<wsse:Security .*<\/wsse:Security>/s, '')
  const signed = protectMessage(bare, { timestamp: {}, signature }, now).envelope
  const text = signed.replace('</wsse:Security>', `${key}</wsse:Security>`)
  const { body } = await taken(outcome(open(text), secret, guard(now, means)))
  assert.match(writeElement(body), /o-1/)
  const early = signed.replace(/<wsu:Timestamp/, `${key}<wsu:Timestamp`)
  await refused(outcome(open(early), secret, guard(now, means)), 'UnsupportedAlgorithm', /CBC/)
})

test('XML Encryption §5.5.1: PKCS#1 v1.5 is refused unless allowed, and a wrong padding ends as a wrong key does', async () => {
  const text = sealed({ transport: 'rsa-1_5' })
  await refused(outcome(open(text), secret, guard(now, means)), 'UnsupportedAlgorithm', /key transport/)
  const allowed: SecurityPolicy = { ...secret, allow: ['rsa-1_5'] }
  await taken(outcome(open(text), allowed, guard(now, means)))
  const broken = text.replace(/<xenc:CipherValue>[^<]*/, `<xenc:CipherValue>${Buffer.alloc(256, 1).toString('base64')}`)
  await refused(outcome(open(broken), allowed, guard(now, means)), 'FailedCheck', /^decryption$/)
})

test('a key or a ciphertext that was changed is one failure', async () => {
  const text = sealed()
  const values = [...text.matchAll(/<xenc:CipherValue>([^<]*)/g)].map(([, value = '']) => value)
  assert.equal(values.length, 2)
  for (const value of values) {
    for (const at of [0, Math.floor(value.length / 2), value.length - 5]) {
      const other = value[at] === 'A' ? 'B' : 'A'
      const broken = text.replace(value, value.slice(0, at) + other + value.slice(at + 1))
      await refused(outcome(open(broken), secret, guard(now, means)), 'FailedCheck', /^decryption$/)
    }
    await refused(outcome(open(text.replace(value, 'AAAA')), secret, guard(now, means)), 'FailedCheck', /^decryption$/)
  }
  await refused(outcome(open(text), secret, guard(now, { trust })), 'SecurityTokenUnavailable')
  await refused(outcome(open(text), secret, guard(now, { trust, decrypts: [alice] })), 'SecurityTokenUnavailable')
})

test('RFC 8017 §7.1.2: every octet of the padding counts, and its failures are one', () => {
  const transport = { digest: 'sha256', mask: 'sha1', label } as const
  const mask = (seed: Buffer, length: number) => {
    const parts = Array.from({ length: Math.ceil(length / 20) }, (_, at) =>
      createHash('sha1')
        .update(seed)
        .update(Buffer.of(0, 0, 0, at))
        .digest(),
    )
    return Buffer.concat(parts).subarray(0, length)
  }
  const xor = (a: Buffer, b: Buffer) => Buffer.from(a.map((octet, at) => octet ^ b[at]!))
  const padded = (change: (data: Buffer) => void, first = 0) => {
    const data = Buffer.concat([createHash('sha256').digest(), Buffer.alloc(182), Buffer.from('\x01secret!!')])
    change(data)
    assert.equal(data.length, 256 - 33)
    const seed = randomBytes(32)
    const masked = xor(data, mask(seed, data.length))
    const block = Buffer.concat([Buffer.of(first), xor(seed, mask(masked, 32)), masked])
    return publicEncrypt({ key: bob.certificate.key, padding: constants.RSA_NO_PADDING }, block)
  }
  assert.equal(
    receiveKey(
      bob.key,
      padded(() => {}),
      transport,
    )?.toString(),
    'secret!!',
  )
  const broken: [string, Buffer][] = [
    ['the first octet', padded(() => {}, 1)],
    ['the hash of the label', padded(data => data.fill(1, 0, 1))],
    ['an octet of the padding', padded(data => data.fill(2, 100, 101))],
    ['no end of the padding', padded(data => data.fill(0, 32))],
    ['nothing of it right', randomBytes(256).fill(0, 0, 1)],
    ['another length', Buffer.alloc(255)],
  ]
  for (const [what, sealed] of broken) assert.equal(receiveKey(bob.key, sealed, transport), undefined, what)
})

/** A message with one EncryptedData of this plaintext, under a secret that both sides have. */
const shared = createSecretKey(Buffer.alloc(32, 9))
const named = { ...means, secrets: new Map([['shared', shared]]) }
const data = (plain: string, type = 'Content', id = 'd') =>
  `<e:EncryptedData xmlns:e="${xencNs}" Id="${id}" Type="${xencNs}${type}"><e:EncryptionMethod Algorithm="${xenc11Ns}aes256-gcm"/>` +
  `<k:KeyInfo xmlns:k="http://www.w3.org/2000/09/xmldsig#"><k:KeyName>shared</k:KeyName></k:KeyInfo><e:CipherData><e:CipherValue>` +
  `${encryptOctets({ mode: 'gcm', size: 32 }, shared.export(), Buffer.from(plain)).toString('base64')}</e:CipherValue></e:CipherData></e:EncryptedData>`
const listed = (body: string, ids: readonly string[] = ['d'], header = '', block = '') =>
  plainMessage(
    undefined,
    `<w:Security xmlns:w="${wsseNs}" xmlns:u="${wsuNs}"><e:ReferenceList xmlns:e="${xencNs}">${ids.map(id => `<e:DataReference URI="#${id}"/>`).join('')}</e:ReferenceList>${block}</w:Security>${header}`,
    body,
  )
const optional: SecurityPolicy = { required: false, anyOf: [{ caller: 'username' }] }
const deep = `${'<x>'.repeat(70)}${'</x>'.repeat(70)}`

const plains: [string, string, string][] = [
  ['several nodes as content', listed(data('<a/>text<b/>')), '<a/>text<b/>'],
  ['an element', listed(data(' <a><b/></a> ', 'Element')), '<a><b/></a>'],
  ['two elements as one', listed(data('<a/><b/>', 'Element')), 'FailedCheck'],
  ['text as an element', listed(data('text', 'Element')), 'FailedCheck'],
  ['data of another type', listed(data('<a/>', 'Other')), 'UnsupportedAlgorithm'],
  ['what is not well-formed', listed(data('<a>')), 'FailedCheck'],
  ['what closes the place it is in', listed(data('</x><x>')), 'FailedCheck'],
  ['a document type', listed(data('<!DOCTYPE a><a/>')), 'FailedCheck'],
  ['an entity', listed(data('&e;')), 'FailedCheck'],
  ['a processing instruction', listed(data('<?p i?>')), 'FailedCheck'],
  ['a prefix that stands for something at its place', listed(data('<s:a/>')), '<s:a/>'],
  ['a prefix that stands for nothing', listed(data('<q:a/>')), 'FailedCheck'],
  ['what is nested too deep', listed(data(deep)), 'FailedCheck'],
  ['an identifier that is there already', listed(data(`<a xml:id="m"/>`), ['d'], '<b xml:id="m"/>'), 'InvalidSecurity'],
  ['what is encrypted again', listed(data(data('<a/>', 'Content', 'inner')), ['d', 'inner']), '<a/>'],
  ['nothing', listed(data('')), ''],
  ['data that is not there', listed('', ['other']), 'InvalidSecurity'],
  ['a reference to another element', listed('<a xml:id="d"/>'), 'InvalidSecurity'],
  [
    'seventeen pieces',
    listed(
      Array.from({ length: 17 }, (_, at) => data('<a/>', 'Content', `d${at}`)).join(''),
      Array.from({ length: 17 }, (_, at) => `d${at}`),
    ),
    'InvalidSecurity',
  ],
  ['a cipher that is not taken', listed(data('<a/>').replace('aes256-gcm', 'des')), 'UnsupportedAlgorithm'],
  ['a key of another size', listed(data('<a/>').replace('aes256-gcm', 'aes128-gcm')), 'FailedCheck'],
  ['a key that is not known', listed(data('<a/>').replace('>shared<', '>other<')), 'SecurityTokenUnavailable'],
  ['no key', listed(data('<a/>').replace(/<k:KeyInfo.*<\/k:KeyInfo>/s, '')), 'SecurityTokenUnavailable'],
  [
    'data with two keys',
    listed(data('<a/>').replace('</k:KeyName>', '</k:KeyName><k:KeyName>other</k:KeyName>')),
    'SecurityTokenUnavailable',
  ],
  [
    'a KeyInfo of another kind',
    listed(data('<a/>').replace(/<k:KeyName>[^<]*<.k:KeyName>/, '<k:MgmtData>x</k:MgmtData>')),
    'SecurityTokenUnavailable',
  ],
  [
    'a cipher with parameters',
    listed(data('<a/>').replace('aes256-gcm"/>', 'aes256-gcm"><e:KeySize>8</e:KeySize></e:EncryptionMethod>')),
    'UnsupportedAlgorithm',
  ],
  ['a list of keys', listed(data('<a/>')).replace('e:DataReference', 'e:KeyReference'), 'InvalidSecurity'],
  [
    'a key elsewhere',
    listed(
      data('<a/>').replace(/<e:CipherValue>.*<\/e:CipherValue>/s, '<e:CipherReference URI="http://127.0.0.1/x"/>'),
    ),
    'InvalidSecurity',
  ],
]
for (const [title, message, expected] of plains) {
  test(`XML Encryption §4.4: ${title}: ${expected || 'an empty Body'}`, async () => {
    const opened = open(message)
    const result = await outcome(opened, optional, guard(now, named))
    if (result instanceof Insecure) assert.equal(result.fault, expected)
    else
      assert.equal(
        opened.body.children
          .map(child => writeElement(child))
          .join('')
          .replace(/ xmlns:s="[^"]*"/, ''),
        expected,
      )
  })
}

test('WSS §9.3: a header block comes in an EncryptedHeader, and stands in the Header then', async () => {
  const text = sealed(
    { parts: ['Body', messageId] },
    { signature: { ...signature, parts: ['Body', 'Timestamp', messageId] } },
  )
  assert.doesNotMatch(text, /m-1/)
  const policy: SecurityPolicy = {
    required: true,
    anyOf: [{ ...signedDemand, signed: ['Body', 'Timestamp', messageId], encrypted: ['Body', messageId] }],
  }
  const message = open(text)
  const { blocks, covers } = await taken(outcome(message, policy, guard(now, means)))
  assert.deepEqual(blocks, message.header!.elements(messageId))
  assert.equal(blocks[0]!.text, 'm-1')
  assert.equal(covers(blocks[0]!), true)
  const clear = text.replace(/<wsse11:EncryptedHeader.*<\/wsse11:EncryptedHeader>/s, '')
  await refused(outcome(open(clear), policy, guard(now, means)), 'InvalidSecurity', /other than EncryptedData/)
})

test('a token comes encrypted, and a password in it may travel anywhere', async () => {
  const username = { name: 'alice', password: 'open sesame', kind: 'text' } as const
  const text = protectMessage(
    plainMessage(),
    { username, encryption: { to: bob.certificate, parts: ['Token'] } },
    now,
  ).envelope
  assert.doesNotMatch(text, /sesame|PasswordText/)
  const policy: SecurityPolicy = { required: true, anyOf: [{ caller: 'username', encrypted: ['Token'] }] }
  const result = await taken(outcome({ ...open(text), confidential: false }, policy, guard(now, means)))
  assert.equal(result.caller?.subject, 'alice')
  const clear = protectMessage(plainMessage(), { username }, now).envelope
  await refused(outcome(open(clear), policy, guard(now, means)), 'InvalidSecurity', /Token is not encrypted/)
  const direct = listed(
    '',
    [],
    '',
    data(
      `<w:UsernameToken xmlns:w="${wsseNs}"><w:Username>alice</w:Username><w:Password Type="${passwordTextUri}">open sesame</w:Password></w:UsernameToken>`,
      'Element',
    ),
  )
  assert.equal((await taken(outcome(open(direct), policy, guard(now, named)))).caller?.subject, 'alice')
})

test('a second Timestamp does not come in by decryption', async () => {
  const stamp = (id: string) =>
    `<u:Timestamp xmlns:u="${wsuNs}" u:Id="${id}"><u:Created>${new Date(now).toISOString()}</u:Created></u:Timestamp>`
  const text = listed('', [], '', stamp('one') + data(stamp('two'), 'Element'))
  await refused(outcome(open(text), optional, guard(now, named)), 'InvalidSecurity', /two/)
  const alone = listed('', [], '', data(stamp('two'), 'Element'))
  await refused(outcome(open(alone), optional, guard(now, named)), 'InvalidSecurity', /encrypted Timestamp/)
})

test('what a policy has encrypted does not come in clear, nor beside what is encrypted', async () => {
  const text = protectMessage(plainMessage(), { timestamp: {}, signature }, now).envelope
  await refused(outcome(open(text), secret, guard(now, means)), 'InvalidSecurity', /Body is not encrypted/)
  const beside = protectMessage(
    plainMessage(undefined, '', `<a/>${data('<b/>')}`),
    { timestamp: {}, signature },
    now,
  ).envelope
  const list = `<e:ReferenceList xmlns:e="${xencNs}"><e:DataReference URI="#d"/></e:ReferenceList></wsse:Security>`
  const policy: SecurityPolicy = { ...secret }
  const partly = open(beside.replace('</wsse:Security>', list))
  await refused(outcome(partly, policy, guard(now, named)), 'InvalidSecurity', /Body is not encrypted/)
})

/** A message with so many pieces of data, each with an EncryptedKey of its own, wrapped with this key. */
function wrappedKeys(kek: KeyObject, count: number): string {
  const pieces = Array.from({ length: count }, (_, at) => {
    const session = randomBytes(32)
    const key =
      `<e:EncryptedKey xmlns:e="${xencNs}" xmlns:k="http://www.w3.org/2000/09/xmldsig#" Id="k${at}"><e:EncryptionMethod Algorithm="${wrapUri(kek.symmetricKeySize ?? 0)}"/>` +
      `<k:KeyInfo><k:KeyName>kek</k:KeyName></k:KeyInfo><e:CipherData><e:CipherValue>${wrapKey(kek, session).toString('base64')}</e:CipherValue></e:CipherData>` +
      `<e:ReferenceList><e:DataReference URI="#d${at}"/></e:ReferenceList></e:EncryptedKey>`
    const cipher = encryptOctets({ mode: 'gcm', size: 32 }, session, Buffer.from('<a/>')).toString('base64')
    const body = data('', 'Content', `d${at}`)
      .replace(/<k:KeyInfo.*<\/k:KeyInfo>/s, '')
      .replace(/<e:CipherValue>[^<]*/, `<e:CipherValue>${cipher}`)
    return { key, body }
  })
  const keys = pieces.map(({ key }) => key).join('')
  return plainMessage(
    undefined,
    `<w:Security xmlns:w="${wsseNs}">${keys}</w:Security>`,
    pieces.map(({ body }) => body).join(''),
  )
}

test('RFC 3394: an EncryptedKey wrapped with a secret that both sides have', async () => {
  for (const size of [16, 24, 32]) {
    const kek = createSecretKey(Buffer.alloc(size, 5))
    const text = wrappedKeys(kek, 1)
    const message = open(text)
    await taken(outcome(message, optional, guard(now, { secrets: new Map([['kek', kek]]) })))
    assert.match(writeElement(message.body), /<a\/>/)
    const said = open(text.replace(wrapUri(size), wrapUri(size === 16 ? 32 : 16)))
    await refused(
      outcome(said, optional, guard(now, { secrets: new Map([['kek', kek]]) })),
      'FailedCheck',
      /^decryption$/,
    )
    for (const other of [Buffer.alloc(size, 6), Buffer.alloc(size === 16 ? 32 : 16, 5)]) {
      const secrets = new Map([['kek', createSecretKey(other)]])
      await refused(outcome(open(text), optional, guard(now, { secrets })), 'FailedCheck', /^decryption$/)
    }
  }
})

test('an EncryptedHeader is the wrapping of one block', async () => {
  const wrapped = (more: string) =>
    listed(
      '<a/>',
      ['d'],
      `<h:EncryptedHeader xmlns:h="${wsse11Ns}">${data('<b xmlns="urn:b"/>', 'Element')}${more}</h:EncryptedHeader>`,
    )
  const { blocks } = await taken(outcome(open(wrapped('')), optional, guard(now, named)))
  assert.equal(blocks.length, 1)
  await refused(outcome(open(wrapped('<c/>')), optional, guard(now, named)), 'InvalidSecurity', /EncryptedHeader/)
})

test('WSS §7.3: data refers to a key of the message by its digest, or by an identifier of an EncryptedKey', async () => {
  const kek = createSecretKey(Buffer.alloc(32, 5))
  const secrets = new Map([['kek', kek]])
  const text = wrappedKeys(kek, 1)
  const sealed = Buffer.from(/<e:CipherValue>([^<]*)/.exec(text)![1]!, 'base64')
  const digest = createHash('sha1').update(sealed).digest('base64')
  const by = (reference: string) => {
    const keyInfo = `<k:KeyInfo xmlns:k="http://www.w3.org/2000/09/xmldsig#"><w:SecurityTokenReference xmlns:w="${wsseNs}">${reference}</w:SecurityTokenReference></k:KeyInfo>`
    return open(text.replace(/(<e:EncryptedData.*?<e:EncryptionMethod[^>]*>)/s, `$1${keyInfo}`))
  }
  const identifier = (value: string) =>
    `<w:KeyIdentifier ValueType="${keyIdentifierEncryptedKeyUri}">${value}</w:KeyIdentifier>`
  await taken(outcome(by(identifier(digest)), optional, guard(now, { secrets })))
  await taken(outcome(by('<w:Reference URI="#k0"/>'), optional, guard(now, { secrets })))
  const twice = '<w:Reference URI="#k0"/><w:Reference URI="#k0"/>'
  const refusals = [twice, identifier('AAAA'), '<w:Reference URI="#d0"/>', '<w:Reference URI="#none"/>']
  for (const reference of refusals) {
    await refused(outcome(by(reference), optional, guard(now, { secrets })), 'SecurityTokenUnavailable')
  }
  const disguised = by('<w:Reference URI="#k0"/>')
  const renamed = writeElement(disguised.envelope).replaceAll('w:SecurityTokenReference', 'w:TokenReference')
  await refused(
    outcome(open(renamed), optional, guard(now, { secrets })),
    'SecurityTokenUnavailable',
    /unsupported kind/,
  )
  const keyless = text.replace(/<k:KeyInfo>.*?<\/k:KeyInfo>/, '')
  await refused(outcome(open(keyless), optional, guard(now, { secrets })), 'SecurityTokenUnavailable')
})

test('XML Encryption §5.5.2: a mask that is not known, or that rsa-oaep-mgf1p does not have', async () => {
  const modern = sealed({ transport: { digest: 'sha256', mask: 'sha256', label } })
  await taken(outcome(open(modern), secret, guard(now, means)))
  const unknown = modern.replace('mgf1sha256', 'mgf1md5')
  await refused(outcome(open(unknown), secret, guard(now, means)), 'UnsupportedAlgorithm', /unsupported mask/)
  const older = modern.replace(`${xenc11Ns}rsa-oaep"`, `${xencNs}rsa-oaep-mgf1p"`)
  await refused(outcome(open(older), secret, guard(now, means)), 'UnsupportedAlgorithm', /does not have/)
})

test('at most four keys', async () => {
  const kek = createSecretKey(Buffer.alloc(32, 5))
  const secrets = new Map([['kek', kek]])
  await taken(outcome(open(wrappedKeys(kek, 4)), optional, guard(now, { secrets })))
  await refused(
    outcome(open(wrappedKeys(kek, 5)), optional, guard(now, { secrets })),
    'InvalidSecurity',
    /too many keys/,
  )
})

test('XML Encryption §5.2: the padding of CBC is of any octets, and its length is within the block', () => {
  const key = Buffer.alloc(16, 1)
  const cipher = { mode: 'cbc', size: 16 } as const
  const raw = (padded: Buffer) => {
    const vector = Buffer.alloc(16)
    const make = createCipheriv('aes-128-cbc', key, vector).setAutoPadding(false)
    return Buffer.concat([vector, make.update(padded), make.final()])
  }
  const block = (last: number) => Buffer.concat([Buffer.from('<a/>'), Buffer.alloc(11, 7), Buffer.of(last)])
  assert.equal(decryptOctets(cipher, key, raw(block(12)))?.toString(), '<a/>')
  for (const last of [0, 17, 255]) assert.equal(decryptOctets(cipher, key, raw(block(last))), undefined)
  for (const length of [0, 1, 12, 27, 28, 32])
    assert.equal(decryptOctets({ mode: 'gcm', size: 16 }, key, Buffer.alloc(length)), undefined)
  assert.equal(decryptOctets({ mode: 'cbc', size: 32 }, key, raw(block(12))), undefined)
  for (const length of [0, 16, 17, 31]) assert.equal(decryptOctets(cipher, key, Buffer.alloc(length)), undefined)
  assert.equal(cipherUri(cipher), `${xencNs}aes128-cbc`)
})

// M5

const xop = 'http://www.w3.org/2004/08/xop/include'
const octets = Buffer.from('a picture')
const attachments = (parts: Record<string, Buffer>) => ({ uris: [], octets: (uri: string) => parts[uri] })
const include = (uri: string) => `<i:Include xmlns:i="${xop}" href="${uri}"/>`
const picture = (inside: string) => plainMessage(undefined, '', `<o:Put xmlns:o="urn:o"><data>${inside}</data></o:Put>`)

test('M5: a signature covers the octets that an Include stands for, and they are what is read', async () => {
  const whole = protectMessage(picture(octets.toString('base64')), { timestamp: {}, signature }, now).envelope
  const text = whole.replace(octets.toString('base64'), include('cid:p'))
  const message = { ...open(text), attachments: attachments({ 'cid:p': octets }) }
  const { body } = await taken(outcome(message, signedPolicy, guard(now, means)))
  assert.match(writeElement(body), new RegExp(`<data>${octets.toString('base64')}</data>`))
  const other = { ...open(text), attachments: attachments({ 'cid:p': Buffer.from('another') }) }
  await refused(outcome(other, signedPolicy, guard(now, means)), 'FailedCheck', /digest/)
  await refused(
    outcome({ ...open(text), attachments: attachments({}) }, signedPolicy, guard(now, means)),
    'InvalidSecurity',
    /Include/,
  )
})

const misused: [string, string][] = [
  ['two parts in one element', `<data>${include('cid:p')}${include('cid:q')}</data>`],
  ['an element beside a part', `<data><x/>${include('cid:p')}</data>`],
  ['text beside a part', `<data>x${include('cid:p')}</data>`],
  ['one part twice', `<data>${include('cid:p')}</data><data>${include('cid:p')}</data>`],
  ['one part twice, written in two ways', `<data>${include('cid:p')}</data><data>${include('cid:%70')}</data>`],
  ['a part that is not there', `<data>${include('cid:r')}</data>`],
  ['a part elsewhere', `<data>${include('http://127.0.0.1/p')}</data>`],
  ['an Include without an address', `<data><i:Include xmlns:i="${xop}"/></data>`],
]
for (const [title, inside] of misused) {
  test(`M5, M1: ${title}, under a signature over the Include itself`, async () => {
    const plain = plainMessage(undefined, '', `<o:Put xmlns:o="urn:o">${inside}</o:Put>`)
    assert.throws(() => protectMessage(plain, { timestamp: {}, signature }, now), TypeError)
    const hidden = protectMessage(plain.replaceAll('i:Include', 'i:Other'), { timestamp: {}, signature }, now).envelope
    const text = resigned(hidden.replaceAll('i:Other', 'i:Include'), alice.key)
    const parts = attachments({ 'cid:p': octets, 'cid:%70': octets, 'cid:q': octets })
    const result = outcome({ ...open(text), attachments: parts }, signedPolicy, guard(now, means))
    await refused(result, 'InvalidSecurity', /Include/)
  })
}

test('M5: a part that only what was encrypted refers to is refused', async () => {
  const hidden = plainMessage(undefined, '', data(`<o:Put xmlns:o="urn:o"><data>${include('cid:p')}</data></o:Put>`))
  const signed = protectMessage(hidden, { timestamp: {}, signature }, now).envelope
  const list = `<e:ReferenceList xmlns:e="${xencNs}"><e:DataReference URI="#d"/></e:ReferenceList></wsse:Security>`
  const message = { ...open(signed.replace('</wsse:Security>', list)), attachments: attachments({ 'cid:p': octets }) }
  await refused(outcome(message, signedPolicy, guard(now, named)), 'FailedCheck', /a part that is not signed/)
})
