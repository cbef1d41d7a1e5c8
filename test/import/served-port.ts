/** A port that was imported, asked with the message of a partner, and answering as that partner did. */
import assert from 'node:assert/strict'
import type { Port, PortExchange } from '../../src/contract/exchange.ts'
import type { ExchangeContext } from '../../src/contract/port-handlers.ts'
import type { AnyRootElement } from '../../src/contract/xml-type.ts'
import { createBodyCodecs } from '../../src/soap/codecs/body-codec.ts'
import { createElementCodecs } from '../../src/soap/codecs/schema-codec.ts'
import { createEncodedCodecs } from '../../src/soap/codecs/schema-encoded.ts'
import type { LiteralReading } from '../../src/soap/codecs/values.ts'
import { bindExchanges } from '../../src/soap/operations/exchange-operation.ts'
import { soap11, soap12 } from '../../src/soap/version.ts'
import { type Element, Malformed, parseXml, walkTree } from '../../src/xml/index.ts'
import { createEchoNode, createPortContext } from '../soap/echo.ts'
import { type Answer, find, ns12 } from '../soap/orders-over-soap.ts'

/** The parts of a message that an answer is made of. */
export interface ReadMessage {
  readonly body: Element | undefined
  readonly blocks: readonly Element[]
  readonly detail: Element | undefined
  readonly faultCode: string | undefined
}
export function readMessage(octets: Uint8Array): ReadMessage {
  const document = parseXml(octets)
  assert.ok(!(document instanceof Malformed))
  const [body] = find(document.root, 'Body')?.elements() ?? []
  const isFault = body?.name.local === 'Fault'
  return {
    body: isFault ? undefined : body,
    blocks: find(document.root, 'Header')?.elements() ?? [],
    detail: isFault ? find(body, 'detail')?.elements()[0] : undefined,
    faultCode: isFault ? find(body, 'faultcode')?.text.replace(/^.*:/, '') : undefined,
  }
}

/** Asks the port; its handler answers with the values that the wanted message has by its types. */
export async function askPort(
  port: Port,
  raw: Buffer,
  wanted: ReadMessage | undefined,
): Promise<Answer & { readonly read: unknown }> {
  let read: unknown
  const answering = (content: unknown, ctx: ExchangeContext): unknown => {
    read = content
    const exchange = exchangeFor(port, readMessage(raw).body)
    return wanted && exchange && answerAs(exchange, wanted, ctx)
  }
  const { post, incidents } = createEchoNode(bindExchanges(createPortContext(port, answering), port))
  const answer = await post({ raw, version: raw.includes('2003/05/soap-envelope') ? '1.2' : '1.1' })
  assert.deepEqual(incidents, [])
  return { ...answer, read }
}

/** The first port that knows the message. */
export const findPort = (ports: readonly Port[], body: Element | undefined): Port =>
  ports.find(port => exchangeFor(port, body)) ?? assert.fail(`no port has the element ${body?.name.local}`)
const exchangeFor = ({ exchanges }: Port, body: Element | undefined): PortExchange | undefined =>
  Object.values(exchanges).find(({ input }) => {
    const { firsts, mayBegin } = createBodyCodecs()(input)
    return firsts.includes(body?.name) || (body && mayBegin?.(body.name.uri))
  })
const isNamed = ({ name }: AnyRootElement, element: Element | undefined): boolean =>
  name.uri === element?.name.uri && name.local === element.name.local

function answerAs(exchange: PortExchange, wanted: ReadMessage, ctx: ExchangeContext): unknown {
  for (const block of wanted.blocks) {
    const declared = Object.entries(exchange.replyHeaders).find(([, root]) => isNamed(root, block))
    if (declared) ctx.setHeader(declared[0], decodeElement(declared[1], block, 'document'))
  }
  if (wanted.detail) {
    const { detail } = wanted
    const declared = Object.entries(exchange.faults).find(([, root]) => isNamed(root, detail))
    assert.ok(declared, `no fault has the element ${detail.name.local}`)
    const [name, root] = declared
    return ctx.fail(name, decodeElement(root, detail, root.isPart ? exchange.style : 'document') as never)
  }
  const { output, style } = exchange
  return typeof output === 'object' && wanted.body ? decodeElement(output, wanted.body, style) : undefined
}

/** The value of an element by its type; its own codec has to read what a partner wrote. */
export function decodeElement(root: AnyRootElement, element: Element, style: PortExchange['style']): unknown {
  const found: LiteralReading['flaws'] = []
  const reading: LiteralReading = {
    flaws: found,
    parts: undefined,
    around: element.parent,
    blocks: [],
    isResponse: true,
  }
  const version = element.parent?.name.uri === ns12 ? soap12 : soap11
  const cursor = walkTree(style === 'encoded' ? (element.parent ?? element) : element)
  cursor.next()
  if (style === 'encoded') cursor.next()
  const value =
    style === 'encoded'
      ? createEncodedCodecs()(root).read(cursor, reading, version)
      : createElementCodecs()(root).read(cursor, reading)
  assert.deepEqual(found, [])
  return value
}

/**
 * All that a message means, as text: names with their namespaces, order, attributes and texts. Of
 * an encoded one, names of the items of arrays and types that are stated mean nothing.
 */
export function digestElement(element: Element | undefined, isEncoded: boolean, isItem = false): string {
  if (!element) return ''
  const { uri, local } = element.name
  const attributes = element.attributes
    .filter(({ name }) => !isEncoded || name.local === 'nil')
    .filter(({ name, value }) => name.local !== 'encodingStyle' && !(name.local === 'nil' && value === 'false'))
    .map(({ name, value }) => `@{${name.uri}}${name.local}=${value.replace(/^.*:/, '').replace(/^1$/, 'true')}`)
  const isArray = isEncoded && element.attributes.some(({ name }) => name.local === 'arrayType')
  const children = element.elements()
  const inside =
    children.length === 0 ? normalizeText(element.text) : children.map(each => digestElement(each, isEncoded, isArray))
  return `<${isItem ? 'item' : `{${uri}}${local}`}${attributes.sort().join('')}>${[inside].flat().join('')}</>`
}
/** Texts for one value. */
const normalizeText = (text: string): string =>
  /^[-+]?[\d.]+(?:e[-+]?\d+)?$/i.test(text) ? String(Number(text)) : text.trim()
