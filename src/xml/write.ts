/**
 * Writes XML. Encoders join strings with `escapeText` and `writeAttribute`; `writeElement`
 * serialises a tree. Guards: whatever the strings are, the text is well-formed, and reading it
 * yields them again. A string with a character that XML 1.0 cannot carry in any form (§2.2) throws
 * an Unwritable, since the string is the program's own.
 */

import { isChar, isNcName } from './character.ts'
import { xmlnsUri, xmlUri } from './name.ts'
import { Scope } from './namespace-scope.ts'
import type { Document, Element, Node } from './tree.ts'

/**
 * Content that cannot be written as well-formed XML, such as a character that XML does not allow.
 */
export class Unwritable extends Error {}

/** Character data, escaped so that it is read back unchanged, also a carriage return and `]]>`. */
export function escapeText(value: string): string {
  return plainPattern.test(value) ? value : escapeSpecial(value, specialInText)
}

/**
 * An attribute value with its quotes, escaped so that normalization (§3.3.3) does not change it.
 */
export function writeAttribute(value: string): string {
  return plainPattern.test(value) ? `"${value}"` : `"${escapeSpecial(value, specialInAttribute)}"`
}

/** Text with nothing to escape or refuse, in text and in attributes. */
const plainPattern = /^[^\0-\x1f&<>"\ud800-\udfff\ufffe\uffff]*$/
const specialInText = /[\0-\x08\x0b-\x1f&<>\ufffe\uffff]/g
const specialInAttribute = /[\0-\x1f&<>"\ufffe\uffff]/g
const referenceOf: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

function escapeSpecial(value: string, special: RegExp): string {
  if (!value.isWellFormed()) throw new Unwritable('an unpaired surrogate cannot be written in XML')
  return value.replace(special, character => referenceOf[character] ?? refuseCharacter(character.charCodeAt(0)))
}

function refuseCharacter(code: number): never {
  throw new Unwritable(`U+${code.toString(16).toUpperCase().padStart(4, '0')} cannot be written in XML 1.0`)
}

/**
 * A tree, or a part of one, in its order and with its prefixes. A namespace that is not declared
 * where its prefix is used is declared there, so a tree created by hand needs no declarations, and
 * a part is a complete document.
 * @throws Unwritable
 */
export function writeElement(node: Document | Node): string {
  const scope = new Scope()
  if (node.kind === 'document') return node.children.map(child => writeNode(child, scope)).join('\n')
  return writeNode(node, scope)
}

function writeNode(node: Node, scope: Scope): string {
  if (node.kind === 'text') return escapeText(node.value)
  if (node.kind === 'element') return writeWithScope(node, scope)
  return node.kind === 'comment' ? writeComment(node.value) : writeInstruction(node.target, node.value)
}

function writeWithScope(element: Element, scope: Scope): string {
  const mark = scope.mark()
  const tag = new OpenTag(scope)
  for (const { prefix, uri } of element.declarations) tag.declare(prefix, uri)
  const name = writeQualified(tag.prefix(element.prefix, element.name.uri), element.name.local)
  let attributes = ''
  for (const { prefix, name, value } of element.attributes) {
    const used = name.uri === '' ? '' : tag.prefix(prefix || 'n', name.uri)
    attributes += ` ${writeQualified(used, name.local)}=${writeAttribute(value)}`
  }
  let content = ''
  for (const child of element.children) content += writeNode(child, scope)
  scope.restore(mark)
  const start = `<${name}${tag.declarations}${attributes}`
  return element.children.length === 0 ? `${start}/>` : `${start}>${content}</${name}>`
}

function writeQualified(prefix: string, local: string): string {
  if (!isNcName(local)) throw new Unwritable(`${JSON.stringify(local)} is not a name`)
  return prefix === '' ? local : `${prefix}:${local}`
}

/** The declarations of one element while its tag is being written. */
class OpenTag {
  declarations = ''
  readonly #scope: Scope
  /** Prefixes whose meaning on this element is settled. */
  readonly #settled = new Set(['xml', 'xmlns'])

  constructor(scope: Scope) {
    this.#scope = scope
  }

  declare(prefix: string, uri: string): void {
    if (prefix === 'xml' && uri === xmlUri) return
    if (prefix === 'xml' || prefix === 'xmlns' || uri === xmlUri || uri === xmlnsUri) {
      throw new Unwritable(`${prefix} cannot be declared as ${uri}`)
    }
    if (prefix !== '' && (uri === '' || !isNcName(prefix)))
      throw new Unwritable(`${prefix} cannot be declared as ${uri}`)
    this.#settled.add(prefix)
    this.declarations += ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}=${writeAttribute(uri)}`
    this.#scope.set(prefix, uri)
  }

  /**
   * The prefix to write for an element or attribute: the preferred one, declared if necessary, or
   * another if that one is taken.
   */
  prefix(wished: string, uri: string): string {
    if (uri === xmlUri) return 'xml'
    let prefix = uri === '' ? '' : wished
    for (let n = 1; this.#scope.get(prefix) !== uri && this.#settled.has(prefix); n++) {
      if (uri === '') throw new Unwritable('an element in no namespace cannot declare a default namespace')
      prefix = `n${n}`
    }
    if (this.#scope.get(prefix) !== uri) this.declare(prefix, uri)
    this.#settled.add(prefix)
    return prefix
  }
}

function writeComment(value: string): string {
  if (value.includes('--') || value.endsWith('-')) throw new Unwritable('`--` cannot be written in a comment')
  return `<!--${requireWritable(value)}-->`
}

function writeInstruction(target: string, value: string): string {
  if (!isNcName(target) || target.toLowerCase() === 'xml')
    throw new Unwritable(`${JSON.stringify(target)} is not a target of a processing instruction`)
  if (/^[ \t\r\n]/.test(value))
    throw new Unwritable('white space before the data of a processing instruction would be lost')
  if (value.includes('?>')) throw new Unwritable('`?>` cannot be written in a processing instruction')
  return value === '' ? `<?${target}?>` : `<?${target} ${requireWritable(value)}?>`
}

/**
 * For places where nothing can be escaped: every character must be a [2] Char, and a carriage
 * return would be lost.
 */
function requireWritable(value: string): string {
  if (!value.isWellFormed()) throw new Unwritable('an unpaired surrogate cannot be written in XML')
  for (const character of value) {
    const code = character.codePointAt(0)!
    if (!isChar(code) || code === 0x0d) refuseCharacter(code)
  }
  return value
}
