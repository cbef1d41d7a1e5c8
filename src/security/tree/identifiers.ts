/**
 * The identifiers of a document, collected once (WSS §4.2; XML Signature §4.4.3.2; SAML 1.1 §2.3.2,
 * SAML 2.0 §2.3.3; xml:id).
 *  (1) A value identifies one element, whatever the attribute: if it occurs twice anywhere, the
 *      message is refused.
 *  (2) An attribute is an identifier only on the elements for which these standards declare it. In
 *      addition, so is an unqualified Id on a SOAP 1.1 Body and on a Timestamp, where old stacks
 *      write it.
 */

import { soap11 } from '../../soap/version.ts'
import type { Element, Name } from '../../xml/index.ts'
import { failSecurity } from '../security-fault.ts'
import {
  assertionIdAttribute,
  dsig11Ns,
  dsNs,
  idAttribute,
  saml1Ns,
  saml2Ns,
  upperIdAttribute,
  wsuId,
  wsuNs,
  xenc11Ns,
  xencNs,
  xmlIdAttribute,
} from '../vocabulary.ts'

/** The namespaces of elements on which this unqualified attribute is an identifier. */
const identifierIn: ReadonlyMap<Name, ReadonlySet<string>> = new Map([
  [idAttribute, new Set([dsNs, dsig11Ns, xencNs, xenc11Ns, soap11.namespace, wsuNs])],
  [upperIdAttribute, new Set([saml2Ns])],
  [assertionIdAttribute, new Set([saml1Ns])],
])

export class Identifiers {
  readonly #elements = new Map<string, Element>()

  constructor(root: Element) {
    this.add(root)
  }

  /** Adds the identifiers of a decrypted element, and of all elements inside it. */
  add(element: Element): void {
    for (const { name, value } of element.attributes) {
      if (name === wsuId || name === xmlIdAttribute || identifierIn.get(name)?.has(element.name.uri))
        this.#enter(value, element)
    }
    for (const child of element.children) if (child.kind === 'element') this.add(child)
  }

  #enter(value: string, element: Element): void {
    const elements = this.#elements
    const before = elements.size
    elements.set(value, element)
    if (elements.size === before) failSecurity('InvalidSecurity', 'an identifier that occurs twice')
  }

  /** The element of a same-document URI reference (`#id`); other URIs refer to no element. */
  findReferred(uri: string): Element | undefined {
    return uri.startsWith('#') ? this.#elements.get(uri.slice(1)) : undefined
  }
}
