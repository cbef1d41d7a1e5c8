/**
 * A forwarding intermediary (SOAP 1.2 Part 1 §2.7; SOAP 1.1 §4.2.2; rule B4.9): a message in, the
 * message to forward or a fault out. Guards: (1) blocks for other nodes, and the Body, are
 * forwarded octet by octet; (2) a block for this node is removed, unless it was not processed and
 * is marked to be relayed; (3) a mandatory block that is not understood ends the message.
 */
import { anonymous } from '../contract/policy.ts'
import { Refused } from '../service/refusal.ts'
import { type Document, type Element, Malformed, parseXml } from '../xml/index.ts'
import { openEnvelopeTree, strictParsing, writeFaultEnvelope } from './envelope.ts'
import type { Code } from './fault.ts'
import { type Block, findBlock, readBlock } from './headers/block.ts'
import { type NodeRoles, readFlag, requireUnderstood, roleOf, targetedBlocks } from './headers/node.ts'
import { type AnySoapRefusal, createFault, type FaultWording, writeNotUnderstood, writeUpgrade } from './refusal.ts'
import { type SoapVersion, versions } from './version.ts'

/**
 * A node between sender and receiver, with the header blocks that it understands (SOAP 1.2 Part 1
 * §2.7).
 */
export interface Intermediary {
  /** The URI of this node, which its faults must name (SOAP 1.2 Part 1 §5.4.3). */
  readonly uri: string
  /** URIs of roles that it plays in addition to `next`. */
  readonly roles: readonly string[]
  readonly blocks: readonly Block[]
}

/** The fate of a message at an intermediary: it is forwarded, or a fault goes back. */
export type Relayed =
  | { readonly kind: 'forward'; readonly version: SoapVersion; readonly bytes: Uint8Array }
  | { readonly kind: 'fault'; readonly version: SoapVersion; readonly envelope: string; readonly code: Code }

/**
 * @param media the version that the media type of the message names
 * @throws any exception of a block handler that is not a refusal
 */
export async function relayMessage(
  bytes: Uint8Array,
  media: SoapVersion,
  node: Intermediary,
  charset?: string,
): Promise<Relayed> {
  let version = media
  let role = media.next
  try {
    const document = parseXml(bytes, { ...strictParsing, ...(charset !== undefined && { charset }) })
    if (document instanceof Malformed) throw document
    const envelope = openEnvelopeTree(document, versions)
    version = envelope.version
    role = version.next
    const place: NodeRoles = { roles: node.roles, ultimate: false }
    const mine = targetedBlocks(envelope.blocks, version, place)
    requireUnderstood(mine, version, each => findBlock(each, version, node.blocks) !== undefined)
    const blocks: string[] = []
    const removed = new Set<Element>()
    for (const block of mine) {
      role = roleOf(block, version)
      const declaration = findBlock(block, version, node.blocks)
      if (declaration || !isRelayed(block, version)) removed.add(block)
      if (!declaration) continue
      const value = readBlock(block, declaration.read)
      await declaration.process(value, { block, version, caller: anonymous, add: written => blocks.push(written) })
    }
    const forwarded = rewriteMessage(document, envelope.blocks, removed, blocks, envelope.element)
    return { kind: 'forward', version, bytes: forwarded }
  } catch (thrown) {
    return relayFault(thrown, version, node.uri, role)
  }
}

/** §5.2.4, for a block that was not processed. */
const isRelayed = (block: Element, version: SoapVersion): boolean =>
  version.relay !== undefined && readFlag(block, version.relay)

/** The root's octets without the removed blocks, and with the added ones after the last one. */
function rewriteMessage(
  { root, bytes }: Document,
  blocks: readonly Element[],
  removed: ReadonlySet<Element>,
  added: readonly string[],
  body: Element,
): Uint8Array {
  const pieces: Uint8Array[] = []
  let at = root.from
  for (const block of blocks) {
    if (!removed.has(block)) continue
    pieces.push(bytes.subarray(at, block.from))
    at = block.to
  }
  const last = blocks.at(-1)
  const [first = body] = root.elements()
  if (added.length > 0 && last) {
    pieces.push(bytes.subarray(at, Math.max(at, last.to)), Buffer.from(added.join('')))
    at = Math.max(at, last.to)
  } else if (added.length > 0) {
    pieces.push(bytes.subarray(at, first.from), Buffer.from(rewriteHeader(root, added)))
    at = first === body ? first.from : first.to
  }
  return Buffer.concat([...pieces, bytes.subarray(at, root.to)])
}

/** A Header for an Envelope that has none or an empty one. */
function rewriteHeader(root: Element, blocks: readonly string[]): string {
  const tag = root.prefix === '' ? 'Header' : `${root.prefix}:Header`
  return `<${tag}>${blocks.join('')}</${tag}>`
}

const wording: FaultWording = {
  element: () => '',
  nameOf: fault => ({ uri: '', local: fault.fault }),
  place: () => '',
}

/** Turns a refusal into a fault of this node; throws anything else on. */
export function relayFault(
  thrown: unknown,
  version: SoapVersion,
  node: string,
  role: string,
): Extract<Relayed, { readonly kind: 'fault' }> {
  const refusal =
    thrown instanceof Malformed ? ({ kind: 'not-well-formed', flaw: thrown } as const) : refusalOfThrown(thrown)
  const fault = { role, ...createFault(refusal, wording), node }
  const blocks = [
    ...(refusal.kind === 'version-mismatch' ? [writeUpgrade(versions)] : []),
    ...(refusal.kind === 'not-understood' && version.notUnderstood ? refusal.blocks.map(writeNotUnderstood) : []),
  ]
  return { kind: 'fault', version, envelope: writeFaultEnvelope(version, fault, blocks), code: fault.code }
}

function refusalOfThrown(thrown: unknown): AnySoapRefusal {
  if (!(thrown instanceof Refused)) throw thrown
  return thrown.refusal as AnySoapRefusal // Refused has no other refusals
}
