/** Certificates and CRLs for tests, with whatever an authority could get wrong, in DER. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

const encodeLength = (length: number): Buffer =>
  length < 0x80
    ? Buffer.of(length)
    : length < 0x100
      ? Buffer.of(0x81, length)
      : length < 0x10000
        ? Buffer.of(0x82, length >> 8, length & 0xff)
        : Buffer.of(0x83, length >> 16, (length >> 8) & 0xff, length & 0xff)
export const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag), encodeLength(content.length), content])
}
export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
export function integer(value: number): Buffer {
  const hex = value.toString(16)
  const octets = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return der(0x02, ...(octets[0]! < 0x80 ? [] : [Buffer.of(0)]), octets)
}
export const yes: Buffer = der(0x01, Buffer.of(0xff))
export const ascii = (tag: number, text: string): Buffer => der(tag, Buffer.from(text, 'latin1'))
export const octetString = (content: Uint8Array): Buffer => der(0x04, content)
export const bitString = (content: Uint8Array): Buffer => der(0x03, Buffer.of(0), content)

export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const octets = [first * 40 + second, ...rest].flatMap(arc => {
    const groups = [arc & 0x7f]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) groups.unshift(0x80 | (left & 0x7f))
    return groups
  })
  return der(0x06, Buffer.from(octets))
}

const attributeTypes: Readonly<Record<string, string>> = {
  CN: '2.5.4.3',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  emailAddress: '1.2.840.113549.1.9.1',
}
/** `O=Partner/CN=maria`, from the root down. */
export const writeName = (text: string): Buffer =>
  sequence(
    ...text.split('/').map(part => {
      const [type = '', value = ''] = part.split('=')
      return der(0x31, sequence(identifier(attributeTypes[type]!), ascii(0x0c, value)))
    }),
  )

const writeTime = (time: number): Buffer =>
  ascii(
    0x18,
    `${new Date(time)
      .toISOString()
      .replace(/\.\d+Z$/, '')
      .replaceAll(/[-:T]/g, '')}Z`,
  )

export const extension = (id: string, value: Uint8Array, isCritical = false): Buffer =>
  sequence(identifier(id), ...(isCritical ? [yes] : []), octetString(value))

export const authority = (pathLength?: number): Buffer =>
  extension('2.5.29.19', sequence(yes, ...(pathLength === undefined ? [] : [integer(pathLength)])), true)
/** The numbers of the bits: 0 digitalSignature, 5 keyCertSign, 6 cRLSign. */
export const usage = (...bits: readonly number[]): Buffer => {
  const octet = bits.reduce((all, bit) => all | (0x80 >> bit), 0)
  return extension('2.5.29.15', bitString(Buffer.of(octet)), true)
}
export const purposes = (ids: readonly string[], isCritical = true): Buffer =>
  extension('2.5.29.37', sequence(...ids.map(identifier)), isCritical)
export const policies = (...ids: readonly string[]): Buffer =>
  extension('2.5.29.32', sequence(...ids.map(id => sequence(identifier(id)))), true)

export const directoryName = (name: string): Buffer => der(0xa4, writeName(name))
export const emailName = (text: string): Buffer => ascii(0x81, text)
export const dnsName = (text: string): Buffer => ascii(0x82, text)
export const uriName = (text: string): Buffer => ascii(0x86, text)
export const ipName = (...octets: readonly number[]): Buffer => der(0x87, Buffer.from(octets))
export const alternativeNames = (...names: readonly Uint8Array[]): Buffer => extension('2.5.29.17', sequence(...names))
export const nameConstraints = (
  permitted: readonly Uint8Array[],
  excluded: readonly Uint8Array[] = [],
  isCritical = true,
): Buffer => {
  const subtrees = (tag: number, bases: readonly Uint8Array[]) =>
    bases.length > 0 ? [der(tag, ...bases.map(base => sequence(base)))] : []
  return extension('2.5.29.30', sequence(...subtrees(0xa0, permitted), ...subtrees(0xa1, excluded)), isCritical)
}

const nothing = Buffer.of(0x05, 0x00)
const sha = (name: 'sha1' | 'sha256') =>
  sequence(identifier(name === 'sha1' ? '1.3.14.3.2.26' : '2.16.840.1.101.3.4.2.1'), nothing)
const pss = (hash: 'sha1' | 'sha256', mask = hash, salt = hash === 'sha1' ? 20 : 32): Buffer =>
  sequence(
    identifier('1.2.840.113549.1.1.10'),
    sequence(
      der(0xa0, sha(hash)),
      der(0xa1, sequence(identifier('1.2.840.113549.1.1.8'), sha(mask))),
      der(0xa2, integer(salt)),
    ),
  )
/** The AlgorithmIdentifier, and the hash and padding that make the signature. */
export const algorithms = {
  ecdsa: [sequence(identifier('1.2.840.10045.4.3.2')), 'sha256', {}],
  ecdsaSha1: [sequence(identifier('1.2.840.10045.4.1')), 'sha1', {}],
  ecdsaWithNull: [sequence(identifier('1.2.840.10045.4.3.2'), nothing), 'sha256', {}],
  rsa: [sequence(identifier('1.2.840.113549.1.1.11'), nothing), 'sha256', {}],
  rsaSha1: [sequence(identifier('1.2.840.113549.1.1.5'), nothing), 'sha1', {}],
  rsaMd5: [sequence(identifier('1.2.840.113549.1.1.4'), nothing), 'md5', {}],
  pss: [pss('sha256'), 'sha256', { padding: 6, saltLength: 32 }],
  pssLongSalt: [pss('sha256', 'sha256', 222), 'sha256', { padding: 6, saltLength: 222 }],
  pssSha1: [pss('sha1'), 'sha1', { padding: 6, saltLength: 20 }],
  pssDefaults: [sequence(identifier('1.2.840.113549.1.1.10'), sequence()), 'sha1', { padding: 6, saltLength: 20 }],
  pssSha1Mask: [pss('sha256', 'sha1'), 'sha256', { padding: 6, saltLength: 32 }],
} as const satisfies Readonly<Record<string, readonly [Buffer, string, object]>>
export type IssuedAlgorithm = keyof typeof algorithms

export interface TestKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}
export const createEcKey = (namedCurve = 'P-256'): TestKey => generateKeyPairSync('ec', { namedCurve })
export const createRsaKey = (modulusLength = 2048): TestKey => generateKeyPairSync('rsa', { modulusLength })

export interface Holder {
  readonly name: string
  readonly key: TestKey
}

export interface CertificateDraft extends Holder {
  readonly by: Holder
  readonly extensions?: readonly Uint8Array[]
  readonly algorithm?: IssuedAlgorithm
  readonly serial?: number
  readonly notBefore?: number
  readonly notAfter?: number
  /** Another algorithm inside the signed octets. */
  readonly inside?: IssuedAlgorithm
}

/** The time of all tests. */
export const testTime = Date.parse('2030-06-01T12:00:00Z')
const year = 365 * 86_400_000
let lastSerial = 1000

function signOctets(content: Buffer, by: Holder, algorithm: IssuedAlgorithm | undefined): Buffer {
  const [identifierOctets, hash, options] = algorithms[algorithm ?? defaultAlgorithm(by)]
  return sequence(content, identifierOctets, bitString(sign(hash, content, { key: by.key.privateKey, ...options })))
}
const defaultAlgorithm = ({ key }: Holder): IssuedAlgorithm =>
  key.privateKey.asymmetricKeyType === 'ec' ? 'ecdsa' : 'rsa'

export function issueCertificate(draft: CertificateDraft): Buffer {
  const { by, extensions = [], algorithm, serial = ++lastSerial, inside } = draft
  const { notBefore = testTime - year, notAfter = testTime + year } = draft
  const content = sequence(
    der(0xa0, integer(2)),
    integer(serial),
    algorithms[inside ?? algorithm ?? defaultAlgorithm(by)][0],
    writeName(by.name),
    sequence(writeTime(notBefore), writeTime(notAfter)),
    writeName(draft.name),
    draft.key.publicKey.export({ format: 'der', type: 'spki' }),
    ...(extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : []),
  )
  return signOctets(content, by, algorithm)
}

export interface CrlDraft {
  readonly by: Holder
  readonly revoked?: readonly number[]
  /** Of each entry. */
  readonly entryExtensions?: Buffer
  readonly thisUpdate?: number
  readonly nextUpdate?: number
  readonly extensions?: readonly Uint8Array[]
  readonly algorithm?: IssuedAlgorithm
}

export function issueCrl({
  by,
  revoked = [],
  entryExtensions,
  extensions = [],
  algorithm,
  ...times
}: CrlDraft): Buffer {
  const { thisUpdate = testTime - 86_400_000, nextUpdate = testTime + 86_400_000 } = times
  const content = sequence(
    integer(1),
    algorithms[algorithm ?? defaultAlgorithm(by)][0],
    writeName(by.name),
    writeTime(thisUpdate),
    writeTime(nextUpdate),
    ...(revoked.length > 0
      ? [
          sequence(
            ...revoked.map(serial =>
              sequence(integer(serial), writeTime(thisUpdate), ...(entryExtensions ? [entryExtensions] : [])),
            ),
          ),
        ]
      : []),
    ...(extensions.length > 0 ? [der(0xa0, sequence(...extensions))] : []),
  )
  return signOctets(content, by, algorithm)
}

export interface OcspAnswerDraft {
  /** Of the certificate, and the name and key of its issuer. */
  readonly serial?: number
  readonly issuer: Holder
  readonly status?: 'good' | 'revoked' | 'unknown'
  readonly thisUpdate?: number
  readonly nextUpdate?: number | undefined
  readonly extensions?: readonly Uint8Array[]
  /** Octets of the fields of CertID in place of the right ones. */
  readonly nameHash?: Uint8Array
  readonly keyHash?: Uint8Array
  readonly hashIdentifier?: string
  readonly hash?: keyof typeof namingHashes
}

/** By which CertID names the issuer. */
const namingHashes = {
  sha1: '1.3.14.3.2.26',
  sha224: '2.16.840.1.101.3.4.2.4',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
}

/** A response (RFC 6960 §4.2.1). */
export interface OcspDraft {
  readonly by: Holder
  readonly answers: readonly OcspAnswerDraft[]
  readonly version?: number
  readonly responder?: Uint8Array
  readonly producedAt?: number
  readonly extensions?: readonly Uint8Array[]
  readonly certificates?: readonly Uint8Array[]
  readonly algorithm?: IssuedAlgorithm
  readonly type?: string
}

const hashOf = (octets: Uint8Array, name = 'sha1'): Buffer => createHash(name).update(octets).digest()
/** The content of subjectPublicKey. */
export const hashKey = ({ publicKey }: TestKey, hash = 'sha1'): Buffer => {
  const spki = publicKey.export({ format: 'der', type: 'spki' })
  const at = spki.length - (publicKey.asymmetricKeyType === 'ec' ? 65 : 270)
  return hashOf(spki.subarray(at), hash)
}
export const responderByName = (name: string): Buffer => der(0xa1, writeName(name))
export const responderByKey = (key: TestKey): Buffer => der(0xa2, octetString(hashKey(key)))
export const nonceExtension = (nonce: Uint8Array): Buffer => extension('1.3.6.1.5.5.7.48.1.2', octetString(nonce))

function writeOcspAnswer(draft: OcspAnswerDraft): Buffer {
  const { issuer, serial = 7, status = 'good', thisUpdate = testTime - 3_600_000, extensions = [] } = draft
  const { hash = 'sha1' } = draft
  const { nameHash = hashOf(writeName(issuer.name), hash), keyHash = hashKey(issuer.key, hash) } = draft
  const nextUpdate = 'nextUpdate' in draft ? draft.nextUpdate : testTime + 3_600_000
  const statuses = { good: der(0x80), revoked: der(0xa1, writeTime(thisUpdate)), unknown: der(0x82) }
  const algorithm = sequence(identifier(draft.hashIdentifier ?? namingHashes[hash]), nothing)
  return sequence(
    sequence(algorithm, octetString(nameHash), octetString(keyHash), integer(serial)),
    statuses[status],
    writeTime(thisUpdate),
    ...(nextUpdate === undefined ? [] : [der(0xa0, writeTime(nextUpdate))]),
    ...(extensions.length > 0 ? [der(0xa1, sequence(...extensions))] : []),
  )
}

/** OCSPResponse with another status than successful (§4.2.1). */
export const ocspFailure = (status: number): Buffer => sequence(der(0x0a, Buffer.of(status)))

export function issueOcsp(draft: OcspDraft): Buffer {
  const { by, answers, version, producedAt = testTime - 1_800_000, extensions = [], certificates = [] } = draft
  const { responder = responderByName(by.name), algorithm, type = '1.3.6.1.5.5.7.48.1.1' } = draft
  const content = sequence(
    ...(version === undefined ? [] : [der(0xa0, integer(version))]),
    responder,
    writeTime(producedAt),
    sequence(...answers.map(writeOcspAnswer)),
    ...(extensions.length > 0 ? [der(0xa1, sequence(...extensions))] : []),
  )
  const [identifierOctets, hash, options] = algorithms[algorithm ?? defaultAlgorithm(by)]
  const basic = sequence(
    content,
    identifierOctets,
    bitString(sign(hash, content, { key: by.key.privateKey, ...options })),
    ...(certificates.length > 0 ? [der(0xa0, sequence(...certificates))] : []),
  )
  return sequence(der(0x0a, Buffer.of(0)), der(0xa0, sequence(identifier(type), octetString(basic))))
}

export const writePem = (label: string, octets: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(octets).toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`
