/** Declarations that contradict themselves: reported, with the part that counts. */
import type { Element } from '../../xml/index.ts'
import type { Losses } from '../loss.ts'
import { describeMistakenOccurs } from './occurs.ts'
import { attributeOf, schemaChild } from './schema-components.ts'
import type { SchemaPlace } from './schema-source.ts'

/** Reports an element or attribute of whose parts one excludes another (Part 1 §3.2.3, §3.3.3). */
export function recordContradictions(node: Element, { place }: SchemaPlace, losses: Losses): void {
  const has = (local: string): boolean => attributeOf(node, local) !== undefined
  const inner = schemaChild(node, 'complexType', 'simpleType')?.name.local
  const tell = (one: string, other: string): void =>
    losses.add(place, `${describeNode(node)} has both ${one} and ${other}: ${one} counts`, 'document')
  if (has('ref') && has('name')) tell('ref', 'name')
  if (has('ref') && has('type')) tell('ref', 'type')
  if (has('fixed') && has('default')) tell('fixed', 'default')
  if (has('type') && inner !== undefined) tell('type', inner)
}

/** Reports counts of a particle that no schema may have (Part 1 §3.9.6). */
export function recordMistakenOccurs(node: Element, { place }: SchemaPlace, losses: Losses): void {
  const mistake = describeMistakenOccurs(node)
  if (mistake !== undefined) losses.add(place, `${describeNode(node)} ${mistake}`, 'document')
}

function describeNode(node: Element): string {
  const name = attributeOf(node, 'name') ?? attributeOf(node, 'ref')
  return `the ${node.name.local}${name === undefined ? '' : ` ${name}`}`
}
