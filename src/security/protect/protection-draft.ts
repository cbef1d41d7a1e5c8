/**
 * An outgoing message: a copy of its envelope with a Security block, and its parts that can be
 * covered. Elements are written as text and read by the one parser, so the digests are those of the
 * text that is sent.
 */

import { randomBytes } from 'node:crypto'
import { encodeBase64 } from '../../base/base64.ts'
import type { SentPart } from '../../soap/security-port.ts'
import { versions } from '../../soap/version.ts'
import { type Element, escapeText, Malformed, type Name, parseXml } from '../../xml/index.ts'
import type { Certificate } from '../crypto/certificate.ts'
import { readDer } from '../crypto/der.ts'
import { writeDistinguishedName } from '../crypto/distinguished-name.ts'
import { type CoveredPart, signedAttachmentsOf } from '../policy/policy.ts'
import { cloneInto, trustedFragment } from '../tree/tree-edit.ts'
import * as n from '../vocabulary.ts'

export class ProtectionDraft {
  readonly envelope: Element
  readonly security: Element
  /** The attributes that make a block mandatory, if the Security block is. */
  readonly flag: string
  readonly #header: Element
  readonly #body: Element
  /** The parts next to the envelope. */
  attached: readonly SentPart[]
  #token: Element | undefined
  #signingToken: Element | undefined

  /** @throws TypeError if the text is not an envelope with a Body */
  constructor(text: string, isMandatory: boolean, attached: readonly SentPart[] = []) {
    this.attached = attached
    const document = parseXml(Buffer.from(text))
    if (document instanceof Malformed) throw new TypeError(document.reason)
    const version = versions.find(({ envelope }) => envelope === document.root.name)
    if (!version) throw new TypeError('the message is not an envelope')
    this.envelope = cloneWithIdentifiers(document.root, version.header, version.body)
    const [body] = this.envelope.elements(version.body)
    if (!body) throw new TypeError('the envelope has no Body')
    this.#body = body
    if (this.envelope.elements(version.header).length === 0) {
      const { prefix } = this.envelope
      const header = trustedFragment(prefix === '' ? '<Header/>' : `<${prefix}:Header/>`, this.envelope)
      this.envelope.splice(0, 0, header)
    }
    this.#header = this.envelope.elements(version.header)[0]!
    this.flag = isMandatory ? ` s:mustUnderstand="1" xmlns:s="${version.namespace}"` : ''
    const block = `<wsse:Security xmlns:wsse="${n.wsseNs}" xmlns:wsu="${n.wsuNs}"${this.flag}/>`
    this.security = appendElement(this.#header, block)
  }

  /** Adds an element to the Security block. */
  add(text: string): Element {
    return appendElement(this.security, text)
  }

  /** Adds the token that names the caller. */
  addToken(text: string): void {
    this.#token = this.add(text)
  }

  /** Adds the token whose key signs next. */
  addSigningToken(text: string): Element {
    this.#signingToken = this.add(text)
    return this.#signingToken
  }

  /** The token that names the caller signs next, too. */
  signByToken(): Element | undefined {
    this.#signingToken = this.#token
    return this.#token
  }

  /** The token that names the caller, if one was added. */
  get token(): Element | undefined {
    return this.#token
  }

  /**
   * The elements of a part; attachments have none.
   * @throws TypeError if the message has none, except for header blocks and attachments
   */
  elementsOf(part: CoveredPart): Element[] {
    const found = this.#find(part)
    if (found.length === 0 && typeof part === 'string' && part !== 'Headers' && !signedAttachmentsOf([part]))
      throw new TypeError(`the message has no ${part}`)
    return found
  }

  #find(part: CoveredPart): Element[] {
    if (part === 'Body') return [this.#body]
    if (part === 'Timestamp') return this.security.elements(n.TimestampName)
    if (part === 'Token') return this.#token ? [this.#token] : this.security.elements(n.BinarySecurityTokenName)
    if (part === 'SigningToken') return this.#signingToken ? [this.#signingToken] : []
    if (part === 'Headers') return this.#header.elements().filter(each => each !== this.security)
    if (part === 'Attachments' || part === 'CompleteAttachments') return []
    return this.#header.elements(part)
  }
}

function appendElement(parent: Element, text: string): Element {
  const [element] = trustedFragment(text, parent)
  parent.append([element!])
  return element!
}

/** A copy in which the Body and every header block have an identifier. */
function cloneWithIdentifiers(envelope: Element, header: Name, body: Name): Element {
  return cloneInto(envelope, undefined, element => {
    const { parent, attributes } = element
    const isBlock = parent?.name === header && parent.parent === envelope
    const isBody = element.name === body && parent === envelope
    if (!(isBlock || isBody) || element.attribute(n.wsuId) !== undefined) return attributes
    return [...attributes, { name: n.wsuId, prefix: 'wsu', value: createId('id') }]
  })
}

export const createId = (kind: string): string => `${kind}-${randomBytes(16).toString('hex')}`

/**
 * RFC 2392: the URI by which a message refers to a part of its package. Only characters that no URI
 * may have are encoded: WSS4J compares the URI with the Content-ID as it is.
 */
export const partUri = (contentId: string): string =>
  `cid:${encodeURI(contentId).replace(/[#?+]/g, each => encodeURIComponent(each))}`

/** The MIME fields that describe a part, as its package has them. */
export const partFieldsOf = ({ id, mediaType }: SentPart): Readonly<Record<string, string>> => ({
  'content-id': `<${id}>`,
  'content-type': mediaType,
})

/** WSS §6.3. */
export const writeBinaryToken = (id: string, type: string, octets: Uint8Array): string =>
  `<wsse:BinarySecurityToken wsu:Id="${id}" EncodingType="${n.base64TypeUri}" ValueType="${type}">${encodeBase64(octets)}</wsse:BinarySecurityToken>`

/** WSS §7. */
export function writeTokenReference(content: string, tokenType?: string): string {
  const type = tokenType === undefined ? '' : ` xmlns:wsse11="${n.wsse11Ns}" wsse11:TokenType="${tokenType}"`
  return `<wsse:SecurityTokenReference${type}>${content}</wsse:SecurityTokenReference>`
}

/** How a message names a certificate: by a separate token, or within the reference. */
export type ReferenceForm = 'direct' | 'issuer-serial' | 'thumbprint' | 'key-identifier' | 'embedded'

/** X.509 Token Profile 1.1 §3.2. */
export function writeCertificateReference(certificate: Certificate, form: Exclude<ReferenceForm, 'direct'>): string {
  if (form === 'embedded') {
    return `<ds:X509Data><ds:X509Certificate>${encodeBase64(certificate.der)}</ds:X509Certificate></ds:X509Data>`
  }
  if (form === 'issuer-serial') {
    const issuer = escapeText(writeDistinguishedName(readDer(certificate.issuerOctets)))
    return writeTokenReference(
      `<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>${issuer}</ds:X509IssuerName>` +
        `<ds:X509SerialNumber>${certificate.serial}</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>`,
    )
  }
  const value = form === 'thumbprint' ? certificate.thumbprint : certificate.subjectKeyIdentifier
  if (!value) throw new TypeError('the certificate has no key identifier')
  const type = form === 'thumbprint' ? n.keyIdentifierThumbprintUri : n.keyIdentifierSkiUri
  return writeTokenReference(
    `<wsse:KeyIdentifier EncodingType="${n.base64TypeUri}" ValueType="${type}">${encodeBase64(value)}</wsse:KeyIdentifier>`,
  )
}
