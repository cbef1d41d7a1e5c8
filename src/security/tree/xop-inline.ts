/**
 * Messages whose octets travel in other parts (XOP, MTOM). What always holds (M5): a signature over
 * the XML covers the octets, not their address. So before a signature is checked, every Include is
 * replaced by the base64 that it represents (XOP §2.1), and from then on only the base64 is read;
 * an Include in a ciphertext is replaced before decryption. Each part is used once: a message never
 * grows beyond what was sent.
 */
import { encodeBase64 } from '../../base/base64.ts'
import type { Element } from '../../xml/index.ts'
import { failSecurity } from '../security-fault.ts'
import { hrefAttribute, IncludeName } from '../vocabulary.ts'

interface IncludableParts {
  /** The octets for an Include in this element, once; undefined: there are none. */
  readonly moveInto: (holder: Element, uri: string) => Uint8Array | undefined
}

/** The Include elements at and below an element. */
export function includedParts(element: Element, found: Element[] = []): Element[] {
  if (element.name === IncludeName) found.push(element)
  else for (const child of element.children) if (child.kind === 'element') includedParts(child, found)
  return found
}

/** Replaces the Include elements below an element by the base64 of their parts. */
export function inlineIncludes(outer: Element, parts: IncludableParts): void {
  for (const include of includedParts(outer)) {
    const uri = include.attribute(hrefAttribute) ?? ''
    const around = include.parent
    const octets = around && parts.moveInto(around, uri)
    if (!octets || around.elements().length !== 1 || around.text.trim() !== '') {
      failSecurity('InvalidSecurity', 'an Include that is not alone, or not of one unused part')
    }
    const value = encodeBase64(octets)
    around.splice(0, Infinity, [{ kind: 'text', value }])
  }
}
