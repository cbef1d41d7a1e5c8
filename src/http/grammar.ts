/**
 * RFC 9110 §5.6: the few productions of which most fields consist. Each reader takes a cursor,
 * leaves it after what it has read, and looks at no character twice, so every field is read in
 * linear time.
 */

export interface TextCursor {
  readonly text: string
  at: number
}

/** By lower-case name (RFC 9110 §5.6.6: names are case-insensitive), without a prototype. */
export type Parameters = Readonly<Record<string, string>>

export const noParameters: Parameters = Object.freeze(Object.create(null))

export const cursorOver = (text: string): TextCursor => ({ text, at: 0 })

const tchars = new Uint8Array(128)
for (const char of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
  tchars[char.charCodeAt(0)] = 1

/** §5.6.2 token = 1*tchar: the longest one here, or the empty text. */
export function readToken(cursor: TextCursor): string {
  const { text, at: start } = cursor
  let at = start
  while (tchars[text.charCodeAt(at)] === 1) at++
  cursor.at = at
  return start === 0 && at === text.length ? text : text.slice(start, at)
}

/** Whether the whole text is one token: a method, a field name, a scheme. */
export function isToken(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (tchars[text.charCodeAt(at)] !== 1) return false
  return text !== ''
}

/** §5.6.3 OWS = *( SP / HTAB ). */
export function skipSpace(cursor: TextCursor): void {
  while (isSpace(cursor.text.charCodeAt(cursor.at))) cursor.at++
}

const isSpace = (code: number) => code === 0x20 || code === 0x09

/** Skips one character, if it is the next. */
export function skipCharacter(cursor: TextCursor, char: string): boolean {
  if (cursor.text[cursor.at] !== char) return false
  cursor.at++
  return true
}

export const isAtEnd = (cursor: TextCursor): boolean => cursor.at >= cursor.text.length

/** Without SP and HTAB around it, and no other character: U+00A0 is obs-text and is kept. */
export function trimSpace(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isSpace(text.charCodeAt(from))) from++
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

/**
 * §5.6.4 quoted-string, without its quotes and escapes; undefined if none begins here, or it is not
 * closed.
 */
export function readQuotedString(cursor: TextCursor): string | undefined {
  const { text } = cursor
  if (text[cursor.at] !== '"') return undefined
  let value = ''
  let start = cursor.at + 1
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      cursor.at = at + 1
      return value + text.slice(start, at)
    }
    if (code === 0x5c) {
      value += text.slice(start, at)
      start = ++at
    }
    if (!isText(text.charCodeAt(at))) return undefined
  }
  return undefined
}

/**
 * HTAB, SP, VCHAR and obs-text: what a quoted-string may contain or escape. NaN (the end) is not.
 */
const isText = (code: number) => (code >= 0x20 && code !== 0x7f) || code === 0x09

export function readTokenOrQuoted(cursor: TextCursor): string | undefined {
  if (cursor.text[cursor.at] === '"') return readQuotedString(cursor)
  return readToken(cursor) || undefined
}

/**
 * §5.6.6 parameters = *( OWS ";" OWS [ parameter ] ), parameter = name "=" ( token / quoted-string
 * ). Undefined when malformed. A repeated name is malformed too: the RFC leaves it open, and two
 * charsets or two boundaries would be read one way here and the other way elsewhere.
 */
export function readParameters(cursor: TextCursor): Parameters | undefined {
  let parameters: Record<string, string> | undefined
  for (;;) {
    const before = cursor.at
    skipSpace(cursor)
    if (!skipCharacter(cursor, ';')) {
      cursor.at = before
      return parameters ?? noParameters
    }
    skipSpace(cursor)
    const name = readToken(cursor).toLowerCase()
    if (name === '') continue
    const value = skipCharacter(cursor, '=') ? readTokenOrQuoted(cursor) : undefined
    parameters ??= Object.create(null) as Record<string, string> // a fresh object without prototype
    if (value === undefined || parameters[name] !== undefined) return undefined
    parameters[name] = value
  }
}

/** A parameter value as a token where it is one, otherwise quoted (§5.6.4). */
export const writeTokenOrQuoted = (value: string): string => (isToken(value) ? value : quoteString(value))

/**
 * A quoted-string. Characters that it cannot hold (§5.6.4: controls) become "?": a value never
 * splits a field.
 */
export function quoteString(value: string): string {
  return `"${value.replace(/[\0-\x08\x0a-\x1f\x7f]/g, '?').replace(/["\\]/g, '\\$&')}"`
}

export function writeParameters(parameters: Parameters): string {
  let text = ''
  for (const name in parameters) text += `;${name}=${writeTokenOrQuoted(parameters[name]!)}`
  return text
}

/**
 * §5.6.1 #element, as recipients must read it: elements between commas, empty ones dropped. A comma
 * inside a quoted-string belongs to the element. (Entity tags have quotes of another kind: see
 * entity-tag.ts.)
 */
export function splitElements(text: string): readonly string[] {
  const elements: string[] = []
  const add = (from: number, to: number) => {
    const element = trimSpace(text.slice(from, to))
    if (element !== '') elements.push(element)
  }
  let start = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) quoted = !quoted
    else if (code === 0x5c && quoted) at++
    else if (code === 0x2c && !quoted) {
      add(start, at)
      start = at + 1
    }
  }
  add(start, text.length)
  return elements
}
