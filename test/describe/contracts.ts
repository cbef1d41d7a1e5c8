/** Generated contracts, odd ones included, for laws that hold for all. */
import fc from 'fast-check'
import { fault } from '../../src/contract/fault.ts'
import { type AnyField, Field, type Fields, type Shape, t } from '../../src/contract/field.ts'
import { anyone, role } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { type Service, service } from '../../src/contract/service.ts'

const range = fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 20, max: 60 }))
const stringTypes = [
  'normalizedString',
  'token',
  'language',
  'Name',
  'NCName',
  'NMTOKEN',
  'anyURI',
  'QName',
  'gYear',
  'gYearMonth',
  'gMonth',
  'gMonthDay',
  'gDay',
] as const
const intTypes = ['int', 'short', 'byte', 'unsignedShort', 'unsignedByte'] as const
const longTypes = [
  'long',
  'integer',
  'unsignedInt',
  'unsignedLong',
  'positiveInteger',
  'nonNegativeInteger',
  'negativeInteger',
  'nonPositiveInteger',
] as const
const patterns = [
  '[a-z]+',
  '\\d{2,4}',
  '[^@\\s]+@[^@\\s]+',
  '(a|b)*?',
  '(?=x)x',
  '\\p{Lu}.*',
  '[-a\\]]',
  '\\w(?:-\\w)*',
]

/** Every kind of scalar, with facets that fit together. */
export const scalars: fc.Arbitrary<AnyField> = fc.oneof(
  range.map(([min, max]) => t.string({ min, max })),
  fc.constantFrom(...patterns).map(pattern => t.string({ pattern })),
  fc.constantFrom(...stringTypes).map(xsd => t.string({ xsd })),
  fc
    .tuple(fc.constantFrom('token', 'NCName', 'language', 'anyURI'), range)
    .map(([xsd, [min, max]]) => t.string({ xsd, min, max })),
  fc.constant(t.boolean()),
  fc.tuple(fc.constantFrom(...intTypes), range).map(([xsd, [min, max]]) => t.int({ xsd, min, max })),
  fc.constantFrom(...intTypes).map(xsd => t.int({ xsd, min: -(2 ** 31) })),
  fc.constantFrom(...longTypes).map(xsd => t.long({ xsd })),
  fc
    .tuple(fc.constantFrom('long', 'integer', 'unsignedLong'), range)
    .map(([xsd, [min, max]]) => t.long({ xsd, min: BigInt(min), max: BigInt(max) })),
  fc
    .tuple(fc.integer({ min: 1, max: 18 }), fc.integer({ min: 0, max: 6 }))
    .map(([digits, places]) => t.decimal(digits, Math.min(digits, places))),
  fc.constantFrom(t.decimal(12, 2, { min: '0' }), t.decimal(5, 0, { min: '-10', max: '99' })),
  fc.constantFrom(t.double(), t.double({ xsd: 'float' }), t.double({ min: -0.5, max: 1e21 })),
  fc.constantFrom(t.date(), t.time(), t.dateTime(), t.duration()),
  fc.constantFrom(t.bytes(), t.bytes({ max: 10 }), t.bytes({ encoding: 'hex', max: 3 })),
  fc
    .uniqueArray(fc.string(), { minLength: 1, maxLength: 4 })
    .map(([first = '', ...more]) => t.enum(toXmlText(first), ...more.map(toXmlText))),
  fc.constantFrom(t.id('x'), t.ref('things')),
)
/** Text without characters that XML cannot carry. */
const toXmlText = (text: string): string => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '?')

const names = fc.constantFrom(
  ...[
    'id',
    'version',
    'name',
    'class',
    'order',
    'order line',
    'a:b',
    '1st',
    'xmlThing',
    '_x0041_',
    'ß',
    '数',
    '',
    '-',
    '__proto__',
    'constructor',
    'page',
    'items',
  ],
)
const isUndeclarable = (name: string) => name === '__proto__' // in an object literal

const markField = (field: AnyField, marks: readonly [boolean, boolean, boolean, boolean]): AnyField => {
  const [optional, readOnly, nullable, attribute] = marks
  const one = optional ? field.optional() : field
  const two = readOnly ? one.readOnly() : one
  const three = nullable ? two.nullable() : two
  const isScalar = !['list', 'object', 'union'].includes(field.shape.kind)
  return attribute && isScalar && !nullable ? three.attribute() : three
}
const marks = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean())

export const { field: fieldsOf } = fc.letrec<{ shape: Shape; field: Fields }>(tie => ({
  shape: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalars.map(field => field.shape),
    fc
      .tuple(tie('shape'), fc.boolean(), fc.option(fc.constantFrom('entry', 'a b'), { nil: undefined }))
      .map(([shape, nullable, element]): Shape => {
        const item = new Field(shape)
        return { kind: 'list', item: nullable ? item.nullable() : item, ...(element && { element }) }
      }),
    fc
      .tuple(tie('field'), fc.option(fc.constantFrom('Line', 'Order', 'Type 1'), { nil: undefined }))
      .map(([fields, name]): Shape => ({ kind: 'object', fields, ...(name && { name }) })),
    fc
      .dictionary(fc.constantFrom('card', 'bank transfer', 'cash'), tie('field'), { minKeys: 1, maxKeys: 3 })
      .map((of): Shape => ({ kind: 'union', on: 'kind', of })),
  ),
  field: fc
    .array(fc.tuple(names, tie('shape'), marks), { maxLength: 4 })
    .map(entries =>
      Object.fromEntries(
        entries
          .filter(([name]) => !isUndeclarable(name))
          .map(([name, shape, given]) => [name, markField(new Field(shape), given)]),
      ),
    ),
}))

/** A service of generated fields, with a message for every operation. */
export const services: fc.Arbitrary<Service> = fc
  .record({ fields: fieldsOf, input: fieldsOf, output: fieldsOf, detail: fieldsOf, single: fc.boolean() })
  .map(({ fields, input, output, detail, single }) => {
    const Broken = fault('Broken', { status: 409, title: 'Broken', detail })
    const all = [anyone, role('keeper').owning({ name: 'claim' })]
    const { id: _, ...others } = fields
    const own: Fields = single ? others : { ...fields, id: t.id('x') }
    const declared = resource('things', {
      single: single as false, // its rules are chosen below
      fields: own,
      states: ['new', 'old'],
      actions: on => ({
        use: on('new').to('old', { rel: 'usage', input, output, faults: [Broken] }),
        drop: on('old').to('new', { rel: 'drop-off', input, oneWay: 'NotifyDrop' }),
        view: on().read({ rel: 'view', output }),
      }),
      files: { picture: { mediaTypes: ['image/png'], max: 10 }, 'data sheet': { mediaTypes: [], max: 10 } },
    })
    const listed = { filter: Object.keys(own), search: ['name'], searchBy: Object.keys(own) }
    const things = declared.rules({
      ...(!single && listed),
      one: 'thing',
      allow: { read: all, create: all, change: all, remove: all, use: all, drop: all },
    })
    return service('test', { namespace: 'urn:test', resources: [things] }) as unknown as Service // only names are narrower
  })
