/**
 * Messages whose octets travel beside them (XOP, MTOM). What always holds (M5): a signature over the XML covers the octets, and not
 * the address they are at; so before a signature is checked every Include gives way to the base64 that it stands for (XOP §2.1),
 * and that is what is read from then on. Each part is taken once: a message never grows beyond what was sent.
 */
import { decodePercent } from '../../base/attempt.ts'
import { encodeBase64 } from '../../base/base64.ts'
import type { Element } from '../../xml/index.ts'
import { Insecure } from '../security-fault.ts'
import { hrefAttribute, IncludeName } from '../vocabulary.ts'

interface SignedParts {
  readonly octets: (uri: string, complete: boolean) => Uint8Array | undefined
}

/** The Includes at and below an element. */
export function includedParts(element: Element): Element[] {
  if (element.name === IncludeName) return [element]
  return element.children.flatMap(child => (child.kind === 'element' ? includedParts(child) : []))
}

/** Puts the base64 of its part in the place of each Include. @returns the element that holds it, by the part's Content-ID */
export function inlineIncludes(envelope: Element, parts: SignedParts): ReadonlyMap<string, Element> {
  const taken = new Map<string, Element>()
  for (const include of includedParts(envelope)) {
    const uri = include.attribute(hrefAttribute) ?? ''
    const octets = taken.has(readContentId(uri)) ? undefined : parts.octets(uri, false)
    const around = include.parent
    if (!octets || !around || around.elements().length !== 1 || around.text.trim() !== '') {
      throw new Insecure('InvalidSecurity', 'an Include of no one part')
    }
    taken.set(readContentId(uri), around)
    const value = encodeBase64(octets)
    around.splice(0, Infinity, [{ kind: 'text', value }])
  }
  return taken
}

/** RFC 2392: the Content-ID that a `cid:` URI means; of another URI, the URI. */
export const readContentId = (uri: string): string => decodePercent(uri) ?? uri
