/** Random contracts of one resource, whose values both faces and every format have to keep. */
import fc from 'fast-check'
import { type AnyField, Field, type Fields, type Shape, t } from '../../src/contract/field.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { type Service, service } from '../../src/contract/service.ts'
import { isScalar } from '../../src/contract/shape.ts'
import { scalars } from '../describe/contracts.ts'

/** Some are inherited by every object, so that a member that is absent seems to be there. */
const names = fc.constantFrom('name', 'class', 'order', 'b_c', 'constructor', 'toString', 'valueOf', 'hasOwnProperty')
interface Marks {
  readonly isOptional: boolean
  readonly isNullable: boolean
  readonly isAttribute: boolean
}
const marks = fc.record({ isOptional: fc.boolean(), isNullable: fc.boolean(), isAttribute: fc.boolean() })

const markField = (shape: Shape, { isOptional, isNullable, isAttribute }: Marks): AnyField => {
  const field: AnyField = isOptional ? new Field(shape).optional() : new Field(shape)
  if (isNullable) return field.nullable()
  return isAttribute && isScalar(shape) ? field.attribute() : field
}
const markItem = (shape: Shape, isNullable: boolean): AnyField =>
  isNullable ? new Field(shape).nullable() : new Field(shape)

const { fields } = fc.letrec<{ shape: Shape; fields: Fields }>(tie => ({
  shape: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalars.map(field => field.shape).filter(({ kind }) => kind !== 'id' && kind !== 'ref'),
    fc
      .tuple(tie('shape'), fc.boolean())
      .map(([shape, isNullable]): Shape => ({ kind: 'list', item: markItem(shape, isNullable) })),
    tie('shape').map((shape): Shape => t.map(new Field(shape)).shape),
    tie('fields').map((fields): Shape => ({ kind: 'object', fields })),
    fc
      .dictionary(fc.constantFrom('card', 'cash'), tie('fields'), { minKeys: 1 })
      .map((of): Shape => ({ kind: 'union', on: 'kind', of })),
  ),
  fields: fc
    .array(fc.tuple(names, tie('shape'), marks), { maxLength: 4 })
    .map(all => Object.fromEntries(all.map(([name, shape, marked]) => [name, markField(shape, marked)]))),
}))
export const randomFields: fc.Arbitrary<Fields> = fields

export const isCompared = ({ shape }: AnyField): boolean =>
  !['list', 'map', 'object', 'union', 'bytes'].includes(shape.kind)

/** Anyone may do anything to its one resource, `things`. */
export function describeThings(fields: Fields, namespace = 'urn:test'): Service {
  const compared = Object.keys(fields).filter(name => isCompared(fields[name]!))
  const all = [anyone]
  const things = resource('things', { fields: { id: t.id('x'), ...fields } }).rules({
    one: 'thing',
    filter: compared as never, // names of random fields
    sort: compared as never,
    allow: { read: all, create: all, change: all, remove: all },
  })
  return service('test', { namespace, resources: [things] }) as unknown as Service // only names are narrower
}
