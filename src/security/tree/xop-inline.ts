/**
 * Messages whose octets travel in other parts (XOP, MTOM). What always holds (M5): a signature over
 * the XML covers the octets, and not their address. So before a signature is checked, every Include
 * is replaced by the base64 that it represents (XOP §2.1), and that is read from then on. Each part
 * is used once: a message never grows beyond what was sent.
 */
import { decodePercent } from '../../base/attempt.ts'
import { encodeBase64 } from '../../base/base64.ts'
import type { Element } from '../../xml/index.ts'
import { failSecurity } from '../security-fault.ts'
import { hrefAttribute, IncludeName } from '../vocabulary.ts'

interface SignedParts {
  readonly octets: (uri: string, complete: boolean) => Uint8Array | undefined
}

/** The Includes at and below an element. */
export function includedParts(element: Element): Element[] {
  if (element.name === IncludeName) return [element]
  return element.children.flatMap(child => (child.kind === 'element' ? includedParts(child) : []))
}

/**
 * Replaces each Include by the base64 of its part.
 * @returns the element that holds it, by the part's Content-ID
 */
export function inlineIncludes(envelope: Element, parts: SignedParts): ReadonlyMap<string, Element> {
  const taken = new Map<string, Element>()
  for (const include of includedParts(envelope)) {
    const uri = include.attribute(hrefAttribute) ?? ''
    const octets = taken.has(readContentId(uri)) ? undefined : parts.octets(uri, false)
    const around = include.parent
    if (!octets || !around || around.elements().length !== 1 || around.text.trim() !== '') {
      return failSecurity('InvalidSecurity', 'an Include that is not alone, or not of one unused part')
    }
    taken.set(readContentId(uri), around)
    const value = encodeBase64(octets)
    around.splice(0, Infinity, [{ kind: 'text', value }])
  }
  return taken
}

/** RFC 2392: the Content-ID in a `cid:` URI; any other URI as it is. */
export const readContentId = (uri: string): string => decodePercent(uri) ?? uri
