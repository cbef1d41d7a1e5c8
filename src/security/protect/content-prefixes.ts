/**
 * Prefixes in texts and in values of attributes: QNames, and the types that `xsi:type` names. The
 * exclusive canonical form leaves them out, so under a signature their meaning could be changed
 * (Exclusive C14N §1.3) unless its PrefixList has them (WS-I Basic Security Profile 1.1 R5406).
 */
import { type Element, internName } from '../../xml/index.ts'

const xsiType = internName('http://www.w3.org/2001/XMLSchema-instance', 'type')
/** Longer texts are not QNames, nor lists of them. */
const namesOctetsMax = 1024
const qualifiedName = /^([\p{L}_][\p{L}\p{N}._-]*):[\p{L}_][\p{L}\p{N}._-]*$/u

/** The prefixes that the content of an element uses, as a PrefixList has them. */
export function listContentPrefixes(element: Element, found = new Set<string>()): ReadonlySet<string> {
  const inner = element.elements()
  if (inner.length === 0) addPrefixes(element, element.text, found)
  for (const { name, value } of element.attributes) {
    addPrefixes(element, value, found)
    if (name === xsiType && !value.includes(':')) found.add('#default')
  }
  for (const child of inner) listContentPrefixes(child, found)
  return found
}

function addPrefixes(element: Element, text: string, found: Set<string>): void {
  if (text.length > namesOctetsMax || !text.includes(':')) return
  for (const word of text.trim().split(/[ \t\r\n]+/)) {
    const [, prefix] = qualifiedName.exec(word) ?? []
    if (prefix !== undefined && prefix !== 'xml' && element.namespace(prefix) !== undefined) found.add(prefix)
  }
}
