/**
 * Messages whose octets travel in other parts (XOP, MTOM). What always holds (M5): a signature over
 * the XML covers the octets, and not their address. So before a signature is checked, every Include
 * is replaced by the base64 that it represents (XOP §2.1), and that is read from then on; before
 * anything is decrypted, those of cipher texts are. Each part is used once: a message never grows
 * beyond what was sent.
 */
import { decodePercent } from '../../base/attempt.ts'
import { encodeBase64 } from '../../base/base64.ts'
import type { Element, Name } from '../../xml/index.ts'
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
 * Replaces Includes by the base64 of their parts.
 * @param taken the elements that hold what was replaced, by the part's Content-ID; more are added
 * @param within the elements whose Includes are replaced; undefined: all
 */
export function inlineIncludes(
  envelope: Element,
  parts: SignedParts,
  taken: Map<string, Element>,
  within?: Name,
): void {
  for (const include of includedParts(envelope)) {
    if (within && include.parent?.name !== within) continue
    const uri = include.attribute(hrefAttribute) ?? ''
    const octets = taken.has(readContentId(uri)) ? undefined : parts.octets(uri, false)
    const around = include.parent
    if (!octets || !around || around.elements().length !== 1 || around.text.trim() !== '') {
      failSecurity('InvalidSecurity', 'an Include that is not alone, or not of one unused part')
    }
    taken.set(readContentId(uri), around)
    const value = encodeBase64(octets)
    around.splice(0, Infinity, [{ kind: 'text', value }])
  }
}

/** RFC 2392: the Content-ID in a `cid:` URI; any other URI as it is. */
export const readContentId = (uri: string): string => decodePercent(uri) ?? uri
