import { memoizeByText } from '../base/memo.ts'
import {
  cursorOver,
  isAtEnd,
  type Parameters,
  readParameters,
  readToken,
  skipCharacter,
  skipSpace,
  type TextCursor,
  writeParameters,
} from './grammar.ts'

/** RFC 9110 §8.3.1. Type and subtype are in lower case; parameter values are as received. */
export interface MediaType {
  readonly type: string
  readonly subtype: string
  /** `type/subtype`, without parameters (the term is from the MIME Sniffing standard). */
  readonly essence: string
  /**
   * RFC 6838 §4.2.8: the text after the last "+" of the subtype, such as `json`; empty without one.
   */
  readonly suffix: string
  readonly parameters: Parameters
}

/**
 * RFC 9110 §8.3.1 media-type, the whole text; undefined if malformed. The result is shared: do not
 * change it.
 */
export const parseMediaType: (text: string) => MediaType | undefined = memoizeByText(text => {
  const cursor = cursorOver(text)
  skipSpace(cursor)
  const found = readMediaType(cursor)
  skipSpace(cursor)
  return found !== undefined && isAtEnd(cursor) ? found : undefined
})

/**
 * The type of a package or of its root as senders write it: RFC 2045 §5.1 requires quotes around
 * values such as `text/xml` and `<root@x>`, but some senders omit them. No other type may do so.
 */
export const parsePackageType: (text: string) => MediaType | undefined = memoizeByText(
  text => parseMediaType(text) ?? (isOfPackage.test(text) ? parseMediaType(quoteValues(text)) : undefined),
)
const isOfPackage = /^\s*(?:multipart\/related|application\/xop\+xml)\s*;/i
/** Text in quotes stays unchanged. */
const quoteValues = (text: string): string =>
  text.replace(
    /"(?:[^"\\]|\\.)*"|(;\s*[^\s;="]+=)([^\s;"\\]+)(?=\s*(?:;|$))/g,
    (whole, name?: string, value?: string) => (name === undefined ? whole : `${name}"${value}"`),
  )

/** Reads a media type, or a media range (`*` is a token), at a cursor. */
export function readMediaType(cursor: TextCursor): MediaType | undefined {
  const type = readToken(cursor).toLowerCase()
  if (type === '' || !skipCharacter(cursor, '/')) return undefined
  const subtype = readToken(cursor).toLowerCase()
  if (subtype === '') return undefined
  const parameters = readParameters(cursor)
  if (parameters === undefined) return undefined
  const plus = subtype.lastIndexOf('+')
  const suffix = plus < 0 ? '' : subtype.slice(plus + 1)
  return { type, subtype, essence: `${type}/${subtype}`, suffix, parameters }
}

/** JSON, or a format based on it (RFC 6839 §3.1); parameters do not matter. */
export const isJsonType = (type: string): boolean => /^[^/;\s]+\/(?:[^/;\s]+\+)?json\s*(?:;|$)/i.test(type)

/** `text/html;charset=utf-8`: parameter values are quoted only where necessary. */
export function writeMediaType(of: Pick<MediaType, 'essence' | 'parameters'>): string {
  return of.essence + writeParameters(of.parameters)
}
