/** RFC 8288 Link. Our own: it is one short function each way, and it rests on the grammar the other fields share. */

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

export interface WebLink {
  /** A URI reference, relative ones as they are. */
  readonly target: string
  /** Relation types, lower case where registered names are meant (§3.3: compared without case). */
  readonly rel: string
  /** Context, if it is not the target resource of the request (§3.2). */
  readonly anchor?: string
  /** Further target attributes: title, type, hreflang, media, and extensions. */
  readonly attributes?: Readonly<Record<string, string>>
}

/**
 * One Link value. Characters that would end the target are percent-encoded, those that would end a quoted value escaped, and
 * a value beyond ASCII is written as `name*` (RFC 8187). An attribute whose name is no token is left out.
 */
export function writeLink({ target, rel, anchor, attributes = {} }: WebLink): string {
  let text = `<${reference(target)}>; rel=${quoteString(ascii(rel))}`
  if (anchor !== undefined) text += `; anchor=${quoteString(reference(anchor))}`
  for (const [name, value] of Object.entries(attributes)) {
    if (!isToken(name)) continue
    text += /^[\t -~]*$/.test(value) ? `; ${name}=${quoteString(value)}` : `; ${name}*=${writeExtValue(value)}`
  }
  return text
}

export const writeLinks = (links: readonly WebLink[]): string => links.map(writeLink).join(', ')

/** A URI reference without what none may hold raw (RFC 3986 §2): white space, controls, `<>"`, all beyond ASCII. */
const reference = (uri: string) => uri.toWellFormed().replace(/[^!#-;=?-~]+/gu, encodeURIComponent)

const ascii = (text: string) => text.replace(/[^\x20-\x7e]/gu, '?')

/**
 * Appendix B.2: links in order, one for each relation type; what is malformed ends the parse, and what came before stays.
 * Of rel, type, media, title, title* the first counts; title* counts before title.
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
    const given = attributesAt(cursor)
    if (given === undefined) return links
    const { rel = '', anchor, ...attributes } = given
    for (const type of rel.split(/[ \t]+/))
      if (type !== '')
        links.push({ target, rel: type.toLowerCase(), ...(anchor !== undefined && { anchor }), attributes })
  }
}

/** Appendix B.3, up to the comma that ends the link. */
function attributesAt(cursor: TextCursor): Record<string, string> | undefined {
  const found: Record<string, string> = Object.create(null)
  const exact: Record<string, string> = Object.create(null)
  for (;;) {
    skipSpace(cursor)
    if (isAtEnd(cursor) || cursor.text[cursor.at] === ',') return Object.assign(found, exact)
    if (!skipCharacter(cursor, ';')) return undefined
    skipSpace(cursor)
    const name = readToken(cursor).toLowerCase()
    skipSpace(cursor)
    const value = skipCharacter(cursor, '=') ? valueAt(cursor) : ''
    if (value === undefined) return undefined
    const decoded = name.endsWith('*') ? parseExtValue(value) : undefined
    if (decoded !== undefined) exact[name.slice(0, -1)] ??= decoded
    else if (name !== '' && !name.endsWith('*')) found[name] ??= value
  }
}

/** Without quotes a value goes up to the next `;` or `,`: `type=text/html`, as RFC 5988 allowed. */
function valueAt(cursor: TextCursor): string | undefined {
  skipSpace(cursor)
  if (cursor.text[cursor.at] === '"') return readQuotedString(cursor)
  const start = cursor.at
  while (!isAtEnd(cursor) && cursor.text[cursor.at] !== ';' && cursor.text[cursor.at] !== ',') cursor.at++
  return trimSpace(cursor.text.slice(start, cursor.at))
}
