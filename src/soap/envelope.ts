/**
 * The Envelope: SOAP 1.1 §4, SOAP 1.2 Part 1 §5.1–§5.3. Guards: what is handed on is one message of
 * one version, its blocks and its one Body; nothing stands where the structure has no place for it.
 */

import { type Cursor, createElement, type Document, Element, type ParseOptions, walkTree } from '../xml/index.ts'
import { type SoapFault, soapPrefix } from './fault.ts'
import { refuseMessage } from './refusal.ts'
import { namesSoapVersion, type SoapVersion } from './version.ts'

/**
 * How a message is parsed: SOAP 1.2 Part 1 §5 has no processing instruction; a DTD is no syntax of
 * ours at all.
 */
export const strict: ParseOptions = {
  instructions: 'refuse',
  limits: { elements: 100_000 }, // a list of 10,000 items with their fields; a tree of so many takes 30 MB
}
/**
 * Octets of a Header: it becomes a tree before anybody is known. A signature with its certificates
 * has some 20,000.
 */
const longest = 1024 * 1024

export interface Envelope {
  readonly version: SoapVersion
  /** The Body as it was opened: what is made into elements of it has this for a parent. */
  readonly around: Element
  readonly blocks: readonly Element[]
  /**
   * At the Body's `start`. `closeEnvelope` takes it from the Body's `end` to the end of the
   * message.
   */
  readonly body: Cursor
}

/** Goes to the Body's `start` and reads the blocks on the way. */
export function openEnvelope(
  cursor: Cursor,
  spoken: readonly SoapVersion[],
  block: (cursor: Cursor) => Element = createElement,
): Envelope {
  const version = versionOf(cursor, spoken)
  const root = elementAt(cursor)
  if (cursor.child() !== 'start') refuseStructure('the Envelope has no Body')
  const blocks = cursor.name === version.header ? readHeader(cursor, version, root, block) : []
  if (cursor.event !== 'start' || cursor.name !== version.body)
    refuseStructure('the Envelope holds an optional Header, then one Body')
  checkAttributes(cursor, version)
  return { version, around: elementAt(cursor, root), blocks, body: cursor }
}

/** The same of a tree: the blocks and the Body are its own elements. */
export function openEnvelopeTree(
  document: Document,
  spoken: readonly SoapVersion[],
): Envelope & { readonly element: Element } {
  const children = document.root.elements()
  const blocks = children[0]?.elements() ?? []
  let next = 0
  const envelope = openEnvelope(walkTree(document.root), spoken, cursor => {
    cursor.skip()
    return blocks[next++]! // the walker goes through the same children
  })
  const element = children.find(each => each.name === envelope.version.body)! // `openEnvelope` has found it
  envelope.body.skip()
  closeEnvelope(envelope.body)
  return { ...envelope, element }
}

/**
 * SOAP 1.2 Part 1 §4.1.2: the namespace of the Envelope says the version, and nothing else does.
 */
function versionOf(cursor: Cursor, spoken: readonly SoapVersion[]): SoapVersion {
  while (cursor.next() !== 'start');
  const found = cursor.name
  if (found.local !== 'Envelope')
    refuseStructure(`the root is ${found.local} and no Envelope: this is not a SOAP message`)
  const version = spoken.find(each => each.envelope === found)
  if (!version) return refuseMessage({ kind: 'version-mismatch', found })
  checkAttributes(cursor, version)
  return version
}

/** From the Header's `start` to the next event behind it. */
function readHeader(
  cursor: Cursor,
  version: SoapVersion,
  root: Element,
  block: (cursor: Cursor, parent: Element) => Element,
): readonly Element[] {
  checkAttributes(cursor, version)
  const around = elementAt(cursor, root)
  const blocks: Element[] = []
  const { from } = cursor
  while (cursor.child() === 'start') {
    if (cursor.from - from > longest) refuseStructure(`the Header is longer than ${longest} octets`)
    if (cursor.name.uri === '') refuseStructure(`the header block ${cursor.name.local} has no namespace`)
    blocks.push(block(cursor, around))
  }
  if (cursor.event !== 'end') refuseStructure('the Header has text')
  cursor.child()
  return blocks
}

/** The element at hand without what is in it, for the namespaces in scope there. */
const elementAt = (cursor: Cursor, parent?: Element): Element =>
  new Element(parent, cursor.name, cursor.prefix, [], cursor.declarations())

/** From the Body's `end`: nothing follows it, and the message is well-formed to its last byte. */
export function closeEnvelope(cursor: Cursor): void {
  if (cursor.child() !== 'end') refuseStructure('something follows the Body') // so WS-I Basic Profile 1.1 R1011 for SOAP 1.1
  cursor.finish()
}

/**
 * Of Envelope, Header and Body: qualified, and an encodingStyle only where the version lets it be.
 */
function checkAttributes(cursor: Cursor, version: SoapVersion): void {
  for (let index = 0; index < cursor.attributes; index++) {
    const { uri, local } = cursor.attributeName(index)
    if (uri === '') refuseStructure(`${cursor.name.local} has the unqualified attribute ${local}`)
    if (cursor.attributeName(index) !== version.encodingStyle) continue
    if (!version.encodingAnywhere) refuseStructure(`${cursor.name.local} may not have an encodingStyle`)
    const encoding = cursor.attributeValue(index).trim()
    if (!namesSoapVersion(version, encoding, [version.encoding, ...version.literal]))
      refuseMessage({ kind: 'encoding-unknown', encoding })
  }
}

function refuseStructure(detail: string): never {
  return refuseMessage({ kind: 'structure', detail })
}

/** @param body the child elements of Body, @param blocks those of Header, both written */
export function writeEnvelope(version: SoapVersion, body: string, blocks: readonly string[] = []): string {
  const header = blocks.length === 0 ? '' : `<${soapPrefix}:Header>${blocks.join('')}</${soapPrefix}:Header>`
  return `<?xml version="1.0" encoding="UTF-8"?><${soapPrefix}:Envelope xmlns:${soapPrefix}="${version.namespace}">${header}<${soapPrefix}:Body>${body}</${soapPrefix}:Body></${soapPrefix}:Envelope>`
}

/** The envelope of a fault, with the blocks that belong to it. */
export function writeFaultEnvelope(version: SoapVersion, fault: SoapFault, blocks: readonly string[] = []): string {
  const about =
    version.faultDetail && fault.about
      ? [`<wsa:${version.faultDetail} xmlns:wsa="${wsa}">${fault.about}</wsa:${version.faultDetail}>`]
      : []
  return writeEnvelope(version, version.writeFault(fault), [...blocks, ...(fault.blocks ?? []), ...about])
}

const wsa = 'http://www.w3.org/2005/08/addressing'
