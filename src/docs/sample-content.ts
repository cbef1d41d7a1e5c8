/**
 * Content for an example, from the fields of a contract: the smallest readable value, and values of
 * existing items where a field has them. Nothing is random.
 */
import { type Json, mapMembers } from '../base/objects.ts'
import { type AnyField, type Fields, mayBeLeftOut, type Scalar } from '../contract/field.ts'
import { checkScalar } from '../contract/lexical/scalar.ts'
import { entryFields, foldScalar, foldShape, type ScalarCases, type ShapeCases } from '../contract/shape.ts'
import { describedBy } from '../describe/json-schema.ts'
import { labelOf } from '../html/element.ts'

/** JSON of a value, before it is written. */
export type SampleMembers = { [name: string]: Json }

/** The sources of a sample. */
export interface SampleSource {
  /** The identifier of an existing item. */
  readonly known: (resource: string) => string | undefined
  /** An item whose values are used if an input has a field of the same kind. */
  readonly like?: Readonly<Record<string, Json>>
}

/**
 * A value for each field that a client must send; with `all`, also for those that may be left out.
 */
export function makeSampleContent(fields: Fields, source: SampleSource, all = false): SampleMembers {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => isOfDraft(field) && (all || !mayBeLeftOut(field)))
      .flatMap(([name, field]) => {
        const value = makeSampleValue(field, name, source)
        return value === undefined ? [] : [[name, value] as const]
      }),
  )
}
const isOfDraft = ({ isInternal, isReadOnly, shape }: AnyField): boolean =>
  !isInternal && !isReadOnly && shape.kind !== 'id'

/** The part of an item that a client would send to create it. */
export function pickDraft(fields: Fields, item: Readonly<Record<string, Json>>): SampleMembers {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name, field]) => isOfDraft(field) && Object.hasOwn(item, name))
      .map(([name, field]) => [name, foldShape(field.shape, draftCases, item[name] as Json)]),
  )
}
const isObjectSample = (json: Json): json is { readonly [name: string]: Json } =>
  typeof json === 'object' && json !== null && !Array.isArray(json)
const draftCases: ShapeCases<Json, [value: Json]> = {
  scalar: (_shape, value) => value,
  list: ({ item }, value) =>
    Array.isArray(value) ? value.map(each => foldShape(item.shape, draftCases, each as Json)) : value,
  map: (shape, value) =>
    isObjectSample(value)
      ? mapMembers(value, each => foldShape(entryFields(shape).value.shape, draftCases, each))
      : value,
  object: ({ fields }, value) => (isObjectSample(value) ? pickDraft(fields, value) : value),
  union: ({ on, of }, value) => {
    if (!isObjectSample(value)) return value
    const kind = value[on] ?? null
    return { [on]: kind, ...pickDraft(of[String(kind)] ?? {}, value) }
  },
}

/** The example of the contract, if it has one. */
function makeSampleValue(field: AnyField, name: string, source: SampleSource): Json | undefined {
  const { examples } = describedBy(field)
  return Array.isArray(examples) ? examples[0] : foldShape(field.shape, sampleCases, name, source)
}

const sampleCases: ShapeCases<Json | undefined, [name: string, source: SampleSource]> = {
  scalar: (shape, name, source) => borrowValue(shape, name, source) ?? foldScalar(shape, scalarSamples, name, source),
  list: ({ item }, name, source) => {
    const value = makeSampleValue(item, name.replace(/s$/, ''), source)
    return value === undefined ? [] : [value]
  },
  map: (shape, name, source) => {
    const key = makeSampleValue(entryFields(shape).key, 'key', source)
    const value = makeSampleValue(entryFields(shape).value, name.replace(/s$/, ''), source)
    return typeof key !== 'string' || value === undefined ? {} : { [key]: value }
  },
  object: ({ fields }, _name, source) => makeSampleContent(fields, source),
  union: ({ on, of }, _name, source) => {
    const [kind, fields = {}] = Object.entries(of)[0] ?? ['']
    return { [on]: kind, ...makeSampleContent(fields, source) }
  },
}

/**
 * The value of the item that has the same name; for amounts, otherwise the first of the same kind.
 */
function borrowValue(shape: Scalar, name: string, { like }: SampleSource): Json | undefined {
  if (!like) return undefined
  const candidates = [like[name], ...(shape.kind === 'decimal' ? Object.values(like) : [])]
  return candidates.find(
    value => value !== undefined && typeof value === 'string' && typeof checkScalar(shape, value) === 'string',
  )
}

const withoutSample = (): undefined => undefined
const scalarSamples: ScalarCases<Json | undefined, [name: string, source: SampleSource]> = {
  string: (shape, name) => sampleTexts(name, shape).find(text => checkScalar(shape, text) === text),
  boolean: () => true,
  int: ({ min = 1, max = Number.POSITIVE_INFINITY }) => Math.min(Math.max(1, min), max),
  long: ({ min = 1n }) => Number(min > 1n ? min : 1n),
  decimal: shape => {
    const one = shape.places > 0 ? `1.${'0'.repeat(shape.places)}` : '1'
    return typeof checkScalar(shape, one) === 'string' ? one : (shape.min ?? shape.max)
  },
  double: ({ min = 1, max = Number.POSITIVE_INFINITY }) => Math.min(Math.max(1, min), max),
  date: ({ zone }) => `2026-01-05${zone === 'required' ? 'Z' : ''}`,
  time: ({ zone }) => `09:00:00${zone === 'prohibited' ? '' : 'Z'}`,
  dateTime: ({ zone }) => `2026-01-05T09:00:00${zone === 'prohibited' ? '' : 'Z'}`,
  duration: () => 'PT1H',
  bytes: ({ encoding }) => (encoding === 'hex' ? '6578616d706c65' : 'ZXhhbXBsZQ=='),
  enum: ({ values }) => values[0],
  id: withoutSample,
  ref: ({ resource }, _name, { known }) => known(resource),
}

/** Texts for a field with this name; those that its facets refuse are skipped. */
function sampleTexts(name: string, { min = 0, max = 40, pattern, xsd }: Extract<Scalar, { kind: 'string' }>): string[] {
  const label = `Example ${labelOf(name).toLowerCase()}`
  const usual = [label, label.padEnd(min, '.'), label.slice(0, max), 'example', 'A'.repeat(Math.max(min, 1))]
  if (pattern === undefined && xsd === undefined) return usual
  const digits = Array.from({ length: 20 }, (_, at) => '12345678901234567890'.slice(0, at + 1))
  const letters = Array.from({ length: 12 }, (_, at) => 'ABCDEFGHIJKL'.slice(0, at + 1))
  const small = letters.map(each => each.toLowerCase())
  const shaped = [
    ...['someone@example.org', 'https://example.org/', '+4930123456', 'DE89370400440532013000', 'en', '2026', '--01'],
    ...['AB-1234', 'AB1234', 'A-1', 'A1', 'a-1', '12345-6789', '12-34', '2026-01', '---05', '--01-05'],
  ]
  return [...usual, ...shaped, ...digits, ...letters, ...small]
}
