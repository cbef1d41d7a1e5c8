import type { Element, Name } from '../../xml/index.ts'
import { refuseMessage } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'

/** The roles of a node. */
export interface NodeRoles {
  /** URIs of roles besides `next` and, for the last node, the ultimate receiver. */
  readonly roles: readonly string[]
  readonly ultimate: boolean
}

/** SOAP 1.2 Part 1 §2.6 step 2: the blocks whose role this node plays, in order. */
export function targetedBlocks(blocks: readonly Element[], version: SoapVersion, node: NodeRoles): readonly Element[] {
  return blocks.filter(each => playsRole(roleOf(each, version), version, node))
}

export function playsRole(role: string, version: SoapVersion, node: NodeRoles): boolean {
  if (role === version.none) return false
  return role === version.next || (node.ultimate && role === version.ultimateReceiver) || node.roles.includes(role)
}

/** §5.2.2: a missing or empty role is that of the ultimate receiver. */
export function roleOf(block: Element, version: SoapVersion): string {
  return block.attribute(version.role)?.trim() || version.ultimateReceiver
}

/**
 * §5.2.3. SOAP 1.1 writes 0 and 1 (its schema, WS-I Basic Profile R1013); `true` and `false` are
 * accepted, too: to ignore a block that its sender calls mandatory would be worse.
 */
export function isMandatory(block: Element, version: SoapVersion): boolean {
  return readFlag(block, version.mustUnderstand)
}

export function readFlag(block: Element, attribute: Name): boolean {
  const value = block.attribute(attribute)?.trim()
  if (value === undefined || value === '0' || value === 'false') return false
  if (value === '1' || value === 'true') return true
  return refuseMessage({ kind: 'structure', detail: `${attribute.local} of ${block.name.local} is not boolean` })
}

/** §2.6 steps 3 and 4: the node understands all mandatory blocks, or a fault names the others. */
export function requireUnderstood(
  blocks: readonly Element[],
  version: SoapVersion,
  isUnderstood: (block: Element) => boolean,
): void {
  const unknownBlocks = blocks.filter(each => isMandatory(each, version) && !isUnderstood(each))
  const [first] = unknownBlocks
  if (first)
    refuseMessage({
      kind: 'not-understood',
      blocks: unknownBlocks.map(each => each.name),
      role: roleOf(first, version),
    })
}
