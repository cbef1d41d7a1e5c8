/** RFC 7240 Prefer and Preference-Applied. */

import { memo } from '../base/memo.ts'
import { type Cursor, eat, elements, ended, over, space, token, tokenOrQuote, tokenOrQuoted } from './grammar.ts'

export interface Preference {
  /** '' when there is none: §2 makes `foo`, `foo=` and `foo=""` the same. */
  readonly value: string
  readonly parameters: Readonly<Record<string, string>>
}

/** By lower-case name, without prototype. */
export type Preferences = Readonly<Record<string, Preference>>

/** Of a preference named twice the first counts (§2). A malformed one is left out: a preference binds nobody. */
export const parsePrefer: (field: string) => Preferences = memo(field => {
  const found: Record<string, Preference> = Object.create(null)
  for (const element of elements(field)) {
    const cursor = over(element)
    const first = word(cursor)
    const parameters = first && parametersAt(cursor)
    if (first && parameters) found[first[0]] ??= { value: first[1], parameters }
  }
  return found
})

/** §2: token [ BWS "=" BWS word ]. */
function word(cursor: Cursor): [name: string, value: string] | undefined {
  const name = token(cursor).toLowerCase()
  space(cursor)
  if (name === '') return undefined
  if (!eat(cursor, '=')) return [name, '']
  space(cursor)
  if (ended(cursor) || cursor.text[cursor.at] === ';') return [name, '']
  const value = tokenOrQuoted(cursor)
  space(cursor)
  return value === undefined ? undefined : [name, value]
}

function parametersAt(cursor: Cursor): Readonly<Record<string, string>> | undefined {
  const found: Record<string, string> = Object.create(null)
  while (eat(cursor, ';')) {
    space(cursor)
    if (ended(cursor) || cursor.text[cursor.at] === ';') continue
    const one = word(cursor)
    if (!one) return undefined
    found[one[0]] ??= one[1]
  }
  return ended(cursor) ? found : undefined
}

/** §3 Preference-Applied, also Prefer itself: `return=minimal, respond-async`. */
export function writePreferences(preferences: Readonly<Record<string, string>>): string {
  return Object.entries(preferences)
    .map(([name, value]) => (value === '' ? name : `${name}=${tokenOrQuote(value)}`))
    .join(', ')
}
