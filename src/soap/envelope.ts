/**
 * The Envelope: SOAP 1.1 §4, SOAP 1.2 Part 1 §5.1–§5.3. Guards: the result is one message of one
 * version, its blocks and its one Body; nothing is where the structure does not allow it.
 */

import { type Cursor, type Document, Element, type ParseOptions, readElement, walkTree } from '../xml/index.ts'
import { type SoapFault, soapPrefix } from './fault.ts'
import { refuseMessage } from './refusal.ts'
import { namesSoapVersion, type SoapVersion } from './version.ts'

/** SOAP 1.2 Part 1 §5 forbids processing instructions; our XML has no DTD at all. */
export const strictParsing: ParseOptions = {
  instructions: 'refuse',
  limits: { elements: 100_000 }, // a list of 10,000 items with their fields; a tree of that many elements takes 30 MB
}
/**
 * The Header becomes a tree before the caller is known. A signature with its certificates has some
 * 20,000 octets.
 */
const headerOctetsMax = 1024 * 1024

export interface Envelope {
  readonly version: SoapVersion
  /** The Body's start tag: the parent of elements created from its content. */
  readonly around: Element
  readonly blocks: readonly Element[]
  /** At the Body's `start`. `closeEnvelope` moves it from the Body's `end` to the message's. */
  readonly body: Cursor
}

/** Moves to the Body's `start` and reads the blocks on the way. */
export function openEnvelope(
  cursor: Cursor,
  versions: readonly SoapVersion[],
  block: (cursor: Cursor) => Element = readElement,
): Envelope {
  const version = requireVersion(cursor, versions)
  const root = currentElement(cursor)
  if (cursor.child() !== 'start')
    refuseStructure(cursor.event === 'text' ? 'the Envelope contains text' : 'the Envelope has no Body')
  const blocks = cursor.name === version.header ? readHeader(cursor, version, root, block) : []
  if (cursor.event !== 'start' || cursor.name !== version.body)
    refuseStructure('the Envelope must contain an optional Header, then one Body')
  checkAttributes(cursor, version, version.bodyAttributes)
  return { version, around: currentElement(cursor, root), blocks, body: cursor }
}

/** The blocks of a tree; of one that was decrypted, those that arrived encrypted among them. */
export const headerBlocks = ({ root }: Document, { header }: SoapVersion): readonly Element[] =>
  root.elements(header)[0]?.elements() ?? []

/** Opens the Envelope of a tree: the blocks and the Body are elements of the tree. */
export function openEnvelopeTree(
  document: Document,
  versions: readonly SoapVersion[],
): Envelope & { readonly element: Element } {
  const children = document.root.elements()
  const blocks = children[0]?.elements() ?? []
  let next = 0
  const envelope = openEnvelope(walkTree(document.root), versions, cursor => {
    cursor.skip()
    return blocks[next++]! // the walker visits the same children
  })
  const element = children.find(each => each.name === envelope.version.body)! // `openEnvelope` has found it
  envelope.body.skip()
  closeEnvelope(envelope.body)
  return { ...envelope, element }
}

/** SOAP 1.2 Part 1 §4.1.2: the namespace of the Envelope alone determines the version. */
function requireVersion(cursor: Cursor, versions: readonly SoapVersion[]): SoapVersion {
  while (cursor.next() !== 'start');
  const found = cursor.name
  if (found.local !== 'Envelope') refuseStructure(`not a SOAP message: the root is ${found.local}, not Envelope`)
  const version = versions.find(each => each.envelope === found)
  if (!version) return refuseMessage({ kind: 'version-mismatch', found })
  checkAttributes(cursor, version)
  return version
}

/** Moves from the Header's `start` to the next event after its `end`. */
function readHeader(
  cursor: Cursor,
  version: SoapVersion,
  root: Element,
  block: (cursor: Cursor, parent: Element) => Element,
): readonly Element[] {
  checkAttributes(cursor, version)
  const around = currentElement(cursor, root)
  const blocks: Element[] = []
  const { from } = cursor
  while (cursor.child() === 'start') {
    if (cursor.from - from > headerOctetsMax)
      refuseStructure(`the Header is longer than the limit of ${headerOctetsMax} octets`)
    if (cursor.name.uri === '') refuseStructure(`the header block ${cursor.name.local} has no namespace`)
    blocks.push(block(cursor, around))
  }
  if (cursor.event !== 'end') refuseStructure('the Header contains text')
  cursor.child()
  return blocks
}

/** The current element without its content, for the namespaces in scope. */
const currentElement = (cursor: Cursor, parent?: Element): Element =>
  new Element(parent, cursor.name, cursor.prefix, [], cursor.declarations())

/** From the Body's `end`: refuses content after it, and a message that is not well-formed. */
export function closeEnvelope(cursor: Cursor): void {
  if (cursor.child() !== 'end') refuseStructure('the Envelope has content after the Body') // WS-I Basic Profile 1.1 R1011 for SOAP 1.1
  cursor.finish()
}

/**
 * Envelope, Header and Body: attributes are qualified unless the version allows any; encodingStyle
 * only where the version allows it.
 */
function checkAttributes(cursor: Cursor, version: SoapVersion, allowed: 'qualified' | 'any' = 'qualified'): void {
  for (let index = 0; index < cursor.attributes; index++) {
    const { uri, local } = cursor.attributeName(index)
    if (uri === '' && allowed === 'qualified')
      refuseStructure(`${cursor.name.local} has the unqualified attribute ${local}`)
    if (cursor.attributeName(index) !== version.encodingStyle) continue
    if (!version.encodingAnywhere) refuseStructure(`${cursor.name.local} must not have an encodingStyle`)
    const encoding = cursor.attributeValue(index).trim()
    if (!namesSoapVersion(version, encoding, [version.encoding, ...version.literal]))
      refuseMessage({ kind: 'encoding-unknown', encoding })
  }
}

function refuseStructure(detail: string): never {
  return refuseMessage({ kind: 'structure', detail })
}

/** @param body the children of Body, @param blocks those of Header, both as XML */
export function writeEnvelope(version: SoapVersion, body: string, blocks: readonly string[] = []): string {
  const header = blocks.length === 0 ? '' : `<${soapPrefix}:Header>${blocks.join('')}</${soapPrefix}:Header>`
  return `<?xml version="1.0" encoding="UTF-8"?><${soapPrefix}:Envelope xmlns:${soapPrefix}="${version.namespace}">${header}<${soapPrefix}:Body>${body}</${soapPrefix}:Body></${soapPrefix}:Envelope>`
}

/**
 * The envelope of a fault, with its blocks.
 *
 * @param wsa the namespace of the message's WS-Addressing
 */
export function writeFaultEnvelope(
  version: SoapVersion,
  fault: SoapFault,
  blocks: readonly string[] = [],
  wsa = 'http://www.w3.org/2005/08/addressing',
): string {
  const about =
    version.faultDetail && fault.about
      ? [`<wsa:${version.faultDetail} xmlns:wsa="${wsa}">${fault.about}</wsa:${version.faultDetail}>`]
      : []
  return writeEnvelope(version, version.writeFault(fault), [...blocks, ...(fault.blocks ?? []), ...about])
}
