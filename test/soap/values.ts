/** Random values of any field, for laws. */
import fc from 'fast-check'
import type { MessageStyle } from '../../src/contract/endpoint-rule.ts'
import type { AnyField, Fields, Scalar, Shape } from '../../src/contract/field.ts'
import { Flaw } from '../../src/contract/lexical/flaw.ts'
import { checkScalar } from '../../src/contract/lexical/scalar.ts'
import { entryFields } from '../../src/contract/shape.ts'

const character = fc.oneof(
  fc.constantFrom(...'<>&"\'\r\n\t ]é数\u{1F600}\u0085\u2028'),
  fc.integer({ min: 0x20, max: 0x7e }).map(code => String.fromCharCode(code)),
)
const string = fc.array(character, { maxLength: 24 }).map(all => all.join(''))
const samples = [
  'a',
  'b',
  'x',
  'Ab',
  'abc',
  '12',
  '1234',
  'a@b.c',
  '-',
  'a-b',
  'en',
  'en-GB',
  'urn:x',
  'p:q',
  '2026',
  '2026Z',
  '2026-11',
  '--11',
  '--11-21',
  '---21',
  '---21Z',
  'x'.repeat(20),
  'abcdefgh-abcdefgh-ab',
]
const pad = (n: number, size = 2) => String(n).padStart(size, '0')
const zone = fc.constantFrom('', 'Z', '+14:00', '-05:30')
const date = fc
  .tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
  .map(([y, m, d]) => `${pad(y, 4)}-${pad(m)}-${pad(d)}`)
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }), fc.constantFrom('', '.5', '.123456'))
  .map(([h, m, fraction]) => `${pad(h)}:${pad(m)}:07${fraction}`)

function candidates(shape: Scalar): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'string':
      // libxml2 accepts fewer URIs than XSD, and the prefix of a QName must be declared outside of
      // the value.
      if (shape.xsd === 'anyURI') return fc.constantFrom('urn:x', 'http://a.example/b?c=d#e', 'a/b', 'x'.repeat(20))
      if (shape.xsd === 'QName') return fc.constantFrom('a', 'Ab')
      return fc.oneof(string, fc.constantFrom(...samples))
    case 'boolean':
      return fc.boolean()
    case 'int':
      return fc.oneof(fc.integer(), fc.integer({ min: -300, max: 70_000 }), fc.integer({ min: 0, max: 60 }))
    case 'long':
      return fc.oneof(fc.bigInt(), fc.bigInt({ min: -5n, max: 60n }), fc.constantFrom(2n ** 63n - 1n, 2n ** 64n - 1n))
    case 'decimal':
      return fc
        .tuple(fc.integer({ min: -99, max: 10_000 }), fc.integer({ min: 0, max: 999_999 }))
        .map(([whole, part]) => {
          const places = shape.places === 0 ? '' : `.${pad(part, 6).slice(0, shape.places).padEnd(shape.places, '0')}`
          return `${whole}${places}`
        })
    case 'double':
      return fc.double({ noNaN: false }).map(value => (shape.xsd === 'float' ? Math.fround(value) : value))
    case 'date':
      return fc.tuple(date, zone).map(parts => parts.join(''))
    case 'time':
      return fc.tuple(time, zone).map(parts => parts.join(''))
    case 'dateTime':
      return fc.tuple(date, fc.constant('T'), time, zone).map(parts => parts.join(''))
    case 'duration':
      return fc.constantFrom('P1D', '-P1Y2M3DT4H5M6.5S', 'PT0S', 'P400D')
    case 'bytes':
      return fc.uint8Array({ maxLength: shape.max ?? 40 })
    case 'enum':
      return fc.constantFrom(...shape.values)
    default:
      return fc.constantFrom('o-1', '_', '~', 'A.b-c_d~9')
  }
}

/** Undefined if none of a hundred candidates is valid: the type is then skipped. */
function scalarOf(shape: Scalar): fc.Arbitrary<unknown> | undefined {
  const values = candidates(shape)
  const fits = (value: unknown) => !(checkScalar(shape, value) instanceof Flaw)
  const some = [...new Set(fc.sample(values, { numRuns: 100, seed: 7 }).filter(fits))]
  return some.length > 0
    ? fc.oneof(fc.constantFrom(...some), values.filter(fits)).map(value => checkScalar(shape, value))
    : undefined
}

export function anyOf(field: AnyField): fc.Arbitrary<unknown> | undefined {
  const value = shapeOf(field.shape)
  // XSD requires the required attributes of a nil element, too, and null has no attributes.
  const { shape } = field
  const wants =
    shape.kind === 'object' && Object.values(shape.fields).some(each => each.isAttribute && !each.isOptional)
  return value && field.isNullable && !wants ? fc.oneof({ weight: 3, arbitrary: value }, fc.constant(null)) : value
}

function shapeOf(shape: Shape): fc.Arbitrary<unknown> | undefined {
  if (shape.kind === 'object') return rowOf(shape.fields)
  if (shape.kind === 'list') {
    const item = anyOf(shape.item)
    return item && fc.array(item, { minLength: shape.min ?? 0, maxLength: Math.min(shape.max ?? 3, 3) })
  }
  if (shape.kind === 'map') {
    const { key, value } = entryFields(shape)
    const [keys, values] = [anyOf(key), anyOf(value)]
    return keys && values && fc.dictionary(keys as fc.Arbitrary<string>, values, { maxKeys: 3, noNullPrototype: true })
  }
  if (shape.kind === 'union') {
    const cases = Object.entries(shape.of).flatMap(([name, fields]) => {
      const { [shape.on]: _told, ...others } = fields
      const row = rowOf(others)
      return row && !Object.hasOwn(fields, shape.on) ? [row.map(value => ({ [shape.on]: name, ...value }))] : []
    })
    return cases.length > 0 ? fc.oneof(...cases) : undefined
  }
  return scalarOf(shape)
}

/**
 * A row as a codec of messages sees it: without internal members, and in a request without
 * read-only ones.
 */
export function rowOf(fields: Fields): fc.Arbitrary<Record<string, unknown>> | undefined {
  const parts: Record<string, fc.Arbitrary<unknown>> = {}
  const required: string[] = []
  for (const [name, field] of Object.entries(fields)) {
    if (field.isInternal || field.isReadOnly) continue
    const value = anyOf(field)
    if (value) parts[name] = value
    if (!value && !field.isOptional) return undefined
    if (value && !field.isOptional) required.push(name)
  }
  return fc.record(parts, { requiredKeys: required, noNullPrototype: true })
}

/** What a message in a style holds of a row: an empty optional parameter of RPC is absent. */
export function givenIn(style: MessageStyle, row: object, fields: Fields): Record<string, unknown> {
  const given = ([key, value]: [string, unknown]) =>
    style === 'document' || !fields[key]?.isOptional || !isEmpty(value, style === 'encoded')
  return Object.fromEntries(Object.entries(row).filter(given))
}

/** In SOAP encoding, an element states the item type of an empty array. */
const isEmpty = (value: unknown, isEncoded: boolean): boolean => {
  if (Array.isArray(value)) return value.length === 0 && !isEncoded
  if (value instanceof Uint8Array) return value.length === 0
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}
