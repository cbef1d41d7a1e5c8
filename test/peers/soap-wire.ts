/**
 * The octets of an exchange held to the standards, whatever the peer made of them: SOAP 1.1 §6, SOAP 1.2 Part 2 §7, WSDL 1.1 §3,
 * WS-Addressing 1.0 Core §3.4, XOP, and the schema that the service serves, with libxml2 as its judge.
 */
import assert from 'node:assert/strict'
import { XmlDocument, XmlElement } from 'libxml2-wasm'
import { apart, type Judge, judge, schemaOf } from '../describe/oracle.ts'
import { type Exchange, type Message, plain } from './intermediary.ts'

export type Version = '1.1' | '1.2'
export type Style = 'document' | 'rpc' | 'encoded'

const envelopes = {
  '1.1': { namespace: 'http://schemas.xmlsoap.org/soap/envelope/', mediaType: 'text/xml' },
  '1.2': { namespace: 'http://www.w3.org/2003/05/soap-envelope', mediaType: 'application/soap+xml' },
} as const
const addressing = ['http://www.w3.org/2005/08/addressing', 'http://schemas.xmlsoap.org/ws/2004/08/addressing']
const xop = 'http://www.w3.org/2004/08/xop/include'

export interface Endpoint {
  readonly version: Version
  readonly style: Style
  /** Of the contract's version: `urn:diglot:orders:v2`. */
  readonly namespace: string
  /** The WSDL 1.1 as served. */
  readonly wsdl: string
}

/** What a peer itself gets wrong, each with its reason beside the case. */
export interface Habits {
  /** Its requests break the schema: not held against it. */
  readonly looseRequests?: boolean
  /** It sends no action, or an empty one. */
  readonly noAction?: boolean
}

export interface Seen {
  readonly operation: string
  readonly fault: boolean
  readonly addressed: boolean
  readonly packaged: { readonly request: boolean; readonly response: boolean }
}

/** A function that asserts what always holds of an exchange, and says what it was. */
export function wire({ version, style, namespace, wsdl }: Endpoint, habits: Habits = {}): (exchange: Exchange) => Seen {
  const body = style === 'encoded' ? undefined : judge(schemaOf(wsdl, style))
  const oneWay = new Set(oneWays(wsdl))
  return exchange => {
    assert.equal(exchange.method, 'POST')
    const asked = open(exchange.request, version, 'request')
    const operation = asked.body.name
    assert.equal(asked.body.namespaceUri, namespace)
    if (!habits.looseRequests) valid(body, asked.body, `${operation} as asked`)
    const action = `${namespace}/${operation}`
    const said = actionOf(exchange.request, version)
    if (!habits.noAction || said) assert.equal(said, action, 'the action of the request')
    const packaged = { request: asked.packaged, response: false }
    const addressed = asked.block('Action') !== undefined

    if (oneWay.has(operation)) {
      assert.equal(exchange.status, 202, operation)
      assert.equal(exchange.response.content.length, 0, 'a one-way answer has no Envelope')
      assert.equal(exchange.response.fields['content-type'], undefined)
      return { operation, fault: false, addressed, packaged }
    }
    const answered = open(exchange.response, version, `response to ${operation}`)
    const fault = answered.body.name === 'Fault'
    assert.equal(exchange.status, fault ? 500 : 200, operation)
    if (fault) {
      assert.equal(answered.body.namespaceUri, envelopes[version].namespace)
      const detail = detailOf(answered.body, version)
      if (detail?.namespaceUri === namespace) valid(body, detail, `${detail.name} as a detail`)
    } else {
      assert.equal(answered.body.namespaceUri, namespace)
      assert.equal(answered.body.name, `${operation}Response`)
      valid(body, answered.body, answered.body.name)
    }
    if (addressed) {
      assert.ok(asked.block('MessageID'), 'who wants an answer names the message')
      assert.equal(answered.block('RelatesTo'), asked.block('MessageID'))
      if (!fault) assert.equal(answered.block('Action'), `${action}Response`)
      else assert.ok(answered.block('Action'))
    }
    return { operation, fault, addressed, packaged: { ...packaged, response: answered.packaged } }
  }
}

interface Opened {
  /** The first child of Body. */
  readonly body: XmlElement
  /** The text of a WS-Addressing block. */
  block(local: string): string | undefined
  readonly packaged: boolean
}

function open(message: Message, version: Version, what: string): Opened {
  const { root, packaged } = unpacked(message, version, what)
  const { namespace } = envelopes[version]
  assert.equal(root.name, 'Envelope', what)
  assert.equal(root.namespaceUri, namespace, `${what}: the namespace of the Envelope`)
  const body = root.get('e:Body/*', { e: namespace })
  assert.ok(body instanceof XmlElement, `${what} has a Body with an element`)
  const block = (local: string): string | undefined => {
    for (const each of addressing) {
      const found = root.get(`e:Header/a:${local}`, { e: namespace, a: each })
      if (found) return found.content.trim()
    }
    return undefined
  }
  return { body, block, packaged }
}

/** The Envelope; of an MTOM package with each xop:Include replaced by the octets of its part (XOP §3.2). */
function unpacked(message: Message, version: Version, what: string): { root: XmlElement; packaged: boolean } {
  const type = message.fields['content-type'] ?? ''
  const { mediaType } = envelopes[version]
  const content = plain(message)
  if (!type.startsWith('multipart/related')) {
    assert.equal(type.split(';')[0]?.trim(), mediaType, `${what}: Content-Type`)
    return { root: XmlDocument.fromBuffer(content).root, packaged: false }
  }
  assert.equal(parameter(type, 'type'), 'application/xop+xml', `${what}: the type of the package`)
  assert.equal(parameter(type, 'start-info')?.split(';')[0], mediaType, `${what}: start-info`)
  const parts = partsOf(content, parameter(type, 'boundary') ?? '')
  const start = parameter(type, 'start')
  const root =
    parts.find(each => !start || each.fields['content-id'] === start) ?? assert.fail(`${what} has no root part`)
  assert.match(root.fields['content-type'] ?? '', /^application\/xop\+xml\b/i)
  const envelope = XmlDocument.fromBuffer(root.content).root
  for (const include of envelope.find('//x:Include', { x: xop })) {
    assert.ok(include instanceof XmlElement)
    const id = decodeURIComponent(include.attr('href')?.value.replace(/^cid:/, '') ?? '')
    const part = parts.find(each => each.fields['content-id'] === `<${id}>`) ?? assert.fail(`${what} has no part ${id}`)
    include.parent?.addText(part.content.toString('base64'))
    include.remove()
  }
  return { root: envelope, packaged: true }
}

/** A parameter of a media type, its quoted pairs undone (RFC 9110 §5.6.4, §5.6.6). */
const parameter = (type: string, name: string) => {
  const found = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]*))`, 'i').exec(type)
  return found?.[1]?.replace(/\\(.)/g, '$1') ?? found?.[2]
}

/** RFC 2046 §5.1.1. */
function partsOf(content: Buffer, boundary: string): Message[] {
  const text = content.toString('latin1')
  const delimited = `\r\n${text}`.split(`\r\n--${boundary}`)
  assert.match(delimited.at(-1) ?? '', /^--/, 'the package is closed')
  return delimited.slice(1, -1).map(each => {
    const [head, rest] = [each.slice(0, each.indexOf('\r\n\r\n')), each.slice(each.indexOf('\r\n\r\n') + 4)]
    const lines = head.split('\r\n').filter(line => line.includes(':'))
    const fields = lines.map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    })
    return { fields: Object.fromEntries(fields), content: Buffer.from(rest, 'latin1') }
  })
}

/** SOAP 1.1 §6.1.1; RFC 3902 §2. A package of SOAP 1.2 has it in start-info, or beside it (XOP §4.1). */
function actionOf({ fields }: Message, version: Version): string | undefined {
  if (version === '1.1') return fields['soapaction']?.replace(/^"(.*)"$/, '$1')
  const type = fields['content-type'] ?? ''
  return parameter(parameter(type, 'start-info') ?? '', 'action') ?? parameter(type, 'action')
}

function detailOf(fault: XmlElement, version: Version): XmlElement | undefined {
  const found = fault.get(version === '1.1' ? 'detail/*' : 'e:Detail/*', { e: envelopes[version].namespace })
  return found instanceof XmlElement ? found : undefined
}

function valid(judge: Judge | undefined, element: XmlElement, what: string): void {
  const text = apart(element)
  assert.equal(judge?.flaw(text), undefined, `${what} is valid: ${text}`)
}

function oneWays(wsdl: string): string[] {
  using document = XmlDocument.fromString(wsdl)
  const found = document.find('//w:portType/w:operation[not(w:output)]', { w: 'http://schemas.xmlsoap.org/wsdl/' })
  return found.map(each => (each as XmlElement).attr('name')?.value ?? '') // the path asks for elements
}
