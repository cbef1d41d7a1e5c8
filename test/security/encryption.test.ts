/** XML Encryption, out and in (WSS §9), and octets in other parts than the XML (M5). */
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
import { parseFragment } from '../../src/security/tree/tree-edit.ts'
import {
  keyIdentifierEncryptedKeyUri,
  passwordTextUri,
  wsse11Ns,
  wsseNs,
  wsuNs,
  xenc11Ns,
  xencNs,
} from '../../src/security/vocabulary.ts'
import type { PackedParts } from '../../src/soap/security-port.ts'
import { internName, Malformed, parseXml, writeElement } from '../../src/xml/index.ts'
import {
  createGuard,
  expectAccepted,
  expectRefusal,
  keyPair,
  messageId,
  now,
  openMessage,
  plainMessage,
  signAgain,
  signedDemand,
  signedMessage,
  signedPolicy,
  soap11Uri,
  trustOf,
  verifyOrRefuse,
} from './message.ts'

const alice = keyPair('alice')
const bob = keyPair('bob')
const trust = trustOf('ca')
const means: Partial<VerificationContext> = { trust, decrypts: [bob] }
const signature: Protection['signature'] = {
  key: alice.key,
  by: { certificate: alice.certificate, refer: 'direct' },
  parts: ['Body', 'Timestamp'],
}
const label = Buffer.alloc(0)
const seal = (more: Partial<Encryption> = {}, rest: Protection = {}, version?: string) =>
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
      const text = seal(more, {}, version)
      assert.doesNotMatch(text, /o-1/)
      const message = openMessage(text)
      const { body } = await expectAccepted(verifyOrRefuse(message, secret, createGuard(now, means)))
      assert.equal(body, message.body)
      assert.match(writeElement(body), /<o:GetOrder[^>]*><id>o-1<\/id><\/o:GetOrder>/)
    })
  }
}

test('XML Encryption §5.2.1: CBC without a signature over the ciphertext is refused, unless the policy allows it', async () => {
  for (const size of [16, 24, 32] as const) {
    const text = seal({ cipher: { mode: 'cbc', size } })
    await expectRefusal(
      verifyOrRefuse(openMessage(text), secret, createGuard(now, means)),
      'UnsupportedAlgorithm',
      /CBC/,
    )
    await expectAccepted(verifyOrRefuse(openMessage(text), { ...secret, allow: ['cbc'] }, createGuard(now, means)))
  }
})

test('CBC under a signature that was verified before is accepted', async () => {
  const inner = protectMessage(
    plainMessage(),
    { encryption: { to: bob.certificate, parts: ['Body'], cipher: { mode: 'cbc', size: 32 } } },
    now,
  ).envelope
  const key = /<xenc:EncryptedKey .*<\/xenc:EncryptedKey>/s.exec(inner)![0]
  const bare = inner.replace(/<wsse:Security .*<\/wsse:Security>/s, '')
  const signed = protectMessage(bare, { timestamp: {}, signature }, now).envelope
  const text = signed.replace('</wsse:Security>', `${key}</wsse:Security>`)
  const { body } = await expectAccepted(verifyOrRefuse(openMessage(text), secret, createGuard(now, means)))
  assert.match(writeElement(body), /o-1/)
  const early = signed.replace(/<wsu:Timestamp/, `${key}<wsu:Timestamp`)
  await expectRefusal(
    verifyOrRefuse(openMessage(early), secret, createGuard(now, means)),
    'UnsupportedAlgorithm',
    /CBC/,
  )
})

const operation = '<o:GetOrder xmlns:o="urn:o"><id>o-1</id></o:GetOrder>'
const sealedIn = (content: string) => `<o:GetOrder xmlns:o="urn:o">${content}</o:GetOrder>`
for (const [title, body, plain, expected] of [
  ['elements', '@', ` ${operation}\n`, 'taken'],
  ['a Body without content', '@', '', 'taken'],
  ['a text', sealedIn('<id>@</id>'), 'o-1', 'FailedCheck'],
  ['a long text', sealedIn('<id>@</id>'), 'o-1'.repeat(20), 'FailedCheck'],
  ['an element without content', sealedIn('<id>@</id>'), '', 'FailedCheck'],
  ['a short element', sealedIn('@'), '<id>o-1</id>', 'FailedCheck'],
  ['a longer element', sealedIn('@'), '<id>o-00001</id>', 'taken'],
  ['elements with text between', sealedIn('@'), '<id>o-1</id>, <id>o-1</id>', 'FailedCheck'],
  ['a comment', sealedIn('@'), '<!-- and nothing else -->', 'FailedCheck'],
] as const)
  test(`CBC under a signature, whose key nothing signs: ${title}: ${expected}`, async () => {
    const cipher = { mode: 'cbc', size: 32 } as const
    const whole = { encryption: { to: bob.certificate, parts: ['Body'], cipher } } as const
    const inner = protectMessage(plainMessage(undefined, undefined, plain), whole, now).envelope
    const [[data = ''] = [], [key = ''] = []] = ['EncryptedData', 'EncryptedKey'].map(
      each => new RegExp(`<xenc:${each} .*</xenc:${each}>`, 's').exec(inner) ?? [],
    )
    const bare = plainMessage(undefined, undefined, body.replace('@', data))
    const text = protectMessage(bare, { timestamp: {}, signature }, now).envelope
    const result = await verifyOrRefuse(
      openMessage(text.replace('</wsse:Security>', `${key}</wsse:Security>`)),
      signedPolicy,
      createGuard(now, means),
    )
    assert.equal(result instanceof Insecure ? result.fault : 'taken', expected)
  })

test('XML Encryption §5.5.1: PKCS#1 v1.5 is refused unless allowed, and a wrong padding ends like a wrong key', async () => {
  const text = seal({ transport: 'rsa-1_5' })
  await expectRefusal(
    verifyOrRefuse(openMessage(text), secret, createGuard(now, means)),
    'UnsupportedAlgorithm',
    /key transport/,
  )
  const allowed: SecurityPolicy = { ...secret, allow: ['rsa-1_5'] }
  await expectAccepted(verifyOrRefuse(openMessage(text), allowed, createGuard(now, means)))
  const broken = text.replace(/<xenc:CipherValue>[^<]*/, `<xenc:CipherValue>${Buffer.alloc(256, 1).toString('base64')}`)
  await expectRefusal(
    verifyOrRefuse(openMessage(broken), allowed, createGuard(now, means)),
    'FailedCheck',
    /^decryption$/,
  )
})

test('an altered key and an altered ciphertext give the same failure', async () => {
  const text = seal()
  const values = [...text.matchAll(/<xenc:CipherValue>([^<]*)/g)].map(([, value = '']) => value)
  assert.equal(values.length, 2)
  for (const value of values) {
    for (const at of [0, Math.floor(value.length / 2), value.length - 5]) {
      const other = value[at] === 'A' ? 'B' : 'A'
      const broken = text.replace(value, value.slice(0, at) + other + value.slice(at + 1))
      await expectRefusal(
        verifyOrRefuse(openMessage(broken), secret, createGuard(now, means)),
        'FailedCheck',
        /^decryption$/,
      )
    }
    await expectRefusal(
      verifyOrRefuse(openMessage(text.replace(value, 'AAAA')), secret, createGuard(now, means)),
      'FailedCheck',
      /^decryption$/,
    )
  }
  await expectRefusal(
    verifyOrRefuse(openMessage(text), secret, createGuard(now, { trust })),
    'SecurityTokenUnavailable',
  )
  await expectRefusal(
    verifyOrRefuse(openMessage(text), secret, createGuard(now, { trust, decrypts: [alice] })),
    'SecurityTokenUnavailable',
  )
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
const listData = (body: string, ids: readonly string[] = ['d'], header = '', block = '') =>
  plainMessage(
    undefined,
    `<w:Security xmlns:w="${wsseNs}" xmlns:u="${wsuNs}"><e:ReferenceList xmlns:e="${xencNs}">${ids.map(id => `<e:DataReference URI="#${id}"/>`).join('')}</e:ReferenceList>${block}</w:Security>${header}`,
    body,
  )
const optional: SecurityPolicy = { required: false, anyOf: [{ caller: 'username' }] }
const deep = `${'<x>'.repeat(70)}${'</x>'.repeat(70)}`

const plains: [string, string, string][] = [
  ['several nodes as content', listData(data('<a/>text<b/>')), '<a/>text<b/>'],
  ['an element', listData(data(' <a><b/></a> ', 'Element')), '<a><b/></a>'],
  ['two elements as one', listData(data('<a/><b/>', 'Element')), 'FailedCheck'],
  ['text as an element', listData(data('text', 'Element')), 'FailedCheck'],
  ['data of another type', listData(data('<a/>', 'Other')), 'UnsupportedAlgorithm'],
  ['what is not well-formed', listData(data('<a>')), 'FailedCheck'],
  ['what closes the place it is in', listData(data('</x><x>')), 'FailedCheck'],
  ['a document type', listData(data('<!DOCTYPE a><a/>')), 'FailedCheck'],
  ['an entity', listData(data('&e;')), 'FailedCheck'],
  ['a processing instruction', listData(data('<?p i?>')), 'FailedCheck'],
  ['a prefix that is declared at its place', listData(data('<s:a/>')), '<s:a/>'],
  ['a prefix that is not declared', listData(data('<q:a/>')), 'FailedCheck'],
  ['what is nested too deep', listData(data(deep)), 'FailedCheck'],
  [
    'an identifier that is there already',
    listData(data(`<a xml:id="m"/>`), ['d'], '<b xml:id="m"/>'),
    'InvalidSecurity',
  ],
  ['what is encrypted again', listData(data(data('<a/>', 'Content', 'inner')), ['d', 'inner']), '<a/>'],
  ['nothing', listData(data('')), ''],
  ['data that is not there', listData('', ['other']), 'InvalidSecurity'],
  ['a reference to another element', listData('<a xml:id="d"/>'), 'InvalidSecurity'],
  [
    'seventeen pieces',
    listData(
      Array.from({ length: 17 }, (_, at) => data('<a/>', 'Content', `d${at}`)).join(''),
      Array.from({ length: 17 }, (_, at) => `d${at}`),
    ),
    'InvalidSecurity',
  ],
  ['an unsupported cipher', listData(data('<a/>').replace('aes256-gcm', 'des')), 'UnsupportedAlgorithm'],
  ['a key of another size', listData(data('<a/>').replace('aes256-gcm', 'aes128-gcm')), 'FailedCheck'],
  ['a key that is not known', listData(data('<a/>').replace('>shared<', '>other<')), 'SecurityTokenUnavailable'],
  ['no key', listData(data('<a/>').replace(/<k:KeyInfo.*<\/k:KeyInfo>/s, '')), 'SecurityTokenUnavailable'],
  [
    'data with two keys',
    listData(data('<a/>').replace('</k:KeyName>', '</k:KeyName><k:KeyName>other</k:KeyName>')),
    'SecurityTokenUnavailable',
  ],
  [
    'a KeyInfo of another kind',
    listData(data('<a/>').replace(/<k:KeyName>[^<]*<.k:KeyName>/, '<k:MgmtData>x</k:MgmtData>')),
    'SecurityTokenUnavailable',
  ],
  [
    'a cipher with its KeySize (§3.2)',
    listData(data('<a/>').replace('aes256-gcm"/>', 'aes256-gcm"><e:KeySize> 256 </e:KeySize></e:EncryptionMethod>')),
    '<a/>',
  ],
  [
    'a cipher with another KeySize (§3.2)',
    listData(data('<a/>').replace('aes256-gcm"/>', 'aes256-gcm"><e:KeySize>128</e:KeySize></e:EncryptionMethod>')),
    'InvalidSecurity',
  ],
  [
    'a cipher with parameters',
    listData(data('<a/>').replace('aes256-gcm"/>', 'aes256-gcm"><e:OAEPparams>8</e:OAEPparams></e:EncryptionMethod>')),
    'UnsupportedAlgorithm',
  ],
  ['a list of keys', listData(data('<a/>')).replace('e:DataReference', 'e:KeyReference'), 'InvalidSecurity'],
  [
    'a key elsewhere',
    listData(
      data('<a/>').replace(/<e:CipherValue>.*<\/e:CipherValue>/s, '<e:CipherReference URI="http://127.0.0.1/x"/>'),
    ),
    'InvalidSecurity',
  ],
]
for (const [title, message, expected] of plains) {
  test(`XML Encryption §4.4: ${title}: ${expected || 'an empty Body'}`, async () => {
    const opened = openMessage(message)
    const result = await verifyOrRefuse(opened, optional, createGuard(now, named))
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

test('WSS §9.3: a header block arrives in an EncryptedHeader, and is then in the Header', async () => {
  const text = seal(
    { parts: ['Body', messageId] },
    { signature: { ...signature, parts: ['Body', 'Timestamp', messageId] } },
  )
  assert.doesNotMatch(text, /m-1/)
  assert.match(text, /<wsse11:EncryptedHeader [^>]*s:mustUnderstand="1"/, 'as the Security block is')
  const policy: SecurityPolicy = {
    required: true,
    anyOf: [{ ...signedDemand, signed: ['Body', 'Timestamp', messageId], encrypted: ['Body', messageId] }],
  }
  const message = openMessage(text)
  const { blocks, covers } = await expectAccepted(verifyOrRefuse(message, policy, createGuard(now, means)))
  assert.deepEqual(blocks, message.header!.elements(messageId))
  assert.equal(blocks[0]!.text, 'm-1')
  assert.equal(covers(blocks[0]!), true)
  const clear = text.replace(/<wsse11:EncryptedHeader.*<\/wsse11:EncryptedHeader>/s, '')
  await expectRefusal(
    verifyOrRefuse(openMessage(clear), policy, createGuard(now, means)),
    'InvalidSecurity',
    /other than EncryptedData/,
  )
})

test('a token arrives encrypted, and a password in it may travel anywhere', async () => {
  const username = { name: 'alice', password: 'open sesame', kind: 'text' } as const
  const text = protectMessage(
    plainMessage(),
    { username, encryption: { to: bob.certificate, parts: ['Token'] } },
    now,
  ).envelope
  assert.doesNotMatch(text, /sesame|PasswordText/)
  const policy: SecurityPolicy = { required: true, anyOf: [{ caller: 'username', encrypted: ['Token'] }] }
  const result = await expectAccepted(
    verifyOrRefuse({ ...openMessage(text), confidential: false }, policy, createGuard(now, means)),
  )
  assert.equal(result.caller?.subject, 'alice')
  const clear = protectMessage(plainMessage(), { username }, now).envelope
  await expectRefusal(
    verifyOrRefuse(openMessage(clear), policy, createGuard(now, means)),
    'InvalidSecurity',
    /Token is not encrypted/,
  )
  const direct = listData(
    '',
    [],
    '',
    data(
      `<w:UsernameToken xmlns:w="${wsseNs}"><w:Username>alice</w:Username><w:Password Type="${passwordTextUri}">open sesame</w:Password></w:UsernameToken>`,
      'Element',
    ),
  )
  assert.equal(
    (await expectAccepted(verifyOrRefuse(openMessage(direct), policy, createGuard(now, named)))).caller?.subject,
    'alice',
  )
})

test('a second Timestamp cannot come in by decryption', async () => {
  const stamp = (id: string) =>
    `<u:Timestamp xmlns:u="${wsuNs}" u:Id="${id}"><u:Created>${new Date(now).toISOString()}</u:Created></u:Timestamp>`
  const text = listData('', [], '', stamp('one') + data(stamp('two'), 'Element'))
  await expectRefusal(verifyOrRefuse(openMessage(text), optional, createGuard(now, named)), 'InvalidSecurity', /two/)
  const alone = listData('', [], '', data(stamp('two'), 'Element'))
  await expectRefusal(
    verifyOrRefuse(openMessage(alone), optional, createGuard(now, named)),
    'InvalidSecurity',
    /encrypted Timestamp/,
  )
})

test('a part that must be encrypted is accepted neither in clear nor next to the encrypted one', async () => {
  const text = protectMessage(plainMessage(), { timestamp: {}, signature }, now).envelope
  await expectRefusal(
    verifyOrRefuse(openMessage(text), secret, createGuard(now, means)),
    'InvalidSecurity',
    /Body is not encrypted/,
  )
  const beside = protectMessage(
    plainMessage(undefined, '', `<a/>${data('<b/>')}`),
    { timestamp: {}, signature },
    now,
  ).envelope
  const list = `<e:ReferenceList xmlns:e="${xencNs}"><e:DataReference URI="#d"/></e:ReferenceList></wsse:Security>`
  const policy: SecurityPolicy = { ...secret }
  const partly = openMessage(beside.replace('</wsse:Security>', list))
  await expectRefusal(
    verifyOrRefuse(partly, policy, createGuard(now, named)),
    'InvalidSecurity',
    /Body is not encrypted/,
  )
})

/**
 * A message with this many pieces of data, each with an EncryptedKey of its own, wrapped with this
 * key.
 */
function writeWrappedKeys(kek: KeyObject, count: number): string {
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

test('RFC 3394: an EncryptedKey wrapped with a shared secret', async () => {
  for (const size of [16, 24, 32]) {
    const kek = createSecretKey(Buffer.alloc(size, 5))
    const text = writeWrappedKeys(kek, 1)
    const message = openMessage(text)
    await expectAccepted(verifyOrRefuse(message, optional, createGuard(now, { secrets: new Map([['kek', kek]]) })))
    assert.match(writeElement(message.body), /<a\/>/)
    const said = openMessage(text.replace(wrapUri(size), wrapUri(size === 16 ? 32 : 16)))
    await expectRefusal(
      verifyOrRefuse(said, optional, createGuard(now, { secrets: new Map([['kek', kek]]) })),
      'FailedCheck',
      /^decryption$/,
    )
    for (const other of [Buffer.alloc(size, 6), Buffer.alloc(size === 16 ? 32 : 16, 5)]) {
      const secrets = new Map([['kek', createSecretKey(other)]])
      await expectRefusal(
        verifyOrRefuse(openMessage(text), optional, createGuard(now, { secrets })),
        'FailedCheck',
        /^decryption$/,
      )
    }
  }
})

test('WSS §9.3: an encrypted block that is processed must be signed, like any other', async () => {
  const isProcessed = ({ name }: { readonly name: unknown }) => name === messageId
  for (const [covered, isTaken] of [
    [['Body', 'Timestamp', messageId], true],
    [['Body', 'Timestamp'], false],
  ] as const) {
    const text = seal({ parts: ['Body', messageId] }, { signature: { ...signature, parts: covered } })
    const message = { ...openMessage(text), isProcessed }
    const result = verifyOrRefuse(message, signedPolicy, createGuard(now, means))
    await (isTaken ? expectAccepted(result) : expectRefusal(result, 'InvalidSecurity', /MessageID is not signed/))
  }
})

test('WSS §9.3: a signature over an EncryptedHeader, or the data in it, covers the block', async () => {
  const covered = internName('urn:b', 'b')
  const header = `<h:EncryptedHeader xmlns:h="${wsse11Ns}">${data('<b xmlns="urn:b">10</b>', 'Element')}</h:EncryptedHeader>`
  const list = `<e:ReferenceList xmlns:e="${xencNs}"><e:DataReference URI="#d"/></e:ReferenceList>`
  const policy: SecurityPolicy = {
    required: true,
    anyOf: [{ ...signedDemand, signed: ['Body', 'Timestamp', covered], encrypted: [covered] }],
  }
  for (const [part, isTaken] of [
    [internName(wsse11Ns, 'EncryptedHeader'), true],
    [messageId, false],
  ] as const) {
    const signing = { ...signature, parts: ['Body', 'Timestamp', part] } as const
    const sent = protectMessage(plainMessage(undefined, header), { timestamp: {}, signature: signing }, now).envelope
    const text = sent.replace('</ds:Signature>', `</ds:Signature>${list}`)
    const isProcessed = ({ name }: { readonly name: unknown }) => name === covered
    const message = { ...openMessage(text), isProcessed }
    const result = verifyOrRefuse(message, policy, createGuard(now, named))
    if (!isTaken) {
      await expectRefusal(result, 'InvalidSecurity', /b is not signed/)
      continue
    }
    const { blocks, covers } = await expectAccepted(result)
    assert.deepEqual([blocks[0]?.text, covers(blocks[0]!)], ['10', true])
  }
})

test('BSP 1.1 R3006, R5608: a reference to an EncryptedHeader by its wsu:Id', async () => {
  const header = (inside: string) =>
    `<h:EncryptedHeader xmlns:h="${wsse11Ns}" xmlns:u="${wsuNs}" u:Id="eh">${inside}</h:EncryptedHeader>`
  const block = data('<b xmlns="urn:b"/>', 'Element')
  const ask = (inside: string) =>
    verifyOrRefuse(openMessage(listData('<a/>', ['eh'], header(inside))), optional, createGuard(now, named))
  const { blocks } = await expectAccepted(ask(block))
  assert.deepEqual(
    blocks.map(each => each.name.uri),
    ['urn:b'],
  )
  for (const inside of ['', `${block}<c/>`, '<c/>'])
    await expectRefusal(ask(inside), 'InvalidSecurity', /other than one .*EncryptedData/)
})

test('BSP 1.1 R5440: nothing inside a Signature is encrypted', async () => {
  const text = signedMessage()
  const list = `<e:ReferenceList xmlns:e="${xencNs}"><e:DataReference URI="#d"/></e:ReferenceList>`
  const object = `<ds:Object>${data('<a/>', 'Element')}</ds:Object></ds:Signature>`
  const sealed = text.replace('<ds:Signature ', `${list}<ds:Signature `).replace('</ds:Signature>', object)
  await expectRefusal(
    verifyOrRefuse(openMessage(sealed), signedPolicy, createGuard(now, { ...means, ...named })),
    'InvalidSecurity',
    /inside a Signature/,
  )
})

test('BSP 1.1 R3228: EncryptedData is not a header block', async () => {
  const bare = listData('<a/>', ['d'], data('<b xmlns="urn:b"/>', 'Element'))
  await expectRefusal(
    verifyOrRefuse(openMessage(bare), optional, createGuard(now, named)),
    'InvalidSecurity',
    /EncryptedHeader/,
  )
})

test('an EncryptedHeader is the wrapping of one block', async () => {
  const wrapped = (more: string) =>
    listData(
      '<a/>',
      ['d'],
      `<h:EncryptedHeader xmlns:h="${wsse11Ns}">${data('<b xmlns="urn:b"/>', 'Element')}${more}</h:EncryptedHeader>`,
    )
  const { blocks } = await expectAccepted(verifyOrRefuse(openMessage(wrapped('')), optional, createGuard(now, named)))
  assert.equal(blocks.length, 1)
  await expectRefusal(
    verifyOrRefuse(openMessage(wrapped('<c/>')), optional, createGuard(now, named)),
    'InvalidSecurity',
    /EncryptedHeader/,
  )
})

test('WSS §7.3: data refers to a key of the message by its digest, or by an identifier of an EncryptedKey', async () => {
  const kek = createSecretKey(Buffer.alloc(32, 5))
  const secrets = new Map([['kek', kek]])
  const text = writeWrappedKeys(kek, 1)
  const sealed = Buffer.from(/<e:CipherValue>([^<]*)/.exec(text)![1]!, 'base64')
  const digest = createHash('sha1').update(sealed).digest('base64')
  const by = (reference: string) => {
    const keyInfo = `<k:KeyInfo xmlns:k="http://www.w3.org/2000/09/xmldsig#"><w:SecurityTokenReference xmlns:w="${wsseNs}">${reference}</w:SecurityTokenReference></k:KeyInfo>`
    return openMessage(text.replace(/(<e:EncryptedData.*?<e:EncryptionMethod[^>]*>)/s, `$1${keyInfo}`))
  }
  const identifier = (value: string) =>
    `<w:KeyIdentifier ValueType="${keyIdentifierEncryptedKeyUri}">${value}</w:KeyIdentifier>`
  await expectAccepted(verifyOrRefuse(by(identifier(digest)), optional, createGuard(now, { secrets })))
  await expectAccepted(verifyOrRefuse(by('<w:Reference URI="#k0"/>'), optional, createGuard(now, { secrets })))
  const twice = '<w:Reference URI="#k0"/><w:Reference URI="#k0"/>'
  const refusals = [twice, identifier('AAAA'), '<w:Reference URI="#d0"/>', '<w:Reference URI="#none"/>']
  for (const reference of refusals) {
    await expectRefusal(
      verifyOrRefuse(by(reference), optional, createGuard(now, { secrets })),
      'SecurityTokenUnavailable',
    )
  }
  const disguised = by('<w:Reference URI="#k0"/>')
  const renamed = writeElement(disguised.envelope).replaceAll('w:SecurityTokenReference', 'w:TokenReference')
  await expectRefusal(
    verifyOrRefuse(openMessage(renamed), optional, createGuard(now, { secrets })),
    'SecurityTokenUnavailable',
    /unsupported kind/,
  )
  const keyless = text.replace(/<k:KeyInfo>.*?<\/k:KeyInfo>/, '')
  await expectRefusal(
    verifyOrRefuse(openMessage(keyless), optional, createGuard(now, { secrets })),
    'SecurityTokenUnavailable',
  )
})

test('XML Encryption §5.5.2: an unknown mask, or one that rsa-oaep-mgf1p does not have', async () => {
  const modern = seal({ transport: { digest: 'sha256', mask: 'sha256', label } })
  await expectAccepted(verifyOrRefuse(openMessage(modern), secret, createGuard(now, means)))
  const unknown = modern.replace('mgf1sha256', 'mgf1md5')
  await expectRefusal(
    verifyOrRefuse(openMessage(unknown), secret, createGuard(now, means)),
    'UnsupportedAlgorithm',
    /unsupported mask/,
  )
  const older = modern.replace(`${xenc11Ns}rsa-oaep"`, `${xencNs}rsa-oaep-mgf1p"`)
  await expectRefusal(
    verifyOrRefuse(openMessage(older), secret, createGuard(now, means)),
    'UnsupportedAlgorithm',
    /does not have/,
  )
})

test('at most four keys', async () => {
  const kek = createSecretKey(Buffer.alloc(32, 5))
  const secrets = new Map([['kek', kek]])
  await expectAccepted(verifyOrRefuse(openMessage(writeWrappedKeys(kek, 4)), optional, createGuard(now, { secrets })))
  await expectRefusal(
    verifyOrRefuse(openMessage(writeWrappedKeys(kek, 5)), optional, createGuard(now, { secrets })),
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
const partsOf = (parts: Record<string, Buffer>): PackedParts =>
  new Map(Object.entries(parts).map(([uri, bytes]) => [uri.slice('cid:'.length), { type: 'image/png', bytes }]))
const include = (uri: string) => `<i:Include xmlns:i="${xop}" href="${uri}"/>`
const picture = (inside: string) => plainMessage(undefined, '', `<o:Put xmlns:o="urn:o"><data>${inside}</data></o:Put>`)

test('M5: a signature covers the octets that an Include represents, and those are read', async () => {
  const whole = protectMessage(picture(octets.toString('base64')), { timestamp: {}, signature }, now).envelope
  const text = whole.replace(octets.toString('base64'), include('cid:p'))
  const message = { ...openMessage(text), parts: partsOf({ 'cid:p': octets }) }
  const { body } = await expectAccepted(verifyOrRefuse(message, signedPolicy, createGuard(now, means)))
  assert.match(writeElement(body), new RegExp(`<data>${octets.toString('base64')}</data>`))
  const other = { ...openMessage(text), parts: partsOf({ 'cid:p': Buffer.from('another') }) }
  await expectRefusal(verifyOrRefuse(other, signedPolicy, createGuard(now, means)), 'FailedCheck', /digest/)
  await expectRefusal(
    verifyOrRefuse({ ...openMessage(text), parts: partsOf({}) }, signedPolicy, createGuard(now, means)),
    'InvalidSecurity',
    /Include/,
  )
})

const misused: [string, string][] = [
  ['two parts in one element', `<data>${include('cid:p')}${include('cid:q')}</data>`],
  ['an element next to a part', `<data><x/>${include('cid:p')}</data>`],
  ['text next to a part', `<data>x${include('cid:p')}</data>`],
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
    const text = signAgain(hidden.replaceAll('i:Other', 'i:Include'), alice.key)
    const parts = partsOf({ 'cid:p': octets, 'cid:q': octets })
    const result = verifyOrRefuse({ ...openMessage(text), parts }, signedPolicy, createGuard(now, means))
    await expectRefusal(result, 'InvalidSecurity', /Include/)
  })
}

const encryption: Protection['encryption'] = { to: bob.certificate, parts: ['Body'] }
for (const [title, protection] of [
  ['encrypted alone', { encryption }],
  ['signed, then encrypted', { timestamp: {}, signature, encryption }],
  ['encrypted, then signed', { timestamp: {}, signature, encryption, encryptsFirst: true }],
] as const)
  test(`XOP §2.1: cipher texts that are parts of a package, ${title}`, async () => {
    const parts: Record<string, Buffer> = {}
    const whole = protectMessage(picture('x'.repeat(2000)), protection, now).envelope
    const text = whole.replaceAll(/(<xenc:CipherValue>)([^<]+)/g, (_, tag, value) => {
      const uri = `cid:${Object.keys(parts).length}`
      parts[uri] = Buffer.from(value, 'base64')
      return tag + include(uri)
    })
    assert.equal(Object.keys(parts).length, 2)
    const policy = 'signature' in protection ? signedPolicy : optional
    const message = { ...openMessage(text), parts: partsOf(parts) }
    const { body } = await expectAccepted(verifyOrRefuse(message, policy, createGuard(now, means)))
    assert.match(writeElement(body), /<data>x{2000}</)
    for (const uri of Object.keys(parts)) {
      const other = parts[uri === 'cid:0' ? 'cid:1' : 'cid:0']!
      const swapped = { ...openMessage(text), parts: partsOf({ ...parts, [uri]: other }) }
      const found = await verifyOrRefuse(swapped, policy, createGuard(now, means))
      assert.ok(found instanceof Insecure, uri)
    }
  })

test('M5: a part that only what was encrypted refers to is refused', async () => {
  const hidden = plainMessage(undefined, '', data(`<o:Put xmlns:o="urn:o"><data>${include('cid:p')}</data></o:Put>`))
  const signed = protectMessage(hidden, { timestamp: {}, signature }, now).envelope
  const list = `<e:ReferenceList xmlns:e="${xencNs}"><e:DataReference URI="#d"/></e:ReferenceList></wsse:Security>`
  const message = {
    ...openMessage(signed.replace('</wsse:Security>', list)),
    parts: partsOf({ 'cid:p': octets }),
  }
  await expectRefusal(
    verifyOrRefuse(message, signedPolicy, createGuard(now, named)),
    'FailedCheck',
    /a part that is not signed/,
  )
})

test('WSS §9 what was decrypted has the prefixes of its place, where the nearest declaration counts', () => {
  const document = parseXml(Buffer.from('<p:a xmlns:p="urn:outer" xmlns:q="urn:q"><p:b xmlns:p="urn:inner"/></p:a>'))
  assert.ok(!(document instanceof Malformed))
  const [inner] = document.root.elements()
  const nodes = parseFragment('<p:c><q:d/></p:c>', inner!)
  assert.ok(!(nodes instanceof Malformed))
  const [found] = nodes
  assert.ok(found?.kind === 'element')
  assert.deepEqual([found.name.uri, found.elements()[0]?.name.uri], ['urn:inner', 'urn:q'])
})
