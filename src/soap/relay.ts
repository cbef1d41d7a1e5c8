/**
 * A forwarding intermediary (SOAP 1.2 Part 1 §2.7; SOAP 1.1 §4.2.2; rule B4.9): a message in, the
 * message to forward or a fault out. Guards: (1) blocks for others, and the Body, go on octet by
 * octet as they came; (2) a block for this node goes no further, unless it was not processed and
 * says that it is to be relayed; (3) a mandatory one that is not understood ends it.
 */
import { anonymous } from '../contract/policy.ts'
import { Refused } from '../service/refusal.ts'
import { type Document, type Element, Malformed, parseXml } from '../xml/index.ts'
import { openEnvelopeTree, strict, writeFaultEnvelope } from './envelope.ts'
import { type Block, findBlock, readBlock } from './headers/block.ts'
import { type NodeRoles, readFlag, requireUnderstood, roleOf, targetedBlocks } from './headers/node.ts'
import { type AnySoapRefusal, createFault, type FaultWording, writeNotUnderstood, writeUpgrade } from './refusal.ts'
import { type SoapVersion, versions } from './version.ts'

export interface Intermediary {
  /**
   * The URI of this node, for faults: an intermediary must say who it is (SOAP 1.2 Part 1 §5.4.3).
   */
  readonly uri: string
  /** Roles that it plays beside `next`. */
  readonly roles: readonly string[]
  readonly blocks: readonly Block[]
}

export type Relayed =
  | { readonly kind: 'forward'; readonly version: SoapVersion; readonly bytes: Uint8Array }
  | { readonly kind: 'fault'; readonly version: SoapVersion; readonly envelope: string }

/**
 * @param media the version whose media type the message came with @throws what a handler throws
 * beside a refusal
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
    const document = parseXml(bytes, { ...strict, ...(charset !== undefined && { charset }) })
    if (document instanceof Malformed) throw document
    const envelope = openEnvelopeTree(document, versions)
    version = envelope.version
    role = version.next
    const place: NodeRoles = { roles: node.roles, ultimate: false }
    const mine = targetedBlocks(envelope.blocks, version, place)
    requireUnderstood(mine, version, each => findBlock(each, version, node.blocks) !== undefined)
    const added: string[] = []
    const gone = new Set<Element>()
    for (const block of mine) {
      role = roleOf(block, version)
      const declaration = findBlock(block, version, node.blocks)
      if (declaration || !isRelayed(block, version)) gone.add(block)
      if (!declaration) continue
      const value = readBlock(block, declaration.read)
      await declaration.process(value, { block, version, caller: anonymous, add: written => added.push(written) })
    }
    const forwarded = rewriteMessage(document, envelope.blocks, gone, added, envelope.element)
    return { kind: 'forward', version, bytes: forwarded }
  } catch (thrown) {
    return relayFault(thrown, version, node.uri, role)
  }
}

/** §5.2.4: only a block that was not processed. */
const isRelayed = (block: Element, version: SoapVersion): boolean =>
  version.relay !== undefined && readFlag(block, version.relay)

/**
 * The root's octets without the blocks that are gone, and with those that were added behind the
 * last one.
 */
function rewriteMessage(
  { root, bytes }: Document,
  blocks: readonly Element[],
  gone: ReadonlySet<Element>,
  added: readonly string[],
  body: Element,
): Uint8Array {
  const pieces: Uint8Array[] = []
  let at = root.from
  for (const block of blocks) {
    if (!gone.has(block)) continue
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

/** A Header for an Envelope that has none, or takes the place of one that is empty. */
function rewriteHeader(root: Element, added: readonly string[]): string {
  const tag = root.prefix === '' ? 'Header' : `${root.prefix}:Header`
  return `<${tag}>${added.join('')}</${tag}>`
}

const wording: FaultWording = {
  element: () => '',
  nameOf: fault => ({ uri: '', local: fault.fault }),
  place: () => '',
}

function relayFault(thrown: unknown, version: SoapVersion, node: string, role: string): Relayed {
  const refusal =
    thrown instanceof Malformed ? ({ kind: 'not-well-formed', why: thrown } as const) : refusalOfThrown(thrown)
  const fault = { ...createFault(refusal, wording), node, role }
  const blocks = [
    ...(refusal.kind === 'version-mismatch' ? [writeUpgrade(versions)] : []),
    ...(refusal.kind === 'not-understood' && version.notUnderstood ? refusal.blocks.map(writeNotUnderstood) : []),
  ]
  return { kind: 'fault', version, envelope: writeFaultEnvelope(version, fault, blocks) }
}

function refusalOfThrown(thrown: unknown): AnySoapRefusal {
  if (!(thrown instanceof Refused)) throw thrown
  return thrown.refusal as AnySoapRefusal // the two unions are all that is thrown as Refused
}
