/**
 * Keys, certificates and CRLs as an application provides them: PEM, DER, or objects of node:crypto.
 * Each is read once, at start; an error names the place in the settings, and the cure.
 */

import { createPrivateKey, createSecretKey, KeyObject, X509Certificate } from 'node:crypto'
import { isCryptoError } from '../../base/attempt.ts'
import { decodeBase64 } from '../../base/base64.ts'
import { Certificate, isCertificateError } from './certificate.ts'
import { RevocationList } from './crl.ts'
import { NotDer } from './der.ts'

/** PEM of one or several certificates, DER of one, or an X509Certificate. */
export type CertificateSource = string | Uint8Array | X509Certificate | Certificate
/** PEM of a private key, DER of PKCS #8, or a KeyObject; with its passphrase if it is encrypted. */
export type PrivateKeySource =
  | string
  | Uint8Array
  | KeyObject
  | { readonly key: string | Uint8Array; readonly passphrase: string }
/** The octets of a symmetric key, or a KeyObject. */
export type SecretSource = Uint8Array | KeyObject
/** PEM of one or several CRLs, or DER of one. */
export type CrlSource = string | Uint8Array

/** One value, or a list of them. */
export type OneOrMore<T> = T | readonly T[]

const listSources = <T>(sources: OneOrMore<T> | undefined): readonly T[] =>
  sources === undefined ? [] : Array.isArray(sources) ? sources : [sources as T] // a list is not a source

/** All certificates in these sources. @throws TypeError */
export const readCertificateList = (sources: OneOrMore<CertificateSource> | undefined, place: string): Certificate[] =>
  listSources(sources).flatMap((source, at) => readCertificateSource(source, placeOf(sources, place, at)))

/**
 * The certificate in this source; from PEM with several, the first, which begins the chain.
 * @throws TypeError
 */
export function readOneCertificate(source: CertificateSource, place: string): Certificate {
  const [first] = readCertificateSource(source, place)
  return first! // otherwise reading it has thrown
}

/** All CRLs in these sources. @throws TypeError */
export const readCrlList = (sources: OneOrMore<CrlSource> | undefined, place: string): RevocationList[] =>
  listSources(sources).flatMap((source, at) => {
    const where = placeOf(sources, place, at)
    return readBlocks(source, 'X509 CRL', where).map(der => {
      try {
        return new RevocationList(der)
      } catch (thrown) {
        if (!(thrown instanceof NotDer)) throw thrown
        throw new TypeError(`${where} is not a CRL that can be used: ${thrown.message}`)
      }
    })
  })

const placeOf = (sources: unknown, place: string, at: number): string =>
  Array.isArray(sources) ? `${place}[${at}]` : place

function readCertificateSource(source: CertificateSource, place: string): Certificate[] {
  if (source instanceof Certificate) return [source]
  const blocks = source instanceof X509Certificate ? [source.raw] : readBlocks(source, 'CERTIFICATE', place)
  return blocks.map(der => {
    try {
      return new Certificate(der)
    } catch (thrown) {
      if (!isCertificateError(thrown)) throw thrown
      throw new TypeError(`${place} is not a certificate: give one of X.509, in PEM or DER`)
    }
  })
}

/** The DER in a source: each PEM block with this label, or all octets. */
function readBlocks(source: string | Uint8Array, label: string, place: string): Buffer[] {
  if (!(typeof source === 'string' || source instanceof Uint8Array))
    throw new TypeError(`${place} is not PEM or DER: give a text or octets`)
  const octets = typeof source === 'string' ? undefined : Buffer.from(source)
  if (octets?.[0] === 0x30) return [octets]
  const text = typeof source === 'string' ? source : octets!.toString('latin1')
  const block = new RegExp(`-----BEGIN ${label}-----([^-]*)-----END ${label}-----`, 'g')
  const blocks = [...text.matchAll(block)].map(([, base64 = '']) => decodeBase64(base64))
  if (blocks.length === 0) throw new TypeError(`${place} ${describeText(text, label)}`)
  return blocks.map(der => {
    if (!der) throw new TypeError(`${place} has a PEM block that is not base64: give the file as it was issued`)
    return Buffer.from(der)
  })
}

function describeText(text: string, label: string): string {
  const [, other] = /-----BEGIN ([^-]+)-----/.exec(text) ?? []
  if (other !== undefined) return `contains a ${other}: give PEM with -----BEGIN ${label}-----`
  return `contains no -----BEGIN ${label}-----: give the content of a file of it, in PEM or DER`
}

/** @throws TypeError */
export function readPrivateKey(source: PrivateKeySource, place: string): KeyObject {
  if (source instanceof KeyObject) {
    if (source.type === 'private') return source
    throw new TypeError(`${place} is a ${source.type} key: give the private one`)
  }
  const { key, passphrase } = isEncryptedKey(source) ? source : { key: source, passphrase: undefined }
  const octets = typeof key === 'string' ? Buffer.from(key) : Buffer.from(key ?? [])
  const isDer = octets[0] === 0x30
  try {
    return createPrivateKey({
      key: octets,
      ...(isDer ? { format: 'der', type: 'pkcs8' } : { format: 'pem' }),
      ...(passphrase !== undefined && { passphrase }),
    })
  } catch (thrown) {
    if (!isCryptoError(thrown)) throw thrown
    throw new TypeError(`${place} ${describeKeyText(octets.toString('latin1'), passphrase !== undefined)}`)
  }
}

const isEncryptedKey = (source: PrivateKeySource): source is Extract<PrivateKeySource, { passphrase: string }> =>
  typeof source === 'object' && source !== null && 'passphrase' in source

function describeKeyText(text: string, hasPassphrase: boolean): string {
  const isEncrypted = /ENCRYPTED/.test(text)
  if (isEncrypted && hasPassphrase) return 'cannot be decrypted: give the right passphrase'
  if (isEncrypted) return 'is encrypted: give { key, passphrase }, or a passphrase next to its file'
  if (/-----BEGIN CERTIFICATE-----/.test(text)) return 'is a certificate: give its private key'
  return 'is not a private key: give the content of a PEM file with -----BEGIN PRIVATE KEY-----, or a KeyObject'
}

const secretOctetsMin = 16

/** @throws TypeError */
export function readSecret(source: SecretSource, place: string): KeyObject {
  if (!(source instanceof KeyObject || source instanceof Uint8Array))
    throw new TypeError(`${place} is not octets: give a Buffer, or a KeyObject of createSecretKey`)
  const key = source instanceof KeyObject ? source : createSecretKey(source)
  if (key.type !== 'secret') throw new TypeError(`${place} is a ${key.type} key: give a secret one`)
  if ((key.symmetricKeySize ?? 0) < secretOctetsMin)
    throw new TypeError(`${place} is too short: give at least ${secretOctetsMin} random octets`)
  return key
}

/** @throws TypeError unless the certificate belongs to the key */
export function requirePair(
  key: KeyObject,
  certificate: Certificate,
  places: readonly [key: string, certificate: string],
): void {
  if (certificate.x509.checkPrivateKey(key)) return
  throw new TypeError(`${places[1]} is not the certificate of ${places[0]}: give a matching pair`)
}
