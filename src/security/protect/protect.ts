/**
 * WS-Security going out: replies of this side, and requests of its client. What is signed is written once and never again: the
 * text that comes back is the one the digests were made of.
 */

import { createHash, hash, type KeyObject, randomBytes } from 'node:crypto'
import { encodeBase64 } from '../../base/base64.ts'
import { versions } from '../../soap/version.ts'
import {
  canonicalize,
  type Element,
  escapeText,
  Malformed,
  type Name,
  parseXml,
  writeAttribute,
  writeElement,
} from '../../xml/index.ts'
import {
  digestUri,
  exclusiveC14n,
  fitsKey,
  type Hash,
  type Method,
  methodUri,
  signOctets,
} from '../crypto/algorithm.ts'
import type { Certificate } from '../crypto/certificate.ts'
import { type Cipher, cipherUri, encryptOctets, type KeyTransport, maskUri, transportKey } from '../crypto/cipher.ts'
import type { CoveredPart } from '../policy/policy.ts'
import { cloneInto, replaceElement, trustedFragment } from '../tree/tree-edit.ts'
import { includedParts } from '../tree/xop-inline.ts'
import { isAssertion } from '../verify/saml.ts'
import * as n from '../vocabulary.ts'

/** What a message is given. Each part that is absent is left out. */
export interface Protection {
  /** For how many milliseconds it is to be taken; 300,000 unless it says so. */
  readonly timestamp?: { readonly lifetime?: number }
  readonly username?: { readonly name: string; readonly password: string; readonly kind: 'text' | 'digest' }
  /** An assertion as its issuer made it. */
  readonly assertion?: string
  /** A Kerberos AP-REQ in the GSS-API framing. */
  readonly ticket?: Uint8Array
  readonly signature?: Signing
  readonly encryption?: Encryption
  /** WSS §8.5: the values of the signatures in the message that this one answers; empty when it had none. */
  readonly confirms?: readonly Buffer[]
  /** False: a receiver without WS-Security may pass it over. */
  readonly mustUnderstand?: boolean
}

export interface Signing {
  /** A private key, or a secret that both sides have. */
  readonly key: KeyObject
  /** How the receiver knows the key: a certificate and the way to tell it, the name of a secret, or the message's assertion. */
  readonly by:
    | {
        readonly certificate: Certificate
        readonly refer: Refer
      }
    | { readonly name: string }
    | 'assertion'
  /** What is covered; all that is there of each. SignatureConfirmations always are. */
  readonly parts: readonly CoveredPart[]
  readonly hash?: Exclude<Hash, 'sha1'>
  /** RSASSA-PSS in place of PKCS#1 v1.5. */
  readonly pss?: boolean
}

export interface Encryption {
  /** Whose certificate it is encrypted to. */
  readonly to: Certificate
  /** Body: its content. Token: the UsernameToken or assertion. Header blocks: each in an EncryptedHeader. */
  readonly parts: readonly CoveredPart[]
  /** AES-256-GCM unless it says otherwise. */
  readonly cipher?: Cipher
  /** RSA-OAEP with SHA-256 and MGF1 with SHA-1, the pair that most receivers know, unless it says otherwise. */
  readonly transport?: KeyTransport
}

export interface Protected {
  readonly envelope: string
  /** The values of its signatures, which the reply has to confirm. */
  readonly signatures: readonly Buffer[]
}

/** This envelope with a Security block. @param now milliseconds since 1970 @throws TypeError when the message has no such part */
export function protectMessage(envelope: string, protection: Protection, now: number): Protected {
  const work = new ProtectionDraft(envelope, protection)
  work.tokens(now)
  if (protection.signature) work.sign(protection.signature)
  if (protection.encryption) work.encrypt(protection.encryption)
  const written = `<?xml version="1.0" encoding="UTF-8"?>${writeElement(work.envelope)}`
  return { envelope: written, signatures: work.signatures }
}

/** Milliseconds for which a message is to be taken. */
const lifetime = 300_000

class ProtectionDraft {
  readonly envelope: Element
  private readonly body: Element
  private readonly header: Element
  private readonly security: Element
  private readonly protection: Protection
  readonly signatures: Buffer[] = []
  private token: Element | undefined

  constructor(written: string, protection: Protection) {
    this.protection = protection
    const document = parseXml(Buffer.from(written))
    if (document instanceof Malformed) throw new TypeError(document.reason)
    const version = versions.find(({ envelope }) => envelope === document.root.name)
    if (!version) throw new TypeError('not an envelope')
    this.envelope = identified(document.root, version.header, version.body)
    const body = this.envelope.elements(version.body)[0]
    if (!body) throw new TypeError('an envelope without a Body')
    this.body = body
    const { prefix } = this.envelope
    if (this.envelope.elements(version.header).length === 0) {
      this.envelope.splice(0, 0, trustedFragment(`<${qualified(prefix, 'Header')}/>`, this.envelope))
    }
    this.header = this.envelope.elements(version.header)[0]!
    const mandatory = protection.mustUnderstand === false ? '' : ` s:mustUnderstand="1" xmlns:s="${version.namespace}"`
    const block = `<wsse:Security xmlns:wsse="${n.wsseNs}" xmlns:wsu="${n.wsuNs}"${mandatory}/>`
    this.security = this.add(this.header, block)
  }

  private add(parent: Element, written: string): Element {
    const [element] = trustedFragment(written, parent)
    parent.append([element!])
    return element!
  }

  tokens(now: number): void {
    const { timestamp, username, assertion, ticket, confirms } = this.protection
    if (timestamp) {
      const expires = now + (timestamp.lifetime ?? lifetime)
      this.add(
        this.security,
        `<wsu:Timestamp wsu:Id="${fresh('TS')}"><wsu:Created>${time(now)}</wsu:Created><wsu:Expires>${time(expires)}</wsu:Expires></wsu:Timestamp>`,
      )
    }
    if (username) this.token = this.add(this.security, usernameToken(username, now))
    if (assertion) this.token = this.add(this.security, assertion)
    if (ticket) {
      const value = encodeBase64(ticket)
      this.token = this.add(this.security, binaryToken(fresh('KRB'), n.gssKerberosUri, value))
    }
    for (const value of confirms?.length === 0 ? [undefined] : (confirms ?? [])) {
      const said = value ? ` Value="${encodeBase64(value)}"` : ''
      this.add(
        this.security,
        `<wsse11:SignatureConfirmation xmlns:wsse11="${n.wsse11Ns}" wsu:Id="${fresh('SC')}"${said}/>`,
      )
    }
  }

  // Signature

  sign(signing: Signing): void {
    const method = methodFor(signing)
    const keyInfo = this.keyInfo(signing.by)
    const algorithm = signing.hash ?? 'sha256'
    const confirmations = this.security.elements(n.SignatureConfirmationName)
    const targets = [...signing.parts.flatMap(part => this.elements(part)), ...confirmations]
    if (targets.some(target => includedParts(target).length > 0)) {
      throw new TypeError('what is signed holds its octets itself: a signature does not cover the parts of a package')
    }
    const references = targets.map(target => this.reference(target, algorithm))
    const signature = this.add(
      this.security,
      `<ds:Signature xmlns:ds="${n.dsNs}" Id="${fresh('SIG')}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="${exclusiveC14n}"/>` +
        `<ds:SignatureMethod Algorithm="${methodUri(method.family, method.hash)}"/>${references.join('')}</ds:SignedInfo></ds:Signature>`,
    )
    const info = signature.elements(n.SignedInfoName)[0]!
    const octets = Buffer.from(canonicalize(info, { exclusive: true, comments: false }))
    const value = signOctets(method, signing.key, octets)
    this.signatures.push(value)
    const ending = `<ds:SignatureValue>${encodeBase64(value)}</ds:SignatureValue><ds:KeyInfo>${keyInfo}</ds:KeyInfo>`
    signature.append(trustedFragment(ending, signature))
  }

  private elements(part: CoveredPart): Element[] {
    const found = this.find(part)
    if (found.length === 0 && typeof part === 'string') throw new TypeError(`the message has no ${part}`)
    return found
  }

  private find(part: CoveredPart): Element[] {
    if (part === 'Body') return [this.body]
    if (part === 'Timestamp') return this.security.elements(n.TimestampName)
    if (part === 'Token') return this.token ? [this.token] : this.security.elements(n.BinarySecurityTokenName)
    if (part === 'Attachments') throw new TypeError('attachments are signed as what they stand for in the Body')
    return this.header.elements(part)
  }

  private reference(target: Element, algorithm: Hash): string {
    const id =
      target.attribute(n.wsuId) ?? target.attribute(n.upperIdAttribute) ?? target.attribute(n.assertionIdAttribute)
    if (id === undefined) throw new TypeError(`nothing identifies ${target.name.local}`)
    const digest = hash(algorithm, canonicalize(target, { exclusive: true, comments: false }), 'base64')
    return (
      `<ds:Reference URI=${writeAttribute(`#${id}`)}><ds:Transforms><ds:Transform Algorithm="${exclusiveC14n}"/></ds:Transforms>` +
      `<ds:DigestMethod Algorithm="${digestUri(algorithm)}"/><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference>`
    )
  }

  private keyInfo(by: Signing['by']): string {
    if (by === 'assertion') return this.assertionReference()
    if ('name' in by) return `<ds:KeyName>${escapeText(by.name)}</ds:KeyName>`
    if (by.refer !== 'direct') return certificateReference(by.certificate, by.refer)
    const id = fresh('X509')
    this.add(this.security, binaryToken(id, n.x509v3Uri, encodeBase64(by.certificate.der)))
    return reference(`<wsse:Reference URI="#${id}" ValueType="${n.x509v3Uri}"/>`)
  }

  /** SAML Token Profile 1.1 §3.4. */
  private assertionReference(): string {
    if (!this.token || !isAssertion(this.token)) throw new TypeError('the message has no assertion')
    const second = this.token.name.uri === n.saml2Ns
    const id = this.token.attribute(second ? n.upperIdAttribute : n.assertionIdAttribute) ?? ''
    const identifier = `<wsse:KeyIdentifier ValueType="${second ? n.saml2IdUri : n.saml1IdUri}">${escapeText(id)}</wsse:KeyIdentifier>`
    return reference(identifier, second ? n.saml2TypeUri : n.saml1TypeUri)
  }

  // Encryption

  encrypt({ to, parts, cipher = { mode: 'gcm', size: 32 }, transport = common }: Encryption): void {
    const secret = randomBytes(cipher.size)
    const keyId = fresh('EK')
    const list: string[] = []
    for (const part of parts) {
      for (const element of this.elements(part)) {
        const id = fresh('ED')
        list.push(`<xenc:DataReference URI="#${id}"/>`)
        const data = (type: string, plain: string) =>
          `<xenc:EncryptedData xmlns:xenc="${n.xencNs}" Id="${id}" Type="${n.xencNs}${type}"><xenc:EncryptionMethod Algorithm="${cipherUri(cipher)}"/>` +
          `<ds:KeyInfo xmlns:ds="${n.dsNs}"><wsse:SecurityTokenReference xmlns:wsse="${n.wsseNs}" xmlns:wsse11="${n.wsse11Ns}" wsse11:TokenType="${n.encryptedKeyTypeUri}">` +
          `<wsse:Reference URI="#${keyId}"/></wsse:SecurityTokenReference></ds:KeyInfo>${cipherData(encryptOctets(cipher, secret, Buffer.from(plain)))}</xenc:EncryptedData>`
        if (part === 'Body') {
          const plain = element.children.map(child => writeElement(child)).join('')
          element.splice(0, Infinity, trustedFragment(data('Content', plain), element))
        } else {
          const sealed = data('Element', writeElement(element))
          const wrapped =
            typeof part === 'string'
              ? sealed
              : `<wsse11:EncryptedHeader xmlns:wsse11="${n.wsse11Ns}">${sealed}</wsse11:EncryptedHeader>`
          replaceElement(element, trustedFragment(wrapped, element.parent!))
        }
      }
    }
    const key =
      `<xenc:EncryptedKey xmlns:xenc="${n.xencNs}" xmlns:ds="${n.dsNs}" Id="${keyId}">${transportMethod(transport)}` +
      `<ds:KeyInfo>${certificateReference(to, 'thumbprint')}</ds:KeyInfo>${cipherData(transportKey(to.key, secret, transport))}` +
      `<xenc:ReferenceList>${list.join('')}</xenc:ReferenceList></xenc:EncryptedKey>`
    this.security.splice(0, 0, trustedFragment(key, this.security)) // WSS §9: it is read before what it is for
  }
}

const common: KeyTransport = { digest: 'sha256', mask: 'sha1', label: Buffer.alloc(0) }

/** A copy in which the Body and every header block can be referred to. */
function identified(envelope: Element, header: Name, body: Name): Element {
  return cloneInto(envelope, undefined, element => {
    const { parent, attributes } = element
    const block = parent?.name === header && parent.parent === envelope
    if (!(block || (element.name === body && parent === envelope)) || element.attribute(n.wsuId) !== undefined) {
      return attributes
    }
    return [...attributes, { name: n.wsuId, prefix: 'wsu', value: fresh('id') }]
  })
}

function methodFor({ key, hash = 'sha256', pss }: Signing): Method {
  const family = key.type === 'secret' ? 'hmac' : key.asymmetricKeyType === 'ec' ? 'ecdsa' : pss ? 'rsa-pss' : 'rsa'
  const method: Method = { family, hash }
  if (!fitsKey(method, key)) throw new TypeError('a key that no algorithm here takes')
  return method
}

const fresh = (kind: string): string => `${kind}-${randomBytes(16).toString('hex')}`
const time = (at: number): string => new Date(at).toISOString()
const qualified = (prefix: string, local: string) => (prefix === '' ? local : `${prefix}:${local}`)

/** Username Token Profile 1.1 §3.1. */
function usernameToken({ name, password, kind }: NonNullable<Protection['username']>, now: number): string {
  const nonce = randomBytes(16)
  const created = time(now)
  const digest = createHash('sha1').update(nonce).update(`${created}${password}`).digest('base64')
  const [type, value] = kind === 'text' ? [n.passwordTextUri, escapeText(password)] : [n.passwordDigestUri, digest]
  return (
    `<wsse:UsernameToken wsu:Id="${fresh('UT')}"><wsse:Username>${escapeText(name)}</wsse:Username><wsse:Password Type="${type}">${value}</wsse:Password>` +
    `<wsse:Nonce EncodingType="${n.base64TypeUri}">${encodeBase64(nonce)}</wsse:Nonce><wsu:Created>${created}</wsu:Created></wsse:UsernameToken>`
  )
}

const binaryToken = (id: string, type: string, value: string): string =>
  `<wsse:BinarySecurityToken wsu:Id="${id}" EncodingType="${n.base64TypeUri}" ValueType="${type}">${value}</wsse:BinarySecurityToken>`

function reference(inside: string, type?: string): string {
  const said = type === undefined ? '' : ` xmlns:wsse11="${n.wsse11Ns}" wsse11:TokenType="${type}"`
  return `<wsse:SecurityTokenReference${said}>${inside}</wsse:SecurityTokenReference>`
}

const cipherData = (octets: Buffer): string =>
  `<xenc:CipherData><xenc:CipherValue>${encodeBase64(octets)}</xenc:CipherValue></xenc:CipherData>`

/** X.509 Token Profile 1.1 §3.2. */
function certificateReference(certificate: Certificate, refer: Exclude<Refer, 'direct'>): string {
  if (refer === 'embedded') {
    return `<ds:X509Data><ds:X509Certificate>${encodeBase64(certificate.der)}</ds:X509Certificate></ds:X509Data>`
  }
  if (refer === 'issuer-serial') {
    const issuer = escapeText(certificate.x509.issuer.split('\n').reverse().join(','))
    return reference(
      `<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>${issuer}</ds:X509IssuerName>` +
        `<ds:X509SerialNumber>${certificate.serial}</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>`,
    )
  }
  const value = refer === 'thumbprint' ? certificate.thumbprint : certificate.subjectKeyIdentifier
  if (!value) throw new TypeError('the certificate has no key identifier')
  const type = refer === 'thumbprint' ? n.keyIdentifierThumbprintUri : n.keyIdentifierSkiUri
  return reference(
    `<wsse:KeyIdentifier EncodingType="${n.base64TypeUri}" ValueType="${type}">${encodeBase64(value)}</wsse:KeyIdentifier>`,
  )
}

/** A token of its own, or what stands in the reference. */
type Refer = 'direct' | 'issuer-serial' | 'thumbprint' | 'key-identifier' | 'embedded'

function transportMethod(transport: KeyTransport): string {
  if (transport === 'rsa-1_5') return `<xenc:EncryptionMethod Algorithm="${n.xencNs}rsa-1_5"/>`
  const { digest, mask, label } = transport
  const parameters =
    (label.length > 0 ? `<xenc:OAEPparams>${encodeBase64(label)}</xenc:OAEPparams>` : '') +
    `<ds:DigestMethod Algorithm="${digestUri(digest)}"/>`
  if (mask === 'sha1') {
    return `<xenc:EncryptionMethod Algorithm="${n.xencNs}rsa-oaep-mgf1p">${parameters}</xenc:EncryptionMethod>`
  }
  const mgf = `<xenc11:MGF xmlns:xenc11="${n.xenc11Ns}" Algorithm="${maskUri(mask)}"/>`
  return `<xenc:EncryptionMethod Algorithm="${n.xenc11Ns}rsa-oaep">${parameters}${mgf}</xenc:EncryptionMethod>`
}
