/** Mistakes in fields, wherever they are declared: facets, bounds, defaults and texts. */

import { type CostlyText, findCostlyText } from '../../base/pattern-cost.ts'
import { misplacedComputed } from '../computed-fields.ts'
import { fillDefaults } from '../default-values.ts'
import type { AnyField, Fields, Scalar, Shape } from '../field.ts'
import { isScalarField } from '../field-json.ts'
import { parseScaledDecimal } from '../lexical/decimal.ts'
import { intRange, longRange, type NumberRange } from '../lexical/number.ts'
import { compilePattern } from '../lexical/text.ts'
import { findUnknownMembers, type MembersOf } from '../member-kinds.ts'
import type { Service } from '../service.ts'
import { entryFields, foldScalar, foldShape, type ScalarCases, type ScalarOf, type ShapeCases } from '../shape.ts'
import { checkValue } from '../typed-value.ts'
import { misplacedAccess } from './access-mistakes.ts'
import { fieldNameText, findRepeated } from './declared-names.ts'

/** For fields that are not directly in a resource. */
export const findAllFieldMistakes = (contract: Service, place: string, fields: Fields): string[] => [
  ...findResourceFieldMistakes(contract, place, fields),
  ...Object.entries(fields).flatMap(([name, field]) => misplacedMarks(`${place}.${name}`, field)),
]

export function findResourceFieldMistakes(contract: Service, place: string, fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, field]) => [
    ...(fieldNameText.test(name)
      ? []
      : [`${place}.${name} is not a valid name of a field: start with a letter, and use letters, digits and "_"`]),
    ...(name === 'xmlns' && field.isAttribute
      ? [`${place}.xmlns cannot be an attribute: in XML it declares a namespace, so make it an element`]
      : []),
    ...findFieldMistakes(contract, `${place}.${name}`, field),
  ])
}

/** For a field that is not directly in a resource. */
const misplacedMarks = (place: string, field: AnyField): string[] => [
  ...misplacedAccess(place, field),
  ...misplacedComputed(place, field),
]

const bounds = { min: true, max: true } as const
/** A facet that is added to a scalar is reported missing here at compile time. */
type KnownFacets<K extends Scalar['kind']> = MembersOf<
  Omit<ScalarOf<K>, 'kind' | (K extends 'duration' ? 'zone' : never)>
>
const scalarFacets: { readonly [K in Scalar['kind']]: () => KnownFacets<K> } = {
  string: () => ({ ...bounds, pattern: true, xsd: true }),
  boolean: () => ({}),
  int: () => ({ ...bounds, xsd: true }),
  long: () => ({ ...bounds, xsd: true }),
  decimal: () => ({ digits: true, places: true, ...bounds }),
  double: () => ({ ...bounds, xsd: true }),
  date: () => ({ zone: true }),
  time: () => ({ zone: true }),
  dateTime: () => ({ zone: true }),
  duration: () => ({}),
  bytes: () => ({ max: true, encoding: true }),
  enum: () => ({ values: true }),
  id: () => ({ prefix: true }),
  ref: () => ({ resource: true, unseen: true }),
}
const shapeFacets: ShapeCases<object> = {
  scalar: shape => foldScalar(shape, scalarFacets),
  list: () => ({ ...bounds, isDefaultMax: true, item: true, element: true }),
  map: () => ({ entries: true }),
  object: () => ({ fields: true, name: true }),
  union: () => ({ on: true, of: true }),
}
const facetsOf = (shape: Shape): object => ({ kind: true, ...foldShape(shape, shapeFacets) })

export function findFieldMistakes(contract: Service, place: string, field: AnyField): string[] {
  const { shape } = field
  const unknown = findUnknownMembers(place, shape, facetsOf(shape))
  if (unknown.length > 0) return unknown
  if (field.isAttribute && !isScalarField(field))
    return [`${place} cannot be an attribute: only a scalar can, so make it an element`]
  if (field.isAttribute && field.isNullable)
    return [`${place} cannot be null: an attribute has no xsi:nil, so make it optional, or an element`]
  const mistakes = foldShape(shape, shapeMistakes, contract, place)
  return mistakes.length > 0 ? mistakes : [...textMistakes(place, field), ...defaultMistakes(place, field)]
}

/**
 * A default is a valid value of its field, and a constant: it cannot name an item, which need not
 * exist.
 */
function defaultMistakes(place: string, field: AnyField): string[] {
  const { defaultValue, shape } = field
  if (defaultValue === undefined) return []
  if (shape.kind === 'id' || shape.kind === 'ref')
    return [
      `${place} is an identifier and cannot have a default: an item with this identifier need not exist, so leave it out`,
    ]
  const [flaw] = checkValue({ default: field }, fillDefaults({ default: field }, { default: defaultValue }))
  return flaw ? [`${place} has a default that ${flaw.detail}: give a value that the field accepts`] : []
}

/** Texts must be true: an example is a valid value, and whatever is explained exists. */
function textMistakes(place: string, field: AnyField): string[] {
  const { shape, texts } = field
  const values: readonly string[] = shape.kind === 'enum' ? shape.values : []
  const [flaw] = texts?.example === undefined ? [] : checkValue({ example: field }, { example: texts.example })
  return [
    ...Object.keys(texts?.values ?? {})
      .filter(value => !values.includes(value))
      .map(
        value =>
          `${place} describes the value "${value}", which it cannot have: ${values.length > 0 ? `use ${values.join(', ')}` : 'only enumerations and states have values to describe'}`,
      ),
    ...(flaw ? [`${place} has an example that ${flaw.detail}: give a value that the field accepts`] : []),
  ]
}

const isEntryKey = ({
  shape: { kind },
  isOptional,
  isNullable,
  isAttribute,
  isInternal,
  isReadOnly,
  defaultValue,
}: AnyField): boolean =>
  (kind === 'string' || kind === 'enum') &&
  !(isOptional || isNullable || isAttribute || isInternal || isReadOnly || defaultValue !== undefined)

const shapeMistakes: ShapeCases<string[], [contract: Service, place: string]> = {
  scalar: (shape, contract, place) => foldScalar(shape, scalarMistakes, contract, place),
  list: ({ item, min, max }, contract, place) => [
    ...boundMistakes(place, min, max),
    ...(item.defaultValue === undefined
      ? []
      : [`${place}: an item of a list cannot be absent: remove default() from it`]),
    ...misplacedMarks(`${place}[]`, item),
    ...findFieldMistakes(contract, `${place}[]`, item),
  ],
  map: (shape, contract, place) => {
    const { key, value } = entryFields(shape)
    return [
      ...boundMistakes(place, shape.entries.min, shape.entries.max),
      ...(isEntryKey(key)
        ? findFieldMistakes(contract, `${place}.key`, key)
        : [
            `${place}: a key of a map is text: give t.string() or t.enum() as \`key\`, without optional(), nullable() or default()`,
          ]),
      ...findFieldMistakes(contract, `${place}{}`, value),
      ...misplacedMarks(`${place}{}`, value),
      ...(value.isOptional || value.isAttribute || value.defaultValue !== undefined
        ? [`${place}: each key of a map has a value: remove optional(), attribute() and default() from it`]
        : []),
    ]
  },
  object: ({ fields }, contract, place) => findAllFieldMistakes(contract, place, fields),
  union: ({ on, of }, contract, place) => [
    ...(Object.keys(of).length > 0
      ? []
      : [`${place} allows no value: give it cases, such as t.union('${on}', { cash: {} })`]),
    ...Object.entries(of).flatMap(([which, fields]) => [
      ...(Object.hasOwn(fields, on)
        ? [`${place}.${which} declares "${on}", the member that selects the case of the union: remove it`]
        : []),
      ...findAllFieldMistakes(contract, `${place}.${which}`, fields),
    ]),
  ],
}

const noMistakes = (): string[] => []
const scalarMistakes: ScalarCases<string[], [contract: Service, place: string]> = {
  string: ({ min, max, pattern }, _contract, place) => [
    ...boundMistakes(place, min, max),
    ...findPatternMistakes(place, pattern, max),
  ],
  boolean: noMistakes,
  int: (shape, _contract, place) => [
    ...rangeMistakes(place, intRange(shape)),
    ...wholeMistakes(place, shape.min),
    ...wholeMistakes(place, shape.max),
  ],
  long: (shape, _contract, place) => [
    ...rangeMistakes(place, longRange(shape)),
    ...[shape.min, shape.max]
      .filter(bound => bound !== undefined && typeof bound !== 'bigint')
      .map(bound => `${place}: the bound ${bound} is not a bigint: write it as ${bound}n`),
  ],
  decimal: (shape, _contract, place) => decimalMistakes(place, shape),
  double: ({ min, max }, _contract, place) => boundMistakes(place, min, max),
  date: noMistakes,
  time: noMistakes,
  dateTime: noMistakes,
  duration: noMistakes,
  bytes: noMistakes,
  enum: ({ values }, _contract, place) => [
    ...(values.length > 0 && findRepeated(values).length === 0
      ? []
      : [`${place} needs at least one value, and each only once; t.state() needs a resource with states`]),
    ...(values.every(value => typeof value === 'string')
      ? []
      : [`${place} has a value that is not a text: write it as t.enum('red', 'green')`]),
  ],
  id: ({ prefix }, _contract, place) =>
    prefixText.test(prefix ?? '')
      ? []
      : [
          `${place} needs a prefix of a letter, then letters, digits, ".", "_" and "-", and has "${prefix ?? ''}": write it as t.id('b')`,
        ],
  ref: ({ resource }, { resources }, place) => {
    const target = resources.find(each => each.name === resource)
    if (target?.isSingle)
      return [`${place} refers to ${resource}, which is single and has no identifier: leave the field out`]
    return target
      ? []
      : [
          `${place} refers to the unknown resource ${typeof resource === 'string' ? `"${resource}"` : '(not a text)'}: use ${resources.map(each => each.name).join(', ')}`,
        ]
  },
}

const prefixText = /^[A-Za-z][A-Za-z0-9._-]*$/

/** The narrower of its own bounds and those of its type. */
const rangeMistakes = (place: string, { lowest, highest }: NumberRange): string[] =>
  boundMistakes(place, lowest, highest)

function boundMistakes<N extends number | bigint>(place: string, min: N | undefined, max: N | undefined): string[] {
  return min !== undefined && max !== undefined && min > max
    ? [`${place} allows no value: min ${min} is above max ${max}`]
    : []
}

const wholeMistakes = (place: string, bound: number | undefined): string[] =>
  bound === undefined || Number.isInteger(bound) ? [] : [`${place}: the bound ${bound} is not a whole number`]

/** Longer patterns cannot be judged. */
const patternCharactersMax = 4000
/** Of a field without a max: a message of the usual size. */
const textCharactersMax = 1024 * 1024
/** They take about a tenth of a second, in which no other client is served. */
const patternStepsMax = 1_000_000
const oneWay = 'write it so that each text has one way through it'

/**
 * A pattern with a mistake in its syntax, or one that takes long.
 * @param max of the field, in characters
 */
export function findPatternMistakes(place: string, pattern: string | undefined, max = textCharactersMax): string[] {
  if (pattern === undefined) return []
  if (typeof pattern !== 'string') return [`${place}: pattern ${pattern} is not a text: write it as '[A-Z]{3}'`]
  if (pattern.length > patternCharactersMax)
    return [`${place}: the pattern has ${pattern.length} characters: write one of ${patternCharactersMax} at most`]
  try {
    compilePattern(pattern)
  } catch (thrown) {
    return [
      `${place}: pattern ${pattern} is not a valid regular expression: ${thrown instanceof Error ? thrown.message : ''}`,
    ]
  }
  const costly = findCostlyText(pattern, max, patternStepsMax)
  if (costly === 'unjudged')
    return [
      `${place}: pattern ${pattern} is too complex for its time to be judged: write it with fewer parts that are optional or repeated`,
    ]
  return costly ? [`${place}: pattern ${pattern} ${describeCost(pattern, costly, max)}`] : []
}

function describeCost(pattern: string, costly: CostlyText, max: number): string {
  const { start, pump, end, steps } = costly
  const text = JSON.stringify(`${start}${pump.repeat(Math.max(1, Math.floor(8 / pump.length)))}…${end}`)
  if (steps === Number.POSITIVE_INFINITY) return `can take exponential time, as for a text such as ${text}: ${oneWay}`
  return `takes some 10^${Math.floor(Math.log10(steps))} steps for a text of ${max} characters such as ${text}: give it a max of ${findHarmlessMax(pattern, costly)}, or ${oneWay}`
}

/** A round number that is accepted as the max: other texts may take longer than the one found. */
function findHarmlessMax(pattern: string, costly: CostlyText): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, costly.charactersMax)))
  const most = Math.floor(costly.charactersMax / unit) * unit
  const next = findCostlyText(pattern, most, patternStepsMax)
  return next === undefined || next === 'unjudged' || next.charactersMax >= most ? most : findHarmlessMax(pattern, next)
}

function decimalMistakes(
  place: string,
  shape: { digits: number; places: number; min?: string; max?: string },
): string[] {
  const fits = shape.digits >= 1 && shape.digits <= 18 && shape.places >= 0 && shape.places <= shape.digits
  const bounds = [shape.min, shape.max].filter(
    bound => bound !== undefined && parseScaledDecimal(bound, shape.places) === undefined,
  )
  const [lowest, highest] = [shape.min, shape.max].map(bound => bound && parseScaledDecimal(bound, shape.places))
  return [
    ...(typeof lowest === 'bigint' && typeof highest === 'bigint' && lowest > highest
      ? [`${place} allows no value: min ${shape.min} is above max ${shape.max}`]
      : []),
    ...(fits ? [] : [`${place}: a decimal needs 1 to 18 digits, and no more places than digits`]),
    ...bounds.map(bound => `${place}: the bound ${bound} is not a decimal with at most ${shape.places} places`),
  ]
}
