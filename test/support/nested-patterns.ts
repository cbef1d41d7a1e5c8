/** Regular expressions as properties need them: any nesting of the parts that a language has. */
import fc from 'fast-check'

export interface PatternParts {
  readonly atom: fc.Arbitrary<string>
  /** With the empty one, so that a part may stand once. */
  readonly quantifier: fc.Arbitrary<string>
  /** How a group begins. */
  readonly groups: readonly string[]
}

/** Alternatives of parts; a part is an atom or a group of alternatives, with its quantifier. */
export const nestedPatterns = ({ atom, quantifier, groups }: PatternParts): fc.Arbitrary<string> =>
  fc.letrec<{ readonly whole: string; readonly part: string }>(tie => ({
    whole: fc
      .array(fc.array(tie('part'), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 })
      .map(all => all.map(each => each.join('')).join('|')),
    part: fc
      .tuple(
        fc.oneof(
          { maxDepth: 2 },
          atom,
          atom,
          fc.tuple(fc.constantFrom(...groups), tie('whole')).map(([open, each]) => `${open}${each})`),
        ),
        quantifier,
      )
      .map(([of, times]) => of + times),
  })).whole
