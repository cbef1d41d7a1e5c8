/**
 * Wildcards, and one for attributes in place of several (XML Schema Part 1 §3.10.6). If XML Schema
 * 1.0 has no wildcard for the result, `isExact` is false and the result accepts more.
 */
import type { WildcardNamespaces, WildcardProcess } from '../../contract/xml-type.ts'
import type { Element } from '../../xml/index.ts'
import { attributeOf } from './schema-components.ts'
import type { SchemaPlace } from './schema-source.ts'

export interface JoinedNamespaces {
  readonly namespaces: WildcardNamespaces
  readonly isExact: boolean
}

const asExact = (namespaces: WildcardNamespaces): JoinedNamespaces => ({ namespaces, isExact: true })
const asWider = (namespaces: WildcardNamespaces): JoinedNamespaces => ({ namespaces, isExact: false })

/** The names that either accepts: the wildcard of an extension, or that of its base. */
export function uniteNamespaces(one: WildcardNamespaces, other: WildcardNamespaces): JoinedNamespaces {
  if (one === 'any' || other === 'any') return asExact('any')
  if ('of' in one) return 'of' in other ? asExact({ of: [...new Set([...one.of, ...other.of])] }) : addTo(other, one)
  if ('of' in other) return addTo(one, other)
  return one.not === other.not ? asExact(one) : asWider('any')
}
type NamespacesOf<K extends PropertyKey> = Extract<WildcardNamespaces, Readonly<Record<K, unknown>>>

/** A negation accepts neither its namespace nor names without one. */
function addTo(negated: NamespacesOf<'not'>, { of }: NamespacesOf<'of'>): JoinedNamespaces {
  const [hasNamespace, hasNone] = [of.includes(negated.not), of.includes('')]
  if (hasNamespace === hasNone) return asExact(hasNone ? 'any' : negated)
  return asWider('any')
}

/** The names that both accept: the wildcards of a type and of its attribute groups. */
export function intersectNamespaces(one: WildcardNamespaces, other: WildcardNamespaces): JoinedNamespaces {
  if (one === 'any') return asExact(other)
  if (other === 'any') return asExact(one)
  if ('of' in one) return asExact({ of: one.of.filter(uri => hasNamespace(other, uri)) })
  if ('of' in other) return intersectNamespaces(other, one)
  if (one.not === other.not || other.not === '') return asExact(one)
  return one.not === '' ? asExact(other) : asWider(one)
}

const hasNamespace = (namespaces: Exclude<WildcardNamespaces, 'any'>, uri: string): boolean =>
  'of' in namespaces ? namespaces.of.includes(uri) : uri !== '' && uri !== namespaces.not

export function wildcardOf(node: Element, { form }: SchemaPlace): [WildcardNamespaces, WildcardProcess] {
  const process = attributeOf(node, 'processContents')
  const namespaces = wildcardNamespaces(attributeOf(node, 'namespace'), form.uri)
  return [namespaces, process === 'skip' || process === 'lax' ? process : 'strict']
}

function wildcardNamespaces(written: string | undefined, target: string): WildcardNamespaces {
  if (written === undefined || written === '##any') return 'any'
  if (written === '##other') return { not: target }
  return {
    of: written
      .split(/\s+/)
      .filter(Boolean)
      .map(each => (each === '##targetNamespace' ? target : each === '##local' ? '' : each)),
  }
}
