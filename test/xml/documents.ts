import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  type Attribute,
  type Declaration,
  type Document,
  Element,
  internName,
  Malformed,
  type Name,
  type Node,
  type ParseOptions,
  parseXml,
  xmlUri,
} from '../../src/xml/index.ts'

/**
 * Text that XML can carry, including everything that escaping, normalisation and sorting may get
 * wrong.
 */
export const anyText = fc.string({
  unit: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom('a', 'b', ' ', '\n', '\t', '\r', '<', '>', '&', '"', "'", ']', '-', '?', ';'),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('é', '中', '\u0085', '\u2028', '\ufeff', '\u{1f600}', '\u{10fffd}', '\u007f'),
    },
  ),
  maxLength: 12,
})

const prefixes = fc.constantFrom('', 'a', 'b', 'é', '\u{10000}')
// Without `&`: libxml2, the judge of canonical forms, does not escape it in namespace names.
const uris = fc.constantFrom('urn:x', 'urn:y', "http://example.org/?b='2'")
const locals = fc.constantFrom('a', 'b', 'constructor', '__proto__', 'é', '\u{10000}', '\uf900')

interface Plan {
  readonly prefix: string
  readonly local: string
  readonly declarations: readonly (readonly [string, string])[]
  readonly attributes: readonly (readonly [string, string, string])[]
  readonly content: readonly (Plan | string | { readonly comment: string } | { readonly data: string })[]
}

const { plan } = fc.letrec<{ plan: Plan }>(tie => ({
  plan: fc.record({
    prefix: prefixes,
    local: locals,
    declarations: fc.array(
      fc.tuple(prefixes, fc.oneof({ weight: 4, arbitrary: uris }, { weight: 1, arbitrary: fc.constant('') })),
      {
        maxLength: 3,
      },
    ),
    attributes: fc.array(fc.tuple(fc.oneof(prefixes, fc.constant('xml')), locals, anyText), { maxLength: 4 }),
    content: fc.array(
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        anyText,
        fc.constantFrom('- ', 'c', '').map(comment => ({ comment })),
        fc.constantFrom('', 'd', '? x').map(data => ({ data })),
        tie('plan'),
      ),
      { maxLength: 4 },
    ),
  }),
}))

/**
 * The root of a tree that could have been parsed: prefixes declared, attributes different, text
 * joined.
 */
export const anyTree: fc.Arbitrary<Element> = plan.map(plan => buildTree(plan, undefined))

function buildTree(plan: Plan, parent: Element | undefined): Element {
  const declared = new Map(plan.declarations.filter(([prefix, uri]) => prefix === '' || uri !== ''))
  const declarations: Declaration[] = [...declared].map(([prefix, uri]) => ({ prefix, uri }))
  const uriOf = (prefix: string) => (prefix === 'xml' ? xmlUri : (declared.get(prefix) ?? parent?.namespace(prefix)))
  const prefix = uriOf(plan.prefix) ? plan.prefix : ''
  const attributes = new Map<Name, Attribute>()
  for (const [wished, local, value] of plan.attributes) {
    const prefix = uriOf(wished) ? wished : ''
    const named = internName(prefix === '' ? '' : uriOf(prefix)!, local)
    attributes.set(named, { name: named, prefix, value })
  }
  const named = internName(uriOf(prefix) ?? '', plan.local)
  const element = new Element(parent, named, prefix, [...attributes.values()], declarations)
  for (const item of plan.content) {
    const node: Node =
      typeof item === 'string'
        ? { kind: 'text', value: item }
        : 'comment' in item
          ? { kind: 'comment', value: item.comment }
          : 'data' in item
            ? { kind: 'instruction', target: 'p', value: item.data }
            : buildTree(item, element)
    const last = element.children.at(-1)
    if (node.kind === 'text' && last?.kind === 'text') {
      element.splice(element.children.length - 1, 1, [{ kind: 'text', value: last.value + node.value }])
    } else if (node.kind !== 'text' || node.value !== '') element.append([node])
  }
  return element
}

/** An element and all elements in it, in document order. */
export function elementsWithin(element: Element): Element[] {
  return [element, ...element.elements().flatMap(elementsWithin)]
}

/** A tree without its links, to compare. */
export function withoutLinks(node: Node): unknown {
  if (node.kind !== 'element') return node
  const { name, prefix, attributes, declarations, children } = node
  return { name, prefix, attributes, declarations, children: children.map(withoutLinks) }
}

/** The document in this text, which must be well-formed. */
export function parseOrFail(text: string, options: ParseOptions = {}): Document {
  const document = parseXml(new TextEncoder().encode(text), options)
  if (document instanceof Malformed) assert.fail(`${document.reason} at ${document.at}: ${text.slice(0, 200)}`)
  return document
}
