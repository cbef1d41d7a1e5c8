/**
 * The identifiers of a document, collected once (WSS §4.2; XML Signature §4.4.3.2; SAML 1.1 §2.3.2, SAML 2.0 §2.3.3; xml:id).
 *  (1) A value stands for one element, whatever attribute it is written in: a second one anywhere refuses the message.
 *  (2) Only attributes that these standards declare as identifiers count, each on the elements for which it is one.
 */
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
  xenc11Ns,
  xencNs,
  xmlIdAttribute,
} from '../vocabulary.ts'

/** Of which namespaces' elements an unqualified attribute is an identifier. */
const unqualified: ReadonlyMap<Name, ReadonlySet<string>> = new Map([
  [idAttribute, new Set([dsNs, dsig11Ns, xencNs, xenc11Ns])],
  [upperIdAttribute, new Set([saml2Ns])],
  [assertionIdAttribute, new Set([saml1Ns])],
])

export class Identifiers {
  private readonly elements = new Map<string, Element>()

  constructor(root: Element) {
    this.add(root)
  }

  /** Those of an element and of all in it, which came into the document by decryption. */
  add(element: Element): void {
    for (const { name, value } of element.attributes) {
      if (name === wsuId || name === xmlIdAttribute || unqualified.get(name)?.has(element.name.uri))
        this.enter(value, element)
    }
    for (const child of element.children) if (child.kind === 'element') this.add(child)
  }

  private enter(value: string, element: Element): void {
    if (this.elements.has(value)) failSecurity('InvalidSecurity', 'one identifier twice')
    this.elements.set(value, element)
  }

  /** The element that a same-document URI reference (`#id`) is to; no other form of URI refers to an element here. */
  referred(uri: string): Element | undefined {
    return uri.startsWith('#') ? this.elements.get(uri.slice(1)) : undefined
  }
}
