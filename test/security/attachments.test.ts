/**
 * WSS SwA Profile 1.1: attachments signed and encrypted in both orders, the octets that are
 * digested, and what is refused.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { encryptOctets } from '../../src/security/crypto/cipher.ts'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import type { Encryption } from '../../src/security/protect/encrypt.ts'
import { type Protection, protectMessage } from '../../src/security/protect/protect.ts'
import type { Signing } from '../../src/security/protect/sign.ts'
import { canonicalizeFields, readCoveredFields, writeCoveredFields } from '../../src/security/tree/attachment-fields.ts'
import { digestedOctets } from '../../src/security/tree/attachment-octets.ts'
import {
  attachmentCiphertextUri,
  attachmentContentUri,
  encryptedCompleteUri,
  encryptedContentUri,
  xencNs,
} from '../../src/security/vocabulary.ts'
import type { PackedPart, SentPart } from '../../src/soap/security-port.ts'
import { Malformed } from '../../src/xml/index.ts'
import { assertCpuMsBelow } from '../support/cost.ts'
import {
  createGuard,
  expectAccepted,
  expectRefusal,
  keyPair,
  now,
  openMessage,
  plainMessage,
  signAgain,
  signedDemand,
  trustOf,
  verifyOrRefuse,
} from './message.ts'

const alice = keyPair('alice')
const bob = keyPair('bob')
const means = { trust: trustOf('ca'), decrypts: [{ key: bob.key, certificate: bob.certificate }] }
const signature: Signing = {
  key: alice.key,
  by: { certificate: alice.certificate, refer: 'direct' },
  parts: ['Body', 'Timestamp', 'Attachments'],
}
const cbc = { mode: 'cbc', size: 32 } as const
const encryption: Encryption = { to: bob.certificate, parts: ['Body', 'Attachments'] }
const parts = ['Body', 'Timestamp', 'Attachments'] as const
const signedPolicy: SecurityPolicy = { required: true, anyOf: [{ ...signedDemand, signed: parts }] }
const sealedPolicy: SecurityPolicy = {
  required: true,
  anyOf: [{ ...signedDemand, signed: parts, encrypted: ['Body', 'Attachments'] }],
}

const notes: SentPart = { id: 'notes=1@x', mediaType: 'text/plain; charset=utf-8', bytes: Buffer.from('a\nb\rc\r\nd') }
const picture: SentPart = { id: 'p%C3=2@x', mediaType: 'image/png', bytes: Buffer.from([...Array(256).keys()]) }

const openWhole = ({ envelope, attached }: { envelope: string; attached: readonly SentPart[] }) => ({
  ...openMessage(envelope),
  parts: new Map(attached.map(({ id, mediaType: type, bytes }): [string, PackedPart] => [id, { type, bytes, fields: { 'content-type': type, 'content-id': `<${id}>` } }])),
}) // biome-ignore format: a long line
type Opened = ReturnType<typeof openWhole>
const protect = (protection: Protection, attached: readonly SentPart[] = [notes, picture]) =>
  protectMessage(plainMessage(), { timestamp: {}, signature, ...protection }, now, attached)
const verify = (message: Opened, policy = signedPolicy) => verifyOrRefuse(message, policy, createGuard(now, means))

const orders: readonly (readonly [string, Protection, string])[] = [
  ['signed', {}, ''],
  ['signed, then encrypted', { encryption }, encryptedContentUri],
  ['encrypted, then signed', { encryption, encryptsFirst: true }, encryptedCompleteUri],
  ['encrypted in CBC, then signed', { encryption: { ...encryption, cipher: cbc }, encryptsFirst: true }, encryptedCompleteUri],
] // biome-ignore format: a table
for (const [title, protection, type] of orders)
  test(`attachments that are ${title}`, async () => {
    const sent = protect(protection)
    const isSealed = type !== ''
    const types = sent.attached.map(({ mediaType }) => mediaType)
    assert.deepEqual(types, isSealed ? Array(2).fill('application/octet-stream') : [notes.mediaType, picture.mediaType])
    assert.equal(sent.envelope.split(`Type="${type}" MimeType=`).length - 1, isSealed ? 2 : 0)
    const proven = await expectAccepted(verify(openWhole(sent), isSealed ? sealedPolicy : signedPolicy))
    const found = [...proven.parts].map(([id, each]) => [id, each.type, Buffer.from(each.bytes)])
    assert.deepEqual(
      found,
      [notes, picture].map(({ id, mediaType, bytes }) => [id, mediaType, Buffer.from(bytes)]),
    )
    for (const at of [0, 1]) {
      const changed = sent.attached.map((each, index) => (index === at ? flipped(each) : each))
      await expectRefusal(verify(openWhole({ ...sent, attached: changed })), 'FailedCheck', /digest|decryption/)
    }
    if (!isSealed) await expectRefusal(verify(openWhole(sent), sealedPolicy), 'InvalidSecurity', /not encrypted/)
  })
function flipped(part: SentPart): SentPart {
  const bytes = Buffer.from(part.bytes)
  bytes[bytes.length - 1]! ^= 0x80
  return { ...part, bytes }
}

test('a response without attachments, and a message whose attachments are not required', async () => {
  await expectAccepted(verify(openWhole(protect({}, []))))
  const bare = protect({ signature: { ...signature, parts: ['Body', 'Timestamp'] } })
  const open: SecurityPolicy = { required: true, anyOf: [signedDemand] }
  await expectAccepted(verify(openWhole(bare), open))
  await expectRefusal(verify(openWhole(bare)), 'InvalidSecurity', /an attachment is not signed/)
})

/** [what was done to the parts, how, what is refused] */
const moves: readonly (readonly [string, (parts: Map<string, PackedPart>) => void, RegExp])[] = [
  ['one is dropped', all => void all.delete(notes.id), /a missing attachment/],
  ['one is added', all => void all.set('more=1@x', { type: 'image/png', bytes: Buffer.from('x') }), /is not signed|not encrypted/],
  ['one without a Content-ID is added', all => void all.set('', { type: 'image/png', bytes: Buffer.from('x') }), /is not signed|not encrypted/],
  ['two have each other’s octets', all => {
    const [one, two] = [all.get(notes.id)!, all.get(picture.id)!]
    all.set(notes.id, two).set(picture.id, one)
  }, /digest|decryption/],
  ['one has another name', all => {
    all.set('notes=2@x', all.get(notes.id)!)
    all.delete(notes.id)
  }, /a missing attachment/],
] // biome-ignore format: a table
for (const [title, protection, type] of orders)
  for (const [what, change, why] of moves)
    test(`attack: of attachments that are ${title}, ${what}`, async () => {
      const message = openWhole(protect(protection))
      change(message.parts)
      const found = await verify(message, type === '' ? signedPolicy : sealedPolicy)
      assert.ok('why' in found, 'the message was accepted')
      assert.match(found.why, why)
    })

/** [what was done to the envelope, how, what is refused] */
const forgeries: readonly (readonly [string, (envelope: string) => string, RegExp])[] = [
  ['a cipher text elsewhere', text => text.replace(/(CipherReference URI=")[^"]*/, '$1http://127.0.0.1/x'), /a missing attachment/],
  ['an element of the envelope as a cipher text', text => text.replace(/(CipherReference URI=")[^"]*/, (_, all) => `${all}#${/wsu:Id="(TS-[^"]*)/.exec(text)?.[1]}`), /a missing attachment/],
  ['no URI', text => text.replace(/(CipherReference) URI="[^"]*"/, '$1'), /without URI/],
  ['a part that is not there', text => text.replace(/(CipherReference URI="cid:)[^"]*/, '$1none@x'), /a missing attachment/],
  ['one part twice', text => text.replace(/(CipherReference URI="cid:)p%25C3=2@x/, '$1notes=1@x'), /encrypted twice/],
  ['one part twice, in two spellings', text => text.replace(/(CipherReference URI="cid:)p%25C3=2@x/, '$1notes%3D1%40x'), /encrypted twice/],
  ['the same data twice', text => text.replace(/<xenc:EncryptedData(?=[^>]*MimeType="image).*?<\/xenc:EncryptedData>/s, all => all + all.replace(/Id="[^"]*"/, 'Id="again"')), /encrypted twice/],
  ['another transform', text => text.replace(attachmentCiphertextUri, attachmentContentUri), /unsupported transform/],
  ['no transform', text => text.replace(/<xenc:Transforms>.*?<\/xenc:Transforms>/s, ''), /other than one .*Transforms/],
  ['a second transform', text => text.replace(/(<ds:Transform [^>]*Ciphertext[^>]*\/>)/, '$1$1'), /other than one .*Transform/],
  ['a value beside the reference', text => text.replace('</xenc:CipherReference>', '</xenc:CipherReference><xenc:CipherValue>AAAA</xenc:CipherValue>'), /other than one .*CipherReference/],
  ['the type of an element', text => text.replace(encryptedContentUri, `${xencNs}Content`), /not of an attachment/],
  ['no type', text => text.replace(`Type="${encryptedContentUri}"`, ''), /not of an attachment/],
  ['the fields, which are not there', text => text.replace(encryptedContentUri, encryptedCompleteUri), /decryption/],
  ['data outside of the block', text => {
    const [data = ''] = /<xenc:EncryptedData(?=[^>]*MimeType).*?<\/xenc:EncryptedData>/s.exec(text) ?? []
    return text.replace(data, '').replace('</s:Header>', `<h>${data}</h></s:Header>`)
  }, /not of an attachment/],
  ['a cipher that is not known', text => text.replace(/(MimeType="text[^>]*><xenc:EncryptionMethod Algorithm="[^"]*aes)256/, '$1999'), /unsupported cipher/],
] // biome-ignore format: a table
for (const [what, forge, why] of forgeries)
  test(`attack: EncryptedData of an attachment with ${what}`, async () => {
    const { envelope, attached } = protect({ encryption })
    const forged = forge(envelope)
    assert.notEqual(forged, envelope)
    const found = await verify(openWhole({ envelope: forged, attached }), sealedPolicy)
    assert.ok('why' in found, 'the message was accepted')
    assert.match(found.why, why)
  })

test('attack: octets that were signed in clear are not decrypted for others by a key of the attacker', async () => {
  const scrambled = { ...notes, bytes: Buffer.alloc(64, 7) }
  const { envelope } = protect({}, [scrambled])
  for (const isContent of [true, false]) {
    // Any key gives some octets, and of 60 keys several give a padding that is valid.
    const found = new Set<string>()
    for (let at = 0; at < 60; at++) {
      const own = { signature, timestamp: {}, encryption: { ...encryption, cipher: cbc }, encryptsFirst: true }
      const sealed = protectMessage(plainMessage(), own, now, [scrambled])
      const [added = ''] =
        /<xenc:EncryptedKey.*<\/xenc:EncryptedData>(?=<\/wsse:Security>)/s.exec(sealed.envelope) ?? []
      const forged = isContent ? added.replace(encryptedCompleteUri, encryptedContentUri) : added
      const lists = forged.replace(/<xenc:ReferenceList.*?<\/xenc:ReferenceList>/s, '')
      const text = envelope.replace('</wsse:Security>', `${lists}</wsse:Security>`)
      const result = await verify(openWhole({ envelope: text, attached: [scrambled] }))
      assert.ok('why' in result, 'the message was accepted')
      found.add(result.why)
    }
    assert.deepEqual([...found], [isContent ? 'CBC of an attachment without its fields' : 'decryption'])
  }
})

test('attack: another media type for a signed cipher text', async () => {
  const complete: SecurityPolicy = {
    required: true,
    anyOf: [{ ...signedDemand, signed: ['Body', 'Timestamp', 'CompleteAttachments'] }],
  }
  const both: Protection = { signature: { ...signature, parts: ['Body', 'Timestamp', 'CompleteAttachments'] } }
  for (const encryptsFirst of [true, false])
    await expectAccepted(verify(openWhole(protect({ ...both, encryption, encryptsFirst })), complete))
  await expectRefusal(verify(openWhole(protect({})), complete), 'InvalidSecurity', /not signed with its fields/)
  // A sender of its own kind: only content is encrypted, and then signed.
  const { envelope, attached } = protectMessage(plainMessage(), { encryption }, now, [notes])
  const sealed = protectMessage(envelope, { timestamp: {}, ...both }, now, attached).envelope
  const [first = ''] = /<wsse:Security .*?<\/wsse:Security>/s.exec(sealed) ?? []
  const inside = first.replace(/^<wsse:Security [^>]*>|<\/wsse:Security>$/g, '')
  const text = sealed.replace(first, '').replace(/<\/wsse:Security>/, `${inside}</wsse:Security>`)
  await expectAccepted(verify(openWhole({ envelope: text, attached })))
  for (const each of [text, text.replace('MimeType="text/plain', 'MimeType="text/html')])
    await expectRefusal(verify(openWhole({ envelope: each, attached }), complete), 'InvalidSecurity', /with its fields/)
})

test('attack: CBC without a signature is refused before it is decrypted', async () => {
  const sent = protect({ encryption: { ...encryption, parts: ['Attachments'], cipher: cbc } })
  await expectRefusal(verify(openWhole(sent), sealedPolicy), 'UnsupportedAlgorithm', /CBC without a signature/)
})

test('attack: one attachment in two references, and one in a reference and an Include', async () => {
  const { envelope, attached } = protect({}, [notes])
  const [reference = ''] = /<ds:Reference URI="cid:.*?<\/ds:Reference>/s.exec(envelope) ?? []
  const twice = signAgain(envelope, alice.key, reference.replace('notes=1@x', 'notes%3D1@x'))
  await expectRefusal(verify(openWhole({ envelope: twice, attached })), 'InvalidSecurity', /signed twice/)
  const include = '<i:Include xmlns:i="http://www.w3.org/2004/08/xop/include" href="cid:notes=1@x"/>'
  const moved = envelope.replace('</s:Header>', `<h>${include}</h></s:Header>`)
  await expectRefusal(verify(openWhole({ envelope: moved, attached })), 'FailedCheck', /a missing attachment/)
})

test('attack: a part that served as a cipher text is no attachment', async () => {
  const include = '<i:Include xmlns:i="http://www.w3.org/2004/08/xop/include" href="cid:notes=1@x"/>'
  const secret = Buffer.alloc(32, 1)
  const hidden = encryptOctets({ mode: 'gcm', size: 32 }, secret, Buffer.from('<x/>'))
  const sent = protect({ encryption: { ...encryption, parts: ['Body'] } }, [])
  const [value = ''] = /(?<=<s:Body.*<xenc:CipherValue>)[^<]*/s.exec(sent.envelope) ?? []
  const text = sent.envelope.replace(value, include)
  const attached = [{ ...notes, bytes: Buffer.from(value, 'base64') }]
  const proven = await expectAccepted(verify(openWhole({ envelope: text, attached })))
  assert.deepEqual([...proven.parts.keys()], [])
  const other = openWhole({ envelope: text, attached: [{ ...notes, bytes: hidden }] })
  await expectRefusal(verify(other), 'FailedCheck', /decryption/)
})

test('a message has as many attachments as its package may, each signed and decrypted once', async () => {
  const many = Array.from({ length: 60 }, (_, at) => ({ ...picture, id: `p${at}@x` }))
  for (const protection of [{}, { encryption }, { encryption: { ...encryption, cipher: cbc }, encryptsFirst: true }])
    assert.equal((await expectAccepted(verify(openWhole(protect(protection, many))))).parts.size, 60)
})

const sha = (octets: Uint8Array): string => createHash('sha256').update(octets).digest('base64')
/** [media type, octets, what is digested] */
const forms: readonly (readonly [string, string, string])[] = [
  ['text/plain', 'a\nb\rc\r\nd\n\n\r', 'a\r\nb\r\nc\r\nd\r\n\r\n\r\n'],
  ['TEXT/csv; header=present', 'a,b\nc,d', 'a,b\r\nc,d'],
  ['text/plain', 'all\r\nare\r\n', 'all\r\nare\r\n'],
  ['application/octet-stream', 'a\nb', 'a\nb'],
  ['', 'a\nb', 'a\nb'],
  ['text/xml', '<?xml version="1.0"?>\n<!-- c --><a  c="2" b="1"><d/></a>\n', '<a b="1" c="2"><d></d></a>'],
  ['application/xml; charset=iso-8859-1', '<a>\xe4</a>', '<a>ä</a>'],
  ['image/svg+xml', `<s:svg xmlns:s='urn:s' xmlns:unused="urn:u"/>`, '<s:svg xmlns:s="urn:s"></s:svg>'],
] // biome-ignore format: a table
for (const [type, octets, expected] of forms)
  test(`SwA Profile 1.1 §5.4.2: ${type || 'no media type'} ${JSON.stringify(octets)}`, async () => {
    const bytes = Buffer.from(octets, 'latin1')
    assert.equal(Buffer.from(digestedOctets({ type, bytes }, false)).toString(), expected)
    const { envelope, attached } = protect({}, [{ id: 'a@x', mediaType: type, bytes }])
    assert.match(envelope, new RegExp(`${attachmentContentUri}.*<ds:DigestValue>${sha(Buffer.from(expected)).replace(/[+/]/g, '\\$&')}<`, 's'))
    await expectAccepted(verify(openWhole({ envelope, attached })))
  }) // biome-ignore format: a long line

test('invalid XML is not signed, and invalid XML that is signed as XML is refused', async () => {
  const broken: SentPart = { id: 'a@x', mediaType: 'text/xml', bytes: Buffer.from('<!DOCTYPE a><a/>') }
  assert.throws(() => digestedOctets({ type: 'text/xml', bytes: broken.bytes }, false), Malformed)
  assert.throws(() => protect({}, [broken]), /an attachment of text\/xml is not XML that can be signed/)
  const { envelope } = protect({}, [{ ...broken, mediaType: 'image/png' }])
  await expectRefusal(verify(openWhole({ envelope, attached: [broken] })), 'FailedCheck', /an attachment: /)
})

/** [fields, their canonical form] */
const fieldForms: readonly (readonly [Record<string, string>, string])[] = [
  [{}, 'Content-Type:text/plain;charset="us-ascii"\r\n'],
  [{ 'content-type': 'Image/PNG', 'content-id': '<a@x>', 'x-other': '1' }, 'Content-ID:<a@x>\r\nContent-Type:image/png\r\n'],
  [{ 'content-type': 'text/Plain; Format=Flowed ;charset=UTF-8' }, 'Content-Type:text/plain;charset="utf-8";format="Flowed"\r\n'],
  [{ 'content-type': 'a/b (comment (nested) more); x="q;\\"(no)"' }, 'Content-Type:a/b;x="q;\\"(no)"\r\n'],
  [{ 'content-type': 'a/b', 'content-location': 'urn:x', 'content-description': 'it (was) is', 'content-disposition': 'Attachment' }, 'Content-Description:it  is\r\nContent-Disposition:attachment\r\nContent-Location:urn:x\r\nContent-Type:a/b\r\n'],
] // biome-ignore format: a table
for (const [fields, expected] of fieldForms)
  test(`SwA Profile 1.1 §5.4.1: ${JSON.stringify(fields)}`, () =>
    assert.equal(canonicalizeFields(fields).toString(), expected))

test('attack: fields with unclosed quotes are read in linear time', async () => {
  const value = `a/b; x=${'"\\'.repeat(100_000)}`
  await assertCpuMsBelow(1000, () => canonicalizeFields({ 'content-type': value, 'content-disposition': value }))
})

test('SwA Profile 1.1 §5.5.2: the fields that encryption covers, and octets that have none', () => {
  const fields = { 'content-type': 'text/plain; charset=utf-8', 'content-id': '<a@x>' }
  const written = writeCoveredFields({ ...fields, 'x-other': '1' })
  const read = readCoveredFields(Buffer.concat([written, Buffer.from('content')]))
  assert.deepEqual([{ ...read?.fields }, read?.end], [fields, written.length])
  for (const octets of ['', '\r\n', 'Content-Type: a/b', 'Content-Type: a/b\r\n', 'Content-ID: <a>\r\n\r\nx', 'X: 1\r\n\r\n', 'Content-Type: a/b\r\nContent-Type: c/d\r\n\r\n', `Content-Type: ${'x'.repeat(9000)}\r\n\r\n`])
    assert.equal(readCoveredFields(Buffer.from(octets)), undefined, octets.slice(0, 60))
}) // biome-ignore format: a table
