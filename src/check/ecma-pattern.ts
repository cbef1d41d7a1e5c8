/**
 * Patterns of JSON Schema (ECMA-262 with the flag u, Validation §6.3.3), matched in a time that
 * grows with the text, so no description holds up a run. A pattern with lookaround, back
 * references, or anchors other than at the ends of the whole or of an alternative is not judged;
 * nor is one longer than `patternCharactersMax`.
 */
import { attempt, isSyntaxError } from '../base/attempt.ts'
import { convertSearchedPattern } from '../base/convert-pattern.ts'
import { LinearPattern } from '../base/linear-pattern.ts'
import { memoizeByText } from '../base/memo.ts'

/** Groups are read recursively: this many fit on any stack. */
export const patternCharactersMax = 1000

/** Whether a part of the text matches; undefined: the pattern is not judged. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  return pattern.length > patternCharactersMax ? undefined : compileOnce(pattern).matcher?.test(text)
}

const compileOnce = memoizeByText(
  (pattern: string) => ({ matcher: attempt(() => compileEcmaPattern(pattern), isSyntaxError) }),
  256,
  patternCharactersMax,
)

function compileEcmaPattern(pattern: string): LinearPattern {
  new RegExp(pattern, 'u') // throws for any other text, so the reader below may trust its syntax
  return new LinearPattern(convertSearchedPattern(pattern))
}
