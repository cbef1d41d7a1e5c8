/** Readable texts for fields by their names, and everything from which an example is made. */
import { type Choose, writePatternText } from '../base/pattern-text.ts'

/** The place of an example: the same place with the same seed has the same value. */
export interface ExamplePlace {
  readonly seed: number
  /** Such as `orders.note`: the names of fields, without positions in lists. */
  readonly name: string
  /** Which of several examples of this name, from 1. */
  readonly item: number
  /** The identifier of an item that exists. */
  readonly idOf: (resource: string, item: number) => string | undefined
  /** Values that the user provides, as text, by name. */
  readonly given: Readonly<Record<string, string>>
  /** Shared by all places of one example; undefined: it has none yet. */
  readonly room?: ExampleRoom
}
/** How many more values an example may have. */
interface ExampleRoom {
  values: number
}
/** A larger example helps no reader, and a description may demand any number of values. */
const valuesMax = 20_000
const charactersMax = 100_000

/** The place of a whole example. */
export const placeWithRoom = (place: ExamplePlace): ExamplePlace =>
  place.room ? place : { ...place, room: { values: valuesMax } }
/** Half of it is for optional values. */
export const hasRoomForOptional = ({ room }: ExamplePlace): boolean => !room || room.values > valuesMax / 2
/** Throws `NoExample`. */
export function takeRoom(place: ExamplePlace, values: number): void {
  if (!place.room) return
  place.room.values -= values
  if (place.room.values < 0) throw new NoExample(place, `it takes more than ${valuesMax} values`, lowerMinimum)
}
/** Throws `NoExample`. */
export function requireShortText(place: ExamplePlace, length = 0): void {
  if (length > charactersMax)
    throw new NoExample(place, `it takes more than ${charactersMax} characters or items`, lowerMinimum)
}
const lowerMinimum = 'lower the minimum in a copy of the description'

export const placeWithin = (place: ExamplePlace, name: string): ExamplePlace => ({
  ...place,
  name: place.name === '' ? name : `${place.name}.${name}`,
})

/** No value can be found for the field; the error names the place and the cure. */
export class NoExample extends Error {
  override readonly name = 'NoExample'
  constructor(place: ExamplePlace, reason: string, cure = `give one: --example ${place.name}=TEXT`) {
    super(`no example of ${place.name} was found: ${reason}; ${cure}`)
  }
}

/** Makes choices that depend only on a seed and a place (FNV-1a, then mulberry32). */
export function createChoose({ seed, name, item }: ExamplePlace): Choose {
  let state = 0x811c9dc5 ^ seed
  for (const character of `${name}#${item}`) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return count => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * count)
  }
}

/** What the names of fields say about their values; the first match counts. */
const wordsByName: readonly (readonly [RegExp, readonly string[]])[] = [
  [/e-?mail/, ['ada@example.org', 'grace@example.org', 'alan@example.org']],
  [/(first|given)name/, ['Ada', 'Grace', 'Alan']],
  [/(last|family|sur)name/, ['Lovelace', 'Hopper', 'Turing']],
  [/phone|mobile|fax/, ['+44 20 7946 0018', '+1 202 555 0142', '+49 30 5550 017']],
  [/city|town/, ['London', 'Lisbon', 'Bern']],
  [/country/, ['GB', 'PT', 'CH']],
  [/street|address/, ['1 Example Street', '22 Sample Road', '3 Model Lane']],
  [/zip|post(al)?code/, ['10115', '3011', '1200']],
  [/currency/, ['EUR', 'USD', 'GBP']],
  [/language|locale/, ['en', 'de', 'fr']],
  [/ur[il]|website|link/, ['https://example.org/a', 'https://example.org/b', 'https://example.org/c']],
  [/iban/, ['GB33BUKB20201555555555', 'DE75512108001245126199', 'CH5604835012345678009']],
  [/colou?r/, ['blue', 'green', 'red']],
]
const xsdTexts: Readonly<Record<string, string>> = {
  ...{ language: 'en', anyURI: 'https://example.org/a', QName: 'example', NOTATION: 'example' },
  ...{ gYear: '2026', gYearMonth: '2026-01', gMonth: '--01', gMonthDay: '--01-15', gDay: '---15' },
}

interface TextRules {
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly expressions?: readonly RegExp[]
  readonly xsd?: string | undefined
}

/** Texts to try, best first. */
export function listExampleTexts(place: ExamplePlace, { min = 0, max, expressions = [], xsd }: TextRules): string[] {
  requireShortText(place, min)
  const choose = createChoose(place)
  const last = place.name.split('.').at(-1) ?? ''
  const words = wordsByName.find(([form]) => form.test(last.toLowerCase().replaceAll(/[^a-z-]/g, '')))?.[1]
  const plain = words?.[(choose(3) + place.item) % 3] ?? `${capitalizeWords(last)} ${place.item}`
  const byType = xsd === undefined ? undefined : xsdTexts[xsd]
  const texts = [
    ...expressions.flatMap(expression => repetitions.map(more => writePatternText(expression, choose, more))),
    ...(expressions.length > 0 ? expressions.map(each => writePatternText(each, choose, min)) : []),
    ...(byType === undefined ? [] : [byType]),
    ...(max !== undefined && max < 3 ? ['A', 'AB'] : [plain]),
    `${last.replaceAll(/[^A-Za-z0-9]/g, '') || 'name'}${place.item}`,
    'example',
    'a',
  ]
  return texts.map(text => fitLength(text, min, max))
}
/** Repetitions beyond the minimum, in the order of trying. */
const repetitions = [2, 1, 0, 3, 4, 5, 6, 8, 10, 16, 32]

function fitLength(text: string, min: number, max = Number.POSITIVE_INFINITY): string {
  const characters = [...text]
  while (characters.length < min) characters.push('x')
  return characters.slice(0, max).join('').trimEnd().padEnd(min, 'x')
}

/** `firstName` → `First name`. */
const capitalizeWords = (name: string): string => {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
