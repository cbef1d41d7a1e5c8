/**
 * The policies that a description attaches to its elements (WS-Policy Attachment 1.5 and 1.2): a
 * `wsp:Policy` or `wsp:PolicyReference` inside, the attribute `wsp:PolicyURIs`, or the element with
 * which WSDLs of 2006 demand addressing. References inside a policy are replaced by the policy that
 * they name (WS-Policy Framework 1.5, policy inclusion).
 */
import { isTrueText } from '../../contract/lexical/text.ts'
import { Element, type Node } from '../../xml/tree.ts'

/** WS-Policy 1.2, the drafts of 1.5, and 1.5. */
export const policyNamespaces: ReadonlySet<string> = new Set([
  'http://schemas.xmlsoap.org/ws/2004/09/policy',
  'http://www.w3.org/2006/07/ws-policy',
  'http://www.w3.org/ns/ws-policy',
])
/**
 * The namespaces of addressing's assertions and attributes: the recommendation, and the candidate
 * of 2006.
 */
export const addressingNamespaces: readonly string[] = [
  'http://www.w3.org/2007/05/addressing/metadata',
  'http://www.w3.org/2006/05/addressing/wsdl',
]
const isPolicyName = ({ name }: Element, local: string): boolean =>
  name.local === local && policyNamespaces.has(name.uri)

export interface PolicyLimits {
  /** In all policies of a description. */
  readonly inclusions: number
  /** Policies nested by inclusion. */
  readonly depth: number
}
/** Policies that include each other may double at each step; real ones do not have this many. */
export const policyLimits: PolicyLimits = { inclusions: 10_000, depth: 64 }

export class PolicyLookup {
  readonly #roots: readonly Element[]
  readonly #addFlaw: (flaw: string) => void
  /** By `#id` and by name. */
  #known: ReadonlyMap<string, Element> | undefined
  /** An element to which many refer, such as a message, has its policies looked up once. */
  readonly #attached = new Map<Element, readonly Element[]>()
  /** Many elements share one policy, so its references are replaced once. */
  readonly #dissolved = new Map<Element, Element>()
  #inclusions = 0

  /** @param addFlaw receives a phrase for each reference to something missing */
  constructor(roots: readonly Element[], addFlaw: (flaw: string) => void) {
    this.#roots = roots
    this.#addFlaw = addFlaw
  }

  /** Policies, and assertions outside policies, each once. */
  of(...elements: readonly (Element | undefined)[]): readonly Element[] {
    return [...new Set(elements.flatMap(each => (each ? this.#attachedTo(each) : [])))]
  }
  #attachedTo(element: Element): readonly Element[] {
    let known = this.#attached.get(element)
    if (!known) this.#attached.set(element, (known = this.#readAttached(element)))
    return known
  }
  #readAttached(element: Element): readonly Element[] {
    const named = element.attributes.filter(({ name }) => name.local === 'PolicyURIs' && policyNamespaces.has(name.uri))
    const uris = named.flatMap(({ value }) => value.split(/\s+/).filter(Boolean))
    const inside = element.elements().flatMap(each => {
      if (isPolicyName(each, 'Policy') || demandsAddressing(each)) return [each]
      return isPolicyName(each, 'PolicyReference') ? this.#find(referredUri(each)) : []
    })
    return [...uris.flatMap(uri => this.#find(uri)), ...inside].map(each => this.#dissolve(each))
  }

  #find(uri: string): readonly Element[] {
    const found = (this.#known ??= indexPolicies(this.#roots)).get(uri)
    if (!found) this.#addFlaw(`the policy ${uri} is not in the document`)
    return found ? [found] : []
  }

  #dissolve(policy: Element): Element {
    const known = this.#dissolved.get(policy)
    if (known) return known
    const included = this.#include(policy, new Set([policy]))
    this.#dissolved.set(policy, included)
    return included
  }
  /** @param open the enclosing policies, none of which may include itself */
  #include(element: Element, open: ReadonlySet<Element>): Element {
    const children = element.children.flatMap((child): readonly Node[] => {
      if (child.kind !== 'element') return [child]
      if (!isPolicyName(child, 'PolicyReference')) return [this.#include(child, open)]
      return this.#find(referredUri(child)).flatMap(found => this.#includePolicy(found, referredUri(child), open))
    })
    const isWhole = children.length === element.children.length
    if (isWhole && children.every((child, at) => child === element.children[at])) return element
    const { parent, name, prefix, attributes, declarations } = element
    const copy = new Element(parent, name, prefix, attributes, declarations)
    copy.append(children)
    return copy
  }
  #includePolicy(policy: Element, uri: string, open: ReadonlySet<Element>): readonly Element[] {
    this.#inclusions += 1
    if (open.has(policy)) this.#addFlaw(`the policy ${uri} includes itself`)
    else if (this.#inclusions > policyLimits.inclusions)
      this.#addFlaw(`policies include others more than ${policyLimits.inclusions} times: the rest is left out`)
    else if (open.size > policyLimits.depth)
      this.#addFlaw(`the policy ${uri} is included more than ${policyLimits.depth} deep: it is left out`)
    else return [this.#include(policy, new Set([...open, policy]))]
    return []
  }
}

const referredUri = (reference: Element): string =>
  reference.attributes.find(({ name }) => name.uri === '' && name.local === 'URI')?.value.trim() ?? ''

/** WS-Addressing 1.0 WSDL Binding (2006) §3.1: it is only an offer unless it is required. */
const demandsAddressing = ({ name, attributes }: Element): boolean =>
  name.local === 'UsingAddressing' &&
  addressingNamespaces.includes(name.uri) &&
  attributes.some(each => each.name.local === 'required' && isTrueText(each.value))

/** Includes policies written where they apply, since other elements may name them. */
function indexPolicies(roots: readonly Element[]): ReadonlyMap<string, Element> {
  const found = new Map<string, Element>()
  const visit = (element: Element): void => {
    if (isPolicyName(element, 'Policy'))
      for (const { name, value } of element.attributes) {
        if (name.local === 'Id') found.set(`#${value.trim()}`, element)
        if (name.local === 'Name') found.set(value.trim(), element)
      }
    for (const each of element.elements()) if (each.name.local !== 'schema') visit(each)
  }
  for (const root of roots) visit(root)
  return found
}
