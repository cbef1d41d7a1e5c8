/**
 * WS-Security as a stranger attacks it, over a socket, at an endpoint of each kind of proof: nothing
 * is done that no honest sender has signed, the fault is one of WSS §12 and says no more than it,
 * it costs little, and the next honest message is answered.
 */
import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sweepEveryMs } from '../../src/host/open-service.ts'
import { type Cipher, cipherUri, decryptOctets, encryptOctets } from '../../src/security/crypto/cipher.ts'
import { defaultLabel, deriveKey } from '../../src/security/crypto/derived-key.ts'
import { suiteDerivedOctets, suiteTransport } from '../../src/security/policy/algorithm-suite.ts'
import { sealKey, writeEncryptedKey } from '../../src/security/protect/encrypt.ts'
import { writeBinaryToken } from '../../src/security/protect/protection-draft.ts'
import { attachmentContentUri, dsNs, wsseNs, wsuNs, x509v3Uri, xencNs } from '../../src/security/vocabulary.ts'
import { now as start } from '../security/message.ts'
import { wrapMessage } from '../security/wrapping.ts'
import { assertCpuMsBelow } from '../support/cost.ts'
import {
  caller,
  createNote,
  ns,
  other,
  protectNote,
  receiver,
  type Said,
  type Shape,
  sendNote,
  signAnew,
  startSecured,
  writeNote,
} from './secured-service.ts'

const secured = await startSecured()
const { performed, world, lines } = secured

/** Why the last message was refused, of which the sender is told nothing. */
const lastReason = (): string => String(lines.at(-1)?.fields['why'])

/** Of a second, which the log of refusals waits for. */
const nextSecond = () => {
  world.now += 1000
}

/** The texts of WSS §12, all that a sender is told. */
const faultTexts =
  /An unsupported token was provided|An unsupported signature or encryption|An error was discovered processing|An invalid security token|could not be authenticated|The signature or decryption was invalid|Referenced security token could not|The message has expired/

const fresh = (shape: Shape, said: Said = {}) => writeNote(shape, { now: world.now, ...said })
const elementOf = (text: string, tag: string) => new RegExp(`<${tag}[ >].*?</${tag}>`, 's').exec(text)![0]

/** Sends it a second later; what the service has done, and why it has refused. */
async function attack(shape: Shape, message: string) {
  nextSecond()
  performed.length = 0
  const { status, text } = await sendNote(secured, shape, message)
  const why = status === 200 ? '' : lastReason()
  return { status, text, why, done: performed.splice(0) }
}

// Wrapping: parts that are signed, moved to every place while another replaces them

const bySignature = ['signed', 'protected', 'vouchedName', 'holder', 'vouched', 'secret', 'settings', 'open'] as const
const byEncryption = ['sealed', 'direct', 'derived'] as const
const evilBody = (body: string) => body.replace(/(<s:Body[^>]*>).*<\/s:Body>/s, `$1${createNote('evil')}</s:Body>`)
const wrapped: readonly (readonly [shape: Shape, tag: string, forge: (element: string) => string])[] = [
  ...[...bySignature, ...byEncryption].flatMap(
    shape =>
      [
        [shape, 's:Body', evilBody],
        [shape, 'n:Branch', (block: string) => block.replace('0042', '6666')],
        [shape, 'wsu:Timestamp', (stamp: string) => stamp.replaceAll('2030-06-01', '2030-06-02')],
      ] as const,
  ),
  ['protected', 'wsse:BinarySecurityToken', token => token.replace(/wsu:Id="[^"]*"/, '')],
  ['vouchedName', 'wsse:UsernameToken', token => token.replace('>leaf<', '>plain<')],
]
/** All of them were sent once: 21,440. Each run takes its share, the same each time. */
const share = 24

test('X1: a signed element that is moved to any place makes nothing else readable, at an endpoint of each kind', async () => {
  let [sent, taken] = [0, 0]
  for (const [at, [shape, tag, forge]] of wrapped.entries()) {
    world.now += 60_000
    let next = at
    for (const message of wrapMessage(fresh(shape), tag, forge)) {
      if (next++ % share !== 0) continue
      const { status, done } = await attack(shape, message)
      sent++
      taken += Number(status === 200)
      assert.deepEqual(
        done.filter(each => each !== 'leaf: genuine'),
        [],
        `${shape}: ${message}`,
      )
    }
  }
  assert.ok(sent > 800 && taken < wrapped.length, `${sent} messages, ${taken} of them as they were signed`)
})

/** A change of a genuine message, where it is sent, and why it is refused; undefined: it is done as it was signed. */
type Change = readonly [title: string, shapes: readonly Shape[], change: (text: string) => string, why?: RegExp]
const evilOf = (text: string) =>
  elementOf(text, 's:Body')
    .replace(/ wsu:Id="[^"]*"/, '')
    .replace('genuine', 'evil')
const inHeader = (block: string) => (text: string) => text.replace('</s:Header>', `${block}</s:Header>`)
const toRole = (role: string) => (text: string) => text.replace('<wsse:Security ', `<wsse:Security s:role="${role}" `)
const roles = 'http://www.w3.org/2003/05/soap-envelope/role'
const wsa = 'xmlns:a="http://www.w3.org/2005/08/addressing"'
const replyTo = (attributes = '') =>
  `<a:ReplyTo ${wsa}${attributes}><a:Address>http://evil.example/</a:Address></a:ReplyTo>`
const changes: readonly Change[] = [
  [
    'the signed Body in an Object of the Signature',
    bySignature,
    text =>
      text
        .replace(elementOf(text, 's:Body'), evilOf(text))
        .replace(
          /<\/ds:Signature>(?!.*<\/ds:Signature>)/s,
          `<ds:Object>${elementOf(text, 's:Body')}</ds:Object></ds:Signature>`,
        ),
    /Body is not signed|a digest is wrong/,
  ],
  [
    'the Signature itself in an Object of one that has no SignedInfo',
    bySignature,
    text =>
      text.replace(
        /<ds:Signature .*<\/ds:Signature>(?=<\/wsse:Security>)/s,
        whole => `<ds:Signature xmlns:ds="${dsNs}"><ds:Object>${whole}</ds:Object></ds:Signature>`,
      ),
    /without SignedInfo|SignedInfo and SignatureValue|not there/,
  ],
  [
    'the block for another role, and another Body',
    bySignature,
    text => toRole('urn:other')(text.replace(elementOf(text, 's:Body'), evilOf(text))),
    /no Security block|credentials/,
  ],
  ['the block for the role none', ['signed', 'holder', 'secret'], toRole(`${roles}/none`), /no Security block/],
  ['the block for the next node', bySignature, toRole(`${roles}/next`)],
  [
    'two blocks: for the next node, and for the last one',
    bySignature,
    text => inHeader(`<w:Security xmlns:w="${wsseNs}" s:role="${roles}/next"/>`)(text),
    /two Security blocks/,
  ],
  [
    'a block for another role beside it',
    bySignature,
    inHeader(`<w:Security xmlns:w="${wsseNs}" s:role="urn:other"><w:UsernameToken/></w:Security>`),
  ],
  ['an action', bySignature, inHeader(`<a:Action ${wsa}>urn:evil</a:Action>`), /Action is not signed/],
  [
    'an address for the reply',
    bySignature,
    inHeader(`${replyTo()}<a:Action ${wsa}>urn:evil</a:Action>`),
    /is not signed/,
  ],
  ['an address for the reply that is for no one', bySignature, inHeader(replyTo(` s:role="${roles}/none"`))],
  [
    'a signed block that is now for the role none',
    bySignature,
    text => text.replace('<n:Branch ', `<n:Branch s:role="${roles}/none" `),
    /a digest is wrong/,
  ],
  [
    'a signed block removed',
    bySignature,
    text => text.replace(elementOf(text, 'n:Branch'), ''),
    /not in this document/,
  ],
  [
    'a duplicate of a signed block',
    bySignature,
    inHeader(`<n:Branch xmlns:n="${ns}">6666</n:Branch>`),
    /Branch is not signed/,
  ],
  [
    'the certificate of another person',
    ['signed', 'settings', 'vouched'],
    text => text.replace(caller.certificate.der.toString('base64'), other.certificate.der.toString('base64')),
    /SignatureValue is wrong/,
  ],
  [
    'another person’s key in the assertion',
    ['holder'],
    text => text.replace(caller.certificate.der.toString('base64'), other.certificate.der.toString('base64')),
    /a digest is wrong/,
  ],
  [
    'another subject in the assertion',
    ['bearer', 'holder', 'vouched'],
    text => text.replace('>leaf<', '>plain<'),
    /a digest is wrong/,
  ],
  ['a comment in the subject', ['bearer', 'holder', 'vouched'], text => text.replace('>leaf<', '>le<!-- -->af<')],
  [
    'a comment behind the subject, and more',
    ['bearer', 'holder', 'vouched'],
    text => text.replace('>leaf<', '>leaf<!-- -->.evil<'),
    /a digest is wrong/,
  ],
  ['a comment in a signed text', bySignature, text => text.replace('genuine', 'genu<!-- evil -->ine')],
  [
    'a comment behind a signed text, and more',
    bySignature,
    text => text.replace('genuine', 'genuine<!-- -->evil'),
    /a digest is wrong/,
  ],
  [
    'a signed text as CDATA and references',
    bySignature,
    text => text.replace('genuine', '<![CDATA[genu]]>&#105;n&#x65;'),
  ],
  [
    'a processing instruction',
    bySignature,
    text => text.replace('genuine', 'genu<?x y?>ine'),
    /a processing instruction is not allowed/,
  ],
  [
    'language, base and white space of the envelope',
    bySignature,
    text =>
      text.replace('<s:Envelope ', '<s:Envelope xml:lang="de" xml:base="http://evil.example/" xml:space="default" '),
  ],
  [
    'nothing, by xsi:nil',
    bySignature,
    text => text.replace('<n:text', '<n:text xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"'),
    /a digest is wrong/,
  ],
  [
    'another namespace of a prefix',
    bySignature,
    text => text.replace(`xmlns:n="${ns}:v1"`, 'xmlns:n="urn:evil"'),
    /a digest is wrong/,
  ],
  ['a comment in the Username', ['named'], text => text.replace('>leaf<', '>le<!-- -->af<')],
  [
    'a comment behind the Username, and more',
    ['named'],
    text => text.replace('>leaf<', '>leaf<!-- -->x<'),
    /a wrong name/,
  ],
  ['white space around the Username', ['named'], text => text.replace('>leaf<', '> leaf <'), /a wrong name/],
  [
    'Created with another zone',
    ['named'],
    text => text.replace(/Z(?=<\/wsu:Created><\/wsse:UsernameToken>)/, '+00:00'),
    /a wrong name/,
  ],
  ['no Nonce', ['named'], text => text.replace(/<wsse:Nonce.*<\/wsse:Nonce>/, ''), /without Nonce/],
  [
    'the password as the text of another person',
    ['signed'],
    text => text.replace(/<ds:Signature /, `${elementOf(fresh('named'), 'wsse:UsernameToken')}$&`),
    /unsupported kind of Password/,
  ],
]
for (const [title, at, change, why] of changes)
  test(`a change on the way: ${title}: ${why ? 'refused' : 'processed as signed'}`, async () => {
    for (const shape of at) {
      const message = fresh(shape)
      const changed = change(message)
      assert.notEqual(changed, message, `${shape}: the attack changes nothing`)
      const found = await attack(shape, changed)
      assert.deepEqual(found.done, why ? [] : ['leaf: genuine'], `${shape}: ${found.text}`)
      if (why) assert.match(`${found.why} ${found.text}`, why, shape)
    }
  })

test('the sender gets a fault text of WSS §12, whatever is wrong', async () => {
  for (const [, [shape = 'signed'], change, why] of changes.filter(([, , , each]) => each)) {
    const { text } = await attack(shape, change(fresh(shape)))
    if (!/not well-formed/.test(text)) assert.match(text, faultTexts, String(why))
  }
})

// What one caller without any proof may cost

/** A message that is signed by a key which its sender has made, as anybody can. */
function signByAnybody(change: (text: string) => string): string {
  const { envelope, exchangeKey } = protectNote('direct', { now: world.now })
  const endorsement = [...envelope.matchAll(/<ds:Signature .*?<\/ds:Signature>/gs)].at(-1)?.[0] ?? ''
  const bare = envelope.replace(endorsement, '').replace(/<xenc:ReferenceList.*?<\/xenc:ReferenceList>/s, '')
  return signAnew(change(bare), createSecretKey(exchangeKey!.octets))
}

const longNamespace = `urn:${'a'.repeat(60_000)}`
const manyOf = (text: string, times = 9000) => text.repeat(times)
const firstReference = (text: string) => /<ds:Reference.*?<\/ds:Reference>/s.exec(text)![0]
const pack = (message: string, part = 'Content-Type: text/plain', content = 'x') => {
  const head = 'Content-Type: application/xop+xml; type="application/soap+xml"'
  return `--b\r\n${head}\r\n\r\n${message}\r\n--b\r\n${part}\r\nContent-ID: <p>\r\n\r\n${content}\r\n--b--\r\n`
}
const packaged = { 'content-type': 'multipart/related; boundary=b; type="application/xop+xml"' }

/** Sixteen elements in one another, each of them signed. */
const nested = (content: string) =>
  Array.from({ length: 16 }).reduce<string>((inner, _, at) => `<x wsu:Id="x${at}">${inner}</x>`, content)
const signNested = (text: string) => {
  const more = Array.from({ length: 16 }, (_, at) => firstReference(text).replace(/URI="[^"]*"/, `URI="#x${at}"`))
  return text.replace('</ds:SignedInfo>', `${more.join('')}</ds:SignedInfo>`)
}

const costly: readonly (readonly [title: string, make: () => string, why: RegExp, fields?: Record<string, string>])[] =
  [
    [
      'a SignedInfo of 118 KB whose canonical form has 540 MB, by the certificate of another',
      () =>
        writeNote('signed', { now: world.now })
          .replace('<s:Envelope ', `<s:Envelope xmlns:p="${longNamespace}" `)
          .replace('</ds:Reference>', `${manyOf('<p:a/>')}</ds:Reference>`),
      /SignedInfo: its canonical form is too long/,
    ],
    [
      'the same of an assertion, by the certificate of its issuer',
      () =>
        writeNote('bearer', { now: world.now })
          .replace('<s:Envelope ', `<s:Envelope xmlns:p="${longNamespace}" `)
          .replace('</ds:Reference>', `${manyOf('<p:a/>')}</ds:Reference>`),
      /SignedInfo: its canonical form is too long/,
    ],
    [
      'the same of two subjects of an assertion that nothing signs',
      () => {
        const subject = `<a:Subject><a:NameIdentifier>leaf</a:NameIdentifier>${manyOf('<p:a/>', 4000)}</a:Subject>`
        const statements = manyOf(`<a:AuthenticationStatement>${subject}</a:AuthenticationStatement>`, 2)
        const assertion = `<a:Assertion xmlns:a="urn:oasis:names:tc:SAML:1.0:assertion" AssertionID="a" MajorVersion="1" MinorVersion="1" Issuer="urn:issuer">${statements}</a:Assertion>`
        return writeNote('named', { now: world.now })
          .replace('<s:Envelope ', `<s:Envelope xmlns:p="${longNamespace}" `)
          .replace(/<wsse:UsernameToken.*<\/wsse:UsernameToken>/s, assertion)
      },
      /a subject: its canonical form is too long/,
    ],
    [
      'the same of a Body, signed by a key that anyone can create',
      () =>
        signByAnybody(text => text.replace(/(<s:Body[^>]*>).*<\/s:Body>/s, '$1<x>@</x></s:Body>'))
          .replace('<s:Envelope ', `<s:Envelope xmlns:p="${longNamespace}" `)
          .replace('<x>@</x>', `<x>${manyOf('<p:a/>')}</x>`),
      /a reference: its canonical form is too long/,
    ],
    [
      'a Body that sixteen references cover, by such a key',
      () =>
        signByAnybody(text =>
          signNested(
            text
              .replace('<s:Envelope ', `<s:Envelope xmlns:wsu="${wsuNs}" `)
              .replace(/(<s:Body[^>]*>).*<\/s:Body>/s, `$1${nested(manyOf('<c>abc</c>', 8000))}</s:Body>`),
          ),
        ),
      /x509: not there/,
    ],
    [
      'ninety lists of cipher texts in a package, whose Body has 80,000 elements',
      () =>
        pack(
          writeNote('direct', { now: world.now })
            .replace(/(<wsse:Security [^>]*>)/, `$1${manyOf(`<e:ReferenceList xmlns:e="${xencNs}"/>`, 90)}`)
            .replace(/(<s:Body[^>]*>)/, `$1${manyOf(`<x>${manyOf('<b/>', 8000)}</x>`, 10)}`),
        ),
      /a digest is wrong/,
      packaged,
    ],
    [
      'the same of an attachment of XML',
      () => {
        const refer = (text: string) =>
          firstReference(text)
            .replace(/URI="[^"]*"/, 'URI="cid:p"')
            .replace(/(<ds:Transform Algorithm=)"[^"]*"/, `$1"${attachmentContentUri}"`)
        const sign = (text: string) => text.replace('</ds:SignedInfo>', `${refer(text)}</ds:SignedInfo>`)
        const attachment = `<x xmlns:p="${longNamespace}">${manyOf('<p:a/>')}</x>`
        return pack(signByAnybody(sign), 'Content-Type: text/xml', attachment)
      },
      /an attachment: its canonical form is too long/,
      packaged,
    ],
    [
      'nine thousand references to one cipher text',
      () => writeNote('direct', { now: world.now }).replace(/<xenc:DataReference [^>]*>/, each => manyOf(each)),
      /x509: not there/,
    ],
    [
      'nine thousand prefixes in force, in the inclusive form',
      () =>
        signByAnybody(text =>
          text
            .replace(
              '<s:Envelope ',
              `<s:Envelope ${Array.from({ length: 250 }, (_, at) => `xmlns:p${at}="urn:${at}"`).join(' ')} `,
            )
            .replace(/(<s:Body[^>]*>).*<\/s:Body>/s, `$1${manyOf('<b/>')}</s:Body>`)
            .replaceAll(
              /<ds:Transform Algorithm="[^"]*"\/>/g,
              '<ds:Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>',
            ),
        ),
      /a digest is wrong/,
    ],
  ]
for (const [title, make, why, fields] of costly)
  test(`a hostile message costs little: ${title}`, async () => {
    nextSecond()
    const message = make()
    const send = () => sendNote(secured, 'signed', message, fields)
    const { status, text } = await send()
    assert.equal(status, 500)
    assert.match(
      text,
      /The signature or decryption was invalid|An error was discovered|authenticated or authorized|An invalid/,
    )
    assert.match(lastReason(), why)
    await assertCpuMsBelow(100, send, title)
    assert.deepEqual(performed, [])
  })

// Ciphertexts that are signed, and keys that are not

/** A note whose text came encrypted and then signed; by a key that no signature covers. */
function sealText(mode: Cipher['mode'], plain: string) {
  const cipher: Cipher = { mode, size: 32 }
  const key = randomBytes(cipher.size)
  const sealed = encryptOctets(cipher, key, Buffer.from(plain))
  const data =
    `<e:EncryptedData xmlns:e="${xencNs}" Id="ED" Type="${xencNs}Content"><e:EncryptionMethod Algorithm="${cipherUri(cipher)}"/>` +
    `<e:CipherData><e:CipherValue>${sealed.toString('base64')}</e:CipherValue></e:CipherData></e:EncryptedData>`
  const signed = writeNote('signed', { now: world.now, text: data })
  const list = `<e:ReferenceList xmlns:e="${xencNs}"><e:DataReference URI="#ED"/></e:ReferenceList>`
  const sendWith = (secret: Buffer) => {
    const written = writeEncryptedKey('EK', sealKey(receiver.certificate, secret, suiteTransport), list)
    return sendNote(secured, 'signed', signed.replace('</wsse:Security>', `${written}</wsse:Security>`))
  }
  return { key, sealed, cipher, sendWith }
}

test('CBC: a signed cipher text cannot be made another text by another key', async () => {
  nextSecond()
  const { key, sealed, cipher, sendWith } = sealText('cbc', '9.99')
  const isDigit = (plain: Buffer | undefined) => plain?.length === 1 && plain[0]! >= 0x30 && plain[0]! <= 0x39
  let forged = randomBytes(cipher.size)
  while (!isDigit(decryptOctets(cipher, forged, sealed))) forged = randomBytes(cipher.size) // 6,500 of them
  for (const each of [forged, key]) {
    nextSecond()
    const { status, text } = await sendWith(each)
    assert.equal(status, 500)
    assert.match(text, /The signature or decryption was invalid/)
    assert.match(lastReason(), /CBC of a text, or of too few octets, whose key no signature covers/)
  }
  assert.deepEqual(performed, [])
})

test('GCM: a signed cipher text is decrypted by its own key only', async () => {
  nextSecond()
  const { key, cipher, sendWith } = sealText('gcm', '9.99')
  assert.equal((await sendWith(randomBytes(cipher.size))).status, 500)
  assert.deepEqual(performed, [])
  assert.equal((await sendWith(key)).status, 200)
  assert.deepEqual(performed.splice(0), ['leaf: 9.99'])
})

// Sent again

test('X12: a message is accepted once, even where the clock of another instance is minutes ahead', async context => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const folder = mkdtempSync(join(tmpdir(), 'diglot-replay-'))
  const data = join(folder, 'notes.db')
  const [ahead, here] = [await startSecured({ data }), await startSecured({ data })]
  after(() => rmSync(folder, { recursive: true }))
  const message = writeNote('signed')
  assert.equal((await sendNote(here, 'signed', message)).status, 200)
  here.world.now += 299_000 // its last second
  ahead.world.now = here.world.now + 290_000
  context.mock.timers.tick(sweepEveryMs)
  assert.equal((await sendNote(ahead, 'signed', writeNote('signed', { now: ahead.world.now }))).status, 200)
  assert.equal((await sendNote(here, 'signed', message)).status, 500)
  assert.equal(here.lines.at(-1)?.fields['why'], 'seen before')
  assert.deepEqual(here.performed, ['leaf: genuine'])
})

// A trusted party with the message of another

const endorsementOf = (text: string) => [...text.matchAll(/<ds:Signature .*?<\/ds:Signature>/gs)].at(-1)![0]

/** The message with an endorsement by another party, in place of that of its sender. */
function endorseByAnother(text: string): string {
  const mine = endorsementOf(protectNote('direct', { now: world.now, by: other }).envelope)
  const token = writeBinaryToken('mine', x509v3Uri, other.certificate.der)
  const [, signed = ''] = /<ds:Signature [^>]*Id="([^"]*)"/.exec(text) ?? []
  const endorsed = mine
    .replace(/<ds:Reference URI="#[^"]*"/, `<ds:Reference URI="#${signed}"`)
    .replace(/<wsse:Reference URI="#[^"]*"/, '<wsse:Reference URI="#mine"')
  return signAnew(text.replace(endorsementOf(text), `${token}${endorsed}`), other.key, 1)
}

for (const shape of ['direct', 'derived'] as const)
  test(`${shape} keys: only the signer can endorse a message that signs its certificate`, async () => {
    nextSecond()
    performed.length = 0
    const message = writeNote(shape, { now: world.now })
    const { status, text } = await sendNote(secured, shape, endorseByAnother(message))
    assert.equal(status, 500)
    assert.match(text, /An error was discovered processing/)
    assert.match(lastReason(), /an endorsement by a party other than/)
    assert.deepEqual(performed, [])
    assert.equal((await sendNote(secured, shape, message)).status, 200)
    assert.deepEqual(performed.splice(0), ['leaf: genuine'])
  })

/** A message of another trusted party, around the cipher text and the key of this one. */
function moveCipherText(text: string, shape: 'signed' | 'direct' | 'derived'): string {
  const body = elementOf(text, 's:Body').replace(/^<s:Body[^>]*>|<\/s:Body>$/g, '')
  const { envelope, exchangeKey } = protectNote(shape, { now: world.now, by: other, body: '@' })
  const key = elementOf(text, 'xenc:EncryptedKey')
  const derived = [...text.matchAll(/<wsc:DerivedKeyToken.*?<\/wsc:DerivedKeyToken>/gs)]
    .map(([token]) => token)
    .join('')
  const lists = /<xenc:ReferenceList(?: [^>]*)?>.*?<\/xenc:ReferenceList>/gs
  const [list = ''] = text.match(lists) ?? []
  const moved = envelope
    .replace(lists, '')
    .replace(/(<s:Body[^>]*>).*<\/s:Body>/s, `$1${body}</s:Body>`)
    .replace('</wsse:Security>', `${key}${derived}${key.includes(list) ? '' : list}</wsse:Security>`)
  if (!exchangeKey) return signAnew(moved, other.key)
  const [, nonce] = [...envelope.matchAll(/<wsc:Nonce>([^<]*)/g)].at(-1) ?? []
  const derivation = {
    label: defaultLabel,
    nonce: Buffer.from(nonce ?? '', 'base64'),
    offset: 0,
    length: suiteDerivedOctets.sign,
  }
  const signing = nonce === undefined ? exchangeKey.octets : deriveKey(exchangeKey.octets, derivation)
  return signAnew(signAnew(moved, createSecretKey(signing)), other.key, 1)
}

test('known, in docs/message-security.md: if each side has its own key, another partner may move a cipher text', async () => {
  nextSecond()
  const { status } = await sendNote(
    secured,
    'sealed',
    moveCipherText(writeNote('sealed', { now: world.now }), 'signed'),
  )
  assert.equal(status, 200)
  assert.deepEqual(performed.splice(0), ['plain: genuine'])
})

for (const shape of ['direct', 'derived'] as const)
  test(`${shape} keys: no other party can move a cipher text into its own message`, async () => {
    nextSecond()
    const { status } = await sendNote(secured, shape, moveCipherText(writeNote(shape, { now: world.now }), shape))
    assert.equal(status, 500)
    assert.match(lastReason(), /a second key besides the one that signs the message/)
    assert.deepEqual(performed, [])
  })

// Times

/** Created of a Timestamp that its sender has signed, and what becomes of it; the service has 12:00:00. */
const times: readonly (readonly [created: string, expected: RegExp | 'done'])[] = [
  ['2030-06-01T12:00:00Z', 'done'],
  ['2030-06-01T12:00:00.123456789123456789Z', 'done'],
  ['2030-06-01T13:30:00+01:30', 'done'],
  ['2030-06-01T02:00:00-10:00', 'done'],
  ['\n 2030-06-01T12:00:00Z ', 'done'],
  ['2030-06-01T12:00:00<!-- -->Z', 'done'],
  ['2030-06-01T12:00:00', /InvalidSecurity/],
  ['2030-06-01T12:00:00z', /InvalidSecurity/],
  ['2030-06-01T24:00:00Z', /InvalidSecurity/],
  ['2030-06-01T12:00:60Z', /InvalidSecurity/],
  ['2030-06-31T12:00:00Z', /InvalidSecurity/],
  ['2030-02-29T12:00:00Z', /InvalidSecurity/],
  ['+2030-06-01T12:00:00Z', /InvalidSecurity/],
  ['12030-06-01T12:00:00Z', /InvalidSecurity/],
  ['2030-06-01T12:00:00+15:00', /InvalidSecurity/],
  ['2030-06-01T12:00:00-00:60', /InvalidSecurity/],
  ['٢٠٣٠-06-01T12:00:00Z', /InvalidSecurity/],
  ['2030-06-01T11:54:59Z', /MessageExpired/],
  ['2030-06-01T12:01:02Z', /MessageExpired/],
  ['9999-12-31T23:59:59Z', /MessageExpired/],
  ['0001-01-01T00:00:00Z', /MessageExpired/],
]
for (const [created, expected] of times)
  test(`X11: a signed Timestamp of ${JSON.stringify(created)}: ${expected}`, async () => {
    world.now = start - 1000
    const message = writeNote('signed', { now: start, text: created })
      .replace(/(<wsu:Created>)[^<]*/, `$1${created}`)
      .replace(/<wsu:Expires>[^<]*<\/wsu:Expires>/, '')
    const { text, done } = await attack('signed', signAnew(message, caller.key))
    assert.equal(done.length, expected === 'done' ? 1 : 0, text)
    if (expected !== 'done') assert.match(text, expected)
  })

const heldElsewhere: readonly (readonly [attack: string, file: string, title: string])[] = [
  ['wrapped answers', 'client/wrapped-answers', 'moved anywhere'],
  ['an answer to another request', 'host/declared-security', 'an answer answers one request'],
  ['an unsigned fault in the place of an answer', 'host/declared-security', 'a fault before the proof is not signed'],
  ['an answer of another service', 'host/declared-security', 'a partner of the same authority is not it'],
  ['an answer by another key', 'security/exchange-key', 'a key that an answer brings itself proves nothing'],
  ['algorithms', 'security/attack', 'X7 HMAC with a public key'],
  ['references to elsewhere', 'security/attack', 'X3 XPointer'],
  ['an assertion in another', 'security/saml', 'not over its assertion'],
  ['derived keys without bounds', 'security/exchange-key', '§7.1 refused: a derived key with'],
  ['a padding oracle', 'security/exchange-key', 'padding oracles: CBC of another party'],
  ['paddings of RSA', 'security/encryption', 'every octet of the padding counts, and its failures are one'],
  ['octets of parts', 'security/encryption', 'M5: a signature covers the octets that an Include represents'],
  ['attachments', 'host/secured-attachments', 'attachment'],
]
for (const [what, place, title] of heldElsewhere)
  test(`${what}: ${place}`, () => {
    const source = readFileSync(join(import.meta.dirname, '..', `${place}.test.ts`), 'utf8')
    assert.ok(source.includes(title), `${place}.test.ts has no "${title}"`)
  })
