/**
 * RFC 8288 Link. Our own code, since it is one short function in each direction on the grammar of
 * the other fields.
 */

import { parseExtValue, writeExtValue } from './ext-value.ts'
import {
  cursorOver,
  isAtEnd,
  isToken,
  quoteString,
  readQuotedString,
  readToken,
  skipCharacter,
  skipSpace,
  type TextCursor,
  trimSpace,
} from './grammar.ts'

/** A link of the field Link (RFC 8288 §3). */
export interface WebLink {
  /** A URI reference; relative ones stay relative. */
  readonly target: string
  /** A relation type, in lower case if registered (§3.3: compared case-insensitively). */
  readonly rel: string
  /** The context, unless it is the target resource of the request (§3.2). */
  readonly anchor?: string
  /** Further target attributes: title, type, hreflang, media, and extensions. */
  readonly attributes?: Readonly<Record<string, string>>
}

/**
 * One Link value. Characters that would end the target are percent-encoded, those that would end a
 * quoted value are escaped, and a value beyond ASCII is written as `name*` (RFC 8187). An attribute
 * whose name is not a token is left out.
 */
export function writeLink({ target, rel, anchor, attributes = {} }: WebLink): string {
  let text = `<${escapeReference(target)}>; rel=${quoteString(toAscii(rel))}`
  if (anchor !== undefined) text += `; anchor=${quoteString(escapeReference(anchor))}`
  for (const [name, value] of Object.entries(attributes)) {
    if (!isToken(name)) continue
    text += /^[\t -~]*$/.test(value) ? `; ${name}=${quoteString(value)}` : `; ${name}*=${writeExtValue(value)}`
  }
  return text
}

/** Several links as the value of one Link field. */
export const writeLinks = (links: readonly WebLink[]): string => links.map(writeLink).join(', ')

/**
 * A URI reference without the characters that it cannot contain raw (RFC 3986 §2): white space,
 * controls, `<>"`, everything beyond ASCII.
 */
const escapeReference = (uri: string) => uri.toWellFormed().replace(/[^!#-;=?-~]+/gu, encodeURIComponent)

const toAscii = (text: string) => text.replace(/[^\x20-\x7e]/gu, '?')

/**
 * Appendix B.2: links in order, one for each relation type. Malformed text ends the parse, and the
 * links before it are kept. The first of repeated rel, type, media, title or title* counts; title*
 * takes precedence over title.
 */
export function parseLinks(field: string): readonly WebLink[] {
  const links: WebLink[] = []
  const cursor = cursorOver(field)
  for (;;) {
    do skipSpace(cursor)
    while (skipCharacter(cursor, ','))
    const end = field.indexOf('>', cursor.at)
    if (!skipCharacter(cursor, '<') || end < 0) return links
    const target = field.slice(cursor.at, end)
    cursor.at = end + 1
    const given = readLinkAttributes(cursor)
    if (given === undefined) return links
    const { rel = '', anchor, ...attributes } = given
    for (const type of rel.split(/[ \t]+/))
      if (type !== '')
        links.push({ target, rel: type.toLowerCase(), ...(anchor !== undefined && { anchor }), attributes })
  }
}

/** Appendix B.3, up to the comma that ends the link. */
function readLinkAttributes(cursor: TextCursor): Record<string, string> | undefined {
  const plain: Record<string, string> = Object.create(null)
  const exact: Record<string, string> = Object.create(null)
  for (;;) {
    skipSpace(cursor)
    if (isAtEnd(cursor) || cursor.text[cursor.at] === ',') return Object.assign(plain, exact)
    if (!skipCharacter(cursor, ';')) return undefined
    skipSpace(cursor)
    const name = readToken(cursor).toLowerCase()
    skipSpace(cursor)
    const value = skipCharacter(cursor, '=') ? readLinkValue(cursor) : ''
    if (value === undefined) return undefined
    const decoded = name.endsWith('*') ? parseExtValue(value) : undefined
    if (decoded !== undefined) exact[name.slice(0, -1)] ??= decoded
    else if (name !== '' && !name.endsWith('*')) plain[name] ??= value
  }
}

/** Without quotes a value ends at the next `;` or `,`: `type=text/html`, as RFC 5988 allowed. */
function readLinkValue(cursor: TextCursor): string | undefined {
  skipSpace(cursor)
  if (cursor.text[cursor.at] === '"') return readQuotedString(cursor)
  const start = cursor.at
  while (!isAtEnd(cursor) && cursor.text[cursor.at] !== ';' && cursor.text[cursor.at] !== ',') cursor.at++
  return trimSpace(cursor.text.slice(start, cursor.at))
}
