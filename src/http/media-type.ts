import { memo } from '../base/memo.ts'
import { type Cursor, eat, ended, over, type Parameters, parameters, space, token, writeParameters } from './grammar.ts'

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
export const parseMediaType: (text: string) => MediaType | undefined = memo(text => {
  const cursor = over(text)
  space(cursor)
  const found = mediaType(cursor)
  space(cursor)
  return found !== undefined && ended(cursor) ? found : undefined
})

/** A media type, or a media range (`*` is a token), at a cursor. */
export function mediaType(cursor: Cursor): MediaType | undefined {
  const type = token(cursor).toLowerCase()
  if (type === '' || !eat(cursor, '/')) return undefined
  const subtype = token(cursor).toLowerCase()
  if (subtype === '') return undefined
  const given = parameters(cursor)
  if (given === undefined) return undefined
  const plus = subtype.lastIndexOf('+')
  const suffix = plus < 0 ? '' : subtype.slice(plus + 1)
  return { type, subtype, essence: `${type}/${subtype}`, suffix, parameters: given }
}

/** `text/html;charset=utf-8`: parameter values are quoted only where they must be. */
export function writeMediaType(of: Pick<MediaType, 'essence' | 'parameters'>): string {
  return of.essence + writeParameters(of.parameters)
}
