/**
 * WS-Security as a stranger attacks it, over a socket, at an endpoint of each kind of proof: nothing
 * is done that no honest sender has signed, the fault is one of WSS §12 and says no more than it,
 * it costs little, and the next honest message is answered.
 */
import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { type Cipher, cipherUri, decryptOctets, encryptOctets, transportKey } from '../../src/security/crypto/cipher.ts'
import { suiteTransport } from '../../src/security/policy/algorithm-suite.ts'
import { writeEncryptedKey } from '../../src/security/protect/encrypt.ts'
import { wsuNs, xencNs } from '../../src/security/vocabulary.ts'
import { assertCpuMsBelow } from '../support/cost.ts'
import { protectNote, receiver, sendNote, signAnew, startSecured, writeNote } from './secured-service.ts'

const secured = await startSecured()
const { performed, world, lines } = secured

/** Why the last message was refused, of which the sender is told nothing. */
const lastReason = (): string => String(lines.at(-1)?.fields['why'])

/** Of a second, which the log of refusals waits for. */
const nextSecond = () => {
  world.now += 1000
}

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
const pack = (message: string) => {
  const head = 'Content-Type: application/xop+xml; type="application/soap+xml"'
  return `--b\r\n${head}\r\n\r\n${message}\r\n--b\r\nContent-Type: text/plain\r\nContent-ID: <p>\r\n\r\nx\r\n--b--\r\n`
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
      'the same of a Body, signed by a key that anybody can make',
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
  test(`it costs little: ${title}`, async () => {
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
    const sent = transportKey(receiver.certificate.key, secret, suiteTransport)
    const written = writeEncryptedKey('EK', receiver.certificate, suiteTransport, sent, list)
    return sendNote(secured, 'signed', signed.replace('</wsse:Security>', `${written}</wsse:Security>`))
  }
  return { key, sealed, cipher, sendWith }
}

test('CBC: a text that is signed as it was encrypted does not become another one by another key', async () => {
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
    assert.match(lastReason(), /CBC of a text, or of very little, whose key nothing signs/)
  }
  assert.deepEqual(performed, [])
})

test('GCM: such a text is read by its own key alone', async () => {
  nextSecond()
  const { key, cipher, sendWith } = sealText('gcm', '9.99')
  assert.equal((await sendWith(randomBytes(cipher.size))).status, 500)
  assert.deepEqual(performed, [])
  assert.equal((await sendWith(key)).status, 200)
  assert.deepEqual(performed.splice(0), ['leaf: 9.99'])
})
