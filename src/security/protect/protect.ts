/**
 * WS-Security going out: replies of this side, and requests of its client. What is signed is written once and never again: the
 * text that comes back is the one the digests were made of.
 */
import { createHash, hash, type KeyObject, randomBytes } from 'node:crypto'
import { versions } from '../../soap/version.ts'
import { attribute, canonical, type Element, Malformed, type Name, parse, text, write } from '../../xml/index.ts'
import { digestUri, exclusive, fits, type Hash, type Method, methodUri, signed } from '../crypto/algorithm.ts'
import type { Certificate } from '../crypto/certificate.ts'
import { type Cipher, cipherUri, encrypt, maskUri, seal, type Transport } from '../crypto/cipher.ts'
import type { Part } from '../policy/policy.ts'
import { adopted, planted, replace } from '../tree/tree-edit.ts'
import { included } from '../tree/xop-inline.ts'
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
  readonly parts: readonly Part[]
  readonly hash?: Exclude<Hash, 'sha1'>
  /** RSASSA-PSS in place of PKCS#1 v1.5. */
  readonly pss?: boolean
}

export interface Encryption {
  /** Whose certificate it is encrypted to. */
  readonly to: Certificate
  /** Body: its content. Token: the UsernameToken or assertion. Header blocks: each in an EncryptedHeader. */
  readonly parts: readonly Part[]
  /** AES-256-GCM unless it says otherwise. */
  readonly cipher?: Cipher
  /** RSA-OAEP with SHA-256 and MGF1 with SHA-1, the pair that most receivers know, unless it says otherwise. */
  readonly transport?: Transport
}

export interface Protected {
  readonly envelope: string
  /** The values of its signatures, which the reply has to confirm. */
  readonly signatures: readonly Buffer[]
}

/** This envelope with a Security block. @param now milliseconds since 1970 @throws TypeError when the message has no such part */
export function protect(envelope: string, protection: Protection, now: number): Protected {
  const work = new Work(envelope, protection)
  work.tokens(now)
  if (protection.signature) work.sign(protection.signature)
  if (protection.encryption) work.encrypt(protection.encryption)
  const written = `<?xml version="1.0" encoding="UTF-8"?>${write(work.envelope)}`
  return { envelope: written, signatures: work.signatures }
}

/** Milliseconds for which a message is to be taken. */
const lifetime = 300_000

class Work {
  readonly envelope: Element
  private readonly body: Element
  private readonly header: Element
  private readonly security: Element
  private readonly protection: Protection
  readonly signatures: Buffer[] = []
  private token: Element | undefined

  constructor(written: string, protection: Protection) {
    this.protection = protection
    const document = parse(Buffer.from(written))
    if (document instanceof Malformed) throw new TypeError(document.reason)
    const version = versions.find(({ envelope }) => envelope === document.root.name)
    if (!version) throw new TypeError('not an envelope')
    this.envelope = identified(document.root, version.header, version.body)
    const body = this.envelope.elements(version.body)[0]
    if (!body) throw new TypeError('an envelope without a Body')
    this.body = body
    const { prefix } = this.envelope
    if (this.envelope.elements(version.header).length === 0) {
      this.envelope.splice(0, 0, planted(`<${qualified(prefix, 'Header')}/>`, this.envelope))
    }
    this.header = this.envelope.elements(version.header)[0]!
    const mandatory = protection.mustUnderstand === false ? '' : ` s:mustUnderstand="1" xmlns:s="${version.namespace}"`
    const block = `<wsse:Security xmlns:wsse="${n.wsse}" xmlns:wsu="${n.wsu}"${mandatory}/>`
    this.security = this.add(this.header, block)
  }

  private add(parent: Element, written: string): Element {
    const [element] = planted(written, parent)
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
      const value = Buffer.from(ticket).toString('base64')
      this.token = this.add(this.security, binaryToken(fresh('KRB'), n.gssKerberos, value))
    }
    for (const value of confirms?.length === 0 ? [undefined] : (confirms ?? [])) {
      const said = value ? ` Value="${value.toString('base64')}"` : ''
      this.add(
        this.security,
        `<wsse11:SignatureConfirmation xmlns:wsse11="${n.wsse11}" wsu:Id="${fresh('SC')}"${said}/>`,
      )
    }
  }

  // Signature

  sign(signing: Signing): void {
    const method = methodFor(signing)
    const keyInfo = this.keyInfo(signing.by)
    const algorithm = signing.hash ?? 'sha256'
    const confirmations = this.security.elements(n.SignatureConfirmation)
    const targets = [...signing.parts.flatMap(part => this.elements(part)), ...confirmations]
    if (targets.some(target => included(target).length > 0)) {
      throw new TypeError('what is signed holds its octets itself: a signature does not cover the parts of a package')
    }
    const references = targets.map(target => this.reference(target, algorithm))
    const signature = this.add(
      this.security,
      `<ds:Signature xmlns:ds="${n.ds}" Id="${fresh('SIG')}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="${exclusive}"/>` +
        `<ds:SignatureMethod Algorithm="${methodUri(method.family, method.hash)}"/>${references.join('')}</ds:SignedInfo></ds:Signature>`,
    )
    const info = signature.elements(n.SignedInfo)[0]!
    const octets = Buffer.from(canonical(info, { exclusive: true, comments: false }))
    const value = signed(method, signing.key, octets)
    this.signatures.push(value)
    const ending = `<ds:SignatureValue>${value.toString('base64')}</ds:SignatureValue><ds:KeyInfo>${keyInfo}</ds:KeyInfo>`
    signature.append(planted(ending, signature))
  }

  private elements(part: Part): Element[] {
    const found = this.find(part)
    if (found.length === 0 && typeof part === 'string') throw new TypeError(`the message has no ${part}`)
    return found
  }

  private find(part: Part): Element[] {
    if (part === 'Body') return [this.body]
    if (part === 'Timestamp') return this.security.elements(n.Timestamp)
    if (part === 'Token') return this.token ? [this.token] : this.security.elements(n.BinarySecurityToken)
    if (part === 'Attachments') throw new TypeError('attachments are signed as what they stand for in the Body')
    return this.header.elements(part)
  }

  private reference(target: Element, algorithm: Hash): string {
    const id = target.attribute(n.wsuId) ?? target.attribute(n.ID) ?? target.attribute(n.AssertionID)
    if (id === undefined) throw new TypeError(`nothing identifies ${target.name.local}`)
    const digest = hash(algorithm, canonical(target, { exclusive: true, comments: false }), 'base64')
    return (
      `<ds:Reference URI=${attribute(`#${id}`)}><ds:Transforms><ds:Transform Algorithm="${exclusive}"/></ds:Transforms>` +
      `<ds:DigestMethod Algorithm="${digestUri(algorithm)}"/><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference>`
    )
  }

  private keyInfo(by: Signing['by']): string {
    if (by === 'assertion') return this.assertionReference()
    if ('name' in by) return `<ds:KeyName>${text(by.name)}</ds:KeyName>`
    if (by.refer !== 'direct') return certificateReference(by.certificate, by.refer)
    const id = fresh('X509')
    this.add(this.security, binaryToken(id, n.x509v3, by.certificate.der.toString('base64')))
    return reference(`<wsse:Reference URI="#${id}" ValueType="${n.x509v3}"/>`)
  }

  /** SAML Token Profile 1.1 §3.4. */
  private assertionReference(): string {
    if (!this.token || !isAssertion(this.token)) throw new TypeError('the message has no assertion')
    const second = this.token.name.uri === n.saml2
    const id = this.token.attribute(second ? n.ID : n.AssertionID) ?? ''
    const identifier = `<wsse:KeyIdentifier ValueType="${second ? n.saml2Id : n.saml1Id}">${text(id)}</wsse:KeyIdentifier>`
    return reference(identifier, second ? n.saml2Type : n.saml1Type)
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
          `<xenc:EncryptedData xmlns:xenc="${n.xenc}" Id="${id}" Type="${n.xenc}${type}"><xenc:EncryptionMethod Algorithm="${cipherUri(cipher)}"/>` +
          `<ds:KeyInfo xmlns:ds="${n.ds}"><wsse:SecurityTokenReference xmlns:wsse="${n.wsse}" xmlns:wsse11="${n.wsse11}" wsse11:TokenType="${n.encryptedKeyType}">` +
          `<wsse:Reference URI="#${keyId}"/></wsse:SecurityTokenReference></ds:KeyInfo>${cipherData(encrypt(cipher, secret, Buffer.from(plain)))}</xenc:EncryptedData>`
        if (part === 'Body') {
          const plain = element.children.map(child => write(child)).join('')
          element.splice(0, Infinity, planted(data('Content', plain), element))
        } else {
          const sealed = data('Element', write(element))
          const wrapped =
            typeof part === 'string'
              ? sealed
              : `<wsse11:EncryptedHeader xmlns:wsse11="${n.wsse11}">${sealed}</wsse11:EncryptedHeader>`
          replace(element, planted(wrapped, element.parent!))
        }
      }
    }
    const key =
      `<xenc:EncryptedKey xmlns:xenc="${n.xenc}" xmlns:ds="${n.ds}" Id="${keyId}">${transportMethod(transport)}` +
      `<ds:KeyInfo>${certificateReference(to, 'thumbprint')}</ds:KeyInfo>${cipherData(seal(to.key, secret, transport))}` +
      `<xenc:ReferenceList>${list.join('')}</xenc:ReferenceList></xenc:EncryptedKey>`
    this.security.splice(0, 0, planted(key, this.security)) // WSS §9: it is read before what it is for
  }
}

const common: Transport = { digest: 'sha256', mask: 'sha1', label: Buffer.alloc(0) }

/** A copy in which the Body and every header block can be referred to. */
function identified(envelope: Element, header: Name, body: Name): Element {
  return adopted(envelope, undefined, element => {
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
  if (!fits(method, key)) throw new TypeError('a key that no algorithm here takes')
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
  const [type, value] = kind === 'text' ? [n.passwordText, text(password)] : [n.passwordDigest, digest]
  return (
    `<wsse:UsernameToken wsu:Id="${fresh('UT')}"><wsse:Username>${text(name)}</wsse:Username><wsse:Password Type="${type}">${value}</wsse:Password>` +
    `<wsse:Nonce EncodingType="${n.base64Type}">${nonce.toString('base64')}</wsse:Nonce><wsu:Created>${created}</wsu:Created></wsse:UsernameToken>`
  )
}

const binaryToken = (id: string, type: string, value: string): string =>
  `<wsse:BinarySecurityToken wsu:Id="${id}" EncodingType="${n.base64Type}" ValueType="${type}">${value}</wsse:BinarySecurityToken>`

function reference(inside: string, type?: string): string {
  const said = type === undefined ? '' : ` xmlns:wsse11="${n.wsse11}" wsse11:TokenType="${type}"`
  return `<wsse:SecurityTokenReference${said}>${inside}</wsse:SecurityTokenReference>`
}

const cipherData = (octets: Buffer): string =>
  `<xenc:CipherData><xenc:CipherValue>${octets.toString('base64')}</xenc:CipherValue></xenc:CipherData>`

/** X.509 Token Profile 1.1 §3.2. */
function certificateReference(certificate: Certificate, refer: Exclude<Refer, 'direct'>): string {
  if (refer === 'embedded') {
    return `<ds:X509Data><ds:X509Certificate>${certificate.der.toString('base64')}</ds:X509Certificate></ds:X509Data>`
  }
  if (refer === 'issuer-serial') {
    const issuer = text(certificate.x509.issuer.split('\n').reverse().join(','))
    return reference(
      `<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>${issuer}</ds:X509IssuerName>` +
        `<ds:X509SerialNumber>${certificate.serial}</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>`,
    )
  }
  const value = refer === 'thumbprint' ? certificate.thumbprint : certificate.subjectKeyIdentifier
  if (!value) throw new TypeError('the certificate has no key identifier')
  const type = refer === 'thumbprint' ? n.keyIdentifierThumbprint : n.keyIdentifierSki
  return reference(
    `<wsse:KeyIdentifier EncodingType="${n.base64Type}" ValueType="${type}">${value.toString('base64')}</wsse:KeyIdentifier>`,
  )
}

/** A token of its own, or what stands in the reference. */
type Refer = 'direct' | 'issuer-serial' | 'thumbprint' | 'key-identifier' | 'embedded'

function transportMethod(transport: Transport): string {
  if (transport === 'rsa-1_5') return `<xenc:EncryptionMethod Algorithm="${n.xenc}rsa-1_5"/>`
  const { digest, mask, label } = transport
  const parameters =
    (label.length > 0 ? `<xenc:OAEPparams>${label.toString('base64')}</xenc:OAEPparams>` : '') +
    `<ds:DigestMethod Algorithm="${digestUri(digest)}"/>`
  if (mask === 'sha1') {
    return `<xenc:EncryptionMethod Algorithm="${n.xenc}rsa-oaep-mgf1p">${parameters}</xenc:EncryptionMethod>`
  }
  const mgf = `<xenc11:MGF xmlns:xenc11="${n.xenc11}" Algorithm="${maskUri(mask)}"/>`
  return `<xenc:EncryptionMethod Algorithm="${n.xenc11}rsa-oaep">${parameters}${mgf}</xenc:EncryptionMethod>`
}
