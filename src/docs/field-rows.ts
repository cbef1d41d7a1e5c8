/** Fields of a contract as rows of a table: their names, their values, their rules. */
import { escapeMarkup } from '../base/markup.ts'
import type { AnyField, Fields, Scalar, ZoneRule } from '../contract/field.ts'
import { entryFields, foldScalar, foldShape, type ScalarCases, type ShapeCases } from '../contract/shape.ts'
import { annotationOf, defaultText } from '../describe/xsd-types.ts'
import { buildElement, type PageMarkup } from '../html/element.ts'
import { writeRowTable } from '../html/value-views.ts'

type FieldRow = readonly [path: string, holds: string, due: string, about: string]

/** '' if there is no field. */
export function writeFieldTable(fields: Fields): PageMarkup {
  const rows = listFieldRows(fields, '')
  if (rows.length === 0) return ''
  const isDescribed = rows.some(([, , , about]) => about !== '')
  return writeRowTable(
    [{ name: 'field' }, { name: 'holds' }, { name: 'due' }, ...(isDescribed ? [{ name: 'meaning' }] : [])],
    rows.map(([path, holds, due, about]) => [
      buildElement('code', {}, escapeMarkup(path)),
      escapeMarkup(holds),
      escapeMarkup(due),
      ...(isDescribed ? [escapeMarkup(about)] : []),
    ]),
  )
}

const listFieldRows = (fields: Fields, before: string): readonly FieldRow[] =>
  Object.entries(fields)
    .filter(([, field]) => !field.isInternal)
    .flatMap(([name, field]) => {
      const path = `${before}${name}`
      return [
        [path, foldShape(field.shape, held), requirementOf(field), annotationOf(field)?.replaceAll('\n', ' ') ?? ''],
        ...foldShape(field.shape, inner, path),
      ] as const
    })

function requirementOf(field: AnyField): string {
  const { isReadOnly, isOptional, isNullable, isAttribute, defaultValue } = field
  const stands = defaultText(field)
  const first = isReadOnly
    ? 'set by the service'
    : defaultValue !== undefined
      ? `optional, ${stands === undefined ? 'with a default' : `by default ${stands === '' ? 'empty' : stands}`}`
      : isOptional
        ? 'optional'
        : 'required'
  return [first, ...(isNullable ? ['may be null'] : []), ...(isAttribute ? ['an attribute in XML'] : [])].join(', ')
}

const held: ShapeCases<string> = {
  scalar: shape => foldScalar(shape, scalarTexts),
  list: ({ item, min, max, isDefaultMax }) =>
    `list of ${foldShape(item.shape, held)}${boundsText(min, isDefaultMax ? undefined : max, 'items')}`,
  map: shape => {
    const { min, max, isDefaultMax } = shape.entries
    const { key, value } = entryFields(shape)
    const bounds = boundsText(min, isDefaultMax ? undefined : max, 'entries')
    return `map from ${foldShape(key.shape, held)} to ${foldShape(value.shape, held)}${bounds}`
  },
  object: ({ name }) => (name === undefined ? 'object' : `object ${name}`),
  union: ({ on, of }) => `one of ${Object.keys(of).join(', ')}, distinguished by ${on}`,
}

const inner: ShapeCases<readonly FieldRow[], [path: string]> = {
  scalar: () => [],
  list: ({ item }, path) => foldShape(item.shape, inner, `${path}[]`),
  map: (shape, path) => foldShape(entryFields(shape).value.shape, inner, `${path}{}`),
  object: ({ fields }, path) => listFieldRows(fields, `${path}.`),
  union: ({ of }, path) => Object.entries(of).flatMap(([kind, fields]) => listFieldRows(fields, `${path} (${kind}).`)),
}

function boundsText(min: unknown, max: unknown, unit: string): string {
  const behind = unit === '' ? '' : ` ${unit}`
  const hasMax = max !== undefined && max !== Number.POSITIVE_INFINITY
  if (min !== undefined && min !== 0 && hasMax) return `, ${min} to ${max}${behind}`
  if (hasMax) return unit === '' && min !== undefined ? `, ${min} to ${max}` : `, at most ${max}${behind}`
  return min === undefined || (min === 0 && unit !== '') ? '' : `, at least ${min}${behind}`
}
const numberText = (shape: Scalar & { readonly min?: unknown; readonly max?: unknown }): string =>
  boundsText(shape.min, shape.max, '')
const zoneWords: Readonly<Record<ZoneRule, string>> = {
  required: ' with its zone',
  optional: '',
  prohibited: ' without a zone',
}
const describeZone = ({ zone = 'optional' }: { readonly zone?: ZoneRule }): string => zoneWords[zone]
const scalarTexts: ScalarCases<string> = {
  string: ({ min, max, pattern, xsd }) =>
    `${xsd ?? 'text'}${boundsText(min, max, 'characters')}${pattern === undefined ? '' : `, matches ${pattern}`}`,
  boolean: () => 'true or false',
  int: shape => `integer of 32 bits${numberText(shape)}`,
  long: shape => `integer of 64 bits${numberText(shape)}`,
  decimal: shape => `decimal of ${shape.digits} digits, ${shape.places} after the point${numberText(shape)}`,
  double: shape => `floating point number${numberText(shape)}`,
  date: shape => `date${describeZone(shape)}`,
  time: shape => `time${describeZone(shape)}`,
  dateTime: shape => `date and time (ISO 8601)${describeZone(shape)}`,
  duration: () => 'duration (ISO 8601)',
  bytes: ({ encoding = 'base64', max }) => `octets in ${encoding}${boundsText(undefined, max, 'octets')}`,
  enum: ({ values }) => values.join(' | '),
  id: () => 'identifier',
  ref: ({ resource }) => `identifier of one of ${resource}`,
}
