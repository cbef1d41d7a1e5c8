/** Rules of schemas that no service checks, reported as losses. */
import type { Element } from '../../xml/index.ts'
import type { Losses } from '../loss.ts'
import { attributeOf } from './schema-components.ts'
import type { SchemaPlace } from './schema-source.ts'

const identityConstraints: ReadonlySet<string> = new Set(['key', 'keyref', 'unique'])

/** Reports what a schema demands besides types (Part 1 §3.11), and what XML Schema 1.1 adds. */
export function recordUnchecked(node: Element, { place }: SchemaPlace, losses: Losses): void {
  const { local } = node.name
  if (identityConstraints.has(local))
    losses.add(place, `the ${local} ${attributeOf(node, 'name') ?? attributeOf(node, 'ref') ?? ''} is not checked`)
  else if (local === 'assert') losses.add(place, `the assertion ${attributeOf(node, 'test') ?? ''} is not checked`)
  else if (local === 'alternative') losses.add(place, 'has the same type whatever its attributes are (xs:alternative)')
  else if (local === 'openContent' && attributeOf(node, 'mode') !== 'none')
    losses.add(place, 'has no elements but those that are declared (xs:openContent)')
}

/** Reports what a wildcard of XML Schema 1.1 excludes (Part 1 §3.10.2.2). */
export function recordNotExcluded(wildcard: Element, { place }: SchemaPlace, losses: Losses): void {
  for (const name of ['notNamespace', 'notQName']) {
    const excluded = attributeOf(wildcard, name)
    if (excluded !== undefined) losses.add(place, `a wildcard accepts names that ${name} excludes: ${excluded}`)
  }
}
