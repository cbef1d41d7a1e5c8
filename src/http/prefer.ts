/** RFC 7240 Prefer and Preference-Applied. */

import { memoizeByText } from '../base/memo.ts'
import {
  cursorOver,
  isAtEnd,
  readToken,
  readTokenOrQuoted,
  skipCharacter,
  skipSpace,
  splitElements,
  type TextCursor,
  writeTokenOrQuoted,
} from './grammar.ts'

/** One preference in Prefer, or one that was applied (RFC 7240 §2). */
export interface Preference {
  /** Empty without a value: by §2, `foo`, `foo=` and `foo=""` are the same. */
  readonly value: string
  readonly parameters: Readonly<Record<string, string>>
}

/** By lower-case name, in an object without a prototype. */
export type Preferences = Readonly<Record<string, Preference>>

/**
 * The first of repeated preferences counts (§2). A malformed one is ignored: a preference is not an
 * obligation.
 */
export const parsePrefer: (field: string) => Preferences = memoizeByText(field => {
  const preferences: Record<string, Preference> = Object.create(null)
  for (const element of splitElements(field)) {
    const cursor = cursorOver(element)
    const first = readWord(cursor)
    const parameters = first && readPreferenceParameters(cursor)
    if (first && parameters) preferences[first[0]] ??= { value: first[1], parameters }
  }
  return preferences
})

/** §2: token [ BWS "=" BWS word ]. */
function readWord(cursor: TextCursor): [name: string, value: string] | undefined {
  const name = readToken(cursor).toLowerCase()
  skipSpace(cursor)
  if (name === '') return undefined
  if (!skipCharacter(cursor, '=')) return [name, '']
  skipSpace(cursor)
  if (isAtEnd(cursor) || cursor.text[cursor.at] === ';') return [name, '']
  const value = readTokenOrQuoted(cursor)
  skipSpace(cursor)
  return value === undefined ? undefined : [name, value]
}

function readPreferenceParameters(cursor: TextCursor): Readonly<Record<string, string>> | undefined {
  const parameters: Record<string, string> = Object.create(null)
  while (skipCharacter(cursor, ';')) {
    skipSpace(cursor)
    if (isAtEnd(cursor) || cursor.text[cursor.at] === ';') continue
    const word = readWord(cursor)
    if (!word) return undefined
    parameters[word[0]] ??= word[1]
  }
  return isAtEnd(cursor) ? parameters : undefined
}

/** §3 Preference-Applied, and Prefer itself: `return=minimal, respond-async`. */
export function writePreferences(preferences: Readonly<Record<string, string>>): string {
  return Object.entries(preferences)
    .map(([name, value]) => (value === '' ? name : `${name}=${writeTokenOrQuoted(value)}`))
    .join(', ')
}
