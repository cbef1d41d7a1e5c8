/**
 * SOAP messages as a checker writes and reads them: both versions as two columns, written out by
 * hand, so that an error of the stack under test is not repeated here.
 */
import { memoizeByObject } from '../base/memo.ts'
import { type Element, escapeText, Malformed, parseXml } from '../xml/index.ts'
import type { ProbeExchange, ProbeFields } from './probe-message.ts'

export interface SoapWords {
  readonly number: '1.1' | '1.2'
  readonly namespace: string
  readonly mediaType: string
  readonly next: string
  readonly roleAttribute: 'actor' | 'role'
  /** SOAP 1.1 §4.4.1; SOAP 1.2 Part 1 §5.4.6. */
  readonly faultCodes: readonly string[]
  readonly sender: 'Client' | 'Sender'
  /** The code for such a message, where the version has no separate code. */
  readonly dataEncodingUnknown: 'Client' | 'DataEncodingUnknown'
}

export const soapWords: Readonly<Record<'1.1' | '1.2', SoapWords>> = {
  '1.1': {
    number: '1.1',
    namespace: 'http://schemas.xmlsoap.org/soap/envelope/',
    mediaType: 'text/xml',
    next: 'http://schemas.xmlsoap.org/soap/actor/next',
    roleAttribute: 'actor',
    faultCodes: ['VersionMismatch', 'MustUnderstand', 'Client', 'Server'],
    sender: 'Client',
    dataEncodingUnknown: 'Client',
  },
  '1.2': {
    number: '1.2',
    namespace: 'http://www.w3.org/2003/05/soap-envelope',
    mediaType: 'application/soap+xml',
    next: 'http://www.w3.org/2003/05/soap-envelope/role/next',
    roleAttribute: 'role',
    faultCodes: ['VersionMismatch', 'MustUnderstand', 'DataEncodingUnknown', 'Sender', 'Receiver'],
    sender: 'Sender',
    dataEncodingUnknown: 'DataEncodingUnknown',
  },
}

export const addressingNamespace = 'http://www.w3.org/2005/08/addressing'

export interface MessageParts {
  /** XML of the header blocks; the prefix `s` is the Envelope's. Undefined: no Header. */
  readonly header?: string
  /** XML of the content of the Body. Undefined: no Body. */
  readonly body?: string
  /** Replaces that of the version. */
  readonly namespace?: string
  readonly bodyAttributes?: string
}

export function writeSoapMessage(
  words: SoapWords,
  { header, body, namespace, bodyAttributes = '' }: MessageParts,
): string {
  const blocks = header === undefined ? '' : `<s:Header>${header}</s:Header>`
  const content = body === undefined ? '' : `<s:Body${bodyAttributes}>${body}</s:Body>`
  return `<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s=${quote(namespace ?? words.namespace)}>${blocks}${content}</s:Envelope>`
}
const quote = (value: string): string => `"${escapeText(value).replaceAll('"', '&quot;')}"`

export const writeProbeElement = (namespace: string, local: string, content: string, attributes = ''): string =>
  `<p:${local} xmlns:p=${quote(namespace)}${attributes}>${content}</p:${local}>`

/** SOAP 1.1 §6.1.1 SOAPAction; SOAP 1.2 Part 2 §7.1.4 action of the media type. */
export function soapFields(words: SoapWords, action: string): ProbeFields {
  if (words.number === '1.1') return { 'content-type': 'text/xml; charset=utf-8', soapaction: `"${action}"` }
  const parameter = action === '' ? '' : `; action="${action}"`
  return { 'content-type': `application/soap+xml; charset=utf-8${parameter}` }
}

export interface ReadMessage {
  readonly words: SoapWords
  readonly envelope: Element
  readonly header: Element | undefined
  readonly body: Element
  readonly child: Element | undefined
  readonly fault: ReadFaultMessage | undefined
}
export interface ReadFaultMessage {
  readonly element: Element
  /** The local name of the code, if it is in the version's namespace. */
  readonly code: string | undefined
  /** The namespace of the code, whichever it is. */
  readonly codeNamespace: string | undefined
  /** The code as the fault writes it; empty if it has none. */
  readonly codeText: string
  readonly detail: readonly Element[]
}

const rootPart = /\r\n\r\n([\s\S]*?)\r\n--/

/** The Envelope in a response, or in the first part of a package; undefined without one. */
export const readSoapMessage = (exchange: ProbeExchange): ReadMessage | undefined => readOnce(exchange).message

const readOnce = memoizeByObject((exchange: ProbeExchange) => ({
  message: /xml|multipart/.test(exchange.mediaType) ? parseMessage(exchange) : undefined,
}))

function parseMessage(exchange: ProbeExchange): ReadMessage | undefined {
  const isPackage = exchange.mediaType === 'multipart/related'
  const octets = isPackage ? new TextEncoder().encode(rootPart.exec(exchange.text)?.[1] ?? '') : exchange.reply.content
  const document = octets.length === 0 ? undefined : parseXml(octets)
  if (!document || document instanceof Malformed) return undefined
  const envelope = document.root
  const words = Object.values(soapWords).find(({ namespace }) => namespace === envelope.name.uri)
  if (!words || envelope.name.local !== 'Envelope') return undefined
  const parts = childrenIn(envelope, words.namespace)
  const body = parts.find(({ name }) => name.local === 'Body')
  if (!body) return undefined
  const [child] = body.elements()
  return {
    words,
    envelope,
    header: parts.find(({ name }) => name.local === 'Header'),
    body,
    child,
    fault:
      child && child.name.local === 'Fault' && child.name.uri === words.namespace
        ? readFaultParts(child, words)
        : undefined,
  }
}

/** Whether it is a success whose Body has something other than a Fault. */
export function isAnswer(exchange: ProbeExchange): boolean {
  const message = readSoapMessage(exchange)
  return exchange.isSuccess && message !== undefined && message.fault === undefined
}

export const childrenIn = (element: Element, namespace: string): readonly Element[] =>
  element.elements().filter(({ name }) => name.uri === namespace)

export const childNamed = (element: Element | undefined, local: string): Element | undefined =>
  element?.elements().find(({ name }) => name.local === local)

/** SOAP 1.1 §4.4 faultcode, detail; SOAP 1.2 Part 1 §5.4 Code/Value, Detail. */
function readFaultParts(element: Element, words: SoapWords): ReadFaultMessage {
  const holder =
    words.number === '1.1' ? childNamed(element, 'faultcode') : childNamed(childNamed(element, 'Code'), 'Value')
  const name = holder?.qname(holder.text.trim())
  const [local] = (name?.local ?? '').split('.')
  const detail = childNamed(element, words.number === '1.1' ? 'detail' : 'Detail')
  return {
    element,
    code: name?.uri === words.namespace ? local : undefined,
    codeNamespace: name?.uri,
    codeText: holder?.text.trim() ?? '',
    detail: detail?.elements() ?? [],
  }
}

export const blockNamed = (message: ReadMessage | undefined, namespace: string, local: string): Element | undefined =>
  message?.header?.elements().find(({ name }) => name.uri === namespace && name.local === local)
