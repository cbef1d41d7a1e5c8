/**
 * What an attacker on the way makes of a signed answer (attack X1, towards the client): each part
 * that the signature covers is moved to every place while another replaces it, and the keys and
 * data of encrypted answers are exchanged. The client reads what the service signed, or nothing.
 */
import assert from 'node:assert/strict'
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { AnswerError, createSoapClient } from '../../src/client/index.ts'
import { anyone, header, resource, service, t } from '../../src/index.ts'
import { readOneCertificate } from '../../src/security/crypto/key-source.ts'
import { suiteCipher, suiteTransport } from '../../src/security/policy/algorithm-suite.ts'
import type { CoveredPart } from '../../src/security/policy/policy.ts'
import type { Encryption } from '../../src/security/protect/encrypt.ts'
import { type Protection, protectMessage } from '../../src/security/protect/protect.ts'
import { internName } from '../../src/xml/index.ts'
import { issuePartner, type PemPair } from '../host/partner-keys.ts'
import * as x from '../security/issue.ts'
import { wrapMessage } from '../security/wrapping.ts'
import { came, cannedTransport, mediaType, ns11, ns12 } from './canned.ts'

const ns = 'urn:example:note'
const notes = resource('notes', { fields: { id: t.id('n'), text: t.string() } }).rules({ allow: { read: [anyone] } })
const noted = (answers: 'signed' | 'encrypted') =>
  service('note', {
    namespace: ns,
    resources: [notes],
    headers: { Receipt: header(t.string(), { direction: 'response' }) },
    endpoints: { '/soap/note': { security: { callers: ['x509'], answers } } },
  })
const signedContract = noted('signed')
const sealedContract = noted('encrypted')

type Version = '1.1' | '1.2'
const bank = issuePartner('CN=bank.example', x.createEcKey())
const partner = issuePartner('CN=partner', x.createEcKey())
const receiver = issuePartner('CN=receiver')
const keyOf = ({ key }: PemPair): KeyObject => createPrivateKey(key)
const certificateOf = ({ certificate }: PemPair) => readOneCertificate(certificate, 'certificate')

const answerText = (soap: Version, text: string): string =>
  `<s:Envelope xmlns:s="${soap === '1.1' ? ns11 : ns12}"><s:Header><n:Receipt xmlns:n="${ns}">${text}</n:Receipt></s:Header>` +
  `<s:Body><n:GetNoteResponse xmlns:n="${ns}:v1"><n:note><n:id>n-1</n:id><n:text>${text}</n:text><n:version>1</n:version></n:note></n:GetNoteResponse></s:Body></s:Envelope>`

const toReceiver = {
  encrypted: {
    to: certificateOf(receiver),
    parts: ['Body'],
    cipher: suiteCipher,
    transport: suiteTransport,
  } satisfies Encryption,
}

interface Answering {
  readonly soap: Version
  readonly at?: number
  readonly by?: PemPair
  readonly text?: string
  readonly confirms?: string
  readonly encrypted?: Encryption
}

/** The service's answer to this request. */
function answerTo(request: string, answering: Answering): string {
  const { soap, at = Date.now(), by = bank, text = 'genuine', confirms = signatureOf(request), encrypted } = answering
  const signature = {
    key: keyOf(by),
    by: { certificate: certificateOf(by), refer: 'direct' },
    parts: ['Headers', 'Timestamp', 'Body'],
  } as const
  const protection: Protection = {
    timestamp: {},
    confirms: [Buffer.from(confirms, 'base64')],
    signature,
    ...(encrypted && { encryption: encrypted, encryptsFirst: true }),
  }
  return protectMessage(answerText(soap, text), protection, at).envelope
}

interface Reading {
  readonly soap: Version
  readonly keys?: PemPair
  readonly contract?: typeof signedContract | typeof sealedContract
}

/** What the client makes of replies: their text and receipt, or why it refuses them. */
function createReader({ soap, keys = partner, contract = signedContract }: Reading) {
  let answer: (request: string) => string
  const client = createSoapClient(contract as typeof signedContract, {
    address: 'http://bank.example/soap/note',
    soap,
    keys: { ...keys, service: { certificates: bank.certificate } },
    transport: cannedTransport(({ text }) => came(200, mediaType[soap], answer(text))),
  })
  return async (next: typeof answer): Promise<string> => {
    answer = next
    try {
      const { output, headers } = await client.GetNote.callForHeaders({ id: 'n-1' })
      return `${output.note.text}, ${headers.Receipt}`
    } catch (thrown) {
      if (!(thrown instanceof AnswerError)) throw thrown
      assert.doesNotMatch(thrown.message, /evil/)
      return `${thrown.why}: ${thrown.message}`
    }
  }
}
const read = (reading: Reading, answer: (request: string) => string): Promise<string> => createReader(reading)(answer)

const receipt = 'n:Receipt'
const body = 's:Body'
const confirmation = 'wsse11:SignatureConfirmation'
const timestamp = 'wsu:Timestamp'
const hour = 3_600_000

/** The version of SOAP, what is moved, the answer that it is moved in, and what replaces it. */
interface Wrapping {
  readonly soap: readonly Version[]
  readonly tag: string
  readonly answer?: (request: string, soap: Version) => string
  readonly forge: (element: string, request: string) => string
  /** What may be read at most: without it nothing. */
  readonly genuine?: RegExp
}
const signatureOf = (request: string): string =>
  /SignatureValue>([^<]*)</.exec(request)?.[1] ?? assert.fail('the request is not signed')
const evil = (element: string): string => element.replaceAll('genuine', 'evil')
const answerIn = (request: string, soap: Version): string => answerTo(request, { soap })
const wrappings: Readonly<Record<string, Wrapping>> = {
  'the Body': { soap: ['1.1', '1.2'], tag: body, forge: evil, genuine: /^genuine, genuine$/ },
  'a header block': { soap: ['1.1'], tag: receipt, forge: evil, genuine: /^genuine, genuine$/ },
  'the Timestamp of an hour ago': {
    soap: ['1.2'],
    tag: timestamp,
    answer: (request, soap) => answerTo(request, { soap, at: Date.now() - hour }),
    forge: () =>
      `<${timestamp}><wsu:Created>${new Date().toISOString()}</wsu:Created><wsu:Expires>${new Date(Date.now() + hour).toISOString()}</wsu:Expires></${timestamp}>`,
  },
  'the confirmation of another request': {
    soap: ['1.1'],
    tag: confirmation,
    answer: (request, soap) => answerTo(request, { soap, confirms: 'AAAA' }),
    forge: (element, request) => element.replace('AAAA', signatureOf(request)),
  },
}

for (const soap of ['1.1', '1.2'] as const) {
  test(`control: the response of SOAP ${soap} as it was signed is read`, async () => {
    assert.equal(await read({ soap }, request => answerTo(request, { soap })), 'genuine, genuine')
    const sealed = { soap, keys: receiver, contract: sealedContract }
    assert.equal(await read(sealed, request => answerTo(request, { soap, ...toReceiver })), 'genuine, genuine')
  })

  for (const [name, { soap: tried, tag, answer = answerIn, forge, genuine }] of Object.entries(wrappings)) {
    if (!tried.includes(soap)) continue
    test(`X1: ${name}, moved anywhere in a response of SOAP ${soap}, lets nothing else be read`, async () => {
      const counts = { all: 0, proven: 0 }
      const read = createReader({ soap })
      for (let isLast = false; !isLast; ) {
        const said = await read(request => {
          const forged = wrapMessage(answer(request, soap), tag, element => forge(element, request)).drop(counts.all)
          const { value } = forged.next()
          isLast = value === undefined
          return value ?? ''
        })
        if (isLast) break
        counts.all++
        if (/is not signed/.test(said)) counts.proven++
        if (genuine?.test(said) !== true) assert.match(said, /^(unproven|structure|malformed|not-understood): /)
      }
      assert.ok(counts.all >= 300, `${counts.all} answers, ${counts.proven} of them pass core validation`)
    })
  }
}

const partOf = (text: string, tag: string): string =>
  new RegExp(`<${tag}[ >].*?</${tag}>`, 's').exec(text)?.[0] ?? assert.fail(`${tag} is not there: ${text}`)
const replacePart = (text: string, tag: string, replace: (part: string) => string): string => {
  const part = partOf(text, tag)
  return text.replace(part, () => replace(part))
}

/** What anyone can make who knows the client's certificate: a message encrypted to it. */
const forgedFor = (parts: readonly CoveredPart[]): string =>
  protectMessage(answerText('1.2', 'evil'), { encryption: { ...toReceiver.encrypted, parts } }, Date.now()).envelope
const [sealedKey, sealedBody, sealedData] = ['xenc:EncryptedKey', 's:Body', 'xenc:EncryptedData']
const cipherOf = (part: string): string => partOf(part, 'xenc:CipherData')
const insideOf = (element: string): string => element.slice(element.indexOf('>') + 1, element.lastIndexOf('<'))

const exchanges: Readonly<Record<string, (answer: string, forged: string) => string>> = {
  'the key is one of the attacker': (answer, forged) =>
    replacePart(answer, sealedKey, key => key.replace(cipherOf(key), cipherOf(partOf(forged, sealedKey)))),
  'the data are those of the attacker': (answer, forged) =>
    replacePart(answer, sealedBody, part => part.replace(cipherOf(part), cipherOf(partOf(forged, sealedBody)))),
  'key and data are those of the attacker': (answer, forged) =>
    replacePart(
      replacePart(answer, sealedKey, () => partOf(forged, sealedKey)),
      sealedBody,
      part => part.replace(insideOf(part), insideOf(partOf(forged, sealedBody))),
    ),
  'key and data are those of the attacker, under the names of the genuine': (answer, forged) => {
    const renamed = (['EK', 'ED'] as const).reduce(
      (text, kind) =>
        text.replaceAll(new RegExp(`${kind}-[0-9a-f]+`, 'g'), new RegExp(`${kind}-[0-9a-f]+`).exec(answer)![0]),
      forged,
    )
    return replacePart(
      replacePart(answer, sealedKey, () => partOf(renamed, sealedKey)),
      sealedBody,
      part => part.replace(insideOf(part), insideOf(partOf(renamed, sealedBody))),
    )
  },
  "the attacker's key comes first, and names the genuine data": (answer, forged) => {
    const own = partOf(forged, sealedKey).replace(/URI="#ED-[^"]*"/, /URI="#ED-[^"]*"/.exec(answer)![0])
    return replacePart(answer, sealedKey, key => own + key)
  },
  'the genuine Body moves into a block, and one of the attacker takes its place': (answer, forged) => {
    const genuine = partOf(answer, sealedBody)
    return answer
      .replace(genuine, () => partOf(forged, sealedBody).replace(/ wsu:Id="[^"]*"/, ''))
      .replace(partOf(answer, sealedKey), key => key + partOf(forged, sealedKey))
      .replace('</s:Header>', () => `<w:w xmlns:w="urn:w">${genuine}</w:w></s:Header>`)
  },
  'data of the attacker stand beside the genuine in the Body': (answer, forged) =>
    replacePart(answer, sealedKey, key => key + partOf(forged, sealedKey)).replace(
      '</s:Body>',
      () => `${partOf(forged, sealedData)}</s:Body>`,
    ),
  'nobody decrypts the Body': answer =>
    replacePart(answer, sealedKey, key => key.replace(partOf(key, 'xenc:ReferenceList'), '')),
  'the key is gone': answer => replacePart(answer, sealedKey, () => ''),
  'the Body is in clear': answer => replacePart(answer, sealedBody, part => part.replace(insideOf(part), '<evil/>')),
}

/** Each of the data names its key: another that claims it changes nothing of what is read. */
const harmless = { "the attacker's key comes first, and names the genuine data": true }

for (const soap of ['1.1', '1.2'] as const) {
  for (const [name, exchange] of Object.entries(exchanges)) {
    test(`X1: of an encrypted answer of SOAP ${soap} nothing forged is read when ${name}`, async () => {
      const said = await read({ soap, keys: receiver, contract: sealedContract }, request => {
        const answer = answerTo(request, { soap, ...toReceiver })
        const changed = exchange(answer, forgedFor(['Body']))
        assert.notEqual(changed, answer)
        return changed
      })
      assert.match(said, name in harmless ? /^genuine, genuine$/ : /^(unproven|structure|malformed): /)
    })
  }

  test(`X1: a header block that the attacker encrypted is not read from a response of SOAP ${soap}`, async () => {
    for (const isAdded of [true, false]) {
      const said = await read({ soap, keys: receiver, contract: sealedContract }, request => {
        const forged = protectMessage(
          answerText(soap, 'evil'),
          { encryption: { ...toReceiver.encrypted, parts: [internName(ns, 'Receipt')] } },
          Date.now(),
        ).envelope
        const block = partOf(forged, 'wsse11:EncryptedHeader')
        const answer = answerTo(request, { soap, ...toReceiver })
        const keyed = replacePart(answer, sealedKey, key => key + partOf(forged, sealedKey))
        return replacePart(keyed, receipt, genuine => (isAdded ? genuine + block : block))
      })
      assert.doesNotMatch(said, /evil/)
    }
  })

  test(`X11: a response of SOAP ${soap} that another key signed is refused`, async () => {
    const stranger = issuePartner('CN=bank.example', x.createEcKey())
    for (const by of [stranger, partner])
      assert.match(await read({ soap }, request => answerTo(request, { soap, by, text: 'evil' })), /^unproven: /)
    const swapped = (request: string) => {
      const token = /<wsse:BinarySecurityToken.*?<\/wsse:BinarySecurityToken>/s
      const own = token.exec(answerTo(request, { soap, by: stranger }))![0]
      return answerTo(request, { soap }).replace(token, genuine => genuine.replace(insideOf(genuine), insideOf(own)))
    }
    assert.match(await read({ soap }, swapped), /^unproven: /)
    const claimed = (request: string) => {
      const token = /<wsse:BinarySecurityToken.*?<\/wsse:BinarySecurityToken>/s
      const genuine = token.exec(answerTo(request, { soap }))![0]
      return answerTo(request, { soap, by: stranger, text: 'evil' }).replace(token, own =>
        own.replace(insideOf(own), insideOf(genuine)),
      )
    }
    assert.match(await read({ soap }, claimed), /^unproven: /)
  })
}
