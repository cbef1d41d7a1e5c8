import { isChar, isNcName } from './character.ts'
import { xmlnsUri, xmlUri } from './name.ts'
import { Scope } from './namespace-scope.ts'
import type { Document, Element, Node } from './tree.ts'

/**
 * Writing XML. Encoders join strings with `escapeText` and `writeAttribute`; `writeElement` serialises a tree.
 * Guards: what is written is well-formed, whatever the strings are, and means the same when it is read again. A string that
 * has a character which XML 1.0 cannot carry in any form (§2.2) throws an Unwritable: it came from our side.
 */
export class Unwritable extends Error {}

/** Character data: escaped so that it is read as it is, a carriage return and `]]>` included. */
export function escapeText(value: string): string {
  return plain.test(value) ? value : escaped(value, inText)
}

/** An attribute value with its quotes: escaped so that no normalisation (§3.3.3) changes it. */
export function writeAttribute(value: string): string {
  return plain.test(value) ? `"${value}"` : `"${escaped(value, inAttribute)}"`
}

/** Nothing to escape and nothing to refuse, in text and in attributes. */
const plain = /^[^\0-\x1f&<>"\ud800-\udfff\ufffe\uffff]*$/
const inText = /[\0-\x08\x0b-\x1f&<>\ufffe\uffff]/g
const inAttribute = /[\0-\x1f&<>"\ufffe\uffff]/g
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

function escaped(value: string, special: RegExp): string {
  if (!value.isWellFormed()) throw new Unwritable('a surrogate alone cannot be written in XML')
  return value.replace(special, character => escapes[character] ?? unwritable(character.charCodeAt(0)))
}

function unwritable(code: number): never {
  throw new Unwritable(`U+${code.toString(16).toUpperCase().padStart(4, '0')} cannot be written in XML 1.0`)
}

/**
 * A tree, or a part of one, in the order and with the prefixes it has. A namespace that nothing declares around where its
 * prefix is used is declared there, so a tree made by hand needs no declarations and a part stands by itself.
 * @throws Unwritable
 */
export function writeElement(node: Document | Node): string {
  const scope = new Scope()
  if (node.kind === 'document') return node.children.map(child => any(child, scope)).join('\n')
  return any(node, scope)
}

function any(node: Node, scope: Scope): string {
  if (node.kind === 'text') return escapeText(node.value)
  if (node.kind === 'element') return whole(node, scope)
  return node.kind === 'comment' ? comment(node.value) : instruction(node.target, node.value)
}

function whole(element: Element, scope: Scope): string {
  const mark = scope.mark()
  const tag = new OpenTag(scope)
  for (const { prefix, uri } of element.declarations) tag.declare(prefix, uri)
  const name = qualified(tag.prefix(element.prefix, element.name.uri), element.name.local)
  let attributes = ''
  for (const { prefix, name, value } of element.attributes) {
    const used = name.uri === '' ? '' : tag.prefix(prefix || 'n', name.uri)
    attributes += ` ${qualified(used, name.local)}=${writeAttribute(value)}`
  }
  let content = ''
  for (const child of element.children) content += any(child, scope)
  scope.back(mark)
  const start = `<${name}${tag.declarations}${attributes}`
  return element.children.length === 0 ? `${start}/>` : `${start}>${content}</${name}>`
}

function qualified(prefix: string, local: string): string {
  if (!isNcName(local)) throw new Unwritable(`${JSON.stringify(local)} is not a name`)
  return prefix === '' ? local : `${prefix}:${local}`
}

/** The declarations of one element while its tag is written. */
class OpenTag {
  declarations = ''
  private readonly scope: Scope
  /** Prefixes whose meaning on this element is settled. */
  private readonly settled = new Set(['xml', 'xmlns'])

  constructor(scope: Scope) {
    this.scope = scope
  }

  declare(prefix: string, uri: string): void {
    if (prefix === 'xml' && uri === xmlUri) return
    if (prefix === 'xml' || prefix === 'xmlns' || uri === xmlUri || uri === xmlnsUri) {
      throw new Unwritable(`${prefix} cannot be declared as ${uri}`)
    }
    if (prefix !== '' && (uri === '' || !isNcName(prefix)))
      throw new Unwritable(`${prefix} cannot be declared as ${uri}`)
    this.settled.add(prefix)
    this.declarations += ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}=${writeAttribute(uri)}`
    this.scope.set(prefix, uri)
  }

  /** The prefix to write for an element or attribute: the wished one, declared if need be, or another where it is taken. */
  prefix(wished: string, uri: string): string {
    if (uri === xmlUri) return 'xml'
    let prefix = uri === '' ? '' : wished
    for (let n = 1; this.scope.get(prefix) !== uri && this.settled.has(prefix); n++) {
      if (uri === '') throw new Unwritable('an element in no namespace declares a default namespace')
      prefix = `n${n}`
    }
    if (this.scope.get(prefix) !== uri) this.declare(prefix, uri)
    this.settled.add(prefix)
    return prefix
  }
}

function comment(value: string): string {
  if (value.includes('--') || value.endsWith('-')) throw new Unwritable('`--` cannot be written in a comment')
  return `<!--${unescaped(value)}-->`
}

function instruction(target: string, value: string): string {
  if (!isNcName(target) || target.toLowerCase() === 'xml') throw new Unwritable(`${target} is not a target`)
  if (/^[ \t\r\n]/.test(value)) throw new Unwritable('white space before the data of a processing instruction is lost')
  if (value.includes('?>')) throw new Unwritable('`?>` cannot be written in a processing instruction')
  return value === '' ? `<?${target}?>` : `<?${target} ${unescaped(value)}?>`
}

/** Where nothing can be escaped: all characters must be [2] Char, and no carriage return would come back. */
function unescaped(value: string): string {
  if (!value.isWellFormed()) throw new Unwritable('a surrogate alone cannot be written in XML')
  for (const character of value) {
    const code = character.codePointAt(0)!
    if (!isChar(code) || code === 0x0d) unwritable(code)
  }
  return value
}
