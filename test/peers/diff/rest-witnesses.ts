/** Values that may tell two schemas apart; a validator of JSON Schema says which of them each takes. */
import type { Json } from '../../../src/base/objects.ts'

const pets = ['cat', 'dog', 'cow'].map(kind => ({ kind, name: 'x' }))
const members = (...names: readonly string[]): Json => Object.fromEntries(names.map(name => [name, 'x']))
const values: readonly Json[] = [
  ...['x', 'y', '', 'xx', 'z', 'xxx', 'xxxxx', 'xxxxxxxxx', '2025-06-30', '2025-06-30T12:00:00Z'],
  ...[0, 1, 5, 7, 2, 9, 10, -1, 1.5, null, true],
  ...[[], ['x'], ['x', 'y'], ['x', 'x'], ['x', 'y', 'z'], [1], [1, 2]],
  ...[{}, ...pets, members('de'), members('de', 'en'), members('fr'), members('x'), members('german')],
  ...[members('de', 'en', 'fr', 'it'), members('aa', 'bb', 'cc', 'dd')],
]
/** Each value as the member that changes, and other members around it. */
export const candidates: readonly Json[] = [
  {},
  { a: 'x', b: 'x' },
  { b: 'x' },
  { a: 'x', c: 'x' },
  { a: 'x', c: 1 },
  ...values.map(a => ({ a })),
]

const witnessesMax = 12

/** What the first schema takes: values that the second one refuses come first, then others. */
export function pickWitnesses(taken: readonly boolean[], compared: readonly boolean[]): readonly Json[] {
  const of = (isDecisive: boolean) => candidates.filter((_, at) => taken[at] && compared[at] !== isDecisive)
  return [...of(true).slice(0, witnessesMax / 2), ...of(false)].slice(0, witnessesMax)
}
