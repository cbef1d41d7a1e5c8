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

/** RFC 9110 §8.3.1. Type and subtype are lower case; parameter values are as they came. */
export interface MediaType {
  readonly type: string
  readonly subtype: string
  /** `type/subtype`, without parameters (the word is of the MIME Sniffing standard). */
  readonly essence: string
  /** RFC 6838 §4.2.8: what follows the last "+" of the subtype, such as `json`; '' when there is none. */
  readonly suffix: string
  readonly parameters: Parameters
}

/** RFC 9110 §8.3.1 media-type, all of the text; undefined when it is malformed. The result is shared: don't change it. */
export const parseMediaType: (text: string) => MediaType | undefined = memoizeByText(text => {
  const cursor = cursorOver(text)
  skipSpace(cursor)
  const found = createMediaType(cursor)
  skipSpace(cursor)
  return found !== undefined && isAtEnd(cursor) ? found : undefined
})

/** A media type, or a media range (`*` is a token), at a cursor. */
export function createMediaType(cursor: TextCursor): MediaType | undefined {
  const type = readToken(cursor).toLowerCase()
  if (type === '' || !skipCharacter(cursor, '/')) return undefined
  const subtype = readToken(cursor).toLowerCase()
  if (subtype === '') return undefined
  const given = readParameters(cursor)
  if (given === undefined) return undefined
  const plus = subtype.lastIndexOf('+')
  const suffix = plus < 0 ? '' : subtype.slice(plus + 1)
  return { type, subtype, essence: `${type}/${subtype}`, suffix, parameters: given }
}

/** `text/html;charset=utf-8`: parameter values are quoted only where they must be. */
export function writeMediaType(of: Pick<MediaType, 'essence' | 'parameters'>): string {
  return of.essence + writeParameters(of.parameters)
}
